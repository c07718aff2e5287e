//! When a settlement may begin, what it covers, and whom it holds sessions against.

use super::*;
use sealane_net::SessionId;
use sealane_party::Progress;
use sealane_proof::Shape;

/// Three parties, each of which does this with an input of the first one: 1 and 0.
fn with_input(act: impl Fn(&mut Side<GuardedParty>, Arc<Share>) + Sync) {
    let setting = &Setting::in_order(&Guarded::profile(), 3);
    on_threads(Mesh::in_memory(3), |mesh| {
        let given = Given::seeded(Cpu::detect().unwrap(), 1 + u64::from(mesh.me().0));
        let side = Side::<GuardedParty>::set_up(mesh, setting, &Demand::default(), given);
        let side = &mut side.unwrap();
        let domain = Guarded::domain(Algebra::Z2);
        let x = side.input(PartyId(0), domain, 1, &[1, 0]).unwrap();
        act(side, x);
        side.mesh.finish().unwrap();
    });
}

/// The circuit on two lanes of one operand.
fn of_two_lanes<'a>(tape: &'a Tape, x: &Arc<Share>) -> Step<'a, GuardedParty> {
    Step::Tape {
        tape,
        domain: Guarded::domain(Algebra::Z2),
        lanes: 2,
        operands: vec![x.clone(), x.clone(), x.clone()],
    }
}

/// A result for all three.
fn to_all(share: &Arc<Share>) -> Vec<Opened<Share>> {
    vec![Opened {
        share: share.clone(),
        domain: Guarded::domain(Algebra::Z2),
        to: PartySet::of((0..3).map(PartyId)),
    }]
}

/// A seed of weights leaves with the settlement of what it is about, whose messages have all been
/// read: a settlement that begins while a product is under way sends none for it.
#[test]
fn seeds_leave_after_the_last_message_that_they_are_about() {
    let tape = &circuit();
    // The answers that have as many bytes come later.
    let seeds = || {
        let sent = SENT.take().into_iter();
        sent.filter(|sent| sent.len() == Shape::SEED_BYTES).count()
    };
    with_input(|side, x| {
        let product = begun(side, of_two_lanes(tape, &x));
        let early = begun(side, Step::Settle { checks: vec![] });
        assert_eq!(seeds(), 0);
        side.mesh.flush().unwrap();
        let product = advanced(side, product).expect("it has two flights");
        assert!(advanced(side, early).is_none());
        assert_eq!(seeds(), 0);
        side.mesh.flush().unwrap();
        let done = side.party.advance(product, &mut side.mesh).unwrap();
        let Progress::Done(Outcome::Share(_, checks, ())) = done else {
            panic!("a share is due");
        };
        assert_eq!(seeds(), 0);
        let mut settling = Some(begun(side, Step::Settle { checks }));
        // Of the proofs of both others.
        assert_eq!(seeds(), 2);
        while let Some(pending) = settling {
            side.mesh.flush().unwrap();
            settling = advanced(side, pending);
        }
    });
}

#[test]
fn nothing_is_opened_before_it_is_proved() {
    let (domain, tape) = (Guarded::domain(Algebra::Z2), &circuit());
    with_input(|side, x| {
        let refused = |side: &mut Side<GuardedParty>, share: &Arc<Share>| {
            let end = side.open(to_all(share));
            assert!(matches!(end, Err(Fault::Internal(_))), "it was opened");
        };
        refused(side, &x);
        side.settle().unwrap();
        let y = side.input(PartyId(1), domain, 1, &[1, 1]).unwrap();
        // The settlement was before the input.
        refused(side, &y);
        let z = side.tape(tape, domain, &[&x, &y, &x]).unwrap();
        // It settles none of the ANDs.
        side.settle().unwrap();
        refused(side, &z);
    });
}

/// Where a party agrees on other sessions with one than with another, these two do not accuse each
/// other of it alone.
#[test]
fn other_sessions_are_held_against_nobody_alone() {
    for parties in [3, 4] {
        let setting = &Setting::in_order(&Guarded::profile(), parties);
        let domain = Guarded::domain(Algebra::Z2);
        let ends = on_threads(Mesh::in_memory(parties), |mut mesh| {
            let me = mesh.me();
            if me == PartyId(1) {
                mesh.set_session(SessionId::danger_fixed([1; 32]));
            }
            let given = Given::seeded(Cpu::detect().unwrap(), 1 + u64::from(me.0));
            let side = Side::<GuardedParty>::set_up(mesh, setting, &Demand::default(), given);
            let mut side = side.unwrap();
            let input = side.input(PartyId(0), domain, 1, &[1, 0]);
            (me, input.and_then(|_| side.settle()))
        });
        let disputed = ends.iter().filter(|(me, end)| match end {
            Err(Fault::Disputed { between, check }) => {
                let others = setting.everyone().filter(|party| party != me);
                assert_eq!(*between, PartySet::of(others));
                *check == "the comparison of the session"
            }
            Err(Fault::Net(_)) => false,
            _ => panic!("{me:?} ended otherwise"),
        });
        assert!(disputed.count() > 0);
    }
}

/// A settlement without ANDs ends two flights before one that began earlier: what it covers counts.
#[test]
fn a_settlement_that_ends_later_does_not_hide_one_that_began_later() {
    let (domain, tape) = (Guarded::domain(Algebra::Z2), &circuit());
    with_input(|side, x| {
        let product = of_two_lanes(tape, &x);
        let Outcome::Share(share, checks, ()) = side.run(product).unwrap() else {
            panic!("a share is due");
        };
        let me = side.mesh.me();
        let input = Step::Input {
            owner: PartyId(1),
            domain,
            elements: 1,
            bits: 1,
            values: (me == PartyId(1)).then(|| vec![1].into()),
        };
        let first = begun(side, Step::Settle { checks });
        let input = begun(side, input);
        side.mesh.flush().unwrap();
        let first = advanced(side, first).expect("it has two more flights");
        assert!(advanced(side, input).is_none());
        let second = begun(side, Step::Settle { checks: vec![] });
        side.mesh.flush().unwrap();
        let first = advanced(side, first).expect("it has one more flight");
        assert!(advanced(side, second).is_none());
        let share = Arc::new(share);
        // The ANDs are not proved yet.
        assert!(matches!(side.open(to_all(&share)), Err(Fault::Internal(_))));
        side.mesh.flush().unwrap();
        assert!(advanced(side, first).is_none());
        // Of both lanes: 1 and 0 thrice, so `x y z` is as `x`, and the other output zero.
        let learnt = copied(side.open(to_all(&share)).unwrap());
        assert_eq!(learnt, [Some(vec![1, 0])]);
    });
}

pub(super) fn begun<'a>(
    side: &mut Side<GuardedParty>,
    step: Step<'a, GuardedParty>,
) -> GuardedPending<'a> {
    match side.party.begin(step, None, &mut side.mesh).unwrap() {
        Progress::More(pending) => pending,
        Progress::Done(_) => panic!("it has a flight"),
    }
}

pub(super) fn advanced<'a>(
    side: &mut Side<GuardedParty>,
    pending: GuardedPending<'a>,
) -> Option<GuardedPending<'a>> {
    match side.party.advance(pending, &mut side.mesh).unwrap() {
        Progress::More(pending) => Some(pending),
        Progress::Done(_) => None,
    }
}
