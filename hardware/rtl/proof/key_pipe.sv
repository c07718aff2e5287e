// The key schedule that moves along with blocks is that of FIPS 197 (section 5.2), for all keys: a
// block finds its key in the first stage, and then in each stage a round of the round key that it
// found in the stage before, with the constant of its number. A round is left open here, and proved
// in `key_round`: it is any function of key and constant.
//
// Registers begin with any values, and any stages move in each cycle.

module key_pipe_proof (
    input         clock,
    input [127:0] key,
    input [8:0]   enable
);
    // Section 5.2, figure 5: constants of rounds 1 to 10, the first one in bits 7:0.
    localparam [79:0] CONSTANTS = {
        8'h36, 8'h1b, 8'h80, 8'h40, 8'h20, 8'h10, 8'h08, 8'h04, 8'h02, 8'h01
    };

    // A block that is about to enter stage `s` finds round key `s + 1` there.
    wire [1407:0] keys;
    key_pipe pipe (.clock, .enable, .key, .keys);
    (* hierconn *) wire [1279:0] \pipe.held ;

    // Any one place of the function, which all rounds have in common.
    wire [263:0] place = $anyconst;
    (* hierconn *) wire [263:0] \pipe.rounds[0].round_key.place = place;
    (* hierconn *) wire [263:0] \pipe.rounds[1].round_key.place = place;
    (* hierconn *) wire [263:0] \pipe.rounds[2].round_key.place = place;
    (* hierconn *) wire [263:0] \pipe.rounds[3].round_key.place = place;
    (* hierconn *) wire [263:0] \pipe.rounds[4].round_key.place = place;
    (* hierconn *) wire [263:0] \pipe.rounds[5].round_key.place = place;
    (* hierconn *) wire [263:0] \pipe.rounds[6].round_key.place = place;
    (* hierconn *) wire [263:0] \pipe.rounds[7].round_key.place = place;
    (* hierconn *) wire [263:0] \pipe.rounds[8].round_key.place = place;
    (* hierconn *) wire [263:0] \pipe.rounds[9].round_key.place = place;

    always @* assert (keys[127:0] == key);
    genvar s;
    generate
        for (s = 0; s < 10; s = s + 1) begin : stages
            // The round key that the block found in the stage before this one.
            wire [127:0] found;
            wire         present;
            if (s == 0) begin
                assign found = key;
                assign present = 1'b1;
            end else begin
                reg here = 1'b0;
                reg [127:0] last;
                assign found = last;
                assign present = here;
                always @(posedge clock) if (enable[s-1]) begin
                    here <= stages[s-1].present;
                    last <= keys[128*s +: 128];
                end
            end
            always @* if (present) begin
                assert (\pipe.held [128*s +: 128] == found);
                if ({found, CONSTANTS[8*s +: 8]} == place[263:128])
                    assert (keys[128*s+128 +: 128] == place[127:0]);
            end
        end
    endgenerate
endmodule
