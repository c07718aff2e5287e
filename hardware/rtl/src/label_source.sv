// Fresh labels: AES-128 in counter mode under a key of its own, from a random start.
//
// Block `n` of a session is AES_K(start + n). AES is a permutation and the counter of 128 bits does
// not come round, so no label repeats within a session. Key and start come through the noise
// interface of `session`, behind which a host's generator or ring oscillators may be.
//
// Blocks wait in the pipeline until they are taken, so one is at hand in each cycle.

module label_source (
    input  logic         clock,
    input  logic         reset,
    input  logic         begin_session,  // takes key and start
    input  logic         erase,          // writes zeros over key and start
    input  logic         flush,          // moves the pipeline on
    input  logic [127:0] key,
    input  logic [127:0] start,
    output logic         valid,
    input  logic         ready,
    output logic [127:0] label
);
    logic          keyed;
    logic [1407:0] keys;
    logic [127:0]  counter;
    logic [9:0]    holds;
    logic          advance;

    assign advance = flush || !holds[9] || ready;
    assign valid = holds[9] && !flush;

    key_schedule schedule (
        .clock, .reset, .start(begin_session), .erase, .key, .ready(keyed), .keys
    );

    aes_pipe cipher (
        .clock, .enable({10{advance}}), .keys, .in(counter), .out(label)
    );

    always_ff @(posedge clock)
        if (reset || erase || begin_session) begin
            holds <= 10'b0;
            counter <= erase ? 128'b0 : start;
        end else if (advance) begin
            holds <= {holds[8:0], keyed && !flush};
            if (keyed) counter <= counter + 128'd1;
        end
endmodule
