// The key schedule of AES-128: one round key a cycle, in registers that all pipelines share.
//
// `start` takes a key; all eleven round keys stand ten cycles later, when `ready` rises. `erase`
// writes zeros over all of them.

module key_schedule (
    input  logic          clock,
    input  logic          reset,
    input  logic          start,
    input  logic          erase,
    input  logic [127:0]  key,
    output logic          ready,
    output logic [1407:0] keys
);
    `include "aes.svh"

    logic [3:0] round;  // of the next key to be made, 11 when all are there
    logic [7:0] constant;
    logic [127:0] last;
    logic [127:0] made;

    key_round round_key (.last, .constant, .next(made));

    assign ready = round == 4'd11;

    always_ff @(posedge clock)
        if (reset || erase) begin
            round <= 4'd0;
            constant <= 8'h01;
            last <= 128'b0;
            keys <= 1408'b0;
        end else if (start) begin
            round <= 4'd1;
            constant <= 8'h01;
            last <= key;
            keys <= {1280'b0, key};
        end else if (round != 4'd0 && !ready) begin
            round <= round + 4'd1;
            constant <= times_two(constant);
            last <= made;
            keys[128*round +: 128] <= made;
        end
endmodule
