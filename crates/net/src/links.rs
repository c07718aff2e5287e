//! All links of a party, and the one place where the party waits for them.
//!
//! **Bounded buffers cause no deadlock.** The buffers between two parties are bounded, and
//! protocols write complete messages before they read: in a ring of three, each party may be
//! writing more to its neighbour than the buffers hold, while none reads. So a party that waits
//! *takes in* the bytes that arrive on all of its links: they no longer count against the bound of
//! their link, and more can come. The argument has three steps.
//!
//! 1. Take a moment after which no party makes progress. Code outside this module terminates, and a
//!    party that has left discards its input, so every remaining party waits in a send or in a
//!    receive, and hence takes in all that arrives.
//! 2. So each link has room, since a party that waits pushes out what its transports hold, and they
//!    deliver it to a peer with room; and
//!    no send waits: there is no cycle of senders, nor a longer one of senders that wait for
//!    receivers that wait for other senders.
//! 3. So all parties wait in receives, for bytes that no party has written. The same run would
//!    deadlock with unbounded buffers: the protocol itself is wrong, and `Limits::patience` ends
//!    it.
//!
//! Taking in only while blocked in a send would not suffice. Let P write to Q and then to R, and S
//! write to R and then to Q, each more than the buffers hold; if Q reads from S first and R from P,
//! all four wait, and the two that could make room are receiving.
//!
//! **Memory.** `Limits::backlog_bytes` bounds the bytes taken in, over all links. Beyond that bound
//! nothing is taken in, the argument above no longer holds, and patience ends the run with an error
//! that states the cause. A party that computes takes in nothing, so a sender that is faster than
//! the receiver is slowed down as usual, and a stream needs no more memory than the bounds of its
//! link. The same holds for a party that receives, as long as the peer that it waits for keeps
//! sending: it takes in bytes from others only when nothing has come for [`TAKE_IN_DELAY`].
//!
//! The bytes taken in stay in their transport until they are received. So stamps, rounds, digests,
//! counters and recordings, which depend on received bytes alone, are not affected.

use std::time::{Duration, Instant};

use crate::cancel::Cancel;
use crate::channel::Channel;
use crate::digest::Content;
use crate::error::{Awaited, LinkError, NetError, Result};
use crate::frame::{Frame, FrameKind};
use crate::limits::Limits;
use crate::waker::Waker;
use crate::{Farewell, Payload, Transport};
use sealane_parties::PartyId;

/// Time without input from a peer after which a party that waits for it takes in what others send.
/// Longer than the pauses of a stream, so that two peers that stream side by side are slowed down
/// to the pace of the receiver; short compared with the time that it takes to fill the buffers of a
/// link.
const TAKE_IN_DELAY: Duration = Duration::from_millis(50);

pub(crate) struct Links {
    /// One element per party; none for this one.
    channels: Vec<Option<Channel>>,
    waker: Waker,
    cancel: Cancel,
    patience: Duration,
    backlog_bound_bytes: usize,
    backlog_peak_bytes: usize,
    /// Total time for which this party has waited for others.
    waited: Duration,
    /// Current step, for errors.
    step: u32,
}

/// Peer and start of one wait.
struct Wait {
    party: PartyId,
    awaited: Awaited,
    /// Time at which the call began to wait.
    since: Option<Instant>,
    /// Time of the last input.
    quiet_since: Option<Instant>,
}

impl Links {
    /// Makes the links; `waker` ends all waits.
    pub(crate) fn new(
        transports: Vec<Option<Box<dyn Transport>>>,
        limits: &Limits,
        waker: Waker,
    ) -> Links {
        let channel = |mut transport: Box<dyn Transport>| {
            transport.set_waker(&waker);
            Channel::new(transport)
        };
        let channels = transports.into_iter().map(|link| link.map(channel));
        Links {
            channels: channels.collect(),
            waker,
            cancel: Cancel::default(),
            patience: limits.patience,
            backlog_bound_bytes: limits.backlog_bytes,
            backlog_peak_bytes: 0,
            waited: Duration::ZERO,
            step: 0,
        }
    }

    /// Ends every call and every wait with an error once `cancel` is cancelled.
    pub(crate) fn cancelled_by(&mut self, cancel: &Cancel) {
        cancel.add_waker(&self.waker);
        self.cancel = cancel.clone();
    }

    /// Token that cancels the run.
    pub(crate) fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// Extends the patience of a single wait by `duration`.
    pub(crate) fn extend_patience(&mut self, duration: Duration) {
        self.patience = self.patience.saturating_add(duration);
    }

    /// Number of parties, this one included.
    pub(crate) fn parties(&self) -> usize {
        self.channels.len()
    }

    /// The channel to each party; none to this one.
    pub(crate) fn channels(&self) -> impl Iterator<Item = Option<&Channel>> {
        self.channels.iter().map(Option::as_ref)
    }

    fn others(&self) -> impl Iterator<Item = (PartyId, &Channel)> {
        let channels = self.channels.iter().enumerate();
        channels.filter_map(|(i, channel)| Some((PartyId::from_index(i), channel.as_ref()?)))
    }

    /// All channels, each with its peer.
    pub(crate) fn channels_mut(&mut self) -> impl Iterator<Item = (PartyId, &mut Channel)> {
        let channels = self.channels.iter_mut().enumerate();
        channels.filter_map(|(i, channel)| Some((PartyId::from_index(i), channel.as_mut()?)))
    }

    /// The channel to `party`, if there is one.
    pub(crate) fn channel(&self, party: PartyId) -> Option<&Channel> {
        self.channels.get(party.index())?.as_ref()
    }

    pub(crate) fn channel_mut(&mut self, party: PartyId) -> Option<&mut Channel> {
        self.channels.get_mut(party.index())?.as_mut()
    }

    /// Sets the step that errors name.
    pub(crate) fn at_step(&mut self, step: u32) {
        self.step = step;
    }

    /// Largest number of bytes taken in at any time.
    pub(crate) fn backlog_peak_bytes(&self) -> usize {
        self.backlog_peak_bytes
    }

    /// Time for which this party has waited for others.
    pub(crate) fn waited(&self) -> Duration {
        self.waited
    }

    /// Appends to the message being written to `to`; returns whether a frame was sent.
    pub(crate) fn send(
        &mut self,
        to: PartyId,
        mut bytes: &[u8],
        content: Content,
        stamp: u32,
    ) -> Result<bool> {
        let mut wait = self.wait_for_room(to);
        let mut streamed = false;
        while !bytes.is_empty() {
            streamed |= self.reserve_within(&mut wait, 1, stamp)?;
            let channel = self.member(to)?;
            let buffer = channel.send_buffer();
            let (now, later) = bytes.split_at(bytes.len().min(buffer.len()));
            buffer[..now.len()].copy_from_slice(now);
            channel.mark_written(now.len(), content);
            bytes = later;
        }
        self.member(to)?;
        Ok(streamed)
    }

    /// Makes room for `bytes` bytes of the message being written to `to`; returns whether a frame
    /// was sent.
    pub(crate) fn reserve(&mut self, to: PartyId, bytes: usize, stamp: u32) -> Result<bool> {
        self.reserve_within(&mut self.wait_for_room(to), bytes, stamp)
    }

    fn wait_for_room(&self, to: PartyId) -> Wait {
        Wait::new(to, Awaited::Room { step: self.step })
    }

    fn reserve_within(&mut self, wait: &mut Wait, bytes: usize, stamp: u32) -> Result<bool> {
        let Some(frame) = self.member(wait.party)?.reserve(bytes, stamp) else {
            return Ok(false);
        };
        self.send_frame(frame, wait)?;
        Ok(true)
    }

    /// Ends the message being written to `to`; returns whether there was one.
    pub(crate) fn flush(&mut self, to: PartyId, stamp: u32) -> Result<bool> {
        let last = self.member(to)?.end_message(stamp);
        let Some(frame) = last.map_err(NetError::misuse)? else {
            return Ok(false);
        };
        self.send_frame(frame, &mut self.wait_for_room(to))?;
        Ok(true)
    }

    /// Fills `into`; returns the largest stamp among the frames of which the first byte was read
    /// here, or 0 if there was none. One patience covers all of `into`, so that a peer that sends a
    /// byte now and then cannot delay this party for longer.
    pub(crate) fn recv(&mut self, from: PartyId, into: &mut [u8], content: Content) -> Result<u32> {
        let mut taken = 0;
        self.read_until_none_misses(from, |channel| {
            taken += channel.take(&mut into[taken..], content);
            into.len() - taken
        })
    }

    /// Makes the next `bytes` bytes from `from` contiguous; returns the largest stamp among the
    /// frames of which the first byte was read for it, or 0.
    pub(crate) fn make_contiguous(&mut self, from: PartyId, bytes: usize) -> Result<u32> {
        self.read_until_none_misses(from, |channel| channel.make_contiguous(bytes))
    }

    fn read_until_none_misses(
        &mut self,
        from: PartyId,
        mut read: impl FnMut(&mut Channel) -> usize,
    ) -> Result<u32> {
        let mut wait = Wait::new(from, Awaited::Payload { step: self.step });
        let mut stamp = 0;
        loop {
            let missing = read(self.member(from)?);
            if missing == 0 {
                return Ok(stamp);
            }
            let frame = self.next_frame(&mut wait)?;
            let accepted = self.member(from)?.accept(frame, missing);
            stamp = accepted.map_err(|error| NetError::on_link(from, error))?;
        }
    }

    pub(crate) fn send_control(&mut self, to: PartyId, payload: Payload) -> Result<()> {
        self.member(to)?;
        let (kind, stamp) = (FrameKind::Control, 0);
        let frame = Frame {
            kind,
            stamp,
            payload,
        };
        self.send_frame(frame, &mut self.wait_for_room(to))
    }

    pub(crate) fn recv_control(&mut self, from: PartyId) -> Result<Payload> {
        let on_link = |error: LinkError| NetError::on_link(from, error);
        self.member(from)?.expect_control().map_err(on_link)?;
        let frame = self.next_frame(&mut Wait::new(from, Awaited::Control))?;
        Channel::control_of(frame).map_err(on_link)
    }

    /// Leaves the run.
    pub(crate) fn shutdown(&mut self, farewell: Farewell<'_>) {
        for channel in self.channels.iter_mut().flatten() {
            channel.shutdown(farewell);
        }
    }

    /// Returns the channel to `party`, as long as this party takes part in the run.
    pub(crate) fn member(&mut self, party: PartyId) -> Result<&mut Channel> {
        match self.channels.get_mut(party.index()) {
            Some(Some(channel)) if channel.left => Err(NetError::on_link(party, LinkError::Left)),
            Some(Some(channel)) => Ok(channel),
            _ => Err(NetError::misuse(format!("there is no channel to {party}"))),
        }
    }

    /// Passes `frame` to the transport, after waiting for room.
    fn send_frame(&mut self, mut frame: Frame, wait: &mut Wait) -> Result<()> {
        loop {
            self.cancel.check()?;
            let sent = self.member(wait.party)?.transport.try_send(frame);
            match sent.map_err(|error| self.ended(wait.party, error))? {
                None => return Ok(()),
                Some(back) => frame = back,
            }
            self.pause(wait)?;
        }
    }

    /// Returns the next frame, after waiting for it.
    fn next_frame(&mut self, wait: &mut Wait) -> Result<Frame> {
        loop {
            self.cancel.check()?;
            let next = self.member(wait.party)?.transport.try_recv();
            if let Some(frame) = next.map_err(|error| self.ended(wait.party, error))? {
                wait.quiet_since = None;
                return Ok(frame);
            }
            self.pause(wait)?;
        }
    }

    /// Waits until another try may succeed; the only place where a party waits for others. The loss
    /// of any party ends the wait for any other: the run cannot finish any more.
    fn pause(&mut self, wait: &mut Wait) -> Result<()> {
        // The next try reads what has come from the awaited party before that party counts as lost:
        // it may have come since the last try.
        let heard = wait.listens().then_some(wait.party);
        if let Some((party, end)) = self.loss(heard) {
            return Err(NetError::on_link(party, end));
        }
        let now = self.waker.now();
        let since = *wait.since.get_or_insert(now);
        let deadline = since + self.patience;
        if now >= deadline {
            return Err(self.overdue(wait, now - since));
        }
        // The link that this party reads has room already.
        let delay = heard.map_or(Duration::ZERO, |_| TAKE_IN_DELAY);
        let opening = *wait.quiet_since.get_or_insert(now) + delay;
        let mut until = deadline;
        for channel in self.channels.iter_mut().flatten() {
            channel.transport.push_out();
        }
        if now < opening {
            until = until.min(opening);
        } else {
            self.take_in(heard);
        }
        let channel = self.channel(wait.party);
        if let Some(due) = channel.and_then(|channel| channel.transport.due()) {
            until = until.min(due);
        }
        self.waker.wait_until(until);
        self.waited += self.waker.now() - now;
        Ok(())
    }

    /// Returns a party other than `heard` that is lost or has given up, and how. A party that sent
    /// malformed bytes comes first: it has been told so already, and others may give up because of
    /// that. A party that gave up comes next: others may be gone because of it.
    fn loss(&self, heard: Option<PartyId>) -> Option<(PartyId, LinkError)> {
        let ends = self.others().filter_map(|(party, channel)| {
            let end = channel.transport.end()?;
            let lost = match end {
                LinkError::Finished | LinkError::Left => false,
                LinkError::Aborted { .. } => true,
                _ => heard != Some(party),
            };
            lost.then_some((party, end))
        });
        ends.min_by_key(|(_, end)| match end {
            LinkError::Malformed { .. } => 0,
            LinkError::Aborted { .. } => 1,
            _ => 2,
        })
    }

    /// Returns the error for a link that has ended. If its party gave up, that may be a reaction to
    /// an error that this party has found on another link and reported already; then that error is
    /// returned.
    fn ended(&self, party: PartyId, end: LinkError) -> NetError {
        let is_abort = matches!(end, LinkError::Aborted { .. });
        let (party, end) = match self.loss(Some(party)) {
            Some(found @ (_, LinkError::Malformed { .. })) if is_abort => found,
            _ => (party, end),
        };
        NetError::on_link(party, end)
    }

    /// Takes in bytes on all links but the one to `heard`, within the bound.
    fn take_in(&mut self, heard: Option<PartyId>) {
        let mut held: usize = self.backlogs().map(|(_, bytes)| bytes).sum();
        let bound = self.backlog_bound_bytes;
        for (party, channel) in self.channels_mut() {
            if heard != Some(party) {
                held += channel.transport.take_in(bound.saturating_sub(held));
            }
        }
        self.backlog_peak_bytes = self.backlog_peak_bytes.max(held);
    }

    /// Bytes taken in from each peer and not received yet.
    fn backlogs(&self) -> impl Iterator<Item = (PartyId, usize)> {
        let bytes = |channel: &Channel| channel.transport.backlog_bytes();
        self.others()
            .map(move |(party, channel)| (party, bytes(channel)))
    }

    /// Returns the error for a wait that ended after `waited`.
    fn overdue(&self, wait: &Wait, waited: Duration) -> NetError {
        let (party, awaited, waited_s) = (wait.party, wait.awaited, waited.as_secs());
        let held: usize = self.backlogs().map(|(_, bytes)| bytes).sum();
        match self.backlogs().max_by_key(|(_, bytes)| *bytes) {
            Some((from, _)) if held >= self.backlog_bound_bytes => NetError::Overfull {
                from,
                held_bytes: held as u64,
                party,
                awaited,
                waited_s,
            },
            _ => NetError::overdue(party, awaited, waited_s),
        }
    }
}

impl Wait {
    fn new(party: PartyId, awaited: Awaited) -> Wait {
        Wait {
            party,
            awaited,
            since: None,
            quiet_since: None,
        }
    }

    /// Returns whether the wait is for input from its party, rather than for room.
    fn listens(&self) -> bool {
        matches!(self.awaited, Awaited::Payload { .. } | Awaited::Control)
    }
}
