//! Sorts whose passes are proved before their places are opened.

use super::settlements::{advanced, begun};
use super::*;
use crate::guarded::turns::Turned;
use crate::order::Order;
use crate::sort::place_bits;
use sealane_party::KeyBit;

thread_local! {
    /// The turn of which this thread takes another order.
    static TURN: Cell<Option<usize>> = const { Cell::new(None) };
    /// The value of a shuffle that this thread proves and verifies otherwise.
    static VALUE: Cell<Option<usize>> = const { Cell::new(None) };
    /// The component, this role's own or the next, of which this thread opens another first place.
    static PLACE: Cell<Option<usize>> = const { Cell::new(None) };
}

/// The order as this thread uses it.
pub(crate) fn harmed_order(mut order: Order, turn: usize) -> Order {
    if TURN.get() == Some(turn) {
        order.swap();
    }
    order
}

/// A shuffle as this thread proves and verifies it.
pub(crate) fn harmed_turn(mut turned: Box<Turned>) -> Box<Turned> {
    if let Some(value) = VALUE.get() {
        turned.harm(value);
    }
    turned
}

/// Both components of places as this thread opens and confirms them.
pub(crate) fn harmed_places(mut both: [Planes<u64>; 2]) -> [Planes<u64>; 2] {
    if let Some(component) = PLACE.get() {
        both[component].data_mut()[0] ^= 1;
    }
    both
}

/// Rows of so many bits, as numbers, and the bits that they are sorted by.
struct Case {
    bits: usize,
    rows: Vec<u64>,
    key: Vec<KeyBit>,
}

/// A deviation: of a bit of a message, of the order of a turn, of a value of the shuffle, or of the
/// first place in a component that is opened.
#[derive(Clone, Copy)]
enum Harm {
    Message(usize, usize),
    Order(usize),
    Value(usize),
    Place(usize),
}

impl Case {
    fn new(bits: usize, rows: &[u64], key: &[(usize, bool)]) -> Case {
        let bit = |&(plane, inverted): &(usize, bool)| KeyBit { plane, inverted };
        Case {
            bits,
            rows: rows.to_vec(),
            key: key.iter().map(bit).collect(),
        }
    }

    /// The rows in order.
    fn sorted(&self) -> Vec<u64> {
        let mut rows = self.rows.clone();
        rows.sort_by_key(|row| {
            let bit = |of: &KeyBit| (row >> of.plane & 1) ^ u64::from(of.inverted);
            self.key.iter().rev().map(bit).collect::<Vec<_>>()
        });
        rows
    }

    /// Runs the sort of rows of `owner`; all learn them. One party may deviate.
    fn run(&self, parties: usize, owner: u8, harm: Option<(usize, Harm)>) -> Vec<End> {
        self.run_harmed(parties, owner, harm.as_slice())
    }

    /// The same with any number of parties that deviate.
    fn run_harmed(&self, parties: usize, owner: u8, harms: &[(usize, Harm)]) -> Vec<End> {
        let setting = &Setting::in_order(&Guarded::profile(), parties);
        on_threads(Mesh::in_memory(parties), |mesh| {
            let me = mesh.me();
            HARM.set(None);
            TURN.set(None);
            VALUE.set(None);
            PLACE.set(None);
            for (_, harm) in harms.iter().filter(|(party, _)| *party == me.index()) {
                match *harm {
                    Harm::Message(number, bit) => HARM.set(Some((number, bit))),
                    Harm::Order(turn) => TURN.set(Some(turn)),
                    Harm::Value(value) => VALUE.set(Some(value)),
                    Harm::Place(component) => PLACE.set(Some(component)),
                }
            }
            SENT.take();
            let mut settled = false;
            let learnt = self.party(mesh, setting, PartyId(owner), &mut settled);
            End {
                learnt,
                sent: SENT.take(),
                settled,
            }
        })
    }

    fn party(
        &self,
        mesh: Mesh,
        setting: &Setting,
        owner: PartyId,
        settled: &mut bool,
    ) -> Result<Vec<Option<Vec<u64>>>> {
        let domain = Guarded::domain(Algebra::Z2);
        let shape = StepShape::input(owner, domain, self.rows.len() as u64, self.bits as u64);
        let demand = Guarded::demand(setting, &shape);
        let given = Given::seeded(Cpu::detect().unwrap(), 1 + u64::from(mesh.me().0));
        let mut side = Side::<GuardedParty>::set_up(mesh, setting, &demand, given)?;
        let mut reckoning = Reckoning::new(setting.parties);
        reckoning.add(&Guarded::set_up_cost(setting, &demand), &side.mesh);
        let mut step = |side: &mut Side<GuardedParty>, step: Step<'_, GuardedParty>| {
            let cost = Guarded::cost(setting, &step.shape());
            let outcome = side.run(step)?;
            reckoning.add(&cost, &side.mesh);
            Ok::<_, Fault>(outcome)
        };
        let input = Step::Input {
            owner,
            domain,
            elements: self.rows.len(),
            bits: self.bits,
            values: (owner == side.mesh.me()).then(|| self.rows.clone().into()),
        };
        let share = |outcome| match outcome {
            // All of a sort is proved within it.
            Outcome::Share(share, left, ()) if left.is_empty() => Arc::new(share),
            _ => panic!("a share is due"),
        };
        let rows = share(step(&mut side, input)?);
        let sort = Step::Sort {
            domain,
            share: rows,
            key: self.key.clone(),
        };
        let sorted = share(step(&mut side, sort)?);
        step(&mut side, Step::Settle { checks: vec![] })?;
        *settled = true;
        let results = vec![Opened {
            share: sorted,
            domain,
            to: PartySet::of(setting.everyone()),
        }];
        match step(&mut side, Step::Open { results })? {
            Outcome::Opened(values, ()) => {
                side.mesh.finish()?;
                Ok(copied(values))
            }
            _ => panic!("results are due"),
        }
    }

    /// Numbers of the messages of a role: the first of the sort, the first answer of its only
    /// pass, and the first of its places.
    fn messages(&self, parties: usize, owner: u8, role: usize) -> [usize; 3] {
        let keys = 1 + usize::from(role == 0) + usize::from(role == usize::from(owner));
        let guests = parties - 3;
        let levels = place_bits(self.rows.len() as u64) as usize;
        let ands = crate::guarded::cost::flights(crate::guarded::places::flags(self.key.len()));
        let shuffled = keys + ands + levels + 2;
        // Digests of inputs and of the seed of masks, halves of seeds, proofs.
        let answers = shuffled + 2 * guests + usize::from(role > 0) + 2 + 2;
        [keys, answers, answers + 2]
    }
}

/// Numbers without a pattern.
fn numbers(count: usize, bits: usize) -> Vec<u64> {
    let mixed = |i: u64| (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (0..count as u64).map(|i| mixed(i) >> (64 - bits)).collect()
}

/// Rows of one word and of several, across the border that places push them over, by keys of no
/// pass, one and two; around words of rows; enough for several segments and for the grid.
#[test]
fn sorts_are_stable_and_have_the_stated_cost() {
    let few = [(0, false)];
    let key = [(1, false), (0, true), (3, false), (2, false)];
    for (parties, owner, bits, rows, key) in [
        (3, 0, 1, 1, &few[..]),
        (3, 1, 3, 5, &[]),
        (3, 2, 1, 2, &few),
        (3, 0, 5, 3, &key[..2]),
        (4, 3, 5, 5, &key[..3]),
        (3, 1, 5, 64, &key),
        (4, 3, 63, 65, &key),
        (5, 4, 64, 20, &key[..1]),
        (4, 3, 6, 700, &key),
    ] {
        let case = Case::new(bits, &numbers(rows, bits), key);
        let want = [Some(case.sorted())];
        for end in case.run(parties, owner, None) {
            assert_eq!(end.learnt.unwrap(), want, "{rows} rows of {bits} bits");
        }
    }
}

/// One bit of any message of a sort. If it belongs to what a pass proves, no other party opens a
/// place; what each of the others learns is right, or it stops and accuses the right ones.
#[test]
fn any_bit_of_any_message_of_a_sort_is_found_or_has_no_effect() {
    let cases = [
        (3, 1, Case::new(2, &[3, 0, 1], &[(0, true)])),
        (4, 3, Case::new(2, &[2, 1], &[(1, false), (0, false)])),
    ];
    for (parties, owner, case) in cases {
        let want = [Some(case.sorted())];
        let honest = case.run(parties, owner, None);
        for (cheat, end) in honest.iter().enumerate().take(3) {
            let [first, answers, places] = case.messages(parties, owner, cheat);
            assert_eq!(end.sent[places + 1].len(), 32, "a digest of places");
            for (message, bytes) in end.sent.iter().enumerate().skip(first) {
                let bits = 8 * bytes.len();
                let step = if bits > 64 { 61 } else { 1 };
                for bit in (0..bits).step_by(step) {
                    let harm = Some((cheat, Harm::Message(message, bit)));
                    let place = format!("bit {bit} of message {message} of party {cheat}");
                    let others = case.run(parties, owner, harm).into_iter().enumerate();
                    for (party, end) in others.filter(|(party, _)| *party != cheat) {
                        checked(&end, &want, cheat, &place);
                        if message < answers && party < 3 {
                            let [.., opens] = case.messages(parties, owner, party);
                            assert!(end.sent.len() <= opens, "{place}: {party} opens");
                            assert!(end.learnt.is_err(), "{place}: {party}");
                        }
                    }
                }
            }
        }
    }
}

/// An owner without a role that gives different holders different rows is found before a proof.
#[test]
fn rows_that_holders_have_otherwise_are_found_before_places_are_opened() {
    let case = Case::new(2, &[3, 0, 1], &[(0, true)]);
    let honest = case.run(4, 3, None);
    for message in 0..honest[3].sent.len() {
        // The first and the last bit of the rows.
        for bit in [0, 5] {
            let ends = case.run(4, 3, Some((3, Harm::Message(message, bit))));
            let found = ends.iter().any(|end| {
                let check = "the comparison of what owners gave";
                matches!(&end.learnt, Err(Fault::Disputed { check: of, between })
                    if *of == check && between.contains(PartyId(3)))
            });
            assert!(found, "bit {bit} of message {message}");
            for (party, end) in ends.iter().enumerate().take(3) {
                let [.., opens] = case.messages(4, 3, party);
                assert!(end.sent.len() <= opens, "{message}: {party} opens");
                assert!(end.learnt.is_err(), "{message}: {party}");
            }
        }
    }
}

/// The end of an honest party: the right result, or a fault that accuses the cheat.
fn checked(end: &End, want: &[Option<Vec<u64>>], cheat: usize, place: &str) {
    match &end.learnt {
        Ok(learnt) => assert_eq!(learnt, want, "{place}"),
        Err(Fault::Disputed { between, .. }) => {
            assert!(between.contains(PartyId::from_index(cheat)), "{place}");
        }
        Err(Fault::Altered(party) | Fault::Peer { party, .. }) => {
            assert_eq!(party.index(), cheat, "{place}");
        }
        Err(Fault::Net(_)) => {}
        Err(other) => panic!("{place}: {other}"),
    }
}

/// Another order in a turn, and any other value of the shuffle in proof and checks.
#[test]
fn another_order_or_value_of_a_shuffle_is_found_before_places_are_opened() {
    let case = Case::new(3, &[5, 0, 3, 6], &[(0, false), (2, true)]);
    let want = [Some(case.sorted())];
    let turns = (0..3).map(Harm::Order);
    let harms = turns.chain((0..Turned::VALUES).map(Harm::Value));
    for (number, harm) in harms.enumerate() {
        for cheat in 0..3 {
            let place = format!("deviation {number} of party {cheat}");
            let follows = matches!(harm, Harm::Order(turn) if (cheat + 3 - turn) % 3 == 2);
            let mut stopped = 0;
            let ends = case.run(3, 0, Some((cheat, harm)));
            for (party, end) in ends.iter().enumerate().filter(|(party, _)| *party != cheat) {
                checked(end, &want, cheat, &place);
                // A wrong value of a verifier makes its answer wrong, which the other one finds.
                let proves = matches!(harm, Harm::Order(_) | Harm::Value(4 | 5));
                let [.., opens] = case.messages(3, 0, party);
                if proves && !follows {
                    assert!(end.sent.len() <= opens, "{place}: {party} opens");
                }
                stopped += usize::from(end.learnt.is_err());
            }
            assert_eq!(stopped > 0, !follows, "{place}");
        }
    }
}

/// Places that are proved and are no permutation are what an honest role sees if a false proof
/// escapes. Both holders of the component that it lacks say the same here, which has that effect
/// without the luck: the role accuses both others, of whom one proved and one checked.
#[test]
fn proved_places_that_are_no_order_are_held_against_both_others() {
    let case = Case::new(2, &[3, 0, 1], &[(0, true)]);
    for role in 0..3 {
        let others = [1, 2].map(|ahead| (role + ahead) % 3);
        // The component that it lacks is the next one of the next role, and the last one's own.
        let harms = [(others[0], Harm::Place(1)), (others[1], Harm::Place(0))];
        let ends = case.run_harmed(3, 1, &harms);
        match &ends[role].learnt {
            Err(Fault::Disputed { between, check }) => {
                assert_eq!(*between, PartySet::of(others.map(PartyId::from_index)));
                assert_eq!(*check, "the check of proved places");
            }
            other => panic!("role {role}: {other:?}"),
        }
    }
}

/// If a bit of a message of a sort is changed, somebody finds a fault for all rows or for none.
#[test]
fn whether_a_sort_stops_does_not_depend_on_its_rows() {
    let case = |rows: u64| Case::new(1, &[rows & 1, rows >> 1], &[(0, false)]);
    for cheat in 0..3 {
        let [first, ..] = case(0).messages(3, 1, cheat);
        let all = case(0).run(3, 1, None)[cheat].sent.len();
        for message in first..all {
            let stops = (0..4).map(|rows| {
                let ends = case(rows).run(3, 1, Some((cheat, Harm::Message(message, 0))));
                // Who hears of it from others depends on who is first.
                let found = |end: &End| !matches!(end.learnt, Ok(_) | Err(Fault::Net(_)));
                ends.iter().any(found)
            });
            let stops = stops.collect::<Vec<_>>();
            assert!(
                stops.iter().all(|of| *of == stops[0]),
                "{cheat} {message}: {stops:?}"
            );
        }
    }
}

/// Bytes of places leave a role in the last flight of a pass, after all three of its settlement.
#[test]
fn places_leave_after_the_last_flight_of_the_proof() {
    let case = Case::new(2, &[3, 0, 1, 2, 0], &[(0, false), (1, false)]);
    let setting = &Setting::in_order(&Guarded::profile(), 3);
    let domain = Guarded::domain(Algebra::Z2);
    on_threads(Mesh::in_memory(3), |mesh| {
        SENT.take();
        let given = Given::seeded(Cpu::detect().unwrap(), 1 + u64::from(mesh.me().0));
        let side = Side::<GuardedParty>::set_up(mesh, setting, &Demand::default(), given);
        let side = &mut side.unwrap();
        let share = side
            .input(PartyId(0), domain, case.bits, &case.rows)
            .unwrap();
        let [.., opens] = case.messages(3, 0, side.mesh.me().index());
        let key = case.key.clone();
        let mut pending = Some(begun(side, Step::Sort { domain, share, key }));
        // Flags, three levels, three turns; then three flights of the proof and one of places.
        for flight in 1..=1 + 3 + 3 + 3 + 1 {
            side.mesh.flush().unwrap();
            let sent = SENT.take();
            let now = sent.len();
            SENT.set(sent);
            assert_eq!(now > opens, flight > 1 + 3 + 3 + 3, "flight {flight}");
            let state = pending.take().expect("a flight is due");
            pending = advanced(side, state);
        }
        assert!(pending.is_none());
        side.mesh.finish().unwrap();
    });
}

#[test]
fn keys_and_rows_that_no_sort_takes_are_refused() {
    let setting = &Setting::in_order(&Guarded::profile(), 3);
    let domain = Guarded::domain(Algebra::Z2);
    on_threads(Mesh::in_memory(3), |mesh| {
        let given = Given::seeded(Cpu::detect().unwrap(), 1 + u64::from(mesh.me().0));
        let side = Side::<GuardedParty>::set_up(mesh, setting, &Demand::default(), given);
        let side = &mut side.unwrap();
        let most = crate::guarded::sort::MOST_ROWS as usize;
        for (rows, plane) in [(2, 3), (most + 1, 0)] {
            let share = Arc::new(Form::bits(3, rows).shape());
            let key = vec![KeyBit {
                plane,
                inverted: false,
            }];
            let end = side.run(Step::Sort { domain, share, key });
            assert!(matches!(end, Err(Fault::Internal(_))), "{rows} rows");
        }
        side.mesh.finish().unwrap();
    });
}
