// The memory of the netlist, and the line that is next.
//
// Lines are taken in order, so the memory always reads one line ahead: `line` is there in each
// cycle, also in the one behind `take`. `rewind` goes back to the line
// `rewind_to`, for the cycle after.

module netlist_fetch #(
    parameter BITS = 14,
    parameter WIDTH = 39
) (
    input  logic             clock,
    input  logic             store,
    input  logic [BITS-1:0]  store_line,
    input  logic [WIDTH-1:0] store_word,
    input  logic             rewind,
    input  logic [BITS-1:0]  rewind_to,
    input  logic             take,
    output logic [BITS-1:0]  number,
    output logic [WIDTH-1:0] line
);
    logic [BITS-1:0] next;

    assign next = rewind ? rewind_to : number + {{(BITS-1){1'b0}}, take};

    always_ff @(posedge clock) number <= next;

    memory #(.BITS(BITS), .WIDTH(WIDTH)) lines (
        .clock, .write(store), .write_address(store_line), .in(store_word), .read(1'b1),
        .read_address(next), .out(line)
    );
endmodule
