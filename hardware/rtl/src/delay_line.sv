// A value some cycles later. It has no reset, so that it fits the shift registers of an FPGA.

module delay_line #(
    parameter WIDTH = 1,
    parameter DEPTH = 1
) (
    input  logic             clock,
    input  logic [WIDTH-1:0] in,
    output logic [WIDTH-1:0] out
);
    logic [WIDTH*DEPTH-1:0] line;

    assign out = line[WIDTH*DEPTH-1 -: WIDTH];

    generate
        if (DEPTH == 1) begin : one
            always_ff @(posedge clock) line <= in;
        end else begin : many
            always_ff @(posedge clock) line <= {line[WIDTH*(DEPTH-1)-1:0], in};
        end
    endgenerate
endmodule
