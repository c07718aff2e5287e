// AES-128 in ten stages, of which nothing is known but which block and key a result belongs to: the
// block goes along as it came, and the result is anything. A proof asserts about `asked` and
// `asked_key` what the model would ask for, and calculates with the result; then both are equal for
// every function in the place of AES.

module aes_pipe (
    input          clock,
    input [9:0]    enable,
    input [1407:0] keys,
    input [127:0]  in,
    output [127:0] out
);
    reg [1279:0] blocks;
    reg [1279:0] block_keys;
    integer s;
    always @(posedge clock) begin
        for (s = 1; s < 10; s = s + 1) if (enable[s]) begin
            blocks[128*s +: 128] <= blocks[128*s-128 +: 128];
            block_keys[128*s +: 128] <= block_keys[128*s-128 +: 128];
        end
        if (enable[0]) {blocks[127:0], block_keys[127:0]} <= {in, keys[127:0]};
    end
    assign out = $anyseq;
endmodule
