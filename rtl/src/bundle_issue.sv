// Issue of the better engine: which gates of a bundle may go in this cycle.
//
// A line of the netlist is a bundle: at most one gate for the pipeline of AND, in slot 0, and one for
// each unit for XOR. Bundles go in order; gates of a bundle that can go do so, and the bundle ends
// with its last one. A gate waits
//
// * while a label that it reads is on the way: that of an XOR can be read two cycles after its
//   issue, that of an AND twelve;
// * while the banks of its operands are read at two other addresses by gates of lower slots: several
//   gates may take what a port reads;
// * while the bank that it writes is written in the same cycle by an AND, or a lower slot.
//
// Slot, from the top: valid, two places (kind and address each), inversions of a, b and output, moves
// a flip-flop, writes the other half of a pair, address of the target, is an output, its number.
// An address is a bank and a place in it. Kinds are those of `bundle_load`.

module bundle_issue #(
    parameter LABEL_BITS = 14,
    parameter BANKS = 8,
    parameter UNITS = 4,
    parameter INDEX = 8,
    localparam PLACE = 3 + LABEL_BITS,
    localparam SLOT = 2 * PLACE + LABEL_BITS + INDEX + 7,
    localparam BANK = $clog2(BANKS),
    localparam INNER = LABEL_BITS - BANK
) (
    input  logic                          clock,
    input  logic                          reset,
    input  logic [UNITS*SLOT-1:0]         line,
    input  logic                          copying,     // flip-flops take their initial values
    input  logic                          issuing,
    input  logic                          parity,
    output logic                          taken,       // the bundle has gone
    output logic                          issued_and,
    output logic                          ands_empty,
    input  logic                          room,
    input  logic                          exhausted,
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
    output logic [31:0]                   and_number,
    // Their outputs, and that of the AND which was issued eleven cycles ago, in slot 0.
    output logic [LABEL_BITS-1:0]         and_target,
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

    // The labels of ANDs on the way, the youngest one in the low bits.
    logic [10:0]              and_valid;
    logic [11*LABEL_BITS-1:0] and_targets;
    logic [10:0]              and_outputs;
    logic [11*INDEX-1:0]      and_numbers;

    assign ands_empty = and_valid == 11'b0;
    assign and_target = and_targets[11*LABEL_BITS-1 -: LABEL_BITS];

    logic [UNITS-1:0] done;   // of the bundle
    logic [UNITS-1:0] go;

    // An operand that is on the way.
    logic [2*UNITS-1:0] late;
    integer o;
    integer k;
    always_comb begin
        late = '0;
        for (o = 0; o < 2 * UNITS; o = o + 1) begin
            for (k = 0; k < 11; k = k + 1)
                if (and_valid[k]
                        && places[LABEL_BITS*o +: LABEL_BITS]
                            == and_targets[LABEL_BITS*k +: LABEL_BITS])
                    late[o] = 1'b1;
            for (k = 1; k < UNITS; k = k + 1)
                if (gates[k]
                        && places[LABEL_BITS*o +: LABEL_BITS]
                            == targets[LABEL_BITS*k +: LABEL_BITS])
                    late[o] = 1'b1;
            if (!in_memory(next_kinds[3*o +: 3])) late[o] = 1'b0;
        end
    end

    // Ports and writes, slot after slot.
    logic [2*BANKS-1:0]          used;
    logic [2*BANKS-1:0]          used_before;
    logic [BANKS-1:0]            writes;        // in the next cycle
    logic [2*UNITS*(BANK+1)-1:0] next_ports;
    logic [BANK-1:0]             bank;
    logic [INNER-1:0]            inner;
    logic                        fits;
    integer u;
    integer i;
    always_comb begin
        used = '0;
        used_before = '0;
        writes = '0;
        next_ports = '0;
        port_addresses = '0;
        bank = '0;
        inner = '0;
        fits = 1'b0;
        go = '0;
        refuse = 1'b0;
        if (and_valid[9]) writes[and_targets[LABEL_BITS*10-1 -: BANK]] = 1'b1;
        for (u = 0; u < UNITS; u = u + 1) begin
            used_before = used;
            fits = valid[u] && !done[u] && (copying || issuing) && !late[2*u] && !late[2*u+1];
            for (i = 2 * u; i < 2 * u + 2; i = i + 1)
                if (fits && in_memory(next_kinds[3*i +: 3])) begin
                    {bank, inner} = places[LABEL_BITS*i +: LABEL_BITS];
                    if (used[{bank, 1'b0}] && port_addresses[INNER*{bank, 1'b0} +: INNER] == inner)
                        next_ports[(BANK+1)*i +: BANK+1] = {bank, 1'b0};
                    else if (!used[{bank, 1'b0}]) begin
                        used[{bank, 1'b0}] = 1'b1;
                        port_addresses[INNER*{bank, 1'b0} +: INNER] = inner;
                        next_ports[(BANK+1)*i +: BANK+1] = {bank, 1'b0};
                    end else if (!used[{bank, 1'b1}]
                            || port_addresses[INNER*{bank, 1'b1} +: INNER] == inner) begin
                        used[{bank, 1'b1}] = 1'b1;
                        port_addresses[INNER*{bank, 1'b1} +: INNER] = inner;
                        next_ports[(BANK+1)*i +: BANK+1] = {bank, 1'b1};
                    end else fits = 1'b0;
                end
            if (u == 0) begin
                refuse = fits && exhausted;
                fits = fits && room && !exhausted;
            end else begin
                bank = next_targets[LABEL_BITS*(u+1)-1 -: BANK];
                fits = fits && !writes[bank];
                if (fits) writes[bank] = 1'b1;
            end
            if (!fits) used = used_before;
            go[u] = fits;
        end
    end

    assign taken = (copying || issuing) && (valid & ~done & ~go) == '0;
    assign issued_and = go[0];

    // What has gone.
    logic [31:0] next_and;
    logic [UNITS-1:0] output_now;
    logic [UNITS-1:0] ahead_now;
    logic [UNITS*INDEX-1:0] number_now;
    logic unused;
    assign unused = ahead_now[0] || (&number_now[INDEX-1:0]);

    assign outputs = {output_now[UNITS-1:1], and_outputs[10] && and_valid[10]};
    assign outputs_ahead = {ahead_now[UNITS-1:1], 1'b0};
    assign output_numbers = {number_now[UNITS*INDEX-1:INDEX], and_numbers[11*INDEX-1 -: INDEX]};
    assign outputs_empty = (and_outputs & and_valid) == '0 && output_now == '0;

    always_ff @(posedge clock) begin
        if (reset) begin
            done <= '0;
            gates <= '0;
            and_valid <= 11'b0;
            output_now <= '0;
        end else begin
            if (taken) done <= '0;
            else done <= done | go;
            gates <= go;
            and_valid <= {and_valid[9:0], go[0]};
            output_now <= go & next_outputs;
        end
        and_targets <= {and_targets[10*LABEL_BITS-1:0], next_targets[LABEL_BITS-1:0]};
        and_outputs <= {and_outputs[9:0], next_outputs[0]};
        and_numbers <= {and_numbers[10*INDEX-1:0], next_numbers[INDEX-1:0]};
        kinds <= next_kinds;
        ports <= next_ports;
        inverts <= next_inverts;
        targets <= next_targets;
        ahead_now <= copying ? '0 : moves;
        number_now <= next_numbers;
        and_number <= next_and;
        if (!issuing) next_and <= 32'd0;
        else if (go[0]) next_and <= next_and + 32'd1;
    end
endmodule
