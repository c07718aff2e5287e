//! The offline walk: values are masks.
//!
//! The mask of an input is its owner's alone. Masks of XORs are XORs of masks. The output of an AND
//! has a random mask; for the product of its operands' masks `a` and `b` the AND takes a random
//! product `z = x y`, and both parties open `e = a ^ x` and `f = b ^ y` with MACs (Beaver,
//! "Efficient Multiparty Protocols Using Circuit Randomization", Crypto 1991):
//!
//! ```text
//! [s] = [a b] = [z] ^ e [y] ^ f [x] ^ e f
//! ```
//!
//! No later check notices a false `e` or `f`: their MACs are the only guard.

use crate::bits::{Bits, Mask, Masks, TapePorts, bytes_of, pack_lowest, planes, spread, whole};
use crate::common::{Common, Opening, Place};
use crate::products::Products;
use crate::sums::SUM_BYTES;
use sealane_block::{Block, Cpu, Erased, terms};
use sealane_circuit::Tape;
use sealane_garble::authenticated::Run;
use sealane_net::Mesh;
use sealane_party::{Fault, Outcome, Planes, Progress, Result, Shares, Step, Steps};
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
    Input(Zeroizing<Vec<Mask>>),
    /// Masks that the ANDs of a tape take.
    Tape(Box<TapeMaterial>),
}

/// Masks that the ANDs of a tape take, in the order of the format: those of their outputs, and the
/// products of their operands' masks, to which those of the outputs are added.
#[derive(Default)]
pub struct TapeMaterial {
    pub(crate) fresh: Bits,
    pub(crate) product: Bits,
}

/// A tape whose openings have been sent.
pub struct Pending {
    opening: Opening,
    masks: Masks,
    fresh: Bits,
    products: [Bits; 3],
    /// Keys of `[e]` and `[f]`.
    keys: [Zeroizing<Vec<Block>>; 2],
    /// This party's shares of all `e`, then of all `f`.
    pub(crate) own: Zeroizing<Vec<u8>>,
}

/// Bytes by which each party opens `e` and `f` of so many ANDs.
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
        Planes::zeros(bits, values.len())
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
                let own = owner == self.0.me;
                let masks = self.0.products.bits_of(own, bits * elements)?.masks();
                let material = Material::Input(Zeroizing::new(masks.clone()));
                Ok(made(Planes::new(bits, elements, masks), material))
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
        let pairs = fresh.mac.len();
        let mut theirs = vec![0; own.len()];
        let mut sum = [0; SUM_BYTES as usize];
        mesh.recv(self.0.peer, &mut theirs)?;
        mesh.recv(self.0.peer, &mut sum)?;
        whole(&theirs, 2 * pairs, self.0.peer)?;
        let offset = self.0.products.offset();
        let expected = self.0.sum(opening, self.0.peer, &theirs);
        let expected = expected.and_all_keys(keys.iter().map(|keys| &keys[..]), offset, &theirs);
        let sum = Block::from_bytes(sum);
        self.0.compare(Place::Masks, sum, expected.value())?;
        own.iter_mut()
            .zip(theirs)
            .for_each(|(own, theirs)| *own ^= theirs);
        let place = (self.0.cpu, self.0.garbles, offset);
        let [x, y, mut product] = products;
        multiply(place, &own, [&x, &y], &fresh, &mut product);
        for keys in keys {
            self.0.products.give_back(taken(keys));
        }
        for Bits { mac, key } in [x, y].iter_mut() {
            self.0.products.give_back(std::mem::take(mac));
            self.0.products.give_back(std::mem::take(key));
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
        let [mut e, mut f] = [&products[0], &products[1]].map(|of| Bits {
            mac: common.products.copy_of(&of.mac),
            key: common.products.copy_of(&of.key),
        });
        let inputs = planes(operands.iter().map(|operand| &**operand));
        let mut ports = TapePorts::<Mask, 2>::new(tape, lanes, inputs);
        let walked: [&mut [Block]; 6] = [
            &mut fresh.mac,
            &mut fresh.key,
            &mut e.mac,
            &mut e.key,
            &mut f.mac,
            &mut f.key,
        ];
        common.walks.masks(run, &mut ports, walked);
        let masks = ports.outputs();
        if run.pairs() == 0 {
            return Ok(made(masks, tape_material(fresh, Bits::default())));
        }
        let opening = common.opening(Place::Masks);
        let macs = [&e.mac[..], &f.mac];
        let own = pack_lowest(macs.into_iter());
        let sum = common.sum(opening, common.me, &own).and_all(macs).value();
        mesh.send(common.peer, &own)?;
        mesh.send(common.peer, &sum.to_bytes())?;
        for macs in [&mut e.mac, &mut f.mac] {
            common.products.give_back(std::mem::take(macs));
        }
        Ok(Progress::More(Box::new(Pending {
            opening,
            masks,
            fresh,
            products,
            keys: [e, f].map(|mut of| Zeroizing::new(std::mem::take(&mut of.key))),
            own,
        })))
    }
}

/// ANDs whose products are computed together: what they take fits the first cache.
const RUN: usize = 1 << 8;

/// Replaces the products `z` by those of operands' masks, xor the masks of outputs, from all `e`
/// and then all `f`.
fn multiply(
    (cpu, garbles, offset): (Cpu, bool, Block),
    opened: &[u8],
    [x, y]: [&Bits; 2],
    fresh: &Bits,
    z: &mut Bits,
) {
    // The public bit is added to the garbler's share, and the evaluator's key follows.
    let one = if garbles {
        [Block::new(1), Block::ZERO]
    } else {
        [Block::ZERO, offset ^ Block::new(1)]
    };
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

fn tape_material(fresh: Bits, product: Bits) -> Material {
    Material::Tape(Box::new(TapeMaterial { fresh, product }))
}

fn made<'a, P: Products>(share: Masks, material: Material) -> Progress<'a, Offline<P>> {
    Progress::Done(Outcome::Share(share, vec![], material))
}

/// The fault of a step that no plan for this protocol has.
pub(crate) fn no_step() -> Fault {
    Fault::internal("auth has one domain, of bits, and sorts by networks in copies")
}
