//! Authenticated bits and wires as one party holds them, and bits in messages.

use sealane_block::Block;
use sealane_circuit::Tape;
use sealane_garble::Ports;
use sealane_parties::PartyId;
use sealane_party::{Fault, Planes, Result, Shares};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// An authenticated bit at one party. Bit 0 of the MAC is this party's share; bit 0 of the key is
/// 0. The default is a share of zero, at both parties.
#[derive(Clone, Copy, Default, Zeroize)]
pub struct Mask {
    /// MAC of this party's share under the other's offset.
    pub mac: Block,
    /// Key of the MAC of the other's share, under this party's offset.
    pub key: Block,
}

/// A wire at one party: a masked value, as a label, and its mask.
#[derive(Clone, Copy, Default, Zeroize)]
pub struct Wire {
    /// At the evaluator the label of the masked value, which is its bit 0; at the garbler the label
    /// of the masked value 0, whose bit 0 is 0.
    pub label: Block,
    /// The mask.
    pub mask: Mask,
}

/// Masks of many wires, plane by plane.
pub type Masks = Planes<Mask>;

/// Many wires, plane by plane.
pub type Wires = Planes<Wire>;

/// Authenticated bits at one party, MACs and keys apart.
#[derive(Clone, Default, Zeroize, ZeroizeOnDrop)]
pub struct Bits {
    /// MACs of this party's shares.
    pub mac: Vec<Block>,
    /// Keys of the MACs of the other's shares.
    pub key: Vec<Block>,
}

impl Bits {
    /// Masks of as many bits.
    pub fn masks(&self) -> Vec<Mask> {
        let bits = self.mac.iter().zip(&self.key);
        bits.map(|(mac, key)| Mask {
            mac: *mac,
            key: *key,
        })
        .collect()
    }
}

/// A wire as so many blocks, which a machine holds.
pub(crate) trait Blocks<const N: usize>: Copy {
    fn split(self) -> [Block; N];
    fn join(blocks: [Block; N]) -> Self;
}

impl Blocks<1> for Block {
    fn split(self) -> [Block; 1] {
        [self]
    }
    fn join([block]: [Block; 1]) -> Block {
        block
    }
}

impl Blocks<2> for Mask {
    fn split(self) -> [Block; 2] {
        [self.mac, self.key]
    }
    fn join([mac, key]: [Block; 2]) -> Mask {
        Mask { mac, key }
    }
}

impl Blocks<3> for Wire {
    fn split(self) -> [Block; 3] {
        [self.label, self.mask.mac, self.mask.key]
    }
    fn join([label, mac, key]: [Block; 3]) -> Wire {
        let mask = Mask { mac, key };
        Wire { label, mask }
    }
}

/// The tape's inputs are planes, and its outputs become planes.
pub(crate) struct TapePorts<'a, E: Zeroize + Copy, const N: usize> {
    inputs: Vec<&'a [E]>,
    outputs: Planes<E>,
}

impl<'a, E: Zeroize + Copy + Default + Send, const N: usize> TapePorts<'a, E, N> {
    pub(crate) fn new(
        tape: &Tape,
        lanes: usize,
        inputs: impl Iterator<Item = &'a [E]>,
    ) -> TapePorts<'a, E, N> {
        let inputs = inputs.collect::<Vec<_>>();
        assert_eq!(
            inputs.len(),
            tape.inputs as usize,
            "a tape has all its operands"
        );
        TapePorts {
            inputs,
            outputs: Planes::zeros(tape.outputs.len(), lanes),
        }
    }

    pub(crate) fn outputs(self) -> Planes<E> {
        self.outputs
    }
}

/// The planes of operands, one after the other.
pub(crate) fn planes<'a, E: Zeroize + Copy + Default + Send + 'a>(
    operands: impl Iterator<Item = &'a Planes<E>>,
) -> impl Iterator<Item = &'a [E]> {
    operands.flat_map(|operand| (0..operand.planes()).map(move |plane| operand.plane(plane)))
}

impl<E, const N: usize> Ports for TapePorts<'_, E, N>
where
    E: Blocks<N> + Zeroize + Default + Send + Sync,
{
    fn load(&self, first_lane: usize, per_bit: usize, labels: &mut [Block]) {
        let width = per_bit / N;
        for (labels, plane) in labels.chunks_exact_mut(per_bit).zip(&self.inputs) {
            let lanes = &plane[first_lane..first_lane + width];
            for (lane, wire) in lanes.iter().enumerate() {
                for (label, block) in wire.split().into_iter().enumerate() {
                    labels[label * width + lane] = block;
                }
            }
        }
    }

    fn store(&mut self, output: usize, first_lane: usize, labels: &[Block]) {
        let width = labels.len() / N;
        let lanes = &mut self.outputs.plane_mut(output)[first_lane..first_lane + width];
        for (lane, wire) in lanes.iter_mut().enumerate() {
            *wire = E::join(std::array::from_fn(|label| labels[label * width + lane]));
        }
    }
}

/// Secret blocks of a known number, in memory that is taken once: a vector that grows leaves copies
/// behind.
///
/// # Panics
/// If there are not so many.
pub(crate) fn gathered(count: usize, blocks: impl Iterator<Item = Block>) -> Zeroizing<Vec<Block>> {
    let mut all = Zeroizing::new(Vec::with_capacity(count));
    blocks.for_each(|block| {
        assert!(all.len() < count, "secret blocks are counted");
        all.push(block);
    });
    assert_eq!(all.len(), count, "secret blocks are counted");
    all
}

/// Bytes of so many bits in a message.
pub(crate) const fn bytes_of(bits: u64) -> u64 {
    bits.div_ceil(8)
}

/// Packs the bits 0 of bytes, first bit lowest.
pub(crate) fn pack(bits: impl ExactSizeIterator<Item = u8>) -> Zeroizing<Vec<u8>> {
    let mut packed = Zeroizing::new(vec![0; bits.len().div_ceil(8)]);
    for (at, bit) in bits.enumerate() {
        packed[at / 8] |= (bit & 1) << (at % 8);
    }
    packed
}

/// A packed bit.
pub(crate) fn bit(packed: &[u8], at: usize) -> u8 {
    packed[at / 8] >> (at % 8) & 1
}

/// Checks bits that a party has sent: those behind the last one are zero.
///
/// # Errors
/// [`Fault::Peer`] if they are not.
pub(crate) fn whole(packed: &[u8], count: usize, from: PartyId) -> Result<()> {
    let rest = packed.last().filter(|_| !count.is_multiple_of(8));
    match rest.map_or(0, |last| last >> (count % 8)) {
        0 => Ok(()),
        _ => Err(Fault::Peer {
            party: from,
            what: "bits behind the last one of a message are not zero".to_string(),
        }),
    }
}
