use super::*;
use std::collections::HashSet;

const ALL: [(u8, u8); 9] = [
    (2, 4),
    (2, 6),
    (2, 8),
    (4, 4),
    (4, 6),
    (4, 8),
    (8, 4),
    (8, 6),
    (8, 8),
];

fn all() -> impl Iterator<Item = OneOfN> {
    ALL.into_iter()
        .map(|(bits, k)| OneOfN::new(bits, k, Security::Malicious))
}

#[test]
fn codes_are_systematic_and_linear_and_their_words_select_144_bits() {
    for parameters in all() {
        let subspace = parameters.subspace();
        let length = subspace.trees();
        assert_eq!(subspace.columns % subspace.k, 0, "no shorter tree");
        assert!(subspace.columns <= 128 * GROUPS && length < 128);
        let word = |choice: usize| subspace.code.word(choice as u8, length);
        let mut least = length as u32;
        for choice in 1..parameters.strings() {
            let mask = parameters.strings() as u128 - 1;
            assert_eq!(word(choice) & mask, choice as u128);
            let rest = word(choice & (choice - 1));
            assert_eq!(word(choice), rest ^ word(choice & choice.wrapping_neg()));
            least = least.min(word(choice).count_ones());
        }
        assert_eq!(least * u32::from(parameters.k), 144, "{parameters:?}");
    }
}

#[test]
fn symbols_step_by_step_are_those_of_words() {
    for parameters in all() {
        let Subspace { code, .. } = parameters.subspace();
        let length = parameters.subspace().trees();
        for choice in [1, 2, 3, parameters.strings() - 1] {
            let word = code.word(choice as u8, length);
            let bits = |i: usize| Block::new(word >> i & 1);
            let mut recent: Vec<Block> = (0..code.bits).map(bits).collect();
            for i in code.bits..length {
                code.step(i, &mut recent);
                assert_eq!(recent[i % code.bits].value(), bits(i).value(), "symbol {i}");
            }
        }
    }
}

/// Gaussian elimination.
fn rank(images: impl Iterator<Item = u128>) -> usize {
    let mut by_top = [0u128; 128];
    let mut rank = 0;
    for mut image in images {
        while image != 0 {
            let top = image.ilog2() as usize;
            if by_top[top] == 0 {
                by_top[top] = image;
                rank += 1;
                break;
            }
            image ^= by_top[top];
        }
    }
    rank
}

#[test]
fn folded_differences_of_all_choices_are_uniform() {
    for parameters in all() {
        let subspace = parameters.subspace();
        let images: Vec<u128> = (0..subspace.columns)
            .map(|column| {
                let mut row = [Block::ZERO; GROUPS];
                row[column / 128] = Block::new(1 << (column % 128));
                fold_row(Cpu::best(), &row).value()
            })
            .collect();
        for choice in 1..parameters.strings() {
            let word = subspace.code.word(choice as u8, subspace.trees());
            let trees = subspace.columns().enumerate();
            let columns = trees.filter(|(i, _)| word >> i & 1 == 1);
            let columns = columns.flat_map(|(_, c)| c);
            let rank = rank(columns.map(|column| images[column]));
            assert_eq!(rank, 128, "choice {choice}, {parameters:?}");
        }
    }
}

/// The same sums of a row, in several sessions, roles, parameters, extensions, OTs, for several
/// strings and several blocks of them.
#[test]
fn no_two_keys_of_one_row_are_the_same() {
    let (cpu, mut keys) = (Cpu::best(), HashSet::new());
    for (parameters, session) in all().flat_map(|parameters| [(parameters, 1), (parameters, 2)]) {
        for parties in [[PartyId(0), PartyId(1)], [PartyId(1), PartyId(0)]] {
            let session = SessionId::new(&[session; 32], &[]);
            let mut hash = Hash::new(parameters, cpu, session, parties);
            for call in [hash.next(), hash.next()] {
                let places = (0..8).map(|place| [0, 1, 2].map(|bit| place >> bit & 1));
                let tweak = |[number, j, choice]: [usize; 3]| call.tweak(number, j, choice as u8);
                let tweaks: Vec<Block> = places.map(tweak).collect();
                let mut made = [Block::ONES; 8];
                call.hash.hash_each(cpu, &tweaks, &mut made);
                keys.extend(made.map(|key| key.value()));
            }
        }
    }
    assert_eq!(keys.len(), ALL.len() * 2 * 2 * 2 * 8);
}
