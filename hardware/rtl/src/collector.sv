// The stream to the host: records of a tag, a netlist cycle, an index and data, in each cycle one or,
// of tables, up to one for each engine, in the order of the lanes.
//
//     tag   index               data
//     0     wire of an input    its zero label, in the low half
//     1     number of the AND   its table: T_G in the low half, T_E in the high one
//     2     0                   masks of all outputs, the first one in bit 0
//
// Labels go first, then masks, then tables, which wait in memories: table `k` of a session in memory
// `k % ENGINES`. Once half of these are full, labels wait for tables: otherwise the labels of a
// netlist cycle with many inputs would fill them, and stop the issue of ANDs. `room` counts the
// tables that they can still take, those in the engines included, so a host that does not take
// records stops the issue of ANDs and loses nothing.

module collector #(
    parameter BITS = 9,          // 2^BITS tables wait
    parameter LINE_BITS = 14,
    parameter INPUT_BITS = 12,
    parameter NUMBER = 16,       // bits of the number of an AND
    parameter ENGINES = 1        // a power of two
) (
    input  logic                   clock,
    input  logic                   reset,
    input  logic                   restart,       // a new session
    input  logic [LINE_BITS-1:0]   ands,          // of the netlist
    input  logic [ENGINES-1:0]     issued_and,
    output logic [ENGINES-1:0]     room,          // bit n: for more than n tables
    input  logic [ENGINES-1:0]     table_valid,   // in the order of engines
    input  logic [ENGINES*256-1:0] table_data,
    input  logic [ENGINES*NUMBER-1:0] table_numbers,
    input  logic                   label_valid,
    output logic                   label_ready,
    input  logic [31:0]            label_netlist_cycle,
    input  logic [INPUT_BITS-1:0]  label_wire,
    input  logic [127:0]           label,
    input  logic                   masks_valid,
    output logic                   masks_ready,
    input  logic [31:0]            masks_netlist_cycle,
    input  logic [255:0]           masks,
    output logic                   empty,
    // To the host, which takes all lanes or none.
    output logic [ENGINES-1:0]     out_valid,
    input  logic                   out_ready,
    output logic [ENGINES*2-1:0]   out_tag,
    output logic [ENGINES*32-1:0]  out_netlist_cycle,
    output logic [ENGINES*32-1:0]  out_index,
    output logic [ENGINES*256-1:0] out_data
);
    localparam LANE = $clog2(ENGINES);
    localparam EACH = BITS - LANE;   // of an address in a memory
    localparam [BITS:0] ALL = {1'b1, {BITS{1'b0}}};
    localparam [BITS:0] LANES = (BITS+1)'(ENGINES);

    function automatic [BITS:0] count(input [ENGINES-1:0] bits);
        integer i;
        begin
            count = '0;
            for (i = 0; i < ENGINES; i = i + 1) count = count + {{BITS{1'b0}}, bits[i]};
        end
    endfunction

    logic [BITS:0]        free;      // tables that may still be issued
    // One bit more than an address has: a full memory differs from an empty one.
    logic [BITS:0]        write_at;
    logic [BITS:0]        read_at;
    logic [BITS:0]        read_next;
    logic [BITS:0]        waiting;   // in the next cycle, but for those written in this one
    logic [BITS:0]        shown;     // tables that the memories show, the oldest ones
    logic [BITS:0]        popped;
    logic [LINE_BITS-1:0] index;     // tables of its netlist cycle that came before the oldest one
    logic [31:0]          netlist_cycle;

    // A label goes out in this cycle if the host takes it.
    logic label_now;
    assign label_now = label_valid && (free >= ALL >> 1 || shown == '0);

    assign empty = free == ALL && !masks_valid && !label_valid;
    assign label_ready = out_ready && label_now;
    assign masks_ready = out_ready && !label_now;
    assign popped = out_ready && !label_now && !masks_valid ? shown : '0;
    assign read_next = read_at + popped;
    assign waiting = write_at - read_next;

    // Where the table of each engine goes, and where that of each lane comes from.
    logic [ENGINES-1:0]      write;
    logic [ENGINES*EACH-1:0] write_addresses;
    logic [ENGINES*256-1:0]  write_data;
    logic [ENGINES*EACH-1:0] read_addresses;
    logic [ENGINES*256-1:0]  read_data;
    logic [ENGINES*NUMBER-1:0] write_numbers;
    logic [ENGINES*NUMBER-1:0] read_numbers;
    logic [BITS:0]           at;
    logic [BITS:0]           from;
    integer                  e;
    integer                  place;
    always_comb begin
        write = '0;
        write_addresses = '0;
        write_data = '0;
        write_numbers = '0;
        read_addresses = '0;
        at = write_at;
        from = read_next;
        for (e = 0; e < ENGINES; e = e + 1) begin
            for (place = 0; place < ENGINES; place = place + 1) begin
                if (table_valid[e] && at % LANES == (BITS+1)'(place)) begin
                    write[place] = 1'b1;
                    write_addresses[EACH*place +: EACH] = at[LANE +: EACH];
                    write_data[256*place +: 256] = table_data[256*e +: 256];
                    write_numbers[NUMBER*place +: NUMBER] = table_numbers[NUMBER*e +: NUMBER];
                end
                if (from % LANES == (BITS+1)'(place))
                    read_addresses[EACH*place +: EACH] = from[LANE +: EACH];
            end
            at = at + {{BITS{1'b0}}, table_valid[e]};
            from = from + 1'b1;
        end
    end

    genvar m;
    generate
        for (m = 0; m < ENGINES; m = m + 1) begin : memories
            memory #(.BITS(EACH), .WIDTH(256)) tables (
                .clock, .write(write[m]), .write_address(write_addresses[EACH*m +: EACH]),
                .in(write_data[256*m +: 256]), .read(1'b1),
                .read_address(read_addresses[EACH*m +: EACH]), .out(read_data[256*m +: 256])
            );
            // Apart from the tables: no number depends on a label.
            memory #(.BITS(EACH), .WIDTH(NUMBER)) numbers (
                .clock, .write(write[m]), .write_address(write_addresses[EACH*m +: EACH]),
                .in(write_numbers[NUMBER*m +: NUMBER]), .read(1'b1),
                .read_address(read_addresses[EACH*m +: EACH]),
                .out(read_numbers[NUMBER*m +: NUMBER])
            );
        end
    endgenerate

    logic [LINE_BITS-1:0] index_now;
    logic [31:0]          netlist_cycle_now;
    logic [BITS:0]        shows;
    integer               l;
    integer               k;
    always_comb begin
        out_valid = '0;
        out_data = '0;
        out_index = '0;
        index_now = index;
        netlist_cycle_now = netlist_cycle;
        shows = read_at;
        for (l = 0; l < ENGINES; l = l + 1) begin
            room[l] = free > (BITS+1)'(l);
            out_valid[l] = (BITS+1)'(l) < shown && !label_now && !masks_valid;
            out_tag[2*l +: 2] = 2'd1;
            out_netlist_cycle[32*l +: 32] = netlist_cycle_now;
            for (k = 0; k < ENGINES; k = k + 1)
                if (shows % LANES == (BITS+1)'(k)) begin
                    out_data[256*l +: 256] = read_data[256*k +: 256];
                    out_index[32*l +: 32] = 32'(read_numbers[NUMBER*k +: NUMBER]);
                end
            shows = shows + 1'b1;
            if ((BITS+1)'(l) < shown) begin
                index_now = index_now + 1'b1;
                if (index_now == ands) begin
                    index_now = '0;
                    netlist_cycle_now = netlist_cycle_now + 32'd1;
                end
            end
        end
        if (label_now || masks_valid) begin
            out_valid[0] = 1'b1;
            out_tag[1:0] = label_now ? 2'd0 : 2'd2;
            out_netlist_cycle[31:0] = label_now ? label_netlist_cycle : masks_netlist_cycle;
            out_index[31:0] = label_now ? 32'(label_wire) : 32'd0;
            out_data[255:0] = label_now ? {128'b0, label} : masks;
        end
    end

    always_ff @(posedge clock)
        if (reset || restart) begin
            free <= ALL;
            write_at <= '0;
            read_at <= '0;
            shown <= '0;
            index <= '0;
            netlist_cycle <= 32'd0;
        end else begin
            free <= free + popped - count(issued_and);
            write_at <= write_at + count(table_valid);
            // A table that is written in this cycle can be read in the next one.
            read_at <= read_next;
            shown <= waiting < LANES ? waiting : LANES;
            if (popped != '0) begin
                index <= index_now;
                netlist_cycle <= netlist_cycle_now;
            end
        end
endmodule
