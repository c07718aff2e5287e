// FASE's machine for garbling, or the better engines, whole: netlist in, seeds in, labels and tables
// out.
//
// After Hussain and Koushanfar, "FASE: FPGA Acceleration of Secure Function Evaluation", FCCM 2019,
// figure 1; the exact rules are in `crates/accel/src/fase.rs`. It differs where the released
// hardware is unsafe or wrong: the hash (see `half_gate`), a limit of ANDs under a key, initial
// values that are constants, flip-flops that take inputs or late ANDs, checks of netlists.
//
//     load   netlist_load -> netlist_fetch
//     cycle  0        1                        2 .. 10    11
//            issue -> labels stand: XOR,       AES        AND writes its label, table to collector
//                     AND enters half_gate
//
// Protocol of the host: words of a netlist with `load_valid`, then `start`, then four blocks of
// noise (see `control`), then records until `busy` falls, when `fault` says how the session ended:
// 0 well, 1 no netlist, 2 no netlist cycles, 3 the hash key of the session before, 4 the limit.

module garbler #(
    parameter HASH = 0,
    parameter QUEUE = 1,
    parameter XOR_UNITS = 0,      // beside each pipeline of AND; 0 is FASE's machine
    parameter BANKS = 8,          // of the label memory for each pipeline, if there are such units
    parameter ENGINES = 1,        // pipelines of AND, a power of two; 1 in FASE's machine
    parameter LABEL_BITS = 14,    // places of labels of gates and, twice, of flip-flops
    parameter INPUT_BITS = 12,    // places of labels of inputs
    parameter LINE_BITS = 14,     // lines of the netlist
    parameter GATE_BITS = 14,     // gates of a netlist for the better engines
    parameter LIMIT = 40          // at most 2^LIMIT ANDs under a key
) (
    input  logic         clock,
    input  logic         reset,
    // The netlist.
    input  logic         load_restart,
    input  logic         load_valid,
    input  logic         load_narrow,
    input  logic [95:0]  load_word,
    output logic         loaded,
    output logic         refused,
    // A session.
    input  logic         start,
    input  logic [31:0]  start_cycles,
    input  logic [63:0]  start_limit,
    input  logic         noise_valid,
    output logic         noise_ready,
    input  logic [127:0] noise,
    // Records.
    output logic [ENGINES-1:0]     out_valid,
    input  logic                   out_ready,
    output logic [ENGINES*2-1:0]   out_tag,
    output logic [ENGINES*32-1:0]  out_netlist_cycle,
    output logic [ENGINES*32-1:0]  out_index,
    output logic [ENGINES*256-1:0] out_data,
    // Status.
    output logic         busy,
    output logic [2:0]   fault,
    output logic [63:0]  total_cycles,
    output logic [63:0]  held_cycles,
    output logic [63:0]  setup_cycles,
    output logic [31:0]  first_garbling,
    output logic [31:0]  later_garbling
);
    localparam OUTPUTS = 256;
    localparam UNITS = ENGINES * (1 + XOR_UNITS);
    localparam READS = 2 * UNITS;
    localparam PLACE = 3 + LABEL_BITS;
    localparam WORD = 2 * PLACE + 5;
    localparam NUMBER = 16;       // bits of the number of an AND

    // The netlist. It must not change while a session runs.
    logic [INPUT_BITS-1:0] initials;
    logic [INPUT_BITS-1:0] each_cycle;
    logic [LINE_BITS-1:0]  copies;       // lines of flip-flops
    logic [LINE_BITS-1:0]  lines;
    logic [LINE_BITS-1:0]  ands;
    logic [LINE_BITS-1:0]  number;
    logic                  gates_left;
    logic                  rewind;
    logic                  rewind_first;
    logic                  copied;
    logic                  issued;

    // Control.
    logic [127:0]          hash_key;
    logic [127:0]          offset;
    logic [127:0]          label_key;
    logic [127:0]          label_start;
    logic                  key_start;
    logic                  hash_keyed;
    logic [1407:0]         hash_keys;
    logic                  fill;
    logic                  fill_first;
    logic                  fill_parity;
    logic                  filled;
    logic                  erase;
    logic                  wipe;
    logic [LABEL_BITS-1:0] wipe_address;
    logic [31:0]           netlist_cycle;
    logic                  first;
    logic                  copying;
    logic                  issuing;
    logic                  issue_first;
    logic [ENGINES-1:0]    issued_and;
    logic [ENGINES-1:0]    exhausted;
    logic                  refuse;
    logic                  ands_empty;
    logic                  masks_empty;
    logic                  end_netlist_cycle;
    logic                  end_ready;
    logic                  output_empty;

    control #(.LINE_BITS(LINE_BITS), .WIPE_BITS(LABEL_BITS), .LIMIT(LIMIT), .ENGINES(ENGINES)) control (
        .clock, .reset, .start, .start_cycles, .start_limit, .noise_valid, .noise_ready, .noise,
        .loaded, .flip_flops(copies), .lines, .number, .gates_left, .rewind, .rewind_first,
        .hash_key, .offset, .label_key, .label_start, .key_start, .keyed(hash_keyed), .fill,
        .fill_first, .fill_parity, .filled, .erase, .wipe, .wipe_address, .netlist_cycle, .first,
        .copying, .issuing, .issue_first, .issued, .issued_and, .exhausted, .refuse, .ands_empty,
        .masks_empty, .end_netlist_cycle, .end_ready, .output_empty, .busy, .fault, .total_cycles,
        .held_cycles, .setup_cycles, .first_garbling, .later_garbling
    );

    key_schedule hash_schedule (
        .clock, .reset, .start(key_start), .erase, .key(hash_key), .ready(hash_keyed),
        .keys(hash_keys)
    );

    // Labels of inputs.
    logic                  source_valid;
    logic                  source_ready;
    logic [127:0]          source_label;
    logic                  record_valid;
    logic                  record_ready;
    logic [INPUT_BITS-1:0] record_wire;
    logic [31:0]           record_netlist_cycle;
    logic [READS*INPUT_BITS-1:0] input_addresses;
    logic [READS*128-1:0]        input_labels;

    label_source source (
        .clock, .reset, .begin_session(key_start), .erase, .flush(wipe), .key(label_key),
        .start(label_start), .valid(source_valid), .ready(source_ready), .label(source_label)
    );

    input_store #(.BITS(INPUT_BITS), .READS(READS)) inputs (
        .clock, .reset, .initials, .each_cycle, .fill, .fill_first, .fill_parity, .filled,
        .source_valid, .source_ready, .source_label, .record_valid, .record_ready, .record_wire,
        .addresses(input_addresses), .data(input_labels), .wipe,
        .wipe_address(wipe_address[INPUT_BITS-1:0])
    );

    always_ff @(posedge clock)
        if (fill) record_netlist_cycle <= fill_first ? 32'd0 : netlist_cycle + 32'd1;

    // The engines, and what the netlist and the labels around them give and take.
    logic [ENGINES-1:0]     room;
    logic [ENGINES-1:0]     engine_valid;
    logic [ENGINES*128-1:0] engine_a;
    logic [ENGINES*128-1:0] engine_b;
    logic [ENGINES*3-1:0]   engine_invert;
    logic [ENGINES*32-1:0]  and_number;
    logic [ENGINES-1:0]     and_valid;
    logic [ENGINES*128-1:0] and_label;
    logic [ENGINES*256-1:0] tables;
    logic [ENGINES*NUMBER-1:0] table_numbers;
    logic               masks_valid;
    logic               masks_ready;
    logic [31:0]        masks_netlist_cycle;
    logic [OUTPUTS-1:0] masks;

    genvar e;
    generate
    for (e = 0; e < ENGINES; e = e + 1) begin : engines
        half_gate #(.HASH(HASH)) engine (
            .clock, .reset, .flush(wipe), .offset, .keys(hash_keys), .in_valid(engine_valid[e]),
            .in_a(wipe ? 128'b0 : engine_a[128*e +: 128]),
            .in_b(wipe ? 128'b0 : engine_b[128*e +: 128]), .in_invert(engine_invert[3*e +: 3]),
            .in_tweak({netlist_cycle, and_number[32*e +: 32]}), .out_valid(and_valid[e]),
            .out_label(and_label[128*e +: 128]), .out_garbler(tables[256*e +: 128]),
            .out_evaluator(tables[256*e+128 +: 128])
        );
        delay_line #(.WIDTH(NUMBER), .DEPTH(10)) number_of (
            .clock, .in(and_number[32*e +: NUMBER]), .out(table_numbers[NUMBER*e +: NUMBER])
        );
    end
    if (XOR_UNITS == 0) begin : fase
        logic [LINE_BITS-1:0]  flip_flops;
        logic                  store;
        logic [LINE_BITS-1:0]  store_line;
        logic [WORD-1:0]       store_word;
        logic [WORD-1:0]       line;
        logic [LABEL_BITS-1:0] place0;
        logic [LABEL_BITS-1:0] place1;
        logic [127:0]          input0;
        logic [127:0]          input1;

        assign copies = flip_flops;
        assign gates_left = 1'b1;
        assign input_addresses = {place1[INPUT_BITS-1:0], place0[INPUT_BITS-1:0]};
        assign {input1, input0} = input_labels;
        logic unused;
        assign unused = rewind_first;

        netlist_load #(
            .LABEL_BITS(LABEL_BITS), .INPUT_BITS(INPUT_BITS), .NETLIST_BITS(LINE_BITS),
            .OUTPUTS(OUTPUTS)
        ) load (
            .clock, .reset, .restart(load_restart && !busy), .valid(load_valid && !busy),
            .narrow(load_narrow), .word(load_word), .loaded, .refused, .initials, .each_cycle,
            .flip_flops, .lines, .ands, .store, .store_line, .store_word
        );

        netlist_fetch #(.BITS(LINE_BITS), .WIDTH(WORD)) fetch (
            .clock, .store, .store_line, .store_word, .rewind, .rewind_to({LINE_BITS{1'b0}}),
            .take(copied || issued), .number, .line
        );

        // Issue, and the memory of labels.
        logic                  want0;
        logic                  want1;
        logic                  open;
        logic                  waits;
        logic [LABEL_BITS-1:0] waits_address;
        logic                  dry;
        logic                  gate;
        logic                  copy;
        logic                  use1;
        logic [2:0]            kind0;
        logic [2:0]            kind1;
        logic                  is_xor;
        logic [2:0]            invert;
        logic                  is_output;
        logic [LABEL_BITS-1:0] target;
        logic [LABEL_BITS-1:0] and_target;

        issue #(.LABEL_BITS(LABEL_BITS), .LINE_BITS(LINE_BITS)) issue (
            .clock, .reset, .line, .number, .flip_flops, .copying, .issuing, .issue_first, .first,
            .parity(netlist_cycle[0]), .copied, .issued, .issued_and, .ands_empty, .room,
            .exhausted, .refuse, .want0, .want1, .place0, .place1, .open, .waits, .waits_address,
            .dry, .gate, .copy, .use1, .kind0, .kind1, .is_xor, .invert, .is_output, .target,
            .and_number, .and_target
        );

        logic [127:0] memory0;
        logic [127:0] memory1;
        logic [127:0] label0;
        logic [127:0] label1;
        logic [127:0] single;       // the label that a copy or an XOR writes
        logic         write_single;

        label_memory #(.BITS(LABEL_BITS), .QUEUE(QUEUE)) labels (
            .clock, .reset, .want0, .want1, .read_address0(place0), .read_address1(place1),
            .take(copied || issued), .open, .data0(memory0), .data1(memory1), .write0(and_valid),
            .write_address0(and_target), .write_data0(and_label),
            .write1(write_single || dry || wipe), .dry1(dry && !write_single),
            .write_address1(wipe ? wipe_address : target), .write_data1(wipe ? 128'b0 : single),
            .waits, .waits_address
        );

        // The zero label of the constant 0 is 0, and that of 1 is R: its label for the value 1 is 0.
        function automatic [127:0] operand(
            input [2:0] kind, input [127:0] one, input [127:0] from_memory, input [127:0] from_input
        );
            case (kind)
                3'd1: operand = one;
                3'd2, 3'd6: operand = from_memory;
                3'd4, 3'd5: operand = from_input;
                default: operand = 128'b0;
            endcase
        endfunction

        assign label0 = operand(kind0, offset, memory0, input0);
        assign label1 = operand(kind1, offset, memory1, input1);
        assign write_single = copy || (gate && is_xor);
        assign single = copy ? (use1 ? label1 : label0)
            : label0 ^ label1 ^ (invert[0] ? offset : 128'b0);

        output_masks #(.OUTPUTS(OUTPUTS)) outputs (
            .clock, .reset(reset || key_start), .issued(issued && line[0]), .issued_xor(line[4]),
            .xor_bit(single[0]), .and_bit(and_label[0]), .copied(copy && is_output),
            .copied_bit(single[0]), .empty(masks_empty), .end_netlist_cycle, .end_ready,
            .netlist_cycle, .record_valid(masks_valid), .record_ready(masks_ready),
            .record_netlist_cycle(masks_netlist_cycle), .record(masks)
        );
        assign engine_valid = gate && !is_xor;
        assign engine_a = label0;
        assign engine_b = label1;
        assign engine_invert = invert;
    end else begin : bundles
        logic taken;
        assign issued = issuing && taken;
        assign copied = copying && taken;
        logic unused;
        assign unused = issue_first || first || issued || copied;

        bundle_core #(
            .LABEL_BITS(LABEL_BITS), .INPUT_BITS(INPUT_BITS), .LINE_BITS(LINE_BITS),
            .GATE_BITS(GATE_BITS), .OUTPUTS(OUTPUTS), .BANKS(ENGINES * BANKS), .UNITS(UNITS), .ENGINES(ENGINES)
        ) core (
            .clock, .reset, .key_start, .restart(load_restart && !busy),
            .load_valid(load_valid && !busy), .load_narrow, .load_word, .loaded, .refused,
            .initials, .each_cycle, .first_lines(copies), .lines, .ands, .rewind, .rewind_first,
            .number, .gates_left, .copying, .issuing, .netlist_cycle, .taken, .issued_and,
            .ands_empty, .room, .exhausted, .refuse, .masks_empty, .end_netlist_cycle, .end_ready,
            .offset, .wipe, .wipe_address, .input_addresses, .inputs(input_labels), .engine_valid,
            .engine_a, .engine_b, .engine_invert, .and_numbers(and_number), .and_valid,
            .and_labels(and_label), .masks_valid, .masks_ready, .masks_netlist_cycle, .masks
        );
    end
    endgenerate

    // For each engine 2^9 tables wait.
    collector #(
        .BITS(9 + $clog2(ENGINES)), .LINE_BITS(LINE_BITS), .INPUT_BITS(INPUT_BITS), .NUMBER(NUMBER),
        .ENGINES(ENGINES)
    ) collector (
        .clock, .reset, .restart(key_start), .ands, .issued_and, .room, .table_valid(and_valid),
        .table_data(tables), .table_numbers, .label_valid(record_valid), .label_ready(record_ready),
        .label_netlist_cycle(record_netlist_cycle), .label_wire(record_wire), .label(source_label),
        .masks_valid, .masks_ready, .masks_netlist_cycle, .masks, .empty(output_empty), .out_valid,
        .out_ready, .out_tag, .out_netlist_cycle, .out_index, .out_data
    );
endmodule
