// Functions of AES-128 (FIPS 197), for inclusion in modules: Yosys 0.23 has no `import`.
//
// A block is a number of 128 bits whose byte 0 is bits 7:0, as in the room `block`; column `j` of
// the state is bits 32j+31:32j, and row `i` of it bits 8i+7:8i.

// The S-box (figure 7), from S(255) on the left of the first row down to S(0). The proof `sbox` in
// the folder `proof` compares it with its definition in section 5.1.1.
localparam [2047:0] SBOX = {
    128'h16bb54b0_0f2d9941_6842e6bf_0d89a18c,
    128'hdf2855ce_e9871e9b_948ed969_1198f8e1,
    128'h9e1dc186_b9573561_0ef60348_66b53e70,
    128'h8a8bbd4b_1f74dde8_c6b4a61c_2e2578ba,
    128'h08ae7a65_eaf4566c_a94ed58d_6d37c8e7,
    128'h79e49591_62acd3c2_5c240649_0a3a32e0,
    128'hdb0b5ede_14b8ee46_88902a22_dc4f8160,
    128'h73195d64_3d7ea7c4_1744975f_ec130ccd,
    128'hd2f3ff10_21dab6bc_f5389d92_8f40a351,
    128'ha89f3c50_7f02f945_85334d43_fbaaefd0,
    128'hcf584c4a_39becb6a_5bb1fc20_ed00d153,
    128'h842fe329_b3d63b52_a05a6e1b_1a2c8309,
    128'h75b227eb_e2801207_9a059618_c323c704,
    128'h1531d871_f1e5a534_ccf73f36_2693fdb7,
    128'hc072a49c_afa2d4ad_f04759fa_7dc982ca,
    128'h76abd7fe_2b670130_c56f6bf2_7b777c63
};

// The index is a look-up in Verilator. In Yosys it would be a shift of all 2048 bits, which takes many
// times longer to synthesise than the same choice made bit by bit.
`ifdef YOSYS
function automatic [7:0] sbox(input [7:0] x);
    reg [1023:0] s7;
    reg [511:0] s6;
    reg [255:0] s5;
    reg [127:0] s4;
    reg [63:0] s3;
    reg [31:0] s2;
    reg [15:0] s1;
    begin
        s7 = x[7] ? SBOX[2047:1024] : SBOX[1023:0];
        s6 = x[6] ? s7[1023:512] : s7[511:0];
        s5 = x[5] ? s6[511:256] : s6[255:0];
        s4 = x[4] ? s5[255:128] : s5[127:0];
        s3 = x[3] ? s4[127:64] : s4[63:0];
        s2 = x[2] ? s3[63:32] : s3[31:0];
        s1 = x[1] ? s2[31:16] : s2[15:0];
        sbox = x[0] ? s1[15:8] : s1[7:0];
    end
endfunction
`else
function automatic [7:0] sbox(input [7:0] x);
    sbox = SBOX[{x, 3'b000} +: 8];
endfunction
`endif

function automatic [7:0] times_two(input [7:0] x);
    times_two = {x[6:0], 1'b0} ^ (x[7] ? 8'h1b : 8'h00);
endfunction

// MixColumns of one column: the four doublings go side by side, without carries between bytes.
function automatic [31:0] mix_column(input [31:0] c);
    reg [31:0] top;
    reg [31:0] twice;
    begin
        top = (c >> 7) & 32'h01010101;
        twice = ((c << 1) & 32'hfefefefe) ^ top ^ (top << 1) ^ (top << 3) ^ (top << 4);
        mix_column = twice ^ {twice[7:0], twice[31:8]} ^ {c[7:0], c[31:8]}
            ^ {c[15:0], c[31:16]} ^ {c[23:0], c[31:24]};
    end
endfunction

function automatic [127:0] mix_columns(input [127:0] s);
    mix_columns = {
        mix_column(s[127:96]), mix_column(s[95:64]), mix_column(s[63:32]), mix_column(s[31:0])
    };
endfunction

// SubBytes and ShiftRows: the rows of a column come from four columns.
function automatic [127:0] sub_shift(input [127:0] s);
    sub_shift = {
        sbox(s[95:88]), sbox(s[55:48]), sbox(s[15:8]), sbox(s[103:96]),
        sbox(s[63:56]), sbox(s[23:16]), sbox(s[111:104]), sbox(s[71:64]),
        sbox(s[31:24]), sbox(s[119:112]), sbox(s[79:72]), sbox(s[39:32]),
        sbox(s[127:120]), sbox(s[87:80]), sbox(s[47:40]), sbox(s[7:0])
    };
endfunction
