//! Peers that violate the protocol, and messages that changed in transit.

use crate::common::{domain, honest, setting, tape};
use sealane_block::Cpu;
use sealane_net::Mesh;
use sealane_parties::{PartyId, PartySet};
use sealane_party::{
    Factor, Fault, Opened, Result, Selected, Step, Steps, Term, check_digests, send_digests,
};
use sealane_protocol::{Demand, Domain, Setting};
use sealane_testkit::side::{Given, Side, copied, on_threads};
use sealane_trio::{Share, TrioParty};
use std::sync::Arc;

/// The deviation of party 0.
#[derive(Clone, Copy, PartialEq)]
enum Deed {
    Nothing,
    /// Sets bits after the end of its input.
    Padding,
    /// Sends an input other than its digest says, as if a byte had changed on its way.
    Changed,
}

/// Party 0, role 0, inputs three bits, which all learn; it sends its messages by hand.
fn party(mesh: Mesh, setting: &Setting, deed: Deed) -> Result<Vec<u64>> {
    let (me, cheater) = (mesh.me(), PartyId(0));
    let given = Given::seeded(Cpu::detect().unwrap(), 1 + u64::from(me.0));
    let mut side = Side::<TrioParty>::set_up(mesh, setting, &Demand::default(), given)?;
    if me == cheater && deed != Deed::Nothing {
        let mesh = &mut side.mesh;
        let byte = if deed == Deed::Padding { 0x0f } else { 0x05 };
        mesh.send(setting.player(2), &[byte])?;
        mesh.flush()?;
        let peers = || mesh_peers(setting);
        match deed {
            Deed::Changed => {
                let digest = mesh.digest_sent(setting.player(1));
                mesh.send(setting.player(1), &digest)?;
                mesh.send(setting.player(2), &[0; 32])?;
            }
            _ => send_digests(mesh, peers())?,
        }
        mesh.flush()?;
        check_digests(mesh, peers())?;
        // An honest message: its absence must not be the fault that the other cases find.
        mesh.finish()?;
        return Ok(vec![]);
    }
    let share = side.input(cheater, domain(None), 1, &[1, 0, 1])?;
    side.settle()?;
    let (domain, to) = (domain(None), PartySet::of(setting.everyone()));
    let values = side.open(vec![Opened { share, domain, to }])?;
    side.mesh.finish()?;
    Ok(copied(values).remove(0).unwrap_or_default())
}

fn mesh_peers(setting: &Setting) -> Vec<PartyId> {
    setting.others(PartyId(0)).collect()
}

/// The end states of roles 0, 1 and 2.
fn ends(deed: Deed) -> [Result<Vec<u64>>; 3] {
    let setting = setting(3, [0, 2, 1]);
    let ends = on_threads(Mesh::in_memory(3), |mesh| party(mesh, &setting, deed));
    let [first, third, second] = ends.try_into().ok().unwrap();
    [first, second, third]
}

#[test]
fn an_honest_input_is_learnt_by_all() {
    for end in ends(Deed::Nothing) {
        assert_eq!(end.unwrap(), [1, 0, 1]);
    }
}

#[test]
fn bits_after_the_end_of_a_message_are_refused() {
    let [_, second, third] = ends(Deed::Padding);
    let refused = matches!(third, Err(Fault::Peer { party, .. }) if party == PartyId(0));
    assert!(refused);
    assert!(matches!(second, Err(Fault::Net(_))));
}

#[test]
fn a_digest_of_something_else_is_refused_before_anything_is_revealed() {
    let [_, second, third] = ends(Deed::Changed);
    assert!(matches!(third, Err(Fault::Altered(PartyId(0)))));
    // Role 1's digests agree; it waits for role 0's opening, which never comes.
    assert!(matches!(second, Err(Fault::Net(_))));
}

#[test]
fn steps_that_make_no_sense_are_internal_errors() {
    let setting = setting(3, [2, 1, 0]);
    let tape = tape([1, 1], |b, [x, y]| vec![b.and(x[0], y[0])]);
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
    honest(&setting, &[], |side| {
        let mut constant = |k: Option<u8>, bits: usize, elements: usize| {
            let values = vec![(1 << bits) - 1; elements];
            Arc::new(side.trio.constant(domain(k), bits, &values))
        };
        let bits = constant(None, 2, 3);
        let (ring, longer) = (constant(Some(8), 8, 3), constant(Some(8), 8, 4));
        let senseless = [
            product(domain(None), &bits, &bits),
            product(domain(Some(8)), &bits, &bits),
            product(domain(Some(8)), &ring, &longer),
            product(authenticated, &ring, &ring),
            convert(Some(8), None, 9, &ring),
            convert(Some(8), Some(9), 8, &ring),
            convert(None, None, 2, &bits),
            convert(None, Some(8), 3, &bits),
            convert(Some(8), None, 8, &bits),
            run(&[&bits], 4),
            run(&[&bits, &bits], 3),
            run(&[&ring, &ring], 3),
            input(side.me, 1, None),
            input(side.me, 7, Some(8)),
            input(PartyId(3), 1, None),
        ];
        for (i, step) in senseless.into_iter().enumerate() {
            let end = side.trio.begin(step, None, &mut side.mesh);
            assert!(matches!(end, Err(Fault::Internal(_))), "step {i}");
        }
        let (share, factor) = (&*ring, Factor::Table(vec![1, 2]));
        let short = Term { share, factor };
        let end = side.trio.linear(domain(Some(8)), 3, &[short]);
        assert!(matches!(end, Err(Fault::Internal(_))));
    });
}
