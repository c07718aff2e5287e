//! Meshes in memory that record the traffic of each party.

use sealane_net::{Frame, FrameKind, Limits, Mesh, Recorder, Transport, memory_pair};
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// Output of a [`Recorder`], shared with its reader.
#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.lock().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Log {
    fn lock(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().expect("no holder of the lock panics")
    }

    /// Payload that was received.
    pub fn heard(&self) -> Vec<u8> {
        let is_data = |kind| matches!(kind, FrameKind::Data { .. });
        let frames = self.frames().into_iter();
        let heard = frames.filter(|(direction, frame)| *direction == b'<' && is_data(frame.kind));
        heard
            .flat_map(|(_, frame)| frame.payload.to_vec())
            .collect()
    }

    /// Control messages that were sent.
    pub fn said(&self) -> Vec<Vec<u8>> {
        let is_said = |(direction, frame): &(u8, Frame)| {
            *direction == b'>' && frame.kind == FrameKind::Control
        };
        let frames = self.frames().into_iter().filter(is_said);
        frames.map(|(_, frame)| frame.payload.to_vec()).collect()
    }

    /// Messages that were sent, each as one frame with the stamp of its last one.
    pub fn sent(&self) -> Vec<Frame> {
        let (mut messages, mut open) = (Vec::<Frame>::new(), Vec::new());
        for (_, frame) in self
            .frames()
            .into_iter()
            .filter(|(direction, _)| *direction == b'>')
        {
            open.extend_from_slice(&frame.payload);
            if frame.kind != (FrameKind::Data { end: false }) {
                let payload = std::mem::take(&mut open).into();
                messages.push(Frame { payload, ..frame });
            }
        }
        messages
    }

    /// All frames in their order, each with its direction.
    fn frames(&self) -> Vec<(u8, Frame)> {
        let log = self.lock();
        // A party has no link to itself, and that log has no header.
        let (mut rest, mut frames) = (log.get(8..).unwrap_or_default(), vec![]);
        while let Some((direction, after)) = rest.split_first() {
            rest = after;
            let frame = Frame::decode(&mut rest).expect("a recorder writes whole frames");
            frames.push((*direction, frame));
        }
        frames
    }
}

/// The messages of all links, by sender and receiver.
pub type Crossed = Vec<Vec<Vec<Frame>>>;

/// Returns all messages that crossed between parties with these logs by peer.
pub fn crossed(logs: &[Vec<Log>]) -> Crossed {
    let sent = |row: &Vec<Log>| row.iter().map(Log::sent).collect();
    logs.iter().map(sent).collect()
}

/// Makes a recorded mesh in memory; returns for each party its logs by peer. Parties that wait for
/// each other are told so soon.
pub fn recorded(parties: usize) -> (Vec<Mesh>, Vec<Vec<Log>>) {
    let limits = Limits {
        patience: Duration::from_secs(20),
        ..Limits::default()
    };
    let mut logs = vec![vec![Log::default(); parties]; parties];
    let meshes = Mesh::full(parties, limits, |one, other| {
        let (a, b) = memory_pair(&limits);
        [(one, other, a), (other, one, b)].map(|(me, peer, end)| -> Box<dyn Transport> {
            logs[me][peer] = Log::default();
            let recorder = Recorder::new(Box::new(end), logs[me][peer].clone());
            Box::new(recorder.expect("memory takes any recording"))
        })
    });
    (meshes, logs)
}
