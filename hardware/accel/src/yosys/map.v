// Arithmetic cells of Yosys as chains of one AND a bit. Yosys' own maps look for short delays, and
// take two ANDs and more a bit.

// Sum of A and B, or of A and NOT B where BI is 1, and of CI. X is A XOR B, CO are all carries.
(* techmap_celltype = "$alu" *)
module sealane_alu (A, B, CI, BI, X, Y, CO);
    parameter A_SIGNED = 0;
    parameter B_SIGNED = 0;
    parameter A_WIDTH = 1;
    parameter B_WIDTH = 1;
    parameter Y_WIDTH = 1;

    input [A_WIDTH-1:0] A;
    input [B_WIDTH-1:0] B;
    input CI, BI;
    output [Y_WIDTH-1:0] X, Y, CO;

    wire [Y_WIDTH-1:0] a, b;
    \$pos #(.A_SIGNED(A_SIGNED), .A_WIDTH(A_WIDTH), .Y_WIDTH(Y_WIDTH)) extend_a (.A(A), .Y(a));
    \$pos #(.A_SIGNED(B_SIGNED), .A_WIDTH(B_WIDTH), .Y_WIDTH(Y_WIDTH)) extend_b (.A(B), .Y(b));

    wire [Y_WIDTH:0] carry;
    assign carry[0] = CI;
    genvar i;
    generate
        for (i = 0; i < Y_WIDTH; i = i + 1) begin : bits
            assign X[i] = a[i] ^ b[i] ^ BI;
            assign Y[i] = X[i] ^ carry[i];
            assign carry[i+1] = ((a[i] ^ carry[i]) & X[i]) ^ a[i];
        end
    endgenerate
    assign CO = carry[Y_WIDTH:1];
endmodule

// Full adders side by side: Y are sums, X carries.
(* techmap_celltype = "$fa" *)
module sealane_fa (A, B, C, X, Y);
    parameter WIDTH = 1;

    input [WIDTH-1:0] A, B, C;
    output [WIDTH-1:0] X, Y;

    wire [WIDTH-1:0] differ;
    assign differ = A ^ B;
    assign Y = differ ^ C;
    assign X = ((A ^ C) & differ) ^ A;
endmodule

// Comparisons: A is less than B where A + NOT B + 1 has no carry. Signed numbers are compared as
// unsigned ones with their highest bits inverted.
(* techmap_celltype = "$lt $le $gt $ge" *)
module sealane_compare (A, B, Y);
    parameter A_SIGNED = 0;
    parameter B_SIGNED = 0;
    parameter A_WIDTH = 1;
    parameter B_WIDTH = 1;
    parameter Y_WIDTH = 1;
    parameter _TECHMAP_CELLTYPE_ = "";

    localparam WIDTH = A_WIDTH > B_WIDTH ? A_WIDTH : B_WIDTH;
    localparam SIGNED = A_SIGNED && B_SIGNED;
    localparam SWAPPED = _TECHMAP_CELLTYPE_ == "$gt" || _TECHMAP_CELLTYPE_ == "$le";
    localparam INVERTED = _TECHMAP_CELLTYPE_ == "$ge" || _TECHMAP_CELLTYPE_ == "$le";

    input [A_WIDTH-1:0] A;
    input [B_WIDTH-1:0] B;
    output [Y_WIDTH-1:0] Y;

    wire [WIDTH-1:0] a, b, left, right;
    \$pos #(.A_SIGNED(SIGNED), .A_WIDTH(A_WIDTH), .Y_WIDTH(WIDTH)) extend_a (.A(A), .Y(a));
    \$pos #(.A_SIGNED(SIGNED), .A_WIDTH(B_WIDTH), .Y_WIDTH(WIDTH)) extend_b (.A(B), .Y(b));
    wire [WIDTH-1:0] highest;
    assign highest = SIGNED ? {1'b1, {WIDTH{1'b0}}} >> 1 : {WIDTH{1'b0}};
    assign left = (SWAPPED ? b : a) ^ highest;
    assign right = (SWAPPED ? a : b) ^ highest;

    wire [WIDTH:0] carry;
    assign carry[0] = 1'b1;
    genvar i;
    generate
        for (i = 0; i < WIDTH; i = i + 1) begin : bits
            assign carry[i+1] = ((left[i] ^ carry[i]) & ~(left[i] ^ right[i])) ^ left[i];
        end
    endgenerate
    assign Y = carry[WIDTH] ^ !INVERTED;
endmodule
