//! An adversary between a party and its peer: a transport that harms one of the frames it carries.
//!
//! It sits on top of any [`Transport`], so the same attack runs over memory and over TLS; there it
//! plays a peer that holds the right key and misbehaves. Attacks below TLS are those of
//! [`crate::relay`].

use std::sync::Arc;
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use sealane_net::{Farewell, Frame, FrameKind, LinkError, MAX_FRAME_BYTES, Traffic, Transport};

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
    stalled: bool,
}

impl Adversary {
    /// Harms one frame of `inner`, or none.
    pub fn new(inner: Box<dyn Transport>, attack: Option<(usize, Harm)>) -> Adversary {
        let (seen, held) = (Seen::default(), None);
        Adversary {
            inner: Some(inner),
            attack,
            seen,
            held,
            stalled: false,
        }
    }

    /// A view of what crosses, which stays when the adversary is gone.
    pub fn seen(&self) -> Seen {
        self.seen.clone()
    }

    /// The harm that befalls the frame that is now sent.
    fn harm(&mut self, frame: &Frame) -> Option<Harm> {
        let mut seen = self.seen.0.lock().expect("no holder of the lock panics");
        let number = seen.len();
        seen.push((frame.kind, frame.payload.len()));
        self.attack
            .filter(|(at, _)| *at == number)
            .map(|(_, harm)| harm)
    }

    fn pass(&mut self, frame: Frame, deadline: Instant) -> Result<(), LinkError> {
        let inner = self.inner.as_mut().ok_or(LinkError::Vanished)?;
        inner.send(frame, deadline)?;
        match self.held.take() {
            Some(held) => inner.send(held, deadline),
            None => Ok(()),
        }
    }
}

impl Transport for Adversary {
    fn send(&mut self, mut frame: Frame, deadline: Instant) -> Result<(), LinkError> {
        let harm = self.harm(&frame);
        if self.stalled {
            return Ok(());
        }
        match harm {
            Some(Harm::Stall) => {
                self.stalled = true;
                return Ok(());
            }
            Some(Harm::Vanish) => self.inner = None,
            Some(Harm::Lose) => return Ok(()),
            Some(Harm::Swap) => {
                self.held = Some(frame);
                return Ok(());
            }
            Some(Harm::Repeat) => self.pass(frame.clone(), deadline)?,
            Some(harm) => frame = alter(frame, harm),
            None => {}
        }
        self.pass(frame, deadline)
    }

    fn recv(&mut self, deadline: Instant) -> Result<Frame, LinkError> {
        if self.stalled {
            let wait = deadline.saturating_duration_since(Instant::now());
            thread::sleep(wait);
            return Err(LinkError::Silent(wait));
        }
        self.inner
            .as_mut()
            .ok_or(LinkError::Vanished)?
            .recv(deadline)
    }

    fn shutdown(&mut self, farewell: Farewell<'_>) {
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
        Harm::Truncate => drop(frame.payload.pop()),
        Harm::Grow => frame.payload.push(0),
        Harm::Disguise => {
            let control = frame.kind == FrameKind::Control;
            frame.kind = if control {
                FrameKind::Data { end: true }
            } else {
                FrameKind::Control
            };
            frame.stamp = u32::from(control);
        }
        Harm::Flood => frame.payload = noise().take(MAX_FRAME_BYTES).collect(),
        Harm::Stall | Harm::Vanish | Harm::Lose | Harm::Repeat | Harm::Swap => {}
    }
    frame
}

/// Bytes of prime period without a zero, so that each byte they are added to changes.
fn noise() -> impl Iterator<Item = u8> {
    (1..=251).cycle()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealane_net::{Limits, memory_pair};
    use std::time::Duration;

    fn frame(payload: &[u8]) -> Frame {
        Frame {
            kind: FrameKind::Data { end: true },
            stamp: 1,
            payload: payload.to_vec(),
        }
    }

    /// What arrives of two frames, and how the link ends, if the first is harmed.
    fn arriving(harm: Harm) -> (Vec<Vec<u8>>, LinkError) {
        let (one, mut other) = memory_pair(&Limits::default());
        let mut adversary = Adversary::new(Box::new(one), Some((0, harm)));
        let soon = || Instant::now() + Duration::from_millis(30);
        let mut send = |bytes| adversary.send(frame(bytes), soon());
        let _ = send(&[1, 2, 3]).and_then(|()| send(&[4]));
        adversary.shutdown(Farewell::Goodbye);
        let mut payloads = Vec::new();
        loop {
            match other.recv(soon()) {
                Ok(frame) => payloads.push(frame.payload),
                Err(end) => return (payloads, end),
            }
        }
    }

    #[test]
    fn each_harm_does_what_it_says() {
        let finished = |frames: &[&[u8]]| {
            (
                frames.iter().map(|bytes| bytes.to_vec()).collect(),
                LinkError::Finished,
            )
        };
        assert_eq!(arriving(Harm::Flip(0)), finished(&[&[0x11, 2, 3], &[4]]));
        assert_eq!(arriving(Harm::Flip(-1)), finished(&[&[1, 2, 0x13], &[4]]));
        assert_eq!(arriving(Harm::Flip(9)), arriving(Harm::Flip(-1)));
        let alter = Harm::Alter(|frame| frame.payload.insert(1, 9));
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
        assert_eq!(arriving(Harm::Vanish), (vec![], LinkError::Vanished));
        assert!(
            matches!(arriving(Harm::Stall), (frames, LinkError::Silent(_)) if frames.is_empty())
        );
    }
}
