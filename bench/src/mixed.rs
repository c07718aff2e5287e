//! Suite `mixed`: steps on shares and labels of two parties, online and with what is made ahead for
//! them.
//!
//! Two threads over TLS on loopback run single steps on many lanes. A first time is that of the
//! refill before a step, with the transfers beneath, a second one that of the step; the set-up,
//! with base OTs, is in neither. Of transfers of a silent extension, which are made in whole
//! iterations, the part counts that a step takes. Results of all lanes are opened and checked.

use std::sync::Arc;
use std::time::Instant;

use sealane_block::Cpu;
use sealane_circuit::{Builder, Goal, Machine, Tape, compile};
use sealane_mixed::{Mixed, MixedParty, Share};
use sealane_net::Mesh;
use sealane_parties::{NetworkClass, PartyId, PartySet};
use sealane_party::{Opened, Outcome, Party, Selected, Step};
use sealane_protocol::{
    Algebra, Correlation, Demand, Domain, Numbers, Protocol, RingOp, Setting, Sharing,
};

use crate::alone::Alone;
use crate::net::connect_all;
use crate::{Figures, Options, SuiteError, side_by_side};

const PARTIES: [&str; 2] = ["first", "second"];
/// Bits of a ring element.
const K: u8 = 32;
/// ANDs of a level, and levels, of a tape.
const LEVEL: [usize; 2] = [16, 3];

/// A step.
#[derive(Clone, Copy)]
enum Work {
    /// ANDs without common operands.
    Ands,
    /// Products of shared elements.
    Products,
    /// Products by numbers of so many bits that the first party knows.
    Known(u64),
    /// The highest bit of an element.
    Sign,
    /// The floor by a power of two.
    Floor(u8),
    /// An element or zero, by a bit.
    Select,
    /// A number of 32 bits from one form to another.
    Convert(Held, Held),
}

/// The form in which a number is held.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Held {
    /// A ring element.
    Sum,
    /// XOR shares of its bits.
    Bits,
    /// Labels of its bits.
    Labels,
}

impl Held {
    fn name(self) -> &'static str {
        match self {
            Held::Sum => "sum",
            Held::Bits => "bits",
            Held::Labels => "labels",
        }
    }

    fn domain(self) -> Domain {
        match self {
            Held::Sum => ring(),
            Held::Bits => bits_domain(),
            Held::Labels => Domain {
                sharing: Sharing::YaoLabel,
                ..bits_domain()
            },
        }
    }
}

impl Work {
    const ALL: [Work; 12] = [
        Work::Ands,
        Work::Products,
        Work::Known(8),
        Work::Known(16),
        Work::Sign,
        Work::Floor(12),
        Work::Select,
        Work::Convert(Held::Sum, Held::Bits),
        Work::Convert(Held::Bits, Held::Sum),
        Work::Convert(Held::Sum, Held::Labels),
        Work::Convert(Held::Bits, Held::Labels),
        Work::Convert(Held::Labels, Held::Sum),
    ];

    fn name(self) -> String {
        match self {
            Work::Ands => "and".to_string(),
            Work::Products => "product/32".to_string(),
            Work::Known(bits) => format!("product/known/{bits}x32"),
            Work::Sign => "sign/32".to_string(),
            Work::Floor(by) => format!("floor/32,{by}"),
            Work::Select => "select/32".to_string(),
            Work::Convert(from, to) => format!("convert/{}/{}/32", from.name(), to.name()),
        }
    }

    /// Operations of a lane.
    fn operations(self, tape: &Tape) -> usize {
        if let Work::Ands = self {
            tape.ands.len()
        } else {
            1
        }
    }

    /// The step on these inputs: elements of a first and of a second party, and bits.
    fn step<'a>(self, tape: &'a Tape, of: &Inputs) -> Step<'a, MixedParty> {
        let (domain, share) = (ring(), Arc::clone(&of.sum));
        let (bits, signed) = (usize::from(K) - 1, true);
        let ring_step = |op, bit| Step::Ring {
            op,
            domain,
            bits,
            signed,
            bit,
            share: Arc::clone(&of.sum),
        };
        match self {
            Work::Ands => Step::Tape {
                tape,
                domain: bits_domain(),
                lanes: of.lanes,
                operands: vec![Arc::clone(&of.planes)],
            },
            Work::Products => Step::Product {
                domain,
                left: Selected::whole(Arc::clone(&share)),
                right: Selected::whole(share),
            },
            Work::Known(bits) => Step::Product {
                domain,
                left: Selected {
                    numbers: Numbers {
                        known_to: Some(PartyId(0)),
                        bits,
                        signed: false,
                    },
                    ..Selected::whole(Arc::clone(&of.known))
                },
                right: Selected::whole(share),
            },
            Work::Sign => ring_step(
                RingOp::Extract {
                    first: K - 1,
                    count: 1,
                },
                None,
            ),
            Work::Floor(by) => ring_step(RingOp::Floor { by }, None),
            Work::Select => ring_step(RingOp::Select, Some(Arc::clone(&of.bit))),
            Work::Convert(from, to) => converted(
                [from, to],
                match from {
                    Held::Sum => &of.sum,
                    Held::Bits => &of.word,
                    Held::Labels => &of.labels,
                },
            ),
        }
    }

    /// The result of a lane.
    fn want(self, tape: &Tape, lane: usize) -> u64 {
        let [x, y] = [0, 1].map(|party| value(party, lane));
        let sum = x.wrapping_add(y) as u32;
        let known = |bits: u64| x & ((1u64 << bits) - 1);
        match self {
            Work::Ands => {
                let bit = |at: usize| [0u64.wrapping_sub(x >> at & 1); 8];
                let outputs = tape.eval(&(0..2 * LEVEL[0]).map(bit).collect::<Vec<_>>());
                outputs
                    .iter()
                    .enumerate()
                    .map(|(at, out)| (out[0] & 1) << at)
                    .sum()
            }
            Work::Products => u64::from(sum.wrapping_mul(sum)),
            Work::Known(bits) => u64::from(sum.wrapping_mul(known(bits) as u32)),
            Work::Sign => u64::from(sum >> 31),
            Work::Floor(by) => u64::from((sum as i32 >> by) as u32),
            Work::Select => (y & 1) * u64::from(sum),
            Work::Convert(Held::Sum, _) => u64::from(sum),
            Work::Convert(..) => u64::from(x as u32),
        }
    }
}

/// A conversion of numbers of 32 bits.
fn converted<'a>([from, to]: [Held; 2], share: &Arc<Share>) -> Step<'a, MixedParty> {
    Step::Convert {
        from: from.domain(),
        to: to.domain(),
        bits: K.into(),
        signed: false,
        share: Arc::clone(share),
    }
}

/// Elements of 30 bits, so that sums are within the range that floors are told.
fn value(party: usize, lane: usize) -> u64 {
    let mixed = ((2 * lane + party) as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 34).wrapping_sub(1 << 29)
}

fn ring() -> Domain {
    Mixed::domain(Algebra::Z2k(K))
}

fn bits_domain() -> Domain {
    Mixed::domain(Algebra::Z2)
}

/// A tape of levels of ANDs, of which each joins two neighbours of the level before.
fn tape() -> Tape {
    let mut b = Builder::for_goal(Goal::Depth);
    let mut wires = b.input(2 * LEVEL[0]);
    for _ in 0..LEVEL[1] {
        let pairs = wires.chunks(2).map(<[_]>::to_vec).collect::<Vec<_>>();
        let products = pairs
            .iter()
            .map(|pair| b.and(pair[0], pair[1]))
            .collect::<Vec<_>>();
        // The next level reads each product once, and an input that is not in it.
        let mut inputs = wires.iter().skip(1).step_by(2).copied().collect::<Vec<_>>();
        inputs.rotate_left(1);
        wires = products
            .into_iter()
            .zip(inputs)
            .flat_map(|(p, i)| [p, i])
            .collect();
    }
    let outputs = wires.into_iter().step_by(2).collect();
    compile(&b.finish(vec![outputs]), &Machine::ROUNDS)
}

/// Inputs of both parties.
struct Inputs {
    lanes: usize,
    /// Sums of elements of both.
    sum: Arc<Share>,
    /// Elements of the first party, of few bits.
    known: Arc<Share>,
    /// The lowest bit of those of the second one.
    bit: Arc<Share>,
    /// All bits of those of the first one.
    planes: Arc<Share>,
    /// The same as numbers of 32 bits, and their labels if the step takes these.
    word: Arc<Share>,
    labels: Arc<Share>,
}

/// The names that `--only` takes.
pub fn parts() -> Vec<&'static str> {
    vec!["softspoken", "silent"]
}

/// Measures all steps.
///
/// # Errors
/// The machine has no port on loopback, or a step failed or gave a wrong result.
pub fn run(options: &Options, figures: &mut Figures<'_>) -> Result<(), SuiteError> {
    let cpu = options.best()?;
    let figures = &mut figures.on(cpu);
    let lanes = if options.quick() { 256 } else { 1 << 16 };
    for (source, silent) in [("softspoken", false), ("silent", true)] {
        // A single iteration is as much as a quick run of all the others.
        if !options.asks_for(source) || silent && options.quick() {
            continue;
        }
        let mut setting = Setting::in_order(&Mixed::profile(), 2);
        setting.network = NetworkClass::LAN;
        setting.silent = silent;
        for work in Work::ALL {
            measure(cpu, &setting, work, lanes, source, figures)?;
        }
    }
    Ok(())
}

/// The best times of a party: of refills and of steps.
type Times = [f64; 2];

fn measure(
    cpu: Cpu,
    setting: &Setting,
    work: Work,
    lanes: usize,
    source: &str,
    figures: &mut Figures<'_>,
) -> Result<(), SuiteError> {
    let met = connect_all(&PARTIES, Mesh::connect);
    let meshes = met.map_err(|error| format!("two parties on loopback: {error}"))?;
    let tape = tape();
    let ends = side_by_side(meshes, |mesh| one(cpu, mesh, setting, work, (&tape, lanes)))?;
    let slowest = |at: usize| ends.iter().map(|(times, ..)| times[at]).fold(0.0, f64::max);
    let operations = (work.operations(&tape) * lanes) as f64;
    let rate = |seconds: f64| operations / seconds / 1e6;
    let (_, online, ahead) = ends.first().ok_or("no party")?;
    let bits = |bytes: &u64| (8 * bytes) as f64 / operations;
    let mut measured = vec![
        ("online_rate", rate(slowest(1)), "M/s"),
        (
            "rate_with_preparation",
            rate(slowest(0) + slowest(1)),
            "M/s",
        ),
        ("online_bits", bits(online), "bits"),
    ];
    // From labels to a ring nothing is made ahead.
    if *ahead > 0 {
        measured.push(("bits_ahead", bits(ahead), "bits"));
    }
    figures.add(&format!("{}/{source}", work.name()), &measured);
    Ok(())
}

/// Times of a party, and the bytes of both, online and ahead.
fn one(
    cpu: Cpu,
    mesh: Mesh,
    setting: &Setting,
    work: Work,
    (tape, lanes): (&Tape, usize),
) -> Result<(Times, u64, u64), SuiteError> {
    // A demand of the shape alone, from a party without goods, would be circular: shapes of inputs
    // are enough.
    let shapes = Inputs::shapes(lanes);
    let shape = work.step(tape, &shapes).shape();
    let demand = Mixed::demand(setting, &shape);
    let made = Mixed::refill_counts(setting, &demand);
    let count = |of: &Demand| {
        let ots = of.only(|kind| matches!(kind, Correlation::Cot { .. }));
        ots.0.values().sum::<u64>() as f64
    };
    // The part of transfers that the step takes.
    let part = match count(&made) {
        0.0 => 1.0,
        many => count(&demand) / many,
    };
    let bytes = |flights: Vec<Vec<sealane_protocol::Message>>| {
        flights
            .iter()
            .flatten()
            .map(|message| message.bytes)
            .sum::<u64>()
    };
    let online = bytes(Mixed::cost(setting, &shape).flights);
    let ahead = (part * bytes(Mixed::refill_cost(setting, &made).flights) as f64) as u64;
    let mut total = Demand::default();
    total.merge(&made, RUNS);
    if let Work::Convert(Held::Labels, _) = work {
        total.merge(&labelled(setting, lanes), 1);
    }
    let mut party = Alone::<MixedParty>::set_up(cpu, mesh, setting, &total)?;
    let inputs = Inputs::of(&mut party, setting, work, lanes)?;
    let mut best = [f64::INFINITY; 2];
    for run in 0..RUNS {
        let started = Instant::now();
        party.party.refill(&made, &mut party.mesh)?;
        let refilled = started.elapsed().as_secs_f64() * part;
        let started = Instant::now();
        let out = party.share(work.step(tape, &inputs))?;
        let ran = started.elapsed().as_secs_f64();
        best = [best[0].min(refilled), best[1].min(ran)];
        if run == 0 {
            check(&mut party, work, tape, out, lanes)?;
        }
    }
    party.mesh.finish()?;
    Ok((best, online, ahead))
}

/// Correlations for labels of all bits of a number a lane.
fn labelled(setting: &Setting, lanes: usize) -> Demand {
    let shapes = Inputs::shapes(lanes);
    let choice = converted([Held::Bits, Held::Labels], &shapes.word).shape();
    Mixed::refill_counts(setting, &Mixed::demand(setting, &choice))
}

/// Runs of a step, of which the fastest counts.
const RUNS: u64 = 3;

/// Opens the results of all lanes, and compares them with plain arithmetic.
fn check(
    party: &mut Alone<MixedParty>,
    work: Work,
    tape: &Tape,
    share: Arc<Share>,
    lanes: usize,
) -> Result<(), SuiteError> {
    let (share, domain) = match work {
        Work::Ands | Work::Sign | Work::Convert(_, Held::Bits) => (share, bits_domain()),
        Work::Convert(_, Held::Labels) => {
            let bits = party.share(converted([Held::Labels, Held::Bits], &share))?;
            (bits, bits_domain())
        }
        _ => (share, ring()),
    };
    let to = PartySet::of((0..2).map(PartyId));
    let results = vec![Opened { share, domain, to }];
    let Outcome::Opened(values, ()) = party.run(Step::Open { results })? else {
        return Err("an opening opened nothing".into());
    };
    let values = values.into_iter().next().flatten();
    let values = values.ok_or("an opening opened nothing")?;
    let right = (0..lanes).all(|lane| values[lane] == work.want(tape, lane));
    right
        .then_some(())
        .ok_or_else(|| format!("{}: a wrong result", work.name()).into())
}

impl Inputs {
    /// Inputs without data.
    fn shapes(lanes: usize) -> Inputs {
        use sealane_party::Shares;
        let zeros = |planes| Arc::new(Share::zeros(planes, lanes));
        Inputs {
            lanes,
            sum: zeros(1),
            known: zeros(1),
            bit: zeros(1),
            planes: zeros(2 * LEVEL[0]),
            word: zeros(K.into()),
            labels: zeros(K.into()),
        }
    }

    fn of(
        party: &mut Alone<MixedParty>,
        setting: &Setting,
        work: Work,
        lanes: usize,
    ) -> Result<Inputs, SuiteError> {
        let of = |of: usize| (0..lanes).map(move |lane| value(of, lane));
        let k = usize::from(K);
        let both = [0, 1].map(|at| party.input(ring(), PartyId(at), k, of(at.into())));
        let [x, y] = both;
        let (x, y) = (x?, y?);
        let terms = [&x, &y].map(|share| sealane_party::Term {
            share: &**share,
            factor: sealane_party::Factor::Number(1),
        });
        let sum = sealane_party::Steps::linear(&mut party.party, ring(), lanes, &terms)?;
        let mask = if let Work::Known(bits) = work {
            (1 << bits) - 1
        } else {
            1
        };
        let known = of(0).map(|value| value & mask);
        let planes = 2 * LEVEL[0];
        let word = party.input(bits_domain(), PartyId(0), k, of(0))?;
        let labels = match work {
            Work::Convert(Held::Labels, _) => {
                let choice = converted([Held::Bits, Held::Labels], &word);
                party
                    .party
                    .refill(&labelled(setting, lanes), &mut party.mesh)?;
                party.share(choice)?
            }
            _ => Arc::clone(&word),
        };
        Ok(Inputs {
            lanes,
            word,
            labels,
            sum: Arc::new(sum),
            known: party.input(ring(), PartyId(0), k, known)?,
            bit: party.input(bits_domain(), PartyId(1), 1, of(1).map(|value| value & 1))?,
            planes: party.input(bits_domain(), PartyId(0), planes, of(0))?,
        })
    }
}
