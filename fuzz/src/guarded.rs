//! One role of `trio` with proofs, or a party without a role, against a peer that sends arbitrary
//! bytes with correct digests.
//!
//! The session has all messages of the profile: keys, inputs, ANDs, products and a deal with its
//! openings, integers modulo a prime, the turns of a shuffle with its proof and its places,
//! settlement and confirmed results. One peer may deviate, so if the bytes of one alone are others,
//! the party refuses or learns what it does in the honest run. Two who compute can open results to
//! any value together, and a role can give any input: there only the form of results is checked.

use crate::roles::{Ended, Point, Scene, have_form};
use sealane_block::Cpu;
use sealane_circuit::function::{Field, Function};
use sealane_circuit::{Builder, Lookups, Machine, Tape, compile};
use sealane_fuzz_harness::Verdict;
use sealane_net::Mesh;
use sealane_parties::{PartyId, PartySet};
use sealane_party::{Fault, KeyBit, Opened, Outcome, Progress, Selected, Shares, Step, Steps};
use sealane_protocol::{Algebra, Demand, Protocol, Setting, StepShape};
use sealane_testkit::side::{Given, Side, copied};
use sealane_trio::{Guarded, GuardedParty, Unproved};
use std::sync::{Arc, LazyLock};

static SCENE: LazyLock<Scene> = LazyLock::new(|| Scene::of::<GuardedParty>(4, &[false], session));

/// Lanes of the session, and rows of its sort.
const LANES: usize = 3;
/// Flights of a pass up to its proof: one for each bit of the number of a row, and three turns.
const SHUFFLED: usize = 2 + 3;
/// The role whose input is a message of its own, which it may choose.
const OWNER: PartyId = PartyId(0);

/// Runs one of three roles, or a party without one, by the first byte.
pub fn guarded(bytes: &[u8]) -> Verdict {
    SCENE.hostile(bytes, |learnt, honest, streams| {
        let peers = (0..=streams.len()).map(PartyId::from_index);
        let peers = peers.filter(|peer| *peer != honest.me).enumerate();
        let changed = peers.filter(|(at, _)| streams[*at] != honest.streams[*at]);
        let changed = changed.collect::<Vec<_>>();
        let owns = |&(at, peer): &(usize, PartyId)| {
            let end = honest.given[at];
            peer == OWNER && streams[at].get(..end) != honest.streams[at].get(..end)
        };
        if changed.len() < 2 && !changed.iter().any(owns) {
            assert_eq!(learnt, &honest.learnt, "hostile bytes change no result");
        } else {
            have_form(learnt, honest, u64::MAX);
        }
    })
}

/// Messages of honest peers to each party.
pub fn seeds() -> Vec<Vec<u8>> {
    SCENE.seeds()
}

/// The inverse in GF(2^8) (FIPS 197, section 4.2), zero of zero.
fn inverse(byte: u8) -> u8 {
    let field = Function::Field(Field::of(0x11b).expect("a field"));
    let bits = |x: u8| (0..8).map(move |bit| u64::from(x >> bit & 1));
    let times = |x: u8, y: u8| {
        let product = field.eval(&bits(x).chain(bits(y)).collect::<Vec<_>>());
        let bits = product.iter().rev();
        bits.fold(0, |sum, bit| sum << 1 | (bit & 1) as u8)
    };
    (0..254).fold(1, |power, _| times(power, byte))
}

/// On two bits: their AND, a product in GF(4) and one in GF(16), and a lookup as a tower.
fn tape() -> &'static Tape {
    static TAPE: LazyLock<Tape> = LazyLock::new(|| {
        let b = Builder::new().with_lookups(Lookups::Tower);
        let mut b = b.with_products(Guarded::products());
        let (x, y) = (b.input(1)[0], b.input(1)[0]);
        let (both, sum) = (b.and(x, y), b.xor(x, y));
        let [four, sixteen] = [0x7, 0x13].map(|polynomial| Field::of(polynomial).expect("a field"));
        let mut out = b.field_product(&four, &[x, y], &[y, sum]);
        out.extend(b.field_product(&sixteen, &[x, y, sum, !x], &[y, !y, x, sum]));
        let entries = (0..=255).map(|byte| b.constant(inverse(byte).into(), 8));
        let entries = entries.collect::<Vec<_>>();
        out.extend(b.lookup(&[x, y, sum, x, !y, !x, y, !sum], &entries));
        out.push(both);
        compile(&b.finish(vec![out]), &Machine::ROUNDS)
    });
    &TAPE
}

/// One party, and what it has to settle.
struct Run {
    side: Side<GuardedParty>,
    checks: Vec<Unproved>,
}

type Share = Arc<<GuardedParty as Steps>::Share>;

impl Run {
    fn share(&mut self, step: Step<'_, GuardedParty>) -> Result<Share, Fault> {
        let outcome = self.side.run(step)?;
        Ok(self.take(outcome))
    }

    fn take(&mut self, outcome: Outcome<GuardedParty>) -> Share {
        match outcome {
            Outcome::Share(share, checks, ()) => {
                self.checks.extend(checks);
                Arc::new(share)
            }
            _ => panic!("a share is due"),
        }
    }

    /// Sorts rows by a bit of theirs, flight by flight: places and turns are bulk, the proof of
    /// both is not, and of the places one peer sends a digest alone.
    fn sort(&mut self, rows: Share, watch: &mut dyn FnMut(Point, &Mesh)) -> Result<Share, Fault> {
        let domain = Guarded::domain(Algebra::Z2);
        let key = vec![KeyBit {
            plane: 1,
            inverted: true,
        }];
        let step = Step::Sort {
            domain,
            share: rows,
            key,
        };
        let Side { party, mesh } = &mut self.side;
        let before = PartyId((mesh.me().0 + 2) % 3);
        let mut progress = party.begin(step, None, mesh)?;
        let mut flight = 0;
        loop {
            let pending = match progress {
                Progress::More(pending) => pending,
                Progress::Done(outcome) => return Ok(self.take(outcome)),
            };
            if flight == SHUFFLED {
                watch(Point::Plain, mesh);
            } else if flight == SHUFFLED + 3 {
                watch(Point::Bulk(Some(before)), mesh);
            }
            mesh.flush()?;
            progress = party.advance(pending, mesh)?;
            flight += 1;
        }
    }
}

/// Runs one party: inputs of the first and the last party, of a bit each, and all other steps on
/// them; all learn all results.
fn session(setting: &Setting, _: bool, mesh: Mesh, watch: &mut dyn FnMut(Point, &Mesh)) -> Ended {
    let me = mesh.me();
    let [bits, prime] = [Algebra::Z2, Algebra::Fp].map(Guarded::domain);
    let owners = [OWNER, PartyId::from_index(setting.parties - 1)];
    let mut demand = Demand::default();
    for owner in owners {
        let work = StepShape::input(owner, bits, LANES as u64, 1);
        demand.merge(&Guarded::demand(setting, &work), 1);
    }
    let given = Given::seeded(Cpu::detect().expect("a tier"), u64::from(me.0) + 1);
    let side = Side::<GuardedParty>::set_up(mesh, setting, &demand, given)?;
    let checks = Vec::new();
    let mut run = Run { side, checks };
    let mut operands = Vec::new();
    for (at, owner) in owners.into_iter().enumerate() {
        let elements = (0..LANES as u64).map(|lane| (lane + 1) >> at & 1);
        operands.push(run.share(Step::Input {
            owner,
            domain: bits,
            elements: LANES,
            bits: 1,
            values: (owner == me).then(|| elements.collect::<Vec<_>>().into()),
        })?);
    }
    watch(Point::Bulk(None), &run.side.mesh);
    let computed = run.share(Step::Tape {
        tape: tape(),
        domain: bits,
        lanes: LANES,
        operands,
    })?;
    let word = Arc::new(computed.resize(0, 3, false));
    let convert = |from, to, bits, share| Step::Convert {
        from,
        to,
        bits,
        signed: true,
        share,
    };
    let integers = run.share(convert(bits, prime, 3, Arc::clone(&word)))?;
    let product = run.share(Step::Product {
        domain: prime,
        left: Selected::whole(integers.clone()),
        right: Selected::whole(integers),
    })?;
    let back = run.share(convert(prime, bits, 6, product.clone()))?;
    let sorted = run.sort(word, watch)?;
    watch(Point::Plain, &run.side.mesh);
    watch(Point::Settle, &run.side.mesh);
    let checks = std::mem::take(&mut run.checks);
    run.side.run(Step::Settle { checks })?;
    let to = PartySet::of((0..setting.parties).map(PartyId::from_index));
    let all = [
        (computed, bits),
        (product, prime),
        (back, bits),
        (sorted, bits),
    ];
    let opened = all.map(|(share, domain)| Opened { share, domain, to });
    let learnt = copied(run.side.open(Vec::from(opened))?);
    Ok((learnt, run.side.mesh))
}
