//! All links of a party, and the one place where it waits for them.
//!
//! **No parties can hold each other up for lack of room.** The room between two parties is bounded,
//! and protocols write all that they have to say before they read: in a ring of three, each may be
//! writing more to its neighbour than the way there holds, while none reads. So a party that waits
//! *takes in* what comes on all of its links: what has arrived no longer counts against the bound
//! of its link, and more can come. The argument has three steps.
//!
//! 1. Take a moment after which no party makes progress. Code outside this module ends by itself
//!    and a party that has left throws away what comes, so every party that remains waits in a send
//!    or in a receive, and hence takes in all that arrives.
//! 2. So each link has room, since the transports carry what they hold to a peer that has room for
//!    it; and no send waits: there is no cycle of senders, nor a longer one of senders who wait for
//!    receivers who wait for other senders.
//! 3. So all wait in receives, for bytes that nobody has written. The same run would stand still
//!    with links of unbounded room: the protocol itself is wrong, and `Limits::patience` ends it.
//!
//! It would not be enough to take in while blocked in a send. Let P write to Q and then to R, and S
//! write to R and then to Q, each more than the way holds; if Q reads from S first and R from P,
//! all four wait, and the two who could make room are receiving.
//!
//! **Memory.** What is taken in is bounded by `Limits::backlog_bytes`, over all links. Beyond that
//! nothing is taken in, the argument ends, and patience decides, with an error that says so. A
//! party that computes takes in nothing, so a sender that is faster than the receiver is slowed
//! down as ever, and a stream needs no more memory than the bounds of its link. The same holds for
//! a party that receives, as long as the peer that it waits for keeps sending: only when nothing
//! has come for [`COMPOSURE`] does it take in what others send.
//!
//! What is taken in stays in its transport until it is received. So stamps, rounds, digests,
//! counters and recordings, which all go by what is received, do not depend on it.

use std::time::{Duration, Instant};

use crate::cancel::Cancel;
use crate::channel::Channel;
use crate::error::{Awaited, LinkError, NetError};
use crate::frame::{Frame, FrameKind};
use crate::limits::Limits;
use crate::waker::Waker;
use crate::{Farewell, PartyId, Payload, Transport};

/// How long nothing comes from a peer before a party that waits for it takes in what others send.
/// Longer than the pauses of a stream, so that two peers who stream side by side are slowed down to
/// the pace of the receiver; short beside the time that it takes to fill the room of a link.
const COMPOSURE: Duration = Duration::from_millis(50);

pub(crate) struct Links {
    /// One element a party; none for this one.
    channels: Vec<Option<Channel>>,
    waker: Waker,
    cancel: Cancel,
    patience: Duration,
    backlog_bound_bytes: usize,
    backlog_peak_bytes: usize,
    /// How long this party has waited for others, in all.
    waited: Duration,
    /// The step in hand, for errors.
    step: u32,
}

/// What one call waits for, and since when it does.
struct Wait {
    party: PartyId,
    awaited: Awaited,
    /// Since when the call has waited at all.
    since: Option<Instant>,
    /// Since when nothing has come.
    quiet_since: Option<Instant>,
}

impl Links {
    /// All waiting goes by `waker`.
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

    /// From now on nothing goes on, and nobody waits, once `cancel` asks for the end.
    pub(crate) fn cancelled_by(&mut self, cancel: &Cancel) {
        cancel.add_waker(&self.waker);
        self.cancel = cancel.clone();
    }

    /// What asks for the end.
    pub(crate) fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// Lets a single wait take so much longer.
    pub(crate) fn expect(&mut self, duration: Duration) {
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

    /// The channel to `party`, if there is one.
    pub(crate) fn channel(&self, party: PartyId) -> Option<&Channel> {
        self.channels.get(party.index())?.as_ref()
    }

    /// Names the step that errors speak of.
    pub(crate) fn at_step(&mut self, step: u32) {
        self.step = step;
    }

    /// The most bytes that have been taken in at a time.
    pub(crate) fn backlog_peak_bytes(&self) -> usize {
        self.backlog_peak_bytes
    }

    /// How long this party has waited for others.
    pub(crate) fn waited(&self) -> Duration {
        self.waited
    }

    /// Appends to the message being written to `to`; says whether a frame left.
    pub(crate) fn send(
        &mut self,
        to: PartyId,
        mut bytes: &[u8],
        stamp: u32,
    ) -> Result<bool, NetError> {
        let mut wait = Wait::new(to, Awaited::Room { step: self.step });
        let mut streamed = false;
        while !bytes.is_empty() {
            streamed |= self.make_room_within(&mut wait, 1, stamp)?;
            let channel = self.member(to)?;
            let room = channel.room();
            let (now, later) = bytes.split_at(bytes.len().min(room.len()));
            room[..now.len()].copy_from_slice(now);
            channel.wrote(now.len());
            bytes = later;
        }
        self.member(to)?;
        Ok(streamed)
    }

    /// Makes room for `bytes` bytes of the message being written to `to`; says whether a frame left.
    pub(crate) fn make_room(
        &mut self,
        to: PartyId,
        bytes: usize,
        stamp: u32,
    ) -> Result<bool, NetError> {
        let mut wait = Wait::new(to, Awaited::Room { step: self.step });
        self.make_room_within(&mut wait, bytes, stamp)
    }

    fn make_room_within(
        &mut self,
        wait: &mut Wait,
        bytes: usize,
        stamp: u32,
    ) -> Result<bool, NetError> {
        let Some(frame) = self.member(wait.party)?.make_room(bytes, stamp) else {
            return Ok(false);
        };
        self.hand_over(frame, wait)?;
        Ok(true)
    }

    /// Ends the message being written to `to`; says whether there was one.
    pub(crate) fn flush(&mut self, to: PartyId, stamp: u32) -> Result<bool, NetError> {
        let last = self.member(to)?.end_message(stamp);
        let Some(frame) = last.map_err(NetError::Misuse)? else {
            return Ok(false);
        };
        let mut wait = Wait::new(to, Awaited::Room { step: self.step });
        self.hand_over(frame, &mut wait)?;
        Ok(true)
    }

    /// Fills `into`; returns the largest stamp among the frames that were touched, or 0 if the
    /// bytes all came from a frame touched before. The wait is one for all of `into`, so that a
    /// peer who sends a byte now and then cannot keep this party for longer than its patience.
    pub(crate) fn recv(&mut self, from: PartyId, mut into: &mut [u8]) -> Result<u32, NetError> {
        let mut wait = Wait::new(from, Awaited::Payload { step: self.step });
        let mut stamp = 0;
        loop {
            let taken = self.member(from)?.take(into);
            into = &mut into[taken..];
            if into.is_empty() {
                return Ok(stamp);
            }
            let frame = self.next_frame(&mut wait)?;
            let accepted = self.member(from)?.accept(frame, into.len());
            stamp = accepted.map_err(|error| NetError::on_link(from, error))?;
        }
    }

    /// Brings the next `bytes` bytes from `from` together in one place; returns the largest stamp
    /// among the frames that were touched for it, or 0.
    pub(crate) fn bring_together(&mut self, from: PartyId, bytes: usize) -> Result<u32, NetError> {
        let mut wait = Wait::new(from, Awaited::Payload { step: self.step });
        let mut stamp = 0;
        loop {
            let missing = self.member(from)?.bring_together(bytes);
            if missing == 0 {
                return Ok(stamp);
            }
            let frame = self.next_frame(&mut wait)?;
            let accepted = self.member(from)?.accept(frame, missing);
            stamp = accepted.map_err(|error| NetError::on_link(from, error))?;
        }
    }

    pub(crate) fn send_control(&mut self, to: PartyId, payload: Payload) -> Result<(), NetError> {
        self.member(to)?;
        let frame = Frame {
            kind: FrameKind::Control,
            stamp: 0,
            payload,
        };
        let mut wait = Wait::new(to, Awaited::Room { step: self.step });
        self.hand_over(frame, &mut wait)
    }

    pub(crate) fn recv_control(&mut self, from: PartyId) -> Result<Payload, NetError> {
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

    /// The channel to `party`, as long as this party takes part in the run.
    pub(crate) fn member(&mut self, party: PartyId) -> Result<&mut Channel, NetError> {
        let Some(Some(channel)) = self.channels.get_mut(party.index()) else {
            return Err(NetError::Misuse(format!("there is no channel to {party}")));
        };
        let left = channel.refuse_if_left();
        left.map_err(|error| NetError::on_link(party, error))?;
        Ok(channel)
    }

    /// Hands `frame` to the transport, after waiting for room.
    fn hand_over(&mut self, mut frame: Frame, wait: &mut Wait) -> Result<(), NetError> {
        loop {
            self.cancel.check()?;
            let handed = self.member(wait.party)?.transport.try_send(frame);
            match handed.map_err(|error| self.ended(wait.party, error))? {
                None => return Ok(()),
                Some(back) => frame = back,
            }
            self.pause(wait)?;
        }
    }

    /// The next frame, after waiting for it.
    fn next_frame(&mut self, wait: &mut Wait) -> Result<Frame, NetError> {
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

    /// Waits until another try may be worth it; the only place where a party waits for others. One
    /// that is lost ends the wait for any of them: the run cannot come to its end any more.
    fn pause(&mut self, wait: &mut Wait) -> Result<(), NetError> {
        // What has come from a party is received before it is found to have vanished, by the next
        // try: it may have come since the last.
        let heard = wait.listens().then_some(wait.party);
        self.see_that_none_is_lost(heard)?;
        let now = self.waker.now();
        let since = *wait.since.get_or_insert(now);
        let deadline = since + self.patience;
        if now >= deadline {
            return Err(self.overdue(wait, now - since));
        }
        // A link that is listened to has room already.
        let composure = heard.map_or(Duration::ZERO, |_| COMPOSURE);
        let opening = *wait.quiet_since.get_or_insert(now) + composure;
        let mut until = deadline;
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

    /// Whether every party but `heard` is there, or has left in good order; `heard` may also be gone
    /// without a word.
    fn see_that_none_is_lost(&self, heard: Option<PartyId>) -> Result<(), NetError> {
        match self.loss(heard) {
            None => Ok(()),
            Some((party, end)) => Err(NetError::on_link(party, end)),
        }
    }

    /// Which party but `heard` is lost, or has given up, and how. One that sent what is no frame
    /// goes first: it has been told so already, and others may give up because of that. Then one
    /// that gave up: others may be gone because of it.
    fn loss(&self, heard: Option<PartyId>) -> Option<(PartyId, LinkError)> {
        let ends = self.channels().enumerate().filter_map(|(party, channel)| {
            let party = PartyId::from_index(party);
            let end = channel?.transport.end()?;
            let lost = match end {
                LinkError::Finished | LinkError::Left => false,
                LinkError::Aborted(..) => true,
                _ => heard != Some(party),
            };
            lost.then_some((party, end))
        });
        ends.min_by_key(|(_, end)| match end {
            LinkError::Malformed(_) => 0,
            LinkError::Aborted(..) => 1,
            _ => 2,
        })
    }

    /// The error for a link that has ended. Where its party gave up, that may be an echo of what this
    /// one has found on another link and told already; then what it found is the error.
    fn ended(&self, party: PartyId, end: LinkError) -> NetError {
        let is_echo = |found: &LinkError| {
            matches!(
                (&end, found),
                (LinkError::Aborted(..), LinkError::Malformed(_))
            )
        };
        let found = self.loss(Some(party)).filter(|(_, found)| is_echo(found));
        let (party, end) = found.unwrap_or((party, end));
        NetError::on_link(party, end)
    }

    /// Makes room on all links but that to `heard`, within the bound.
    fn take_in(&mut self, heard: Option<PartyId>) {
        let mut held: usize = self.backlogs().map(|(_, bytes)| bytes).sum();
        for (party, channel) in self.channels.iter_mut().enumerate() {
            let Some(channel) = channel else { continue };
            if heard.map(PartyId::index) != Some(party) {
                let left = self.backlog_bound_bytes.saturating_sub(held);
                held += channel.transport.take_in(left);
            }
        }
        self.backlog_peak_bytes = self.backlog_peak_bytes.max(held);
    }

    /// Bytes taken in from each peer and not received yet.
    fn backlogs(&self) -> impl Iterator<Item = (PartyId, usize)> {
        let bytes = |channel: &Channel| channel.transport.backlog_bytes();
        let backlogs = self.channels().enumerate();
        backlogs.filter_map(move |(party, channel)| {
            channel.map(|channel| (PartyId::from_index(party), bytes(channel)))
        })
    }

    /// Why patience has ended after `waited`.
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
            _ => NetError::Overdue(party, awaited, waited_s),
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

    /// Whether it waits for something to come from its party, rather than for room.
    fn listens(&self) -> bool {
        matches!(self.awaited, Awaited::Payload { .. } | Awaited::Control)
    }
}
