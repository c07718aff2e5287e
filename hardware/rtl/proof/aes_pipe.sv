// The pipeline of AES is the cipher of FIPS 197 (section 5.1), for all blocks and keys: the sum of the
// block and the first round key, then in each stage a round of the state that the stage before has,
// with the round key beside it, and the last one without MixColumns. A round is left open here, and
// proved in `round`. Registers begin with any values, and any stages move in each cycle.

module aes_pipe_proof (
    input          clock,
    input [9:0]    enable,
    input [1407:0] keys,
    input [127:0]  in
);
    wire [127:0] out;
    aes_pipe pipe (.clock, .enable, .keys, .in, .out);
    (* hierconn *) wire [1407:0] \pipe.state ;

    // Any one place of the function, which all stages have in common.
    wire [384:0] place = $anyconst;
    (* hierconn *) wire [384:0] \pipe.rounds[0].stage.place = place;
    (* hierconn *) wire [384:0] \pipe.rounds[1].stage.place = place;
    (* hierconn *) wire [384:0] \pipe.rounds[2].stage.place = place;
    (* hierconn *) wire [384:0] \pipe.rounds[3].stage.place = place;
    (* hierconn *) wire [384:0] \pipe.rounds[4].stage.place = place;
    (* hierconn *) wire [384:0] \pipe.rounds[5].stage.place = place;
    (* hierconn *) wire [384:0] \pipe.rounds[6].stage.place = place;
    (* hierconn *) wire [384:0] \pipe.rounds[7].stage.place = place;
    (* hierconn *) wire [384:0] \pipe.rounds[8].stage.place = place;
    (* hierconn *) wire [384:0] \pipe.rounds[9].stage.place = place;

    always @* begin
        assert (\pipe.state [127:0] == in ^ keys[127:0]);
        assert (out == \pipe.state [1407:1280]);
    end
    genvar s;
    generate
        for (s = 0; s < 10; s = s + 1) begin : stages
            // State and round key of the block in this stage, when it entered.
            reg         present = 1'b0;
            reg [255:0] found;
            always @(posedge clock) if (enable[s]) begin
                present <= 1'b1;
                found <= {\pipe.state [128*s +: 128], keys[128*s+128 +: 128]};
            end
            always @* if (present && {s == 9, found} == place[384:128])
                assert (\pipe.state [128*s+128 +: 128] == place[127:0]);
        end
    endgenerate
endmodule
