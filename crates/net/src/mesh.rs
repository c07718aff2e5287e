//! The mesh: one channel to each other party, and one clock of rounds over all of them.
//!
//! **Rounds.** A message is what lies between two flushes. It is stamped 1 + the largest stamp
//! received from any party before it was sent; the rounds of a run are the largest stamp. Received
//! means consumed by [`Mesh::recv`], so stamps follow from the order of calls alone and never from
//! timing. A long message leaves in frames while it grows; each carries the stamp of the moment and
//! counts when its first byte is consumed.
//!
//! **Waiting.** Any party may send any amount before it or its peers receive; `links.rs` explains
//! why this cannot deadlock, and bounds the memory that it takes.

mod make;

pub use make::full_links;

use std::time::Duration;

use crate::Farewell;
use crate::cancel::Cancel;
use crate::channel::{Channel, MAX_CONTIGUOUS_BYTES};
use crate::counters::{Counters, Ledger, Traffic};
use crate::digest::{Content, Digest};
use crate::error::{Cause, NetError, Result};
use crate::frame::MAX_CONTROL_BYTES;
use crate::links::Links;
use crate::session::SessionId;
use sealane_block::Cpu;
#[cfg(doc)]
use sealane_block::PolyHash;
use sealane_identity::PublicKey;
use sealane_parties::PartyId;

/// Longest accepted duration of a run: a month.
pub const MAX_RUN_DURATION: Duration = Duration::from_secs(30 * 24 * 3600);

/// One party's view of a run: one channel to each other party, one round counter over all of them,
/// and counters by step.
///
/// Dropping a mesh without [`Mesh::finish`] or [`Mesh::abort`] leaves the run in disorder: peers
/// that wait for more see [`NetError::Vanished`].
pub struct Mesh {
    me: PartyId,
    session: SessionId,
    /// By party; empty where no keys are shown.
    pinned: Vec<PublicKey>,
    links: Links,
    ledger: Ledger,
    payload: Vec<Traffic>,
    /// Largest stamp consumed.
    received_stamp: u32,
    /// The stamp of what is sent while messages cross.
    held_stamp: Option<u32>,
    /// Largest stamp sent or consumed.
    rounds: u32,
    /// Connections by strangers that failed while the parties met.
    turned_away: usize,
}

impl Mesh {
    /// Announces that the run may take `duration`, at most [`MAX_RUN_DURATION`]: a party with
    /// little work may wait for all of it at once, so its patience grows by as much.
    pub fn expect_duration(&mut self, duration: Duration) {
        self.links.extend_patience(duration.min(MAX_RUN_DURATION));
    }

    /// Lets `cancel` end the run at this party: once it is cancelled, every call that waits,
    /// receives or sends a frame fails with [`NetError::Cancelled`]. [`Mesh::abort`] still tells
    /// the others.
    pub fn cancelled_by(&mut self, cancel: &Cancel) {
        self.links.cancelled_by(cancel);
    }

    /// Returns the token that cancels the run at this party, for work outside the mesh.
    pub fn cancel(&self) -> &Cancel {
        self.links.cancel()
    }

    /// Index of this party.
    pub fn me(&self) -> PartyId {
        self.me
    }

    /// Number of parties, this one included.
    pub fn parties(&self) -> usize {
        self.links.parties()
    }

    /// All other parties, in order.
    pub fn peers(&self) -> impl Iterator<Item = PartyId> + use<> {
        let me = self.me;
        let parties = (0..self.parties()).map(PartyId::from_index);
        parties.filter(move |party| *party != me)
    }

    /// Appends payload bytes to the message that is being written to `to`. Long messages leave in
    /// frames as they grow (streaming); the message ends at [`Mesh::flush`].
    pub fn send(&mut self, to: PartyId, bytes: &[u8]) -> Result<()> {
        self.send_content(to, bytes, Content::Any)
    }

    /// As [`Mesh::send`], of **bulk of a semi-honest protocol**, and of nothing else: its digest is
    /// a [`PolyHash`] on `cpu`, which finds accidents only. The receiver has to call
    /// [`Mesh::recv_bulk`] or [`Mesh::consume_bulk`] for the same bytes.
    ///
    /// # Errors
    /// As [`Mesh::send`].
    pub fn send_bulk(&mut self, cpu: Cpu, to: PartyId, bytes: &[u8]) -> Result<()> {
        self.send_content(to, bytes, Content::Bulk(cpu))
    }

    fn send_content(&mut self, to: PartyId, bytes: &[u8], content: Content) -> Result<()> {
        let stamp = self.stamp();
        if self.links.send(to, bytes, content, stamp)? {
            self.rounds = self.rounds.max(stamp);
        }
        self.count_sent(to, bytes.len());
        Ok(())
    }

    fn count_sent(&mut self, to: PartyId, bytes: usize) {
        self.payload[to.index()].sent += bytes as u64;
        self.ledger.sent(to.index(), bytes);
    }

    fn count_received(&mut self, from: PartyId, bytes: usize) {
        self.payload[from.index()].received += bytes as u64;
        self.ledger.received(from.index(), bytes);
    }

    fn consume_stamp(&mut self, stamp: u32) {
        self.received_stamp = self.received_stamp.max(stamp);
        self.rounds = self.rounds.max(stamp);
    }

    /// Returns at least `bytes` bytes, at most [`MAX_CONTIGUOUS_BYTES`], of the buffer of the frame
    /// that will be sent to `to`: all that the frame has left. Waits for room first. The content of
    /// the buffer is arbitrary. A frame begins at a cache line. [`Mesh::mark_written`] states how
    /// much was written; a caller that asks for room must write some of it before the message ends.
    ///
    /// # Errors
    /// [`NetError::Misuse`] for no byte or too many; else those of [`Mesh::send`].
    pub fn send_buffer(&mut self, to: PartyId, bytes: usize) -> Result<&mut [u8]> {
        check_contiguous(bytes)?;
        let stamp = self.stamp();
        if self.links.reserve(to, bytes, stamp)? {
            self.rounds = self.rounds.max(stamp);
        }
        Ok(self.links.member(to)?.send_buffer())
    }

    /// Adds the first `bytes` bytes of the buffer that [`Mesh::send_buffer`] returned last to the
    /// message.
    ///
    /// # Errors
    /// [`NetError::Misuse`] if that buffer is smaller.
    pub fn mark_written(&mut self, to: PartyId, bytes: usize) -> Result<()> {
        self.mark_content_written(to, bytes, Content::Any)
    }

    /// As [`Mesh::mark_written`], of bulk, as by [`Mesh::send_bulk`].
    ///
    /// # Errors
    /// As [`Mesh::mark_written`].
    pub fn mark_bulk_written(&mut self, cpu: Cpu, to: PartyId, bytes: usize) -> Result<()> {
        self.mark_content_written(to, bytes, Content::Bulk(cpu))
    }

    fn mark_content_written(&mut self, to: PartyId, bytes: usize, content: Content) -> Result<()> {
        let channel = self.links.member(to)?;
        check_within("written", bytes, channel.send_buffer().len())?;
        channel.mark_written(bytes, content);
        self.count_sent(to, bytes);
        Ok(())
    }

    /// Ends and sends all messages being written, stamped 1 + the largest stamp received so far. An
    /// empty message is not sent and not counted.
    pub fn flush(&mut self) -> Result<()> {
        self.peers().try_for_each(|to| self.flush_to(to))
    }

    /// Exchanges messages that cross in one round though parts of them are read before others are
    /// written, since none depends on what the peers send: all have the stamp of the first.
    ///
    /// # Errors
    /// Those of `exchange`.
    pub fn crossing<T, E>(
        &mut self,
        exchange: impl FnOnce(&mut Mesh) -> Result<T, E>,
    ) -> Result<T, E> {
        self.held_stamp = Some(self.stamp());
        let exchanged = exchange(self);
        self.held_stamp = None;
        exchanged
    }

    /// Fills `into` with the next payload bytes from `from`, or returns why that failed within the
    /// time-out.
    pub fn recv(&mut self, from: PartyId, into: &mut [u8]) -> Result<()> {
        self.recv_content(from, into, Content::Any)
    }

    /// As [`Mesh::recv`], of what the sender has sent as bulk.
    ///
    /// # Errors
    /// As [`Mesh::recv`].
    pub fn recv_bulk(&mut self, cpu: Cpu, from: PartyId, into: &mut [u8]) -> Result<()> {
        self.recv_content(from, into, Content::Bulk(cpu))
    }

    fn recv_content(&mut self, from: PartyId, into: &mut [u8], content: Content) -> Result<()> {
        let stamp = self.links.recv(from, into, content)?;
        self.consume_stamp(stamp);
        self.count_received(from, into.len());
        Ok(())
    }

    /// Returns the next payload bytes from `from` in their receive buffer, at least `bytes`, at
    /// most [`MAX_CONTIGUOUS_BYTES`]: all that are contiguous. Waits for them first. Bytes are
    /// copied only where a frame of the sender ends among the requested ones. [`Mesh::consume`]
    /// states how many were consumed. The bytes must not be changed, since they are digested then
    /// or later. A caller that asks for bytes must consume them; their stamps count from this call
    /// on.
    ///
    /// # Errors
    /// [`NetError::Misuse`] for no byte or too many; else those of [`Mesh::recv`].
    pub fn recv_buffer(&mut self, from: PartyId, bytes: usize) -> Result<&mut [u8]> {
        check_contiguous(bytes)?;
        let stamp = self.links.make_contiguous(from, bytes)?;
        self.consume_stamp(stamp);
        Ok(self.links.member(from)?.unread())
    }

    /// Consumes the first `bytes` bytes of those that [`Mesh::recv_buffer`] returned last.
    ///
    /// # Errors
    /// [`NetError::Misuse`] if they were fewer.
    pub fn consume(&mut self, from: PartyId, bytes: usize) -> Result<()> {
        self.consume_content(from, bytes, Content::Any)
    }

    /// As [`Mesh::consume`], of what the sender has sent as bulk.
    ///
    /// # Errors
    /// As [`Mesh::consume`].
    pub fn consume_bulk(&mut self, cpu: Cpu, from: PartyId, bytes: usize) -> Result<()> {
        self.consume_content(from, bytes, Content::Bulk(cpu))
    }

    fn consume_content(&mut self, from: PartyId, bytes: usize, content: Content) -> Result<()> {
        let channel = self.links.member(from)?;
        check_within("used", bytes, channel.unread().len())?;
        channel.consume(bytes, content);
        self.count_received(from, bytes);
        Ok(())
    }

    /// Sets the step to which the next bytes are counted; step 0 until the first call.
    pub fn at_step(&mut self, step: u32) {
        self.ledger.at_step(step);
        self.links.at_step(step);
    }

    /// Keeps the step of every byte that is sent from here on, for [`Mesh::kept_steps`]. For tests:
    /// what is kept grows with the run.
    pub fn keep_steps(&mut self) {
        self.ledger.spans = Some(vec![Vec::new(); self.parties()]);
    }

    /// The steps to which payload was counted, by peer and in order, each with the number of bytes
    /// sent up to its end; the current one goes on without end. Empty if steps are not kept.
    pub fn kept_steps(&self) -> Vec<Vec<(u32, u64)>> {
        self.ledger.kept_steps()
    }

    /// Largest stamp sent or received so far, which is the number of rounds up to here.
    pub fn rounds(&self) -> u32 {
        self.rounds
    }

    /// Payload bytes sent to `to` so far.
    pub fn payload_sent(&self, to: PartyId) -> u64 {
        self.payload_of(to).sent
    }

    /// Payload bytes received from `from` so far.
    pub fn payload_received(&self, from: PartyId) -> u64 {
        self.payload_of(from).received
    }

    fn payload_of(&self, peer: PartyId) -> Traffic {
        self.payload.get(peer.index()).copied().unwrap_or_default()
    }

    /// Sets the keys that the parties have shown, in order of the parties, this one included.
    pub fn pin(&mut self, keys: Vec<PublicKey>) {
        self.pinned = keys;
    }

    /// Public keys of all parties in their order, as this party has pinned them; empty where no
    /// keys are used: in memory, or in plain text.
    pub fn pinned(&self) -> &[PublicKey] {
        &self.pinned
    }

    /// Sets the session, once the parties have agreed on it, which is before any protocol.
    ///
    /// # Panics
    /// If bulk has crossed: its digest belongs to a session.
    pub fn set_session(&mut self, session: SessionId) {
        self.session = session;
        self.set_bulk_keys();
    }

    fn set_bulk_keys(&mut self) {
        let (me, session) = (self.me, self.session);
        for (peer, channel) in self.links.channels_mut() {
            let keys = [session.bulk_key(me, peer), session.bulk_key(peer, me)];
            channel.set_bulk_keys(keys);
        }
    }

    /// The session that this party has entered. Protocols hash it together with everything that
    /// must be bound to this session.
    pub fn session(&self) -> SessionId {
        self.session
    }

    /// The [digest](SessionId::transcript) of all payload bytes sent to `to` so far. No byte is
    /// hashed twice, however often it is asked for.
    pub fn digest_sent(&mut self, to: PartyId) -> [u8; 32] {
        let channel = self.links.channel_mut(to);
        let (payload, bulk) = channel.map_or_else(of_nothing, Channel::digest_sent);
        let session = self.session;
        session.transcript(self.me, to, &payload, bulk.as_ref())
    }

    /// The [digest](SessionId::transcript) of all payload bytes received from `from` so far.
    pub fn digest_received(&mut self, from: PartyId) -> [u8; 32] {
        let channel = self.links.channel_mut(from);
        let (payload, bulk) = channel.map_or_else(of_nothing, Channel::digest_received);
        let session = self.session;
        session.transcript(from, self.me, &payload, bulk.as_ref())
    }

    /// Largest number of received bytes held at any time beyond the bound of their links, because
    /// this party was blocked; bounded by
    /// [`Limits::backlog_bytes`](crate::Limits::backlog_bytes). Depends on timing.
    pub fn backlog_peak_bytes(&self) -> usize {
        self.links.backlog_peak_bytes()
    }

    /// Time for which this party has waited for others so far: for input, or for room to send.
    /// Depends on timing.
    pub fn waited(&self) -> Duration {
        self.links.waited()
    }

    /// Number of connections that were refused while the parties met, because the other end was no
    /// party of the run or sent nothing.
    pub fn turned_away(&self) -> usize {
        self.turned_away
    }

    /// All counters: payload by step and peer, messages, bytes on the wire.
    pub fn counters(&mut self) -> Counters {
        let per_peer = |count: fn(&Channel) -> Traffic| {
            let count = |channel: Option<&Channel>| channel.map(count).unwrap_or_default();
            self.links.channels().map(count).collect()
        };
        Counters {
            messages: per_peer(Channel::messages),
            wire: per_peer(|channel| channel.transport.wire()),
            payload_by_step: self.ledger.by_step(),
            payload: self.payload.clone(),
        }
    }

    /// Sends one control message (handshake, goodbye): not payload, no stamp, at most 64 KiB. Ends
    /// the message being written to `to` first, so that messages arrive in the order of calls.
    pub fn send_control<T: serde::Serialize>(&mut self, to: PartyId, message: &T) -> Result<()> {
        let payload = postcard::to_stdvec(message)
            .map_err(|error| NetError::misuse(format!("control message: {error}")))?;
        if payload.len() > MAX_CONTROL_BYTES {
            let reason = format!("control message of {} bytes", payload.len());
            return Err(NetError::misuse(reason));
        }
        self.flush_to(to)?;
        self.links.send_control(to, payload.into())
    }

    /// Receives one control message.
    ///
    /// # Errors
    /// [`NetError::Malformed`] if payload comes first, if the message is no `T`, or if bytes are
    /// left over.
    pub fn recv_control<T: serde::de::DeserializeOwned>(&mut self, from: PartyId) -> Result<T> {
        let payload = self.links.recv_control(from)?;
        control_message(&payload).map_err(|reason| NetError::malformed(from, reason))
    }

    /// Ends the run in good order: sends what is still being written and says goodbye. Dropping the
    /// mesh then waits, within the limits, until the peers have received everything.
    pub fn finish(&mut self) -> Result<()> {
        self.flush()?;
        self.links.shutdown(Farewell::Goodbye);
        Ok(())
    }

    /// Tells every peer, as far as possible and without waiting, that this party gives up and why
    /// (`reason` holds no secret; at most 1 KiB). Peers see [`NetError::Aborted`] at their next
    /// wait for any party.
    ///
    /// Dropping the mesh waits for a while until the reason has arrived; a process that ends
    /// without dropping the mesh may lose it.
    pub fn abort(&mut self, cause: Cause, reason: &str) {
        self.links.shutdown(Farewell::Abort { cause, reason });
    }

    /// Stamp of a message sent now. Received stamps are bounded, so this never overflows.
    fn stamp(&self) -> u32 {
        self.held_stamp.unwrap_or(self.received_stamp + 1)
    }

    fn flush_to(&mut self, to: PartyId) -> Result<()> {
        let stamp = self.stamp();
        if self.links.flush(to, stamp)? {
            self.rounds = self.rounds.max(stamp);
        }
        Ok(())
    }
}

/// Decodes the one message that a control frame holds.
pub(crate) fn control_message<T: serde::de::DeserializeOwned>(payload: &[u8]) -> Result<T, String> {
    match postcard::take_from_bytes(payload) {
        Ok((message, [])) => Ok(message),
        Ok((_, rest)) => {
            let bytes = rest.len();
            Err(format!("{bytes} bytes left over in a control message"))
        }
        Err(error) => Err(format!("control message: {error}")),
    }
}

/// Checks that so many bytes can be contiguous.
fn check_contiguous(bytes: usize) -> Result<()> {
    if (1..=MAX_CONTIGUOUS_BYTES).contains(&bytes) {
        return Ok(());
    }
    let reason = format!("{bytes} bytes in one place; there are 1 to {MAX_CONTIGUOUS_BYTES}");
    Err(NetError::misuse(reason))
}

fn check_within(what: &str, bytes: usize, there: usize) -> Result<()> {
    if bytes <= there {
        return Ok(());
    }
    let reason = format!("{bytes} bytes {what} where there were {there}");
    Err(NetError::misuse(reason))
}

fn of_nothing() -> ([u8; 32], Option<[u8; 16]>) {
    Digest::default().value()
}
