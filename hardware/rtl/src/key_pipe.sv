// The key schedule of AES-128 in stages beside those of `aes_pipe`, for a key that changes with each
// block: stage `s` makes round key `s + 1` in the cycle in which the block enters it.

module key_pipe (
    input  logic          clock,
    input  logic [8:0]    enable,
    input  logic [127:0]  key,
    output logic [1407:0] keys
);
    // Constants of the ten rounds, the first one in bits 7:0.
    localparam [79:0] CONSTANTS = 80'h361b_8040_2010_0804_0201;

    // Round key `s` of the block that enters stage `s`.
    logic [1279:0] held;

    assign held[127:0] = key;
    assign keys[127:0] = key;

    genvar r;
    generate
        for (r = 0; r < 10; r = r + 1) begin : rounds
            logic [127:0] made;
            key_round round_key (
                .last(held[128*r +: 128]), .constant(CONSTANTS[8*r +: 8]), .next(made)
            );
            assign keys[128*r+128 +: 128] = made;
            if (r < 9) begin : hold
                logic [127:0] kept;
                always_ff @(posedge clock) if (enable[r]) kept <= made;
                assign held[128*r+128 +: 128] = kept;
            end
        end
    endgenerate
endmodule
