//! Links in the memory of one thread, which take down what they carry.

use crate::ideal::locked;
use sealane_net::{Frame, FrameKind, LinkError, Transport};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

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

    fn try_recv(&mut self) -> Result<Option<Frame>, LinkError> {
        Ok(locked(&self.into.frames).pop_front())
    }

    /// In lock step a message has been sent before it is awaited.
    fn end(&self) -> Option<LinkError> {
        Some(LinkError::Finished)
    }
}
