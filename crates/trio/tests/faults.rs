//! Peers that violate the protocol, and messages that changed in transit.

use crate::common::{domain, honest, setting};
use sealane_block::{Coins, Cpu};
use sealane_circuit::{Builder, Machine, compile};
use sealane_net::Mesh;
use sealane_parties::{PartyId, PartySet};
use sealane_protocol::{
    Demand, Domain, Factor, Fault, Outcome, Protocol, Setting, Step, Term, check_digests,
    run_alone, send_digests,
};
use sealane_trio::{Share, Trio};
use std::sync::Arc;
use zeroize::Zeroizing;

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
fn party(mut mesh: Mesh, setting: &Setting, deed: Deed) -> Result<Vec<u8>, Fault> {
    let (me, cheater) = (mesh.me(), PartyId(0));
    let cpu = Cpu::detect().unwrap();
    let coins = Coins::danger_fixed_seed(1 + u64::from(me.0));
    let mut trio = Trio::start(setting, me, cpu, coins);
    trio.prepare(&Demand::default(), &mut mesh)?;
    if me == cheater && deed != Deed::Nothing {
        let byte = if deed == Deed::Padding { 0x0f } else { 0x05 };
        mesh.send(setting.roles[2], &[byte])?;
        mesh.flush()?;
        let peers = || mesh_peers(setting);
        match deed {
            Deed::Changed => {
                let digest = mesh.digest_sent(setting.roles[1]);
                mesh.send(setting.roles[1], &digest)?;
                mesh.send(setting.roles[2], &[0; 32])?;
            }
            _ => send_digests(&mut mesh, peers())?,
        }
        mesh.flush()?;
        check_digests(&mut mesh, peers())?;
        // An honest message: its absence must not be the fault that the other cases find.
        mesh.finish()?;
        return Ok(vec![]);
    }
    let step = Step::Input {
        owner: cheater,
        domain: domain(None),
        elements: 3,
        planes: 1,
        bits: (me == cheater).then(|| Zeroizing::new(vec![1, 0, 1])),
    };
    let Outcome::Share(share, _) = run_alone(&mut trio, &mut mesh, step)? else {
        panic!("a share was due");
    };
    let step = Step::Reveal {
        results: vec![(
            Arc::new(share),
            domain(None),
            PartySet::of(setting.everyone()),
        )],
        checks: vec![],
    };
    let Outcome::Revealed(mut bits) = run_alone(&mut trio, &mut mesh, step)? else {
        panic!("results were due");
    };
    mesh.finish()?;
    Ok(bits.remove(0).map(|bits| bits.to_vec()).unwrap_or_default())
}

fn mesh_peers(setting: &Setting) -> Vec<PartyId> {
    setting
        .everyone()
        .filter(|party| *party != PartyId(0))
        .collect()
}

/// The end states of roles 0, 1 and 2.
fn ends(deed: Deed) -> [Result<Vec<u8>, Fault>; 3] {
    let setting = setting(3, [0, 2, 1]);
    let setting = &setting;
    let meshes = Mesh::in_memory(3);
    let ends = std::thread::scope(|threads| {
        let meshes = meshes.into_iter();
        let threads = meshes.map(|mesh| threads.spawn(move || party(mesh, setting, deed)));
        let threads = threads.collect::<Vec<_>>();
        threads
            .into_iter()
            .map(|end| end.join().unwrap())
            .collect::<Vec<_>>()
    });
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
    assert!(matches!(
        third,
        Err(Fault::Peer {
            party: PartyId(0),
            ..
        })
    ));
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
    let mut b = Builder::new();
    let inputs = b.input(2);
    let and = b.and(inputs[0], inputs[1]);
    let tape = compile(&b.finish(vec![vec![and]]), &Machine::ROUNDS);
    let product = |domain, left: &Arc<Share>, right: &Arc<Share>| Step::Product {
        domain,
        left: left.clone(),
        right: right.clone(),
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
        lanes,
        operands: operands.iter().map(|share| Arc::clone(share)).collect(),
    };
    let input = |owner, planes, k| Step::Input {
        owner,
        domain: domain(k),
        elements: 1,
        planes,
        bits: None,
    };
    let authenticated = Domain {
        authenticated: true,
        ..domain(Some(8))
    };
    honest(&setting, &[], |side| {
        let mut constant = |k: Option<u8>, planes: usize, elements: usize| {
            let bits = vec![1; planes * elements];
            Arc::new(side.trio.constant(domain(k), planes, elements, &bits))
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
            let end = side.trio.begin(step, &mut side.mesh);
            assert!(matches!(end, Err(Fault::Internal(_))), "step {i}");
        }
        let short = Term {
            share: &*ring,
            factor: Factor::Table(vec![1, 2]),
        };
        let end = side.trio.linear(domain(Some(8)), 3, &[short]);
        assert!(matches!(end, Err(Fault::Internal(_))));
    });
}
