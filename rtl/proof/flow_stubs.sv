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

// Any round keys, at once.
module key_schedule (
    input clock, input reset, input start, input erase, input [127:0] key,
    output reg ready, output [1407:0] keys
);
    (* anyseq *) wire [1407:0] any;
    assign keys = any;
    always @(posedge clock) ready <= !reset && !erase && (start || ready);
endmodule

// The counts that the host gives, and no checks of them.
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
    assign {initials, each_cycle, flip_flops, lines, ands} =
        word[2*INPUT_BITS+3*NETLIST_BITS-1:0];
    assign {loaded, refused, store, store_line, store_word} = {1'b1, {(NETLIST_BITS+2*PLACE+7){1'b0}}};
endmodule

// Any lines, the same in both machines.
(* blackbox *) (* smtlib2_module *)
module open_line (
    input [3:0] number,
    (* smtlib2_comb_expr = "(open_netlist number)" *)
    output [18:0] line
);
endmodule

module netlist_fetch #(
    parameter BITS = 14,
    parameter WIDTH = 39
) (
    input clock, input store, input [BITS-1:0] store_line, input [WIDTH-1:0] store_word,
    input rewind, input [BITS-1:0] rewind_to, input take,
    output reg [BITS-1:0] number, output [WIDTH-1:0] line
);
    open_line open (.number(number), .line(line));
    always @(posedge clock) number <= rewind ? rewind_to : number + {{(BITS-1){1'b0}}, take};
endmodule
