//! Iterations of both directions in step: messages of one share flights with those of the other.
//!
//! Each party is sender of one direction and receiver of the other, and does the same:
//!
//! ```text
//! as sender                           as receiver
//! trees --->
//!                                     reads trees, makes rows; point, sum --->
//! reads point and sum; proof --->
//! keeps and hands out rows
//! [trees of the next iteration --->]
//!                                     compares the proof
//!                                     keeps and hands out rows
//! ```
//!
//! So an iteration takes two flights more than the one before, in both directions together. A
//! sender can send trees while its proof is on the way, since its rows depend on no message of the
//! receiver. Nothing of a direction enters the other one: offsets, keys, the names of both runs in
//! hashes, and masks are of one direction each. A receiver uses no row before its check.
//!
//! After any error nothing is left of either direction.

use super::keys::Keys;
use super::params::Params;
use super::receiver::{self, ReceiverPart};
use super::run::{ExtensionState, Link, Outcome, Part, RunningExtension, Turn};
use super::sender::{self, SenderPart};
use super::{FerretReceiver, FerretSender};
use crate::source::stock::Batch;
use crate::traits::{CotReceiver, CotSender};
use crate::{Result, Role};
use sealane_block::{Block, Coins, Cpu, Nonce};
use sealane_net::Mesh;
use sealane_parties::PartyId;
use zeroize::Zeroizing;

/// A direction in which this party sends: where its rows go, in exchange for memory for those of
/// the next iteration, and whether trees of that follow at once.
pub(crate) struct Sends<'a> {
    pub(crate) cot: &'a mut FerretSender,
    pub(crate) made: &'a mut Batch,
    pub(crate) more: bool,
}

/// A direction in which this party receives: where its rows and their choices go, in exchange for
/// memory as well.
pub(crate) struct Receives<'a> {
    pub(crate) cot: &'a mut FerretReceiver,
    pub(crate) made: &'a mut Batch,
}

/// Runs an iteration of each direction that is given.
///
/// # Errors
/// The network failed, or the other party deviated; nothing is left of either direction then.
///
/// # Panics
/// If rows of an earlier iteration are left, or if errors are at any places.
pub(crate) fn in_step(
    mesh: &mut Mesh,
    mut sends: Option<Sends<'_>>,
    mut receives: Option<Receives<'_>>,
) -> Outcome {
    let result = iterate(mesh, &mut sends, &mut receives);
    if result.is_err() {
        if let Some(Sends { cot, made, .. }) = sends {
            cot.0.end();
            *made = Batch::default();
        }
        if let Some(Receives { cot, made }) = receives {
            cot.0.end();
            *made = Batch::default();
        }
    }
    result
}

fn iterate(
    mesh: &mut Mesh,
    sends: &mut Option<Sends<'_>>,
    receives: &mut Option<Receives<'_>>,
) -> Outcome {
    if let Some(Sends { cot, .. }) = sends {
        let (state, mut link) = state(mesh, &mut cot.0)?;
        state.grow_next(&mut link)?;
    }
    if let Some(Receives { cot, .. }) = receives {
        let (state, mut link) = state(mesh, &mut cot.0)?;
        state.grow_next(&mut link)?;
        state.check_next(&mut link, Turn::Ask)?;
    }
    if let Some(Sends { cot, made, more }) = sends {
        let (state, mut link) = state(mesh, &mut cot.0)?;
        state.check_next(&mut link, Turn::Prove)?;
        state.take_next(made);
        if *more {
            state.grow_next(&mut link)?;
        }
    }
    if let Some(Receives { cot, made }) = receives {
        let (state, mut link) = state(mesh, &mut cot.0)?;
        state.check_next(&mut link, Turn::Compare)?;
        state.take_next(made);
    }
    Ok(())
}

fn state<'a, P: Part>(
    mesh: &'a mut Mesh,
    running: &'a mut RunningExtension<P>,
) -> Result<(&'a mut ExtensionState<P>, Link<'a>)> {
    let peer = running.peer;
    Ok((running.running()?, Link { mesh, peer }))
}

/// A set-up of both directions that waits for the other party.
pub(crate) struct BothSetup {
    cpu: Cpu,
    params: Params,
    peer: PartyId,
    receiver: ReceiverPart,
    /// Correlations of the receiver's source.
    kept: Zeroizing<Vec<Block>>,
    /// Contributions as sender and as receiver.
    contributions: [Nonce; 2],
}

impl BothSetup {
    /// Writes contributions to keys, and extends the receiver's source, which writes alone.
    ///
    /// # Errors
    /// The network failed.
    pub(crate) fn begin(
        (cpu, params, peer): (Cpu, Params, PartyId),
        source: &mut impl CotReceiver,
        mesh: &mut Mesh,
        coins: &mut Coins,
    ) -> Result<BothSetup> {
        params.check_source(source.terms().security);
        let receiver = ReceiverPart::new(cpu, &params, coins);
        let mut link = Link { mesh, peer };
        let mut contribute = || Keys::contribute(&mut link, coins);
        let contributions = [contribute()?, contribute()?];
        let mut kept = Zeroizing::new(vec![Block::ZERO; params.from_source()]);
        receiver::packed::<ReceiverPart, _>(source, mesh, &mut kept)?;
        mesh.flush()?;
        Ok(BothSetup {
            cpu,
            params,
            peer,
            receiver,
            kept,
            contributions,
        })
    }

    /// Reads what the other party has written, and runs the first iterations. An iteration of both
    /// directions has to follow: its first trees are sent.
    ///
    /// # Errors
    /// As [`in_step`], and those of the source.
    ///
    /// # Panics
    /// If bit 0 of the offset of `source` is 0, and as [`in_step`].
    pub(crate) fn finish(
        self,
        source: &mut impl CotSender,
        mesh: &mut Mesh,
        coins: &mut Coins,
    ) -> Result<(FerretSender, FerretReceiver)> {
        let BothSetup { params, peer, .. } = self;
        let sender = sender::part(self.cpu, &params, source, coins);
        let mut link = Link { mesh, peer };
        // The other party writes that of the direction in which it sends first.
        let [as_sender, as_receiver] = self.contributions;
        let received = Keys::agreed(&mut link, Role::Receiver, as_receiver)?;
        let sent = Keys::agreed(&mut link, Role::Sender, as_sender)?;
        let mut kept = Zeroizing::new(vec![Block::ZERO; params.from_source()]);
        sender::packed::<SenderPart, _>(source, mesh, &mut kept)?;
        let place = (self.cpu, params, peer);
        let sender = RunningExtension::new(place, sender, sent, kept);
        let receiver = RunningExtension::new(place, self.receiver, received, self.kept);
        let (mut sender, mut receiver) = (FerretSender(sender), FerretReceiver(receiver));
        let [sent, received] = &mut [Batch::default(), Batch::default()];
        let sends = Sends {
            cot: &mut sender,
            made: sent,
            more: true,
        };
        let receives = Receives {
            cot: &mut receiver,
            made: received,
        };
        in_step(mesh, Some(sends), Some(receives))?;
        Ok((sender, receiver))
    }
}
