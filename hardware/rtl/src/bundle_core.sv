// The better engines around their pipelines of AND: netlist, issue, banks of labels, units for XOR and
// masks. It takes the place of those of FASE's machine in `garbler`. All engines share all banks.
//
//     cycle  0        1                          2 .. 10    11
//            issue -> labels stand: XORs write,  AES        AND writes its label
//                     AND enters half_gate

module bundle_core #(
    parameter LABEL_BITS = 14,
    parameter INPUT_BITS = 12,
    parameter LINE_BITS = 14,
    parameter GATE_BITS = 14,
    parameter OUTPUTS = 256,
    parameter BANKS = 8,
    parameter UNITS = 4,       // pipelines of AND, and units for XOR
    parameter ENGINES = 1      // pipelines
) (
    input  logic                          clock,
    input  logic                          reset,
    input  logic                          key_start,
    // The netlist.
    input  logic                          restart,
    input  logic                          load_valid,
    input  logic                          load_narrow,
    input  logic [95:0]                   load_word,
    output logic                          loaded,
    output logic                          refused,
    output logic [INPUT_BITS-1:0]         initials,
    output logic [INPUT_BITS-1:0]         each_cycle,
    output logic [LINE_BITS-1:0]          first_lines,
    output logic [LINE_BITS-1:0]          lines,
    output logic [LINE_BITS-1:0]          ands,
    // Control.
    input  logic                          rewind,
    input  logic                          rewind_first,
    output logic [LINE_BITS-1:0]          number,
    output logic                          gates_left,
    input  logic                          copying,
    input  logic                          issuing,
    input  logic [31:0]                   netlist_cycle,
    output logic                          taken,
    output logic [ENGINES-1:0]            issued_and,
    output logic                          ands_empty,
    input  logic [ENGINES-1:0]            room,
    input  logic [ENGINES-1:0]            exhausted,
    output logic                          refuse,
    output logic                          masks_empty,
    input  logic                          end_netlist_cycle,
    output logic                          end_ready,
    input  logic [127:0]                  offset,
    input  logic                          wipe,
    input  logic [LABEL_BITS-1:0]         wipe_address,
    // The store of inputs.
    output logic [2*UNITS*INPUT_BITS-1:0] input_addresses,
    input  logic [2*UNITS*128-1:0]        inputs,
    // The pipelines.
    output logic [ENGINES-1:0]            engine_valid,
    output logic [ENGINES*128-1:0]        engine_a,
    output logic [ENGINES*128-1:0]        engine_b,
    output logic [ENGINES*3-1:0]          engine_invert,
    output logic [ENGINES*32-1:0]         and_numbers,
    input  logic [ENGINES-1:0]            and_valid,
    input  logic [ENGINES*128-1:0]        and_labels,
    // Masks.
    output logic                          masks_valid,
    input  logic                          masks_ready,
    output logic [31:0]                   masks_netlist_cycle,
    output logic [OUTPUTS-1:0]            masks
);
    localparam INDEX = $clog2(OUTPUTS);
    localparam SLOT = 2 * (3 + LABEL_BITS) + LABEL_BITS + INDEX + 7;
    localparam LINE = UNITS * SLOT + ENGINES * GATE_BITS;
    localparam BANK = $clog2(BANKS);
    localparam INNER = LABEL_BITS - BANK;

    logic [LINE_BITS-1:0]  gate_lines;
    logic                  store;
    logic [LINE_BITS-1:0]  store_line;
    logic [LINE-1:0]       store_word;
    logic [LINE-1:0]       line;

    bundle_load #(
        .LABEL_BITS(LABEL_BITS), .INPUT_BITS(INPUT_BITS), .LINE_BITS(LINE_BITS),
        .GATE_BITS(GATE_BITS), .OUTPUTS(OUTPUTS), .BANKS(BANKS), .UNITS(UNITS), .ENGINES(ENGINES)
    ) load (
        .clock, .reset, .restart, .valid(load_valid), .narrow(load_narrow), .word(load_word),
        .loaded, .refused, .initials, .each_cycle, .first_lines, .gate_lines, .lines, .ands, .store,
        .store_line, .store_word
    );

    netlist_fetch #(.BITS(LINE_BITS), .WIDTH(LINE)) fetch (
        .clock, .store, .store_line, .store_word, .rewind,
        .rewind_to(rewind_first ? {LINE_BITS{1'b0}} : first_lines), .take(taken), .number, .line
    );
    assign gates_left = number < gate_lines;
    logic unused;
    assign unused = &{wipe_address, places, inverts, targets};

    logic [2*UNITS*LABEL_BITS-1:0] places;
    logic [2*BANKS*INNER-1:0]      port_addresses;
    logic [UNITS-1:0]              gates;
    logic [2*UNITS*3-1:0]          kinds;
    logic [2*UNITS*(BANK+1)-1:0]   ports;
    logic [UNITS*3-1:0]            inverts;
    logic [UNITS*LABEL_BITS-1:0]   targets;
    logic [ENGINES*LABEL_BITS-1:0] and_targets;
    logic [UNITS-1:0]              outputs;
    logic [UNITS-1:0]              outputs_ahead;
    logic [UNITS*INDEX-1:0]        output_numbers;

    bundle_issue #(
        .LABEL_BITS(LABEL_BITS), .BANKS(BANKS), .UNITS(UNITS), .ENGINES(ENGINES), .INDEX(INDEX),
        .GATE_BITS(GATE_BITS)
    ) issue (
        .clock, .reset, .line, .copying, .issuing, .parity(netlist_cycle[0]), .taken, .issued_and,
        .ands_empty, .room, .exhausted, .refuse, .places, .port_addresses, .gates, .kinds, .ports,
        .inverts, .targets, .and_numbers, .and_targets, .outputs, .outputs_ahead, .output_numbers,
        .outputs_empty(masks_empty)
    );

    // Labels of all operands, and of the results of the units for XOR.
    logic [2*BANKS*128-1:0] data;
    logic [2*UNITS*128-1:0] labels;
    logic [UNITS*128-1:0]   results;
    logic [UNITS-1:0]       bits;

    genvar o;
    generate
        for (o = 0; o < 2 * UNITS; o = o + 1) begin : operands
            logic [2:0]    kind;
            logic [BANK:0] port;
            logic [127:0]  from_bank;
            logic [127:0]  from_input;
            assign input_addresses[INPUT_BITS*o +: INPUT_BITS] = places[LABEL_BITS*o +: INPUT_BITS];
            assign kind = kinds[3*o +: 3];
            assign port = ports[(BANK+1)*o +: BANK+1];
            assign from_bank = data[128*port +: 128];
            assign from_input = inputs[128*o +: 128];
            // The zero label of the constant 0 is 0, and that of 1 is R.
            assign labels[128*o +: 128] = kind == 3'd1 ? offset
                : kind == 3'd2 || kind == 3'd6 || kind == 3'd7 ? from_bank
                : kind == 3'd4 || kind == 3'd5 ? from_input : 128'b0;
        end
        for (o = ENGINES; o < UNITS; o = o + 1) begin : xors
            assign results[128*o +: 128] = labels[256*o +: 128] ^ labels[256*o+128 +: 128]
                ^ (inverts[3*o] ? offset : 128'b0);
        end
        for (o = 0; o < ENGINES; o = o + 1) begin : pipelines
            assign results[128*o +: 128] = and_labels[128*o +: 128];
            assign engine_a[128*o +: 128] = labels[256*o +: 128];
            assign engine_b[128*o +: 128] = labels[256*o+128 +: 128];
        end
        for (o = 0; o < UNITS; o = o + 1) begin : masks_of
            assign bits[o] = results[128*o];
        end
    endgenerate

    assign engine_valid = gates[ENGINES-1:0];
    assign engine_invert = inverts[3*ENGINES-1:0];

    // Writes: issue has seen to it that there is at most one for a bank.
    logic [BANKS-1:0]            write;
    logic [BANKS*INNER-1:0]      write_addresses;
    logic [BANKS*128-1:0]        write_data;
    logic [UNITS-1:0]            write_valid;
    logic [UNITS*LABEL_BITS-1:0] write_targets;
    logic [LABEL_BITS-1:0]       target;
    assign write_valid = {gates[UNITS-1:ENGINES], and_valid};
    assign write_targets = {targets[UNITS*LABEL_BITS-1:ENGINES*LABEL_BITS], and_targets};
    integer b;
    integer u;
    always_comb begin
        write = '0;
        write_addresses = '0;
        write_data = '0;
        target = '0;
        for (b = 0; b < BANKS; b = b + 1)
            for (u = 0; u < UNITS; u = u + 1) begin
                target = write_targets[LABEL_BITS*u +: LABEL_BITS];
                if (write_valid[u] && target[LABEL_BITS-1 -: BANK] == BANK'(b)) begin
                    write[b] = 1'b1;
                    write_addresses[INNER*b +: INNER] = target[INNER-1:0];
                    write_data[128*b +: 128] = results[128*u +: 128];
                end
            end
    end

    banked_memory #(.BANKS(BANKS), .BITS(INNER)) banks (
        .clock, .read_addresses(port_addresses), .data, .write, .write_addresses, .write_data,
        .wipe, .wipe_address(wipe_address[INNER-1:0])
    );

    bundle_masks #(.OUTPUTS(OUTPUTS), .UNITS(UNITS)) output_masks (
        .clock, .reset(reset || key_start), .valid(outputs), .is_ahead(outputs_ahead),
        .index(output_numbers), .bits, .end_netlist_cycle, .end_ready, .netlist_cycle,
        .record_valid(masks_valid), .record_ready(masks_ready),
        .record_netlist_cycle(masks_netlist_cycle), .record(masks)
    );
endmodule
