// The key schedules make the expanded key of FIPS 197 (section 5.2), for all keys: each round key is
// a round of the one before it, with the constant of its number. A round is left open here, and
// proved in `key_round`: it is any function of key and constant.
//
// Registers begin with any values. All inputs are open in every cycle, so that a schedule may be
// erased or begun anew at any time. Asserted beside the outputs are those facts about registers that
// make the whole inductive: they hold after each cycle if they held before it.

module key_schedule_proof (
    input         clock,
    input         reset,
    input         start,
    input         erase,
    input [127:0] key
);
    // Section 5.2, figure 5: constants of rounds 1 to 10, the first one in bits 7:0.
    localparam [79:0] CONSTANTS = {
        8'h36, 8'h1b, 8'h80, 8'h40, 8'h20, 8'h10, 8'h08, 8'h04, 8'h02, 8'h01
    };

    // The schedule in registers: cycles since the key came, at most eleven, and 0 if it was erased.
    wire          ready;
    wire [1407:0] keys;
    key_schedule schedule (
        .clock, .reset, .start, .erase, .key, .ready, .keys
    );
    reg         known = 1'b0;
    reg [3:0]   count;
    reg [127:0] taken;
    always @(posedge clock) begin
        if (reset || erase || start) known <= 1'b1;
        if (reset || erase) count <= 4'd0;
        else if (start) {count, taken} <= {4'd1, key};
        else if (count != 4'd0 && count != 4'd11) count <= count + 4'd1;
    end
    always @* if (known) begin
        assert (count <= 4'd11);
        assert (ready == (count == 4'd11));
        assert (keys[127:0] == (count == 4'd0 ? 128'b0 : taken));
    end
    (* hierconn *) wire [3:0]   \schedule.round ;
    (* hierconn *) wire [7:0]   \schedule.constant ;
    (* hierconn *) wire [127:0] \schedule.last ;
    always @* if (known) begin
        assert (\schedule.round == count);
        if (count == 4'd0) assert (\schedule.last == 128'b0);
    end

    // Any one place of the function, which all instances of a round have in common.
    wire [263:0] place = $anyconst;
    (* hierconn *) wire [263:0] \schedule.round_key.place = place;

    // Round key `r` may be `after` if the one before it is `before`.
    function automatic follows(input [127:0] before, input [127:0] after, input [3:0] r);
        follows = {before, CONSTANTS[8*r-8 +: 8]} != place[263:128] || after == place[127:0];
    endfunction

    genvar r;
    generate
        for (r = 1; r < 11; r = r + 1) begin : rounds
            always @* if (known) begin
                if (r < count) assert (follows(keys[128*r-128 +: 128], keys[128*r +: 128], r));
                else assert (keys[128*r +: 128] == 128'b0);
                if (count == r) begin
                    assert (\schedule.last == keys[128*r-128 +: 128]);
                    assert (\schedule.constant == CONSTANTS[8*r-8 +: 8]);
                end
            end
        end
    endgenerate
endmodule
