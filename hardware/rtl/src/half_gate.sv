// The garbling engine: one AND a cycle, garbled in ten stages with half-gates.
//
// Zahur, Rosulek and Evans, "Two Halves Make a Whole", Eurocrypt 2015, figure 2. With a and b the
// zero labels, p their bits 0 and R the offset, as in the crate `garble`:
//
//     T_G = H(a) ^ H(a ^ R) ^ p_b R      W_G = H(a) ^ p_a T_G
//     T_E = H(b) ^ H(b ^ R) ^ a          W_E = H(b) ^ p_b (T_E ^ a)      label = W_G ^ W_E
//
// Every hash is one call of AES, so there are four pipelines. HASH chooses the hash under the tweak
// T, with sigma(xL || xR) = (xL ^ xR) || xL (Guo, Katz, Wang, Yu, IEEE S&P 2020, section 7.3):
//
//     0  AES_S(sigma(x) ^ T) ^ sigma(x), under the one key S of the session
//     1  AES_(S ^ T)(sigma(x)) ^ sigma(x): a key for each half of each gate (Guo and others, Crypto
//        2020), from two schedules that move along with the gates
//     2  AES_S(x ^ T) ^ x ^ T, without sigma. It is broken: R cancels wherever a bit p is 1. It
//        exists for the test that mounts this attack, which has to find R here.
//
// Inversions of the operands and of the output are folded in: the zero label of a NOT is that of
// its operand plus R. Labels and tables leave ten cycles after the operands came.

module half_gate #(
    parameter HASH = 0
) (
    input  logic          clock,
    input  logic          reset,
    input  logic          flush,      // moves every stage, to overwrite labels with those that come
    input  logic [127:0]  offset,     // R
    input  logic [1407:0] keys,       // the schedule of S
    input  logic          in_valid,
    input  logic [127:0]  in_a,
    input  logic [127:0]  in_b,
    input  logic [2:0]    in_invert,  // of a, of b, of the output
    input  logic [63:0]   in_tweak,   // netlist cycle, number of the AND
    output logic          out_valid,
    output logic [127:0]  out_label,
    output logic [127:0]  out_garbler,
    output logic [127:0]  out_evaluator
);
    function automatic [127:0] sigma(input [127:0] x);
        sigma = HASH == 2 ? x : {x[127:64] ^ x[63:0], x[127:64]};
    endfunction

    logic [127:0] a;
    logic [127:0] b;
    logic [127:0] tweak_a;
    logic [127:0] tweak_b;

    assign a = in_a ^ (in_invert[2] ? offset : 128'b0);
    assign b = in_b ^ (in_invert[1] ? offset : 128'b0);
    // The numbers of the halves are in the last word, as in `Tweak` of the crate `block`.
    assign tweak_a = {64'b0, in_tweak};
    assign tweak_b = {32'd1, 32'b0, in_tweak};

    // Which stages hold a gate.
    logic [9:0] holds;
    logic [9:0] enable;

    assign enable = {holds[8:0], in_valid} | {10{flush}};
    assign out_valid = holds[9];

    always_ff @(posedge clock)
        holds <= reset ? 10'b0 : {holds[8:0], in_valid};

    logic [127:0]  whitened_a;
    logic [127:0]  whitened_b;
    logic [1407:0] keys_a;
    logic [1407:0] keys_b;

    generate
        if (HASH == 1) begin : key_each
            assign whitened_a = 128'b0;
            assign whitened_b = 128'b0;
            logic unused;
            assign unused = &keys[1407:128];
            key_pipe schedule_a (
                .clock, .enable(enable[8:0]), .key(keys[127:0] ^ tweak_a), .keys(keys_a)
            );
            key_pipe schedule_b (
                .clock, .enable(enable[8:0]), .key(keys[127:0] ^ tweak_b), .keys(keys_b)
            );
        end else begin : key_shared
            assign whitened_a = tweak_a;
            assign whitened_b = tweak_b;
            assign keys_a = keys;
            assign keys_b = keys;
        end
    endgenerate

    logic [127:0] input_a;
    logic [127:0] input_b;
    logic [127:0] output_a0;
    logic [127:0] output_a1;
    logic [127:0] output_b0;
    logic [127:0] output_b1;

    assign input_a = sigma(a) ^ whitened_a;
    assign input_b = sigma(b) ^ whitened_b;

    // sigma is linear, so the input for x ^ R is that for x plus sigma(R).
    aes_pipe aes_a0 (
        .clock, .enable, .keys(keys_a), .in(input_a), .out(output_a0)
    );
    aes_pipe aes_a1 (
        .clock, .enable, .keys(keys_a), .in(input_a ^ sigma(offset)), .out(output_a1)
    );
    aes_pipe aes_b0 (
        .clock, .enable, .keys(keys_b), .in(input_b), .out(output_b0)
    );
    aes_pipe aes_b1 (
        .clock, .enable, .keys(keys_b), .in(input_b ^ sigma(offset)), .out(output_b1)
    );

    // The labels go along beside AES.
    logic [127:0] late_a;
    logic [127:0] late_b;
    logic         late_invert;
    logic         a_bit;
    logic         b_bit;

    delay_line #(.WIDTH(259), .DEPTH(10)) labels (
        .clock, .in({in_invert[0], a[0], b[0], a, b}),
        .out({late_invert, a_bit, b_bit, late_a, late_b})
    );

    // Sums of the two hashes of a half, and the sum of both hashes of zero labels. Where the tweak
    // is added behind AES as well, only the number of the half does not cancel.
    logic [127:0] both_a;
    logic [127:0] both_b;
    logic [127:0] zero;

    assign both_a = output_a0 ^ output_a1 ^ sigma(offset);
    assign both_b = output_b0 ^ output_b1 ^ sigma(offset);
    assign zero = output_a0 ^ sigma(late_a) ^ output_b0 ^ sigma(late_b)
        ^ (HASH == 2 ? {32'd1, 96'b0} : 128'b0);

    assign out_garbler = both_a ^ (b_bit ? offset : 128'b0);
    assign out_evaluator = both_b ^ late_a;
    assign out_label = zero ^ (a_bit ? out_garbler : 128'b0) ^ (b_bit ? both_b : 128'b0)
        ^ (late_invert ? offset : 128'b0);
endmodule
