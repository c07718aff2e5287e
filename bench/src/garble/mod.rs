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

use sealane_block::{Cpu, Tier};
use sealane_circuit::{Tape, compile};
use sealane_garble::Scheme;

pub mod circuits;
pub mod limit;
pub mod reference;
pub mod sides;
pub mod strategy;

use crate::cycles::Measured;
use crate::table::{Column, Row, Sheet, View};
use crate::{Figures, Options, Record, SuiteError};
use circuits::{Case, GateKind};
use sides::{RowOrder, Sides};
use strategy::Strategy;

/// Part of the budget for one measurement: this suite makes several hundred.
const SHARE: u32 = 10;

/// The beginnings of the metrics of the garbler and of the evaluator.
const SIDES: [&str; 2] = ["garble_", "eval_"];

/// Measures everything.
pub fn run(options: &Options, figures: &mut Figures<'_>) -> Result<(), SuiteError> {
    let mut bench = Bench::new(options, figures)?;
    for kind in GateKind::ALL {
        bench.one_kind(kind);
    }
    if !bench.small {
        bench.circuit(&circuits::row_65(), &[Strategy::DEFAULT]);
    }
    let mut names = Vec::new();
    for case in circuits::papers(bench.small) {
        // The least work that shows that all work: every strategy on the last circuit.
        let strategies = if bench.small && !case.name.starts_with("psi-phasing") {
            &Strategy::ALL[5..]
        } else {
            &Strategy::ALL[..]
        };
        bench.circuit(&case, strategies);
        names.push(case.name);
    }
    bench.means(&names);
    Ok(())
}

/// The costs of a circuit.
#[derive(Clone, Copy)]
struct Costs {
    /// Costs of the garbler, then of the evaluator.
    sides: [Measured; 2],
    /// Fractions of the limit of the AES units, in the same order.
    fractions: [f64; 2],
}

type Way = (Strategy, Cpu, Scheme);
type Key = (String, Strategy, Tier, Scheme);

struct Bench<'a, 'f> {
    options: Options,
    /// True to use the smallest circuits, to see that the suite works.
    small: bool,
    /// The CPU tier of the reference.
    reference: Cpu,
    /// Blocks that pass one AES round in a cycle.
    rounds: HashMap<Tier, f64>,
    done: HashMap<Key, Costs>,
    figures: &'a mut Figures<'f>,
}

impl<'a, 'f> Bench<'a, 'f> {
    fn new(options: &Options, figures: &'a mut Figures<'f>) -> Result<Bench<'a, 'f>, SuiteError> {
        let portable = |cpu: &Cpu| cpu.tier() == Tier::Portable;
        // A machine with wide vectors has the narrow ones too.
        let narrow = Cpu::with_tier(Tier::AesNi).ok();
        let first = options
            .cpus
            .first()
            .filter(|_| options.cpus.iter().all(portable));
        let reference = first.copied().or(narrow).ok_or("no tier to run on")?;
        let budget = options.budget / SHARE;
        let mut bench = Bench {
            small: options.quick(),
            options: Options {
                budget,
                ..options.clone()
            },
            reference,
            rounds: HashMap::new(),
            done: HashMap::new(),
            figures,
        };
        let mut cpus = options.cpus.clone();
        cpus.retain(|cpu| cpu.tier() != reference.tier());
        for cpu in [&[reference], &cpus[..]].concat() {
            let blocks = limit::blocks_in_vector(cpu) as f64;
            let measured = limit::cycles_per_round(cpu, options);
            let rounds = blocks / measured.min_cycles;
            bench.rounds.insert(cpu.tier(), rounds);
            let (usual, all) = (measured.median_cycles, measured.all_median_cycles);
            let unit = "blocks/cycle";
            let figures = [
                ("aes_instructions_per_cycle", rounds / blocks, "1/cycle"),
                ("aes_rounds_per_cycle", rounds, unit),
                ("aes_rounds_per_cycle_median", blocks / usual, unit),
                ("aes_rounds_per_cycle_all", blocks / all, unit),
                ("windows_kept", measured.kept, "of 1"),
            ];
            bench.figures.on(cpu).add("aes-units", &figures);
        }
        Ok(bench)
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
            let figures = [
                ("ands", tape.ands.len() as f64, "gates"),
                ("xors", tape.xors.len() as f64, "gates"),
                ("slots", f64::from(tape.slots), "slots"),
                ("batches", tape.batches.len() as f64, "batches"),
            ];
            let name = format!("{}/{}", strategy.name(), case.name);
            self.figures.add(&name, &figures);
            for cpu in self.cpus(strategy, &case.name) {
                for scheme in schemes(strategy) {
                    let mut sides = Sides::new(cpu, scheme, &tape, case, strategy.rows());
                    sides.check(case);
                    let measured = sides.measure(tape.ands.len(), &self.options);
                    let fractions = self.fractions(cpu, scheme, &tape, measured);
                    self.report(
                        &case.name,
                        (strategy, cpu, scheme),
                        Costs {
                            sides: measured,
                            fractions,
                        },
                    );
                }
            }
        }
    }

    fn fractions(&self, cpu: Cpu, scheme: Scheme, tape: &Tape, sides: [Measured; 2]) -> [f64; 2] {
        let needed = limit::needed(scheme, tape);
        let all = self.rounds[&cpu.tier()] * tape.ands.len() as f64;
        [0, 1].map(|side| needed[side] / all / sides[side].median_cycles)
    }

    fn report(&mut self, circuit: &str, (strategy, cpu, scheme): Way, costs: Costs) {
        let key = |scheme, strategy, tier| (circuit.to_string(), strategy, tier, scheme);
        self.done.insert(key(scheme, strategy, cpu.tier()), costs);
        let case = format!("{scheme}/{}/{circuit}", strategy.name());
        for (index, side) in SIDES.into_iter().enumerate() {
            let measured = costs.sides[index];
            self.measured(&case, cpu, side, "and", &measured);
            let over = |scheme, strategy, tier| {
                let other = self.done.get(&key(scheme, strategy, tier))?;
                Some(other.sides[index].median_cycles / measured.median_cycles)
            };
            let reference = over(reference::of(scheme), Strategy::None, self.reference.tier());
            let narrow = over(scheme, strategy, Tier::AesNi);
            let mut figures = self.figures.on(cpu);
            let mut add = |what, value, unit| {
                figures.add(&case, &[(&format!("{side}{what}"), value, unit)]);
            };
            add("of_aes_limit", costs.fractions[index], "of 1");
            if let Some(times) = reference.filter(|_| strategy != Strategy::None) {
                add("improvement", times, "times");
            }
            if let Some(times) = narrow.filter(|_| cpu.tier() > Tier::AesNi) {
                add("over_aesni", times, "times");
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
                    if let Some(all) = names.iter().map(of).collect::<Option<Vec<_>>>() {
                        self.report(MEAN, (strategy, cpu, scheme), mean_costs(&all));
                    }
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
        let gate = match kind {
            GateKind::And => "and",
            GateKind::Xor | GateKind::SharedXor => "xor",
        };
        for cpu in self.options.cpus.clone() {
            for scheme in Scheme::ALL {
                let mut sides = Sides::new(cpu, scheme, &tape, &case, RowOrder::Together);
                sides.check(&case);
                let measured = sides.measure(gates, &self.options);
                let label = format!("{scheme}/gates/{}", case.name);
                for (side, measured) in SIDES.into_iter().zip(&measured) {
                    self.measured(&label, cpu, side, gate, measured);
                }
            }
        }
    }

    /// The cost of a gate in quiet windows and in all, and the share of quiet ones.
    fn measured(&mut self, case: &str, cpu: Cpu, side: &str, gate: &str, got: &Measured) {
        let mut figures = self.figures.on(cpu);
        figures.cycles(case, side, gate, got);
        let time = format!("{side}ns_per_{gate}");
        figures.add(case, &[(&time, got.median_ns, "ns")]);
        let rate = format!("{side}million_{gate}s_per_s");
        figures.add(case, &[(&rate, 1e3 / got.median_ns, "million/s")]);
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

fn mean_costs(all: &[Costs]) -> Costs {
    let mean = |of: &dyn Fn(&Costs) -> f64| {
        let sum: f64 = all.iter().map(|costs| of(costs).ln()).sum();
        (sum / all.len() as f64).exp()
    };
    let side = |side: usize| Measured {
        min_cycles: mean(&|f| f.sides[side].min_cycles),
        median_cycles: mean(&|f| f.sides[side].median_cycles),
        median_ns: mean(&|f| f.sides[side].median_ns),
        all_median_cycles: mean(&|f| f.sides[side].all_median_cycles),
        kept: all.iter().map(|f| f.sides[side].kept).sum::<f64>() / all.len() as f64,
    };
    Costs {
        sides: [side(0), side(1)],
        fractions: [mean(&|f| f.fractions[0]), mean(&|f| f.fractions[1])],
    }
}

/// Cycles an AND by scheme and tier, and improvement by scheme and strategy, on the best tier; all
/// as geometric means over the circuits.
pub fn view(records: &[Record]) -> View {
    let sheet = Sheet::new(records);
    let schemes = Scheme::ALL.map(|scheme| Row::new(scheme, scheme));
    let end = |strategy: Strategy| format!("/{}/{MEAN}", strategy.name());
    let mut view = View::default();
    let garbling = ("Garbling", "garble_cycles_per_and");
    for (verb, metric) in [garbling, ("Evaluation", "eval_cycles_per_and")] {
        let of = |tier| Column::new(tier, end(Strategy::DEFAULT), metric).on(tier);
        let title = format!("{verb}: cycles an AND, by scheme and tier");
        let tiers = sheet.tiers().into_iter().map(of);
        view.chart(&sheet, title, "cycles", &schemes, tiers);
    }
    let garbling = ("Garbling", "garble_improvement");
    for (verb, metric) in [garbling, ("Evaluation", "eval_improvement")] {
        let of = |strategy: Strategy| Column::new(strategy.name(), end(strategy), metric);
        let title = format!(
            "{verb}: times as fast as one gate at a time, on {}",
            sheet.tier
        );
        view.chart(&sheet, title, "times", &schemes, Strategy::ALL.map(of));
    }
    view
}
