// Masks of outputs: bit 0 of the zero label of each output, in the order of wires.
//
// The mask of a gate comes eleven cycles after its issue, for an XOR as well, so that all are in
// order. `empty` says that none is on its way. Masks of flip-flops come with their copies. At the
// end of a netlist cycle all masks move to a register of their own, from which they go to the host
// while the next ones come.

module output_masks #(
    parameter OUTPUTS = 256
) (
    input  logic               clock,
    input  logic               reset,
    input  logic               issued,     // a gate that is an output
    input  logic               issued_xor,
    input  logic               xor_bit,    // of the gate issued one cycle ago
    input  logic               and_bit,    // of the gate issued eleven cycles ago
    input  logic               copied,     // a flip-flop that is an output
    input  logic               copied_bit,
    output logic               empty,
    input  logic               end_netlist_cycle,
    output logic               end_ready,
    input  logic [31:0]        netlist_cycle,
    output logic               record_valid,
    input  logic               record_ready,
    output logic [31:0]        record_netlist_cycle,
    output logic [OUTPUTS-1:0] record
);
    logic [10:0]                on_way;
    logic                       late_xor;
    logic                       late_bit;
    logic                       comes;
    logic                       bit_now;
    logic [$clog2(OUTPUTS)-1:0] at;
    logic [OUTPUTS-1:0]         masks;

    assign empty = on_way == 11'b0;
    assign comes = on_way[10] || copied;
    assign bit_now = copied ? copied_bit : late_xor ? late_bit : and_bit;
    assign end_ready = !record_valid;

    delay_line #(.WIDTH(1), .DEPTH(11)) kinds (.clock, .in(issued_xor), .out(late_xor));
    delay_line #(.WIDTH(1), .DEPTH(10)) bits (.clock, .in(xor_bit), .out(late_bit));

    always_ff @(posedge clock)
        if (reset) begin
            on_way <= 11'b0;
            at <= '0;
            masks <= '0;
            record_valid <= 1'b0;
        end else begin
            on_way <= {on_way[9:0], issued};
            if (end_netlist_cycle) begin
                at <= '0;
                masks <= '0;
            end else if (comes) begin
                at <= at + 1'b1;
                masks[at] <= bit_now;
            end
            if (end_netlist_cycle) record_valid <= 1'b1;
            else if (record_ready) record_valid <= 1'b0;
        end

    always_ff @(posedge clock)
        if (end_netlist_cycle) begin
            record <= masks;
            record_netlist_cycle <= netlist_cycle;
        end
endmodule
