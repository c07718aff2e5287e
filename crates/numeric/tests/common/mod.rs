//! Helpers of all tests: functions as circuits that run on many vectors, and random numbers.

pub mod exact;

use sealane_circuit::{Circuit, Goal};
use sealane_numeric::measure::{BLOCK, Runner};
use sealane_numeric::{Arithmetic, Format, Subnormals, function, measure};
use std::num::NonZero;
use std::sync::atomic::{AtomicU64, Ordering};

/// Both kinds of arithmetic in a format.
pub fn both(format: Format) -> [Arithmetic; 2] {
    [Arithmetic::new(format), Arithmetic::new(format).flushed()]
}

/// Both goals of builders.
pub const GOALS: [Goal; 2] = [Goal::Size, Goal::Depth];

/// The circuit of a function.
pub fn circuit(name: &str, of: Arithmetic, goal: Goal) -> Circuit {
    let function = function(name).unwrap_or_else(|| panic!("no function {name}"));
    measure::circuit(function, of, goal)
}

/// A function that runs on many rows of operands at a time.
pub fn runner(name: &str, of: Arithmetic, goal: Goal) -> Runner {
    Runner::of(&circuit(name, of, goal))
}

/// Asserts that a function with one result has the expected one for each row of operands.
pub fn check_one(
    name: &str,
    of: Arithmetic,
    goal: Goal,
    rows: &[Vec<u128>],
    expected: impl Fn(&[u128]) -> u128,
) {
    for (row, found) in rows.iter().zip(runner(name, of, goal).run(rows)) {
        let (want, found) = (expected(row), found[0]);
        let id = format!("{name} in {of:?} for {goal:?} of {row:x?}");
        assert!(found == want, "{id} is {want:x}, and not {found:x}");
    }
}

/// Returns whether a test is asked for by a name: by the variable `SEALANE_FUNCTIONS`, which has
/// names with commas between them. Without it, all tests are.
pub fn asked(name: &str) -> bool {
    let names = std::env::var("SEALANE_FUNCTIONS").unwrap_or_default();
    names.is_empty() || names.split(',').any(|wanted| wanted == name)
}

/// A form of a function, by its name in the variable `SEALANE_FORMS`: arithmetic, and what it is
/// built for.
#[derive(Clone, Copy)]
pub struct Form {
    pub name: &'static str,
    pub subnormals: Subnormals,
    pub goal: Goal,
}

/// All forms.
const FORMS: [(&str, Subnormals, Goal); 4] = [
    ("small", Subnormals::Kept, Goal::Size),
    ("flat", Subnormals::Kept, Goal::Depth),
    ("flushed", Subnormals::Flushed, Goal::Size),
    ("flushed_flat", Subnormals::Flushed, Goal::Depth),
];

impl Form {
    /// Its arithmetic in a format.
    pub fn of(&self, format: Format) -> Arithmetic {
        Arithmetic {
            format,
            subnormals: self.subnormals,
        }
    }
}

/// The forms that run: those that `SEALANE_FORMS` names, with commas between them, and otherwise
/// those named here.
pub fn forms_asked(otherwise: &str) -> Vec<Form> {
    let names = std::env::var("SEALANE_FORMS").unwrap_or_else(|_| otherwise.to_string());
    let forms = FORMS.map(|(name, subnormals, goal)| Form {
        name,
        subnormals,
        goal,
    });
    let asked = |form: &Form| names.split(',').any(|name| name == form.name);
    forms.into_iter().filter(asked).collect()
}

/// The names of forms, for messages.
pub fn names(forms: &[Form]) -> String {
    let names: Vec<&str> = forms.iter().map(|form| form.name).collect();
    names.join(", ")
}

/// Makes a worker on each of as many threads as the machine has, or the variable `SEALANE_THREADS`
/// says, and has them run the numbers below 2^32: `worker` is called with the first number of each
/// block of [`BLOCK`]. With `SEALANE_SHARE=64` only each 64th piece of them runs. Returns how many
/// numbers ran, as text.
pub fn each_block<W: FnMut(u64)>(name: &str, worker: impl Fn() -> W + Sync) -> String {
    const PIECE: u64 = 1 << 22;
    let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse().ok());
    let share = number("SEALANE_SHARE").unwrap_or(1);
    let next = AtomicU64::new(0);
    let pieces = || {
        let mut work = worker();
        loop {
            let first = next.fetch_add(PIECE * share, Ordering::Relaxed);
            if first >= 1 << 32 {
                return;
            }
            let blocks = (first..first + PIECE).step_by(BLOCK as usize);
            blocks.for_each(&mut work);
            if first.is_multiple_of(1 << 28) {
                eprintln!("{name}: {:.0} %", first as f64 / 2f64.powi(32) * 100.0);
            }
        }
    };
    let available = || std::thread::available_parallelism().map_or(1, NonZero::get) as u64;
    let threads = number("SEALANE_THREADS").unwrap_or_else(available);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(pieces);
        }
    });
    match share {
        1 => "all 2^32".to_string(),
        _ => format!("one of {share}"),
    }
}

/// A generator of test vectors: SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    pub fn wide(&mut self) -> u128 {
        u128::from(self.next()) << 64 | u128::from(self.next())
    }

    /// A fraction: of random bits, or mostly of ones or zeros, which brings ties and long carries.
    fn fraction(&mut self, width: usize) -> u128 {
        let ones = (1u128 << width) - 1;
        let at = self.below(width as u64 + 1);
        match self.below(6) {
            0 => 1 << at & ones,
            1 => ones ^ (1 << at & ones),
            2 => ones << at & ones,
            3 => ones >> at,
            _ => self.wide() & ones,
        }
    }

    /// A number of some stratum: any bits, special ones, subnormal ones and those next to them, and
    /// numbers whose exponents are near each other.
    pub fn number(&mut self, format: Format, stratum: u64) -> u128 {
        let Format { exponent, fraction } = format;
        let last = (1u64 << exponent) - 1;
        let field = match stratum % 6 {
            0 => self.next() & last,
            1 => {
                let special = [0, 0, 1, last - 1, last, format.bias() as u64];
                special[self.below(6) as usize]
            }
            2 => self.below(4),
            3 => last - self.below(4),
            4 => format.bias() as u64 - 1 + self.below(4),
            _ => {
                let spread = (fraction as u64 + 4).min(last / 2);
                format.bias() as u64 - spread / 2 + self.below(spread)
            }
        };
        let fraction_bits = match stratum % 6 {
            1 if self.below(2) == 0 => 0,
            0 => self.wide() & ((1 << fraction) - 1),
            _ => self.fraction(fraction),
        };
        let sign = u128::from(self.below(2)) << exponent;
        (sign | u128::from(field & last)) << fraction | fraction_bits
    }

    /// Vectors of operands from all pairs of strata in turn; some operands are near an earlier one.
    pub fn vectors(&mut self, format: Format, operands: usize, count: usize) -> Vec<Vec<u128>> {
        (0..count)
            .map(|_| {
                let stratum = self.below(6);
                let mut vector: Vec<u128> = Vec::new();
                for _ in 0..operands {
                    let other = match self.below(3) {
                        0 => self.below(6),
                        _ => stratum,
                    };
                    let near = vector.last().copied().filter(|_| self.below(8) == 0);
                    vector.push(match near {
                        Some(near) => {
                            let sign = u128::from(self.below(2)) << (format.bits() - 1);
                            near ^ u128::from(self.below(4)) ^ sign
                        }
                        None => self.number(format, other),
                    });
                }
                vector
            })
            .collect()
    }
}

/// The bits of a number of the machine, every NaN as the canonical one.
pub fn bits_f32(x: f32) -> u128 {
    let nan = Format::F32.nan();
    if x.is_nan() { nan } else { x.to_bits().into() }
}

/// The same for f64.
pub fn bits_f64(x: f64) -> u128 {
    let nan = Format::F64.nan();
    if x.is_nan() { nan } else { x.to_bits().into() }
}
