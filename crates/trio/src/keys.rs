//! Common randomness: values that two parties expand from a common key and never send.
//!
//! Key `k_i` is known to roles `i - 1` and `i`, which are the holders of component `i`; each party
//! makes one and sends it to its predecessor. Zero shares follow Araki, Furukawa, Lindell, Nof and
//! Ohara ("High-Throughput Semi-Honest Secure Three-Party Computation with an Honest Majority", CCS
//! 2016): role `i` draws `F(k_i) - F(k_(i+1))`, and the three sum to zero. One party knows two of
//! the three keys, so the other two parties' zero shares look random to it but for their sum.
//!
//! A party without a role that owns inputs makes two keys, of components 0 and 1, and sends each to
//! its two holders.
//!
//! A key is a seed of 256 bits. Each use of it has a stream of its own, `F`: AES-128 in counter
//! mode under a key and at a start that BLAKE3 derives from the seed, the identifier of the session
//! and the use ([`sealane_block::prg`]). So a search for keys tests one stream of one session at a
//! time. All holders of a key draw from it in the same order, because all parties begin and advance
//! the same steps in the same order.

use crate::arrive::write;
use crate::order::Order;
use crate::role_index::{self, RoleIndex};
use blake3::Hasher;
use sealane_block::{Block, Coins, Cpu, Prg, Prime, Seed};
use sealane_net::{Mesh, SessionId};
use sealane_parties::PartyId;
use sealane_party::{Fault, Form, Group, Planes, Result};
use sealane_protocol::{Correlation, Demand, Setting};
use std::collections::BTreeMap;
use zeroize::{Zeroize, Zeroizing};

/// Bytes of a key in a message.
pub(crate) const KEY_BYTES: u64 = Seed::BYTES as u64;

/// The label of keys among the coins.
const KEY: &str = "trio: key";

/// The streams of one key.
pub(crate) struct Key {
    zero_bits: Stream,
    zero_ring: Stream,
    inputs: Stream,
    masks: Stream,
    orders: Stream,
    deals: Stream,
    first_masks: Stream,
    second_masks: Stream,
}

/// Blocks that are drawn at a time: 4 KiB stay in the nearest cache.
const DRAWN: usize = 256;
/// The same in words.
pub(crate) const AT_ONCE: usize = 2 * DRAWN;

/// A stream of words.
pub(crate) struct Stream {
    pub(crate) prg: Prg,
    /// Tests put in its place what gives each possible word in turn.
    #[cfg(test)]
    pub(crate) ideal: Option<crate::ideal::Ideal>,
}

/// Maker of the streams of a session's keys, from their seeds.
#[derive(Clone, Copy)]
pub(crate) struct KeyMaker {
    pub(crate) cpu: Cpu,
    pub(crate) session: SessionId,
}

impl KeyMaker {
    fn key(self, seed: &Seed) -> Key {
        Key::of(|label| self.stream(seed, label))
    }

    /// A seed for the use of this label, from one that others know too.
    fn derived(self, seed: &Seed, label: &'static str) -> Seed {
        seed.stream(label, self.session.as_bytes()).seed()
    }

    /// A digest of a seed, for two who have it.
    fn digest(self, seed: &Seed) -> [u8; 32] {
        let mut hasher = Hasher::new_derive_key("sealane 1 trio seed of reveals");
        hasher.update(self.session.as_bytes());
        hasher.update(seed.as_bytes());
        let digest = *hasher.finalize().as_bytes();
        hasher.zeroize();
        digest
    }

    fn stream(self, seed: &Seed, label: &'static str) -> Stream {
        Stream {
            prg: seed.stream(label, self.session.as_bytes()).prg(self.cpu),
            #[cfg(test)]
            ideal: None,
        }
    }
}

fn recv(from: PartyId, mesh: &mut Mesh) -> Result<Seed> {
    let mut bytes = Zeroizing::new([0; Seed::BYTES]);
    mesh.recv(from, &mut bytes[..])?;
    Ok(Seed::from_bytes(&bytes))
}

impl Key {
    /// The key whose streams are made from their labels.
    pub(crate) fn of(stream: impl Fn(&'static str) -> Stream) -> Key {
        Key {
            zero_bits: stream("trio: zero shares of bits"),
            zero_ring: stream("trio: zero shares of integers"),
            inputs: stream("trio: components of inputs"),
            masks: stream("trio: masks of shuffles"),
            orders: stream("trio: orders of shuffles"),
            deals: stream("trio: deals of functions"),
            first_masks: stream("trio: first masks of functions"),
            second_masks: stream("trio: second masks of functions"),
        }
    }

    /// The next random component for an input.
    pub(crate) fn input(&mut self, form: Form) -> Planes<u64> {
        self.inputs.component(form)
    }

    /// The next mask of rows that are shuffled.
    pub(crate) fn mask(&mut self, form: Form) -> Planes<u64> {
        self.masks.component(form)
    }

    /// Adds the next mask to rows that are shuffled.
    pub(crate) fn add_mask(&mut self, form: Form, rows: &mut [u64]) {
        let group = form.group;
        self.masks
            .draw(form, rows, |rows, mask| group.add(rows, mask));
        form.trim(rows);
    }

    /// Subtracts the next mask from rows that are shuffled.
    pub(crate) fn subtract_mask(&mut self, form: Form, rows: &mut [u64]) {
        let group = form.group;
        self.masks
            .draw(form, rows, |rows, mask| group.subtract(rows, mask));
        form.trim(rows);
    }

    /// The next shares of what a helper deals, at the helper and the role before it.
    pub(crate) fn deal(&mut self, form: Form, into: &mut [u64]) {
        self.deals.fill(form, into);
    }

    /// The next masks that a helper and the role before it know.
    pub(crate) fn first_mask(&mut self, form: Form, into: &mut [u64]) {
        self.first_masks.fill(form, into);
    }

    /// The next masks that a helper and the role after it know.
    pub(crate) fn second_mask(&mut self, form: Form, into: &mut [u64]) {
        self.second_masks.fill(form, into);
    }

    /// The next random order of so many rows.
    pub(crate) fn order(&mut self, rows: usize) -> Order {
        Order::random(rows, |below| self.orders.numbers(below))
    }

    fn zero(&mut self, group: Group) -> &mut Stream {
        match group {
            Group::Xor => &mut self.zero_bits,
            Group::Sum | Group::Prime => &mut self.zero_ring,
        }
    }
}

/// The keys of a party with a role.
pub(crate) struct Keys {
    pub(crate) own: Key,
    pub(crate) next: Key,
    /// The keys of this party's components, for each outsider with inputs; there is no key of
    /// component 2.
    pub(crate) guests: BTreeMap<PartyId, [Option<Key>; 2]>,
    /// Of the profile against a malicious party.
    pub(crate) guard: Option<GuardKeys>,
}

/// Keys of the profile against a malicious party.
pub(crate) struct GuardKeys {
    /// Seeds of proofs, which this party shares with the role before it and with the one after it.
    pub(crate) proofs: [Seed; 2],
    /// Masks of results for parties without a role, which all three roles know.
    pub(crate) reveals: Stream,
    /// A digest of their seed. One role deals it to another, so the two that did not make it
    /// compare this before anything is opened.
    pub(crate) agreed: [u8; 32],
}

impl Keys {
    /// Makes key `i` and exchanges it; receives the keys of outsiders. With `guarded`, there are
    /// those of the profile against a malicious party too: all roles then know a seed that comes
    /// from `k_0`, which roles 2 and 0 have, and role 0 sends it to role 1.
    pub(crate) fn prepare(
        role_index: RoleIndex,
        guests: &[PartyId],
        guarded: bool,
        maker: KeyMaker,
        coins: &mut Coins,
        mesh: &mut Mesh,
    ) -> Result<Keys> {
        let own = coins.secret(KEY).seed();
        write(None, own.as_bytes(), role_index.previous, mesh)?;
        let common = |seed: &Seed| maker.derived(seed, "trio: key of reveals");
        if guarded && role_index.role == 0 {
            write(None, common(&own).as_bytes(), role_index.next, mesh)?;
        }
        mesh.flush()?;
        let next = recv(role_index.next, mesh)?;
        let guard = if guarded {
            let reveals = match role_index.role {
                0 => common(&own),
                1 => recv(role_index.previous, mesh)?,
                _ => common(&next),
            };
            Some(GuardKeys {
                proofs: [&own, &next].map(|seed| maker.derived(seed, "trio: key of proofs")),
                reveals: maker.stream(&reveals, "trio: masks of reveals"),
                agreed: maker.digest(&reveals),
            })
        } else {
            None
        };
        let mut keys = Keys {
            own: maker.key(&own),
            next: maker.key(&next),
            guests: BTreeMap::new(),
            guard,
        };
        for guest in guests {
            let mut components = [None, None];
            for component in [0, 1] {
                if let Some(place) = role_index.place_of(component) {
                    components[place] = Some(maker.key(&recv(*guest, mesh)?));
                }
            }
            keys.guests.insert(*guest, components);
        }
        Ok(keys)
    }

    /// Adds this party's share of zero to a component.
    pub(crate) fn add_zero(&mut self, form: Form, component: &mut [u64]) {
        let group = form.group;
        let own = self.own.zero(group);
        own.draw(form, component, |sum, words| group.add(sum, words));
        let next = self.next.zero(group);
        next.draw(form, component, |sum, words| group.subtract(sum, words));
        form.trim(component);
    }

    /// The parts of the next share of zero of bits: `F(k_i)` and `F(k_(i+1))`, whose sum it is.
    pub(crate) fn zeros(&mut self, form: Form) -> [Planes<u64>; 2] {
        let keys = [&mut self.own, &mut self.next];
        keys.map(|key| key.zero(form.group).component(form))
    }

    /// Hands the same parts to `take`, at most [`AT_ONCE`] words at a time with the place of the
    /// first one. Bits behind the end of a row may have any value.
    pub(crate) fn each_zeros(&mut self, form: Form, mut take: impl FnMut(usize, [&[u64]; 2])) {
        let mut drawn = [(); 2].map(|()| Zeroizing::new([Block::ZERO; DRAWN]));
        for first in (0..form.words()).step_by(AT_ONCE) {
            let count = AT_ONCE.min(form.words() - first);
            let keys = [&mut self.own, &mut self.next];
            let mut parts = drawn.each_mut().map(|blocks| {
                let words: &mut [u64] = bytemuck::must_cast_slice_mut(&mut blocks[..]);
                &mut words[..count]
            });
            for (key, words) in keys.into_iter().zip(&mut parts) {
                key.zero(form.group).fill_words(form, words);
            }
            take(first, parts.map(|words| &*words));
        }
    }
}

/// The keys of components 0 and 1 of a party without a role.
pub(crate) fn prepare_guest(
    setting: &Setting,
    maker: KeyMaker,
    coins: &mut Coins,
    mesh: &mut Mesh,
) -> Result<[Key; 2]> {
    let keys = [0, 1].map(|component| (component, coins.secret(KEY).seed()));
    for (component, key) in &keys {
        for holder in [component + 2, *component] {
            let holder = role_index::party(setting, holder);
            write(None, key.as_bytes(), holder, mesh)?;
        }
    }
    mesh.flush()?;
    Ok(keys.map(|(_, key)| maker.key(&key)))
}

/// The parties without a role that own inputs.
pub(crate) fn guests(setting: &Setting, demand: &Demand) -> Result<Vec<PartyId>> {
    let guest = |kind: &Correlation| match kind {
        Correlation::Seed { owner } if role_index::role(setting, *owner).is_none() => Ok(*owner),
        kind => Err(Fault::Internal(format!("trio prepares no {kind:?}"))),
    };
    demand.0.keys().map(guest).collect()
}

impl Stream {
    /// A random component.
    pub(crate) fn component(&mut self, form: Form) -> Planes<u64> {
        let mut component = form.zeros();
        self.fill(form, component.data_mut());
        component
    }

    /// Overwrites a component with a random one.
    fn fill(&mut self, form: Form, component: &mut [u64]) {
        self.fill_words(form, component);
        form.trim(component);
    }

    /// Overwrites words of a component with random ones, as words of this form.
    fn fill_words(&mut self, form: Form, component: &mut [u64]) {
        match self
            .blocks(component)
            .filter(|_| form.group != Group::Prime)
        {
            Some(blocks) => {
                // Pieces of the size that `draw` takes, so that both draw the same words.
                let pieces = blocks.chunks_mut(DRAWN);
                pieces.for_each(|blocks| self.prg.fill(blocks));
            }
            None => self.draw(form, component, <[u64]>::copy_from_slice),
        }
    }

    /// The blocks of a component, if it consists of whole ones that the stream can be written to.
    fn blocks<'a>(&self, component: &'a mut [u64]) -> Option<&'a mut [Block]> {
        #[cfg(test)]
        if self.ideal.is_some() {
            return None;
        }
        bytemuck::try_cast_slice_mut(component).ok()
    }

    /// Hands the next words of the stream to `take`, a buffer at a time, with the words of `form`
    /// that they are added to. Both holders of a stream take the same number of words, so they stay
    /// in step. Integers modulo a prime are those of the words' lower bits that are below it.
    fn draw(&mut self, form: Form, into: &mut [u64], take: impl Fn(&mut [u64], &[u64])) {
        #[cfg(test)]
        if let Some(ideal) = &mut self.ideal {
            return take(into, &ideal.words(form, into.len()));
        }
        let mut buffer = [Block::ZERO; DRAWN];
        let most = buffer.len() * 2;
        for chunk in into.chunks_mut(most) {
            let blocks = &mut buffer[..chunk.len().div_ceil(2)];
            self.prg.fill(blocks);
            let words: &mut [u64] = bytemuck::must_cast_slice_mut(blocks);
            let words = &mut words[..chunk.len()];
            if form.group == Group::Prime {
                self.below_prime(words);
            }
            take(chunk, words);
        }
        let used = into.len().min(most).div_ceil(2);
        buffer[..used].iter_mut().zeroize();
    }

    /// Makes words integers below the prime: their lower bits, and where these are the prime those
    /// of further words. What is kept is uniform, and independent of how much is not.
    fn below_prime(&mut self, words: &mut [u64]) {
        let all = words.iter_mut().fold(true, |below, word| {
            *word &= Prime::P;
            below & (*word < Prime::P)
        });
        if all {
            return;
        }
        for word in words.iter_mut().filter(|word| **word == Prime::P) {
            while *word == Prime::P {
                *word = self.prg.block().value() as u64 & Prime::P;
            }
        }
    }

    /// Replaces each number, above 0, by a random one below it: the upper part of its product with
    /// a block, so that of `n` numbers below `n` the distance from uniform ones is less than
    /// `n^2 / 2^128`, without a branch.
    fn numbers(&mut self, below: &mut [u32]) {
        #[cfg(test)]
        if let Some(ideal) = &mut self.ideal {
            return ideal.numbers(below);
        }
        let mut buffer = [Block::ZERO; 256];
        for chunk in below.chunks_mut(buffer.len()) {
            let blocks = &mut buffer[..chunk.len()];
            self.prg.fill(blocks);
            for (below, block) in chunk.iter_mut().zip(&*blocks) {
                let (value, limit) = (block.value(), u128::from(*below));
                let low = ((value & u128::from(u64::MAX)) * limit) >> 64;
                *below = (((value >> 64) * limit + low) >> 64) as u32;
            }
        }
        buffer.iter_mut().zeroize();
    }
}
