// The round key behind the last one (FIPS 197, section 5.2), with the constant of its round.

module key_round (
    input  logic [127:0] last,
    input  logic [7:0]   constant,
    output logic [127:0] next
);
    `include "aes.svh"

    logic [31:0] w0;
    logic [31:0] w1;
    logic [31:0] w2;

    assign w0 = last[31:0] ^ {sbox(last[103:96]), sbox(last[127:120]), sbox(last[119:112]),
        sbox(last[111:104])} ^ {24'b0, constant};
    assign w1 = last[63:32] ^ w0;
    assign w2 = last[95:64] ^ w1;
    assign next = {last[127:96] ^ w2, w2, w1, w0};
endmodule
