// A round of keys as a function of which only one value is known: at one place, which the proof
// chooses. For all other arguments it is anything, and need not be the same twice. Whatever holds for
// every choice of the place holds for every function.

module key_round (
    input  [127:0] last,
    input  [7:0]   constant,
    output [127:0] next
);
    wire [263:0] place;     // key and constant, and the value there
    wire [127:0] any = $anyseq;
    assign next = {last, constant} == place[263:128] ? place[127:0] : any;
endmodule
