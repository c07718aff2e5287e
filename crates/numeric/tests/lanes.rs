//! Circuits in the clear, 512 lanes at a time.

use sealane_circuit::{Builder, Goal, Machine, Tape, Word, compile};
use sealane_numeric::{Arithmetic, Format, Function, Kind, Subnormals};

/// A circuit on words, ready to run.
pub struct Circuit {
    tape: Tape,
    inputs: Vec<usize>,
    outputs: Vec<usize>,
    /// AND gates.
    pub ands: u64,
    /// AND gates on the longest chain.
    pub depth: u64,
}

impl Circuit {
    /// The circuit that `build` makes of inputs of these widths.
    pub fn new(
        goal: Goal,
        inputs: &[usize],
        build: impl FnOnce(&mut Builder, &[Word]) -> Vec<Word>,
    ) -> Circuit {
        let mut b = Builder::for_goal(goal);
        let words: Vec<Word> = inputs.iter().map(|&width| b.input(width)).collect();
        let outputs = build(&mut b, &words);
        let circuit = b.finish(outputs);
        Circuit {
            tape: compile(&circuit, &Machine::CPU),
            inputs: inputs.to_vec(),
            outputs: circuit.output_widths(),
            ands: circuit.info().ands,
            depth: circuit.info().depth,
        }
    }

    /// The circuit of a function on the list.
    pub fn of(goal: Goal, arithmetic: Arithmetic, function: &Function) -> Circuit {
        let widths = |kinds: &[Kind]| -> Vec<usize> {
            kinds
                .iter()
                .map(|kind| kind.bits(arithmetic.format))
                .collect()
        };
        let circuit = Circuit::new(goal, &widths(function.operands), |b, words| {
            (function.build)(arithmetic, b, words)
        });
        assert_eq!(
            circuit.outputs,
            widths(function.results),
            "{}",
            function.name
        );
        circuit
    }

    /// The outputs for each row of inputs.
    pub fn run(&self, rows: &[Vec<u128>]) -> Vec<Vec<u128>> {
        rows.chunks(512)
            .flat_map(|rows| self.run_lanes(rows))
            .collect()
    }

    fn run_lanes(&self, rows: &[Vec<u128>]) -> Vec<Vec<u128>> {
        let mut lanes = Vec::new();
        for (word, &width) in self.inputs.iter().enumerate() {
            for bit in 0..width {
                let mut lane = [0u64; 8];
                for (row, values) in rows.iter().enumerate() {
                    lane[row / 64] |= ((values[word] >> bit & 1) as u64) << (row % 64);
                }
                lanes.push(lane);
            }
        }
        let results = self.tape.eval(&lanes);
        let value = |row: usize, first: usize, width: usize| {
            (0..width).fold(0, |value, bit| {
                value | u128::from(results[first + bit][row / 64] >> (row % 64) & 1) << bit
            })
        };
        (0..rows.len())
            .map(|row| {
                let mut first = 0;
                self.outputs
                    .iter()
                    .map(|&width| {
                        first += width;
                        value(row, first - width, width)
                    })
                    .collect()
            })
            .collect()
    }
}

/// Both goals and both ways of subnormal numbers.
pub fn variants(format: Format) -> impl Iterator<Item = (Goal, Arithmetic)> {
    [Goal::Size, Goal::Depth].into_iter().flat_map(move |goal| {
        let kept = Arithmetic::new(format);
        [kept, kept.flushed()].map(|arithmetic| (goal, arithmetic))
    })
}

/// Runs a function of the list on all rows and compares with `expected`, in all variants. Operands
/// and expected results of [`Subnormals::Flushed`] are flushed here.
pub fn check(
    name: &str,
    format: Format,
    rows: &[Vec<u128>],
    expected: impl Fn(&[u128]) -> Vec<u128>,
) {
    let kept = Arithmetic::new(format);
    check_variant(name, kept, rows, &expected);
    check_variant(name, kept.flushed(), rows, &expected);
}

/// [`check`] for one way of subnormal numbers.
pub fn check_variant(
    name: &str,
    arithmetic: Arithmetic,
    rows: &[Vec<u128>],
    expected: impl Fn(&[u128]) -> Vec<u128>,
) {
    let function = sealane_numeric::function(name).expect("a function on the list");
    let flushed = |kinds: &[Kind], values: &[u128]| -> Vec<u128> {
        let flush = |(&value, kind): (&u128, &Kind)| match (kind, arithmetic.subnormals) {
            (Kind::Float, Subnormals::Flushed) => crate::values::flush(arithmetic.format, value),
            _ => value,
        };
        values.iter().zip(kinds).map(flush).collect()
    };
    for goal in [Goal::Size, Goal::Depth] {
        let circuit = Circuit::of(goal, arithmetic, function);
        for (row, found) in rows.iter().zip(circuit.run(rows)) {
            let want = expected(&flushed(function.operands, row));
            let want = flushed(function.results, &want);
            assert_eq!(
                found, want,
                "{name} of {row:x?} in {arithmetic:?}, {goal:?}: {found:x?}, not {want:x?}",
            );
        }
    }
}
