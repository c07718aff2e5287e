// Issue logic and label memory take every gate in the cycle of the model of `crates/accel/src/fase.rs`,
// whose rules stand here a second time, for all netlists of at most GATES gates and two flip-flops:
// all operands, types and flags, and all later or first netlist cycles. Labels take no part: the
// ports for them are bound to zero.
//
// The model knows wires (0 and 1 flip-flops, then gates), the hardware places in the memory.

module order_proof #(
    parameter GATES = 8,
    parameter QUEUE = 1,
    parameter NETLIST = 15 * (GATES + 2) + 8
) (
    input         clock,
    input         reset,
    input [NETLIST-1:0] any
);
    localparam WIRES = GATES + 2;
    localparam PLACE = 7;
    localparam WORD = 2 * PLACE + 5;

    // The netlist: any flip-flops, any operands that stand before their gate.
    reg [NETLIST-1:0]    kept;
    wire [WIRES*2*4-1:0] wires;   // operands as wires
    wire [WIRES*2*3-1:0] kinds;   // and their kinds, of `netlist_load`
    wire [WIRES-1:0]     types;   // XOR
    wire [1:0]           flip_flops;
    wire [3:0]           gates;
    wire                 first;
    wire                 parity;
    assign {wires, kinds, types, flip_flops, gates, first, parity} = kept;
    reg begun = 1'b0;
    reg started = 1'b0;
    always @(posedge clock) begin
        kept <= begun ? kept : any;
        begun <= 1'b1;
        started <= begun;
    end
    localparam [2:0] GATE = 3'd2, FLIP_FLOP = 3'd6;

    always @* begin
        assume (flip_flops <= 2'd2 && gates >= 4'd1 && gates <= GATES);
        assume (!(first && parity));
    end

    // The place of a wire, if it is in the memory: gates behind two places of each flip-flop.
    function automatic [3:0] place_of(input [3:0] wire_number, input [1:0] count);
        place_of = wire_number < count ? {wire_number[2:0], 1'b0} : wire_number + {2'b0, count};
    endfunction
    function automatic in_memory(input [2:0] kind);
        in_memory = kind == GATE || kind == FLIP_FLOP;
    endfunction

    // The line that is next.
    reg [3:0] number;
    wire [3:0] wire0 = wires[8*number +: 4];
    wire [3:0] wire1 = wires[8*number+4 +: 4];
    wire [2:0] kind0 = kinds[6*number +: 3];
    wire [2:0] kind1 = kinds[6*number+3 +: 3];
    wire [WORD-1:0] line = {
        kind0, place_of(wire0, flip_flops), kind1, place_of(wire1, flip_flops),
        types[number], 4'b0
    };
    // What the loader has checked, of the line that is next.
    wire is_copy = number < flip_flops;
    wire [3:0] all = {2'b0, flip_flops} + gates;
    always @* begin
        if (kind0 == FLIP_FLOP) assume (wire0 < flip_flops);
        if (kind1 == FLIP_FLOP) assume (wire1 < flip_flops);
        if (kind0 == GATE) assume (wire0 >= flip_flops && wire0 < (is_copy ? all : number));
        if (kind1 == GATE) assume (wire1 >= flip_flops && wire1 < (is_copy ? all : number));
        // I is an input or a constant.
        if (is_copy) assume (!in_memory(kind1));
    end

    // Control: a reset, some cycles later copies, one a cycle, one cycle more, then gates.
    reg [1:0] phase;       // 0 waits, 1 copies, 2 issues, 3 has ended
    reg issue_before;
    wire copying = phase == 2'd1 && is_copy && !reset;
    wire issuing = phase == 2'd2 && !reset;
    wire issue_first = issuing && !issue_before;
    wire copied;
    wire issued;
    always @* if (!started) assume (reset); else assume (!reset);
    always @(posedge clock) begin
        issue_before <= issuing;
        if (reset) begin
            phase <= flip_flops == 2'd0 ? 2'd2 : 2'd1;
            number <= 4'd0;
        end else begin
            if (phase == 2'd1 && !is_copy) phase <= 2'd2;
            if (issuing && issued && number + 4'd1 == all) phase <= 2'd3;
            if (copied || issued) number <= number + 4'd1;
        end
    end

    // The hardware.
    wire issued_and, ands_empty, refuse, want0, want1, open, waits, dry, gate, copy, use1, is_xor;
    wire is_output;
    wire [3:0] place0, place1, waits_address, target, and_target;
    wire [2:0] label_kind0, label_kind1, invert;
    wire [31:0] and_number;
    issue #(.LABEL_BITS(4), .LINE_BITS(4)) issue (
        .clock(clock), .reset(reset), .line(line), .number(number),
        .flip_flops({2'b0, flip_flops}), .copying(copying), .issuing(issuing),
        .issue_first(issue_first), .first(first), .parity(parity), .copied(copied),
        .issued(issued), .issued_and(issued_and), .ands_empty(ands_empty), .room(1'b1),
        .exhausted(1'b0), .refuse(refuse), .want0(want0), .want1(want1), .place0(place0),
        .place1(place1), .open(open), .waits(waits), .waits_address(waits_address), .dry(dry),
        .gate(gate), .copy(copy), .use1(use1), .kind0(label_kind0), .kind1(label_kind1),
        .is_xor(is_xor), .invert(invert), .is_output(is_output), .target(target),
        .and_number(and_number), .and_target(and_target)
    );
    // The ten stages of the engine.
    reg [9:0] stages;
    always @(posedge clock) stages <= reset ? 10'b0 : {stages[8:0], gate && !is_xor};
    wire write_single = copy || (gate && is_xor);
    wire [127:0] data0, data1;
    label_memory #(.BITS(4), .QUEUE(QUEUE)) labels (
        .clock(clock), .reset(reset), .want0(want0), .want1(want1), .read_address0(place0),
        .read_address1(place1), .take(copied || issued), .open(open), .data0(data0),
        .data1(data1), .write0(stages[9]), .write_address0(and_target), .write_data0(128'b0),
        .write1(write_single || dry), .dry1(dry && !write_single), .write_address1(target),
        .write_data1(128'b0), .waits(waits), .waits_address(waits_address)
    );

    // The model: cycles until each wire can be read, 15 if its gate was not issued; the writes that
    // come, by cycle and port; the write that waits.
    reg [4*WIRES-1:0] until;
    reg [11:0] write0, write1;
    reg [47:0] wire_of0, wire_of1;
    reg queued;
    reg [3:0] queued_wire;
    wire reads0 = in_memory(kind0);
    wire reads1 = in_memory(kind1);
    wire two = write0[0] && write1[0];
    wire one = write0[0] != write1[0];
    wire ready = (!reads0 || until[4*wire0 +: 4] == 4'd0)
        && (!reads1 || until[4*wire1 +: 4] == 4'd0);
    wire free = QUEUE == 0 ? !(reads0 && write0[0]) && !(reads1 && write1[0])
        : queued ? !one && !two && !(reads0 && reads1)
        : !two || (!reads0 && !reads1);
    wire takes = issuing && ready && free;
    wire is_type_xor = types[number];
    // Which write of this cycle goes to the queue.
    wire delay = QUEUE != 0 && (queued ? two : one && takes && reads0 && reads1);
    wire [3:0] delayed = !queued && write0[0] ? wire_of0[3:0] : wire_of1[3:0];

    // Flip-flop `i` of `d` writes at `i - d + 2`.
    function automatic [3:0] copy_until(input [1:0] i, input [1:0] count, input at_once);
        copy_until = at_once || i + 2'd1 != count ? 4'd0 : 4'd1;
    endfunction
    wire constant0 = first && kinds[5:3] < 3'd2;
    wire constant1 = first && kinds[11:9] < 3'd2;
    wire writes0 = !first && in_memory(kinds[2:0]);
    wire writes1 = !first && in_memory(kinds[8:6]);
    integer w;
    always @(posedge clock) begin
        if (reset || !issuing) begin
            until <= {4*WIRES{1'b1}};
            if (flip_flops != 2'd0) until[3:0] <= copy_until(2'd0, flip_flops, constant0);
            if (flip_flops == 2'd2) until[7:4] <= copy_until(2'd1, flip_flops, constant1);
            write0 <= 12'b0;
            write1 <= 12'b0;
            if (flip_flops == 2'd1) {write1[1], wire_of1[7:4]} <= {writes0, 4'd0};
            if (flip_flops == 2'd2) begin
                {write1[0], wire_of1[3:0]} <= {writes0, 4'd0};
                {write1[1], wire_of1[7:4]} <= {writes1, 4'd1};
            end
            queued <= 1'b0;
        end else begin
            for (w = 0; w < WIRES; w = w + 1)
                if (until[4*w +: 4] != 4'd0 && until[4*w +: 4] != 4'd15
                        && !(delay && delayed == w))
                    until[4*w +: 4] <= until[4*w +: 4] - 4'd1;
            write0 <= {1'b0, write0[11:1]};
            write1 <= {1'b0, write1[11:1]};
            wire_of0 <= {4'b0, wire_of0[47:4]};
            wire_of1 <= {4'b0, wire_of1[47:4]};
            queued <= delay;
            queued_wire <= delayed;
            if (takes && is_type_xor) begin
                until[4*number +: 4] <= 4'd1;
                write1[0] <= 1'b1;
                wire_of1[3:0] <= number;
            end
            if (takes && !is_type_xor) begin
                until[4*number +: 4] <= 4'd11;
                write0[10] <= 1'b1;
                wire_of0[43:40] <= number;
            end
        end
    end

    always @* if (started && issuing) assert (issued == takes);
`ifdef REACHES
    always @* cover (phase == 2'd3);
`endif
endmodule
