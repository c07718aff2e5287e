//! Pass `drawn`: random numbers that nobody knows become inputs that all parties draw.
//!
//! For each [`Op::Random`], every party of the program gives an input of uniform numbers, and the
//! value is the exclusive or of them all. It is uniform, and tells nothing to any set of parties
//! that leaves one out. So every protocol has such numbers, at the cost of its inputs and without a
//! message of their own. Helpers draw none: the parties whose data are at stake do.
//!
//! The inputs stand behind those of the program, so that these keep their numbers. The engine fills
//! them from the coins of each party (`crates/engine/src/split_plan.rs`).

use crate::localise::input_of;
use sealane_parties::PartyId;
use sealane_program::graph::{Binary, Graph, Input, Op, Program, Value, ValueId, Visibility};
use sealane_program::infer::Meta;

/// A program without random numbers.
pub struct Drawn {
    /// The program. Its inputs are those of the original, and behind them those that parties draw.
    pub program: Program,
    /// Number of inputs of the original.
    pub given: usize,
}

impl Drawn {
    /// The inputs that parties draw, with their owners.
    pub fn inputs(&self) -> impl Iterator<Item = (PartyId, &Input)> {
        let drawn = self.program.inputs[self.given..].iter();
        drawn.map(|input| (PartyId(input.owner), input))
    }
}

/// Makes inputs of the random numbers of a sound program; one without any stays as it is.
pub fn drawn(program: &Program) -> Drawn {
    let given = program.inputs.len();
    let old = &program.main.values;
    let mut drawn = program.clone();
    let random = |value: &&Value| matches!(value.op, Op::Random { .. });
    for value in old.iter().filter(random) {
        for owner in 0..program.parties.len() as u8 {
            let input = input_of(&drawn.inputs, "drawn", owner, value);
            drawn.inputs.push(input);
        }
    }
    if drawn.inputs.len() == given {
        let program = drawn;
        return Drawn { program, given };
    }
    let params = program.main.params as usize;
    let mut values = old[..params].to_vec();
    for (index, input) in drawn.inputs.iter().enumerate().skip(given) {
        let known = Visibility::Known(input.owner);
        let meta = Meta::new(input.ty, input.shape.clone(), input.range, known);
        let op = Op::Param(index as u32);
        values.push(Value::new(op, meta, input.span.clone()));
    }
    let mut renamed = (0..params as u32).map(ValueId).collect::<Vec<_>>();
    // The parameters of a random number follow one another, one for each party.
    let mut next = params as u32;
    for value in &old[params..] {
        let mut value = value.clone();
        if random(&&value) {
            let first = ValueId(next);
            let others = (next + 1..next + program.parties.len() as u32).map(ValueId);
            next += program.parties.len() as u32;
            let joined = others.fold(first, |joined, other| {
                values.push(
                    value
                        .clone()
                        .with_op(Op::Binary(Binary::Xor, joined, other)),
                );
                ValueId(values.len() as u32 - 1)
            });
            renamed.push(joined);
            continue;
        }
        value.op.renumber(|id| renamed[id.0 as usize]);
        renamed.push(ValueId(values.len() as u32));
        values.push(value);
    }
    for result in &mut drawn.results {
        result.value = renamed[result.value.0 as usize];
        // What it says of noise has been checked, and there are no random numbers any more.
        result.note.clear();
    }
    drawn.main = Graph {
        params: drawn.inputs.len() as u32,
        values,
        returns: Vec::new(),
    };
    let program = drawn;
    Drawn { program, given }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealane_program::text::{parse, print};

    const THREE: &str = "sealane program 1
name p
party a
party b
party c
input x : a u4 in 0..15
main {
  %0 = param 0 : u4 in 0..15 known a
  %1 = random 4 take 1 : u4[1] in 0..15 secret
  %2 = random 4 take 1 : u4[1] in 0..15 secret
  %3 = xor %1, %2 : u4[1] in 0..15 secret
  %4 = xor %0, %3 : u4[1] in 0..15 secret
}
reveal r = %4 : u4 to b note \"noise\"
";

    #[test]
    fn each_random_number_is_the_exclusive_or_of_an_input_of_every_party() {
        let program = parse(THREE, "p").unwrap();
        assert_eq!(print(&program), THREE);
        let drawn = drawn(&program);
        sealane_program::check(&drawn.program).unwrap();
        let owners = drawn.inputs().map(|(owner, _)| owner.0).collect::<Vec<_>>();
        assert_eq!(owners, [0, 1, 2, 0, 1, 2]);
        // Two draws are two: no input serves both.
        let text = print(&drawn.program);
        for line in [
            "%7 = xor %1, %2 :",
            "%8 = xor %7, %3 :",
            "%9 = xor %4, %5 :",
            "%10 = xor %9, %6 :",
            "%11 = xor %8, %10 :",
            "%12 = xor %0, %11 :",
            "reveal r = %12 :",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
    }

    #[test]
    fn a_program_without_random_numbers_stays() {
        let text = THREE.replace("random 4 take 1", "const [3]");
        let before = "const [3] : u4[1] in 0..15 secret";
        let text = text.replace(before, "const [3] : u4[1] in 3..3 public");
        let text = text.replace("note \"noise\"", "note \"ten people or more\"");
        let before = "%3 = xor %1, %2 : u4[1] in 0..15 secret";
        let text = text.replace(before, "%3 = xor %1, %2 : u4[1] in 0..0 public");
        let before = "%4 = xor %0, %3 : u4[1] in 0..15 secret";
        let text = text.replace(before, "%4 = xor %0, %3 : u4[1] in 0..15 known a");
        let program = parse(&text, "p").unwrap();
        assert!(drawn(&program).program == program);
    }

    #[test]
    fn the_party_of_a_program_of_one_would_know_what_is_drawn() {
        let one = THREE
            .replace("party b\nparty c\n", "")
            .replace("to b", "to a");
        let refused = parse(&one, "p").unwrap_err();
        assert!(refused.message.contains("would know"), "{refused}");
    }
}
