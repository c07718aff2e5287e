// The memory of the labels of gates and flip-flops: two ports and a queue of one write.
//
// FASE's wrapper (section IV-D) as `crates/accel/src/fase.rs` states it. A gate presents one or two
// reads, operand 0 by port 0 and operand 1 by port 1; `open` says if they may go on in this cycle.
// Labels come from two sides, ANDs by `write0` and everything else by `write1`, and always go on.
//
//     queue   new writes   reads that go on   queue afterwards
//     empty   none         all                empty
//     empty   one          all                that write, if there are two reads
//     empty   two          none               empty
//     full    none         at most one        empty
//     full    one          stop               empty
//     full    two          stop               the one of write1
//
// "Stop" holds also for a gate without reads. Without the queue (QUEUE = 0) a read by a port on
// which a write comes waits, and every write has its own port.
//
// FASE writes a flip-flop two cycles after its copy began; this machine is a cycle faster, and keeps
// FASE's count by a write with `dry1`, which takes part in all rules and writes nothing.
//
// Data stand a cycle after the read.

module label_memory #(
    parameter BITS = 14,
    parameter QUEUE = 1
) (
    input  logic            clock,
    input  logic            reset,
    // Reads of the gate that could be issued, and whether it is.
    input  logic            want0,
    input  logic            want1,
    input  logic [BITS-1:0] read_address0,
    input  logic [BITS-1:0] read_address1,
    input  logic            take,
    output logic            open,
    output logic [127:0]    data0,
    output logic [127:0]    data1,
    // Writes.
    input  logic            write0,
    input  logic [BITS-1:0] write_address0,
    input  logic [127:0]    write_data0,
    input  logic            write1,
    input  logic            dry1,
    input  logic [BITS-1:0] write_address1,
    input  logic [127:0]    write_data1,
    // The write that waits: its address must not be read.
    output logic            waits,
    output logic [BITS-1:0] waits_address
);
    logic            full;
    logic            full_dry;
    logic [BITS-1:0] queued_address;
    logic [127:0]    queued_data;

    logic both;
    logic read0;
    logic read1;

    assign both = want0 && want1;
    assign read0 = want0 && take;
    assign read1 = want1 && take;
    assign waits = full && !full_dry;
    assign waits_address = queued_address;

    // The accesses of both ports in this cycle.
    logic            port0_write;
    logic            port1_write;
    logic [BITS-1:0] port0_address;
    logic [BITS-1:0] port1_address;
    logic [127:0]    port0_data;
    logic [127:0]    port1_data;
    logic            real1;

    assign real1 = write1 && !dry1;

    generate
        if (QUEUE != 0) begin : queue
            logic [1:0] count;
            logic       to_queue;
            logic       use_queue0;
            logic       use_queue1;
            logic       swap;

            assign count = {1'b0, write0} + {1'b0, write1};
            always_comb
                case ({full, count})
                    3'b000, 3'b001: open = 1'b1;
                    3'b010: open = !want0 && !want1;
                    3'b100: open = !both;
                    default: open = 1'b0;
                endcase

            // A write goes into the queue if two reads take both ports, or if it is the second new
            // one beside a queued one.
            assign to_queue = (count == 2'd1 && read0 && read1) || (full && count == 2'd2);
            // The queued write takes a port that neither a read nor a new write of that side uses.
            assign use_queue0 = full && !read0 && !write0;
            assign use_queue1 = full && !use_queue0;
            // With an empty queue a write moves to the other port if a read is on its own.
            assign swap = !full && ((read0 && write0) || (read1 && write1));

            assign port0_write = !read0 && (use_queue0 ? !full_dry : swap ? real1 : write0);
            assign port1_write = !read1 && (use_queue1 ? !full_dry : swap ? write0 : real1);
            assign port0_address = read0 ? read_address0
                : use_queue0 ? queued_address : swap ? write_address1 : write_address0;
            assign port1_address = read1 ? read_address1
                : use_queue1 ? queued_address : swap ? write_address0 : write_address1;
            assign port0_data = use_queue0 ? queued_data : swap ? write_data1 : write_data0;
            assign port1_data = use_queue1 ? queued_data : swap ? write_data0 : write_data1;

            always_ff @(posedge clock)
                if (reset) begin
                    full <= 1'b0;
                    full_dry <= 1'b0;
                end else begin
                    full <= to_queue;
                    full_dry <= to_queue && !(write0 && !full) && dry1;
                end
            always_ff @(posedge clock) begin
                queued_address <= (write0 && !full) ? write_address0 : write_address1;
                queued_data <= (write0 && !full) ? write_data0 : write_data1;
            end
        end else begin : plain
            assign open = !(want0 && write0) && !(want1 && write1);
            assign port0_write = write0;
            assign port1_write = real1;
            assign port0_address = write0 ? write_address0 : read_address0;
            assign port1_address = write1 ? write_address1 : read_address1;
            assign port0_data = write_data0;
            assign port1_data = write_data1;
            assign full = 1'b0;
            assign full_dry = 1'b0;
            assign queued_address = {BITS{1'b0}};
            assign queued_data = 128'b0;
            logic unused;
            assign unused = &{reset, both, read0, read1, queued_data};
        end
    endgenerate

    two_port_memory #(.BITS(BITS), .WIDTH(128)) labels (
        .clock, .write0(port0_write), .address0(port0_address), .in0(port0_data), .out0(data0),
        .write1(port1_write), .address1(port1_address), .in1(port1_data), .out1(data1)
    );
endmodule
