// Reads a netlist word by word in HSCD, refuses what is out of range, and writes it to the memory
// of the netlist in a form in which operands are places.
//
// The words are those of the page `docs/guides/accelerator.md`: four of counts, one for each
// flip-flop, one for each gate; narrow ones in the low 32 bits. Stall lines are left out: this
// machine knows when operands are there. Place of an operand, with its kind in front:
//
//     0 the constant 0          3 no operand
//     1 the constant 1          4, 5 an input for initial values, one of each cycle
//     2 gate                    6 flip-flop
//
// Inputs of each cycle and flip-flops have two places, and this is the even one.

module netlist_load #(
    parameter LABEL_BITS = 14,
    parameter INPUT_BITS = 12,
    parameter NETLIST_BITS = 14,
    parameter OUTPUTS = 256,
    localparam PLACE = 3 + LABEL_BITS
) (
    input  logic                    clock,
    input  logic                    reset,
    input  logic                    restart,     // a new netlist begins
    input  logic                    valid,
    input  logic                    narrow,
    input  logic [95:0]             word,
    output logic                    loaded,      // all words came and were in order
    output logic                    refused,     // until `restart`
    // Counts.
    output logic [INPUT_BITS-1:0]   initials,
    output logic [INPUT_BITS-1:0]   each_cycle,
    output logic [NETLIST_BITS-1:0] flip_flops,
    output logic [NETLIST_BITS-1:0] lines,       // flip-flops and gates
    output logic [NETLIST_BITS-1:0] ands,
    // To the memory.
    output logic                    store,
    output logic [NETLIST_BITS-1:0] store_line,
    output logic [2*PLACE+4:0]      store_word   // places, XOR, inversions, is an output
);
    `include "opcode.svh"

    // The fields of the word; indices as signed numbers.
    logic [31:0] field0;
    logic [31:0] field1;
    logic [31:0] count0;
    logic [31:0] count1;
    logic [3:0]  code;
    logic        is_output;

    assign field0 = narrow ? {{19{&word[31:21]}}, word[31:19]} : word[95:64];
    assign field1 = narrow ? {{18{&word[18:7]}}, word[18:5]} : word[63:32];
    assign count0 = narrow ? {18'b0, word[27:14]} : word[95:64];
    assign count1 = narrow ? {18'b0, word[13:0]} : word[63:32];
    assign code = word[4:1];
    assign is_output = word[0];

    // The counts read so far. None is above 2^16, so sums of them do not overflow.
    logic [31:0] at;            // words without stall lines, from 0
    logic [16:0] count_initials;
    logic [16:0] count_each;
    logic [16:0] count_flip_flops;
    logic [16:0] count_outputs;
    logic [16:0] count_xors;
    logic [16:0] count_gates;
    logic [16:0] outputs;       // marked so far
    logic [16:0] xors;

    // Wires are numbered: inputs, flip-flops, gates.
    logic [31:0] inputs;
    logic [31:0] first_gate;
    logic [31:0] wires;
    logic [31:0] own;

    assign inputs = {15'b0, count_initials} + {15'b0, count_each};
    assign first_gate = inputs + {15'b0, count_flip_flops};
    assign wires = first_gate + {15'b0, count_gates};
    assign own = inputs + at - 32'd4;

    localparam [31:0] NONE = 32'hffff_ffff;
    localparam [31:0] ZERO = 32'hffff_fffe;
    localparam [31:0] ONE = 32'hffff_fffd;

    function automatic [PLACE-1:0] place(
        input [31:0] index, input [31:0] initial_count, input [31:0] input_count,
        input [31:0] gates_from
    );
        if (index == ZERO) place = {3'd0, {LABEL_BITS{1'b0}}};
        else if (index == ONE) place = {3'd1, {LABEL_BITS{1'b0}}};
        else if (index == NONE) place = {3'd3, {LABEL_BITS{1'b0}}};
        else if (index < initial_count)
            place = {3'd4, LABEL_BITS'(((input_count - initial_count) << 1) + index)};
        else if (index < input_count)
            place = {3'd5, LABEL_BITS'((index - initial_count) << 1)};
        else if (index < gates_from)
            place = {3'd6, LABEL_BITS'((index - input_count) << 1)};
        else
            place = {3'd2, LABEL_BITS'(index - input_count + gates_from - input_count)};
    endfunction

    // An index that is a constant or a wire below `end_wire`.
    function automatic below(input [31:0] index, input [31:0] end_wire);
        below = index == ZERO || index == ONE || index < end_wire;
    endfunction

    // XOR and inversions of a, b and the output; valid opcodes are those of the page.
    logic [3:0] function_bits;
    logic       known;
    assign {known, function_bits} = decode(code);

    logic is_flip_flop;
    logic is_stall;
    logic good_counts;
    logic good_line;

    assign is_flip_flop = at < 32'd4 + {15'b0, count_flip_flops};
    assign is_stall = !is_flip_flop && code == 4'd0 && !is_output;
    assign good_counts = count0 < 32'h1_0000 && count1 < 32'h1_0000;
    assign good_line = is_flip_flop
        ? code == 4'd15 && below(field0, wires) && below(field1, inputs)
        : known && below(field0, own)
            && (code == 4'd12 ? field1 == NONE : below(field1, own));

    // All counts are known before the first line: do they fit the machine?
    logic fits;
    assign fits = {count_each, 1'b0} + {1'b0, count_initials} <= 18'd1 << INPUT_BITS
        && {count_flip_flops, 1'b0} + {2'b0, count1[15:0]} <= 18'd1 << LABEL_BITS
        && {1'b0, count_flip_flops} + {2'b0, count1[15:0]} < 18'd1 << NETLIST_BITS
        && count_each < 17'd1 << INPUT_BITS && count_initials < 17'd1 << INPUT_BITS
        && count_outputs <= OUTPUTS[16:0] && count1 != 32'd0;

    logic line_valid;
    logic last;
    logic good_end;
    assign line_valid = valid && !refused && !loaded && at >= 32'd4 && !is_stall;
    assign last = at == 32'd3 + {15'b0, count_flip_flops} + {15'b0, count_gates};
    assign good_end = xors + {16'b0, function_bits[3]} == count_xors
        && outputs + {16'b0, is_output} <= count_outputs;

    assign store = line_valid && good_line;
    assign store_line = at[NETLIST_BITS-1:0] - NETLIST_BITS'(4);
    assign store_word = {
        place(field0, {15'b0, count_initials}, inputs, first_gate),
        place(field1, {15'b0, count_initials}, inputs, first_gate),
        is_flip_flop ? 4'b0 : function_bits, is_output
    };

    assign initials = count_initials[INPUT_BITS-1:0];
    assign each_cycle = count_each[INPUT_BITS-1:0];
    assign flip_flops = count_flip_flops[NETLIST_BITS-1:0];
    assign lines = count_flip_flops[NETLIST_BITS-1:0] + count_gates[NETLIST_BITS-1:0];
    assign ands = count_gates[NETLIST_BITS-1:0] - count_xors[NETLIST_BITS-1:0];

    always_ff @(posedge clock)
        if (reset || restart) begin
            at <= 32'd0;
            loaded <= 1'b0;
            refused <= 1'b0;
            count_initials <= 17'd0;
            count_each <= 17'd0;
            count_flip_flops <= 17'd0;
            count_outputs <= 17'd0;
            count_xors <= 17'd0;
            count_gates <= 17'd0;
            outputs <= 17'd0;
            xors <= 17'd0;
        end else if (valid && loaded) begin
            // A word behind the last one.
            refused <= 1'b1;
            loaded <= 1'b0;
        end else if (valid && !refused && at < 32'd4) begin
            at <= at + 32'd1;
            refused <= !good_counts || (at[1:0] == 2'd3 && !fits);
            case (at[1:0])
                2'd0: count_initials <= count0[16:0] + count1[16:0];
                2'd1: count_each <= count0[16:0] + count1[16:0];
                2'd2: {count_flip_flops, count_outputs} <= {count0[16:0], count1[16:0]};
                default: {count_xors, count_gates} <= {count0[16:0], count1[16:0]};
            endcase
        end else if (line_valid) begin
            at <= at + 32'd1;
            outputs <= outputs + {16'b0, is_output};
            xors <= xors + {16'b0, !is_flip_flop && function_bits[3]};
            refused <= !good_line || (last && !good_end);
            loaded <= last && good_line && good_end;
        end
endmodule
