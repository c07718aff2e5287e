// Issue of the better engine: which gates of a bundle may go in this cycle.
//
// A line of the netlist is a bundle: at most one gate for each pipeline of AND, in the lowest slots,
// and one for each unit for XOR. Bundles go in order; gates of a bundle that can go do so, and the
// bundle ends with its last one. A gate waits
//
// * while a label that it reads is on the way: that of an XOR can be read two cycles after its
//   issue, that of an AND twelve;
// * while the banks of its operands are read at two other addresses by gates of lower slots: several
//   gates may take what a port reads;
// * while the bank that it writes is written in the same cycle by an AND, or a lower slot;
// * if it is an AND, while one of a lower slot waits: ANDs go in the order of the file;
// * if it is none, while an AND on the way has its target: places serve again.
//
// Slot, from the top: valid, two places (kind and address each), inversions of a, b and output, moves
// a flip-flop, writes the other half of a pair, address of the target, is an output, its number.
// An address is a bank and a place in it. Kinds are those of `bundle_load`. Above the slots stand the
// numbers of the ANDs.

module bundle_issue #(
    parameter LABEL_BITS = 14,
    parameter BANKS = 8,
    parameter UNITS = 4,       // pipelines of AND, and units for XOR
    parameter ENGINES = 1,     // pipelines
    parameter INDEX = 8,
    parameter GATE_BITS = 14,  // of the number of an AND
    localparam PLACE = 3 + LABEL_BITS,
    localparam SLOT = 2 * PLACE + LABEL_BITS + INDEX + 7,
    localparam LINE = UNITS * SLOT + ENGINES * GATE_BITS,
    localparam BANK = $clog2(BANKS),
    localparam INNER = LABEL_BITS - BANK
) (
    input  logic                          clock,
    input  logic                          reset,
    input  logic [LINE-1:0]               line,
    input  logic                          copying,     // flip-flops take their initial values
    input  logic                          issuing,
    input  logic                          parity,
    output logic                          taken,       // the bundle has gone
    output logic [ENGINES-1:0]            issued_and,
    output logic                          ands_empty,
    input  logic [ENGINES-1:0]            room,        // as `collector` says
    input  logic [ENGINES-1:0]            exhausted,   // as `control` says
    output logic                          refuse,
    // Reads: addresses of operands for the store of inputs, and of ports of banks.
    output logic [2*UNITS*LABEL_BITS-1:0] places,
    output logic [2*BANKS*INNER-1:0]      port_addresses,
    // Gates that were taken one cycle ago, whose labels stand now.
    output logic [UNITS-1:0]              gates,
    output logic [2*UNITS*3-1:0]          kinds,
    output logic [2*UNITS*(BANK+1)-1:0]   ports,       // from which each operand comes
    output logic [UNITS*3-1:0]            inverts,
    output logic [UNITS*LABEL_BITS-1:0]   targets,
    output logic [ENGINES*32-1:0]         and_numbers,
    // Their outputs, and those of the ANDs which were issued eleven cycles ago, in their slots.
    output logic [ENGINES*LABEL_BITS-1:0] and_targets,
    output logic [UNITS-1:0]              outputs,
    output logic [UNITS-1:0]              outputs_ahead,
    output logic [UNITS*INDEX-1:0]        output_numbers,
    output logic                          outputs_empty
);
    localparam [2:0] GATE = 3'd2, EACH_CYCLE = 3'd5, FLIP_FLOP = 3'd6, NEXT = 3'd7;

    function automatic in_memory(input [2:0] kind);
        in_memory = kind == GATE || kind == FLIP_FLOP || kind == NEXT;
    endfunction

    // Fields of all slots.
    logic [UNITS-1:0]            valid;
    logic [2*UNITS*3-1:0]        next_kinds;
    logic [UNITS*3-1:0]          next_inverts;
    logic [UNITS-1:0]            moves;
    logic [UNITS*LABEL_BITS-1:0] next_targets;
    logic [UNITS-1:0]            next_outputs;
    logic [UNITS*INDEX-1:0]      next_numbers;

    genvar s;
    generate
        for (s = 0; s < UNITS; s = s + 1) begin : slots
            logic [SLOT-1:0]       slot;
            logic [LABEL_BITS-1:0] even0;
            logic [LABEL_BITS-1:0] even1;
            logic [LABEL_BITS-1:0] even;
            logic [2:0]            kind0;
            logic [2:0]            kind1;
            logic                  pair;
            assign slot = line[SLOT*s +: SLOT];
            assign {valid[s], kind0, even0, kind1, even1, next_inverts[3*s +: 3], moves[s], pair,
                even, next_outputs[s], next_numbers[INDEX*s +: INDEX]} = slot;
            assign next_kinds[6*s +: 6] = {kind1, kind0};
            // Labels of this netlist cycle lie in one half of a pair, those of the next one in the
            // other. Initial values go to the half of this cycle.
            assign places[2*LABEL_BITS*s +: LABEL_BITS] = even0 | {{(LABEL_BITS-1){1'b0}},
                kind0 == NEXT ? !parity : (kind0 == EACH_CYCLE || kind0 == FLIP_FLOP) && parity};
            assign places[2*LABEL_BITS*s+LABEL_BITS +: LABEL_BITS] = even1
                | {{(LABEL_BITS-1){1'b0}},
                kind1 == NEXT ? !parity : (kind1 == EACH_CYCLE || kind1 == FLIP_FLOP) && parity};
            assign next_targets[LABEL_BITS*s +: LABEL_BITS] = even
                | {{(LABEL_BITS-1){1'b0}}, pair && (parity ^ !copying)};
        end
    endgenerate

    // The labels of ANDs on the way: those of one age together, the youngest ones in the low bits.
    localparam TARGETS = ENGINES * LABEL_BITS;
    localparam NUMBERS = ENGINES * INDEX;
    logic [11*ENGINES-1:0] and_valid;
    logic [11*TARGETS-1:0] on_way;
    logic [11*ENGINES-1:0] and_outputs;
    logic [11*NUMBERS-1:0] output_places;

    assign ands_empty = and_valid == '0;
    assign and_targets = on_way[11*TARGETS-1 -: TARGETS];

    logic [UNITS-1:0] done;   // of the bundle
    logic [UNITS-1:0] go;

    // An operand that is on the way.
    logic [2*UNITS-1:0] late;
    integer o;
    integer k;
    always_comb begin
        late = '0;
        for (o = 0; o < 2 * UNITS; o = o + 1) begin
            for (k = 0; k < 11 * ENGINES; k = k + 1)
                if (and_valid[k]
                        && places[LABEL_BITS*o +: LABEL_BITS] == on_way[LABEL_BITS*k +: LABEL_BITS])
                    late[o] = 1'b1;
            for (k = ENGINES; k < UNITS; k = k + 1)
                if (gates[k]
                        && places[LABEL_BITS*o +: LABEL_BITS]
                            == targets[LABEL_BITS*k +: LABEL_BITS])
                    late[o] = 1'b1;
            if (!in_memory(next_kinds[3*o +: 3])) late[o] = 1'b0;
        end
    end

    // A target to which an older label is on the way. ANDs keep their order.
    logic [UNITS-1:0] crossed;
    integer           t;
    integer           w;
    always_comb begin
        crossed = '0;
        for (t = ENGINES; t < UNITS; t = t + 1)
            for (w = 0; w < 11 * ENGINES; w = w + 1)
                if (and_valid[w] && next_targets[LABEL_BITS*t +: LABEL_BITS]
                        == on_way[LABEL_BITS*w +: LABEL_BITS])
                    crossed[t] = 1'b1;
    end

    // Ports and writes, slot after slot.
    logic [2*BANKS-1:0]          used;
    logic [2*BANKS-1:0]          used_before;
    logic [BANKS-1:0]            writes;        // in the next cycle
    logic [BANKS-1:0]            and_writes;    // by ANDs that go in this one
    logic [ENGINES-1:0]          room_left;
    logic [ENGINES-1:0]          none_left;
    logic                        held;          // an AND of a lower slot waits
    logic [2*UNITS*(BANK+1)-1:0] next_ports;
    logic [BANK-1:0]             bank;
    logic [INNER-1:0]            inner;
    logic                        fits;
    integer u;
    integer i;
    integer p;
    always_comb begin
        used = '0;
        used_before = '0;
        writes = '0;
        and_writes = '0;
        room_left = room;
        none_left = exhausted;
        held = 1'b0;
        next_ports = '0;
        port_addresses = '0;
        bank = '0;
        inner = '0;
        fits = 1'b0;
        go = '0;
        refuse = 1'b0;
        for (i = 9 * ENGINES; i < 10 * ENGINES; i = i + 1)
            if (and_valid[i]) writes[on_way[LABEL_BITS*(i+1)-1 -: BANK]] = 1'b1;
        for (u = 0; u < UNITS; u = u + 1) begin
            used_before = used;
            fits = valid[u] && !done[u] && (copying || issuing) && !late[2*u] && !late[2*u+1];
            for (i = 2 * u; i < 2 * u + 2; i = i + 1)
                for (p = 0; p < BANKS; p = p + 1)
                    if (fits && in_memory(next_kinds[3*i +: 3])
                            && places[LABEL_BITS*(i+1)-1 -: BANK] == BANK'(p)) begin
                        inner = places[LABEL_BITS*i +: INNER];
                        next_ports[(BANK+1)*i +: BANK+1] = {BANK'(p), 1'b0};
                        if (!used[2*p] || port_addresses[INNER*2*p +: INNER] == inner) begin
                            used[2*p] = 1'b1;
                            port_addresses[INNER*2*p +: INNER] = inner;
                        end else if (!used[2*p+1]
                                || port_addresses[INNER*(2*p+1) +: INNER] == inner) begin
                            used[2*p+1] = 1'b1;
                            port_addresses[INNER*(2*p+1) +: INNER] = inner;
                            next_ports[(BANK+1)*i] = 1'b1;
                        end else fits = 1'b0;
                    end
            bank = next_targets[LABEL_BITS*(u+1)-1 -: BANK];
            if (u < ENGINES) begin
                fits = fits && !held && !and_writes[bank];
                refuse = refuse || (fits && none_left[0]);
                fits = fits && room_left[0] && !none_left[0];
                held = held || (valid[u] && !done[u] && !fits);
                if (fits) begin
                    and_writes[bank] = 1'b1;
                    room_left = room_left >> 1;
                    none_left = ENGINES'({1'b1, none_left} >> 1);
                end
            end else begin
                fits = fits && !writes[bank] && !crossed[u];
                if (fits) writes[bank] = 1'b1;
            end
            if (!fits) used = used_before;
            go[u] = fits;
        end
    end

    assign taken = (copying || issuing) && (valid & ~done & ~go) == '0;
    assign issued_and = go[ENGINES-1:0];

    // Gates that have gone.
    logic [UNITS-1:0] output_now;
    logic [UNITS-1:0] ahead_now;
    logic [UNITS*INDEX-1:0] number_now;
    logic unused;
    assign unused = &{ahead_now[ENGINES-1:0], number_now[NUMBERS-1:0]};

    assign outputs = {output_now[UNITS-1:ENGINES],
        and_outputs[11*ENGINES-1 -: ENGINES] & and_valid[11*ENGINES-1 -: ENGINES]};
    assign outputs_ahead = {ahead_now[UNITS-1:ENGINES], {ENGINES{1'b0}}};
    assign output_numbers = {number_now[UNITS*INDEX-1:NUMBERS],
        output_places[11*NUMBERS-1 -: NUMBERS]};
    assign outputs_empty = (and_outputs & and_valid) == '0 && output_now == '0;

    integer a;
    always_ff @(posedge clock) begin
        if (reset) begin
            done <= '0;
            gates <= '0;
            and_valid <= '0;
            output_now <= '0;
        end else begin
            if (taken) done <= '0;
            else done <= done | go;
            gates <= go;
            and_valid <= {and_valid[10*ENGINES-1:0], go[ENGINES-1:0]};
            output_now <= go & next_outputs;
        end
        on_way <= {on_way[10*TARGETS-1:0], next_targets[TARGETS-1:0]};
        and_outputs <= {and_outputs[10*ENGINES-1:0], next_outputs[ENGINES-1:0]};
        output_places <= {output_places[10*NUMBERS-1:0], next_numbers[NUMBERS-1:0]};
        kinds <= next_kinds;
        ports <= next_ports;
        inverts <= next_inverts;
        targets <= next_targets;
        ahead_now <= copying ? '0 : moves;
        number_now <= next_numbers;
        for (a = 0; a < ENGINES; a = a + 1)
            and_numbers[32*a +: 32] <= 32'(line[UNITS*SLOT+GATE_BITS*a +: GATE_BITS]);
    end
endmodule
