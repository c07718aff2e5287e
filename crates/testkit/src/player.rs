//! A player: peers that send what they sent in another run, changed as a vector says, without
//! waiting; they take whatever comes, and are silent after their last message.

use crate::record::Crossed;
use crate::vectors::{Value, bytes, list, number, text};
use sealane_net::{
    Cause, Frame, FrameKind, Limits, LinkError, MAX_FRAME_BYTES, Mesh, Runtime, Transport, Wake,
    Waker,
};
use sealane_parties::PartyId;
use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Makes the mesh of `me`, whose peers send what crossed in another run, with these changes.
///
/// # Panics
/// If a change names a message that there is not.
pub fn mesh(me: PartyId, crossed: &Crossed, changes: &Value) -> Mesh {
    let links = crossed.iter().enumerate().map(|(peer, row)| {
        let from = |change: &&Value| number(&change["from"]) == peer as u64;
        let changes = list(changes).iter().filter(from).collect::<Vec<_>>();
        let mut frames = VecDeque::new();
        let end = script(&row[me.index()], &changes, &mut frames).err();
        frames.extend(end.map(Err));
        (peer != me.index()).then(|| Box::new(Player(frames)) as Box<dyn Transport>)
    });
    let mesh = Mesh::on_machine(&Hurried, me, links.collect(), Limits::default());
    mesh.expect("a link to each peer")
}

/// A peer that sends what it is told without waiting, takes whatever comes, and then is silent.
struct Player(VecDeque<Result<Frame, LinkError>>);

impl Transport for Player {
    fn inner(&self) -> Option<&dyn Transport> {
        None
    }

    fn try_send(&mut self, _: Frame) -> Result<Option<Frame>, LinkError> {
        Ok(None)
    }

    fn try_recv(&mut self) -> Result<Option<Frame>, LinkError> {
        match self.end() {
            Some(end) => Err(end),
            None => self.0.pop_front().transpose(),
        }
    }

    fn end(&self) -> Option<LinkError> {
        self.0.front()?.clone().err()
    }
}

/// A machine on which every wait ends at its deadline, and takes no time.
struct Hurried;

/// Its clock.
struct Clock(Mutex<Instant>);

impl Wake for Clock {
    fn wake(&self) {}

    fn wait_until(&self, deadline: Instant) -> bool {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = deadline;
        false
    }

    fn now(&self) -> Instant {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Runtime for Hurried {
    fn waker(&self) -> Waker {
        Waker::new(Arc::new(Clock(Mutex::new(Instant::now()))))
    }

    fn spawn(&self, _: &str, _: Box<dyn FnOnce() + Send>) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Makes the frames of a peer from its messages. An error ends its stream.
fn script(
    messages: &[Frame],
    changes: &[&Value],
    frames: &mut VecDeque<Result<Frame, LinkError>>,
) -> Result<(), LinkError> {
    for (index, message) in messages.iter().enumerate() {
        let (mut message, mut before) = (Some(message.clone()), Vec::new());
        let here = |change: &&&Value| number(&change["message"]) == index as u64;
        let mut changes = changes.iter().filter(here);
        let end = changes.try_for_each(|change| changed(&mut message, &mut before, change));
        for message in before
            .iter()
            .chain(message.as_ref().filter(|_| end.is_ok()))
        {
            let cut = in_frames(message).map_err(|reason| LinkError::Malformed { reason })?;
            frames.extend(cut.into_iter().map(Ok));
        }
        end?;
    }
    Ok(())
}

/// Cuts a message into frames, which are checked as on a wire.
fn in_frames(message: &Frame) -> Result<Vec<Frame>, String> {
    let mut pieces = message.payload.chunks(MAX_FRAME_BYTES).collect::<Vec<_>>();
    if pieces.is_empty() || message.kind == FrameKind::Control {
        pieces = vec![&message.payload];
    }
    let frame = |piece: &[u8]| {
        let mut wire = Vec::new();
        let payload = piece.to_vec().into();
        Frame {
            payload,
            ..message.clone()
        }
        .encode(&mut wire);
        Frame::decode(&mut &wire[..])
    };
    pieces.into_iter().map(frame).collect()
}

/// Applies a change to a message; what it inserts goes before. An error ends the stream.
fn changed(
    message: &mut Option<Frame>,
    before: &mut Vec<Frame>,
    change: &Value,
) -> Result<(), LinkError> {
    let op = text(&change["op"]);
    let stamp = |field: &str| number(&change[field]) as u32;
    let data = FrameKind::Data { end: true };
    match op {
        "end" => return Err(LinkError::Vanished),
        "goodbye" => return Err(LinkError::Finished),
        "abort" => {
            let causes = [Cause::Party, Cause::Network, Cause::Cancelled];
            let cause = causes[number(&change["cause"]) as usize];
            let reason = text(&change["reason"]).into();
            return Err(LinkError::Aborted { cause, reason });
        }
        "drop" => {
            *message = None;
            return Ok(());
        }
        "insert" => {
            let kind = match change["kind"].as_str() {
                Some("control") => FrameKind::Control,
                _ => data,
            };
            let (stamp, payload) = (stamp("stamp"), bytes(&change["bytes"]).into());
            before.push(Frame {
                kind,
                stamp,
                payload,
            });
            return Ok(());
        }
        _ => {}
    }
    let frame = message.as_mut().expect("a message that is not dropped");
    let mut payload = frame.payload.to_vec();
    match op {
        "xor" => {
            let at = number(&change["at"]) as usize;
            let bytes = bytes(&change["bytes"]);
            let to = &mut payload[at..at + bytes.len()];
            to.iter_mut().zip(bytes).for_each(|(to, byte)| *to ^= byte);
        }
        "cut" => payload.truncate(number(&change["at"]) as usize),
        "append" => payload.extend(bytes(&change["bytes"])),
        "replace" => payload = bytes(&change["bytes"]),
        "stamp" => frame.stamp = stamp("value"),
        "control" => (frame.kind, frame.stamp) = (FrameKind::Control, 0),
        "data" => (frame.kind, frame.stamp) = (data, stamp("value")),
        op => panic!("there is no operation {op}"),
    }
    frame.payload = payload.into();
    Ok(())
}
