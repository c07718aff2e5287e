// AES-128 as FIPS 197 defines it, for the proofs: arithmetic in GF(2^8), bit by bit, no table.

// Section 4.2: the product modulo x^8 + x^4 + x^3 + x + 1.
function automatic [7:0] gf_times(input [7:0] x, input [7:0] y);
    reg [7:0] power;
    integer i;
    begin
        gf_times = 8'h00;
        power = x;
        for (i = 0; i < 8; i = i + 1) begin
            if (y[i]) gf_times = gf_times ^ power;
            power = {power[6:0], 1'b0} ^ (power[7] ? 8'h1b : 8'h00);
        end
    end
endfunction

// Section 5.1.1: the inverse, which is the power 254, with 0 for 0; then the affine map, bit by bit.
function automatic [7:0] gf_inverse(input [7:0] x);
    reg [7:0] square;
    integer i;
    begin
        square = gf_times(x, x);
        gf_inverse = square;
        for (i = 2; i < 8; i = i + 1) begin
            square = gf_times(square, square);
            gf_inverse = gf_times(gf_inverse, square);
        end
    end
endfunction

function automatic [7:0] spec_sbox(input [7:0] x);
    reg [7:0] b;
    integer i;
    begin
        b = gf_inverse(x);
        for (i = 0; i < 8; i = i + 1)
            spec_sbox[i] = b[i] ^ b[(i + 4) % 8] ^ b[(i + 5) % 8] ^ b[(i + 6) % 8]
                ^ b[(i + 7) % 8] ^ ((8'h63 >> i) & 1'b1);
    end
endfunction

// Section 5.2: words 4r to 4r + 3 of the expanded key from the four before them, with the S-box that
// is proved apart. Byte 0 of a word is in its low bits; RotWord brings byte 1 to the front.
function automatic [127:0] spec_key_round(input [127:0] before, input [7:0] constant);
    reg [31:0] temp;
    integer i;
    begin
        temp = {before[103:96], before[127:104]};
        temp = {sbox(temp[31:24]), sbox(temp[23:16]), sbox(temp[15:8]), sbox(temp[7:0])};
        temp[7:0] = temp[7:0] ^ constant;
        for (i = 0; i < 4; i = i + 1) begin
            temp = before[32*i +: 32] ^ temp;
            spec_key_round[32*i +: 32] = temp;
        end
    end
endfunction
