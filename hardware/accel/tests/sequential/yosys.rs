//! Designs in Verilog through Yosys, against plain arithmetic.

use crate::support::{Given, bits, garbled, number};
use sealane_accel::yosys::{Design, DesignError, MAP, OUTPUT, convert, script};
use sealane_testkit::testdata;
use std::io::ErrorKind;
use std::process::Command;

/// Synthesises a design; nothing where there is no Yosys, and the test is then skipped.
fn synthesised(verilog: &str) -> Option<Result<Design, DesignError>> {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    file("design.v", verilog);
    file("map.v", MAP);
    file("script.ys", &script(None).unwrap());
    let yosys = Command::new("yosys")
        .current_dir(folder.path())
        .args(["-q", "-s", "script.ys", "design.v"])
        .output();
    let output = match yosys {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            testdata::skip("yosys is not installed");
            return None;
        }
        other => other.unwrap(),
    };
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{errors}");
    let json = std::fs::read(folder.path().join(OUTPUT)).unwrap();
    Some(convert(&json))
}

fn design(verilog: &str) -> Option<Design> {
    synthesised(verilog).map(|design| design.unwrap_or_else(|error| panic!("{error}")))
}

fn ands(design: &Design) -> usize {
    design.netlist().unwrap().ands()
}

/// Runs a design; the outputs are the same in the clear and garbled.
fn run(design: &Design, given: &Given) -> Vec<u128> {
    let clear = given.clear(&design.circuit);
    assert_eq!(garbled(&design.circuit, given), clear);
    clear.iter().map(|bits| number(bits)).collect()
}

#[test]
fn an_adder_takes_an_and_a_bit() {
    let Some(design) = design(
        "module top(input [7:0] g_input, input [7:0] e_input, output [7:0] sum, output less);
           assign sum = g_input + e_input;
           assign less = g_input < e_input;
         endmodule",
    ) else {
        return;
    };
    let outputs = [("sum", 8), ("less", 1)].map(|(name, width)| (name.to_string(), width));
    assert_eq!(design.outputs, outputs);
    assert_eq!(ands(&design), 7 + 8);
    for (x, y) in [(3, 4), (200, 100), (255, 255), (17, 18)] {
        let out = run(&design, &Given::fresh([[bits(x, 8), bits(y, 8)]]));
        assert_eq!(out, [((x + y) % 256) | (u128::from(x < y) << 8)]);
    }
}

#[test]
fn flip_flops_begin_with_what_reset_loads() {
    let Some(design) = design(
        "module top(input clk, input rst, input [7:0] g_init, input e_input, output [7:0] count,
                    output [3:0] ring);
           reg [7:0] c; reg [3:0] r = 4'b0010; reg [7:0] total;
           always @(posedge clk or posedge rst)
             if (rst) c <= g_init; else if (e_input) c <= c - 1;
           always @(posedge clk) if (rst) total <= 8'd5; else total <= total + c * 3;
           always @(posedge clk) r <= {r[2:0], r[3]};
           assign count = total; assign ring = r;
         endmodule",
    ) else {
        return;
    };
    let given = Given {
        held: [bits(9, 8), vec![]],
        ..Given::fresh((0..6).map(|cycle| [vec![], vec![cycle % 3 != 1]]))
    };
    let (mut c, mut total, mut ring) = (9u128, 5u128, 0b0010u128);
    let expected = (0..6).map(|cycle| {
        let out = total | ring << 8;
        total = (total + 3 * c) % 256;
        c -= u128::from(cycle % 3 != 1);
        ring = (ring << 1 | ring >> 3) & 15;
        out
    });
    assert_eq!(run(&design, &given), expected.collect::<Vec<_>>());
}

#[test]
fn logic_of_all_kinds_keeps_its_meaning() {
    let Some(design) = design(
        "module top(input [5:0] g_input, input [5:0] e_input, input [1:0] p_input,
                    output reg [11:0] o, output [3:0] order);
           wire signed [5:0] a = g_input, b = e_input;
           assign order = {a < b, a >= b, g_input > e_input, g_input <= 6'd33};
           always @(*)
             case (p_input)
               2'd0: o = a * b;
               2'd1: o = a >>> b[2:0];
               2'd2: o = {12{g_input == e_input}} ^ (g_input | ~e_input);
               default: o = (b == 0) ? 12'hfff : g_input / e_input;
             endcase
         endmodule",
    ) else {
        return;
    };
    let signed = |value: u128| crate::support::signed(&bits(value, 6));
    for (x, y) in [(5u128, 9u128), (63, 2), (40, 40), (33, 31), (7, 0), (0, 63)] {
        let expected = [
            (signed(x) * signed(y)) as u128,
            (signed(x) >> (y % 8)) as u128,
            (if x == y { 4095 } else { 0 }) ^ (x | !y & 4095),
            x.checked_div(y).unwrap_or(4095),
        ];
        for (choice, expected) in (0..).zip(expected) {
            let mut run = design.circuit.run(vec![vec![]; 3]);
            let out = run.cycle(&[bits(choice, 2), bits(x, 6), bits(y, 6)]);
            let less = signed(x) < signed(y);
            let order = [x <= 33, x > y, !less, less].map(u128::from);
            let order = (0..4).fold(0, |word, bit| word | order[bit] << bit);
            let expected = expected & 4095 | order << 12;
            assert_eq!(number(&out[0]), expected, "{choice}: {x}, {y}");
        }
    }
}

#[test]
fn designs_without_a_meaning_are_refused() {
    let q = "input clk, input rst, input g_input, output reg q";
    let unset = "begins with neither";
    let edge = "the rising edge of `clk`";
    for (ports, body, expected) in [
        (
            "input a, output b",
            "assign b = a;",
            "port `a` is an input of nobody",
        ),
        (q, "always @(posedge clk) q <= g_input;", unset),
        (
            q,
            "always @(posedge clk or posedge rst) if (rst) q <= g_input; else q <= !q;",
            unset,
        ),
        (
            q,
            "initial q = 0; always @(negedge clk) q <= g_input;",
            edge,
        ),
        (
            q,
            "always @(posedge clk or posedge g_input) if (g_input) q <= 0; else q <= 1;",
            "loaded by something else than `rst`",
        ),
        (q, "always @(*) if (clk) q = g_input;", edge),
        (
            q,
            "initial q = 0; always @(posedge clk) q <= g_input ^ clk;",
            "`clk` is read by a gate",
        ),
    ] {
        let text = format!("module top({ports}); {body} endmodule");
        let Some(design) = synthesised(&text) else {
            return;
        };
        let error = design.expect_err(body);
        assert!(error.to_string().contains(expected), "{error}");
        assert!(!error.hint().is_empty());
    }
}

/// JSON that no Yosys writes: no panic, and an error that says why.
#[test]
fn damaged_json_is_refused() {
    let module =
        |rest: &str| format!(r#"{{"modules":{{"t":{{"attributes":{{"top":"1"}},{rest}}}}}}}"#);
    let gate =
        |a: u32, y: u32| format!(r#"{{"type":"$_NOT_","connections":{{"A":[{a}],"Y":[{y}]}}}}"#);
    let port = r#""ports":{"o":{"direction":"output","bits":[2]}}"#;
    let cells = |first: String, second: String| {
        module(&format!(r#"{port},"cells":{{"a":{first},"b":{second}}}"#))
    };
    let cell = |cell: &str| module(&format!(r#"{port},"cells":{{"a":{{"type":{cell}}}}}"#));
    let third = r#""$_TBUF_","connections":{"A":["0"],"Y":[2],"B":["1"]}"#;
    let cases = [
        ("{".to_string(), "cannot be read"),
        (r#"{"modules":{}}"#.to_string(), "0 top modules"),
        (module(&port.replace("2", r#""q""#)), "a bit cannot be"),
        (module(port), "nothing drives it"),
        (cells(gate(3, 2), gate(2, 3)), "part of a loop"),
        (cells(gate(3, 2), gate(4, 2)), "two drivers"),
        (cell(r#""$_DFF_P_""#), "no single bit at Q"),
        (cell(third), "neither a gate"),
    ];
    for (json, expected) in cases {
        let error = convert(json.as_bytes()).expect_err(&json).to_string();
        assert!(error.contains(expected), "{error}");
    }
    let injected = DesignError::Top("a; shell".to_string());
    assert_eq!(script(Some("a; shell")), Err(injected));
}
