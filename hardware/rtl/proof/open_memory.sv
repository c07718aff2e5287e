// A memory with two ports of which one word is known, in a place that the proof chooses; all other
// words are anything in each cycle.

module two_port_memory #(
    parameter BITS = 9,
    parameter WIDTH = 128
) (
    input                  clock,
    input                  write0,
    input [BITS-1:0]       address0,
    input [WIDTH-1:0]      in0,
    output reg [WIDTH-1:0] out0,
    input                  write1,
    input [BITS-1:0]       address1,
    input [WIDTH-1:0]      in1,
    output reg [WIDTH-1:0] out1
);
    wire [BITS-1:0]  place;
    reg [WIDTH-1:0]  word;
    wire [WIDTH-1:0] any0 = $anyseq;
    wire [WIDTH-1:0] any1 = $anyseq;
    always @(posedge clock) begin
        if (write0 && address0 == place) word <= in0;
        if (write1 && address1 == place) word <= in1;
        if (!write0) out0 <= address0 == place ? word : any0;
        if (!write1) out1 <= address1 == place ? word : any1;
    end
endmodule
