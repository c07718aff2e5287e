//! The server's side of a session: a device garbles, and this host does all that is with the client
//! (oblivious transfers, labels of inputs, decoding).

use crate::ServeError;
use crate::collect::{Collector, Cycle};
use crate::device::{Client, Device, DeviceError, Ended, Extent, Keys, RtlMachine};
use crate::input::pack;
use crate::job::{Job, Port, Promise, most_ands};
use crate::messages::{CLIENT, give_up, hear, refuse};
use crate::{Account, Refusal};
use sealane_block::{Block, Coins, Cpu};
use sealane_garble::Tables;
use sealane_net::Mesh;
use sealane_ot::forms::send_given;
use sealane_party::{check_digests, send_digests};
use sealane_yao::OutgoingTables;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;
use zeroize::Zeroizing;

/// Pause between two looks at a device that has given nothing.
const LOOK_PAUSE: Duration = Duration::from_millis(1);

/// A netlist that is served, with the garbler's input to it.
pub struct Served {
    job: Job,
    input: Zeroizing<Vec<u8>>,
    shared: Mutex<Shared>,
    most_ands: u64,
}

/// A device and the tags of clients that are free at it.
struct Shared {
    device: Box<dyn Device>,
    free: Vec<Client>,
}

impl Served {
    /// Loads the netlist of a job into a device, for at most `clients` sessions at the same time.
    /// `input` are the garbler's bits, one a byte, in the order of
    /// [`InputText`](crate::input::InputText); every session takes them. A key serves at most
    /// `most` ANDs, or as few as its scheme allows.
    ///
    /// # Errors
    /// The device does not take the netlist, or garbles under another scheme; or the session has
    /// more ANDs than a key may serve.
    ///
    /// # Panics
    /// If there are not as many bits as the job states.
    pub fn new(
        job: Job,
        input: Zeroizing<Vec<u8>>,
        mut device: Box<dyn Device>,
        clients: u32,
        most: u64,
    ) -> Result<Served, DeviceError> {
        assert_eq!(
            input.len() as u64,
            job.input_bits()[0],
            "the garbler's bits"
        );
        if device.scheme() != job.scheme() {
            return Err(DeviceError::broken("it garbles under another scheme"));
        }
        device.load(job.netlist())?;
        let most_ands = most.min(most_ands(job.scheme()));
        let ands = u64::from(job.netlist().shape().ands) * u64::from(job.cycles());
        if ands > most_ands {
            return Err(DeviceError::Limit);
        }
        Ok(Served {
            job,
            input,
            shared: Mutex::new(Shared {
                device,
                free: (0..clients).rev().map(Client).collect(),
            }),
            most_ands,
        })
    }

    /// Returns the job.
    pub fn job(&self) -> &Job {
        &self.job
    }

    /// Returns the name of the device.
    pub fn device(&self) -> &'static str {
        self.lock().device.name()
    }

    /// Returns the machine of `rtl/` whose clock cycles the device counts.
    pub fn machine(&self) -> Option<RtlMachine> {
        self.lock().device.machine()
    }

    /// Locks the device. A panic while it was locked leaves it with sessions of its own, which
    /// nobody else touches.
    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Serves one client: agrees on the job, asks `admit` whether the client may have a session,
/// garbles the job, and opens the outputs to the client. Returns the number of the job and the
/// account of the session. No two jobs have one netlist.
///
/// # Errors
/// The client asks for something else, is not admitted, or breaks the protocol; the network or the
/// device fails. The client has been told.
pub fn serve(
    served: &[Served],
    admit: impl FnOnce() -> Result<(), Refusal>,
    cpu: Cpu,
    mut coins: Coins,
    mesh: &mut Mesh,
) -> Result<(usize, Account), ServeError> {
    let jobs: Vec<&Job> = served.iter().map(Served::job).collect();
    let number = hear(&jobs, admit, &mut coins, mesh)?;
    let account = garble(&served[number], cpu, coins, mesh);
    let account = account.inspect_err(|error| give_up(error, mesh))?;
    Ok((number, account))
}

/// Tells a client that this server has as many sessions as it takes.
pub fn refuse_busy(mesh: &mut Mesh) -> ServeError {
    match mesh.recv_control::<crate::messages::Ask>(CLIENT) {
        Ok(_) => refuse(Refusal::Busy, mesh),
        Err(error) => error.into(),
    }
}

/// The session of a client at a device. It ends when this is dropped, however that comes.
struct AtDevice<'a> {
    served: &'a Served,
    client: Client,
    /// Set once the session has ended.
    ended: bool,
}

impl<'a> AtDevice<'a> {
    fn start(served: &'a Served, keys: Keys) -> Result<AtDevice<'a>, DeviceError> {
        let mut shared = served.lock();
        let client = shared.free.pop();
        let client = client.ok_or(DeviceError::ClientRange(crate::device::MOST_CLIENTS))?;
        let extent = Extent {
            cycles: served.job.cycles(),
            most_ands: served.most_ands,
        };
        let started = shared.device.start(client, keys, extent);
        if started.is_err() {
            shared.free.push(client);
        }
        started.map(|()| AtDevice {
            served,
            client,
            ended: false,
        })
    }

    fn end(mut self) -> Result<Ended, DeviceError> {
        self.ended = true;
        let mut shared = self.served.lock();
        let ended = shared.device.end(self.client);
        shared.free.push(self.client);
        ended
    }
}

impl Drop for AtDevice<'_> {
    fn drop(&mut self) {
        if !self.ended {
            let mut shared = self.served.lock();
            // A device that failed has erased the session already.
            let _ = shared.device.end(self.client);
            shared.free.push(self.client);
        }
    }
}

fn garble(served: &Served, cpu: Cpu, coins: Coins, mesh: &mut Mesh) -> Result<Account, ServeError> {
    let job = &served.job;
    let session = *mesh.session().as_bytes();
    let mut coins = coins.enter(&session);
    // 1. Set-up: the hash key follows from a nonce; secrets stay here and at the device.
    let nonce = coins.public("serve: hash").nonce();
    let hash = nonce.stream("serve: hash", &session).block();
    let keys = Keys::draw(&mut coins, hash);
    let offset = Zeroizing::new(keys.offset);
    mesh.send(CLIENT, nonce.as_bytes())?;
    // 2. Oblivious transfers for all inputs of the client.
    let [_, evaluator] = job.input_bits();
    let mut q = Zeroizing::new(vec![Block::ZERO; evaluator as usize]);
    if evaluator > 0 {
        let source = job.source();
        let setup = source.sender(cpu, mesh, CLIENT, *offset, &mut coins)?;
        mesh.flush()?;
        let mut ot = setup.finish(mesh, &mut coins)?;
        mesh.flush()?;
        send_given(&mut ot, mesh, &mut q)?;
    }
    // 3. Netlist cycles as the device garbles them.
    let at_device = AtDevice::start(served, keys)?;
    let mut collector = Collector::new(at_device.client, job.netlist().shape(), job.cycles());
    let mut sending = Sending {
        served,
        cpu,
        offset: &offset,
        q: &q,
        cycles: 0,
        sent: [0; 2],
        masks: Zeroizing::new(Vec::with_capacity(job.output_bits() as usize)),
    };
    let mut records = Vec::new();
    loop {
        mesh.cancel().check()?;
        let more = served.lock().device.read(at_device.client, &mut records)?;
        if !more {
            break;
        }
        if records.is_empty() {
            // Without the lock, which others may take meanwhile.
            thread::sleep(LOOK_PAUSE);
        }
        for record in &records {
            collector.put(record)?;
            while let Some(cycle) = collector.take() {
                sending.cycle(&cycle, mesh)?;
            }
        }
        // Dropped where they are: records that move out leave their labels behind.
        records.clear();
    }
    if !collector.is_done() {
        return Err(DeviceError::broken("it ended before the last netlist cycle").into());
    }
    let ended = at_device.end()?;
    // 4. The client's digest of all that it sent.
    mesh.flush()?;
    check_digests(mesh, [CLIENT])?;
    // 5. Masks, which open the outputs, and the digest of all that was sent, masks included.
    mesh.send(CLIENT, &Zeroizing::new(pack(&sending.masks)))?;
    send_digests(mesh, [CLIENT])?;
    mesh.finish()?;
    Ok(Account {
        planned: job.promise(),
        measured: Promise {
            from_server: mesh.payload_sent(CLIENT),
            from_client: mesh.payload_received(CLIENT),
            rounds: mesh.rounds(),
        },
        clock_cycles: ended.clock_cycles,
    })
}

/// State of the messages that go to the client in netlist cycles.
struct Sending<'a> {
    served: &'a Served,
    cpu: Cpu,
    offset: &'a Block,
    /// The server's parts of the oblivious transfers.
    q: &'a [Block],
    /// Netlist cycles that have been sent.
    cycles: u32,
    /// Bits whose labels have been sent, of garbler and evaluator.
    sent: [usize; 2],
    /// Masks of the outputs that are opened, in the order of ports.
    masks: Zeroizing<Vec<u8>>,
}

impl Sending<'_> {
    /// Sends labels and tables of a cycle, and keeps its masks.
    fn cycle(&mut self, cycle: &Cycle, mesh: &mut Mesh) -> Result<(), ServeError> {
        let job = &self.served.job;
        let inputs = job.netlist().netlist().parts().inputs;
        let fresh = [inputs.garbler, inputs.evaluator];
        let counts = match self.cycles {
            0 => [[inputs.garbler_initial, inputs.evaluator_initial], fresh].concat(),
            _ => fresh.to_vec(),
        };
        let opened = job.opens(self.cycles);
        self.cycles += 1;
        let mut labels = cycle.labels.iter();
        for (count, party) in counts.into_iter().zip([0, 1].into_iter().cycle()) {
            for zero in labels.by_ref().take(count as usize) {
                let place = self.sent[party];
                self.sent[party] += 1;
                let label = match party {
                    // The active label of this side's bit: a mask, not a branch.
                    0 => *zero ^ self.offset.masked(self.served.input[place]),
                    // The client has `q`, or `q ^ offset`, and comes to the label from there.
                    _ => *zero ^ self.q[place],
                };
                mesh.send(CLIENT, &label.to_bytes())?;
            }
        }
        let mut tables = OutgoingTables::new(self.cpu, mesh, CLIENT);
        for table in cycle.tables.chunks(32) {
            tables.next(32)?[..32].copy_from_slice(table);
            tables.pass(32)?;
        }
        for port in job.ports().iter().filter(|_| opened) {
            self.masks.push(match *port {
                // As if its zero label were that of the constant.
                Port::Constant(bit) => u8::from(bit),
                Port::Output(output) => cycle.masks[output as usize],
            });
        }
        Ok(())
    }
}
