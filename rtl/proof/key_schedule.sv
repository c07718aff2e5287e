// The key schedules make the expanded key of FIPS 197 (section 5.2), for all keys: ten rounds, each
// from the key before it and with the constant of its number. A round is left open here, and proved
// in `key_round`: it is any function of key and constant.

module key_schedule_proof (
    input         clock,
    input [127:0] key
);
    // Section 5.2, figure 5: constants of rounds 1 to 10, the first one in bits 7:0.
    localparam [79:0] CONSTANTS = {
        8'h36, 8'h1b, 8'h80, 8'h40, 8'h20, 8'h10, 8'h08, 8'h04, 8'h02, 8'h01
    };

    // Cycles since the key came.
    reg [3:0]   count = 4'd0;
    reg [127:0] taken;
    always @(posedge clock) begin
        if (count != 4'd15) count <= count + 4'd1;
        if (count == 4'd0) taken <= key;
    end

    // From any state.
    wire          ready;
    wire [1407:0] keys;
    key_schedule schedule (
        .clock(clock), .reset(1'b0), .start(count == 4'd0), .erase(1'b0), .key(key),
        .ready(ready), .keys(keys)
    );

    // A block that enters the pipeline of keys finds round key `r` beside it in stage `r - 1`.
    wire [1407:0] moving;
    key_pipe pipe (.clock(clock), .enable(9'h1ff), .key(key), .keys(moving));

    wire [1407:0] expected;
    assign expected[127:0] = taken;
    genvar r;
    generate
        for (r = 1; r < 11; r = r + 1) begin : rounds
            key_round round (
                .last(expected[128*r-128 +: 128]), .constant(CONSTANTS[8*r-8 +: 8]),
                .next(expected[128*r +: 128])
            );
            always @* begin
                if (count > r) assert (keys[128*r +: 128] == expected[128*r +: 128]);
                if (count == r - 1 && count != 4'd0)
                    assert (moving[128*r +: 128] == expected[128*r +: 128]);
            end
        end
    endgenerate
    always @* if (count != 4'd0) begin
        assert (ready == (count >= 4'd11));
        assert (keys[127:0] == taken);
    end
endmodule
