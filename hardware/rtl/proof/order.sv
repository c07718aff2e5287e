// Control, issue logic and label memory take every gate in the cycle of the model of
// `crates/accel/src/fase.rs`, whose rules stand here a second time: for all netlists that the machine
// can hold, in every netlist cycle of every session, for any number of cycles after a reset. A
// read gives the label that was written last for its place.
//
// The proof is by induction: what is asserted holds in each cycle if it held in the one before, from
// any state. The model names wires as the loader does, a flip-flop `2i`, and gates in order behind them.
// Cycles until a wire can be read are counted for `any_wire`, which stands for all.

module order_proof #(
    parameter QUEUE = 1,
    parameter BITS = 14,
    localparam PLACE = 3 + BITS
) (
    input            clock,
    input            reset,
    // The inputs of control: in each cycle anything.
    input            start,
    input [31:0]     start_cycles,
    input [63:0]     start_limit,
    input            noise_valid,
    input [127:0]    noise,
    input            loaded,
    input            keyed,
    input            filled,
    input            masks_empty,
    input            end_ready,
    input            output_empty,
    input            room,
    // The netlist: counts while no session runs, and the line that is next.
    input [BITS-1:0] new_flip_flops,
    input [BITS-1:0] new_lines,
    input [BITS-1:0] wire0,
    input [BITS-1:0] wire1,
    input [2:0]      kind0,
    input [2:0]      kind1,
    input            type_xor,
    input [3:0]      other0,
    input [3:0]      other1,
    // Labels that the engine and copies or XORs write.
    input [127:0]    and_label,
    input [127:0]    single
);
    localparam [2:0] GATE = 3'd2, FLIP_FLOP = 3'd6;
    localparam [3:0] BEGIN = 4'd4, WAIT = 4'd5, COPY = 4'd6, ISSUE = 4'd7, DRAIN = 4'd8,
        FLUSH = 4'd11, WIPE = 4'd12;

    // Nothing is known before a reset.
    reg known = 1'b0;
    always @(posedge clock) if (reset) known <= 1'b1;

    // Control and the number of the line, as in `garbler` and `netlist_fetch`.
    wire busy, rewind, first, copying, issuing, issue_first, exhausted, wipe;
    wire copied, issued, issued_and, ands_empty, refuse;
    wire [31:0] netlist_cycle;
    reg [BITS-1:0] flip_flops, lines, number;
    wire [BITS-1:0] wipe_address;
    control #(.LINE_BITS(BITS), .WIPE_BITS(BITS)) control (
        .clock, .reset, .start, .start_cycles, .start_limit, .noise_valid, .noise, .loaded,
        .flip_flops, .lines, .number, .gates_left(1'b1), .rewind, .keyed, .filled, .wipe,
        .wipe_address, .netlist_cycle, .first, .copying, .issuing, .issue_first, .issued,
        .issued_and, .exhausted, .refuse, .ands_empty, .masks_empty, .end_ready, .output_empty,
        .busy
    );
    always @(posedge clock) begin
        if (!busy) {flip_flops, lines} <= {new_flip_flops, new_lines};
        number <= rewind ? {BITS{1'b0}} : number + (copied || issued);
    end

    // The loader has checked: the netlist fits and has a gate, operands stand before their gate,
    // and D is any wire, I an input or a constant.
    wire is_copy = number < flip_flops;
    wire [BITS-1:0] gates_from = {flip_flops[BITS-2:0], 1'b0};
    wire [BITS-1:0] own = is_copy ? {number[BITS-2:0], 1'b0} : number + flip_flops;
    wire [BITS:0] wires_end = {1'b0, flip_flops} + {1'b0, lines};
    wire [BITS:0] operands_end = is_copy ? wires_end : {1'b0, own};
    function automatic in_memory(input [2:0] kind);
        in_memory = kind == GATE || kind == FLIP_FLOP;
    endfunction
    function automatic allowed(
        input [2:0] kind, input [BITS-1:0] operand, input [BITS-1:0] from, input [BITS:0] end_wire
    );
        allowed = (kind != FLIP_FLOP || (operand < from && !operand[0]))
            && (kind != GATE || (operand >= from && operand < end_wire));
    endfunction
    always @* begin
        assume (flip_flops < lines && wires_end <= {1'b1, {BITS{1'b0}}});
        assume (allowed(kind0, wire0, gates_from, operands_end));
        assume (allowed(kind1, wire1, gates_from, operands_end));
        if (is_copy) assume (!in_memory(kind1));
    end
    wire [2*PLACE+4:0] line = {kind0, wire0, kind1, wire1, type_xor, 4'b0};

    // The hardware.
    wire want0, want1, open, waits, dry, gate, copy, is_xor;
    wire [BITS-1:0] place0, place1, waits_address, target, and_target;
    issue #(.LABEL_BITS(BITS), .LINE_BITS(BITS)) issue (
        .clock, .reset, .line, .number, .flip_flops, .copying, .issuing, .issue_first, .first,
        .parity(netlist_cycle[0]), .copied, .issued, .issued_and, .ands_empty, .room, .exhausted,
        .refuse, .want0, .want1, .place0, .place1, .open, .waits, .waits_address, .dry, .gate,
        .copy, .is_xor, .target, .and_target
    );
    // The ten stages of the engine.
    reg [9:0] stages;
    always @(posedge clock) stages <= reset ? 10'b0 : {stages[8:0], gate && !is_xor};
    wire [127:0] data0, data1;
    wire write_single = copy || (gate && is_xor);
    label_memory #(.BITS(BITS), .QUEUE(QUEUE)) labels (
        .clock, .reset, .want0, .want1, .read_address0(place0), .read_address1(place1),
        .take(copied || issued), .open, .data0, .data1, .write0(stages[9]),
        .write_address0(and_target), .write_data0(and_label), .write1(write_single || dry || wipe),
        .dry1(dry && !write_single), .write_address1(wipe ? wipe_address : target),
        .write_data1(wipe ? 128'b0 : single), .waits, .waits_address
    );

    // The model: the number of the cycle; cycles until `any_wire` can be read; the writes that come, by
    // cycle and port; the write that waits; of the last two flip-flops, whether they are written.
    // Until when other wires cannot be read is open here: below is what is known of it.
    wire [BITS-1:0] any_wire = $anyconst;
    reg [31:0] cycle;
    reg [3:0] until;
    wire [3:0] until0 = wire0 == any_wire ? until : other0;
    wire [3:0] until1 = wire1 == any_wire ? until : other1;
    reg [11:0] write0, write1;
    reg [12*BITS-1:0] wire_of0, wire_of1;
    reg queued;
    reg [BITS-1:0] queued_wire;
    reg [1:0] last_write;   // of the last flip-flop in bit 0
    reg last_at_once;       // the last flip-flop begins with a constant
    wire reads0 = in_memory(kind0);
    wire reads1 = in_memory(kind1);
    wire two = write0[0] && write1[0];
    wire one = write0[0] != write1[0];
    wire ready = (!reads0 || until0 == 4'd0) && (!reads1 || until1 == 4'd0);
    wire free = QUEUE == 0 ? !(reads0 && write0[0]) && !(reads1 && write1[0])
        : queued ? !one && !two && !(reads0 && reads1)
        : !two || (!reads0 && !reads1);
    // An AND also needs room for its table, and a key that may serve it.
    wire takes = issuing && ready && free && (type_xor || (room && !exhausted));
    // Which write of this cycle goes to the queue.
    wire delay = issuing && QUEUE != 0 && (queued ? two : one && takes && reads0 && reads1);
    wire [BITS-1:0] delayed = !queued && write0[0] ? wire_of0[BITS-1:0] : wire_of1[BITS-1:0];
    // Flip-flop `i` of `d` can be read, and is written, at `i - d + 2`.
    wire at_once = first && kind1 < 3'd2;
    wire copy_writes = !first && in_memory(kind0);
    wire [BITS-1:0] last = gates_from - 2'd2;
    wire is_last = number + 1'b1 == flip_flops;
    always @(posedge clock) begin
        if (issuing && until != 4'd0 && !(delay && delayed == any_wire)) until <= until - 4'd1;
        if (copying && own == any_wire) until <= is_last && !at_once ? 4'd1 : 4'd0;
        if (takes && own == any_wire) until <= type_xor ? 4'd1 : 4'd11;
        if (copying) begin
            last_write <= {last_write[0], copy_writes};
            last_at_once <= at_once;
        end
        if (!issuing) begin
            cycle <= 32'd0;
            write0 <= 12'b0;
            write1 <= 12'b0;
            if (flip_flops != 0) {write1[1], wire_of1[BITS +: BITS]} <= {last_write[0], last};
            if (flip_flops > 1) {write1[0], wire_of1[0 +: BITS]} <= {last_write[1], last - 2'd2};
            queued <= 1'b0;
        end else begin
            cycle <= cycle + 32'd1;
            write0 <= {1'b0, write0[11:1]};
            write1 <= {1'b0, write1[11:1]};
            wire_of0 <= wire_of0 >> BITS;
            wire_of1 <= wire_of1 >> BITS;
            queued <= delay;
            queued_wire <= delayed;
            if (takes && type_xor) {write1[0], wire_of1[0 +: BITS]} <= {1'b1, own};
            if (takes && !type_xor) {write0[10], wire_of0[10*BITS +: BITS]} <= {1'b1, own};
        end
    end

    // The theorem.
    (* hierconn *) wire [31:0] \control.issue_cycles ;
    always @* if (known) begin
        if (issuing) assert (issued == takes && \control.issue_cycles == cycle + 32'd1);
        if (copying) assert (copied);
    end

    // Which states control and the pipeline have together.
    (* hierconn *) wire [3:0]         \control.state ;
    (* hierconn *) wire               \control.second ;
    (* hierconn *) wire [10:0]        \issue.and_valid ;
    (* hierconn *) wire [11*BITS-1:0] \issue.and_targets ;
    (* hierconn *) wire [1:0]         \issue.written ;
    (* hierconn *) wire               \issue.second_cycle ;
    (* hierconn *) wire               \issue.last_constant ;
    (* hierconn *) wire [BITS-1:0]    \issue.last_place ;
    (* hierconn *) wire [BITS-1:0]    \issue.gate_target ;
    (* hierconn *) wire               \labels.full ;
    (* hierconn *) wire               \labels.full_dry ;
    (* hierconn *) wire [BITS-1:0]    \labels.queued_address ;
    wire [3:0] state = \control.state ;
    wire second = \control.second ;
    wire behind = (state == ISSUE && second) || (state == DRAIN && !second);
    always @* if (known) begin
        assert (state <= WIPE);
        assert (copy == (state == COPY));
        if (gate) assert (behind);
        assert (\issue.and_valid == {stages, gate && !is_xor});
        if (state <= BEGIN || state == COPY || issue_first || state == WIPE)
            assert (stages == 10'b0 && !gate);
        if (\issue.second_cycle ) assert (behind || state == FLUSH);
        if (\labels.full ) assert (behind || state == DRAIN || state == FLUSH);
        if (\issue.written != 2'b0)
            assert (behind || issuing || state == COPY || state == FLUSH);
        if (state == WAIT) assert (number == 0);
        if (state == COPY) assert (number != 0 && number <= flip_flops);
        if (issuing) assert (number >= flip_flops && number < lines);
        if (issue_first) assert (number == flip_flops);
    end

    // Flip-flops that have been copied.
    always @* if (known && (state == COPY || issue_first)) begin
        if (number > 1 && flip_flops > 1) assert (\issue.written == last_write);
        else if (flip_flops != 0) assert (\issue.written == {1'b0, last_write[0]});
        else assert (\issue.written == 2'b0);
        if (flip_flops != 0) begin
            assert (\issue.last_constant == last_at_once);
            if (number >= flip_flops) assert (\issue.last_place == last);
        end
    end

    // The writes that come, and the one that waits.
    integer k;
    always @* if (known && issuing) begin
        assert (\issue.gate_target == own);
        assert (!write0[11] && write1[11:2] == 10'b0);
        for (k = 0; k < 11; k = k + 1) begin
            assert (write0[10-k] == \issue.and_valid [k]);
            if (write0[10-k]) begin
                assert (wire_of0[BITS*(10-k) +: BITS] >= gates_from
                    && wire_of0[BITS*(10-k) +: BITS] < own);
                assert (\issue.and_targets [BITS*k +: BITS] == wire_of0[BITS*(10-k) +: BITS]);
            end
        end
        assert (write1[0] == (write_single || dry));
        assert (write1[1] == (issue_first && \issue.written [0]));
        if (write1[0]) begin
            assert (wire_of1[0 +: BITS] < own);
            assert ((wire_of1[0 +: BITS] < gates_from) == !write_single);
            if (write_single) assert (target == wire_of1[0 +: BITS]);
            else assert (wire_of1[0 +: BITS] == (issue_first ? last - 2'd2 : last));
        end
        if (write1[1]) assert (wire_of1[BITS +: BITS] == last);
        assert (queued == \labels.full );
        if (queued) begin
            assert (queued_wire < own);
            assert (\labels.full_dry == (queued_wire < gates_from));
            if (!\labels.full_dry ) assert (\labels.queued_address == queued_wire);
        end
    end

    // A wire can be read in the cycle behind its write if that comes or waits, and else now.
    function automatic right(input [BITS-1:0] w, input [3:0] cycles);
        integer j;
        reg comes;
        begin
            right = 1'b1;
            comes = 1'b0;
            for (j = 0; j < 11; j = j + 1)
                if (write0[j] && wire_of0[BITS*j +: BITS] == w)
                    {comes, right} = {1'b1, right && cycles == j + 1};
            if ((write1[0] && wire_of1[0 +: BITS] == w) || (queued && queued_wire == w))
                {comes, right} = {1'b1, right && cycles == 4'd1};
            if (!comes) right = cycles == 4'd0;
            // Flip-flops are all there behind the first cycle.
            if (w < gates_from)
                right = cycles == {3'b0, !(issuing && !issue_first) && w == last && !last_at_once};
        end
    endfunction
    always @* if (known && (state == COPY || issuing)) begin
        if (any_wire < own && (any_wire >= gates_from || !any_wire[0])) assert (right(any_wire, until));
        // The same is assumed of the operands, since it is asserted of every wire. That takes nothing
        // from what is asserted of the state: there are lines without operands in the memory.
        if (issuing && reads0) assume (right(wire0, until0));
        if (issuing && reads1) assume (right(wire1, until1));
    end

    // Labels: a gate or a copy reads from a place, which is any, the label that was last given for it,
    // whether that still waits or moved to the other port.
    wire [BITS-1:0] place = $anyconst;
    (* hierconn *) wire [BITS-1:0] \labels.labels.place = place;
    (* hierconn *) wire [127:0] \labels.labels.word ;
    (* hierconn *) wire [127:0] \labels.queued_data ;
    wire gives0 = stages[9] && and_target == place;
    wire gives1 = wipe ? wipe_address == place : write_single && target == place;
    reg given = 1'b0;
    reg read0, read1;
    reg [127:0] label, read_label;
    always @(posedge clock) begin
        if (reset) given <= 1'b0;
        else if (known && (gives0 || gives1)) given <= 1'b1;
        if (gives0 || gives1) label <= gives0 ? and_label : wipe ? 128'b0 : single;
        read0 <= known && given && want0 && place0 == place && (copied || issued);
        read1 <= known && given && want1 && place1 == place && (copied || issued);
        read_label <= label;
    end
    always @* if (known) begin
        if (read0) assert (data0 == read_label);
        if (read1) assert (data1 == read_label);
    end

    // No two labels on the way are for the same place. In the cycles of gates those on the way are of
    // gates, and a copy writes the place that no copy reads.
    reg [3:0] on_way;
    integer n;
    always @* begin
        on_way = (waits && waits_address == place) + (gate && is_xor && target == place)
            + (copy && target == place);
        for (n = 0; n < 11; n = n + 1)
            on_way = on_way + (\issue.and_valid [n] && \issue.and_targets [BITS*n +: BITS] == place);
    end
    wire here = waits && waits_address == place;
    always @* assert (known || !given);
    always @* if (known) begin
        assert (on_way <= 4'd1);
        if (given) assert ((here ? \labels.queued_data : \labels.labels.word ) == label);
        if (copy) assert (target[0] == netlist_cycle[0] && target < gates_from);
    end
endmodule
