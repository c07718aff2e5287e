//! The offline walk: values are masks.
//!
//! The mask of an input is its owner's alone. Masks of XORs are XORs of masks. The output of an AND
//! has a random mask; for the product of its operands' masks `a` and `b` the AND takes a random
//! product `z = x y`, and all parties open `e = a ^ x` and `f = b ^ y` with MACs (Beaver,
//! "Efficient Multiparty Protocols Using Circuit Randomization", Crypto 1991):
//!
//! ```text
//! [s] = [a b] = [z] ^ e [y] ^ f [x] ^ e f
//! ```
//!
//! No later check notices a false `e` or `f`: their MACs are the only guard.

use crate::bits::{Bits, bytes_of, pack_lowest, spread, whole};
use crate::common::{Common, Opening, Place};
use crate::products::Products;
use crate::sums::SUM_BYTES;
use crate::wires::{Masks, Stack, TapePorts};
use sealane_block::{Block, Cpu, Erased, terms};
use sealane_circuit::Tape;
use sealane_garble::authenticated::Run;
use sealane_net::Mesh;
use sealane_party::{Fault, Outcome, Progress, Result, Shares, Step, Steps};
use sealane_protocol::Domain;
use std::sync::Arc;
use zeroize::Zeroizing;

/// The offline walk of a party, which owns what both walks use.
pub struct Offline<P>(pub(crate) Erased<Common<P>>);

/// Output of the offline part of a step.
pub enum Material {
    /// Nothing.
    None,
    /// Masks of an input.
    Input(Vec<Bits>),
    /// Masks that the ANDs of a tape take.
    Tape(Box<TapeMaterial>),
}

/// Masks that the ANDs of a tape take, for each other party, in the order of the format: those of
/// their outputs, and the products of their operands' masks, to which those of the outputs are
/// added.
pub struct TapeMaterial {
    pub(crate) fresh: Vec<Bits>,
    pub(crate) product: Vec<Bits>,
}

/// A tape whose openings have been sent.
pub struct Pending {
    opening: Opening,
    masks: Masks,
    fresh: Vec<Bits>,
    products: Vec<[Bits; 3]>,
    /// Keys of `[e]` and `[f]`, for each other party.
    keys: Vec<[Zeroizing<Vec<Block>>; 2]>,
    /// This party's shares of all `e`, then of all `f`.
    pub(crate) own: Zeroizing<Vec<u8>>,
}

/// Bytes by which each party opens `e` and `f` of so many ANDs to each other one.
pub(crate) const fn opened_bytes(ands: u64) -> u64 {
    bytes_of(2 * ands) + SUM_BYTES
}

impl<P: Products> Steps for Offline<P> {
    type Share = Masks;
    type Pending<'a> = Box<Pending>;
    type Material = ();
    type Output = Material;
    /// Each step checks what it opens.
    type Check = ();

    /// A public value has the mask zero.
    fn constant(&mut self, _: Domain, bits: usize, values: &[u64]) -> Masks {
        Stack::zeros(bits, values.len())
    }

    fn begin<'a>(
        &mut self,
        step: Step<'a, Self>,
        _: Option<()>,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, Self>> {
        match step {
            Step::Input {
                owner,
                elements,
                bits,
                ..
            } => {
                let masks = self.0.products.bits_of(owner, bits * elements)?;
                let parts = masks.iter();
                let parts = parts.flat_map(|of| [of.mac.clone(), of.key.clone()]);
                let share = Stack::new(bits, elements, parts.collect());
                Ok(made(share, Material::Input(masks)))
            }
            Step::Tape {
                tape,
                lanes,
                operands,
                ..
            } => self.tape(tape, lanes, &operands, mesh),
            Step::Settle { .. } => Ok(Progress::Done(Outcome::Settled(Material::None))),
            Step::Open { .. } => Ok(Progress::Done(Outcome::Opened(vec![], Material::None))),
            Step::CompareExchange { .. }
            | Step::Product { .. }
            | Step::Ring { .. }
            | Step::Convert { .. }
            | Step::Shuffle { .. }
            | Step::Sort { .. } => Err(no_step()),
        }
    }

    fn advance<'a>(
        &mut self,
        pending: Self::Pending<'a>,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, Self>> {
        let Pending {
            opening,
            masks,
            fresh,
            products,
            keys,
            mut own,
        } = *pending;
        let pairs = fresh[0].mac.len();
        let mut opened = Vec::new();
        for peer in &self.0.peers {
            let mut theirs = vec![0; own.len()];
            let mut sum = [0; SUM_BYTES as usize];
            mesh.recv(*peer, &mut theirs)?;
            mesh.recv(*peer, &mut sum)?;
            opened.push((theirs, Block::from_bytes(sum)));
        }
        let offset = self.0.products.offset();
        for ((peer, keys), (theirs, sum)) in self.0.peers.iter().zip(&keys).zip(&opened) {
            whole(theirs, 2 * pairs, *peer)?;
            let expected = self.0.sum(opening, *peer, theirs);
            let keys = keys.iter().map(|keys| &keys[..]);
            let expected = expected.and_all_keys(keys, offset, theirs);
            self.0
                .compare(Place::Masks, *peer, *sum, expected.value())?;
        }
        for (theirs, _) in opened {
            let bits = own.iter_mut().zip(theirs);
            bits.for_each(|(own, theirs)| *own ^= theirs);
        }
        let mut product = Vec::new();
        for (at, ([x, y, mut z], fresh)) in products.into_iter().zip(&fresh).enumerate() {
            let one = self.0.one_towards(self.0.peers[at]);
            multiply((self.0.cpu, one), &own, [&x, &y], fresh, &mut z);
            for Bits { mac, key } in [x, y].iter_mut() {
                self.0.products.give_back(std::mem::take(mac));
                self.0.products.give_back(std::mem::take(key));
            }
            product.push(z);
        }
        for keys in keys.into_iter().flatten() {
            self.0.products.give_back(taken(keys));
        }
        Ok(made(masks, tape_material(fresh, product)))
    }
}

impl<P: Products> Offline<P> {
    /// Walks over a tape, and sends this party's shares of `e` and `f`.
    fn tape<'a>(
        &mut self,
        tape: &'a Tape,
        lanes: usize,
        operands: &[Arc<Masks>],
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, Self>> {
        let run = Run { tape, lanes };
        let common = &mut *self.0;
        let mut fresh = common.products.bits(run.pairs())?;
        let products = common.products.products(run.pairs())?;
        let parts = common.mask_parts();
        let operands = operands.iter().map(|operand| operand.whole(parts));
        let operands = operands.collect::<Vec<_>>();
        let mut masks = Vec::new();
        let mut opened = Vec::new();
        for (peer, ([x, y, _], fresh)) in products.iter().zip(&mut fresh).enumerate() {
            let [mut e, mut f] = [x, y].map(|of| Bits {
                mac: common.products.copy_of(&of.mac),
                key: common.products.copy_of(&of.key),
            });
            let mut ports = TapePorts::new((tape, lanes), &operands, 2 * peer..2 * peer + 2);
            let walked: [&mut [Block]; 6] = [
                &mut fresh.mac,
                &mut fresh.key,
                &mut e.mac,
                &mut e.key,
                &mut f.mac,
                &mut f.key,
            ];
            common.walks.masks(run, &mut ports, walked);
            masks.push(ports.outputs());
            opened.push([e, f]);
        }
        let masks = Stack::join(tape.outputs.len(), lanes, masks);
        if run.pairs() == 0 {
            let product = fresh.iter().map(|_| Bits::default()).collect();
            return Ok(made(masks, tape_material(fresh, product)));
        }
        let opening = common.opening(Place::Masks);
        // The share is bit 0 of the MAC towards any other party.
        let own = pack_lowest(opened[0].iter().map(|of| &of.mac[..]));
        for (peer, opened) in common.peers.iter().zip(&mut opened) {
            let sum = common.sum(opening, common.me, &own);
            let sum = sum.and_all(opened.iter().map(|of| &of.mac[..])).value();
            mesh.send(*peer, &own)?;
            mesh.send(*peer, &sum.to_bytes())?;
            for of in opened {
                common.products.give_back(std::mem::take(&mut of.mac));
            }
        }
        let keys = opened
            .into_iter()
            .map(|opened| opened.map(|mut of| Zeroizing::new(std::mem::take(&mut of.key))));
        Ok(Progress::More(Box::new(Pending {
            opening,
            masks,
            fresh,
            products,
            keys: keys.collect(),
            own,
        })))
    }
}

/// ANDs whose products are computed together: what they take fits the first cache.
const RUN: usize = 1 << 8;

/// Replaces the products `z` by those of operands' masks, xor the masks of outputs, from all `e`
/// and then all `f`. `one` is the MAC and the key of a public 1.
fn multiply(
    (cpu, one): (Cpu, [Block; 2]),
    opened: &[u8],
    [x, y]: [&Bits; 2],
    fresh: &Bits,
    z: &mut Bits,
) {
    let pairs = z.mac.len();
    let mut choices = Zeroizing::new([[Block::ZERO; RUN]; 3]);
    for first in (0..pairs).step_by(RUN) {
        let run = first..pairs.min(first + RUN);
        let [e, f, both] = choices.each_mut().map(|of| &mut of[..run.len()]);
        spread(opened, first, e);
        spread(opened, pairs + first, f);
        let ands = e.iter().zip(&*f).map(|(e, f)| *e & *f);
        both.iter_mut()
            .zip(ands)
            .for_each(|(both, and)| *both = and);
        for (to, fresh, x, y, one) in [
            (&mut z.mac, &fresh.mac, &x.mac, &y.mac, one[0]),
            (&mut z.key, &fresh.key, &x.key, &y.key, one[1]),
        ] {
            let to = &mut to[run.clone()];
            terms::add(cpu, to, &fresh[run.clone()]);
            terms::add_where(cpu, to, &y[run.clone()], e);
            terms::add_where(cpu, to, &x[run.clone()], f);
            terms::add_one_where(cpu, to, one, both);
        }
    }
}

/// The blocks of a vector that erases itself.
fn taken(mut blocks: Zeroizing<Vec<Block>>) -> Vec<Block> {
    std::mem::take(&mut *blocks)
}

fn tape_material(fresh: Vec<Bits>, product: Vec<Bits>) -> Material {
    Material::Tape(Box::new(TapeMaterial { fresh, product }))
}

fn made<'a, P: Products>(share: Masks, material: Material) -> Progress<'a, Offline<P>> {
    Progress::Done(Outcome::Share(share, vec![], material))
}

/// The fault of a step that no plan for this protocol has.
pub(crate) fn no_step() -> Fault {
    Fault::internal("auth has one domain, of bits, and sorts by networks in copies")
}
