//! The work of one side after the other on one thread. Messages of a window stay in a cache.

use std::time::{Duration, Instant};

use sealane_block::{Block, Cpu};
use sealane_net::Mesh;
use sealane_ot::OtError;
use sealane_ot::forms::{self, HashedReceiver, HashedSender, Request};
use sealane_ot::traits::{CotReceiver, CotSender, RandomReceiver, RandomSender};
use sealane_ot::traits::{choice, packed_blocks};

use super::{AnyReceiver, AnySender, DELTA, Form, Protocol, Ready, set_up};
use super::{SUITE, WINDOWS};
use crate::Record;

/// Transfers of a window.
const LOCAL_COUNT: usize = 1 << 15;

/// Measures each side of every form alone.
pub(super) fn measure(
    cpu: Cpu,
    protocol: &Protocol,
    budget: Duration,
    record: &mut dyn FnMut(Record),
) -> Result<(), OtError> {
    let meshes = Mesh::in_memory(2).try_into().ok().expect("two parties");
    let (sender, receiver, _) = set_up(cpu, protocol, meshes)?;
    let mut sides = Sides::new(cpu, sender, receiver);
    for form in Form::ALL {
        let mut times = [Vec::new(), Vec::new()];
        let started = Instant::now();
        while times[0].len() < WINDOWS || started.elapsed() < budget {
            let window = sides.window(form)?;
            for (times, time) in times.iter_mut().zip(window) {
                times.push(time);
            }
        }
        sides.check(form);
        for (side, times) in ["sender", "receiver"].into_iter().zip(&mut times) {
            times.sort();
            for (metric, time) in [
                ("million_ots_per_s", times[0]),
                ("million_ots_per_s_median", times[times.len() / 2]),
            ] {
                record(Record {
                    suite: SUITE,
                    case: format!("{}/{}/local/{side}", protocol.name, form.name()),
                    tier: cpu.tier().name(),
                    metric,
                    value: LOCAL_COUNT as f64 / time.as_secs_f64() / 1e6,
                    unit: "million/s",
                });
            }
        }
    }
    Ok(())
}

/// Both sides on one thread, one after the other.
struct Sides {
    sender: Ready<HashedSender<AnySender>>,
    receiver: Ready<HashedReceiver<AnyReceiver>>,
    /// Choices as they are packed, and those that the receiver gives.
    choices: Vec<Block>,
    given: Vec<u8>,
    /// Outputs of the sender, and what it sends as chosen strings.
    q: Vec<Block>,
    pairs: Vec<[Block; 2]>,
    strings: [Vec<Block>; 2],
    /// Outputs of the receiver.
    t: Vec<Block>,
}

impl Sides {
    fn new(
        cpu: Cpu,
        (sender, here): Ready<AnySender>,
        (receiver, there): Ready<AnyReceiver>,
    ) -> Sides {
        let sender = HashedSender::new(cpu, &here, sender, "bench");
        let receiver = HashedReceiver::new(cpu, &there, receiver, "bench");
        let blocks = || vec![Block::ZERO; LOCAL_COUNT];
        Sides {
            sender: (sender, here),
            receiver: (receiver, there),
            choices: vec![Block::ZERO; packed_blocks(LOCAL_COUNT)],
            given: (0..LOCAL_COUNT).map(|j| (j % 3 % 2) as u8).collect(),
            q: blocks(),
            pairs: vec![[Block::ZERO; 2]; LOCAL_COUNT],
            strings: [1, 2].map(|i| {
                (0..LOCAL_COUNT)
                    .map(|j| Block::new((3 * j + i) as u128))
                    .collect()
            }),
            t: blocks(),
        }
    }

    /// Runs a form once: the times of sender and receiver.
    fn window(&mut self, form: Form) -> Result<[Duration; 2], OtError> {
        let ((sender, here), (receiver, there)) = (&mut self.sender, &mut self.receiver);
        let (choices, given, t) = (&mut self.choices, &self.given, &mut self.t);
        let started = Instant::now();
        let mut request = None;
        match form {
            Form::Correlated => receiver.cot.extend(there, choices, t)?,
            Form::Given => forms::receive_given(&mut receiver.cot, there, given, t)?,
            Form::Random => receiver.random(there, choices, t)?,
            Form::Chosen => request = Some(Request::new(&mut receiver.cot, there, given)?),
        }
        there.flush()?;
        let mut received = started.elapsed();
        let started = Instant::now();
        match form {
            Form::Correlated => sender.cot.extend(here, &mut self.q)?,
            Form::Given => forms::send_given(&mut sender.cot, here, &mut self.q)?,
            Form::Random => sender.random(here, &mut self.pairs)?,
            Form::Chosen => {
                let HashedSender { cot, hasher } = sender;
                let [zeros, ones] = &self.strings;
                forms::send_chosen(cot, hasher, here, 1, [zeros, ones])?;
            }
        }
        here.flush()?;
        let sent = started.elapsed();
        if let Some(request) = request {
            let started = Instant::now();
            request.finish(&mut receiver.hasher, there, 1, t)?;
            received += started.elapsed();
        }
        Ok([sent, received])
    }

    /// Checks the outputs of the last window.
    fn check(&self, form: Form) {
        for (j, t) in self.t.iter().enumerate() {
            let x = match form {
                Form::Given | Form::Chosen => self.given[j],
                Form::Correlated | Form::Random => choice(&self.choices, j),
            };
            let expected = match form {
                Form::Correlated | Form::Given => self.q[j] ^ DELTA.masked(x),
                Form::Random => self.pairs[j][usize::from(x)],
                Form::Chosen => self.strings[usize::from(x)][j],
            };
            assert_eq!(t.value(), expected.value(), "OT {j}, {}", form.name());
        }
    }
}
