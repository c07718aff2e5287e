//! Search for secret blocks in the messages that a party has received.
//!
//! A protocol whose messages are masked by hashes reveals a secret in one of three ways when a mask
//! is lost: unmasked, under one value that the party has, or under two. So [`find`] searches for
//! each secret at every byte of the received messages, and among the sums (by XOR) of two and of
//! three blocks, those received and those that the party holds. For a scheme that computes on
//! halves of blocks, such as three-halves, it searches for these as well, and for their sum: at
//! every byte, and among the sums of two.
//!
//! [`find_in_span`] finds a secret under more values: it takes the few values that occur in one
//! gate, and tries all of their sums. [`find_heard`] is for values that a party may compute up to
//! the offset, such as the hash of a label that it does not hold: these must not occur unmasked in
//! a message.

use std::collections::HashMap;

/// Bytes of a block.
const BLOCK: usize = 16;
/// Bytes of half a block.
const HALF: usize = BLOCK / 2;

/// Knowledge of a party at the end of a session.
#[derive(Clone, Default)]
pub struct View {
    /// Received messages. The blocks of each count from its first byte.
    pub heard: Vec<Vec<u8>>,
    /// Blocks that it has computed, such as labels.
    pub held: Vec<u128>,
    /// Bits of every block that are not compared, since they are masked in another way than the
    /// rest.
    pub ignored: u128,
    /// True if halves of blocks are searched for as well.
    pub in_halves: bool,
}

/// A value that a party must not learn, with its name.
pub type Secret = (String, u128);

/// Returns the first secret that the view reveals, and how. A secret of 0, such as a row of bits,
/// is the sum of any block and itself, and cannot be searched for.
pub fn find(view: &View, secrets: &[Secret]) -> Option<String> {
    find_heard(view, secrets)
        .or_else(|| find_sum(view, secrets))
        .or_else(|| view.in_halves.then(|| find_half_sum(view, secrets))?)
}

/// Returns the first secret that was received unmasked, at any byte.
pub fn find_heard(view: &View, secrets: &[Secret]) -> Option<String> {
    let windows = windows(view);
    let whole = secrets.iter().find(|(_, secret)| {
        let secret = secret & !view.ignored;
        secret != 0 && is_in(&windows, secret)
    });
    let whole = whole.map(|(name, _)| format!("{name}, as it is"));
    whole.or_else(|| {
        let secrets = view.in_halves.then(|| Halves::of(secrets))?;
        let messages = view.heard.iter();
        let mut alone = messages.clone().flat_map(|message| message.windows(HALF));
        let mut mixed = messages.flat_map(|message| message.windows(BLOCK));
        let alone = alone.find_map(|bytes| secrets.name(half(bytes)));
        let found = alone.or_else(|| {
            mixed.find_map(|bytes| {
                let [left, right] = halves(block(bytes));
                secrets.name(left).or_else(|| secrets.name(right))
            })
        });
        found.map(|name| format!("{name}, as it is"))
    })
}

/// Returns the first secret that is a sum of any of the blocks, which must be few and come from one
/// place: among more than a hundred independent blocks, every block is a sum.
pub fn find_in_span(known: &[u128], secrets: &[Secret]) -> Option<String> {
    // Each has a highest bit of its own.
    let mut basis = [0u128; 128];
    let reduce = |basis: &[u128; 128], block: u128| {
        let highest = (0..128).rev();
        highest.fold(block, |block, bit| match block >> bit & 1 {
            1 => block ^ basis[bit],
            _ => block,
        })
    };
    for block in known {
        let rest = reduce(&basis, *block);
        if rest != 0 {
            basis[rest.ilog2() as usize] = rest;
        }
    }
    let mut secrets = secrets.iter().filter(|(_, secret)| *secret != 0);
    let shown = secrets.find(|(_, secret)| reduce(&basis, *secret) == 0);
    shown.map(|(name, _)| format!("{name}, as a sum"))
}

/// Left half of a block, its words of 32 bits 0 and 2, and right half, words 1 and 3: the halves of
/// three-halves.
pub fn halves(block: u128) -> [u64; 2] {
    let word = |number: u32| (block >> (32 * number)) as u64 & 0xffff_ffff;
    [word(0) | word(2) << 32, word(1) | word(3) << 32]
}

/// Halves of secrets and their sums: every multiple of a secret in GF(4) consists of two of them.
pub fn in_halves(secrets: &[Secret]) -> Vec<Secret> {
    let each = secrets.iter().flat_map(|(name, secret)| {
        let [left, right] = halves(*secret);
        [
            (format!("the left half of {name}"), left),
            (format!("the right half of {name}"), right),
            (format!("the sum of the halves of {name}"), left ^ right),
        ]
    });
    each.map(|(name, half)| (name, u128::from(half))).collect()
}

/// Returns the first secret that is a sum of two or of three blocks.
fn find_sum(view: &View, secrets: &[Secret]) -> Option<String> {
    let windows = windows(view);
    let mut blocks = view.held.clone();
    for message in &view.heard {
        blocks.extend(message.chunks_exact(BLOCK).map(block));
    }
    let blocks = comparable(blocks, view.ignored);
    let mut pairs = Vec::with_capacity(blocks.len() * blocks.len() / 2);
    for (i, one) in blocks.iter().enumerate() {
        pairs.extend(blocks[..i].iter().map(|other| one ^ other));
    }
    pairs.sort_unstable();
    secrets.iter().find_map(|(name, secret)| {
        let secret = secret & !view.ignored;
        if secret == 0 {
            return None;
        }
        if windows.iter().any(|other| is_in(&blocks, secret ^ other)) || is_in(&pairs, secret) {
            return Some(format!("{name}, as a sum of two blocks"));
        }
        let mut blocks = blocks.iter();
        let is_sum = blocks.any(|other| is_in(&pairs, secret ^ other));
        is_sum.then(|| format!("{name}, as a sum of three blocks"))
    })
}

/// Returns the first secret of which a half, or the sum of both, is a sum of two halves of blocks.
fn find_half_sum(view: &View, secrets: &[Secret]) -> Option<String> {
    let secrets = Halves::of(secrets);
    let heard = view.heard.iter();
    let blocks = heard
        .clone()
        .flat_map(|message| message.chunks_exact(BLOCK));
    let blocks = blocks.map(block).chain(view.held.iter().copied());
    let mut known = Vec::new();
    for [left, right] in blocks.map(halves) {
        known.extend([left, right, left ^ right]);
    }
    // Thirds of tables, and rows that are halves of blocks, are contiguous.
    known.extend(heard.flat_map(|message| message.chunks_exact(HALF).map(half)));
    known.sort_unstable();
    known.dedup();
    let rest = known.iter().enumerate();
    let name = rest.filter(|(_, one)| **one != 0).find_map(|(i, one)| {
        let sums = known[..i].iter().map(|other| one ^ other);
        sums.filter(|sum| secrets.may_have(*sum))
            .find_map(|sum| secrets.name(sum))
    });
    name.map(|name| format!("{name}, as a sum of two halves"))
}

/// Halves of secrets, in a structure for fast lookup.
struct Halves {
    names: HashMap<u64, String>,
    /// Set of occurring values of the lowest 16 bits.
    lowest: Vec<bool>,
}

impl Halves {
    fn of(secrets: &[Secret]) -> Halves {
        let (names, lowest) = (HashMap::new(), vec![false; 1 << 16]);
        let mut found = Halves { names, lowest };
        for (name, half) in in_halves(secrets) {
            let half = half as u64;
            if half != 0 {
                found.lowest[usize::from(half as u16)] = true;
                found.names.entry(half).or_insert(name);
            }
        }
        found
    }

    fn may_have(&self, half: u64) -> bool {
        self.lowest[usize::from(half as u16)]
    }

    fn name(&self, half: u64) -> Option<&String> {
        self.may_have(half).then(|| self.names.get(&half))?
    }
}

/// Blocks of the received messages from every byte on, without ignored bits.
fn windows(view: &View) -> Vec<u128> {
    let windows = view.heard.iter().flat_map(|message| message.windows(BLOCK));
    comparable(windows.map(block).collect(), view.ignored)
}

/// Sorts the blocks, without ignored bits.
fn comparable(mut blocks: Vec<u128>, ignored: u128) -> Vec<u128> {
    blocks.iter_mut().for_each(|block| *block &= !ignored);
    blocks.retain(|block| *block != 0);
    blocks.sort_unstable();
    blocks.dedup();
    blocks
}

fn is_in(set: &[u128], block: u128) -> bool {
    set.binary_search(&block).is_ok()
}

/// Bits that a party must not learn, as blocks: one byte per bit, and eight bits per byte.
/// Incomplete blocks are left out.
pub fn bits(name: &str, bits: &[u8]) -> Vec<Secret> {
    let packed = bits.chunks(8).map(|bits| {
        let bits = bits.iter().rev();
        bits.fold(0, |byte, bit| byte << 1 | bit)
    });
    let packed = packed.collect::<Vec<u8>>();
    [bits, &packed]
        .iter()
        .flat_map(|bytes| bytes.chunks_exact(BLOCK))
        .map(|bytes| (format!("{name} in clear"), block(bytes)))
        .collect()
}

fn block(bytes: &[u8]) -> u128 {
    let bytes = bytes.try_into().expect("16 bytes are a block");
    u128::from_le_bytes(bytes)
}

fn half(bytes: &[u8]) -> u64 {
    let bytes = bytes.try_into().expect("8 bytes are half a block");
    u64::from_le_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Random blocks, the last of which is the secret.
    fn blocks(count: usize) -> (Vec<u128>, Vec<Secret>) {
        let mut random = Random::new(1);
        let mut block = |_| u128::from(random.seed()) << 64 | u128::from(random.seed());
        let mut blocks = (0..=count).map(&mut block).collect::<Vec<_>>();
        let secret = blocks.pop().expect("one more than wanted");
        (blocks, vec![("the secret".to_string(), secret)])
    }

    fn bytes(blocks: &[u128]) -> Vec<u8> {
        blocks
            .iter()
            .flat_map(|block| block.to_le_bytes())
            .collect()
    }

    #[test]
    fn a_secret_is_found_as_it_is_and_under_one_or_two_blocks() {
        let (blocks, secrets) = blocks(60);
        let secret = secrets[0].1;
        let found = |last: u128, before: usize| {
            let mut heard = bytes(&blocks[..40]);
            heard.extend(vec![7; before]);
            heard.extend(last.to_le_bytes());
            let heard = vec![bytes(&blocks[40..50]), heard];
            let view = View {
                heard,
                held: blocks[50..].to_vec(),
                ..View::default()
            };
            find(&view, &secrets)
        };
        let (a, b, c) = (blocks[3], blocks[44], blocks[55]);
        let shown = |how: &str| Some(format!("the secret, as {how}"));
        for before in [0, 3] {
            assert_eq!(found(secret, before), shown("it is"));
            assert_eq!(found(secret ^ a, before), shown("a sum of two blocks"));
            assert_eq!(found(secret ^ c, before), shown("a sum of two blocks"));
        }
        assert_eq!(found(secret ^ a ^ b, 0), shown("a sum of three blocks"));
        assert_eq!(found(secret ^ b ^ c, 0), shown("a sum of three blocks"));
        assert_eq!(found(secret ^ a ^ b ^ c, 0), None);
        assert_eq!(found(secret ^ 1, 0), None);
        let view = View {
            heard: vec![bytes(&blocks)],
            ..View::default()
        };
        assert_eq!(find(&view, &bits("no bit", &[0; 128])), None);
    }

    #[test]
    fn bits_are_found_in_both_forms() {
        let (blocks, secrets) = blocks(1);
        let clear: Vec<_> = (0..128).map(|i| (secrets[0].1 >> i & 1) as u8).collect();
        let secrets = bits("a bit", &clear);
        assert_eq!(secrets.len(), 8 + 1);
        for form in [clear.clone(), secrets[8].1.to_le_bytes().to_vec()] {
            let heard = vec![bytes(&blocks), form];
            let view = View {
                heard,
                ..View::default()
            };
            let found = find(&view, &secrets);
            assert_eq!(found.as_deref(), Some("a bit in clear, as it is"));
        }
    }

    #[test]
    fn halves_are_found_as_they_are_and_under_another() {
        let (blocks, secrets) = blocks(60);
        let [left, right] = halves(secrets[0].1);
        let [a, b] = [3, 55].map(|number| halves(blocks[number]));
        let found = |message: &[u8], in_halves: bool| {
            let view = View {
                heard: vec![bytes(&blocks[..50]), message.to_vec()],
                held: blocks[50..].to_vec(),
                in_halves,
                ..View::default()
            };
            find(&view, &secrets)
        };
        let sums = [left, right, left ^ right];
        let names = ["the left half", "the right half", "the sum of the halves"];
        for (secret, name) in sums.into_iter().zip(names) {
            let shown = |how| Some(format!("{name} of the secret, as {how}"));
            let heard = secret.to_le_bytes();
            assert_eq!(found(&heard, true), shown("it is"));
            assert_eq!(found(&[&[7; 3][..], &heard].concat(), true), shown("it is"));
            assert_eq!(found(&heard, false), None);
            // Across the words of a block, like the rows of three-halves.
            let mixed = u128::from(secret & 0xffff_ffff) | u128::from(secret >> 32) << 64;
            for mixed in [mixed | 5 << 32, mixed << 32 | 5] {
                assert_eq!(found(&mixed.to_le_bytes(), true), shown("it is"));
            }
            for other in [a[0], a[1], b[0], b[0] ^ b[1]] {
                let heard = (secret ^ other).to_le_bytes();
                assert_eq!(found(&heard, true), shown("a sum of two halves"));
            }
            assert_eq!(found(&(secret ^ a[0] ^ b[0]).to_le_bytes(), true), None);
        }
    }

    #[test]
    fn sums_of_any_number_are_found_in_one_place() {
        let (blocks, secrets) = blocks(12);
        let all = blocks.iter().fold(secrets[0].1, |sum, block| sum ^ block);
        let mut known = [blocks.clone(), vec![all, blocks[0], 0]].concat();
        let found = find_in_span(&known, &secrets);
        assert_eq!(found.as_deref(), Some("the secret, as a sum"));
        assert_eq!(find_in_span(&blocks, &secrets), None);
        known.remove(5);
        assert_eq!(find_in_span(&known, &secrets), None);
        assert_eq!(find_in_span(&blocks, &[("nothing".to_string(), 0)]), None);
    }
}
