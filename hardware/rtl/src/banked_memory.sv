// The memory of labels of the better engine: banks, each read at two addresses and written at one in
// a cycle. A bank is a memory of two copies. Data stand a cycle after the read.

module banked_memory #(
    parameter BANKS = 8,
    parameter BITS = 11       // of an address in a bank
) (
    input  logic                    clock,
    // Bank `b` reads at addresses 2b and 2b + 1.
    input  logic [2*BANKS*BITS-1:0] read_addresses,
    output logic [2*BANKS*128-1:0]  data,
    input  logic [BANKS-1:0]        write,
    input  logic [BANKS*BITS-1:0]   write_addresses,
    input  logic [BANKS*128-1:0]    write_data,
    // Writes zeros to all banks.
    input  logic                    wipe,
    input  logic [BITS-1:0]         wipe_address
);
    genvar p;
    generate
        for (p = 0; p < 2 * BANKS; p = p + 1) begin : ports
            memory #(.BITS(BITS), .WIDTH(128)) labels (
                .clock, .write(write[p/2] || wipe),
                .write_address(wipe ? wipe_address : write_addresses[BITS*(p/2) +: BITS]),
                .in(wipe ? 128'b0 : write_data[128*(p/2) +: 128]), .read(1'b1),
                .read_address(read_addresses[BITS*p +: BITS]), .out(data[128*p +: 128])
            );
        end
    endgenerate
endmodule
