// The table of the S-box is its definition, for all 256 bytes.

module sbox_proof (
    input [7:0] x
);
    `include "aes.svh"
    `include "spec.svh"

    always @* assert (sbox(x) == spec_sbox(x));
endmodule
