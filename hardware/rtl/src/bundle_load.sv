// Reads a netlist for the better engine word by word, refuses what is out of range, and writes it to
// the memory of the netlist as bundles of places.
//
// The words are those of wide HSCD, in the order in which gates are issued, with more fields:
//
//     counts     the fourth word: 16:0 number of moves
//     flip-flop  as in HSCD
//     gate       8:5 bank, 9 last of its bundle, 10 drives a flip-flop, 26:11 number of that one, or
//                place in the bank; 95:88 and 63:56 high and low byte of the number of an AND, and
//                0 of others, so that operands have 24 bits
//     move       opcode 15; in0 is D and in1 is Q of a flip-flop; 9 last of its bundle
//
// A gate that drives a flip-flop writes the half of its pair that is Q in the next netlist cycle;
// the other flip-flops are moved, and each is driven or moved once. Flip-flop `k` has pair `k / BANKS`
// of bank `k % BANKS`. Other gates have the places behind the pairs, which the compiler gives them, and
// which serve again when nothing reads the key. Refused is whatever would not be the netlist:
//
// * a gate that reads a place which another gate has taken since;
// * a gate that reads a gate of its bundle, or takes a place that its bundle reads or writes: gates
//   of a bundle may go in any order;
// * a number of an AND that is not below their count, or that another AND has: it is in the tweak of
//   the hash, and tells the host which AND a table is of, whatever the order of issue.
//
// Initial values are moves too, in bundles in front, which run in the first netlist cycle only.
// `loaded` comes three cycles behind the last word.
//
// Kinds of operands:
//
//     0, 1 constants            4, 5 an input for initial values, one of each cycle
//     2    gate                 6    flip-flop
//     3    no operand           7    gate that drives a flip-flop

module bundle_load #(
    parameter LABEL_BITS = 14,
    parameter INPUT_BITS = 12,
    parameter LINE_BITS = 14,
    parameter GATE_BITS = 14,  // gates
    parameter OUTPUTS = 256,
    parameter BANKS = 8,
    parameter UNITS = 4,       // pipelines of AND, and units for XOR
    parameter ENGINES = 1,     // pipelines
    localparam INDEX = $clog2(OUTPUTS),
    localparam PLACE = 3 + LABEL_BITS,
    localparam SLOT = 2 * PLACE + LABEL_BITS + INDEX + 7,
    localparam LINE = UNITS * SLOT + ENGINES * GATE_BITS,
    localparam BANK = $clog2(BANKS),
    localparam INNER = LABEL_BITS - BANK
) (
    input  logic                  clock,
    input  logic                  reset,
    input  logic                  restart,
    input  logic                  valid,
    input  logic                  narrow,
    input  logic [95:0]           word,
    output logic                  loaded,
    output logic                  refused,
    output logic [INPUT_BITS-1:0] initials,
    output logic [INPUT_BITS-1:0] each_cycle,
    output logic [LINE_BITS-1:0]  first_lines,  // bundles of initial values
    output logic [LINE_BITS-1:0]  gate_lines,   // up to the last bundle with a gate
    output logic [LINE_BITS-1:0]  lines,
    output logic [LINE_BITS-1:0]  ands,
    output logic                  store,
    output logic [LINE_BITS-1:0]  store_line,
    output logic [LINE-1:0]       store_word    // slots, and above them the numbers of ANDs
);
    `include "opcode.svh"

    localparam [2:0] CONST0 = 3'd0, CONST1 = 3'd1, GATE = 3'd2, NO_OPERAND = 3'd3, INITIAL = 3'd4,
        EACH_CYCLE = 3'd5, FLIP_FLOP = 3'd6, NEXT = 3'd7;
    localparam [31:0] NONE = 32'hffff_ffff;
    localparam [31:0] ZERO = 32'hffff_fffe;
    localparam [31:0] ONE = 32'hffff_fffd;

    logic [31:0] field0;
    logic [31:0] field1;
    logic [3:0]  code;
    logic        is_output;
    logic [BANK-1:0] bank;
    logic        is_last;
    logic        drives;
    logic [15:0] driven;

    logic [15:0] and_named;     // the number of an AND

    // Operands of a gate have 24 bits, two's complement.
    assign field0 = {is_gate ? {8{word[87]}} : word[95:88], word[87:64]};
    assign field1 = {is_gate ? {8{word[55]}} : word[63:56], word[55:32]};
    assign and_named = {word[95:88], word[63:56]};
    assign code = word[4:1];
    assign is_output = word[0];
    assign bank = word[5 +: BANK];
    assign is_last = word[9];
    assign drives = word[10];
    assign driven = word[26:11];

    // Counts.
    logic [31:0] at;
    logic [16:0] count_initials;
    logic [16:0] count_each;
    logic [16:0] count_flip_flops;
    logic [16:0] count_outputs;
    logic [16:0] count_xors;
    logic [16:0] count_gates;
    logic [16:0] count_moves;
    logic [16:0] outputs;
    logic [16:0] xors;
    logic [16:0] gates;      // so far
    logic [16:0] driven_ones;
    logic [16:0] earlier;     // gates of earlier bundles

    logic [31:0] inputs;
    logic [31:0] first_gate;
    logic [31:0] wires;
    assign inputs = {15'b0, count_initials} + {15'b0, count_each};
    assign first_gate = inputs + {15'b0, count_flip_flops};
    assign wires = first_gate + {15'b0, count_gates};

    function automatic below(input [31:0] index, input [31:0] end_wire);
        below = index == ZERO || index == ONE || index < end_wire;
    endfunction

    // The end of the wires that a bundle may read.
    logic [31:0] readable;
    assign readable = first_gate + {15'b0, earlier};

    logic       known;
    logic [3:0] function_bits;
    logic       is_flip_flop;
    logic       is_move;
    logic       is_gate;
    logic       is_and;
    logic       last;
    logic       good_line;
    logic       good_end;
    logic       line_valid;
    logic [INNER:0] pairs;   // places of flip-flops in each bank
    logic [15:0] move_of;

    assign {known, function_bits} = decode(code);
    assign is_flip_flop = at < 32'd4 + {15'b0, count_flip_flops};
    assign is_move = !is_flip_flop && code == 4'd15;
    assign is_gate = !is_flip_flop && !is_move;
    assign is_and = is_gate && !function_bits[3];
    assign last = at == 32'd3 + {15'b0, count_flip_flops} + {15'b0, count_gates}
        + {15'b0, count_moves};
    assign line_valid = valid && !refused && !whole && at >= 32'd4;
    assign pairs = (INNER+1)'((count_flip_flops + 17'(BANKS - 1)) >> BANK) << 1;
    assign move_of = 16'(field1 - inputs);

    // The slot of a line: the next free one of a pipeline for an AND, of a unit for XOR for others.
    logic [UNITS-1:0]    filled;
    logic [UNITS-1:0]    chosen;
    integer f;
    always_comb begin
        chosen = '0;
        for (f = UNITS - 1; f >= 0; f = f - 1)
            if (!filled[f] && is_and == (f < ENGINES)) chosen = UNITS'(1) << f;
    end

    assign good_line = !narrow && chosen != '0 && (
        is_flip_flop ? code == 4'd15 && below(field0, wires) && below(field1, inputs)
        : is_move ? below(field0, readable) && field1 >= inputs && field1 < first_gate
        : known && below(field0, readable) && gates < count_gates
            && (code == 4'd12 ? field1 == NONE : below(field1, readable))
            && (is_and ? {1'b0, and_named} < count_gates - count_xors : and_named == 16'd0)
            && (drives ? {1'b0, driven} < count_flip_flops
                : driven >= 16'(pairs) && driven >> INNER == 16'd0));
    assign good_end = xors + {16'b0, is_gate && function_bits[3]} == count_xors
        && gates + {16'b0, is_gate} == count_gates
        && driven_ones + {16'b0, is_move || (is_gate && drives)} == count_flip_flops
        && outputs + {16'b0, is_output && !is_move} <= count_outputs && is_last;

    logic fits;
    assign fits = {count_each, 1'b0} + {1'b0, count_initials} <= 18'd1 << INPUT_BITS
        && count_each < 17'd1 << INPUT_BITS && count_initials < 17'd1 << INPUT_BITS
        && {1'b0, count_flip_flops} + 18'(2 * BANKS) < 18'd1 << (LABEL_BITS - 1)
        && field1 != 32'd0 && field1[16:0] <= 17'd1 << GATE_BITS
        && field1[16:0] - field0[16:0] < 17'd1 << LINE_BITS
        && count_outputs <= OUTPUTS[16:0];

    // Bundles of initial values end when all units for XOR have one.
    logic ends;
    assign ends = is_flip_flop ? chosen[UNITS-1] || at == 32'd3 + {15'b0, count_flip_flops}
        : is_last;

    // All words have come, and their checks have ended but for those of one and of two cycles later.
    logic whole;
    logic checked;
    // Faults that are seen one cycle, and two cycles, behind the word.
    logic twice;
    logic clash;
    logic stolen;
    logic renamed;

    always_ff @(posedge clock)
        if (reset || restart) begin
            at <= 32'd0;
            whole <= 1'b0;
            checked <= 1'b0;
            loaded <= 1'b0;
            refused <= 1'b0;
            count_initials <= 17'd0;
            count_each <= 17'd0;
            count_flip_flops <= 17'd0;
            count_outputs <= 17'd0;
            count_xors <= 17'd0;
            count_gates <= 17'd0;
            count_moves <= 17'd0;
            outputs <= 17'd0;
            xors <= 17'd0;
            gates <= 17'd0;
            driven_ones <= 17'd0;
            filled <= '0;
            earlier <= 17'd0;
        end else if ((valid && whole) || twice || clash || stolen || renamed || overflow) begin
            refused <= 1'b1;
            loaded <= 1'b0;
        end else if (valid && !refused && at < 32'd4) begin
            at <= at + 32'd1;
            refused <= narrow || field0 >= 32'h1_0000 || field1 >= 32'h1_0000
                || (at[1:0] == 2'd3 && (!fits || word[31:17] != 15'b0));
            case (at[1:0])
                2'd0: count_initials <= field0[16:0] + field1[16:0];
                2'd1: count_each <= field0[16:0] + field1[16:0];
                2'd2: {count_flip_flops, count_outputs} <= {field0[16:0], field1[16:0]};
                default: begin
                    {count_xors, count_gates} <= {field0[16:0], field1[16:0]};
                    count_moves <= word[16:0];
                end
            endcase
        end else if (line_valid) begin
            at <= at + 32'd1;
            outputs <= outputs + {16'b0, is_output && !is_move};
            xors <= xors + {16'b0, is_gate && function_bits[3]};
            gates <= gates + {16'b0, is_gate};
            driven_ones <= driven_ones + {16'b0, is_move || (is_gate && drives)};
            filled <= ends ? '0 : filled | chosen;
            if (ends) earlier <= gates + {16'b0, is_gate};
            refused <= !good_line || (last && !good_end);
            whole <= last && good_line && good_end;
        end else if (!refused) begin
            checked <= whole;
            loaded <= checked;
        end

    // Where the label of a wire is, but for flip-flops and gates looked up a cycle later.
    function automatic [PLACE-1:0] place(
        input [31:0] index, input [31:0] initial_count, input [31:0] input_count,
        input [31:0] gates_from
    );
        if (index == ZERO) place = {CONST0, {LABEL_BITS{1'b0}}};
        else if (index == ONE) place = {CONST1, {LABEL_BITS{1'b0}}};
        else if (index == NONE) place = {NO_OPERAND, {LABEL_BITS{1'b0}}};
        else if (index < initial_count)
            place = {INITIAL, LABEL_BITS'(((input_count - initial_count) << 1) + index)};
        else if (index < input_count)
            place = {EACH_CYCLE, LABEL_BITS'((index - initial_count) << 1)};
        else if (index < gates_from) place = {FLIP_FLOP, pair_of(16'(index - input_count))};
        else place = {GATE, {LABEL_BITS{1'b0}}};
    endfunction
    function automatic [LABEL_BITS-1:0] pair_of(input [15:0] flip_flop);
        pair_of = {flip_flop[BANK-1:0], INNER'({flip_flop >> BANK, 1'b0})};
    endfunction

    // One cycle later: places that were looked up, and the bundle so far.
    logic [PLACE-1:0]      place0;
    logic [PLACE-1:0]      place1;
    logic [LABEL_BITS:0]   found0;   // of a gate: drives a flip-flop, address
    logic [LABEL_BITS:0]   found1;
    logic [INDEX:0]        mask;     // of a flip-flop: is an output, its number
    logic                  line_now;
    logic                  ends_now;
    logic                  gate_now;
    logic                  copy_now;
    logic                  move_now;
    logic [UNITS-1:0]      chosen_now;
    logic [2:0]            invert_now;
    logic                  pair_now;
    logic [LABEL_BITS-1:0] target_now;
    logic [INDEX:0]        mask_now;
    logic                  has_gate;
    logic [LABEL_BITS:0]   own_place;

    assign own_place = drives ? {1'b1, pair_of(driven)} : {1'b0, bank, driven[INNER-1:0]};

    memory #(.BITS(GATE_BITS), .WIDTH(LABEL_BITS + 1)) places0 (
        .clock, .write(line_valid && is_gate), .write_address(gates[GATE_BITS-1:0]),
        .in(own_place), .read(1'b1), .read_address(GATE_BITS'(field0 - first_gate)),
        .out(found0)
    );
    memory #(.BITS(GATE_BITS), .WIDTH(LABEL_BITS + 1)) places1 (
        .clock, .write(line_valid && is_gate), .write_address(gates[GATE_BITS-1:0]),
        .in(own_place), .read(1'b1), .read_address(GATE_BITS'(field1 - first_gate)),
        .out(found1)
    );
    memory #(.BITS(LABEL_BITS), .WIDTH(INDEX + 1)) masks (
        .clock, .write(line_valid && is_flip_flop),
        .write_address(LABEL_BITS'(at - 32'd4)), .in({is_output, outputs[INDEX-1:0]}),
        .read(1'b1), .read_address(LABEL_BITS'(move_of)), .out(mask)
    );

    // Which flip-flops have been driven or moved: their own lines begin with none.
    logic                  takes;
    logic                  takes_now;
    logic                  was_taken;
    logic [LABEL_BITS-1:0] flip_flop;
    assign takes = is_move || (is_gate && drives);
    assign flip_flop = is_flip_flop ? LABEL_BITS'(at - 32'd4)
        : is_move ? LABEL_BITS'(move_of) : LABEL_BITS'(driven);
    memory #(.BITS(LABEL_BITS), .WIDTH(1)) taken (
        .clock, .write(line_valid && (is_flip_flop || takes)), .write_address(flip_flop),
        .in(takes), .read(1'b1), .read_address(flip_flop), .out(was_taken)
    );
    assign twice = line_now && takes_now && was_taken;

    // Which gate has each place. An operand is looked up a cycle behind its place.
    logic        keeps;
    logic [15:0] gate0;
    logic [15:0] gate1;
    logic [15:0] gate0_later;
    logic [15:0] gate1_later;
    logic [1:0]  asks;
    logic [15:0] owner0;
    logic [15:0] owner1;
    assign keeps = line_valid && is_gate && !drives;
    memory #(.BITS(LABEL_BITS), .WIDTH(16)) owners0 (
        .clock, .write(keeps), .write_address(own_place[LABEL_BITS-1:0]),
        .in(gates[15:0]), .read(1'b1), .read_address(found0[LABEL_BITS-1:0]), .out(owner0)
    );
    memory #(.BITS(LABEL_BITS), .WIDTH(16)) owners1 (
        .clock, .write(keeps), .write_address(own_place[LABEL_BITS-1:0]),
        .in(gates[15:0]), .read(1'b1), .read_address(found1[LABEL_BITS-1:0]), .out(owner1)
    );
    assign stolen = (asks[0] && owner0 != gate0_later) || (asks[1] && owner1 != gate1_later);

    // Which AND has each number: the one that came as the `order`th, if that one has the number. Two
    // memories, of which none has to be cleared: an entry of another netlist leads nowhere.
    logic                 names;
    logic [GATE_BITS-1:0] ands_before;
    logic [GATE_BITS-1:0] order;        // of the AND that had the number, one cycle behind the word
    logic [GATE_BITS-1:0] name;         // of that AND, two cycles behind
    logic                 asks_order;
    logic                 asks_name;
    logic [GATE_BITS-1:0] ands_then;
    logic [GATE_BITS-1:0] number_now;
    logic [GATE_BITS-1:0] number_later;
    assign names = line_valid && is_and;
    assign ands_before = GATE_BITS'(gates - xors);
    memory #(.BITS(GATE_BITS), .WIDTH(GATE_BITS)) orders (
        .clock, .write(names), .write_address(and_named[GATE_BITS-1:0]), .in(ands_before),
        .read(1'b1), .read_address(and_named[GATE_BITS-1:0]), .out(order)
    );
    memory #(.BITS(GATE_BITS), .WIDTH(GATE_BITS)) numbers (
        .clock, .write(names), .write_address(ands_before), .in(and_named[GATE_BITS-1:0]),
        .read(1'b1), .read_address(order), .out(name)
    );
    assign renamed = asks_name && name == number_later;

    always_ff @(posedge clock) begin
        asks_order <= !reset && names;
        ands_then <= ands_before;
        number_now <= and_named[GATE_BITS-1:0];
        asks_name <= !reset && asks_order && order < ands_then;
        number_later <= number_now;
    end

    always_ff @(posedge clock) begin
        takes_now <= takes;
        gate0 <= 16'(field0 - first_gate);
        gate1 <= 16'(field1 - first_gate);
        gate0_later <= gate0;
        gate1_later <= gate1;
        asks[0] <= !reset && line_now && place0[PLACE-1 -: 3] == GATE && !found0[LABEL_BITS];
        asks[1] <= !reset && line_now && place1[PLACE-1 -: 3] == GATE && !found1[LABEL_BITS];
    end

    always_ff @(posedge clock) begin
        line_now <= !reset && line_valid && good_line;
        ends_now <= ends;
        gate_now <= is_gate;
        copy_now <= is_flip_flop;
        move_now <= is_move;
        chosen_now <= chosen;
        invert_now <= is_gate ? function_bits[2:0] : 3'b0;
        // Initial values are moves of I.
        place0 <= place(is_flip_flop ? field1 : field0, {15'b0, count_initials}, inputs,
            first_gate);
        place1 <= is_gate ? place(field1, {15'b0, count_initials}, inputs, first_gate)
            : {NO_OPERAND, {LABEL_BITS{1'b0}}};
        pair_now <= !is_gate || drives;
        target_now <= is_flip_flop ? pair_of(16'(at - 32'd4)) : is_move ? pair_of(move_of)
            : own_place[LABEL_BITS-1:0];
        mask_now <= {is_output, outputs[INDEX-1:0]};
    end

    function automatic [PLACE-1:0] resolved(
        input [PLACE-1:0] from, input [LABEL_BITS:0] found
    );
        resolved = from[PLACE-1 -: 3] != GATE ? from
            : {found[LABEL_BITS] ? NEXT : GATE, found[LABEL_BITS-1:0]};
    endfunction

    logic [SLOT-1:0] slot;
    logic [LINE-1:0] bundle;
    integer g;

    assign slot = {
        1'b1, resolved(place0, found0), resolved(place1, found1), invert_now,
        copy_now || move_now, pair_now, target_now, move_now ? mask : mask_now
    };
    assign store = line_now && ends_now;
    always_comb begin
        store_word = bundle;
        for (g = 0; g < UNITS; g = g + 1)
            if (chosen_now[g]) store_word[SLOT*g +: SLOT] = slot;
        for (g = 0; g < ENGINES; g = g + 1)
            if (chosen_now[g]) store_word[UNITS*SLOT+GATE_BITS*g +: GATE_BITS] = number_now;
    end

    // The place that a gate takes, among those of its bundle.
    function automatic reads(input [PLACE-1:0] operand, input pair, input [LABEL_BITS-1:0] target);
        reads = operand == {pair ? NEXT : GATE, target};
    endfunction
    logic [SLOT-1:0] other;
    integer          h;
    always_comb begin
        clash = 1'b0;
        other = '0;
        for (h = 0; h < UNITS; h = h + 1) begin
            other = bundle[SLOT*h +: SLOT];
            if (line_now && other[SLOT-1]
                    && (reads(other[SLOT-2 -: PLACE], pair_now, target_now)
                        || reads(other[SLOT-2-PLACE -: PLACE], pair_now, target_now)
                        || other[LABEL_BITS+INDEX+1 -: LABEL_BITS+1] == {pair_now, target_now}))
                clash = 1'b1;
        end
    end

    logic overflow;
    assign overflow = store && &store_line;

    always_ff @(posedge clock)
        if (reset || restart) begin
            bundle <= '0;
            store_line <= '0;
            first_lines <= '0;
            gate_lines <= '0;
            has_gate <= 1'b0;
        end else if (line_now) begin
            bundle <= ends_now ? '0 : store_word;
            has_gate <= !ends_now && (has_gate || gate_now);
            if (ends_now) begin
                store_line <= store_line + 1'b1;
                if (copy_now) first_lines <= store_line + 1'b1;
                if (has_gate || gate_now) gate_lines <= store_line + 1'b1;
            end
        end

    assign initials = count_initials[INPUT_BITS-1:0];
    assign each_cycle = count_each[INPUT_BITS-1:0];
    assign lines = store_line;
    assign ands = count_gates[LINE_BITS-1:0] - count_xors[LINE_BITS-1:0];
endmodule
