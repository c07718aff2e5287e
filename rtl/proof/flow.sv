// When something happens depends on the netlist and the host, never on labels or keys; and nothing
// that is to be seen depends on a value from before the reset.
//
// Two machines, in which all registers and memories begin with any values of their own, get the same
// reset, the same netlist, which is any, and the same hash key, which is public. Offset, label key,
// start of labels, all outputs of AES and all round keys are any, and differ between the two. All
// outputs but data are the same in each cycle, with a host that takes records when it likes.

module flow_proof (
    input clock,
    input start,
    input [31:0] start_turns,
    input [63:0] start_limit,
    input noise_valid,
    input [127:0] hash_key,
    input [127:0] noise0,
    input [127:0] noise1,
    input out_ready,
    input [95:0] any
);
    reg [1:0] reset = 2'b11;
    always @(posedge clock) reset <= {1'b0, reset[1]};

    // The netlist: counts and lines. A register without an initial value has any.
    reg [95:0] counts;
    reg        begun = 1'b0;
    always @(posedge clock) begin
        counts <= begun ? counts : any;
        begun <= 1'b1;
    end
    // Flip-flops and then gates, at most three in all.
    always @* if (begun) assume (counts[81:80] < counts[83:82]);

    // The first block of noise of a session is the hash key.
    wire ready0, ready1;
    reg [1:0] seeds;
    always @(posedge clock)
        if (reset[0] || !ready0) seeds <= 2'd0;
        else if (noise_valid) seeds <= seeds + 2'd1;

    wire [403:0] seen0, seen1;
    garbler #(.HASH(`HASH), .QUEUE(`QUEUE), .LABEL_BITS(4), .INPUT_BITS(3), .LINE_BITS(4)) machine0 (
        .clock(clock), .reset(reset[0]), .load_restart(1'b0), .load_valid(1'b0),
        .load_narrow(1'b0), .load_word(counts), .start(start), .start_turns(start_turns),
        .start_limit(start_limit), .noise_valid(noise_valid), .noise_ready(ready0),
        .noise(seeds == 2'd0 ? hash_key : noise0), .out_ready(out_ready), .loaded(seen0[0]),
        .refused(seen0[1]), .out_valid(seen0[2]), .out_tag(seen0[4:3]), .out_turn(seen0[36:5]),
        .out_index(seen0[68:37]), .busy(seen0[69]), .fault(seen0[72:70]),
        .total_cycles(seen0[136:73]), .held_cycles(seen0[200:137]),
        .setup_cycles(seen0[264:201]), .first_garbling(seen0[296:265]),
        .later_garbling(seen0[328:297])
    );
    garbler #(.HASH(`HASH), .QUEUE(`QUEUE), .LABEL_BITS(4), .INPUT_BITS(3), .LINE_BITS(4)) machine1 (
        .clock(clock), .reset(reset[0]), .load_restart(1'b0), .load_valid(1'b0),
        .load_narrow(1'b0), .load_word(counts), .start(start), .start_turns(start_turns),
        .start_limit(start_limit), .noise_valid(noise_valid), .noise_ready(ready1),
        .noise(seeds == 2'd0 ? hash_key : noise1), .out_ready(out_ready), .loaded(seen1[0]),
        .refused(seen1[1]), .out_valid(seen1[2]), .out_tag(seen1[4:3]), .out_turn(seen1[36:5]),
        .out_index(seen1[68:37]), .busy(seen1[69]), .fault(seen1[72:70]),
        .total_cycles(seen1[136:73]), .held_cycles(seen1[200:137]),
        .setup_cycles(seen1[264:201]), .first_garbling(seen1[296:265]),
        .later_garbling(seen1[328:297])
    );

    always @* if (!reset[0]) begin
        assert (ready0 == ready1);
        assert (seen0[2:0] == seen1[2:0]);
        assert (!seen0[2] || seen0[68:3] == seen1[68:3]);
        assert (seen0[328:69] == seen1[328:69]);
    end
`ifdef REACHES
    always @* cover (seen0[2] && seen0[4:3] == 2'd1);
`endif
endmodule
