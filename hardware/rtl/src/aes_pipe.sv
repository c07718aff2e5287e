// AES-128 in ten stages, one block a stage: a block goes in each cycle and comes out ten later.
//
// The schedule of keys is outside, so that several pipelines share one. Round key `r` is bits
// 128r+127:128r of `keys`. Stage `s` reads it in the cycle in which a block enters, so it may also
// move with the blocks. `enable[r]` moves stage `s`.

module aes_pipe (
    input  logic          clock,
    input  logic [9:0]    enable,
    input  logic [1407:0] keys,
    input  logic [127:0]  in,
    output logic [127:0]  out
);
    logic [1407:0] state;

    assign state[127:0] = in ^ keys[127:0];
    assign out = state[1407:1280];

    genvar r;
    generate
        for (r = 0; r < 10; r = r + 1) begin : rounds
            aes_stage #(.LAST(r == 9 ? 1 : 0)) stage (
                .clock, .enable(enable[r]), .key(keys[128*r+128 +: 128]),
                .state(state[128*r +: 128]), .next(state[128*r+128 +: 128])
            );
        end
    endgenerate
endmodule
