// Opcodes of SCD and HSCD: whether a code is known, XOR, and the inversions of a, b and the output.
function automatic [4:0] decode(input [3:0] code);
    case (code)
        4'd8:    decode = 5'b1_0000;   // AND
        4'd4:    decode = 5'b1_0010;   // a AND NOT b
        4'd2:    decode = 5'b1_0100;   // (NOT a) AND b
        4'd1:    decode = 5'b1_0110;   // NOR
        4'd7:    decode = 5'b1_0001;   // NAND
        4'd11:   decode = 5'b1_0011;   // (NOT a) OR b
        4'd13:   decode = 5'b1_0101;   // a OR NOT b
        4'd14:   decode = 5'b1_0111;   // OR
        4'd6:    decode = 5'b1_1000;   // XOR
        4'd9:    decode = 5'b1_1001;   // XNOR
        4'd12:   decode = 5'b1_1001;   // NOT
        default: decode = 5'b0_0000;
    endcase
endfunction
