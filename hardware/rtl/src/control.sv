// The order of things: a session, its netlist cycles, and within them copies, gates and drain.
//
// A session takes four blocks by the noise interface, which a host's generator feeds or, on a chip,
// ring oscillators: the hash key (public), the offset R, the key of labels, and their start. It then
// garbles a number of netlist cycles and erases all secrets:
//
//     SEEDS KEYS FILL | BEGIN | WAIT COPY ISSUE DRAIN END | FINISH | FLUSH WIPE
//
// `total_cycles` counts the part between the outer bars as Tables V and VI of the FASE paper do:
// two cycles before and behind all netlist cycles, and in each of these one of WAIT, one for each
// flip-flop, those of ISSUE, those of DRAIN until all masks are out but at least two, and one of
// END. Two things are ours, and `held_cycles` counts their cycles apart: WAIT goes on until all
// ANDs of the cycle before are written (the released hardware copies a stale label where a flip-flop
// takes such an AND), and until the labels of inputs are there.
//
// A session is refused without a netlist or netlist cycles, and if its hash key is that of the
// session before. One that reaches the limit of ANDs under a key ends there.

module control #(
    parameter LINE_BITS = 14,
    parameter WIPE_BITS = 14,
    parameter LIMIT = 40,     // at most 2^LIMIT ANDs under a key
    parameter ENGINES = 1
) (
    input  logic                 clock,
    input  logic                 reset,
    // From the host.
    input  logic                 start,
    input  logic [31:0]          start_cycles,
    input  logic [63:0]          start_limit,  // ANDs under this key, if it is below 2^LIMIT
    input  logic                 noise_valid,
    output logic                 noise_ready,
    input  logic [127:0]         noise,
    // The netlist.
    input  logic                 loaded,
    input  logic [LINE_BITS-1:0] flip_flops,
    input  logic [LINE_BITS-1:0] lines,
    input  logic [LINE_BITS-1:0] number,       // of the line that is next
    input  logic                 gates_left,   // the line that is next, or a later one, is a gate
    output logic                 rewind,
    output logic                 rewind_first, // of a session
    // Set-up and end.
    output logic [127:0]         hash_key,
    output logic [127:0]         offset,
    output logic [127:0]         label_key,
    output logic [127:0]         label_start,
    output logic                 key_start,
    input  logic                 keyed,
    output logic                 fill,
    output logic                 fill_first,
    output logic                 fill_parity,
    input  logic                 filled,
    output logic                 erase,
    output logic                 wipe,
    output logic [WIPE_BITS-1:0] wipe_address,
    // The netlist cycle.
    output logic [31:0]          netlist_cycle,
    output logic                 first,
    output logic                 copying,      // a flip-flop may be copied now
    output logic                 issuing,      // a gate may be issued now
    output logic                 issue_first,  // the first cycle of them
    input  logic                 issued,
    input  logic [ENGINES-1:0]   issued_and,
    output logic [ENGINES-1:0]   exhausted,    // bit n: n ANDs are left under this key, or fewer
    input  logic                 refuse,       // an AND would have been
    input  logic                 ands_empty,
    input  logic                 masks_empty,
    output logic                 end_netlist_cycle,
    input  logic                 end_ready,
    input  logic                 output_empty,
    // Status.
    output logic                 busy,
    output logic [2:0]           fault,
    output logic [63:0]          total_cycles,
    output logic [63:0]          held_cycles,
    output logic [63:0]          setup_cycles,
    output logic [31:0]          first_garbling,
    output logic [31:0]          later_garbling
);
    localparam [3:0] IDLE = 4'd0, SEEDS = 4'd1, KEYS = 4'd2, FILL = 4'd3, BEGIN = 4'd4,
        WAIT = 4'd5, COPY = 4'd6, ISSUE = 4'd7, DRAIN = 4'd8, END = 4'd9, FINISH = 4'd10,
        FLUSH = 4'd11, WIPE = 4'd12;
    localparam [2:0] NO_FAULT = 3'd0, NO_NETLIST = 3'd1, NO_CYCLES = 3'd2, OLD_KEY = 3'd3,
        LIMIT_REACHED = 3'd4;
    localparam [63:0] MOST_ANDS = 64'd1 << LIMIT;
    localparam COUNT = $clog2(ENGINES) + 1;

    logic [3:0]           state;
    logic                 second;      // of the cycles of a state that has at least two
    logic [1:0]           seeds;
    logic [31:0]          netlist_cycles;
    logic [63:0]          remaining;
    logic [127:0]         last_key;
    logic                 has_last;
    logic [31:0]          issue_cycles;
    logic                 go;          // WAIT ends
    logic                 last_netlist_cycle;
    logic                 copies_left;
    logic                 repeated;

    // ANDs that are issued in this cycle, and that may be.
    logic [COUNT-1:0] issued_ands;
    integer e;
    always_comb begin
        issued_ands = '0;
        for (e = 0; e < ENGINES; e = e + 1) begin
            issued_ands = issued_ands + {{(COUNT-1){1'b0}}, issued_and[e]};
            exhausted[e] = remaining <= 64'(e);
        end
    end

    assign busy = state != IDLE;
    assign noise_ready = state == SEEDS;
    assign repeated = !second && has_last && hash_key == last_key;
    assign key_start = state == KEYS && !second && !repeated;
    assign first = netlist_cycle == 32'd0;
    assign last_netlist_cycle = netlist_cycle + 32'd1 == netlist_cycles;
    assign copies_left = number < flip_flops;
    assign go = ands_empty && filled;
    assign copying = copies_left && ((state == WAIT && go) || state == COPY);
    assign issuing = state == ISSUE;
    assign rewind = state == BEGIN || state == END;
    assign rewind_first = state == BEGIN;
    assign end_netlist_cycle = state == END && end_ready;
    assign erase = state == WIPE && !second;
    assign wipe = state == WIPE;

    // Labels of the next netlist cycle come while the gates of this one are issued: the copies have
    // read by then what they replace.
    assign fill = (state == FILL && !second) || (issuing && issue_first && !last_netlist_cycle);
    assign fill_first = state == FILL;
    assign fill_parity = fill_first ? 1'b0 : ~netlist_cycle[0];

    always_ff @(posedge clock)
        if (reset) begin
            state <= IDLE;
            second <= 1'b0;
            fault <= NO_FAULT;
        end else begin
            second <= 1'b1;
            case (state)
                IDLE:
                    if (start) begin
                        fault <= !loaded ? NO_NETLIST : start_cycles == 32'd0 ? NO_CYCLES : NO_FAULT;
                        if (loaded && start_cycles != 32'd0) state <= SEEDS;
                    end
                SEEDS: if (noise_valid && seeds == 2'd3) enter(KEYS);
                KEYS:
                    if (repeated) begin
                        fault <= OLD_KEY;
                        enter(WIPE);
                    end else if (second && keyed) enter(FILL);
                FILL: if (second && filled) enter(BEGIN);
                BEGIN: if (second) enter(WAIT);
                WAIT: if (go) enter(copies_left ? COPY : ISSUE);
                COPY: if (!copies_left) enter(ISSUE);
                ISSUE:
                    if (refuse) begin
                        fault <= LIMIT_REACHED;
                        enter(FLUSH);
                    end else if (issued && number + 1'b1 == lines) enter(DRAIN);
                DRAIN: if (second && masks_empty) enter(END);
                END: if (end_ready) enter(last_netlist_cycle ? FINISH : WAIT);
                FINISH: if (second) enter(FLUSH);
                FLUSH: if (ands_empty && filled && output_empty) enter(WIPE);
                default: if (&wipe_address) enter(IDLE);
            endcase
        end

    task automatic enter(input [3:0] next);
        begin
            state <= next;
            second <= 1'b0;
        end
    endtask

    // Seeds: the three secret ones are erased at the end.
    always_ff @(posedge clock)
        if (reset || erase) begin
            seeds <= 2'd0;
            hash_key <= reset ? 128'b0 : hash_key;
            offset <= 128'b0;
            label_key <= 128'b0;
            label_start <= 128'b0;
        end else if (noise_valid && noise_ready) begin
            seeds <= seeds + 2'd1;
            case (seeds)
                2'd0: hash_key <= noise;
                2'd1: offset <= {noise[127:1], 1'b1};
                2'd2: label_key <= noise;
                default: label_start <= noise;
            endcase
        end

    always_ff @(posedge clock)
        if (reset) has_last <= 1'b0;
        else if (key_start) begin
            has_last <= 1'b1;
            last_key <= hash_key;
        end

    always_ff @(posedge clock) begin
        if (state == IDLE && start) begin
            netlist_cycles <= start_cycles;
            remaining <= start_limit < MOST_ANDS ? start_limit : MOST_ANDS;
            netlist_cycle <= 32'd0;
        end else begin
            remaining <= remaining - {{(64-COUNT){1'b0}}, issued_ands};
            if (end_netlist_cycle && !last_netlist_cycle) netlist_cycle <= netlist_cycle + 32'd1;
        end
        wipe_address <= wipe ? wipe_address + 1'b1 : {WIPE_BITS{1'b0}};
    end

    // Counts. The first cycle in which gates may be issued is one of them.
    assign issue_first = issuing && !second;

    always_ff @(posedge clock)
        if (reset || (state == IDLE && start)) begin
            total_cycles <= 64'd0;
            held_cycles <= 64'd0;
            setup_cycles <= 64'd0;
            issue_cycles <= 32'd1;
            first_garbling <= 32'd0;
            later_garbling <= 32'd0;
        end else begin
            if (state == SEEDS || state == KEYS || state == FILL)
                setup_cycles <= setup_cycles + 64'd1;
            if ((state == WAIT && !go) || (state == END && !end_ready))
                held_cycles <= held_cycles + 64'd1;
            else if (state >= BEGIN && state <= FINISH) total_cycles <= total_cycles + 64'd1;
            issue_cycles <= issuing ? issue_cycles + 32'd1 : 32'd1;
            if (issuing && gates_left && first) first_garbling <= issue_cycles;
            else if (issuing && gates_left) later_garbling <= issue_cycles;
        end

endmodule
