//! Free gates: every label of the output is the sum of the two inputs' labels.

use sealane_block::{Block, GROUP, Kernel, Lanes};
use sealane_circuit::tape::Gate;

/// The XOR gates of a batch, in order, on `width` lanes a slot.
pub(crate) struct Xors<'a> {
    pub gates: &'a [Gate],
    pub slots: &'a mut [Block],
    pub width: usize,
}

impl Kernel for Xors<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let Xors {
            gates,
            slots,
            width,
        } = self;
        for gate in gates {
            let [a, b, out] = [gate.a, gate.b, gate.out].map(|slot| slot as usize * width);
            if width.is_multiple_of(GROUP) {
                for at in (0..width).step_by(GROUP) {
                    xor_group(l, slots, a + at, b + at, out + at);
                }
            } else {
                for at in 0..width {
                    slots[out + at] = slots[a + at] ^ slots[b + at];
                }
            }
        }
    }
}

#[inline(always)]
fn xor_group<L: Lanes>(l: L, slots: &mut [Block], a: usize, b: usize, out: usize) {
    for q in 0..L::QUADS {
        let at = q * L::QUAD;
        let sum = l.xor_quad(l.load_quad(&slots[a + at..]), l.load_quad(&slots[b + at..]));
        l.store_quad(&mut slots[out + at..], sum);
    }
}
