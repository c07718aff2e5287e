//! Text form of programs, and the errors of its parser.

use crate::common::{at, signature};
use sealane_diagnostic::{Code, Diagnostic};
use sealane_program::builder::Index;
use sealane_program::graph::{Binary, Program, Reduction};
use sealane_program::text::{parse, parse_unchecked, print, print_with_spans};
use sealane_program::types::Type;

const RISK: &str = r#"sealane program 1
name risk
party hospital
party lab
rows patients <= 1000
input x : hospital u16[patients, 2] in 0..5000 columns "mean radius", "a \"quoted\" \\ column"
input w : lab i16[2] in -100..100
main {
  %0 = param 0 : u16[patients, 2] in 0..5000 known hospital
  %1 = param 1 : i16[2] in -100..100 known lab
  %2 = cast %0 : i24[patients, 2] in 0..5000 known hospital
  %3 = cast %1 : i24[2] in -100..100 known lab
  %4 = dot %2, %3 : i24[patients] in -1000000..1000000 secret
  %5 = map over %0 capture %1 : bool[patients] in 0..1 secret {
    %0 = param 0 : u16[2] in 0..5000 known hospital
    %1 = param 1 : i16[2] in -100..100 known lab
    %2 = reduce sum %0 axis 0 : u16 in 0..10000 known hospital
    %3 = slice %1 axis 0 from 0 take 1 squeeze : i16 in -100..100 known lab
    %4 = gt %2, %3 : bool in 0..1 secret
    return %4
  }
  %6 = part %5, 0 : bool[patients] in 0..1 secret
  %7 = const [0] : i24 in 0..0 public
  %8 = scan from %7 over %4 : i24 in -8388608..8388607 secret {
    %0 = param 0 : i24 in -8388608..8388607 secret
    %1 = param 1 : i24 in -1000000..1000000 secret
    %2 = max %0, %1 : i24 in -1000000..8388607 secret
    return %2
  }
  %9 = part %8, 0 : i24 in -8388608..8388607 secret
  %10 = cast %9 : i32 in -8388608..8388607 secret
}
reveal result_0 = %6 : bool to hospital
reveal result_1 = %10 : i32 to hospital, lab
"#;

#[test]
fn the_canonical_text_is_this() {
    let (program, warnings) = risk().expect("a sound program");
    assert!(warnings.is_empty(), "{warnings:?}");
    assert_eq!(print(&program), RISK);
    assert_eq!(program.hash(), *blake3::hash(RISK.as_bytes()).as_bytes());
    assert!(parse(RISK, "text").is_ok_and(|read| read.hash() == program.hash()));
}

#[test]
fn spans_travel_in_the_full_text_and_do_not_count() {
    let (program, _) = risk().expect("a sound program");
    let full = print_with_spans(&program);
    assert!(
        full.contains("-1000000..1000000 secret @ \"risk.py\":5:13-34\n"),
        "{full}"
    );
    let read = parse(&full, "text").expect("the full text");
    assert!(read == program);
    assert_eq!(read.main.values[4].span, at(5, 13, 34));
    assert_eq!(read.hash(), program.hash());
}

#[test]
fn white_space_does_not_count() {
    let loose = RISK
        .replace("  ", "\t ")
        .replace('\n', " \r\n\n")
        .replace(" : ", ":");
    assert_eq!(
        print(&parse(&loose, "text").expect("the same program")),
        RISK
    );
}

/// The error of the text with the first `from` replaced.
fn error(from: &str, to: &str) -> String {
    assert!(RISK.contains(from), "{from}");
    let text = RISK.replacen(from, to, 1);
    let error = parse(&text, "risk.sealane").expect_err("a refusal");
    let line = error
        .span
        .as_ref()
        .and_then(|span| text.lines().nth(span.line as usize - 1));
    error.render(line)
}

#[test]
fn a_syntax_error_points_at_its_token() {
    let text = error("%2 = cast %0", "%2 = cost %0");
    let expected = "error[syntax]: there is no operation `cost`\n  --> risk.sealane:11:8\n   |\n\
                    11 |   %2 = cost %0 : i24[patients, 2] in 0..5000 known hospital\n\
                    \x20  |        ^^^^\n\
                    hint: write the text anew from its source: `sealane check PROGRAM.py --text`";
    assert_eq!(text, expected);
    let text = error("in -100..100\nmain", "in -100...100\nmain");
    assert!(text.starts_with("error[syntax]: `.100` stands where the largest value is expected"));
    assert!(error("%3 = cast", "%4 = cast").contains("the next value is %3"));
    assert!(error("known lab", "known bank").contains("no party is called `bank`"));
    assert!(error("[patients, 2]", "[2, patients]").contains("only axis 0 is symbolic"));
    assert!(error("column\"", "column").contains("does not end"));
    assert!(error("program 1", "program 2").contains("version 2, and this is 1"));
    assert!(error("const [0]", "const []").contains("a number is expected"));
    assert!(error("const [0]", "const [0, 0]").contains("not what its type says"));
    assert!(error("to hospital, lab\n", "to hospital, lab\nmore").contains("end of the text"));
}

#[test]
fn a_text_that_lies_is_refused_where_it_lies() {
    // A range that is too narrow would let planning store too few bits.
    let text = error(
        "%2 = reduce sum %0 axis 0 : u16 in 0..10000",
        "%2 = reduce sum %0 axis 0 : u16 in 0..100",
    );
    assert!(
        text.contains("error[invalid-program]: %2 is not what its operation gives"),
        "{text}"
    );
    assert!(text.contains("--> risk.sealane:17:5"), "{text}");
    // A value that claims to be public would be computed in the open.
    error(
        "dot %2, %3 : i24[patients] in -1000000..1000000 secret",
        "dot %2, %3 : i24[patients] in -1000000..1000000 public",
    );
    error("gt %2, %3", "gt %2, %4");
    error("return %4", "return %9");
    error("%6 = part %5, 0", "%6 = part %5, 1");
    error("%6 = part %5, 0", "%6 = part %4, 0");
    error("reveal result_0 = %6", "reveal result_0 = %5");
    error("reveal result_0 = %6 : bool", "reveal result_0 = %6 : u1");
    error("to hospital, lab", "to lab, hospital");
    error("to hospital, lab", "to lab, lab");
    error("reveal result_1", "reveal result_0");
    error("capture %1 ", "");
    error("over %0 capture", "over %7 capture");
    error("i24 in 0..0", "u24 in 0..0");
    error("%0 = param 0 : u16[2]", "%0 = param 1 : u16[2]");
    error(
        "rows patients <= 1000\n",
        "rows patients <= 1000\nrows others <= 5\n",
    );
    // A name that is displayed as another one: reversed, or with an invisible character.
    error("\"mean radius\"", "\"mean \u{202e}suidar\"");
    error("\"mean radius\"", "\"mean\u{200b} radius\"");
    error("from 0 take 1 squeeze", "from 2 take 1 squeeze");
    error(
        "from 0 take 1 squeeze",
        "from 18446744073709551615 take 1 squeeze",
    );
}

#[test]
fn noise_is_claimed_only_of_what_depends_on_random_numbers() {
    let program = |result: &str| {
        format!(
            "sealane program 1\nname p\nparty a\nparty b\ninput x : a u8 in 0..9\nmain {{\n  \
             %0 = param 0 : u8 in 0..9 known a\n  \
             %1 = random 8 take 1 : u8[1] in 0..255 secret\n  \
             %2 = xor %0, %1 : u8[1] in 0..255 secret\n}}\nreveal r = {result} to b note \
             \"discrete Laplace NOISE of scale 1, that no party knows\"\n"
        )
    };
    let noisy = parse(&program("%2 : u8"), "text").map_err(|error| error.message);
    assert!(noisy.is_ok(), "{:?}", noisy.err());
    let forged = parse(&program("%0 : u8"), "text").expect_err("a refusal");
    let said = "a result is said to have noise, and depends on no random number";
    assert_eq!(forged.message, said);
}

#[test]
fn sizes_are_bounded_before_they_are_taken() {
    let unchecked = |text: &str| parse_unchecked(text, "text").expect_err("a refusal");
    let nested = "sealane program 1\nname p\nparty a\nmain {\n".to_owned()
        + &"%0 = map over %0 : u16 in 0..1 secret {\n".repeat(100_000);
    assert_eq!(unchecked(&nested).code, Code::Limit);
    let ranks = RISK.replacen(
        "u16[patients, 2]",
        &format!("u16[{}2]", "2, ".repeat(100_000)),
        1,
    );
    assert_eq!(unchecked(&ranks).code, Code::Limit);
    let long = "x".repeat(20 << 20);
    assert_eq!(unchecked(&long).code, Code::Limit);
    // Each of these is looked up by name in a list. A list bounded only by the length of the text
    // would make reading take quadratic time.
    let many = |line: &dyn Fn(usize) -> String| -> String { (0..200_000).map(line).collect() };
    let lists = [
        ("party lab\n", many(&|i| format!("party p{i}\n"))),
        (
            "rows patients <= 1000\n",
            many(&|i| format!("rows r{i} <= 9\n")),
        ),
        (
            "input w : lab i16[2] in -100..100\n",
            many(&|i| format!("input w{i} : lab i16 in 0..1\n")),
        ),
        (
            "reveal result_0 = %6 : bool to hospital\n",
            many(&|i| format!("reveal r{i} = %6 : bool to lab\n")),
        ),
    ];
    for (line, lines) in lists {
        let text = RISK.replace(line, &format!("{line}{lines}"));
        let error = unchecked(&text);
        assert_eq!(error.code, Code::Limit, "{line}");
        let near = error.span.expect("a place").line;
        assert!(near < 2000, "{line} is read to line {near}");
    }
    for (from, to) in [
        ("<= 1000", "<= 99999999999999"),
        ("[patients, 2]", "[patients, 18446744073709551615]"),
    ] {
        let refused = parse(&RISK.replace(from, to), "text").expect_err("a refusal");
        assert_eq!(refused.code, Code::Limit);
    }
}

#[test]
fn names_are_letters_that_look_like_themselves() {
    for (from, to) in [
        ("party lab", "party lаb"),
        ("name risk", "name r\u{202e}isk"),
    ] {
        let text = RISK.replace(from, to);
        assert_eq!(
            parse(&text, "text").expect_err("a refusal").code,
            Code::Syntax
        );
    }
    assert!(error("mean radius", "mean\tradius").contains("error[name]"));
    assert!(error("party lab\n", "party hospital\n").contains("error["));
}

const BOXES: &str = "\
sealane program 1
name boxes
party alice
party bob
rows n <= 9
input x : alice u8[n] in 0..3
input t : bob i8[4, 2] in -5..100
main {
  %0 = param 0 : u8[n] in 0..3 known alice
  %1 = param 1 : i8[4, 2] in -5..100 known bob
  %2 = const [7, 0, 9, 8] : u4[4] in 0..9 public
  %3 = lookup %2, %0 : u4[n] in 0..9 known alice
  %4 = lookup %1, %0 : i8[n, 2] in -5..100 secret
}
reveal one = %3 : u4 to bob
reveal pairs = %4 : i8 to alice
";

#[test]
fn lookups_are_read_and_held_to_their_tables() {
    let program = parse(BOXES, "boxes").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(print(&program), BOXES);
    let refused = |from: &str, to: &str| {
        assert!(BOXES.contains(from), "{from}");
        parse(&BOXES.replace(from, to), "boxes").expect_err("a refusal")
    };
    // An index beyond the table would be read as some other entry.
    let beyond = refused("in 0..3", "in 0..4");
    assert_eq!(beyond.code, Code::IndexRange);
    assert_eq!(beyond.span.map(|span| span.line), Some(12));
    assert_eq!(
        refused("lookup %1, %0", "lookup %0, %0").code,
        Code::ShapeMismatch
    );
    assert_eq!(
        refused("lookup %1, %0", "lookup %1, %9").code,
        Code::InvalidProgram
    );
    assert_eq!(refused("lookup %1, %0", "lookup %1").code, Code::Syntax);
    for (from, to) in [
        (
            "%4 = lookup %1, %0 : i8[n, 2]",
            "%4 = lookup %1, %0 : i8[n, 4, 2]",
        ),
        ("u4[n] in 0..9", "u4[n] in 0..8"),
        ("0..9 known alice", "0..9 public"),
        ("-5..100 secret", "-5..100 known bob"),
    ] {
        assert_eq!(refused(from, to).code, Code::InvalidProgram, "{to}");
    }
}

const FIELD: &str = "\
sealane program 1
name shares
party alice
party bob
rows n <= 9
input x : alice u8[n] in 0..255
input y : bob u4[n] in 0..15
main {
  %0 = param 0 : u8[n] in 0..255 known alice
  %1 = param 1 : u4[n] in 0..15 known bob
  %2 = const [3] : u2 in 3..3 public
  %3 = call gf_mul_0x11b %0, %2 : u8[n] in 0..255 known alice
  %4 = call gf_mul_0x11b %3, %1 : u8[n] in 0..255 secret
  %5 = call gf_mul_0x13 %1, %1 : u4[n] in 0..15 known bob
}
reveal product = %4 : u8 to bob
reveal square = %5 : u4 to alice
";

#[test]
fn products_in_fields_are_read_and_held_to_their_elements() {
    let program = parse(FIELD, "shares").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(print(&program), FIELD);
    let refused = |from: &str, to: &str| {
        assert!(FIELD.contains(from), "{from}");
        parse(&FIELD.replace(from, to), "shares").expect_err("a refusal")
    };
    // Eight bits are no element of GF(16).
    let wide = refused("gf_mul_0x13 %1, %1", "gf_mul_0x13 %1, %0");
    assert_eq!(wide.code, Code::TypeMismatch);
    assert_eq!(wide.span.map(|span| span.line), Some(14));
    // Reducible, of no degree that is allowed, and other names of the same field.
    for name in ["0x11a", "0x211", "0x1", "0x011b", "0x11B", "283", "0x"] {
        let name = format!("gf_mul_{name} %3");
        assert_eq!(refused("gf_mul_0x11b %3", &name).code, Code::Name, "{name}");
    }
    for (from, to) in [
        ("gf_mul_0x11b %3, %1 :", "gf_mul_0x11b %3 :"),
        (
            "%4 = call gf_mul_0x11b %3, %1 : u8",
            "%4 = call gf_mul_0x11b %3, %1 : u9",
        ),
        (
            "%4 = call gf_mul_0x11b %3, %1 : u8[n]",
            "%4 = call gf_mul_0x11b %3, %1 : u8",
        ),
        ("u4[n] in 0..15 known bob\n}", "u4[n] in 0..14 known bob\n}"),
        ("u8[n] in 0..255 secret", "u8[n] in 0..255 known bob"),
    ] {
        assert_eq!(refused(from, to).code, Code::InvalidProgram, "{to}");
    }
}

/// A small program that uses most of the language, and its warnings.
fn risk() -> Result<(Program, Vec<Diagnostic>), Diagnostic> {
    let (mut b, x, w) = signature()?;
    let span = at(5, 13, 34);
    let score = b.dot(x, w, Some(Type::signed(24)), span.as_ref())?;
    let row = b.begin_map(&[x], None)?;
    let total = b.reduce(Reduction::Sum, row[0], None, None, None)?;
    let first = b.index(w, &[Index::At(0)], None)?;
    let high = b.binary(Binary::Gt, total.into(), first.into(), None)?;
    let high = b.end_map(&[high.into()], None)?[0];
    let start = b.scalar(Type::signed(24), 0, None)?;
    let (carry, slice) = b.begin_scan(&[start.into()], &[score], None)?;
    let best = b.binary(Binary::Max, carry[0].into(), slice[0].into(), None)?;
    let (best, _) = b.end_scan(&[best.into()], &[], None)?;
    b.reveal("result_0", high.into(), &[0], Type::Bool, None)?;
    b.reveal("result_1", best[0].into(), &[1, 0], Type::signed(32), None)?;
    b.finish()
}
