//! An ideal source of correlated OTs, and two parties in memory.

use std::thread;

use sealane_block::{Block, Coins, Cpu};
use sealane_net::Mesh;
use sealane_parties::PartyId;

use crate::ferret::check::Binding;
use crate::ferret::places::Places;
use crate::ferret::receiver::{self, ReceiverPart};
use crate::ferret::run::{Batch, Code, Link, Outcome, Part, Rows, Setting, Turn};
use crate::ferret::sender::{self, SenderPart};
use crate::ferret::{FerretReceiver, FerretSender, Params};
use crate::{Result, Role, Security, ideal};

pub const SENDER: PartyId = PartyId(0);
pub const RECEIVER: PartyId = PartyId(1);
pub const DELTA: Block = Block::new(0x8f0e_6a51_c3d2_7b94_00ff_1234_9abc_def1);

/// Parameters of both forms of errors that are quick, and that anybody can break.
pub fn tiny(security: Security) -> [Params; 2] {
    [
        Params::danger_tiny(security),
        Params::danger_tiny_uniform(security),
    ]
}

/// All of them.
pub fn all_tiny() -> impl Iterator<Item = Params> {
    let both = [Security::SemiHonest, Security::Malicious];
    both.into_iter().flat_map(tiny)
}

/// An ideal source of correlated OTs.
pub fn dealer(seed: u64) -> (ideal::IdealCotSender, ideal::IdealCotReceiver) {
    ideal::danger_pair([SENDER, RECEIVER], DELTA, seed)
}

pub fn set_up_sender(cpu: Cpu, mesh: &mut Mesh, params: Params) -> Result<FerretSender> {
    let mut coins = Coins::danger_fixed_seed(1);
    FerretSender::set_up(cpu, mesh, RECEIVER, params, &mut dealer(4711).0, &mut coins)
}

pub fn set_up_receiver(cpu: Cpu, mesh: &mut Mesh, params: Params) -> Result<FerretReceiver> {
    let mut coins = Coins::danger_fixed_seed(2);
    FerretReceiver::set_up(cpu, mesh, SENDER, params, &mut dealer(4711).1, &mut coins)
}

/// A party's part that something looks at, or that deviates.
pub struct Hooked<P, H> {
    pub part: P,
    pub hooks: H,
}

/// By default nothing is looked at and nothing deviates.
pub trait Hooks {
    /// The tables of an iteration with errors at any places.
    fn places(&mut self, _: &Places) {}
    /// The correlations of a batch, which may be changed, before its trees.
    fn levels(&mut self, _: &mut [Block], _: Batch<'_>) {}
    /// The rows of an iteration, which may be changed, before their check.
    fn rows(&mut self, _: &mut [Block], _masks: &[Block]) {}
}

impl<H: Hooks> Hooks for &mut H {
    fn places(&mut self, places: &Places) {
        (**self).places(places);
    }
    fn levels(&mut self, levels: &mut [Block], batch: Batch<'_>) {
        (**self).levels(levels, batch);
    }
    fn rows(&mut self, rows: &mut [Block], masks: &[Block]) {
        (**self).rows(rows, masks);
    }
}

impl<P: Part, H: Hooks> Part for Hooked<P, H> {
    const ROLE: Role = P::ROLE;
    const CHOICES: bool = P::CHOICES;

    fn place(&mut self, link: &mut Link<'_>, places: &Places, levels: &mut [Block]) -> Outcome {
        self.hooks.places(places);
        self.part.place(link, places, levels)
    }

    fn trees(&mut self, link: &mut Link<'_>, batch: Batch<'_>, leaves: &mut [Block]) -> Outcome {
        let mut levels = batch.levels.to_vec();
        self.hooks.levels(&mut levels, batch);
        let (hash, levels) = (batch.hash, &levels[..]);
        self.part.trees(link, Batch { hash, levels }, leaves)
    }

    fn encode(code: &Code<'_>, first: usize, leaves: &[Block], rows: Rows<'_>) {
        P::encode(code, first, leaves, rows);
    }

    fn check(
        &mut self,
        link: &mut Link<'_>,
        turn: Turn,
        name: &Binding<'_>,
        rows: Rows<'_>,
    ) -> Outcome {
        let mut blocks = rows.blocks.to_vec();
        let own = match P::ROLE {
            Role::Sender => Turn::Prove,
            Role::Receiver => Turn::Compare,
        };
        if turn == own {
            self.hooks.rows(&mut blocks, name.masks);
        }
        let (blocks, choices) = (&mut blocks[..], rows.choices);
        self.part
            .check(link, turn, name, Rows { blocks, choices })?;
        link.flush()
    }

    fn pack(row: Block, choice: u8) -> Block {
        P::pack(row, choice)
    }
}

/// Runs the set-ups of both parties with these hooks, and as many further OTs.
pub fn hooked<A: Hooks + Send, B: Hooks + Send>(
    params: Params,
    number: u64,
    count: usize,
    (of_sender, of_receiver): (A, B),
) -> (Result<A>, Result<B>) {
    let cpu = Cpu::best();
    let sender = |mut mesh: Mesh| {
        let (mesh, peer) = (&mut mesh, RECEIVER);
        let mut coins = Coins::danger_fixed_seed(number);
        let part = SenderPart::new(cpu, DELTA, &mut coins);
        let mut own = of_sender;
        let hooks = &mut own;
        let (part, source) = (Hooked { part, hooks }, &mut dealer(number).0);
        let setting = Setting::new(cpu, params, Link { mesh, peer }, &mut coins);
        let mut run = sender::extend_as(setting, part, source)?;
        run.fill(mesh, &mut vec![Block::ZERO; count], &mut [])?;
        mesh.flush()?;
        drop(run);
        Ok(own)
    };
    let receiver = |mut mesh: Mesh| {
        let (mesh, peer) = (&mut mesh, SENDER);
        let mut coins = Coins::danger_fixed_seed(1000 + number);
        let part = ReceiverPart::new(cpu, &params, &mut coins);
        let mut own = of_receiver;
        let hooks = &mut own;
        let (part, source) = (Hooked { part, hooks }, &mut dealer(number).1);
        let setting = Setting::new(cpu, params, Link { mesh, peer }, &mut coins);
        let mut run = receiver::extend_as(setting, part, source)?;
        let mut choices = vec![Block::ZERO; count.div_ceil(128)];
        run.fill(mesh, &mut vec![Block::ZERO; count], &mut choices)?;
        drop(run);
        Ok(own)
    };
    both(in_memory(), sender, receiver)
}

/// Runs both parties over these meshes, each on a thread of its own.
pub fn both<A: Send, B: Send>(
    meshes: [Mesh; 2],
    sender: impl FnOnce(Mesh) -> A + Send,
    receiver: impl FnOnce(Mesh) -> B + Send,
) -> (A, B) {
    let [mesh, other] = meshes;
    thread::scope(|scope| {
        let sender = scope.spawn(move || sender(mesh));
        let result = receiver(other);
        (sender.join().expect("the sender's thread"), result)
    })
}

pub fn in_memory() -> [Mesh; 2] {
    let mut meshes = Mesh::in_memory(2).into_iter();
    let mut next = || meshes.next().expect("two parties");
    [next(), next()]
}
