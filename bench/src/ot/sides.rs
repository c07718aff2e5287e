//! Both sides of every form, over a channel between two threads, or one after the other on one.

use std::time::{Duration, Instant};

use sealane_block::{Block, Coins, Cpu};
use sealane_net::Mesh;
use sealane_ot::OtError;
use sealane_ot::forms::{self, HashedReceiver, HashedSender, Request};
use sealane_ot::traits::{CotReceiver, CotSender, RandomReceiver, RandomSender};
use sealane_ot::traits::{choice, packed_blocks};

use super::{ALONE_OVER, Channel, DELTA, FEW, Form, Protocol, RECEIVER, SENDER, WINDOWS};
use super::{AnyReceiver, AnySender, Ready, ready, set_up};
use crate::stream::thread_seconds;
use crate::{Figures, both};

/// Transfers of a window on one thread, whose messages stay in a cache.
const ALONE: usize = 1 << 15;

/// Million transfers a second.
fn rate(count: usize, time: f64) -> f64 {
    count as f64 / time / 1e6
}

/// The rates of the fastest window and of the median one.
fn rates(count: usize, mut times: Vec<Duration>) -> [(&'static str, f64, &'static str); 2] {
    times.sort();
    let of = |time: Duration| rate(count, time.as_secs_f64());
    let (best, median) = (of(times[0]), of(times[times.len() / 2]));
    [
        ("million_ots_per_s", best, "million/s"),
        ("million_ots_per_s_median", median, "million/s"),
    ]
}

/// Measures each side of every form alone, on one thread.
pub(super) fn alone(
    cpu: Cpu,
    protocol: &Protocol,
    budget: Duration,
    figures: &mut Figures<'_>,
) -> Result<(), OtError> {
    let (sender, receiver, _) = set_up(cpu, protocol, Mesh::in_memory(2))?;
    let mut sender = SenderSide::new(cpu, sender, ALONE);
    let mut receiver = ReceiverSide::new(cpu, receiver, ALONE);
    for form in Form::ALL {
        let mut times = [Vec::new(), Vec::new()];
        let began = Instant::now();
        while times[0].len() < WINDOWS || began.elapsed() < budget {
            let started = Instant::now();
            let request = receiver.ask(form)?;
            let asked = started.elapsed();
            let started = Instant::now();
            sender.window(form)?;
            times[0].push(started.elapsed());
            let started = Instant::now();
            receiver.finish(request)?;
            times[1].push(asked + started.elapsed());
        }
        check(form, &sender, &receiver);
        for (side, times) in ["sender", "receiver"].into_iter().zip(times) {
            let case = format!("{}/{}/local/{side}", protocol.name, form.name());
            figures.add(&case, &rates(ALONE, times));
        }
    }
    Ok(())
}

/// Measures every form between two threads.
pub(super) fn between(
    cpu: Cpu,
    protocol: &Protocol,
    channel: &Channel,
    meshes: Vec<Mesh>,
    figures: &mut Figures<'_>,
) -> Result<(), OtError> {
    let count = protocol.count(if protocol.quick { FEW } else { channel.count });
    let (sender, receiver, _) = set_up(cpu, protocol, meshes)?;
    let mut sender = SenderSide::new(cpu, sender, count);
    let mut receiver = ReceiverSide::new(cpu, receiver, count);
    let windows = protocol.windows();
    for form in Form::ALL {
        let send = || sender.windows(form, windows);
        let (sent, received) = both(send, || receiver.windows(form, windows))?;
        check(form, &sender, &receiver);
        let case = format!("{}/{}", protocol.name, form.name());
        let all = count * windows;
        let bits = received.bytes as f64 * 8.0 / all as f64;
        let over = format!("{case}/{}", channel.name);
        figures.add(&over, &rates(count, received.times));
        figures.add(&over, &[("bits_per_ot", bits, "bits")]);
        if channel.name != ALONE_OVER || protocol.silent.is_none() {
            continue;
        }
        for (side, seconds) in [("sender", sent), ("receiver", received.seconds)] {
            // None where the system does not tell, or where it has not noticed anything yet.
            if let Some(seconds) = seconds.filter(|&seconds| seconds > 0.0) {
                let alone = ("million_ots_per_s", rate(all, seconds), "million/s");
                figures.add(&format!("{case}/local/{side}"), &[alone]);
            }
        }
    }
    Ok(())
}

/// The seconds for which this thread has run, after `work`.
fn seconds_of<T>(work: impl FnOnce() -> Result<T, OtError>) -> Result<(T, Option<f64>), OtError> {
    let ran = || Some(thread_seconds()?[0]);
    let before = ran();
    let done = work()?;
    Ok((done, ran().zip(before).map(|(now, before)| now - before)))
}

/// Blocks that stand for chosen strings, or for choices.
fn random(cpu: Cpu, seed: u64, count: usize) -> Vec<Block> {
    let mut blocks = vec![Block::ZERO; count];
    let mut coins = Coins::danger_fixed_seed(seed).secret("inputs");
    coins.prg(cpu).fill(&mut blocks);
    blocks
}

/// The sender, with its outputs of the last window.
struct SenderSide {
    party: HashedSender<AnySender>,
    mesh: Mesh,
    q: Vec<Block>,
    pairs: Vec<[Block; 2]>,
    /// Strings that it chooses.
    strings: [Vec<Block>; 2],
}

impl SenderSide {
    fn new(cpu: Cpu, (cot, mesh): Ready<AnySender>, count: usize) -> SenderSide {
        SenderSide {
            party: HashedSender::new(cpu, &mesh, cot, "bench"),
            mesh,
            q: vec![Block::ZERO; count],
            pairs: vec![[Block::ZERO; 2]; count],
            strings: [3, 4].map(|seed| random(cpu, seed, count)),
        }
    }

    fn window(&mut self, form: Form) -> Result<(), OtError> {
        let (mesh, [zeros, ones]) = (&mut self.mesh, &self.strings);
        let HashedSender { cot, hasher } = &mut self.party;
        match form {
            Form::Correlated => cot.extend(mesh, &mut self.q)?,
            Form::Given => forms::send_given(cot, mesh, &mut self.q)?,
            Form::Random => self.party.random(mesh, &mut self.pairs)?,
            Form::Chosen => forms::send_chosen(cot, hasher, mesh, 1, [zeros, ones])?,
        }
        self.mesh.flush()?;
        Ok(())
    }

    /// Runs all windows; returns the time for which its thread ran.
    fn windows(&mut self, form: Form, windows: usize) -> Result<Option<f64>, OtError> {
        let all = || {
            for _ in 0..windows {
                ready(&mut self.mesh, RECEIVER)?;
                self.window(form)?;
                // This makes the window the slower side's.
                ready(&mut self.mesh, RECEIVER)?;
            }
            Ok(())
        };
        Ok(seconds_of(all)?.1)
    }

    /// Both blocks of a transfer.
    fn blocks(&self, form: Form, j: usize) -> [Block; 2] {
        match form {
            Form::Correlated | Form::Given => [self.q[j], self.q[j] ^ DELTA],
            Form::Random => self.pairs[j],
            Form::Chosen => [self.strings[0][j], self.strings[1][j]],
        }
    }
}

/// The receiver, with its outputs of the last window.
struct ReceiverSide {
    party: HashedReceiver<AnyReceiver>,
    mesh: Mesh,
    /// Choices that it gives.
    given: Vec<u8>,
    /// Choices that it gets, as they are packed.
    choices: Vec<Block>,
    blocks: Vec<Block>,
}

/// The windows of a receiver.
struct Received {
    times: Vec<Duration>,
    /// Payload of all windows, both ways.
    bytes: u64,
    /// Time in which its thread ran.
    seconds: Option<f64>,
}

impl ReceiverSide {
    fn new(cpu: Cpu, (cot, mesh): Ready<AnyReceiver>, count: usize) -> ReceiverSide {
        let given = random(cpu, 5, count).into_iter();
        ReceiverSide {
            party: HashedReceiver::new(cpu, &mesh, cot, "bench"),
            mesh,
            given: given.map(|block| block.lsb()).collect(),
            choices: vec![Block::ZERO; packed_blocks(count)],
            blocks: vec![Block::ZERO; count],
        }
    }

    /// The part of a window before the sender's; all of it, but where the sender chooses.
    fn ask(&mut self, form: Form) -> Result<Option<Request>, OtError> {
        let (mesh, given, blocks) = (&mut self.mesh, &self.given, &mut self.blocks);
        let cot = &mut self.party.cot;
        let mut request = None;
        match form {
            Form::Correlated => cot.extend(mesh, &mut self.choices, blocks)?,
            Form::Given => forms::receive_given(cot, mesh, given, blocks)?,
            Form::Random => self.party.random(mesh, &mut self.choices, blocks)?,
            Form::Chosen => request = Some(Request::new(cot, mesh, given)?),
        }
        self.mesh.flush()?;
        Ok(request)
    }

    fn finish(&mut self, request: Option<Request>) -> Result<(), OtError> {
        let (hasher, mesh) = (&mut self.party.hasher, &mut self.mesh);
        match request {
            Some(request) => request.finish(hasher, mesh, 1, &mut self.blocks),
            None => Ok(()),
        }
    }

    /// A window beside the sender's: requests for strings are as many at a time as in a run.
    fn window(&mut self, form: Form) -> Result<(), OtError> {
        if form != Form::Chosen {
            return self.ask(form).map(drop);
        }
        let HashedReceiver { cot, hasher } = &mut self.party;
        let (mesh, blocks) = (&mut self.mesh, &mut self.blocks);
        forms::receive_chosen(cot, hasher, mesh, 1, &self.given, blocks)?;
        self.mesh.flush()?;
        Ok(())
    }

    fn windows(&mut self, form: Form, windows: usize) -> Result<Received, OtError> {
        let payload = |mesh: &Mesh| mesh.payload_sent(SENDER) + mesh.payload_received(SENDER);
        let before = payload(&self.mesh);
        let all = || {
            let mut times = Vec::new();
            for _ in 0..windows {
                ready(&mut self.mesh, SENDER)?;
                let started = Instant::now();
                self.window(form)?;
                ready(&mut self.mesh, SENDER)?;
                times.push(started.elapsed());
            }
            Ok(times)
        };
        let (times, seconds) = seconds_of(all)?;
        Ok(Received {
            times,
            // Less the bytes by which the two wait for each other.
            bytes: payload(&self.mesh) - before - 4 * windows as u64,
            seconds,
        })
    }

    fn choice(&self, form: Form, j: usize) -> u8 {
        match form {
            Form::Given | Form::Chosen => self.given[j],
            Form::Correlated | Form::Random => choice(&self.choices, j),
        }
    }
}

/// Checks the outputs of the last window.
///
/// # Panics
/// If the receiver has another block than its choice says.
fn check(form: Form, sender: &SenderSide, receiver: &ReceiverSide) {
    for (j, block) in receiver.blocks.iter().enumerate() {
        let chosen = sender.blocks(form, j)[usize::from(receiver.choice(form, j))];
        assert_eq!(chosen.value(), block.value(), "OT {j}, {}", form.name());
    }
}
