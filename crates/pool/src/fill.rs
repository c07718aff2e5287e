//! The protocol by which two parties fill their pools.
//!
//! 1. Both send how much they want, which has to be the same, what they hold, and a contribution to
//!    the identifier of the session. What only one of them holds does not count. Parties that keep
//!    a pool filled also send how much they keep, which has to be the same; of what both hold so
//!    much of, nothing is made.
//! 2. For each role: a set-up of correlated OTs with a fresh offset, which nothing else uses, then
//!    random OTs from these, hashed and written batch by batch.
//! 3. Once both have their files on their disks, each adds them to its state, and forgets what
//!    only one of them held: nothing is dropped on the word of the other party alone. If one stops
//!    before that, the other forgets the fill with the next one.
//!
//! The OTs are secure against a corrupt party.

use crate::disk::Unnamed;
use crate::error;
use crate::keys::ChainKey;
use crate::pool::{Pool, file_name};
use crate::state::{BATCH, Fill, Offer, batch_bytes};
use sealane_block::{Block, Coins, Cpu};
use sealane_diagnostic::Diagnostic;
use sealane_net::{Mesh, NetError, SessionId};
use sealane_ot::forms::{HashedReceiver, HashedSender};
use sealane_ot::source::Source;
use sealane_ot::traits::{RandomReceiver, RandomSender};
use sealane_ot::{Flights, OtError, Role};
use sealane_parties::{NetworkClass, PartyId};
use sealane_party::Fault;
use serde::{Deserialize, Serialize};
use std::io;
use zeroize::Zeroizing;

/// Batches that are made at a time.
const STRIDE: usize = 64;
/// Bit of an offset that Ferret asks for.
const CHOICE_BIT: u128 = 1;

/// An amount of OTs, in batches, and the way in which they are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// Batches in which party 0 and party 1 is the receiver.
    pub batches: [u64; 2],
    /// The declared network, by which the extension is chosen.
    pub network: NetworkClass,
}

/// Reason why a fill ended without OTs.
pub enum FillError {
    /// The network, the other party, or a failed check, after which the caller lets the pool
    /// [heed](Pool::heed) it.
    Fault(Fault),
    /// The other party has another order.
    Differs(Order),
    /// The other party keeps so many batches, not as many as this one.
    KeepsOther(u64),
    /// The pool of this party cannot be used.
    Pool(Diagnostic),
}

/// First message, of both.
#[derive(Serialize, Deserialize)]
pub(crate) struct Hello {
    pub(crate) order: Order,
    pub(crate) offer: Offer,
    contribution: [u8; 32],
}

/// Second message of parties that keep a pool filled: the batches below which they fill it.
#[derive(Serialize, Deserialize)]
struct Least(u64);

/// Last message, of both: the files are on the disk.
#[derive(Serialize, Deserialize)]
struct Written;

impl Order {
    /// Payload bytes of the whole fill, both ways.
    pub fn payload_bytes(&self) -> u64 {
        let flights = self.batches.iter().filter(|batches| **batches > 0);
        let flights = flights.flat_map(|batches| self.flights(*batches));
        flights
            .map(|flight| flight.from_sender + flight.from_receiver)
            .sum()
    }

    /// Rounds of the whole fill: the largest stamp of a payload message, where each is 1 + the
    /// largest that its sender has received before.
    pub fn rounds(&self) -> u32 {
        let mut received = [0; 2];
        let receivers = (0..2).filter(|receiver| self.batches[*receiver] > 0);
        for receiver in receivers {
            for flight in self.flights(self.batches[receiver]) {
                let sent = received.map(|stamp| stamp + 1);
                let sender = 1 - receiver;
                if flight.from_sender > 0 {
                    received[receiver] = received[receiver].max(sent[sender]);
                }
                if flight.from_receiver > 0 {
                    received[sender] = received[sender].max(sent[receiver]);
                }
            }
        }
        received[0].max(received[1])
    }

    /// Messages of the fill for one receiver.
    fn flights(&self, batches: u64) -> Flights {
        let source = source_of(self.network, batches).cost();
        let (mut flights, mut before) = (source.set_up(), 0);
        for batches in strides(batches) {
            let count = (batches * BATCH) as u64;
            flights.extend(source.extend(before, count));
            before += count;
        }
        flights
    }
}

/// Lengths of the steps in which so many batches are made.
fn strides(batches: u64) -> impl Iterator<Item = usize> {
    let step = STRIDE as u64;
    (0..batches.div_ceil(step)).map(move |at| step.min(batches - at * step) as usize)
}

/// One party of a fill.
pub struct Filling<'a> {
    /// Its pool with the other.
    pub pool: &'a Pool,
    /// Tier of the CPU.
    pub cpu: Cpu,
    /// Told how many batches are written.
    pub progress: &'a mut dyn FnMut(u64),
    /// Batches of which nothing is made if both parties hold as many. Either both state a number,
    /// or neither does.
    pub least: Option<u64>,
}

impl Filling<'_> {
    /// Fills the pools of the two parties of a mesh. Returns the number of batches that were made.
    ///
    /// # Errors
    /// See [`FillError`]; nothing is added to the pool then.
    pub fn run(mut self, order: Order, coins: Coins, mesh: &mut Mesh) -> Result<u64, FillError> {
        let _lock = self.pool.lock_fill()?;
        let filled = self.fill(order, coins, mesh);
        if filled.is_err() {
            self.pool.clear_up();
        }
        filled
    }

    fn fill(&mut self, order: Order, mut coins: Coins, mesh: &mut Mesh) -> Result<u64, FillError> {
        let offer = self.pool.offer()?;
        let me = mesh.me();
        let peer = PartyId(1 - me.0);
        let contribution = *coins.public("pool: session").nonce().as_bytes();
        let theirs = exchange_offers(order, &offer, contribution, mesh)?;
        self.compare_least(mesh)?;
        let state = self.pool.agreed(&offer, &theirs)?;
        let mut coins = coins.enter(mesh.session().as_bytes());
        let mut wanted = Vec::new();
        for receiver in [PartyId(0), PartyId(1)] {
            let batches = order.batches[receiver.index()];
            if batches == 0 {
                continue;
            }
            let role = if me == receiver {
                Role::Receiver
            } else {
                Role::Sender
            };
            let half = state.half(role);
            if self.least.is_some_and(|least| half.left() >= least) {
                continue;
            }
            if !half.has_room(batches) {
                return Err(FillError::Pool(error::full(self.pool.place())));
            }
            let (id, first) = (fill_id(mesh.session(), receiver), half.end());
            wanted.push((role, Fill { id, first, batches }, half.key_of(first)));
        }
        let epoch = state.epoch;
        // Keys before those of the fill are of no use here.
        drop(state);
        for (role, fill, key) in &wanted {
            let source = source_of(order.network, fill.batches);
            self.make(*role, source, fill, key.clone(), &mut coins, mesh)?;
        }
        mesh.send_control(peer, &Written)?;
        let Written = mesh.recv_control(peer)?;
        let made = wanted.iter().map(|(_, fill, _)| fill.batches).sum();
        if made > 0 {
            self.pool.add(epoch, &theirs, wanted)?;
        }
        Ok(made)
    }

    /// Exchanges how much both keep, if they do.
    fn compare_least(&self, mesh: &mut Mesh) -> Result<(), FillError> {
        let Some(least) = self.least else {
            return Ok(());
        };
        let peer = PartyId(1 - mesh.me().0);
        mesh.send_control(peer, &Least(least))?;
        let Least(theirs) = mesh.recv_control(peer)?;
        if theirs == least {
            Ok(())
        } else {
            Err(FillError::KeepsOther(theirs))
        }
    }

    /// Makes the OTs of one fill in one role, and writes their file.
    fn make(
        &mut self,
        role: Role,
        source: Source,
        fill: &Fill,
        key: ChainKey,
        coins: &mut Coins,
        mesh: &mut Mesh,
    ) -> Result<(), FillError> {
        let peer = PartyId(1 - mesh.me().0);
        let label = "pool: random OTs";
        let unusable = |error| error::unusable(self.pool.place(), error);
        let file = self.pool.disk().begin(&file_name(role, fill));
        let mut out = BatchWriter::new(role, fill, key, file.map_err(unusable)?);
        let cpu = self.cpu;
        let mut maker = match role {
            Role::Sender => {
                let delta = offset(coins);
                let setup = source.sender(cpu, mesh, peer, *delta, coins)?;
                mesh.flush()?;
                let cot = setup.finish(mesh, coins)?;
                Maker::Sender(Box::new(HashedSender::new(cpu, mesh, cot, label)))
            }
            Role::Receiver => {
                let setup = source.receiver(cpu, mesh, peer, coins)?;
                mesh.flush()?;
                let cot = setup.finish(mesh, coins)?;
                Maker::Receiver(Box::new(HashedReceiver::new(cpu, mesh, cot, label)))
            }
        };
        let mut keys = Zeroizing::new(vec![Block::ZERO; STRIDE * out.text.len()]);
        for batches in strides(fill.batches) {
            let count = batches * BATCH;
            match &mut maker {
                Maker::Sender(ots) => {
                    let pairs = bytemuck::cast_slice_mut(&mut keys[..2 * count]);
                    ots.random(mesh, pairs)?;
                    for pairs in keys[..2 * count].chunks(2 * BATCH) {
                        out.write(&[pairs]).map_err(unusable)?;
                    }
                }
                Maker::Receiver(ots) => {
                    let (keys, choices) = keys.split_at_mut(STRIDE * BATCH);
                    let (keys, choices) = (&mut keys[..count], &mut choices[..count / 128]);
                    ots.random(mesh, choices, keys)?;
                    mesh.flush()?;
                    for (keys, choices) in keys.chunks(BATCH).zip(choices.chunks(BATCH / 128)) {
                        out.write(&[keys, choices]).map_err(unusable)?;
                    }
                }
            }
            (self.progress)(batches as u64);
        }
        mesh.flush()?;
        Ok(out.file.keep().map_err(unusable)?)
    }
}

/// Exchanges the first messages, and enters the session. Returns what the other party holds.
///
/// # Errors
/// See [`FillError`].
pub fn exchange_offers(
    order: Order,
    offer: &Offer,
    contribution: [u8; 32],
    mesh: &mut Mesh,
) -> Result<Offer, FillError> {
    let me = mesh.me();
    let peer = PartyId(1 - me.0);
    let hello = Hello {
        order,
        offer: offer.clone(),
        contribution,
    };
    mesh.send_control(peer, &hello)?;
    let theirs: Hello = mesh.recv_control(peer)?;
    if theirs.order != order {
        return Err(FillError::Differs(theirs.order));
    }
    if !theirs.offer.is_valid_beside(offer) {
        let reason = "numbers of a pool that are out of bounds".to_string();
        let malformed = NetError::Malformed {
            party: peer,
            reason,
        };
        return Err(malformed.into());
    }
    let mut contributions = [contribution, theirs.contribution];
    if me.0 == 1 {
        contributions.reverse();
    }
    mesh.set_session(SessionId::new(&instance(&order, mesh), &contributions));
    Ok(theirs.offer)
}

enum Maker {
    Sender(Box<dyn RandomSender>),
    Receiver(Box<dyn RandomReceiver>),
}

/// Draws the offset of a fill.
pub(crate) fn offset(coins: &mut Coins) -> Zeroizing<Block> {
    let drawn = coins.secret("pool: offset").block();
    Zeroizing::new(Block::new(drawn.value() | CHOICE_BIT))
}

/// The source of so many batches.
fn source_of(network: NetworkClass, batches: u64) -> Source {
    Source::for_count(network, batches * BATCH as u64)
}

/// Writes batches, each under its key.
pub(crate) struct BatchWriter<'a> {
    role: Role,
    fill: &'a Fill,
    key: ChainKey,
    number: u64,
    file: Box<dyn Unnamed>,
    text: Zeroizing<Vec<Block>>,
}

impl<'a> BatchWriter<'a> {
    /// A writer of a fill into this file, with the key of its first batch.
    pub(crate) fn new(
        role: Role,
        fill: &'a Fill,
        key: ChainKey,
        file: Box<dyn Unnamed>,
    ) -> BatchWriter<'a> {
        BatchWriter {
            role,
            fill,
            key,
            number: fill.first,
            file,
            text: Zeroizing::new(vec![Block::ZERO; batch_bytes(role) / 16]),
        }
    }

    /// Encrypts and writes the next batch, whose parts come one after another.
    pub(crate) fn write(&mut self, parts: &[&[Block]]) -> io::Result<()> {
        let mut left = &mut self.text[..];
        for part in parts {
            left[..part.len()].copy_from_slice(part);
            left = &mut left[part.len()..];
        }
        let cipher = self.fill.cipher(self.role, self.number, &self.key);
        let text = Block::as_bytes_mut(&mut self.text);
        cipher.seal(text);
        self.file.write_all(text)?;
        self.number += 1;
        self.key.advance(1);
        Ok(())
    }
}

/// Hash of what both parties agreed on.
fn instance(order: &Order, mesh: &Mesh) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("sealane pool 2 fill");
    for batches in order.batches {
        hasher.update(&batches.to_le_bytes());
    }
    hasher.update(order.network.to_string().as_bytes());
    for key in mesh.pinned() {
        hasher.update(key.as_bytes());
    }
    *hasher.finalize().as_bytes()
}

/// Name of the fill of this session for this receiver.
pub(crate) fn fill_id(session: SessionId, receiver: PartyId) -> [u8; 16] {
    let mut id = [0; 16];
    blake3::Hasher::new_derive_key("sealane pool 1 name of a fill")
        .update(session.as_bytes())
        .update(&[receiver.0])
        .finalize_xof()
        .fill(&mut id);
    id
}

impl From<NetError> for FillError {
    fn from(error: NetError) -> FillError {
        FillError::Fault(error.into())
    }
}

impl From<OtError> for FillError {
    fn from(error: OtError) -> FillError {
        FillError::Fault(error.into())
    }
}

impl From<Diagnostic> for FillError {
    fn from(error: Diagnostic) -> FillError {
        FillError::Pool(error)
    }
}
