// Masks of outputs of the better engine: each comes with the number of its output.
//
// The mask of an output that is a flip-flop comes when the flip-flop is moved, a netlist cycle ahead.

module bundle_masks #(
    parameter OUTPUTS = 256,
    parameter UNITS = 4,
    localparam INDEX = $clog2(OUTPUTS)
) (
    input  logic                   clock,
    input  logic                   reset,
    input  logic [UNITS-1:0]       valid,
    input  logic [UNITS-1:0]       is_ahead,   // of the next netlist cycle
    input  logic [UNITS*INDEX-1:0] index,
    input  logic [UNITS-1:0]       bits,
    input  logic                   end_netlist_cycle,
    output logic                   end_ready,
    input  logic [31:0]            netlist_cycle,
    output logic                   record_valid,
    input  logic                   record_ready,
    output logic [31:0]            record_netlist_cycle,
    output logic [OUTPUTS-1:0]     record
);
    logic [OUTPUTS-1:0] masks;
    logic [OUTPUTS-1:0] ahead;

    assign end_ready = !record_valid;

    integer u;
    always_ff @(posedge clock)
        if (reset) begin
            masks <= '0;
            ahead <= '0;
            record_valid <= 1'b0;
        end else begin
            if (end_netlist_cycle) begin
                masks <= ahead;
                ahead <= '0;
            end else
                for (u = 0; u < UNITS; u = u + 1)
                    if (valid[u]) begin
                        if (is_ahead[u]) ahead[index[INDEX*u +: INDEX]] <= bits[u];
                        else masks[index[INDEX*u +: INDEX]] <= bits[u];
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
