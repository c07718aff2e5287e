//! Oblivious transfer: base OTs, extension in both forms, and the forms made of it. Coins of both
//! parties are secret, and with them scalars of base OTs, seeds, trees and random choices; besides
//! them the offset, given choices and chosen strings. Silent extension is in
//! [`silent`](crate::silent), one of many strings and products in
//! [`correlations`](crate::correlations).

use crate::Check;
use crate::crossing::meshes;
use crate::kernels::{secret_coins, secrets};
use crate::request::{is_secret, secret};
use sealane_block::{Block, Cpu};
use sealane_net::Mesh;
use sealane_ot::forms::{self, HashedReceiver, HashedSender, OffsetRequest, Request};
use sealane_ot::softspoken::{Receiver, Sender};
use sealane_ot::traits::{CotCost, CotReceiver, CotSender, RandomReceiver, RandomSender};
use sealane_ot::traits::{choice, packed_blocks};
use sealane_ot::{OtError, Security, SoftSpoken};
use sealane_parties::PartyId;
use std::thread;
use zeroize::Zeroizing;

/// The checks of this file. A `k` that does not divide 128 has a tree of another size.
pub const CHECKS: &[Check] = &[
    ("ot: base, extension, semi-honest, k = 1", |cpu| {
        extension(cpu, 1, Security::SemiHonest);
    }),
    ("ot: base, extension, semi-honest, k = 3", |cpu| {
        extension(cpu, 3, Security::SemiHonest);
    }),
    ("ot: base, extension, malicious, k = 1", |cpu| {
        extension(cpu, 1, Security::Malicious);
    }),
    ("ot: base, extension, malicious, k = 4", |cpu| {
        extension(cpu, 4, Security::Malicious);
    }),
    ("ot: after a failed check", fail),
    ("ot: given choices, random, chosen, new offset", forms),
];

/// The party with keys or strings, and the one with choices.
pub const SENDER: PartyId = PartyId(0);
pub const RECEIVER: PartyId = PartyId(1);
/// OTs of an extension: blocks of columns of which the last is not full.
const COUNT: usize = 300;
/// OTs of each form, and blocks of a chosen string.
const FEW: usize = 21;
const LENGTH: usize = 3;

/// Two calls of one set-up.
fn extension(cpu: Cpu, k: u8, security: Security) {
    let parameters = SoftSpoken::new(k, security);
    both(
        cpu,
        parameters,
        |mut sender, mesh| {
            let mut q = blocks(COUNT);
            for _ in 0..2 {
                sender.extend(mesh, &mut q)?;
                assert!(is_secret(&q), "rows are made of secrets");
            }
            Ok(())
        },
        |mut receiver, mesh| {
            let (mut choices, mut t) = (blocks(packed_blocks(COUNT)), blocks(COUNT));
            for _ in 0..2 {
                receiver.extend(mesh, &mut choices, &mut t)?;
                assert!(is_secret(&t) && is_secret(&choices[..1]));
                mesh.flush()?;
            }
            Ok(())
        },
    );
}

/// A receiver whose choices differ from tree to tree: the sender has made rows when it finds out.
fn fail(cpu: Cpu) {
    let parameters = SoftSpoken::new(4, Security::Malicious);
    both(
        cpu,
        parameters,
        |mut sender, mesh| {
            let mut q = blocks(COUNT);
            let failed = matches!(sender.extend(mesh, &mut q), Err(OtError::CheckFailed(_)));
            assert!(failed && q.iter().all(|q| q.value() == 0));
            Ok(())
        },
        |_, mesh| {
            let bytes = parameters.extend(0, COUNT as u64)[0].from_receiver as usize;
            let (digest, answer) = (32, 48);
            mesh.send(SENDER, &vec![0; bytes - digest - answer])?;
            let digest = mesh.digest_sent(SENDER);
            mesh.send(SENDER, &digest)?;
            mesh.send(SENDER, &vec![0; answer])?;
            Ok(mesh.flush()?)
        },
    );
}

fn forms(cpu: Cpu) {
    let label = "memcheck";
    both(
        cpu,
        SoftSpoken::new(4, Security::Malicious),
        |sender, mesh| {
            let mut sender = HashedSender::new(cpu, mesh, sender, label);
            let mut q = blocks(FEW);
            forms::send_given(&mut sender.cot, mesh, &mut q)?;
            let mut pairs = Zeroizing::new(vec![[Block::ZERO; 2]; FEW]);
            sender.random(mesh, &mut pairs)?;
            assert!(is_secret(&q) && is_secret(pairs.as_flattened()));
            let strings = [(); 2].map(|()| secrets(FEW * LENGTH));
            let HashedSender { cot, hasher } = &mut sender;
            forms::send_chosen(cot, hasher, mesh, LENGTH, [&strings[0], &strings[1]])?;
            mesh.flush()?;
            let delta = secrets(1);
            forms::send_under(delta[0], &pairs, mesh, RECEIVER, &mut q)?;
            assert!(is_secret(&q));
            Ok(mesh.flush()?)
        },
        |receiver, mesh| {
            let mut receiver = HashedReceiver::new(cpu, mesh, receiver, label);
            let mut given = Zeroizing::new(vec![1; FEW]);
            secret(&mut given);
            let mut t = blocks(FEW);
            forms::receive_given(&mut receiver.cot, mesh, &given, &mut t)?;
            let (mut choices, mut keys) = (blocks(packed_blocks(FEW)), blocks(FEW));
            receiver.random(mesh, &mut choices, &mut keys)?;
            let request = Request::new(&mut receiver.cot, mesh, &given)?;
            mesh.flush()?;
            let mut strings = blocks(FEW * LENGTH);
            request.finish(&mut receiver.hasher, mesh, LENGTH, &mut strings)?;
            assert!(is_secret(&t) && is_secret(&keys) && is_secret(&strings));
            let random = Zeroizing::new((0..FEW).map(|j| choice(&choices, j)).collect::<Vec<_>>());
            let request = OffsetRequest::new(&given, &random, keys, mesh, SENDER)?;
            mesh.flush()?;
            let (_, t) = request.finish(mesh)?;
            assert!(is_secret(&t));
            Ok(())
        },
    );
}

/// Sets up both parties on secret coins and runs them.
pub fn both(
    cpu: Cpu,
    parameters: SoftSpoken,
    sender: impl FnOnce(Sender, &mut Mesh) -> Result<(), OtError> + Send,
    receiver: impl FnOnce(Receiver, &mut Mesh) -> Result<(), OtError>,
) {
    run(
        |mesh| {
            let delta = secrets(1);
            let coins = &mut secret_coins();
            let setup = Sender::set_up(parameters, cpu, mesh, RECEIVER, delta[0], coins)?;
            mesh.flush()?;
            sender(setup.finish(mesh)?, mesh)
        },
        |mesh| {
            let setup = Receiver::set_up(parameters, cpu, mesh, SENDER, &mut secret_coins())?;
            mesh.flush()?;
            let ready = setup.finish(mesh)?;
            mesh.flush()?;
            receiver(ready, mesh)
        },
    );
}

/// Runs two honest parties.
pub fn run(
    one: impl FnOnce(&mut Mesh) -> Result<(), OtError> + Send,
    other: impl FnOnce(&mut Mesh) -> Result<(), OtError>,
) {
    let [sent, received] = ends(one, other);
    sent.and(received).expect("both are honest");
}

/// Runs two parties, the first on a thread of its own; returns how they end.
pub fn ends(
    one: impl FnOnce(&mut Mesh) -> Result<(), OtError> + Send,
    other: impl FnOnce(&mut Mesh) -> Result<(), OtError>,
) -> [Result<(), OtError>; 2] {
    let mut ends = meshes(2).into_iter();
    let mut next = || ends.next().expect("two parties");
    let (mut here, mut there) = (next(), next());
    thread::scope(|threads| {
        let sent = threads.spawn(move || {
            one(&mut here)?;
            Ok(here.finish()?)
        });
        let received = other(&mut there).and_then(|()| Ok(there.finish()?));
        [
            sent.join().expect("the thread of the first party"),
            received,
        ]
    })
}

/// Rows to be filled.
pub fn blocks(count: usize) -> Zeroizing<Vec<Block>> {
    Zeroizing::new(vec![Block::ZERO; count])
}
