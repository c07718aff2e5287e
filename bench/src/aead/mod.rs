//! Suite `aead`: what a sealed byte costs, one message at a time and many at once, in core cycles.
//!
//! Every mode of room `aead`, in its usual version, through the room's public calls: in place, keys set
//! up before, no associated data. The study's figures stand beside ([`study`]).
//!
//! Cases are called `mode/what/...`; `seal` may be `open`, the last part is the length of the text:
//!
//! | case | what it is |
//! |---|---|
//! | `gcm/single/seal/2048` | one message after the other; its buffer stays in the nearest cache |
//! | `gcm/many/seal/2048` | batches of messages of this length, one key for all |
//! | `gcm/own-keys/seal/2048` | the same, each message under another of 64 keys |
//! | `gcm/speed-up/seal/2048` | cycles of `single` over cycles of `many` |
//! | `gcm/mix/realistic/seal` | the study's 4 x 128 and 3 x 2048 bytes, in one batch |
//! | `gcm/mix/internet/seal` | a batch with lengths as on the internet ([`mixes`]) |
//! | `gcm/key` | to set up a key, and to erase it |
//! | `study/gcm/...` | the study's figure; its tier is called `haswell` |
//! | `peer/ring/gcm/...` | GCM of somebody else, in the same run ([`Peer`]) |
//!
//! To open a message again, its buffer has to be restored. What the copy costs alone is taken off.
//!
//! The portable tier takes a hundred times as long, so it has a few cases; `SEALANE_TIER=portable` has
//! it measured in full.

use std::hint::black_box;
use std::time::Duration;

use sealane_aead::Suite;
use sealane_block::{Cpu, Tier};

pub mod mixes;
pub mod study;
pub mod subject;
pub mod tables;

use crate::cycles::{Measured, measure};
use crate::garble::limit::blocks_in_vector;
use crate::{Options, Record};
use subject::{Batch, KEYS, Mode, Subject, key};

/// The suite's name.
pub const SUITE: &str = "aead";

/// Bytes of texts, as in the study.
pub const LENGTHS: [usize; 5] = [128, 256, 512, 1024, 2048];

/// Measurements of this suite are more than a thousand, so each gets this part of the budget for one.
const SHARE: u32 = 4;

/// Vectors of messages that room `aead` has in flight.
const VECTORS: usize = 8;

/// Messages of a batch for each that is in flight.
const TURNS: usize = 8;

/// The least time for the cost of a copy, which is taken off and must not be more than it is.
const COPIES: Duration = Duration::from_millis(2);

/// A figure with its name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// The median, of every byte of text.
    CyclesPerByte(f64),
    /// The least.
    LeastCyclesPerByte(f64),
    /// The median, of a key.
    CyclesPerKey(f64),
    /// The least.
    LeastCyclesPerKey(f64),
    /// Against one message at a time.
    SpeedUp(f64),
    /// Messages in flight at once.
    Lanes(usize),
    /// Time that batches of equal lengths would take for the same bytes, over the time that the mix
    /// takes.
    RateKept(f64),
}

impl Number {
    /// Metric, value and unit of a record.
    const fn parts(self) -> (&'static str, f64, &'static str) {
        match self {
            Number::CyclesPerByte(value) => ("cycles_per_byte", value, "cycles"),
            Number::LeastCyclesPerByte(value) => ("cycles_per_byte_min", value, "cycles"),
            Number::CyclesPerKey(value) => ("cycles_per_key", value, "cycles"),
            Number::LeastCyclesPerKey(value) => ("cycles_per_key_min", value, "cycles"),
            Number::SpeedUp(value) => ("speed_up", value, "times"),
            Number::Lanes(count) => ("lanes", count as f64, "messages"),
            Number::RateKept(value) => ("equal_length_rate_kept", value, "%"),
        }
    }
}

/// GCM of somebody else, to be measured beside ours.
pub struct Peer {
    /// Whose it is.
    pub name: &'static str,
    /// How it is called; it has no batches, so its messages go one after the other.
    pub subject: Box<dyn Subject>,
}

/// The names that [`Options::only`] may hold.
pub fn modes() -> Vec<&'static str> {
    Suite::names().collect()
}

/// Measures every mode, or those of [`Options::only`].
///
/// # Errors
/// A mode gives wrong results.
pub fn run(options: &Options, record: &mut dyn FnMut(Record)) -> Result<(), String> {
    run_beside(&[], options, record)
}

/// [`run`], with peers measured right after our own GCM.
///
/// # Errors
/// As [`run`].
pub fn run_beside(
    peers: &[Peer],
    options: &Options,
    record: &mut dyn FnMut(Record),
) -> Result<(), String> {
    let chosen = |name: &&str| options.only.is_empty() || options.only.iter().any(|o| o == name);
    let best = options.cpus.last().copied();
    for name in modes().into_iter().filter(chosen) {
        for cpu in &options.cpus {
            let mode = Mode::new(*cpu, name).map_err(|error| error.to_string())?;
            let lanes = VECTORS * blocks_in_vector(*cpu);
            let few = cpu.tier() == Tier::Portable && options.cpus.len() > 1;
            let mut bench = Bench {
                subject: &mode,
                case: name.to_string(),
                tier: cpu.tier().name(),
                lanes,
                budget: options.budget / SHARE,
                record,
            };
            bench.say("many", Number::Lanes(lanes));
            bench.run(*cpu, few)?;
        }
        if let ("gcm", Some(cpu)) = (name, best) {
            for peer in peers {
                Bench {
                    subject: &*peer.subject,
                    case: format!("peer/{}/{name}", peer.name),
                    tier: "any",
                    lanes: VECTORS * blocks_in_vector(cpu),
                    budget: options.budget / SHARE,
                    record,
                }
                .run(cpu, false)?;
            }
        }
        for (case, number) in study::figures(name) {
            let (metric, value, unit) = number.parts();
            record(Record {
                suite: SUITE,
                case: format!("study/{name}/{case}"),
                tier: study::TIER,
                metric,
                value,
                unit,
            });
        }
    }
    Ok(())
}

/// What one mode is measured with.
struct Bench<'a> {
    subject: &'a dyn Subject,
    /// In front of the names of its cases.
    case: String,
    tier: &'static str,
    lanes: usize,
    budget: Duration,
    record: &'a mut dyn FnMut(Record),
}

/// Sealing or opening.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Seal,
    Open,
}

impl Way {
    fn name(self) -> &'static str {
        match self {
            Way::Seal => "seal",
            Way::Open => "open",
        }
    }
}

impl Bench<'_> {
    fn run(&mut self, cpu: Cpu, few: bool) -> Result<(), String> {
        self.check()?;
        let lengths = match few {
            true => vec![LENGTHS[0], LENGTHS[4]],
            false => LENGTHS.to_vec(),
        };
        let (mut single, mut many) = (Vec::new(), Vec::new());
        for length in &lengths {
            single.push(self.one(*length, Way::Seal));
            many.push(self.equal("many", *length, 1, Way::Seal));
            let speed_up = Number::SpeedUp(single[single.len() - 1] / many[many.len() - 1]);
            self.say(&format!("speed-up/seal/{length}"), speed_up);
            if !few {
                self.one(*length, Way::Open);
                self.equal("many", *length, 1, Way::Open);
                self.equal("own-keys", *length, KEYS, Way::Seal);
            }
        }
        if !few {
            let (short, long) = (0, lengths.len() - 1);
            self.mixes(
                cpu,
                [single[short], single[long]],
                [many[short], many[long]],
            );
        }
        self.key();
        Ok(())
    }

    /// One message at a time; the median.
    fn one(&mut self, length: usize, way: Way) -> f64 {
        let mut batch = Batch::new(self.subject, &[length], 1);
        let subject = self.subject;
        let alone = |batch: &mut Batch, way| {
            for (slot, buffer) in batch.pieces() {
                match way {
                    Way::Seal => subject.seal(slot, buffer),
                    Way::Open => subject.open(slot, buffer),
                }
            }
        };
        let measured = self.measure(&mut batch, way, alone);
        self.say_cycles(&format!("single/{}/{length}", way.name()), measured)
    }

    /// A batch of messages of one length; the median.
    fn equal(&mut self, what: &str, length: usize, keys: usize, way: Way) -> f64 {
        let batch = Batch::new(self.subject, &vec![length; TURNS * self.lanes], keys);
        let measured = self.batch(batch, way);
        self.say_cycles(&format!("{what}/{}/{length}", way.name()), measured)
    }

    /// Both mixes, given the medians of 128 and of 2048 bytes.
    fn mixes(&mut self, cpu: Cpu, single: [f64; 2], many: [f64; 2]) {
        let lengths = mixes::realistic();
        let cycles = |rates: [f64; 2]| -> f64 {
            let each = |length: &usize| rates[usize::from(*length == LENGTHS[4])] * *length as f64;
            lengths.iter().map(each).sum()
        };
        let batch = Batch::new(self.subject, &lengths, 1);
        let bytes = batch.texts() as f64;
        let measured = self.batch(batch, Way::Seal);
        let case = "mix/realistic/seal";
        let together = self.say_cycles(case, measured) * bytes;
        self.say(case, Number::RateKept(100.0 * cycles(many) / together));
        self.say(case, Number::SpeedUp(cycles(single) / together));

        let mut lengths = mixes::internet(cpu);
        if self.subject.whole_blocks() {
            lengths = mixes::whole_blocks(lengths);
        }
        let measured = self.batch(Batch::new(self.subject, &lengths, 1), Way::Seal);
        self.say_cycles("mix/internet/seal", measured);
    }

    fn key(&mut self) {
        let (subject, bytes) = (self.subject, key(1, self.subject.key_bytes()));
        let measured = measure(1, self.budget, || subject.set_up(black_box(&bytes)));
        self.say("key", Number::CyclesPerKey(measured.median_cycles));
        self.say("key", Number::LeastCyclesPerKey(measured.min_cycles));
    }

    fn batch(&self, mut batch: Batch, way: Way) -> Measured {
        self.measure(&mut batch, way, |batch, way| match way {
            Way::Seal => self.subject.seal_many(batch),
            Way::Open => self.subject.open_many(batch),
        })
    }

    /// Cycles a byte of text. A sealed buffer is as good a text as any; an opened one is restored.
    fn measure(&self, batch: &mut Batch, way: Way, work: impl Fn(&mut Batch, Way)) -> Measured {
        let bytes = batch.texts() as u64;
        work(batch, Way::Seal);
        if way == Way::Seal {
            let measured = measure(bytes, self.budget, || work(batch, way));
            black_box(&batch.bytes);
            return measured;
        }
        let sealed = batch.bytes.clone();
        let copies = measure(bytes, self.budget.max(COPIES), || {
            black_box(&mut batch.bytes).copy_from_slice(&sealed);
        });
        let mut measured = measure(bytes, self.budget, || {
            batch.bytes.copy_from_slice(&sealed);
            work(batch, way);
        });
        black_box(&batch.bytes);
        measured.min_cycles -= copies.min_cycles;
        measured.median_cycles -= copies.min_cycles;
        measured
    }

    /// Both figures; the median comes back.
    fn say_cycles(&mut self, case: &str, measured: Measured) -> f64 {
        self.say(case, Number::CyclesPerByte(measured.median_cycles));
        self.say(case, Number::LeastCyclesPerByte(measured.min_cycles));
        measured.median_cycles
    }

    fn say(&mut self, case: &str, number: Number) {
        let (metric, value, unit) = number.parts();
        (self.record)(Record {
            suite: SUITE,
            case: format!("{}/{case}", self.case),
            tier: self.tier,
            metric,
            value,
            unit,
        });
    }

    /// A batch of mixed lengths and keys is what its messages are one by one, and opens again.
    fn check(&self) -> Result<(), String> {
        let mut lengths = vec![16, 2048, 1500, 0, 40, 128, 999, 1];
        if self.subject.whole_blocks() {
            lengths = mixes::whole_blocks(lengths);
        }
        let mut together = Batch::new(self.subject, &lengths.repeat(self.lanes), KEYS);
        let (mut apart, mut texts) = (together.clone(), together.clone());
        self.subject.seal_many(&mut together);
        for (slot, buffer) in apart.pieces() {
            self.subject.seal(slot, buffer);
        }
        let wrong = |what: &str| format!("{} on {}: {what}", self.case, self.tier);
        if together.bytes != apart.bytes {
            return Err(wrong("a batch is not what its messages are one by one"));
        }
        self.subject.open_many(&mut together);
        for (slot, buffer) in apart.pieces() {
            self.subject.open(slot, buffer);
        }
        for (opened, way) in [(&mut together, "a batch"), (&mut apart, "a message")] {
            for ((slot, buffer), (_, text)) in opened.pieces().zip(texts.pieces()) {
                if buffer[..slot.text] != text[..slot.text] {
                    return Err(wrong(&format!("{way} opens to another text")));
                }
            }
        }
        Ok(())
    }
}
