//! Peers that violate the protocol, and messages that changed in transit.

use crate::common::{arbitrary, domain, setting};
use sealane_block::Cpu;
use sealane_circuit::{Builder, Machine, Tape, compile};
use sealane_mixed::{Gmw, GmwParty, Share};
use sealane_net::Mesh;
use sealane_parties::{PartyId, PartySet};
use sealane_party::{
    Factor, Fault, Form, Opened, Party, Result, Selected, Step, Steps, Term, check_digests,
    send_digests,
};
use sealane_protocol::{
    Demand, Domain, Numbers, ProductShape, Protocol, RingOp, RingShape, Setting, StepShape,
};
use sealane_testkit::side::{Given, Side, copied, on_threads};
use std::sync::Arc;

/// The deviation of role 0 where it sends a message by hand.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Deed {
    Nothing,
    /// Sets bits after the end of its message.
    Padding,
    /// Sends fewer bytes, and goes.
    Truncated,
    /// Sends something else than its digest says, as if a byte had changed on its way.
    Changed,
}

/// A message of role 0 that is sent by hand.
#[derive(Clone, Copy, Debug, PartialEq)]
enum At {
    /// In an AND: two bits for each of three lanes.
    And,
    /// In a choice among elements of five bits: three bits, and then fifteen.
    Select,
    /// In a product by its own numbers of two bits: three of them.
    Known,
    /// In a product by numbers of the other party: three elements of five bits.
    Met,
    /// In a bit that becomes an element.
    Bit,
    /// In the result: three elements of five bits.
    Open,
}

const K: Option<u8> = Some(5);

fn and() -> Tape {
    let mut b = Builder::new();
    let (x, y) = (b.input(1)[0], b.input(1)[0]);
    let and = b.and(x, y);
    compile(&b.finish(vec![vec![and]]), &Machine::ROUNDS)
}

/// Messages of role 0: sizes in bits.
fn sizes(at: At) -> &'static [usize] {
    match at {
        At::And => &[6],
        At::Select => &[3, 15],
        At::Known => &[6],
        At::Met | At::Open => &[15],
        At::Bit => &[3],
    }
}

/// The step that is attacked, on shares that both parties make for themselves.
fn step<'a>(at: At, tape: &'a Tape, setting: &Setting, party: &mut GmwParty) -> Step<'a, GmwParty> {
    let mut share = |k: Option<u8>| {
        let bits = usize::from(k.unwrap_or(1));
        Arc::new(party.constant(domain(k), bits, &arbitrary(1, 3, bits as u8)))
    };
    let (bit, ring) = (share(None), share(K));
    let product = |holder: usize| {
        let holder = setting.player(holder);
        Step::Product {
            domain: domain(K),
            left: crate::common::known(&ring, holder, (2, false)),
            right: Selected::whole(ring.clone()),
        }
    };
    match at {
        At::And => Step::Tape {
            tape,
            domain: domain(None),
            lanes: 3,
            operands: vec![bit.clone(), bit],
        },
        At::Select => Step::Ring {
            op: RingOp::Select,
            domain: domain(K),
            bits: 5,
            signed: false,
            bit: Some(bit),
            share: ring,
        },
        At::Known => product(0),
        At::Met => product(1),
        At::Bit => Step::Convert {
            from: domain(None),
            to: domain(K),
            bits: 1,
            signed: false,
            share: bit,
        },
        At::Open => Step::Open {
            results: vec![Opened {
                share: ring,
                domain: domain(K),
                to: PartySet::of(setting.everyone()),
            }],
        },
    }
}

fn party(mesh: Mesh, setting: &Setting, at: At, deed: Deed) -> Result<()> {
    let (me, tape) = (mesh.me(), and());
    let given = Given::seeded(Cpu::detect().unwrap(), 1 + u64::from(me.0));
    let mut demand = Demand::default();
    // The shape of the step is that of any party.
    let shape =
        |party: &mut GmwParty| Gmw::demand(setting, &step(at, &tape, setting, party).shape());
    demand.merge(
        &Gmw::demand(setting, &StepShape::tape(&tape, domain(None), 1)),
        1,
    );
    let mut side = Side::<GmwParty>::set_up(mesh, setting, &demand, given)?;
    let demand = shape(&mut side.party);
    side.party.refill(&demand, &mut side.mesh)?;
    side.mesh.flush()?;
    let cheats = setting.role_of(me) == Some(0) && deed != Deed::Nothing;
    if !cheats {
        let step = step(at, &tape, setting, &mut side.party);
        side.run(step)?;
        side.settle()?;
        return Ok(side.mesh.finish()?);
    }
    let (peer, mesh) = (setting.player(1), &mut side.mesh);
    for (n, bits) in sizes(at).iter().enumerate() {
        let mut bytes = vec![0; bits.div_ceil(8)];
        if n + 1 == sizes(at).len() {
            match deed {
                Deed::Padding => *bytes.last_mut().unwrap() = 0x80,
                Deed::Truncated => drop(bytes.pop()),
                _ => {}
            }
        }
        mesh.send(peer, &bytes)?;
    }
    mesh.flush()?;
    match deed {
        Deed::Changed => mesh.send(peer, &[0; 32])?,
        Deed::Padding => send_digests(mesh, [peer])?,
        Deed::Nothing | Deed::Truncated => return Ok(mesh.finish()?),
    }
    mesh.flush()?;
    check_digests(mesh, [peer])?;
    Ok(mesh.finish()?)
}

/// How role 1 ends.
fn end(at: At, deed: Deed, order: [u8; 2]) -> Result<()> {
    let setting = setting(2, order);
    let mut ends = on_threads(Mesh::in_memory(2), |mesh| party(mesh, &setting, at, deed));
    ends.swap_remove(setting.player(1).index())
}

const ALL: [At; 6] = [At::And, At::Select, At::Known, At::Met, At::Bit, At::Open];

#[test]
fn honest_steps_end() {
    for at in ALL {
        end(at, Deed::Nothing, [0, 1]).unwrap();
    }
}

#[test]
fn bits_after_the_end_of_a_message_are_refused() {
    for at in ALL {
        let fault = end(at, Deed::Padding, [1, 0]);
        let refused = matches!(fault, Err(Fault::Peer { party, .. }) if party == PartyId(1));
        assert!(refused, "{at:?}");
    }
}

#[test]
fn messages_that_are_too_short_end_a_run() {
    for at in ALL {
        let fault = end(at, Deed::Truncated, [0, 1]);
        assert!(matches!(fault, Err(Fault::Net(_))), "{at:?}");
    }
}

#[test]
fn a_digest_of_something_else_is_refused() {
    for at in ALL {
        let fault = end(at, Deed::Changed, [0, 1]);
        assert!(matches!(fault, Err(Fault::Altered(PartyId(0)))), "{at:?}");
    }
}

/// An owner without a role sends bits after the end of the rest of its input.
#[test]
fn an_input_with_bits_after_its_end_is_refused() {
    let setting = setting(3, [2, 1]);
    let owner = PartyId(0);
    let demand = {
        let work = StepShape::input(owner, domain(None), 3, 1);
        Gmw::demand(&setting, &work)
    };
    for padding in [0, 0x08] {
        let ends = on_threads(Mesh::in_memory(3), |mesh| -> Result<Vec<u64>> {
            let given = Given::seeded(Cpu::detect().unwrap(), 1 + u64::from(mesh.me().0));
            let mut side = Side::<GmwParty>::set_up(mesh, &setting, &demand, given)?;
            if side.mesh.me() == owner && padding > 0 {
                side.mesh.send(setting.player(1), &[padding])?;
                side.mesh.flush()?;
                side.mesh.finish()?;
                return Ok(vec![]);
            }
            let share = side.input(owner, domain(None), 1, &[1, 0, 1])?;
            side.settle()?;
            let (domain, to) = (domain(None), PartySet::of(setting.everyone()));
            let values = side.open(vec![Opened { share, domain, to }])?;
            side.mesh.finish()?;
            Ok(copied(values).remove(0).unwrap_or_default())
        });
        let [_, second, _] = &ends[..] else {
            panic!("three parties");
        };
        match padding {
            0 => ends
                .iter()
                .for_each(|end| assert_eq!(*end.as_ref().unwrap(), [1, 0, 1])),
            _ => assert!(matches!(second, Err(Fault::Peer { party, .. }) if *party == owner)),
        }
    }
}

#[test]
fn steps_that_make_no_sense_are_internal_errors() {
    let setting = setting(2, [1, 0]);
    let tape = and();
    let product = |domain, left: &Arc<Share>, right: &Arc<Share>| Step::Product {
        domain,
        left: Selected::whole(left.clone()),
        right: Selected::whole(right.clone()),
    };
    let convert = |from, to, bits, share: &Arc<Share>| Step::Convert {
        from: domain(from),
        to: domain(to),
        bits,
        signed: false,
        share: share.clone(),
    };
    let ring = |op, k, bit: Option<&Arc<Share>>, share: &Arc<Share>| Step::Ring {
        op,
        domain: domain(k),
        bits: 8,
        signed: false,
        bit: bit.cloned(),
        share: share.clone(),
    };
    let run = |operands: &[&Arc<Share>], lanes| Step::Tape {
        tape: &tape,
        domain: domain(None),
        lanes,
        operands: operands.iter().map(|share| Arc::clone(share)).collect(),
    };
    let input = |owner, bits, k| Step::Input {
        owner,
        domain: domain(k),
        elements: 1,
        bits,
        values: None,
    };
    let authenticated = Domain {
        authenticated: true,
        ..domain(Some(8))
    };
    // More than these steps could take, but for the last one.
    let mut demand = Demand::default();
    let mut take = |work: StepShape| demand.merge(&Gmw::demand(&setting, &work), 9);
    take(StepShape::tape(&tape, domain(None), 3));
    for op in [
        RingOp::Select,
        RingOp::Floor { by: 4 },
        RingOp::Extract { first: 0, count: 8 },
    ] {
        take(StepShape::Ring(RingShape {
            op,
            domain: domain(Some(8)),
            lanes: 4,
            bits: 8,
            signed: false,
        }));
    }
    take(StepShape::Product(ProductShape {
        domain: domain(Some(8)),
        lanes: 4,
        matrix: false,
        terms: 1,
        lines: [4, 4],
        distinct: [4, 4],
        numbers: [Numbers::ANY; 2],
    }));
    on_threads(Mesh::in_memory(2), |mesh| {
        let given = Given::seeded(Cpu::detect().unwrap(), 1 + u64::from(mesh.me().0));
        let mut side = Side::<GmwParty>::set_up(mesh, &setting, &demand, given).unwrap();
        side.party.refill(&demand, &mut side.mesh).unwrap();
        let shared = |k: Option<u8>, elements: usize| {
            let form = Form::of(domain(k), 1, elements).unwrap();
            Arc::new(form.share([form.encode(&vec![1; elements])]))
        };
        let (bits, many) = (shared(None, 3), shared(None, 900));
        let (elements, longer) = (shared(Some(8), 3), shared(Some(8), 4));
        let select = RingOp::Select;
        let senseless = [
            product(domain(None), &bits, &bits),
            product(domain(Some(8)), &bits, &bits),
            product(authenticated, &elements, &elements),
            convert(Some(8), None, 9, &elements),
            convert(Some(8), Some(9), 8, &elements),
            convert(None, None, 1, &bits),
            convert(None, Some(8), 3, &bits),
            convert(Some(8), None, 8, &bits),
            ring(select, Some(8), None, &elements),
            ring(select, Some(8), Some(&elements), &elements),
            ring(select, Some(8), Some(&bits), &longer),
            ring(RingOp::Floor { by: 8 }, Some(8), None, &elements),
            ring(
                RingOp::Extract { first: 7, count: 2 },
                Some(8),
                None,
                &elements,
            ),
            ring(RingOp::Extract { first: 0, count: 1 }, None, None, &bits),
            run(&[&bits], 3),
            run(&[&bits, &bits], 4),
            run(&[&elements, &elements], 3),
            input(side.mesh.me(), 7, Some(8)),
            run(&[&many, &many], 900),
        ];
        for (i, step) in senseless.into_iter().enumerate() {
            let end = side.party.begin(step, None, &mut side.mesh);
            let Err(Fault::Internal(why)) = end else {
                panic!("step {i}");
            };
            // Only the last one is refused for that.
            assert_eq!(why == "a pool is empty", i == 18, "step {i}: {why}");
        }
        let (share, factor) = (&*elements, Factor::Table(vec![1, 2]));
        let short = Term { share, factor };
        let end = side.party.linear(domain(Some(8)), 3, &[short]);
        assert!(matches!(end, Err(Fault::Internal(_))));
    });
}
