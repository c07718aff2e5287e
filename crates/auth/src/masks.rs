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

use crate::bits::{Bits, Mask, Masks, TapePorts, bit, bytes_of, pack, planes, whole};
use crate::common::{Common, Opening, Place};
use crate::products::Products;
use crate::sums::SUM_BYTES;
use sealane_block::{Block, Erased};
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
    /// `[e]` and `[f]`.
    shifted: [Bits; 2],
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
            shifted,
            own,
        } = *pending;
        let pairs = fresh.mac.len();
        let mut theirs = vec![0; own.len()];
        let mut sum = [0; SUM_BYTES as usize];
        mesh.recv(self.0.peer, &mut theirs)?;
        mesh.recv(self.0.peer, &mut sum)?;
        whole(&theirs, 2 * pairs, self.0.peer)?;
        let offset = self.0.products.offset();
        let keys = shifted.iter().flat_map(|of| of.key.iter()).enumerate();
        let macs = keys.map(|(at, key)| *key ^ offset.masked(bit(&theirs, at)));
        let expected = self.0.sum(opening, self.0.peer, &theirs).add_all(macs);
        let sum = Block::from_bytes(sum);
        self.0.compare(Place::Masks, sum, expected.value())?;
        let opened = |at: usize| bit(&own, at) ^ bit(&theirs, at);
        let product = product(
            (0..pairs).map(|at| (opened(at), opened(pairs + at))),
            &products,
            &fresh,
            (self.0.garbles, offset),
        );
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
        let [mut e, mut f] = [products[0].clone(), products[1].clone()];
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
        let macs = [&e.mac[..], &f.mac].concat();
        let macs = Zeroizing::new(macs);
        let own = pack(macs.iter().map(|mac| mac.lsb()));
        let sum = common.sum(opening, common.me, &own);
        let sum = sum.add_all(macs.iter().copied()).value();
        mesh.send(common.peer, &own)?;
        mesh.send(common.peer, &sum.to_bytes())?;
        Ok(Progress::More(Box::new(Pending {
            opening,
            masks,
            fresh,
            products,
            shifted: [e, f],
            own,
        })))
    }
}

/// The products of operands' masks, xor the masks of outputs, from what has been opened.
fn product(
    opened: impl Iterator<Item = (u8, u8)>,
    [x, y, z]: &[Bits; 3],
    fresh: &Bits,
    (garbles, offset): (bool, Block),
) -> Bits {
    // The public bit is added to the garbler's share, and the evaluator's key follows.
    let one = if garbles {
        [Block::new(1), Block::ZERO]
    } else {
        [Block::ZERO, offset ^ Block::new(1)]
    };
    let mut product = Bits {
        mac: Vec::with_capacity(fresh.mac.len()),
        key: Vec::with_capacity(fresh.mac.len()),
    };
    for (at, (e, f)) in opened.enumerate() {
        let sum = |of: fn(&Bits) -> &Vec<Block>, one: Block| {
            let of = |bits| of(bits)[at];
            let shifted = of(y).masked(e) ^ of(x).masked(f) ^ one.masked(e & f);
            of(z) ^ of(fresh) ^ shifted
        };
        product.mac.push(sum(|bits| &bits.mac, one[0]));
        product.key.push(sum(|bits| &bits.key, one[1]));
    }
    product
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
