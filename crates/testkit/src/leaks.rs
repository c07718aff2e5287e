//! Whether secret blocks can be read off what a party has received.
//!
//! A protocol whose messages are masked by hashes shows a secret in one of three ways when a mask is
//! lost: as it is, under one value that the party has, or under two. So [`find`] looks for each
//! secret at every byte of what was heard, and among the sums (by XOR) of two and of three blocks,
//! those that were heard and those that the party holds. It knows labels as whole blocks: of a scheme
//! that sends halves of blocks, such as three-halves, it sees what fills a block alone.

/// Bytes of a block.
const BLOCK: usize = 16;

/// What a party has at the end of a session.
#[derive(Clone, Default)]
pub struct View {
    /// Messages, as they came. The blocks of each count from its first byte.
    pub heard: Vec<Vec<u8>>,
    /// Blocks that it has computed, such as labels.
    pub held: Vec<u128>,
    /// Bits of every block that are not compared, since they are masked otherwise than the rest.
    pub ignored: u128,
}

/// What a party must not learn, and what to call it.
pub type Secret = (String, u128);

/// The first secret that the view shows, and how. One that is 0, as a row of bits may be, is the sum
/// of any block and itself, and cannot be looked for.
pub fn find(view: &View, secrets: &[Secret]) -> Option<String> {
    let windows = view.heard.iter().flat_map(|message| message.windows(BLOCK));
    let mut windows = windows.map(block).collect::<Vec<_>>();
    let mut blocks = view.held.clone();
    for message in &view.heard {
        blocks.extend(message.chunks_exact(BLOCK).map(block));
    }
    for set in [&mut windows, &mut blocks] {
        set.iter_mut().for_each(|block| *block &= !view.ignored);
        set.retain(|block| *block != 0);
        set.sort_unstable();
        set.dedup();
    }
    let mut pairs = Vec::with_capacity(blocks.len() * blocks.len() / 2);
    for (i, one) in blocks.iter().enumerate() {
        pairs.extend(blocks[..i].iter().map(|other| one ^ other));
    }
    pairs.sort_unstable();
    let is_in = |set: &[u128], block: u128| set.binary_search(&block).is_ok();
    for (name, secret) in secrets {
        let secret = secret & !view.ignored;
        if secret == 0 {
            continue;
        }
        if is_in(&windows, secret) {
            return Some(format!("{name}, as it is"));
        }
        if windows.iter().any(|other| is_in(&blocks, secret ^ other)) || is_in(&pairs, secret) {
            return Some(format!("{name}, as a sum of two blocks"));
        }
        if blocks.iter().any(|other| is_in(&pairs, secret ^ other)) {
            return Some(format!("{name}, as a sum of three blocks"));
        }
    }
    None
}

/// Bits that a party must not learn, as blocks: a byte each, and eight to a byte. What fills no
/// block is left out.
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
            let held = blocks[50..].to_vec();
            let ignored = 0;
            let view = View {
                heard,
                held,
                ignored,
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
        let clear = (0..128)
            .map(|i| (secrets[0].1 >> i & 1) as u8)
            .collect::<Vec<_>>();
        let secrets = bits("a bit", &clear);
        assert_eq!(secrets.len(), 8 + 1);
        for form in [clear.clone(), secrets[8].1.to_le_bytes().to_vec()] {
            let heard = vec![bytes(&blocks), form];
            let view = View {
                heard,
                ..View::default()
            };
            assert_eq!(
                find(&view, &secrets).as_deref(),
                Some("a bit in clear, as it is")
            );
        }
    }
}
