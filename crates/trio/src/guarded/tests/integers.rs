//! Integers modulo the prime: conversions, sums, inner and matrix products, at their cost; and a
//! party that changes a bit of any message of them.

use super::*;
use sealane_block::Prime;
use sealane_party::{Factor, Planes, Selected, Term};
use sealane_protocol::View;

/// Bits of both operands; the first one is signed.
const BITS: [usize; 2] = [4, 5];

thread_local! {
    /// The number with which inputs begin.
    static FIRST: Cell<i64> = const { Cell::new(0) };
    /// The party of which a value is wrong, and the number of the value.
    static WRONG: Cell<Option<(usize, usize)>> = const { Cell::new(None) };
    /// Values of this thread so far.
    static VALUES: Cell<usize> = const { Cell::new(0) };
}

/// Makes a value that this thread is about to share another one, if it is the one that is chosen:
/// the thread uses what it sends, as a party that deviates would.
pub(crate) fn harm(of: &mut Planes<u64>) {
    let number = VALUES.replace(VALUES.get() + 1);
    if WRONG.get().is_some_and(|(_, wrong)| wrong == number) {
        of.data_mut()[0] = Prime::add(of.data()[0], 1);
    }
}

/// Numbers of so many lanes, of both signs.
fn numbers(lanes: usize) -> [Vec<i64>; 2] {
    let lanes = FIRST.get()..FIRST.get() + lanes as i64;
    let x = lanes.clone().map(|lane| (7 * lane + 3) % 16 - 8);
    let y = lanes.map(|lane| (11 * lane + 30) % 32);
    [x.collect(), y.collect()]
}

/// The results: all products of two, the inner product, and three times a product less twice the
/// second operand, as bits.
fn expected(lanes: usize) -> Vec<Option<Vec<u64>>> {
    let [x, y] = numbers(lanes);
    let all = x.iter().flat_map(|x| y.iter().map(move |y| x * y));
    let pairs = || x.iter().zip(&y);
    let sum = pairs().map(|(x, y)| x * y).sum::<i64>();
    let last = pairs().map(|(x, y)| (3 * x * y - 2 * y) as u64 & 0xfff);
    let words = |of: Vec<i64>| Some(of.into_iter().map(|value| value as u64).collect());
    vec![words(all.collect()), words(vec![sum]), Some(last.collect())]
}

fn run(parties: usize, owner: u8, lanes: usize, harm: Option<(usize, usize, usize)>) -> Vec<End> {
    let setting = &Setting::in_order(&Guarded::profile(), parties);
    let (first, wrong) = (FIRST.get(), WRONG.get());
    on_threads(Mesh::in_memory(parties), |mesh| {
        let me = mesh.me();
        FIRST.set(first);
        WRONG.set(wrong.filter(|(party, _)| *party == me.index()));
        VALUES.set(0);
        let harm = harm.filter(|(party, ..)| *party == me.index());
        HARM.set(harm.map(|(_, message, bit)| (message, bit)));
        SENT.take();
        let mut settled = false;
        let learnt = party(mesh, setting, owner, lanes, &mut settled);
        End {
            learnt,
            sent: SENT.take(),
            settled,
        }
    })
}

/// Steps of a party, each compared with its cost.
struct Walk<'a> {
    side: Side<GuardedParty>,
    setting: &'a Setting,
    reckoning: Reckoning,
    checks: Vec<Unproved>,
}

impl Walk<'_> {
    fn run(&mut self, step: Step<'_, GuardedParty>) -> Result<Outcome<GuardedParty>> {
        let cost = Guarded::cost(self.setting, &step.shape());
        let outcome = self.side.run(step)?;
        self.reckoning.add(&cost, &self.side.mesh);
        if let Outcome::Share(_, left, ()) = &outcome {
            assert_eq!(GuardedParty::count(left), cost.checks);
        }
        Ok(outcome)
    }

    fn share(&mut self, step: Step<'_, GuardedParty>) -> Result<Arc<Share>> {
        match self.run(step)? {
            Outcome::Share(share, left, ()) => {
                self.checks.extend(left);
                Ok(Arc::new(share))
            }
            _ => panic!("a share is due"),
        }
    }
}

fn party(
    mesh: Mesh,
    setting: &Setting,
    owner: u8,
    lanes: usize,
    settled: &mut bool,
) -> Result<Vec<Option<Vec<u64>>>> {
    let [bits, prime] = [Algebra::Z2, Algebra::Fp].map(Guarded::domain);
    let owners = [PartyId(0), PartyId(owner)];
    let mut demand = Demand::default();
    for owner in owners {
        let input = StepShape::input(owner, bits, lanes as u64, 1);
        demand.merge(&Guarded::demand(setting, &input), 1);
    }
    let given = Given::seeded(Cpu::detect().unwrap(), 1 + u64::from(mesh.me().0));
    let side = Side::<GuardedParty>::set_up(mesh, setting, &demand, given)?;
    let mut reckoning = Reckoning::new(setting.parties);
    reckoning.add(&Guarded::set_up_cost(setting, &demand), &side.mesh);
    let checks = vec![];
    let mut steps = Walk {
        side,
        setting,
        reckoning,
        checks,
    };
    let mut inputs = Vec::new();
    for (at, owner) in owners.into_iter().enumerate() {
        let mask = (1 << BITS[at]) - 1;
        let own = &numbers(lanes)[at];
        let values: Vec<u64> = own.iter().map(|value| *value as u64 & mask).collect();
        inputs.push(steps.share(Step::Input {
            owner,
            domain: bits,
            elements: lanes,
            bits: BITS[at],
            values: (owner == steps.side.mesh.me()).then(|| values.into()),
        })?);
    }
    let mut integers = Vec::new();
    for (at, share) in inputs.into_iter().enumerate() {
        integers.push(steps.share(Step::Convert {
            from: bits,
            to: prime,
            bits: BITS[at],
            signed: at == 0,
            share,
        })?);
    }
    let [x, y] = [0, 1].map(|at| Arc::clone(&integers[at]));
    let select = |share: &Arc<Share>, lanes: &[(usize, isize)], inner: &[(usize, isize)]| {
        let [lanes, inner] = [lanes, inner].map(|dims| View::new(0, dims.to_vec()));
        Selected {
            lanes,
            inner,
            ..Selected::whole(Arc::clone(share))
        }
    };
    let product = |left, right| Step::Product {
        domain: prime,
        left,
        right,
    };
    let each = [(lanes, 1)];
    let by_lane = steps.share(product(select(&x, &each, &[]), select(&y, &each, &[])))?;
    let rows = [(lanes, 1), (lanes, 0)];
    let columns = [(lanes, 0), (lanes, 1)];
    let all = steps.share(product(select(&x, &rows, &[]), select(&y, &columns, &[])))?;
    let inner = steps.share(product(select(&x, &[], &each), select(&y, &[], &each)))?;
    let term = |share, factor: i64| Term {
        share,
        factor: Factor::Number(factor as u64),
    };
    let terms = [term(&*by_lane, 3), term(&*y, -2)];
    let share = steps.side.party.linear(prime, lanes, &terms)?;
    let sum = steps.share(Step::Convert {
        from: prime,
        to: bits,
        bits: 12,
        signed: true,
        share: Arc::new(share),
    })?;
    let checks = std::mem::take(&mut steps.checks);
    steps.run(Step::Settle { checks })?;
    *settled = true;
    let to = PartySet::of(setting.everyone());
    let results = [(all, prime), (inner, prime), (sum, bits)];
    let results = results.map(|(share, domain)| Opened { share, domain, to });
    match steps.run(Step::Open {
        results: results.into(),
    })? {
        Outcome::Opened(values, ()) => {
            steps.side.mesh.finish()?;
            Ok(copied(values))
        }
        _ => panic!("results are due"),
    }
}

#[test]
fn integers_are_computed_at_their_cost() {
    // One segment, several, and parties without a role.
    for (parties, owner, lanes) in [(3, 1, 3), (3, 2, 1), (4, 3, 45), (5, 4, 70)] {
        for end in run(parties, owner, lanes, None) {
            assert!(end.settled, "{:?}", end.learnt);
            assert_eq!(end.learnt.unwrap(), expected(lanes));
        }
    }
}

/// One bit of any message of any role: the others stop, or learn the right results. A message of a
/// step on integers that is wrong is found before anything is opened.
#[test]
fn any_bit_of_a_message_about_integers_is_found() {
    let want = expected(2);
    let honest = run(3, 1, 2, None);
    let mut found = 0;
    for (cheat, end) in honest.iter().enumerate() {
        // Keys, and its own input.
        let own = [2, 1, 1][cheat]..[3, 2, 1][cheat];
        for (message, bytes) in end.sent.iter().enumerate() {
            let bits = 8 * bytes.len();
            for bit in (0..bits).step_by(if bits > 400 { 97 } else { 11 }) {
                let ends = run(3, 1, 2, Some((cheat, message, bit)));
                let place = format!("bit {bit} of message {message} of role {cheat}");
                let others = ends.into_iter().enumerate();
                for (party, end) in others.filter(|(party, _)| *party != cheat) {
                    let right = end.learnt.as_ref().is_ok_and(|got| *got == want);
                    let accepted = end.learnt.is_ok();
                    assert!(
                        !accepted || right || own.contains(&message),
                        "{place}: {party}"
                    );
                    match &end.learnt {
                        Err(Fault::Disputed { between, .. }) => {
                            found += 1;
                            assert!(between.contains(PartyId::from_index(cheat)), "{place}");
                        }
                        Err(Fault::Altered(party) | Fault::Peer { party, .. }) => {
                            assert_eq!(party.index(), cheat, "{place}");
                        }
                        _ => {}
                    }
                }
            }
        }
    }
    assert!(found > 500, "{found}");
}

/// A value of a step on integers that is wrong at its sender too: whoever receives it has the same,
/// so that only the statement about this value finds it.
#[test]
fn a_value_that_its_sender_uses_as_well_is_found() {
    // Role 0 inputs the bits of both conversions; each role shares in their products and in three.
    for (cheat, values) in [7, 5, 5].into_iter().enumerate() {
        for value in 0..values + 1 {
            WRONG.set(Some((cheat, value)));
            for (party, end) in run(3, 1, 2, None).into_iter().enumerate() {
                let place = format!("value {value} of role {cheat} at {party}");
                match end.learnt {
                    // There is no such value.
                    Ok(learnt) if value == values => assert_eq!(learnt, expected(2)),
                    Err(Fault::Disputed { between, .. }) if party != cheat => {
                        assert!(between.contains(PartyId::from_index(cheat)), "{place}");
                    }
                    Err(Fault::Peer { .. } | Fault::Net(_)) => {}
                    Err(_) if party == cheat => {}
                    other => panic!("{place}: {other:?}"),
                }
                assert_eq!(
                    end.settled && party != cheat,
                    value == values && party != cheat
                );
            }
        }
    }
    WRONG.set(None);
}

/// If a bit of any message is changed, an input that becomes integers and a product among them,
/// somebody finds it for all inputs or for none: which would tell the cheat about those of others.
#[test]
fn whether_a_run_with_integers_stops_does_not_depend_on_inputs() {
    let (mut always, mut never) = (0, 0);
    for (cheat, end) in run(3, 1, 1, None).iter().enumerate() {
        for (message, bytes) in end.sent.iter().enumerate() {
            for bit in (message % 7..8 * bytes.len()).step_by(61) {
                let stops = [0, 3, 5, 10].map(|first| {
                    FIRST.set(first);
                    let ends = run(3, 1, 1, Some((cheat, message, bit)));
                    // Who hears of it from others depends on who is first.
                    let found = |end: &End| !matches!(end.learnt, Ok(_) | Err(Fault::Net(_)));
                    ends.iter().any(found)
                });
                assert_eq!(stops, [stops[0]; 4], "{cheat} {message} {bit}");
                if stops[0] {
                    always += 1;
                } else {
                    never += 1;
                }
            }
        }
        FIRST.set(0);
    }
    assert!(always > 100 && never < 10, "{always} {never}");
}
