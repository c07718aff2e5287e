//! Functions in the clear and the errors of their results: for tests, benchmarks and the page of
//! functions.

mod known;
mod scan;

use crate::format::{Arithmetic, Format, Subnormals};
use crate::function::Function;
use sealane_circuit::{Builder, Circuit, Goal, Lanes, Machine, Tape, Word, compile};

pub use crate::exact::{Exception, exceptions};
pub use known::{Answer, HARD};
pub use scan::{BLOCK, ROW, Scan};

/// The lanes of a tape.
const LANES: usize = 512;

/// A circuit that runs on many rows of operands at a time.
pub struct Runner {
    tape: Tape,
    operands: Vec<usize>,
    results: Vec<usize>,
    /// AND gates.
    pub ands: u64,
    /// AND gates on the longest chain.
    pub depth: u64,
}

impl Runner {
    /// The circuit of a function on the list.
    ///
    /// # Panics
    /// As [`circuit`].
    pub fn new(function: &Function, arithmetic: Arithmetic, goal: Goal) -> Runner {
        Runner::of(&circuit(function, arithmetic, goal))
    }

    /// The circuit that `build` makes of operands of these widths.
    pub fn build(
        goal: Goal,
        operands: &[usize],
        build: impl FnOnce(&mut Builder, &[Word]) -> Vec<Word>,
    ) -> Runner {
        let mut b = Builder::for_goal(goal);
        let words: Vec<Word> = operands.iter().map(|&width| b.input(width)).collect();
        let results = build(&mut b, &words);
        Runner::of(&b.finish(results))
    }

    /// A finished circuit.
    pub fn of(circuit: &Circuit) -> Runner {
        let info = circuit.info();
        Runner {
            tape: compile(circuit, &Machine::CPU),
            operands: circuit.input_widths().to_vec(),
            results: circuit.output_widths(),
            ands: info.ands,
            depth: info.depth,
        }
    }

    /// The results of each row of operands.
    pub fn run(&self, rows: &[Vec<u128>]) -> Vec<Vec<u128>> {
        let rows = rows.chunks(LANES);
        rows.flat_map(|rows| {
            let mut lanes: Vec<Lanes> = Vec::new();
            for (operand, &width) in self.operands.iter().enumerate() {
                let column = rows.iter().map(|row| row[operand]).collect::<Vec<_>>();
                pack(&column, width, &mut lanes);
            }
            self.rows(&lanes, rows.len())
        })
        .collect()
    }

    /// The results of the 512 operands from `first` on, a multiple of 512, of a circuit whose
    /// operands together have at most 64 bits, and its one result as many. The lowest bits of such
    /// a number are those of the first operand.
    pub fn row(&self, first: u64) -> Vec<u64> {
        let lane = |bit: usize| -> Lanes {
            std::array::from_fn(|word| bit_of_64(first + 64 * word as u64, bit))
        };
        let lanes: Vec<Lanes> = (0..self.operands.iter().sum()).map(lane).collect();
        let outputs = self.tape.eval(&lanes);
        let column = unpack(&outputs, LANES).into_iter();
        column.map(|result| result as u64).collect()
    }

    /// The circuit on many numbers in a row, for one thread.
    pub fn scan(&self) -> Scan {
        Scan::of(&self.tape)
    }

    fn rows(&self, lanes: &[Lanes], count: usize) -> Vec<Vec<u128>> {
        let outputs = self.tape.eval(lanes);
        let mut rows = vec![Vec::with_capacity(self.results.len()); count];
        let mut rest = &outputs[..];
        for &width in &self.results {
            let (word, behind) = rest.split_at(width);
            rest = behind;
            for (row, result) in rows.iter_mut().zip(unpack(word, count)) {
                row.push(result);
            }
        }
        rows
    }
}

/// The circuit of a function on the list.
///
/// # Panics
/// If its results have not the widths that the list states.
pub fn circuit(function: &Function, arithmetic: Arithmetic, goal: Goal) -> Circuit {
    let mut b = Builder::for_goal(goal);
    let operands = function.operands.iter();
    let operands = operands.map(|kind| b.input(kind.bits(arithmetic.format)));
    let operands: Vec<Word> = operands.collect();
    let results = (function.build)(arithmetic, &mut b, &operands);
    let widths = results.iter().map(Vec::len);
    let stated = function.results.iter();
    let as_listed = widths.eq(stated.map(|kind| kind.bits(arithmetic.format)));
    assert!(as_listed, "results of `{}` as listed", function.name);
    b.finish(results)
}

/// A bit of each of 64 numbers from `first` on, a multiple of 64.
fn bit_of_64(first: u64, bit: usize) -> u64 {
    // Bit i of the numbers 0 to 63.
    const LOW: [u64; 6] = [
        0xaaaa_aaaa_aaaa_aaaa,
        0xcccc_cccc_cccc_cccc,
        0xf0f0_f0f0_f0f0_f0f0,
        0xff00_ff00_ff00_ff00,
        0xffff_0000_ffff_0000,
        0xffff_ffff_0000_0000,
    ];
    match LOW.get(bit) {
        Some(&pattern) => pattern,
        None => (first >> bit & 1).wrapping_neg(),
    }
}

/// Appends the lanes of each bit of at most 512 numbers.
fn pack(column: &[u128], width: usize, lanes: &mut Vec<Lanes>) {
    let first = lanes.len();
    lanes.resize(first + width, [0; 8]);
    for (word, numbers) in column.chunks(64).enumerate() {
        for low in (0..width).step_by(64) {
            let mut square = [0; 64];
            for (row, number) in square.iter_mut().zip(numbers) {
                *row = (number >> low) as u64;
            }
            transpose(&mut square);
            for (bit, row) in (low..width).zip(square) {
                lanes[first + bit][word] = row;
            }
        }
    }
}

/// The first `count` numbers, of at most 128 bits, of lanes for each of their bits.
fn unpack(lanes: &[Lanes], count: usize) -> Vec<u128> {
    let mut numbers = vec![0; count];
    for (word, numbers) in numbers.chunks_mut(64).enumerate() {
        for (low, lanes) in lanes.chunks(64).enumerate() {
            let mut square = [0; 64];
            for (row, lane) in square.iter_mut().zip(lanes) {
                *row = lane[word];
            }
            transpose(&mut square);
            for (number, row) in numbers.iter_mut().zip(square) {
                *number |= u128::from(row) << (64 * low);
            }
        }
    }
    numbers
}

/// Exchanges bit i of word j and bit j of word i (Warren, "Hacker's Delight", section 7-3).
fn transpose(square: &mut [u64; 64]) {
    let mut width = 32;
    let mut mask = u64::MAX >> 32;
    while width > 0 {
        for low in (0..64).filter(|i| i & width == 0) {
            let high = low + width;
            let change = (square[low] >> width ^ square[high]) & mask;
            square[low] ^= change << width;
            square[high] ^= change;
        }
        width /= 2;
        mask ^= mask << width;
    }
}

/// The value of a number of a format of at most 64 bits.
pub fn value(format: Format, bits: u64) -> f64 {
    if format == Format::F64 {
        return f64::from_bits(bits);
    }
    let (fraction, bias) = (format.fraction as i32, format.bias());
    let field = (bits >> fraction) as i32 & ((1 << format.exponent) - 1);
    let low = bits & ((1 << fraction) - 1);
    let size = match field {
        0 => low as f64 * 2f64.powi(1 - bias - fraction),
        _ if field == (1 << format.exponent) - 1 && low != 0 => f64::NAN,
        _ if field == (1 << format.exponent) - 1 => f64::INFINITY,
        _ => (low + (1 << fraction)) as f64 * 2f64.powi(field - bias - fraction),
    };
    match bits >> (format.bits() - 1) & 1 {
        0 => size,
        _ => -size,
    }
}

/// The value of an operand as a circuit reads it.
pub fn operand(arithmetic: Arithmetic, bits: u64) -> f64 {
    let x = value(arithmetic.format, bits);
    let least = 2f64.powi(1 - arithmetic.format.bias());
    match arithmetic.subnormals {
        Subnormals::Flushed if x.abs() < least => 0f64.copysign(x),
        _ => x,
    }
}

/// The error of a result of a format of at most 32 bits, in units in the last place of the exact
/// value; infinite if it is of another kind, such as a NaN in place of a number. `exact` is known
/// to an f64, which is fine enough.
pub fn error(arithmetic: Arithmetic, found: u64, exact: f64) -> f64 {
    let format = arithmetic.format;
    let number = value(format, found);
    if exact.is_nan() || number.is_nan() {
        let canonical = exact.is_nan() && u128::from(found) == format.nan();
        return if canonical { 0.0 } else { f64::INFINITY };
    }
    if exact == 0.0 || number == 0.0 {
        let least = 2f64.powi(1 - format.bias());
        let flushed = arithmetic.subnormals == Subnormals::Flushed && exact.abs() < least;
        if exact.is_sign_negative() != number.is_sign_negative() {
            return f64::INFINITY;
        }
        if flushed && number == 0.0 {
            return 0.0;
        }
    }
    // An infinity stands for the first number beyond the largest.
    let beyond = 2f64.powi(format.max_exponent() + 1);
    if exact.is_infinite() || exact.abs() >= beyond {
        let same = number.is_infinite() && number.signum() == exact.signum();
        return if same { 0.0 } else { f64::INFINITY };
    }
    let number = number.clamp(-beyond, beyond);
    (number - exact).abs() / place(format, exact)
}

/// The weight of the last place of a number of a size.
fn place(format: Format, exact: f64) -> f64 {
    let exponent = (exact.abs().to_bits() >> 52) as i32 - 1023;
    let exponent = exponent.clamp(1 - format.bias(), format.max_exponent());
    2f64.powi(exponent - format.fraction as i32)
}

/// Numbers of every exponent and both signs: borders, and `count` others of each exponent, of which
/// `seed` says which.
pub fn sample(format: Format, count: usize, seed: u64) -> Vec<u64> {
    let fraction = format.fraction;
    let mut state = seed;
    let mut next = move || {
        // A linear congruential generator (Knuth, MMIX); its upper bits are used.
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        state >> (64 - fraction.min(33))
    };
    let (ones, half) = ((1u64 << fraction) - 1, 1u64 << (fraction - 1));
    let borders = [0, 1, 2, 3, half - 1, half, half + 1, ones - 1, ones];
    let mut numbers = Vec::new();
    for field in 0..1u64 << (format.exponent + 1) {
        let others = (0..count).map(|_| next() & ones);
        let all = borders.into_iter().chain(others);
        numbers.extend(all.map(|low| field << fraction | low));
    }
    numbers
}
