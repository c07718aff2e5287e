//! Circuits in the Bristol formats: the reader, the writer and the tape compared with an
//! interpreter that follows the lines of the file one by one.

use sealane_circuit::bristol::{Format, read, write};
use sealane_circuit::{Circuit, Machine, compile};
use sealane_fuzz_harness::{Accepted, Chance, Verdict, place};
use std::collections::HashMap;

/// Words of the formats.
pub const WORDS: &[&str] = &[
    "XOR", "AND", "INV", "EQ", "EQW", "MAND", " 1 ", " 2 1 ", "\n", "\n\n", "1048576", "1048577",
];

/// Most input bits of a circuit that is evaluated: larger ones are only read.
const MOST_INPUTS: usize = 4096;

/// Reads a circuit; an accepted one computes, in every form, the result of its lines.
pub fn bristol(bytes: &[u8]) -> Verdict {
    let text = str::from_utf8(bytes).ok()?;
    let file = match read(text) {
        Ok(file) => file,
        Err(error) => {
            place(text, error.line, error.column);
            return None;
        }
    };
    let widths = file.circuit.input_widths().to_vec();
    if widths.iter().sum::<usize>() > MOST_INPUTS {
        return Some(Accepted);
    }
    let mut chance = Chance::of(bytes);
    let mut word = |&width: &usize| (0..width).map(|_| chance.number()).collect();
    let inputs: Vec<Vec<u64>> = widths.iter().map(&mut word).collect();
    let (wanted, ands) = interpret(text, file.format, &widths, &inputs);
    assert_eq!(ands, file.info.ands, "ANDs of the file");
    assert_eq!(by_tape(&file.circuit, &inputs), wanted, "the tape");
    assert_eq!(by_graph(&file.circuit, &inputs, 0), lane(&wanted, 0));
    assert_eq!(by_graph(&file.circuit, &inputs, 63), lane(&wanted, 63));
    for format in [Format::Bristol, Format::BristolFashion] {
        // The old format cannot represent every circuit; the writer reports that.
        if let Ok(text) = write(&file.circuit, format) {
            let again = read(&text).expect("what is written can be read");
            assert_eq!(by_tape(&again.circuit, &inputs), wanted, "{format:?}");
        }
    }
    Some(Accepted)
}

/// Words, bit by bit, with 64 lanes of each.
type Words = Vec<Vec<u64>>;

/// Output words of an accepted file by its lines, 64 lanes to a word, and the number of ANDs.
fn interpret(text: &str, format: Format, inputs: &[usize], values: &Words) -> (Words, u64) {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let mut lines = lines.map(|line| line.split_whitespace().collect::<Vec<_>>());
    let number = |token: &&str| token.parse::<usize>().expect("an accepted number");
    let header = lines.next().expect("an accepted header");
    let wires = number(&header[1]);
    let first = lines.next().expect("accepted widths");
    let outputs: Vec<usize> = match format {
        Format::Bristol => vec![number(&first[2])],
        Format::BristolFashion => {
            let widths = lines.next().expect("accepted widths");
            widths[1..].iter().map(number).collect()
        }
    };
    let mut wire: HashMap<usize, u64> = values.iter().flatten().copied().enumerate().collect();
    assert_eq!(wire.len(), inputs.iter().sum::<usize>());
    let mut ands = 0;
    for line in lines {
        let [reads, writes] = [number(&line[0]), number(&line[1])];
        let name = line[2 + reads + writes];
        let read: Vec<usize> = line[2..2 + reads].iter().map(number).collect();
        for (i, out) in line[2 + reads..][..writes].iter().map(number).enumerate() {
            let value = match name {
                "XOR" => wire[&read[0]] ^ wire[&read[1]],
                "INV" => !wire[&read[0]],
                "EQW" => wire[&read[0]],
                "EQ" => (read[0] as u64).wrapping_neg(),
                _ => wire[&read[i]] & wire[&read[i + writes]],
            };
            ands += u64::from(matches!(name, "AND" | "MAND"));
            wire.insert(out, value);
        }
    }
    let mut next = wires - outputs.iter().sum::<usize>()..wires;
    let word = |width: &usize| next.by_ref().take(*width).map(|at| wire[&at]).collect();
    (outputs.iter().map(word).collect(), ands)
}

fn by_tape(circuit: &Circuit, inputs: &Words) -> Words {
    let tape = compile(circuit, &Machine::CPU);
    tape.check().expect("a compiled tape keeps the rules");
    let lanes = inputs.iter().flatten().map(|&word| [word; 8]);
    let outputs = tape.eval(&lanes.collect::<Vec<_>>());
    let mut outputs = outputs.into_iter().map(|lanes| lanes[7]);
    let widths = circuit.output_widths();
    let word = |width: &usize| outputs.by_ref().take(*width).collect();
    widths.iter().map(word).collect()
}

fn by_graph(circuit: &Circuit, inputs: &[Vec<u64>], at: u32) -> Vec<Vec<bool>> {
    circuit.eval(&lane(inputs, at))
}

fn lane(words: &[Vec<u64>], at: u32) -> Vec<Vec<bool>> {
    let bits = |word: &Vec<u64>| word.iter().map(|bits| bits >> at & 1 == 1).collect();
    words.iter().map(bits).collect()
}
