// Modules of which proofs know only that equal inputs give equal outputs: uninterpreted functions,
// which `prove.sh` declares. Their functions are proved apart.

(* blackbox *) (* smtlib2_module *)
module key_round (
    input [127:0] last,
    input [7:0]   constant,
    (* smtlib2_comb_expr = "(open_key_round last constant)" *)
    output [127:0] next
);
endmodule
