// A block memory with a port that writes and one that reads.

module memory #(
    parameter BITS = 9,
    parameter WIDTH = 128
) (
    input  logic             clock,
    input  logic             write,
    input  logic [BITS-1:0]  write_address,
    input  logic [WIDTH-1:0] in,
    input  logic             read,
    input  logic [BITS-1:0]  read_address,
    output logic [WIDTH-1:0] out
);
    logic [WIDTH-1:0] words [0:2**BITS-1] /* verilator public_flat_rd */;

    always_ff @(posedge clock)
        if (write) words[write_address] <= in;

    always_ff @(posedge clock)
        if (read) out <= words[read_address];
endmodule
