//! Garbling devices: one trait, and the records in which all of them give labels, tables and masks.
//!
//! A device holds one netlist and garbles it for clients, each in a session with keys of its own.
//! Sessions interleave: the host reads the records of any client when it likes, and a client that
//! is slow delays no other. All devices of a scheme give the same values for the same keys: the
//! garbling of crate `garble` on [`cycle_tape`](sealane_accel::Netlist::cycle_tape), with the
//! inputs labelled by AES in counter mode.

mod machine;
mod rtl;
mod software;

pub use machine::{BetterEngines, Build, MOST_BUILT, RtlMachine};
pub use rtl::{Rtl, RtlOptions};
pub use software::{CpuDevice, ModelDevice};

use sealane_accel::{Netlist, Operand};
use sealane_block::{Block, Coins, Erased};
use sealane_garble::Scheme;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// Most clients of a device at the same time.
pub const MOST_CLIENTS: u32 = 32;

/// Bytes of a record on its way from a device.
pub const RECORD_BYTES: usize = 48;

/// The tag of a client at a device, below [`MOST_CLIENTS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Client(pub u32);

/// The secrets of one session, and its public hash key. Erased when they are dropped.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct Keys {
    /// The public key of the hash, of this session alone.
    pub hash: Block,
    /// The offset of all labels; bit 0 is 1.
    pub offset: Block,
    /// The key under which labels of inputs are made, of this session alone.
    pub label_key: Block,
    /// The counter of the first label of an input.
    pub label_start: Block,
}

impl Keys {
    /// Draws the secrets of a session. `hash` is fresh and public: it comes from a
    /// [`PublicStream`](sealane_block::PublicStream).
    pub fn draw(coins: &mut Coins, hash: Block) -> Keys {
        let offset = coins.secret("serve: offset").block();
        let mut labels = coins.secret("serve: labels of inputs");
        Keys {
            hash,
            offset: Block::new(offset.value() | 1),
            label_key: labels.block(),
            label_start: labels.block(),
        }
    }
}

/// The kind of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    /// The zero label of the input of number `index`, in the first 16 bytes; the others are 0.
    Label,
    /// The table of the AND of number `index`: T_G, then T_E.
    Table,
    /// Bit 0 of the zero labels of outputs `256 index` and on, from bit 0 of the first byte on.
    Masks,
}

/// A record of a session. Labels are secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Record {
    /// The client whose session it is of.
    pub client: Client,
    /// Its kind.
    pub tag: Tag,
    /// The netlist cycle, from 0.
    pub cycle: u32,
    /// A number whose meaning the tag says.
    pub index: u32,
    /// The value.
    pub data: [u8; 32],
}

impl Drop for Record {
    fn drop(&mut self) {
        self.data.zeroize();
    }
}

impl Record {
    /// Reads a record as hardware writes it: tag, netlist cycle and index as 32-bit numbers, 4
    /// bytes of zeros, 32 bytes of data, all with the lowest byte first.
    ///
    /// # Errors
    /// [`DeviceError::Broken`] for an unknown tag, or bytes that have to be 0 and are not.
    pub fn parse(client: Client, bytes: &[u8; RECORD_BYTES]) -> Result<Record, DeviceError> {
        let word = |at: usize| {
            let bytes = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
            u32::from_le_bytes(bytes)
        };
        let tag = match word(0) {
            0 => Tag::Label,
            1 => Tag::Table,
            2 => Tag::Masks,
            tag => return Err(DeviceError::broken(format!("a record of tag {tag}"))),
        };
        if word(12) != 0 {
            return Err(DeviceError::broken("a record with bytes that are not 0"));
        }
        let mut data = [0; 32];
        data.copy_from_slice(&bytes[16..]);
        Ok(Record {
            client,
            tag,
            cycle: word(4),
            index: word(8),
            data,
        })
    }

    /// Returns the lower or the upper block of the data.
    pub fn block(&self, half: usize) -> Block {
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&self.data[16 * half..][..16]);
        Block::from_bytes(bytes)
    }
}

/// Account of a session that has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// Clock cycles that the device took for the session, where it counts them.
    pub clock_cycles: Option<u64>,
}

/// The reason why a device does not garble.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// The device cannot hold the netlist.
    #[error("the device does not take the netlist: {0}")]
    Netlist(String),
    /// No netlist was loaded, or sessions run on one that another would replace.
    #[error("the device has no netlist, or sessions on the one that it has")]
    NotNow,
    /// A tag of a client is out of range.
    #[error("client {0} is beyond the {MOST_CLIENTS} that a device takes")]
    ClientRange(u32),
    /// The client has a session already.
    #[error("client {0} has a session already")]
    InUse(u32),
    /// The client has no session.
    #[error("client {0} has no session")]
    NoSession(u32),
    /// A session of no netlist cycle.
    #[error("a session of no netlist cycle")]
    NoCycles,
    /// The hash key is that of a session that runs, or of the one before.
    #[error("the hash key has served another session")]
    OldKey,
    /// The offset is no offset.
    #[error("bit 0 of the offset is 0")]
    Offset,
    /// The key has served as many ANDs as it may.
    #[error("the hash key has served as many ANDs as it may")]
    Limit,
    /// A record belongs to another client.
    #[error("a record of client {found} came where one of client {expected} was due")]
    Foreign {
        /// The client whose record was due.
        expected: u32,
        /// The client that the record names.
        found: u32,
    },
    /// The device sent what no device sends.
    #[error("the device is broken: {0}")]
    Broken(String),
    /// The device sent nothing for too long.
    #[error("the device has sent nothing for {0} s")]
    Silent(u64),
    /// The bench is of another machine, or for another scheme, than is asked for.
    #[error("the bench is {}, and {expected} is asked for", named(found))]
    OtherBuild {
        /// The build that is asked for.
        expected: Build,
        /// The build of the bench; an older bench does not say which it is.
        found: Option<Build>,
    },
    /// The program of the device cannot be started.
    #[error("cannot start the device {program}: {reason}")]
    Start {
        /// The program.
        program: String,
        /// The reason of the operating system.
        reason: String,
    },
}

fn named(build: &Option<Build>) -> String {
    match build {
        Some(build) => build.to_string(),
        None => "of an older version".to_string(),
    }
}

impl DeviceError {
    pub(crate) fn broken(what: impl Into<String>) -> DeviceError {
        DeviceError::Broken(what.into())
    }
}

/// The size of a session, and the limit of its hash key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// Netlist cycles, at least 1.
    pub cycles: u32,
    /// Most ANDs under the hash key.
    pub most_ands: u64,
}

/// A machine that garbles a netlist for clients that take turns.
pub trait Device: Send {
    /// Returns the name in reports: `cpu`, `model` or `rtl`.
    fn name(&self) -> &'static str;

    /// Returns the machine of `rtl/` whose clock cycles it counts, if it counts some.
    fn machine(&self) -> Option<RtlMachine> {
        None
    }

    /// Returns the scheme under which it garbles.
    fn scheme(&self) -> Scheme;

    /// Takes a netlist in place of the one before. Its outputs are wires in ascending order, each
    /// once ([`DeviceNetlist`]).
    ///
    /// # Errors
    /// [`DeviceError::Netlist`] if the device has no room for it, [`DeviceError::NotNow`] while
    /// sessions run.
    fn load(&mut self, netlist: &DeviceNetlist) -> Result<(), DeviceError>;

    /// Begins the session of a client.
    ///
    /// # Errors
    /// The client has one, or is out of range; the keys are old, or the extent is empty.
    fn start(&mut self, client: Client, keys: Keys, extent: Extent) -> Result<(), DeviceError>;

    /// Adds the next records of a client to `records`, which is empty; returns false if all have
    /// come before. Waits for the device alone, and for milliseconds: a device that needs longer
    /// adds no record and returns true, and is asked again, so that it delays no other client.
    ///
    /// # Errors
    /// The client has no session, its key has reached its limit, or the device failed. The secrets
    /// of the session are then erased.
    fn read(&mut self, client: Client, records: &mut Vec<Record>) -> Result<bool, DeviceError>;

    /// Ends the session of a client, whether all its records have come or not, and erases its
    /// secrets.
    ///
    /// # Errors
    /// The client has no session; or the device has not erased its secrets.
    fn end(&mut self, client: Client) -> Result<Ended, DeviceError>;
}

/// A netlist in the form of devices: outputs are wires in ascending order, each once. Constants and
/// the order of ports stay at the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceNetlist(Netlist);

impl DeviceNetlist {
    /// Makes the form that devices take.
    ///
    /// # Errors
    /// [`DeviceError::Netlist`] if the netlist has public inputs, of which devices know nothing, or
    /// a flip-flop that begins with an input of each cycle.
    pub fn new(netlist: &Netlist) -> Result<DeviceNetlist, DeviceError> {
        let mut parts = netlist.parts().clone();
        if parts.inputs.public_initial + parts.inputs.public > 0 {
            return Err(DeviceError::Netlist("it has public inputs".into()));
        }
        let wires = parts.outputs.iter().copied().filter_map(Operand::wire);
        let mut wires: Vec<u32> = wires.collect();
        wires.sort_unstable();
        wires.dedup();
        if wires.is_empty() {
            return Err(DeviceError::Netlist("no output of it is a wire".into()));
        }
        parts.outputs = wires.into_iter().map(Operand::Wire).collect();
        (parts.ports, parts.terminate) = (None, None);
        let refused = |error: String| DeviceError::Netlist(error);
        let netlist = Netlist::new(parts).map_err(|error| refused(error.to_string()))?;
        let tape = netlist.cycle_tape();
        tape.map_err(|error| refused(error.to_string()))?;
        Ok(DeviceNetlist(netlist))
    }

    /// Returns the netlist.
    pub fn netlist(&self) -> &Netlist {
        &self.0
    }

    /// Returns the counts of records in a netlist cycle.
    pub fn shape(&self) -> RecordCounts {
        let netlist = &self.0;
        let counts = netlist.parts().inputs.counts();
        let held: u32 = counts[..3].iter().sum();
        RecordCounts {
            held,
            inputs: netlist.inputs(),
            ands: netlist.ands() as u32,
            outputs: netlist.parts().outputs.len() as u32,
        }
    }
}

/// Counts of records in a netlist cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordCounts {
    /// Inputs that have labels in the first cycle alone; they come first.
    pub held: u32,
    /// All inputs.
    pub inputs: u32,
    /// ANDs.
    pub ands: u32,
    /// Outputs.
    pub outputs: u32,
}

impl RecordCounts {
    /// Number of the first input that has a label in this cycle.
    pub fn first_label(&self, cycle: u32) -> u32 {
        if cycle == 0 { 0 } else { self.held }
    }

    /// Records of masks in a cycle.
    pub fn mask_records(&self) -> u32 {
        self.outputs.div_ceil(MASKS_A_RECORD)
    }
}

/// Outputs whose masks one record holds.
pub const MASKS_A_RECORD: u32 = 256;

/// The sessions of a device, by client, with what every device refuses.
pub(crate) struct Sessions<S> {
    /// In boxes that are erased: a session that moves out of the map leaves nothing behind.
    sessions: std::collections::BTreeMap<Client, (Block, Erased<S>)>,
    /// The hash key of the session that began last. In a box: before the first session there is
    /// nothing that a comparison could read, not even an unwritten place.
    last: Option<Box<Block>>,
}

impl<S> Default for Sessions<S> {
    fn default() -> Self {
        Sessions {
            sessions: std::collections::BTreeMap::new(),
            last: None,
        }
    }
}

impl<S> Sessions<S> {
    pub(crate) fn is_empty(&self) -> bool {
        self.sessions.is_empty()
    }

    /// Checks what the host asks for, before `begin` takes it.
    pub(crate) fn start(
        &mut self,
        client: Client,
        keys: Keys,
        extent: Extent,
        begin: impl FnOnce(Keys, Extent) -> Result<S, DeviceError>,
    ) -> Result<(), DeviceError> {
        if client.0 >= MOST_CLIENTS {
            return Err(DeviceError::ClientRange(client.0));
        }
        if self.sessions.contains_key(&client) {
            return Err(DeviceError::InUse(client.0));
        }
        if extent.cycles == 0 {
            return Err(DeviceError::NoCycles);
        }
        let hash = keys.hash;
        // Hash keys are public.
        let running = self.sessions.values().map(|(hash, _)| hash);
        let mut old = running.chain(self.last.as_deref());
        if old.any(|old| old.value() == hash.value()) {
            return Err(DeviceError::OldKey);
        }
        if keys.offset.lsb() == 0 {
            return Err(DeviceError::Offset);
        }
        let session = begin(keys, extent)?;
        self.last = Some(Box::new(hash));
        let session = Erased::new(session);
        self.sessions.insert(client, (hash, session));
        Ok(())
    }

    pub(crate) fn get(&mut self, client: Client) -> Result<&mut S, DeviceError> {
        let session = self.sessions.get_mut(&client);
        let session = session.map(|(_, session)| &mut **session);
        session.ok_or(DeviceError::NoSession(client.0))
    }

    pub(crate) fn remove(&mut self, client: Client) -> Result<Erased<S>, DeviceError> {
        let session = self.sessions.remove(&client);
        let session = session.map(|(_, session)| session);
        session.ok_or(DeviceError::NoSession(client.0))
    }
}
