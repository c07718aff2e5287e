// The engine garbles each AND as the half-gates of Zahur, Rosulek and Evans do, ten cycles after it
// came: label and both rows of the table, for all sequences of gates with any gaps, all labels,
// offsets, tweaks, inversions and resets, by induction over any number of cycles. AES is left open:
// asserted is which four blocks it is asked for, under which keys, and what is made of any results.

module engine_proof #(
    parameter HASH = 0
) (
    input          clock,
    input          reset,
    input          flush,
    input          in_valid,
    input [127:0]  in_a,
    input [127:0]  in_b,
    input [2:0]    in_invert,
    input [63:0]   in_tweak
);
    // Offset and round keys stay for a session.
    wire [127:0]  offset = $anyconst;
    wire [1407:0] keys = $anyconst;

    wire out_valid;
    wire [127:0] out_label, out_garbler, out_evaluator;
    half_gate #(.HASH(HASH)) engine (
        .clock, .reset, .flush, .offset, .keys, .in_valid, .in_a, .in_b, .in_invert, .in_tweak,
        .out_valid, .out_label, .out_garbler, .out_evaluator
    );

    // Guo, Katz, Wang and Yu, section 7.3: sigma, and the block and key for a hash H(x, T).
    function automatic [127:0] sigma(input [127:0] x);
        sigma = {x[127:64] ^ x[63:0], x[127:64]};
    endfunction
    function automatic [127:0] block_of(input [127:0] x, input [127:0] tweak);
        block_of = HASH == 1 ? sigma(x) : sigma(x) ^ tweak;
    endfunction
    function automatic [127:0] key_of(input [127:0] key, input [127:0] tweak);
        key_of = HASH == 1 ? key ^ tweak : key;
    endfunction

    // The gate that comes: zero labels, tweaks of its halves, and what it asks of AES.
    wire [127:0] new_a = in_a ^ (in_invert[2] ? offset : 128'b0);
    wire [127:0] new_b = in_b ^ (in_invert[1] ? offset : 128'b0);
    wire [127:0] tweak_a = {64'b0, in_tweak};
    wire [127:0] tweak_b = {32'd1, 32'b0, in_tweak};
    wire [1024:0] new_gate = {
        in_invert[0], new_a, new_b, key_of(keys[127:0], tweak_a), key_of(keys[127:0], tweak_b),
        block_of(new_a, tweak_a), block_of(new_a ^ offset, tweak_a),
        block_of(new_b, tweak_b), block_of(new_b ^ offset, tweak_b)
    };

    // The gates of the last ten cycles.
    reg known = 1'b0;
    reg [9:0] came;
    always @(posedge clock) begin
        if (reset) known <= 1'b1;
        came <= reset ? 10'b0 : {came[8:0], in_valid};
    end
    (* hierconn *) wire [1279:0] \engine.aes_a0.blocks ;
    (* hierconn *) wire [1279:0] \engine.aes_a1.blocks ;
    (* hierconn *) wire [1279:0] \engine.aes_b0.blocks ;
    (* hierconn *) wire [1279:0] \engine.aes_b1.blocks ;
    (* hierconn *) wire [1279:0] \engine.aes_a0.block_keys ;
    (* hierconn *) wire [1279:0] \engine.aes_a1.block_keys ;
    (* hierconn *) wire [1279:0] \engine.aes_b0.block_keys ;
    (* hierconn *) wire [1279:0] \engine.aes_b1.block_keys ;
    (* hierconn *) wire [2589:0] \engine.labels.line ;

    // All ten rounds of a half get the keys of one schedule, which moves with the blocks of both
    // pipelines, or those of the session.
    (* hierconn *) wire [1407:0] \engine.aes_a0.keys ;
    (* hierconn *) wire [1407:0] \engine.aes_a1.keys ;
    (* hierconn *) wire [1407:0] \engine.aes_b0.keys ;
    (* hierconn *) wire [1407:0] \engine.aes_b1.keys ;
    (* hierconn *) wire [9:0] \engine.aes_a0.enable ;
    (* hierconn *) wire [9:0] \engine.aes_a1.enable ;
    (* hierconn *) wire [9:0] \engine.aes_b0.enable ;
    (* hierconn *) wire [9:0] \engine.aes_b1.enable ;
    // Only the engine with schedules of its own has these.
    (* hierconn *) wire [1407:0] \engine.key_each.schedule_a.keys ;
    (* hierconn *) wire [1407:0] \engine.key_each.schedule_b.keys ;
    (* hierconn *) wire [8:0] \engine.key_each.schedule_a.enable ;
    (* hierconn *) wire [8:0] \engine.key_each.schedule_b.enable ;
    wire [1407:0] keys_a = HASH == 1 ? \engine.key_each.schedule_a.keys : keys;
    wire [1407:0] keys_b = HASH == 1 ? \engine.key_each.schedule_b.keys : keys;
    always @* begin
        assert (\engine.aes_a0.keys == keys_a && \engine.aes_a1.keys == keys_a);
        assert (\engine.aes_b0.keys == keys_b && \engine.aes_b1.keys == keys_b);
        assert (\engine.aes_a1.enable == \engine.aes_a0.enable );
        assert (\engine.aes_b0.enable == \engine.aes_a0.enable );
        assert (\engine.aes_b1.enable == \engine.aes_a0.enable );
        if (HASH == 1) begin
            assert (\engine.key_each.schedule_a.enable == \engine.aes_a0.enable [8:0]);
            assert (\engine.key_each.schedule_b.enable == \engine.aes_a0.enable [8:0]);
        end
    end

    genvar s;
    generate
        for (s = 0; s < 10; s = s + 1) begin : stages
            reg  [1024:0] gate;
            wire [127:0]  a, b, key_a, key_b, block_a0, block_a1, block_b0, block_b1;
            wire          invert;
            assign {invert, a, b, key_a, key_b, block_a0, block_a1, block_b0, block_b1} = gate;
            if (s == 0) begin
                always @(posedge clock) gate <= new_gate;
            end else begin
                always @(posedge clock) gate <= stages[s-1].gate;
            end
            always @* if (known && came[s]) begin
                assert (\engine.aes_a0.blocks [128*s +: 128] == block_a0);
                assert (\engine.aes_a1.blocks [128*s +: 128] == block_a1);
                assert (\engine.aes_b0.blocks [128*s +: 128] == block_b0);
                assert (\engine.aes_b1.blocks [128*s +: 128] == block_b1);
                assert (\engine.aes_a0.block_keys [128*s +: 128] == key_a);
                assert (\engine.aes_a1.block_keys [128*s +: 128] == key_a);
                assert (\engine.aes_b0.block_keys [128*s +: 128] == key_b);
                assert (\engine.aes_b1.block_keys [128*s +: 128] == key_b);
                assert (\engine.labels.line [259*s +: 259] == {invert, a[0], b[0], a, b});
            end
        end
    endgenerate

    // Figure 2 of "Two Halves Make a Whole", with the results that stand for AES.
    (* hierconn *) wire [127:0] \engine.aes_a0.out ;
    (* hierconn *) wire [127:0] \engine.aes_a1.out ;
    (* hierconn *) wire [127:0] \engine.aes_b0.out ;
    (* hierconn *) wire [127:0] \engine.aes_b1.out ;
    wire [127:0] a = stages[9].a;
    wire [127:0] b = stages[9].b;
    wire [127:0] hash_a0 = \engine.aes_a0.out ^ sigma(a);
    wire [127:0] hash_a1 = \engine.aes_a1.out ^ sigma(a ^ offset);
    wire [127:0] hash_b0 = \engine.aes_b0.out ^ sigma(b);
    wire [127:0] hash_b1 = \engine.aes_b1.out ^ sigma(b ^ offset);
    wire [127:0] garbler = hash_a0 ^ hash_a1 ^ (b[0] ? offset : 128'b0);
    wire [127:0] label_garbler = hash_a0 ^ (a[0] ? garbler : 128'b0);
    wire [127:0] evaluator = hash_b0 ^ hash_b1 ^ a;
    wire [127:0] label_evaluator = hash_b0 ^ (b[0] ? evaluator ^ a : 128'b0);
    (* hierconn *) wire [9:0] \engine.holds ;
    always @* if (known) begin
        assert (\engine.holds == came);
        assert (out_valid == came[9]);
        if (out_valid) begin
            assert (out_garbler == garbler);
            assert (out_evaluator == evaluator);
            assert (out_label == label_garbler ^ label_evaluator ^ (stages[9].invert ? offset : 128'b0));
        end
    end
endmodule
