// A stage of the pipeline is a round of FIPS 197 (section 5.1), for all states and keys, with the
// S-box that is proved apart. State and key are read as the standard does: byte `r + 4c` of a block
// is row `r` of column `c`.

module round_proof (
    input         clock,
    input [127:0] key,
    input [127:0] state
);
    `include "aes.svh"
    `include "spec.svh"

    function automatic [127:0] spec_round(
        input [127:0] s, input [127:0] round_key, input last
    );
        reg [127:0] shifted;
        integer r;
        integer c;
        begin
            for (r = 0; r < 4; r = r + 1)
                for (c = 0; c < 4; c = c + 1)
                    shifted[8*(r + 4*c) +: 8] = sbox(s[8*(r + 4*((c + r) % 4)) +: 8]);
            spec_round = shifted;
            if (!last)
                for (r = 0; r < 4; r = r + 1)
                    for (c = 0; c < 4; c = c + 1)
                        spec_round[8*(r + 4*c) +: 8] =
                            gf_times(shifted[8*(r + 4*c) +: 8], 8'h02)
                            ^ gf_times(shifted[8*((r + 1) % 4 + 4*c) +: 8], 8'h03)
                            ^ shifted[8*((r + 2) % 4 + 4*c) +: 8]
                            ^ shifted[8*((r + 3) % 4 + 4*c) +: 8];
            spec_round = spec_round ^ round_key;
        end
    endfunction

    wire [127:0] middle;
    wire [127:0] last;
    aes_stage #(.LAST(0)) stage (
        .clock, .enable(1'b1), .key, .state, .next(middle)
    );
    aes_stage #(.LAST(1)) last_stage (
        .clock, .enable(1'b1), .key, .state, .next(last)
    );

    reg [127:0] expected;
    reg [127:0] expected_last;
    reg         begun = 1'b0;
    always @(posedge clock) begin
        begun <= 1'b1;
        expected <= spec_round(state, key, 1'b0);
        expected_last <= spec_round(state, key, 1'b1);
    end
    always @* if (begun) assert (middle == expected && last == expected_last);
endmodule
