// One round of AES-128 behind a register: a stage of the pipeline.
//
// The register moves only with `enable`, so that stages without a block cost no energy.

module aes_stage #(
    parameter LAST = 0  // the tenth round, which has no MixColumns
) (
    input  logic         clock,
    input  logic         enable,
    input  logic [127:0] key,
    input  logic [127:0] state,
    output logic [127:0] next
);
    `include "aes.svh"

    always_ff @(posedge clock)
        if (enable)
            next <= (LAST != 0 ? sub_shift(state) : mix_columns(sub_shift(state))) ^ key;
endmodule
