// Issue: which line of the netlist may enter the engine in this cycle.
//
// Gates go in order, at most one a cycle. A gate waits while a label that it reads is not in the
// memory: that of an XOR can be read two cycles after its issue, that of an AND twelve. All gates
// before it have been issued, so only those whose labels are on the way have to be compared: the
// ANDs of the last eleven cycles, the gate of the last cycle, and the write in the queue. No flag
// for each wire is needed, and nothing has to be cleared between netlist cycles.
//
// Flip-flops are copied before the gates, one a cycle, from D, or in the first netlist cycle from I.
// Each has two places, of which one is read while the other one is written, so that a chain of them
// moves on by one. FASE counts a copy as a write two cycles later, in which the label can be read;
// the last two of these writes fall into the first cycles of gates. The same rules hold here.

module issue #(
    parameter LABEL_BITS = 14,
    parameter LINE_BITS = 14,
    localparam PLACE = 3 + LABEL_BITS
) (
    input  logic                  clock,
    input  logic                  reset,
    // The line that is next, and the state of the netlist cycle.
    input  logic [2*PLACE+4:0]    line,
    input  logic [LINE_BITS-1:0]  number,
    input  logic [LINE_BITS-1:0]  flip_flops,
    input  logic                  copying,
    input  logic                  issuing,
    input  logic                  issue_first,
    input  logic                  first,        // netlist cycle
    input  logic                  parity,
    output logic                  copied,
    output logic                  issued,
    output logic                  issued_and,
    output logic                  ands_empty,
    // An AND may go: there is room for its table, and its key may serve it.
    input  logic                  room,
    input  logic                  exhausted,
    output logic                  refuse,
    // Reads of the label memory and of the input store.
    output logic                  want0,
    output logic                  want1,
    output logic [LABEL_BITS-1:0] place0,
    output logic [LABEL_BITS-1:0] place1,
    input  logic                  open,
    input  logic                  waits,
    input  logic [LABEL_BITS-1:0] waits_address,
    output logic                  dry,          // a write that FASE makes now
    // The line that was taken one cycle ago, whose labels stand now.
    output logic                  gate,
    output logic                  copy,
    output logic                  use1,         // the label to be copied is that of operand 1
    output logic [2:0]            kind0,
    output logic [2:0]            kind1,
    output logic                  is_xor,
    output logic [2:0]            invert,
    output logic                  is_output,
    output logic [LABEL_BITS-1:0] target,
    output logic [31:0]           and_number,
    // The AND that was issued eleven cycles ago.
    output logic [LABEL_BITS-1:0] and_target
);
    localparam [2:0] GATE = 3'd2, EACH_CYCLE = 3'd5, FLIP_FLOP = 3'd6;

    logic [2:0]            next_kind0;
    logic [2:0]            next_kind1;
    logic [LABEL_BITS-1:0] even0;
    logic [LABEL_BITS-1:0] even1;
    logic                  next_xor;
    logic [2:0]            next_invert;
    logic                  next_output;

    assign {next_kind0, even0, next_kind1, even1, next_xor, next_invert, next_output} = line;

    // A copy reads D from the places of the netlist cycle before.
    function automatic has_two(input [2:0] kind);
        has_two = kind == EACH_CYCLE || kind == FLIP_FLOP;
    endfunction
    function automatic in_memory(input [2:0] kind);
        in_memory = kind == GATE || kind == FLIP_FLOP;
    endfunction

    assign place0 = even0
        | {{(LABEL_BITS-1){1'b0}}, has_two(next_kind0) && (parity ^ !issuing)};
    assign place1 = even1 | {{(LABEL_BITS-1){1'b0}}, has_two(next_kind1) && parity};
    assign want0 = in_memory(next_kind0) && (issuing || (copying && !first));
    assign want1 = in_memory(next_kind1) && issuing;

    // The labels of ANDs on the way, the youngest one in the low bits, and the gate before.
    logic [10:0]              and_valid;
    logic [11*LABEL_BITS-1:0] and_targets;
    logic                     last_constant;  // the last flip-flop holds a constant from I
    logic [LABEL_BITS-1:0]    last_place;     // of the last flip-flop

    assign ands_empty = and_valid == 11'b0;
    assign and_target = and_targets[11*LABEL_BITS-1 -: LABEL_BITS];

    function automatic on_way(
        input [2:0] kind, input [LABEL_BITS-1:0] place, input [10:0] valid,
        input [11*LABEL_BITS-1:0] targets, input xor_valid, input [LABEL_BITS-1:0] xor_target,
        input queued, input [LABEL_BITS-1:0] queue_target
    );
        integer k;
        begin
            on_way = (xor_valid && place == xor_target) || (queued && place == queue_target);
            for (k = 0; k < 11; k = k + 1)
                on_way = on_way || (valid[k] && place == targets[LABEL_BITS*k +: LABEL_BITS]);
            on_way = on_way && kind == GATE;
        end
    endfunction

    logic late0;
    logic late1;
    logic late_copy;
    logic ready;

    assign late0 = on_way(next_kind0, even0, and_valid, and_targets, gate && is_xor, target,
        waits, waits_address);
    assign late1 = on_way(next_kind1, even1, and_valid, and_targets, gate && is_xor, target,
        waits, waits_address);
    assign late_copy = issue_first && !last_constant
        && ((next_kind0 == FLIP_FLOP && even0 == last_place)
            || (next_kind1 == FLIP_FLOP && even1 == last_place));
    assign ready = !late0 && !late1 && !late_copy;

    assign refuse = issuing && ready && open && !next_xor && exhausted;
    assign issued = issuing && ready && open && (next_xor || (room && !exhausted));
    assign issued_and = issued && !next_xor;
    assign copied = copying && open;

    // Which of the last two copies FASE writes: those from its memory, the older one in bit 1.
    logic [1:0] written;
    logic       second_cycle;

    assign dry = (issue_first && written[1]) || (second_cycle && written[0]);

    // The places that labels go to: both places of all flip-flops, then gates.
    logic [LABEL_BITS-1:0] gate_target;
    logic [LABEL_BITS-1:0] copy_target;
    logic [31:0]           next_and;

    assign copy_target = (LABEL_BITS'(number) << 1) | {{(LABEL_BITS-1){1'b0}}, parity};

    always_ff @(posedge clock) begin
        if (reset) begin
            gate <= 1'b0;
            copy <= 1'b0;
            and_valid <= 11'b0;
            written <= 2'b0;
            last_constant <= 1'b0;
            second_cycle <= 1'b0;
        end else begin
            gate <= issued;
            copy <= copied;
            and_valid <= {and_valid[9:0], issued_and};
            second_cycle <= issue_first;
            if (copied) begin
                written <= {written[0], !first && in_memory(next_kind0)};
                last_constant <= first && next_kind1 < 3'd2;
            end else if (!copying && !issuing && !copy) written <= 2'b0;
        end
        and_targets <= {and_targets[10*LABEL_BITS-1:0], gate_target};
        kind0 <= next_kind0;
        kind1 <= next_kind1;
        use1 <= first;
        is_xor <= next_xor;
        invert <= next_invert;
        is_output <= next_output;
        target <= issuing ? gate_target : copy_target;
        and_number <= next_and;
        if (copied) last_place <= LABEL_BITS'(number) << 1;
        if (!issuing) begin
            gate_target <= LABEL_BITS'(flip_flops) << 1;
            next_and <= 32'd0;
        end else if (issued) begin
            gate_target <= gate_target + 1'b1;
            if (issued_and) next_and <= next_and + 32'd1;
        end
    end
endmodule
