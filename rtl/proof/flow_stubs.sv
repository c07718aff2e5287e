// What stands for parts of the machine in the proof `flow`.

// Any outputs.
(* blackbox *)
module aes_pipe (
    input clock, input [9:0] enable, input [1407:0] keys, input [127:0] in, output [127:0] out
);
endmodule

(* blackbox *)
module key_pipe (
    input clock, input [8:0] enable, input [127:0] key, output [1407:0] keys
);
endmodule

// Any round keys, at once, which nothing that is to be seen depends on.
module key_schedule (
    input clock, input reset, input start, input erase, input [127:0] key,
    output reg ready, output [1407:0] keys
);
    key_pipe any (.clock(clock), .enable(9'b0), .key(key), .keys(keys));
    always @(posedge clock) ready <= !reset && !erase && (start || ready);
endmodule

// The counts and the lines that the host gives, in one word, and no checks of them. One line is stored
// in each cycle, again and again.
module netlist_load #(
    parameter LABEL_BITS = 14,
    parameter INPUT_BITS = 12,
    parameter NETLIST_BITS = 14,
    parameter OUTPUTS = 256,
    localparam PLACE = 3 + LABEL_BITS
) (
    input clock, input reset, input restart, input valid, input narrow, input [95:0] word,
    output loaded, output refused, output [INPUT_BITS-1:0] initials,
    output [INPUT_BITS-1:0] each_cycle, output [NETLIST_BITS-1:0] flip_flops,
    output [NETLIST_BITS-1:0] lines, output [NETLIST_BITS-1:0] ands, output store,
    output [NETLIST_BITS-1:0] store_line, output [2*PLACE+4:0] store_word
);
    reg [1:0] at;
    always @(posedge clock) at <= reset ? 2'd0 : at + 2'd1;
    assign {loaded, refused, store} = 3'b101;
    assign {initials, each_cycle, flip_flops, lines, ands} = {
        1'b0, word[77:76], 1'b0, word[79:78], 2'b0, word[81:80], 2'b0, word[83:82], 2'b0, word[85:84]
    };
    assign store_line = {2'b0, at};
    assign store_word = word[19*at +: 19];
endmodule
