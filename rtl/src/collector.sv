// The stream to the host: one record a cycle of a tag, a netlist cycle, an index and data.
//
//     tag   index               data
//     0     wire of an input    its zero label, in the low half
//     1     number of the AND   its table: T_G in the low half, T_E in the high one
//     2     0                   masks of all outputs, the first one in bit 0
//
// Labels go first, then masks, then tables, which wait in a memory. `room` counts the tables that it
// can still take, those in the engine included, so a host that does not take records stops the
// issue of ANDs and loses nothing.

module collector #(
    parameter BITS = 9,          // 2^BITS tables wait
    parameter LINE_BITS = 14,
    parameter INPUT_BITS = 12
) (
    input  logic                  clock,
    input  logic                  reset,
    input  logic                  restart,       // a new session
    input  logic [LINE_BITS-1:0]  ands,          // of the netlist
    input  logic                  issued_and,
    output logic                  room,
    input  logic                  table_valid,
    input  logic [255:0]          table_data,
    input  logic                  label_valid,
    output logic                  label_ready,
    input  logic [31:0]           label_turn,
    input  logic [INPUT_BITS-1:0] label_wire,
    input  logic [127:0]          label,
    input  logic                  masks_valid,
    output logic                  masks_ready,
    input  logic [31:0]           masks_turn,
    input  logic [255:0]          masks,
    output logic                  empty,
    // To the host.
    output logic                  out_valid,
    input  logic                  out_ready,
    output logic [1:0]            out_tag,
    output logic [31:0]           out_turn,
    output logic [31:0]           out_index,
    output logic [255:0]          out_data
);
    logic [BITS:0]        free;      // tables that may still be issued
    // One bit more than an address has: a full memory differs from an empty one.
    logic [BITS:0]        write_at;
    logic [BITS:0]        read_at;
    logic [BITS:0]        read_next;
    logic                 have;      // the memory shows the oldest table
    logic                 pop;
    logic [255:0]         oldest;
    logic [LINE_BITS-1:0] index;     // of the oldest table
    logic [31:0]          turn;

    assign room = free != '0;
    assign empty = free == {1'b1, {BITS{1'b0}}} && !masks_valid && !label_valid;
    assign label_ready = out_ready;
    assign masks_ready = out_ready && !label_valid;
    assign pop = have && out_ready && !label_valid && !masks_valid;
    assign read_next = read_at + {{BITS{1'b0}}, pop};

    assign out_valid = label_valid || masks_valid || have;
    assign out_tag = label_valid ? 2'd0 : masks_valid ? 2'd2 : 2'd1;
    assign out_turn = label_valid ? label_turn : masks_valid ? masks_turn : turn;
    assign out_index = label_valid ? 32'(label_wire) : masks_valid ? 32'd0 : 32'(index);
    assign out_data = label_valid ? {128'b0, label} : masks_valid ? masks : oldest;

    memory #(.BITS(BITS), .WIDTH(256)) tables (
        .clock(clock), .write(table_valid), .write_address(write_at[BITS-1:0]), .in(table_data),
        .read(1'b1), .read_address(read_next[BITS-1:0]), .out(oldest)
    );

    always_ff @(posedge clock)
        if (reset || restart) begin
            free <= {1'b1, {BITS{1'b0}}};
            write_at <= '0;
            read_at <= '0;
            have <= 1'b0;
            index <= '0;
            turn <= 32'd0;
        end else begin
            if (issued_and && !pop) free <= free - 1'b1;
            else if (pop && !issued_and) free <= free + 1'b1;
            if (table_valid) write_at <= write_at + 1'b1;
            // A table that is written in this cycle can be read in the next one.
            read_at <= read_next;
            have <= read_next != write_at;
            if (pop) begin
                index <= index + 1'b1 == ands ? '0 : index + 1'b1;
                if (index + 1'b1 == ands) turn <= turn + 32'd1;
            end
        end
endmodule
