// The eleven round keys are those of FIPS 197 (section 5.2), for all keys and from any state of the
// registers before reset; with the S-box that is proved apart. The run has one path: reset, start,
// ten rounds. So a bounded proof of fourteen cycles is complete.

module schedule_proof (
    input clock
);
    `include "aes.svh"
    `include "spec.svh"

    (* anyconst *) wire [127:0] key;
    reg  [3:0]    cycle = 4'd0;
    wire          ready;
    wire [1407:0] keys;

    key_schedule schedule (
        .clock(clock), .reset(cycle == 4'd0), .start(cycle == 4'd1), .erase(cycle == 4'd13),
        .key(key), .ready(ready), .keys(keys)
    );

    // Words w[0..43] as in figure 11, each from those before it. By induction all of them are right if
    // the first four are the key and each is the one that the others before it make.
    wire [1407:0] words;
    assign words[127:0] = key;
    genvar i;
    generate
        for (i = 4; i < 44; i = i + 1) begin : expansion
            wire [31:0] before_it;
            wire [31:0] added;
            assign before_it = keys[32*(i - 1) +: 32];
            if (i % 4 == 0) begin : rotated
                wire [7:0] constant;
                if (i == 4) begin : first
                    assign constant = 8'h01;
                end else begin : later
                    assign constant = gf_times(expansion[i - 4].rotated.constant, 8'h02);
                end
                assign added = {
                    sbox(before_it[7:0]), sbox(before_it[31:24]), sbox(before_it[23:16]),
                    sbox(before_it[15:8]) ^ constant
                };
            end else begin : plain
                assign added = before_it;
            end
            assign words[32*i +: 32] = keys[32*(i - 4) +: 32] ^ added;
        end
    endgenerate

    always @(posedge clock) if (cycle != 4'd15) cycle <= cycle + 4'd1;
    always @* begin
        if (cycle == 4'd1) assert (!ready && keys == 1408'b0);
        if (cycle == 4'd12) assert (ready && keys == words);
        if (cycle == 4'd14) assert (!ready && keys == 1408'b0);
    end
endmodule
