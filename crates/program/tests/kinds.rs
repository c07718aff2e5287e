//! Kinds of columns in the text form: read, written, hashed, and refused where they do not fit.

use sealane_program::kind::{Encoding, Form, Kind};
use sealane_program::text::{parse, print};

/// A program with these declarations of the input and the result.
fn program(input: &str, more: &str, reveal: &str) -> String {
    let ty = input.split(" as ").next().unwrap_or_default();
    format!(
        "sealane program 1\nname p\nparty a\nparty b\nrows n <= 9\ninput x : a {input}\n{more}main \
         {{\n  %0 = param 0 : {ty} known a\n{}}}\nreveal r = %0 : {reveal}\n",
        if more.is_empty() {
            ""
        } else {
            "  %1 = param 1 : bool[n] in 0..1 known a\n"
        }
    )
}

fn accepted(text: &str) -> Kind {
    let program = parse(text, "p").unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(print(&program), text);
    program.inputs[0].kind.clone()
}

fn refused(text: &str) -> String {
    match parse(text, "p") {
        Ok(_) => panic!("it was accepted: {text}"),
        Err(error) => error.to_string(),
    }
}

const DATES: &str = "i23[n] in -719162..2932896";
const MASK: &str = "input m : a bool[n] in 0..1 as missing x\n";

#[test]
fn every_kind_has_one_text() {
    let kind = |form| Kind {
        form,
        nullable: false,
    };
    let text = program(&format!("{DATES} as date"), "", "i23 to b as date");
    assert_eq!(accepted(&text), kind(Form::Date));
    let seconds = "i39[n] in -5..253402300799";
    let text = program(&format!("{seconds} as timestamp"), "", "i39 to b");
    assert_eq!(accepted(&text), kind(Form::Timestamp));
    for encoding in [Encoding::Ascii, Encoding::Latin1, Encoding::Utf8] {
        let name = encoding.name();
        let input = format!("u8[n, 12] in 0..127 as text {name}");
        let text = program(&input, "", &format!("u8 to a, b as text {name}"));
        assert_eq!(accepted(&text), kind(Form::Text(encoding)));
    }
    let names = ["a \"b\"", "c, d"].map(String::from).to_vec();
    let input = "u1[n] in 0..1 as category \"a \\\"b\\\"\", \"c, d\" columns \"colour\"";
    let text = program(input, "", "u1 to b as category \"x\", \"y\"");
    let text = text.replace(" columns \"colour\" known", " known");
    assert_eq!(accepted(&text), kind(Form::Category(names)));
    let text = program(&format!("{DATES} as nullable date"), MASK, "i23 to b");
    assert!(accepted(&text).nullable);
    let text = program("u8[n] in 0..9 as nullable number", MASK, "u8 to b");
    assert_eq!(accepted(&text).form, Form::Number);
}

#[test]
fn elements_that_are_not_of_the_kind_are_refused() {
    for (input, more, reveal, reported) in [
        ("i23[n] in -719163..0 as date", "", "i23 to b", "9999-12-31"),
        ("f32[n] as date", "", "f32 to b", "no dates"),
        (
            "bool[n] in 0..1 as timestamp",
            "",
            "bool to b",
            "no timestamps",
        ),
        (
            "u8[n, 3] in 0..128 as text ascii",
            "",
            "u8 to b",
            "no texts",
        ),
        ("u16[n, 3] in 0..9 as text utf8", "", "u16 to b", "no texts"),
        ("u8[n] in 0..9 as text utf8", "", "u8 to b", "no texts"),
        (
            "u8[n] in 0..2 as category \"a\", \"b\"",
            "",
            "u8 to b",
            "no categories",
        ),
        (
            "u8[n] in 0..1 as category \"a\", \"a\"",
            "",
            "u8 to b",
            "twice",
        ),
        (
            "u8[n] in 0..1 as category \"a\", \"\"",
            "",
            "u8 to b",
            "empty",
        ),
        (
            "u8[n] in 0..1 as category \"a\", \"\u{202e}b\"",
            "",
            "u8 to b",
            "not text",
        ),
        ("u8[n] in 0..1 as number", "", "u8 to b", "no kind `number`"),
        (
            "u8[n] in 0..1 as text ebcdic",
            "",
            "u8 to b",
            "no kind `text`",
        ),
        ("u8[n] in 0..1 as period", "", "u8 to b", "no kind `period`"),
        (
            "u8[n] in 0..1 as nullable missing x",
            "",
            "u8 to b",
            "no kind `missing`",
        ),
        // A mask of an input that cannot be missing; of another shape; a result without its own.
        (
            "u8[n] in 0..1",
            MASK,
            "u8 to b",
            "no earlier nullable input",
        ),
        (
            "u8[n, 2] in 0..1 as nullable number",
            MASK,
            "u8 to b",
            "no earlier nullable input",
        ),
        ("u8[n] in 0..255", "", "u8 to b as date", ""),
        ("i32[n] in 0..2932897", "", "i32 to b as date", "no dates"),
        (
            "bool[n] in 0..1",
            "",
            "bool to b as missing q",
            "nullable result",
        ),
    ] {
        let text = program(input, more, reveal);
        match reported {
            // Every `u8` is the number of a day.
            "" => drop(accepted(&text)),
            reported => assert!(refused(&text).contains(reported), "{}", refused(&text)),
        }
    }
}

#[test]
fn encodings_give_back_what_they_take() {
    let long = "Zoë €𝄞";
    assert_eq!(
        Encoding::Utf8.decode(&Encoding::Utf8.encode(long).unwrap()),
        long
    );
    assert_eq!(Encoding::Latin1.encode("Zoë").unwrap(), [b'Z', b'o', 0xeb]);
    assert_eq!(Encoding::Latin1.decode(&[b'Z', 0xeb, 0, 0]), "Zë");
    assert_eq!(Encoding::Latin1.encode("€"), None);
    assert_eq!(Encoding::Ascii.encode("ë"), None);
    assert_eq!(Encoding::Ascii.decode(b"ab\0\0"), "ab");
    assert_eq!(Encoding::Utf8.encode("a\0"), None);
    assert_eq!(Encoding::Utf8.decode(&[0xff]), "\u{fffd}");
}
