//! Links in the memory of one thread, which take down what they carry.

use crate::ideal::locked;
use sealane_net::{Farewell, Frame, FrameKind, LinkError, Traffic, Transport, Waker};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// One direction of a link.
#[derive(Clone, Default)]
pub(super) struct Line {
    pub(super) frames: Arc<Mutex<VecDeque<Frame>>>,
    /// All payload so far.
    pub(super) carried: Arc<Mutex<Vec<u8>>>,
}

/// An end of a link in the memory of one thread.
pub(super) struct End {
    pub(super) out: Line,
    pub(super) into: Line,
}

impl Transport for End {
    fn try_send(&mut self, frame: Frame) -> Result<Option<Frame>, LinkError> {
        assert!(matches!(frame.kind, FrameKind::Data { .. }));
        locked(&self.out.carried).extend_from_slice(&frame.payload);
        locked(&self.out.frames).push_back(frame);
        Ok(None)
    }

    fn push_out(&mut self) {}

    fn try_recv(&mut self) -> Result<Option<Frame>, LinkError> {
        Ok(locked(&self.into.frames).pop_front())
    }

    fn due(&self) -> Option<Instant> {
        None
    }

    fn take_in(&mut self, _: usize) -> usize {
        0
    }

    fn backlog_bytes(&self) -> usize {
        0
    }

    /// In lock step a message has been sent before it is awaited.
    fn end(&self) -> Option<LinkError> {
        Some(LinkError::Finished)
    }

    fn set_waker(&mut self, _: &Waker) {}

    fn shutdown(&mut self, _: Farewell<'_>) {}

    fn wire(&self) -> Traffic {
        Traffic::default()
    }
}
