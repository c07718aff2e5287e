//! An adversary between a party and its peer: a transport that harms one of the frames it carries.
//!
//! It sits on top of any [`Transport`], so the same attack runs over memory and over TLS; there it
//! plays a peer that holds the right key and misbehaves. Attacks below TLS are those of
//! [`crate::relay`].

use std::sync::Arc;
use std::sync::Mutex;
use std::time::Instant;

use sealane_net::{
    Farewell, Frame, FrameKind, LinkError, MAX_FRAME_BYTES, Traffic, Transport, Waker,
};

/// What happens to one frame, and with it to the link.
#[derive(Clone, Copy, Debug)]
pub enum Harm {
    /// From this frame on nothing crosses any more, in either direction, not even a farewell.
    Stall,
    /// The link ends instead.
    Vanish,
    /// One byte changes. Positions count from the start, and from the end where they are negative;
    /// one outside the frame changes the nearest byte.
    Flip(isize),
    /// What the function does to it.
    Alter(fn(&mut Frame)),
    /// Every byte changes.
    Garble,
    /// The last byte is lost.
    Truncate,
    /// One byte more.
    Grow,
    /// The frame is lost.
    Lose,
    /// The frame comes twice.
    Repeat,
    /// The frame changes places with the one after it.
    Swap,
    /// Data comes as control and control as data.
    Disguise,
    /// As many bytes as a frame can hold, all of them noise.
    Flood,
}

/// Kinds and lengths of the frames that crossed, as the adversary saw them.
#[derive(Clone, Default)]
pub struct Seen(Arc<Mutex<Vec<(FrameKind, usize)>>>);

impl Seen {
    /// What was handed over for sending so far, in order.
    pub fn frames(&self) -> Vec<(FrameKind, usize)> {
        self.0.lock().expect("no holder of the lock panics").clone()
    }
}

/// A transport that harms the frame number `at` (from 0) of those that its party sends.
pub struct Adversary {
    /// None once the link has vanished.
    inner: Option<Box<dyn Transport>>,
    attack: Option<(usize, Harm)>,
    seen: Seen,
    /// The frame that is to come after the next one.
    held: Option<Frame>,
    /// The frame that goes as soon as there is room.
    late: Option<Frame>,
    stalled: bool,
}

impl Adversary {
    /// Harms one frame of `inner`, or none.
    pub fn new(inner: Box<dyn Transport>, attack: Option<(usize, Harm)>) -> Adversary {
        Adversary {
            inner: Some(inner),
            attack,
            seen: Seen::default(),
            held: None,
            late: None,
            stalled: false,
        }
    }

    /// A view of what crosses, which stays when the adversary is gone.
    pub fn seen(&self) -> Seen {
        self.seen.clone()
    }

    /// The harm that befalls the frame that is sent next.
    fn next_harm(&self) -> Option<Harm> {
        let number = self
            .seen
            .0
            .lock()
            .expect("no holder of the lock panics")
            .len();
        self.attack
            .filter(|(at, _)| *at == number)
            .map(|(_, harm)| harm)
    }

    fn count(&self, frame: &Frame) {
        let mut seen = self.seen.0.lock().expect("no holder of the lock panics");
        seen.push((frame.kind, frame.payload.len()));
    }

    fn inner(&mut self) -> Result<&mut Box<dyn Transport>, LinkError> {
        self.inner.as_mut().ok_or(LinkError::Vanished)
    }

    /// Sends the frame that is late, if there is one; says whether none is left.
    fn pass_late(&mut self) -> Result<bool, LinkError> {
        if let Some(late) = self.late.take().filter(|_| !self.stalled) {
            self.late = self.inner()?.try_send(late)?;
        }
        Ok(self.late.is_none())
    }
}

impl Transport for Adversary {
    fn try_send(&mut self, frame: Frame) -> Result<Option<Frame>, LinkError> {
        if !self.pass_late()? {
            return Ok(Some(frame));
        }
        let harm = self.next_harm();
        if !self.stalled && !matches!(harm, Some(Harm::Stall | Harm::Lose | Harm::Swap)) {
            if matches!(harm, Some(Harm::Vanish)) {
                self.inner = None;
            }
            let going = match harm {
                Some(harm) => alter(frame.clone(), harm),
                None => frame.clone(),
            };
            if self.inner()?.try_send(going)?.is_some() {
                return Ok(Some(frame));
            }
            self.late = self.held.take();
        }
        self.count(&frame);
        match harm {
            Some(Harm::Stall) => self.stalled = true,
            Some(Harm::Swap) => self.held = Some(frame),
            Some(Harm::Repeat) => self.late = Some(frame),
            _ => {}
        }
        self.pass_late().map(|_| None)
    }

    fn try_recv(&mut self) -> Result<Option<Frame>, LinkError> {
        if self.stalled {
            return Ok(None);
        }
        self.pass_late()?;
        self.inner()?.try_recv()
    }

    fn due(&self) -> Option<Instant> {
        let inner = self.inner.as_ref().filter(|_| !self.stalled);
        inner.and_then(|inner| inner.due())
    }

    fn take_in(&mut self, at_most: usize) -> usize {
        let inner = self.inner.as_mut();
        inner.map_or(0, |inner| inner.take_in(at_most))
    }

    fn backlog_bytes(&self) -> usize {
        let inner = self.inner.as_ref();
        inner.map_or(0, |inner| inner.backlog_bytes())
    }

    fn end(&self) -> Option<LinkError> {
        let Some(inner) = &self.inner else {
            return Some(LinkError::Vanished);
        };
        inner.end().filter(|_| !self.stalled)
    }

    fn set_waker(&mut self, waker: &Waker) {
        if let Some(inner) = &mut self.inner {
            inner.set_waker(waker);
        }
    }

    fn shutdown(&mut self, farewell: Farewell<'_>) {
        // Whatever goes wrong with the late frame, the farewell says more.
        let _ = self.pass_late();
        if let Some(inner) = self.inner.as_mut().filter(|_| !self.stalled) {
            inner.shutdown(farewell);
        }
    }

    fn wire(&self) -> Traffic {
        self.inner
            .as_ref()
            .map_or_else(Traffic::default, |inner| inner.wire())
    }
}

/// A frame as the peer gets it.
fn alter(mut frame: Frame, harm: Harm) -> Frame {
    match harm {
        Harm::Flip(position) => {
            let last = frame.payload.len().saturating_sub(1);
            let from_end = frame.payload.len().saturating_add_signed(position);
            let at = if position < 0 {
                from_end
            } else {
                position.unsigned_abs()
            };
            if let Some(byte) = frame.payload.get_mut(at.min(last)) {
                *byte ^= 0x10;
            }
        }
        Harm::Alter(alter) => alter(&mut frame),
        Harm::Garble => frame
            .payload
            .iter_mut()
            .zip(noise())
            .for_each(|(byte, noise)| {
                *byte ^= noise;
            }),
        Harm::Truncate => edit(&mut frame, |payload| {
            payload.truncate(payload.len().saturating_sub(1))
        }),
        Harm::Grow => edit(&mut frame, |payload| payload.push(0)),
        Harm::Disguise => {
            let control = frame.kind == FrameKind::Control;
            frame.kind = if control {
                FrameKind::Data { end: true }
            } else {
                FrameKind::Control
            };
            frame.stamp = u32::from(control);
        }
        Harm::Flood => frame.payload = noise().take(MAX_FRAME_BYTES).collect::<Vec<_>>().into(),
        Harm::Stall | Harm::Vanish | Harm::Lose | Harm::Repeat | Harm::Swap => {}
    }
    frame
}

/// Changes a payload in ways that production code cannot: it may grow and shrink.
pub fn edit(frame: &mut Frame, edit: impl FnOnce(&mut Vec<u8>)) {
    let mut payload = frame.payload.to_vec();
    edit(&mut payload);
    frame.payload = payload.into();
}

/// Bytes of prime period without a zero, so that each byte they are added to changes.
fn noise() -> impl Iterator<Item = u8> {
    (1..=251).cycle()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealane_net::{Limits, memory_pair};

    fn frame(payload: &[u8]) -> Frame {
        Frame {
            kind: FrameKind::Data { end: true },
            stamp: 1,
            payload: payload.to_vec().into(),
        }
    }

    /// What arrives of two frames if the first is harmed, and how the link ends, if it does.
    fn arriving(harm: Harm) -> (Vec<Vec<u8>>, Option<LinkError>) {
        let (one, mut other) = memory_pair(&Limits::default());
        let mut adversary = Adversary::new(Box::new(one), Some((0, harm)));
        let mut send = |bytes| adversary.try_send(frame(bytes));
        let _ = send(&[1, 2, 3]).and_then(|_| send(&[4]));
        adversary.shutdown(Farewell::Goodbye);
        let mut payloads = Vec::new();
        loop {
            match other.try_recv() {
                Ok(Some(frame)) => payloads.push(frame.payload.to_vec()),
                end => return (payloads, end.err()),
            }
        }
    }

    #[test]
    fn each_harm_does_what_it_says() {
        let finished = |frames: &[&[u8]]| {
            (
                frames.iter().map(|bytes| bytes.to_vec()).collect(),
                Some(LinkError::Finished),
            )
        };
        assert_eq!(arriving(Harm::Flip(0)), finished(&[&[0x11, 2, 3], &[4]]));
        assert_eq!(arriving(Harm::Flip(-1)), finished(&[&[1, 2, 0x13], &[4]]));
        assert_eq!(arriving(Harm::Flip(9)), arriving(Harm::Flip(-1)));
        let alter = Harm::Alter(|frame| edit(frame, |payload| payload.insert(1, 9)));
        assert_eq!(arriving(alter), finished(&[&[1, 9, 2, 3], &[4]]));
        assert_eq!(arriving(Harm::Garble), finished(&[&[0, 0, 0], &[4]]));
        assert_eq!(arriving(Harm::Truncate), finished(&[&[1, 2], &[4]]));
        assert_eq!(arriving(Harm::Grow), finished(&[&[1, 2, 3, 0], &[4]]));
        assert_eq!(arriving(Harm::Lose), finished(&[&[4]]));
        assert_eq!(
            arriving(Harm::Repeat),
            finished(&[&[1, 2, 3], &[1, 2, 3], &[4]])
        );
        assert_eq!(arriving(Harm::Swap), finished(&[&[4], &[1, 2, 3]]));
        assert_eq!(arriving(Harm::Disguise), finished(&[&[1, 2, 3], &[4]]));
        assert_eq!(arriving(Harm::Flood).0[0].len(), MAX_FRAME_BYTES);
        assert_eq!(arriving(Harm::Vanish), (vec![], Some(LinkError::Vanished)));
        assert_eq!(arriving(Harm::Stall), (vec![], None));
    }
}
