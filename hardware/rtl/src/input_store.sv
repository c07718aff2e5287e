// The labels of input wires: filled for the netlist cycle that comes, read by READS operands a cycle.
//
// Inputs for initial values keep their labels during a run. Those of each netlist cycle have two
// places, of which one is filled while the other one is read, and a flip-flop whose D is such an
// input finds it there in the next netlist cycle. Input `j` of a cycle is at 2j and 2j + 1, initial
// input `w` behind all of them. Every label goes to the host when it is stored, so that both have
// the same. The memory is there READS times, once for each operand.

module input_store #(
    parameter BITS = 12,
    parameter READS = 2
) (
    input  logic            clock,
    input  logic            reset,
    // Counts of the netlist.
    input  logic [BITS-1:0] initials,
    input  logic [BITS-1:0] each_cycle,
    // Fills the places of a netlist cycle.
    input  logic            fill,         // a pulse
    input  logic            fill_first,   // initial values as well
    input  logic            fill_parity,  // of the netlist cycle
    output logic            filled,
    // From the source of labels, and to the host.
    input  logic            source_valid,
    output logic            source_ready,
    input  logic [127:0]    source_label,
    output logic            record_valid,
    input  logic            record_ready,
    output logic [BITS-1:0] record_wire,
    // Reads; labels stand a cycle later.
    input  logic [READS*BITS-1:0] addresses,
    output logic [READS*128-1:0]  data,
    // Writes zeros.
    input  logic            wipe,
    input  logic [BITS-1:0] wipe_address
);
    logic            filling;
    logic            parity;
    logic [BITS-1:0] at;     // the wire whose label comes next
    logic [BITS-1:0] first;
    logic            store;
    logic            last;
    logic [BITS-1:0] place;

    assign filled = !filling;
    assign record_valid = filling && source_valid;
    assign record_wire = at;
    assign source_ready = filling && record_ready;
    assign store = record_valid && record_ready;
    assign last = at == initials + each_cycle - 1'b1;
    assign first = fill_first ? {BITS{1'b0}} : initials;
    assign place = at < initials ? (each_cycle << 1) + at
        : ((at - initials) << 1) | {{(BITS-1){1'b0}}, parity};

    always_ff @(posedge clock)
        if (reset) begin
            filling <= 1'b0;
            parity <= 1'b0;
            at <= {BITS{1'b0}};
        end else if (fill) begin
            filling <= first != initials + each_cycle;
            parity <= fill_parity;
            at <= first;
        end else if (store) begin
            filling <= !last;
            at <= at + 1'b1;
        end

    genvar r;
    generate
        for (r = 0; r < READS; r = r + 1) begin : copies
            memory #(.BITS(BITS), .WIDTH(128)) labels (
                .clock, .write(store || wipe), .write_address(wipe ? wipe_address : place),
                .in(wipe ? 128'b0 : source_label), .read(1'b1),
                .read_address(addresses[BITS*r +: BITS]), .out(data[128*r +: 128])
            );
        end
    endgenerate
endmodule
