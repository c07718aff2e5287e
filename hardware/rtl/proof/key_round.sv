// A round of the key schedule is that of FIPS 197 (section 5.2), for all keys and constants.

module key_round_proof (
    input [127:0] last,
    input [7:0]   constant
);
    `include "aes.svh"
    `include "spec.svh"

    wire [127:0] next;
    key_round round (.last, .constant, .next);

    always @* assert (next == spec_key_round(last, constant));
endmodule
