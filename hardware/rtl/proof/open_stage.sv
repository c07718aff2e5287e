// A stage of AES whose round is a function of which one value is known: at one place, which the proof
// chooses. For all other states and keys, and the other kind of round, it is anything.

module aes_stage #(
    parameter LAST = 0
) (
    input              clock,
    input              enable,
    input [127:0]      key,
    input [127:0]      state,
    output reg [127:0] next
);
    wire [384:0] place;     // whether it is the last round, state and key, and the value there
    wire [127:0] any = $anyseq;
    always @(posedge clock)
        if (enable) next <= {LAST != 0, state, key} == place[384:128] ? place[127:0] : any;
endmodule
