//! Adversary between a party and its peer: a transport that tampers with one of its frames.
//!
//! It wraps any [`Transport`], so the same attack runs over memory and over TLS; there it acts as a
//! peer that holds the right key and misbehaves. Attacks below TLS are in [`crate::relay`].

use std::sync::Arc;
use std::sync::Mutex;
use std::time::Instant;

use sealane_net::{Farewell, Frame, FrameKind, LinkError, MAX_FRAME_BYTES, Transport};

/// Tampering with one frame, and its effect on the link.
#[derive(Clone, Copy, Debug)]
pub enum Harm {
    /// From this frame on nothing is delivered any more, in either direction, not even a farewell.
    Stall,
    /// The link ends instead.
    Vanish,
    /// One byte changes. Positions count from the start, or from the end if they are negative; a
    /// position outside the frame changes the nearest byte.
    Flip(isize),
    /// The function is applied to the frame.
    Alter(fn(&mut Frame)),
    /// Every byte changes.
    Garble,
    /// The last byte is lost.
    Truncate,
    /// One byte is appended.
    Grow,
    /// The frame is lost.
    Lose,
    /// The frame is delivered twice.
    Repeat,
    /// The frame is swapped with the next one.
    Swap,
    /// Data is delivered as control and control as data.
    Disguise,
    /// The frame is replaced by as many random bytes as a frame can hold.
    Flood,
}

/// Kinds and lengths of the frames that passed the adversary.
#[derive(Clone, Default)]
pub struct Seen(Arc<Mutex<Vec<(FrameKind, usize)>>>);

impl Seen {
    /// Frames passed to it for sending so far, in order.
    pub fn frames(&self) -> Vec<(FrameKind, usize)> {
        self.0.lock().expect("no holder of the lock panics").clone()
    }
}

/// Transport that tampers with frame number `at` (from 0) of those that its party sends.
pub struct Adversary {
    /// None once the link has vanished.
    inner: Option<Box<dyn Transport>>,
    attack: Option<(usize, Harm)>,
    seen: Seen,
    /// Frame to be sent after the next one.
    held: Option<Frame>,
    /// Frame to be sent as soon as there is room.
    late: Option<Frame>,
    stalled: bool,
}

impl Adversary {
    /// Tampers with one frame of `inner`, or none.
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

    /// Record of the frames that passed, which outlives the adversary.
    pub fn seen(&self) -> Seen {
        self.seen.clone()
    }

    /// Tampering with the next frame, if any.
    fn next_harm(&self) -> Option<Harm> {
        let number = self.seen.frames().len();
        let attack = self.attack.filter(|(at, _)| *at == number);
        attack.map(|(_, harm)| harm)
    }

    fn count(&self, frame: &Frame) {
        let mut seen = self.seen.0.lock().expect("no holder of the lock panics");
        seen.push((frame.kind, frame.payload.len()));
    }

    fn link(&mut self) -> Result<&mut dyn Transport, LinkError> {
        self.inner_mut().ok_or(LinkError::Vanished)
    }

    /// Sends the delayed frame, if there is one; returns whether none is left.
    fn pass_late(&mut self) -> Result<bool, LinkError> {
        if let Some(late) = self.late.take().filter(|_| !self.stalled) {
            self.late = self.link()?.try_send(late)?;
        }
        Ok(self.late.is_none())
    }
}

impl Transport for Adversary {
    fn inner(&self) -> Option<&dyn Transport> {
        self.inner.as_deref()
    }

    fn inner_mut(&mut self) -> Option<&mut dyn Transport> {
        Some(&mut **self.inner.as_mut()?)
    }

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
            if self.link()?.try_send(going)?.is_some() {
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
        self.link()?.try_recv()
    }

    fn push_out(&mut self) {
        if let Some(inner) = self.inner.as_mut().filter(|_| !self.stalled) {
            inner.push_out();
        }
    }

    fn due(&self) -> Option<Instant> {
        self.inner().filter(|_| !self.stalled)?.due()
    }

    fn end(&self) -> Option<LinkError> {
        let Some(inner) = &self.inner else {
            return Some(LinkError::Vanished);
        };
        inner.end().filter(|_| !self.stalled)
    }

    fn shutdown(&mut self, farewell: Farewell<'_>) {
        // If the delayed frame fails, the farewell still says more.
        let _ = self.pass_late();
        if let Some(inner) = self.inner.as_mut().filter(|_| !self.stalled) {
            inner.shutdown(farewell);
        }
    }
}

/// Applies tampering to a frame.
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
        Harm::Garble => {
            let bytes = frame.payload.iter_mut().zip(noise());
            bytes.for_each(|(byte, noise)| *byte ^= noise);
        }
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

/// Edits a payload in ways that production code cannot: it may grow and shrink.
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

    /// Returns the frames that arrive of two if the first is tampered with, and how the link ends,
    /// if it does.
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
            let frames = frames.iter().map(|bytes| bytes.to_vec());
            (frames.collect(), Some(LinkError::Finished))
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
        let twice = finished(&[&[1, 2, 3], &[1, 2, 3], &[4]]);
        assert_eq!(arriving(Harm::Repeat), twice);
        assert_eq!(arriving(Harm::Swap), finished(&[&[4], &[1, 2, 3]]));
        assert_eq!(arriving(Harm::Disguise), finished(&[&[1, 2, 3], &[4]]));
        assert_eq!(arriving(Harm::Flood).0[0].len(), MAX_FRAME_BYTES);
        assert_eq!(arriving(Harm::Vanish), (vec![], Some(LinkError::Vanished)));
        assert_eq!(arriving(Harm::Stall), (vec![], None));
    }
}
