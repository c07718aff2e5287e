// A block memory with two ports, each of which reads or writes in a cycle.
//
// A port that writes keeps the word that it read last. No address is written by both in one cycle.

module two_port_memory #(
    parameter BITS = 9,
    parameter WIDTH = 128
) (
    input  logic             clock,
    input  logic             write0,
    input  logic [BITS-1:0]  address0,
    input  logic [WIDTH-1:0] in0,
    output logic [WIDTH-1:0] out0,
    input  logic             write1,
    input  logic [BITS-1:0]  address1,
    input  logic [WIDTH-1:0] in1,
    output logic [WIDTH-1:0] out1
);
    logic [WIDTH-1:0] words [0:2**BITS-1] /* verilator public_flat_rd */;

    always_ff @(posedge clock)
        if (write0) words[address0] <= in0;
        else out0 <= words[address0];

    always_ff @(posedge clock)
        if (write1) words[address1] <= in1;
        else out1 <= words[address1];
endmodule
