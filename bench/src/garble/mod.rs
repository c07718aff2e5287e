//! Suite `garble`: the cost of garbling and evaluating, in memory, on one core.
//!
//! Every scheme is measured on four circuits ([`circuits`]), on every tier, and with every
//! [`Strategy`]: ways to find independent ANDs that fill the lanes. Three references accompany the
//! figures: the [`reference`](mod@reference), one gate of one row at a time, in the same run; the
//! limit of the AES units ([`limit`]); and circuits of ANDs or XORs alone.
//!
//! Tables are written to memory and read from it in place; channels are the subject of the suite
//! `stream`. Row 65 of the paper's AES-128 is a case of its own, `aes128x1`.
//!
//! Cases are called `scheme/strategy/circuit`. *Improvement* is cycles of the reference over
//! cycles; *over AES-NI* is cycles of that tier, with the same strategy, over cycles. Sizes of
//! tapes have the case `strategy/circuit`, circuits of one kind `scheme/gates/kind`.
//!
//! The portable tier takes a hundred times as long, so it is measured on AES-128 with the default
//! strategy alone; `SEALANE_TIER=portable` has it measured in full.

use std::collections::HashMap;
use std::time::Duration;

use sealane_block::{Cpu, Tier};
use sealane_circuit::{Tape, compile};
use sealane_garble::Scheme;

pub mod circuits;
pub mod limit;
mod names;
pub mod reference;
pub mod sides;
pub mod strategy;

use crate::cycles::Measured;
use crate::plot::Chart;
use crate::{Options, Record};
use circuits::{Case, GateKind};
use names::{GateNames, Names, SIDES};
use sides::{RowOrder, Sides};
use strategy::Strategy;

/// The suite's name.
pub const SUITE: &str = "garble";

/// Part of the budget for one measurement: this suite makes several hundred.
const SHARE: u32 = 10;

/// Measures everything.
pub fn run(options: &Options, record: &mut dyn FnMut(Record)) {
    let mut bench = Bench::new(options, record);
    for kind in GateKind::ALL {
        bench.one_kind(kind);
    }
    if !bench.small {
        bench.circuit(&circuits::row_65(), &[Strategy::DEFAULT]);
    }
    let mut names = Vec::new();
    for case in circuits::papers(bench.small) {
        // The least work that shows that all work: every strategy on the last circuit.
        let strategies = match bench.small && !case.name.starts_with("psi-phasing") {
            true => &Strategy::ALL[5..],
            false => &Strategy::ALL[..],
        };
        bench.circuit(&case, strategies);
        names.push(case.name);
    }
    bench.means(&names);
}

/// The figures of a circuit.
#[derive(Clone, Copy)]
struct Figures {
    /// Figures of the garbler, then of the evaluator.
    sides: [Measured; 2],
    /// Fractions of the limit of the AES units, in the same order.
    fractions: [f64; 2],
}

type Key = (String, Strategy, Tier, Scheme);

struct Bench<'a> {
    options: Options,
    /// True to use the smallest circuits, to see that the suite works.
    small: bool,
    /// The CPU tier of the reference.
    reference: Cpu,
    /// Blocks that pass one AES round in a cycle.
    rounds: HashMap<Tier, f64>,
    done: HashMap<Key, Figures>,
    record: &'a mut dyn FnMut(Record),
}

impl<'a> Bench<'a> {
    fn new(options: &Options, record: &'a mut dyn FnMut(Record)) -> Bench<'a> {
        let portable = |cpu: &Cpu| cpu.tier() == Tier::Portable;
        // A machine with wide vectors has the narrow ones too.
        let narrow = Cpu::with_tier(Tier::AesNi).ok();
        let reference = match options.cpus.iter().all(portable) {
            true => options.cpus.first().copied(),
            false => narrow,
        };
        let reference = reference.expect("a tier to measure");
        let mut bench = Bench {
            small: options.budget == Duration::ZERO,
            options: Options {
                budget: options.budget / SHARE,
                ..options.clone()
            },
            reference,
            rounds: HashMap::new(),
            done: HashMap::new(),
            record,
        };
        let mut cpus = options.cpus.clone();
        cpus.retain(|cpu| cpu.tier() != reference.tier());
        for cpu in [&[reference], &cpus[..]].concat() {
            let blocks = limit::blocks_in_vector(cpu) as f64;
            let measured = limit::cycles_per_round(cpu, options);
            let [rounds, usual, all] = [
                blocks / measured.min_cycles,
                blocks / measured.median_cycles,
                blocks / measured.all_median_cycles,
            ];
            bench.rounds.insert(cpu.tier(), rounds);
            for (metric, value, unit) in [
                ("aes_instructions_per_cycle", rounds / blocks, "1/cycle"),
                ("aes_rounds_per_cycle", rounds, "blocks/cycle"),
                ("aes_rounds_per_cycle_median", usual, "blocks/cycle"),
                ("aes_rounds_per_cycle_all", all, "blocks/cycle"),
                ("windows_kept", measured.kept, "of 1"),
            ] {
                bench.emit("aes-units", cpu, metric, value, unit);
            }
        }
        bench
    }

    fn emit(
        &mut self,
        case: &str,
        cpu: impl Into<Option<Cpu>>,
        metric: &'static str,
        value: f64,
        unit: &'static str,
    ) {
        (self.record)(Record {
            suite: SUITE,
            case: case.to_string(),
            tier: cpu.into().map_or("any", |cpu| cpu.tier().name()),
            metric,
            value,
            unit,
        });
    }

    /// The tiers on which a strategy is measured on a circuit.
    fn cpus(&self, strategy: Strategy, circuit: &str) -> Vec<Cpu> {
        if strategy == Strategy::None {
            return vec![self.reference];
        }
        let all = self.options.cpus.iter().copied();
        let in_full = |cpu: &Cpu| {
            let slow = cpu.tier() == Tier::Portable && self.options.cpus.len() > 1;
            !slow || (strategy == Strategy::DEFAULT && circuit.starts_with("aes"))
        };
        all.filter(in_full).collect()
    }

    /// Every scheme on every tier with the given strategies.
    fn circuit(&mut self, case: &Case, strategies: &[Strategy]) {
        for &strategy in strategies {
            let tape = compile(&case.circuit, &strategy.machine());
            let label = format!("{}/{}", strategy.name(), case.name);
            let sizes = [
                ("ands", tape.ands.len(), "gates"),
                ("xors", tape.xors.len(), "gates"),
                ("slots", tape.slots as usize, "slots"),
                ("batches", tape.batches.len(), "batches"),
            ];
            for (metric, value, unit) in sizes {
                self.emit(&label, None, metric, value as f64, unit);
            }
            for cpu in self.cpus(strategy, &case.name) {
                for scheme in schemes(strategy) {
                    let mut sides = Sides::new(cpu, scheme, &tape, case, strategy.rows());
                    sides.check(case);
                    let measured = sides.measure(tape.ands.len(), &self.options);
                    let needed = limit::needed(scheme, &tape);
                    let figures = Figures {
                        sides: measured,
                        fractions: self.fractions(cpu, needed, &tape, measured),
                    };
                    let key = (case.name.clone(), strategy, cpu.tier(), scheme);
                    self.done.insert(key, figures);
                    self.report(&case.name, strategy, cpu, scheme, &figures);
                }
            }
        }
    }

    fn fractions(
        &self,
        cpu: Cpu,
        needed: [f64; 2],
        tape: &Tape,
        measured: [Measured; 2],
    ) -> [f64; 2] {
        let rounds = self.rounds[&cpu.tier()];
        let fraction = |side: usize| {
            let limit = needed[side] / rounds / tape.ands.len() as f64;
            limit / measured[side].median_cycles
        };
        [fraction(0), fraction(1)]
    }

    fn report(
        &mut self,
        circuit: &str,
        strategy: Strategy,
        cpu: Cpu,
        scheme: Scheme,
        figures: &Figures,
    ) {
        let case = format!("{scheme}/{}/{circuit}", strategy.name());
        for (side, names) in SIDES.iter().enumerate() {
            let measured = figures.sides[side];
            let median_cycles = measured.median_cycles;
            self.measured(&case, cpu, names, &names.and, measured);
            self.emit(&case, cpu, names.fraction, figures.fractions[side], "of 1");
            let other = |scheme: Scheme, strategy: Strategy, tier: Tier| {
                let key = (circuit.to_string(), strategy, tier, scheme);
                let other = self.done.get(&key)?;
                Some(other.sides[side].median_cycles / median_cycles)
            };
            let reference = other(reference::of(scheme), Strategy::None, self.reference.tier());
            let narrow = other(scheme, strategy, Tier::AesNi);
            if let Some(times) = reference.filter(|_| strategy != Strategy::None) {
                self.emit(&case, cpu, names.improvement, times, "times");
            }
            if let Some(times) = narrow.filter(|_| cpu.tier() > Tier::AesNi) {
                self.emit(&case, cpu, names.over_aesni, times, "times");
            }
        }
    }

    /// Geometric means over circuits, of everything that was measured on all of them.
    fn means(&mut self, names: &[String]) {
        for strategy in Strategy::ALL {
            for cpu in self.cpus(strategy, "all") {
                for scheme in schemes(strategy) {
                    let of = |name: &String| {
                        let key = (name.clone(), strategy, cpu.tier(), scheme);
                        self.done.get(&key).copied()
                    };
                    let Some(all) = names.iter().map(of).collect::<Option<Vec<_>>>() else {
                        continue;
                    };
                    let figures = mean_figures(&all);
                    let key = (MEAN.to_string(), strategy, cpu.tier(), scheme);
                    self.done.insert(key, figures);
                    self.report(MEAN, strategy, cpu, scheme, &figures);
                }
            }
        }
    }

    /// Every scheme on rows of one kind of gate.
    fn one_kind(&mut self, kind: GateKind) {
        let [layers, rows] = if self.small { [2, 16] } else { [64, 64] };
        let case = circuits::gates(kind, layers, rows);
        let tape = compile(&case.circuit, &Strategy::DEFAULT.machine());
        let gates = tape.ands.len() + tape.xors.len();
        for cpu in self.options.cpus.clone() {
            for scheme in Scheme::ALL {
                let mut sides = Sides::new(cpu, scheme, &tape, &case, RowOrder::Together);
                sides.check(&case);
                let measured = sides.measure(gates, &self.options);
                let label = format!("{scheme}/gates/{}", case.name);
                for (names, measured) in SIDES.iter().zip(measured) {
                    let of_gate = match kind {
                        GateKind::And => &names.and,
                        GateKind::Xor | GateKind::SharedXor => &names.xor,
                    };
                    self.measured(&label, cpu, names, of_gate, measured);
                }
            }
        }
    }

    /// The cost of a gate in quiet windows and in all, and the share of quiet ones.
    fn measured(&mut self, case: &str, cpu: Cpu, side: &Names, of: &GateNames, got: Measured) {
        let speed = 1e3 / got.median_ns;
        self.emit(case, cpu, of.cycles, got.median_cycles, "cycles");
        self.emit(case, cpu, of.least, got.min_cycles, "cycles");
        self.emit(case, cpu, of.all, got.all_median_cycles, "cycles");
        self.emit(case, cpu, side.kept, got.kept, "of 1");
        self.emit(case, cpu, of.ns, got.median_ns, "ns");
        self.emit(case, cpu, of.speed, speed, "million/s");
    }
}

/// The schemes that a strategy is measured with.
fn schemes(strategy: Strategy) -> impl Iterator<Item = Scheme> {
    let own =
        move |scheme: &Scheme| strategy != Strategy::None || reference::of(*scheme) == *scheme;
    Scheme::ALL.into_iter().filter(own)
}

/// The case of geometric means.
const MEAN: &str = "geometric-mean";

fn mean_figures(all: &[Figures]) -> Figures {
    let mean = |of: &dyn Fn(&Figures) -> f64| {
        let sum: f64 = all.iter().map(|figures| of(figures).ln()).sum();
        (sum / all.len() as f64).exp()
    };
    let side = |side: usize| Measured {
        min_cycles: mean(&|f| f.sides[side].min_cycles),
        median_cycles: mean(&|f| f.sides[side].median_cycles),
        median_ns: mean(&|f| f.sides[side].median_ns),
        all_median_cycles: mean(&|f| f.sides[side].all_median_cycles),
        kept: all.iter().map(|f| f.sides[side].kept).sum::<f64>() / all.len() as f64,
    };
    Figures {
        sides: [side(0), side(1)],
        fractions: [mean(&|f| f.fractions[0]), mean(&|f| f.fractions[1])],
    }
}

/// Cycles an AND by scheme and tier, and improvement by strategy and scheme, on the last tier that
/// was measured; all as geometric means over the circuits.
pub fn charts(records: &[Record]) -> Vec<Chart> {
    let mean = |record: &Record, metric: &str| {
        let mut parts = record.case.split('/').map(str::to_string);
        let (scheme, strategy) = (parts.next()?, parts.next()?);
        let wanted = record.metric == metric && parts.next().as_deref() == Some(MEAN);
        wanted.then_some((scheme, strategy))
    };
    let best = records
        .iter()
        .rfind(|record| mean(record, SIDES[0].improvement).is_some())
        .map_or("", |record| record.tier);
    let mut charts = Vec::new();
    for (verb, names) in ["Garbling", "Evaluation"].into_iter().zip(&SIDES) {
        let title = format!("{verb}: cycles an AND, by scheme and tier");
        charts.push(Chart::of(records, title, "cycles", |record| {
            let (scheme, strategy) = mean(record, names.and.cycles)?;
            (strategy == Strategy::DEFAULT.name()).then(|| (scheme, record.tier.to_string()))
        }));
    }
    for (verb, names) in ["Garbling", "Evaluation"].into_iter().zip(&SIDES) {
        let title = format!("{verb}: times as fast as one gate at a time, on {best}");
        charts.push(Chart::of(records, title, "times", |record| {
            let (scheme, strategy) = mean(record, names.improvement)?;
            (record.tier == best).then_some((strategy, scheme))
        }));
    }
    charts
}
