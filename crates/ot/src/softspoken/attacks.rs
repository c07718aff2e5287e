//! Receivers that deviate: against the semi-honest form each attack gets what it is after, and the
//! malicious form catches it as often as the paper says.

use super::one_of_n::OneOfN;
use super::receiver::VoleReceiver;
use super::sender::VoleSender;
use super::subspace::{self, Piece, ROWS, Subspace};
use super::{COLUMNS, SoftSpoken, rows_of, tree};
use crate::traits::choice as bit;
use crate::transcript::send_digest;
use crate::{OtError, Result, Security};
use sealane_block::{Block, Coins, ColumnHash, Cpu, Seed, leaves};
use sealane_net::Mesh;
use sealane_parties::PartyId;
use std::thread;
use zeroize::Zeroizing;

const SENDER: PartyId = PartyId(0);
const RECEIVER: PartyId = PartyId(1);
/// OTs of a run: two blocks of a column.
const COUNT: usize = 200;
/// OTs of a run of three pieces, of which the last is short.
const MANY: usize = 2 * 4096 + 300;

/// A row of up to 384 bits.
type Row = [Block; 3];
/// An offset of as many.
type Offset = [Block; 3];

/// An offset of 128 bits.
fn short(delta: u128) -> Offset {
    [Block::new(delta), Block::ZERO, Block::ZERO]
}

fn one_of_two(k: u8, security: Security) -> Subspace {
    SoftSpoken::new(k, security).subspace()
}

fn one_of_many(bits: u8, k: u8, security: Security) -> Subspace {
    OneOfN::new(bits, k, security).subspace()
}

/// Keys of base OTs, dealt.
fn base_keys(delta: &Offset, columns: usize) -> (Vec<Seed>, Vec<[Seed; 2]>) {
    let mut stream = Coins::danger_fixed_seed(7).secret("base");
    let pairs = (0..columns).map(|_| [stream.seed(), stream.seed()]);
    let pairs: Vec<[Seed; 2]> = pairs.collect();
    let chosen = |(i, pair): (usize, &[Seed; 2])| pair[usize::from(bit(delta, i))].clone();
    (pairs.iter().enumerate().map(chosen).collect(), pairs)
}

/// Adds the rows of a piece.
fn add_rows(piece: &Piece, columns: &[Block], rows: &mut Vec<Row>) {
    let mut made = vec![Row::default(); piece.count];
    for (group, columns) in columns.chunks(ROWS * piece.width).enumerate() {
        let mut padded = columns.to_vec();
        padded.resize(ROWS * piece.width, Block::ZERO);
        let (mut scratch, mut out) = (padded.clone(), vec![Block::ZERO; piece.count]);
        rows_of(Cpu::best(), piece, &padded, &mut scratch, &mut out);
        for (row, block) in made.iter_mut().zip(out) {
            row[group] = block;
        }
    }
    rows.extend(made);
}

/// Runs a sender against `cheat`, which gets the leaves of an honest dealer; with `flip`, one bit
/// of the dealer's message, the byte with this number, is another. Returns the sender's rows.
fn against<T: Send>(
    parameters: Subspace,
    delta: Offset,
    count: usize,
    flip: Option<usize>,
    cheat: impl FnOnce(VoleReceiver, &mut Mesh) -> T + Send,
) -> (Result<Vec<Row>>, T) {
    let cpu = Cpu::best();
    let (chosen, pairs) = base_keys(&delta, parameters.columns);
    let [mut here, mut there]: [Mesh; 2] = Mesh::in_memory(2).try_into().ok().expect("two");
    let dealt = tree::deal(parameters, &pairs, here.session());
    let mut message = dealt.message;
    if let Some(byte) = flip {
        message[byte] ^= 1;
    }
    let session = here.session();
    thread::scope(|scope| {
        let sender = scope.spawn(move || {
            let trees = tree::choose(parameters, &chosen, &delta, session, &message, RECEIVER)?;
            let mut sender = VoleSender {
                parameters,
                cpu,
                peer: RECEIVER,
                delta: Zeroizing::new(delta.to_vec()),
                trees: parameters.generators(cpu, session, &trees),
            };
            let mut q = Vec::new();
            let result = sender.extend(&mut here, count, |piece, columns| {
                add_rows(piece, columns, &mut q)
            });
            if result.is_err() {
                let erased = sender.delta.iter().all(|block| block.value() == 0);
                assert!(erased, "an offset is left after a failed check");
            }
            result?;
            assert_eq!(sender.delta()[0].value(), delta[0].value());
            Ok(q)
        });
        let receiver = VoleReceiver {
            parameters,
            cpu,
            peer: SENDER,
            trees: parameters.generators(cpu, session, &dealt.trees),
        };
        let got = cheat(receiver, &mut there);
        // A sender that failed is gone already.
        let _ = there.flush();
        (sender.join().expect("no panic"), got)
    })
}

/// A change of the corrections of a tree in a piece.
type Alter<'a> = dyn Fn(usize, &Piece, [u8; 32]) -> Vec<Block> + 'a;

/// An extension of `count` OTs that adds `alter(tree, piece, digest)`, where `digest` is that of
/// everything before the piece, to the corrections of a tree and answers the check as if it had
/// not. Returns choices and rows.
fn extend_with(
    receiver: &mut VoleReceiver,
    mesh: &mut Mesh,
    count: usize,
    alter: &Alter<'_>,
) -> (Vec<u8>, Vec<Row>) {
    let Subspace {
        columns: all, code, ..
    } = receiver.parameters;
    let malicious = receiver.parameters.malicious();
    let mut hash = ColumnHash::new(receiver.cpu, all + code.bits);
    let (mut choices, mut rows) = (Vec::new(), Vec::new());
    for piece in receiver.parameters.pieces(count) {
        let (width, before) = (piece.width, mesh.digest_sent(SENDER));
        let mut columns = vec![Block::ZERO; (all + code.bits) * width];
        let (by_bit, x) = columns.split_at_mut(all * width);
        let mut recent = vec![Block::ZERO; code.bits * width];
        let mut totals = vec![Block::ZERO; receiver.trees.len() * width];
        leaves::sums(&mut receiver.trees, Some(&mut totals), by_bit);
        for (i, u) in totals.chunks_exact_mut(width).enumerate() {
            let symbol = i % code.bits * width;
            if i < code.bits {
                x[symbol..][..width].copy_from_slice(u);
                recent[symbol..][..width].copy_from_slice(u);
                continue;
            }
            code.step(i, &mut recent);
            u.iter_mut()
                .zip(&recent[symbol..])
                .for_each(|(u, &c)| *u ^= c);
            let altered = alter(i, &piece, before);
            u.iter_mut()
                .zip(altered)
                .for_each(|(u, change)| *u ^= change);
            mesh.send(SENDER, Block::as_bytes(u)).expect("memory");
        }
        if malicious {
            hash.update(subspace::challenge(&mesh.digest_sent(SENDER)), &columns);
        }
        let (by_bit, x) = columns.split_at(all * width);
        add_rows(&piece, by_bit, &mut rows);
        choices.extend((0..piece.count).map(|j| {
            let row = piece.hidden * ROWS + j;
            (0..code.bits).fold(0, |choice, b| choice | bit(&x[b * width..], row) << b)
        }));
    }
    if malicious {
        send_digest(mesh, SENDER).expect("memory");
        let digest = mesh.digest_sent(SENDER);
        let (values, x) = hash.values().split_at(all);
        mesh.send(SENDER, Block::as_bytes(x)).expect("memory");
        let answer = subspace::check_hash(&digest, values);
        mesh.send(SENDER, &answer).expect("memory");
    }
    (choices, rows)
}

/// Another choice for tree `i` in row `j`, for each `(i, j)`.
fn flip(flips: &[(usize, usize)]) -> impl Fn(usize, &Piece, [u8; 32]) -> Vec<Block> {
    move |tree, piece, _| {
        let mut change = vec![Block::ZERO; piece.width];
        for &(_, row) in flips.iter().filter(|flip| flip.0 == tree) {
            if (piece.first..piece.first + piece.count).contains(&row) {
                let row = piece.hidden * COLUMNS + row - piece.first;
                change[row / 128] ^= Block::new(1 << (row % 128));
            }
        }
        change
    }
}

/// Returns whether row `j` is what an honest receiver of its choice would share with the sender:
/// the run that goes on with it, to a correct result or not, tells the receiver.
fn fits(parameters: Subspace, q: &[Row], x: &[u8], t: &[Row], delta: &Offset, j: usize) -> bool {
    let word = parameters.code.word(x[j], parameters.trees());
    parameters.columns().enumerate().all(|(i, mut columns)| {
        let symbol = (word >> i) as u8 & 1;
        columns.all(|column| bit(&q[j], column) ^ bit(&t[j], column) == symbol & bit(delta, column))
    })
}

/// Parameters of both kinds, secure against corrupt receivers.
fn all() -> Vec<Subspace> {
    let two = [1, 2, 4, 8].map(|k| one_of_two(k, Security::Malicious));
    let many =
        [(8, 4), (8, 6), (4, 8), (2, 6)].map(|(bits, k)| one_of_many(bits, k, Security::Malicious));
    [two, many].concat()
}

/// Choices and rows of a receiver.
type Asked = (Vec<u8>, Vec<Row>);

/// The published attack on an extension without check: row `j` asks for bit `j` of the offset.
/// Returns the sender's rows, with choices and rows of the receiver.
fn read_the_offset(parameters: Subspace, delta: Offset) -> (Result<Vec<Row>>, Asked) {
    against(parameters, delta, COUNT, None, |mut receiver, mesh| {
        let flips: Vec<_> = (1..COLUMNS).map(|j| (j, j)).collect();
        extend_with(&mut receiver, mesh, COUNT, &flip(&flips))
    })
}

#[test]
fn without_the_check_a_receiver_reads_the_offset_off_one_extension() {
    let delta = short(0x0123_4567_89ab_cdef_0f1e_2d3c_4b5a_6978);
    let iknp = SoftSpoken::IKNP.subspace();
    let (q, (x, t)) = read_the_offset(iknp, delta);
    let q = q.expect("no check");
    for j in 1..COLUMNS {
        let bit = bit(&delta, j);
        assert_eq!(fits(iknp, &q, &x, &t, &delta, j), bit == 0, "bit {j}");
    }
    // Rows that were left alone fit.
    assert!((COLUMNS..COUNT).all(|j| fits(iknp, &q, &x, &t, &delta, j)));
}

#[test]
fn with_the_check_the_same_attack_fails() {
    let checked = one_of_two(1, Security::Malicious);
    let delta = 0x0123_4567_89ab_cdef_0f1e_2d3c_4b5a_6978;
    // It passes only if every guess is right: with the least deviation from that, one bit, too.
    for delta in [delta, 1 << 77, u128::MAX] {
        let (q, _) = read_the_offset(checked, short(delta));
        let found = matches!(q, Err(OtError::CheckFailed(RECEIVER)));
        assert!(found, "{delta:x}");
    }
    // An offset whose 127 bits are 0, as one sender in 2^127 has it.
    let (q, (x, t)) = read_the_offset(checked, short(1));
    let q = q.expect("nothing to notice");
    assert!((0..COUNT).all(|j| fits(checked, &q, &x, &t, &short(1), j)));
}

#[test]
fn the_check_catches_it_for_all_parameters() {
    for parameters in all() {
        let (k, bits) = (parameters.k, parameters.code.bits);
        // No piece of the offset is 0, so every guess that a tree is not touched is wrong.
        let delta = [Block::ONES; 3];
        for at in [
            (bits, 0),
            (parameters.trees() - 1, COUNT - 1),
            (bits + 2, 77),
        ] {
            let (q, _) = against(parameters, delta, COUNT, None, |mut receiver, mesh| {
                extend_with(&mut receiver, mesh, COUNT, &flip(&[at]))
            });
            let caught = matches!(q, Err(OtError::CheckFailed(RECEIVER)));
            assert!(caught, "k = {k}, {bits} bits, {at:?}");
        }
        let (q, (x, t)) = against(parameters, delta, COUNT, None, |mut receiver, mesh| {
            extend_with(&mut receiver, mesh, COUNT, &flip(&[]))
        });
        let q = q.expect("an honest receiver");
        assert!((0..COUNT).all(|j| fits(parameters, &q, &x, &t, &delta, j)));
    }
}

#[test]
fn every_piece_of_an_extension_is_checked() {
    for parameters in [
        one_of_two(4, Security::Malicious),
        one_of_many(8, 6, Security::Malicious),
    ] {
        every_piece_is_checked(parameters);
    }
}

fn every_piece_is_checked(parameters: Subspace) {
    let delta = [Block::ONES; 3];
    // The last flip is undone in another piece, at the same place of it.
    let flips: [&[(usize, usize)]; 6] = [
        &[(1, 5)],
        &[(1, 3967)],
        &[(1, 3968)],
        &[(31, 4096 + 4000)],
        &[(2, MANY - 1)],
        &[(7, 3968 + 9), (7, 3968 + 4096 + 9)],
    ];
    for flips in flips {
        // The first trees have no corrections.
        let behind = |&(tree, row)| (tree + parameters.code.bits - 1, row);
        let flips: Vec<(usize, usize)> = flips.iter().map(behind).collect();
        let (q, _) = against(parameters, delta, MANY, None, |mut receiver, mesh| {
            extend_with(&mut receiver, mesh, MANY, &flip(&flips))
        });
        let caught = matches!(q, Err(OtError::CheckFailed(RECEIVER)));
        assert!(caught, "{flips:?}");
    }
    let (q, (x, t)) = against(parameters, delta, MANY, None, |mut receiver, mesh| {
        extend_with(&mut receiver, mesh, MANY, &flip(&[]))
    });
    let q = q.expect("an honest receiver");
    assert!((0..MANY).all(|j| fits(parameters, &q, &x, &t, &delta, j)));
}

#[test]
fn a_challenge_cannot_be_computed_before_the_corrections_that_it_checks() {
    let parameters = one_of_two(4, Security::Malicious);
    // Under the key that follows from what is sent before a piece, this change of a column has
    // hash zero: K K^i + 1 K^(i + 1).
    let unnoticed = |tree: usize, piece: &Piece, before: [u8; 32]| {
        let mut change = vec![Block::ZERO; piece.width];
        if tree == 3 && piece.first > 0 && piece.width == subspace::PIECE {
            change[4] = subspace::challenge(&before);
            change[5] = Block::new(1);
            let mut hash = ColumnHash::new(Cpu::best(), 1);
            hash.update(Block::new(1), &vec![Block::ZERO; piece.width]);
            hash.update(change[4], &change);
            assert_eq!(hash.values()[0].value(), 0, "the attack would work");
        }
        change
    };
    let (q, _) = against(
        parameters,
        [Block::ONES; 3],
        MANY,
        None,
        |mut receiver, mesh| extend_with(&mut receiver, mesh, MANY, &unnoticed),
    );
    assert!(matches!(q, Err(OtError::CheckFailed(RECEIVER))));
}

#[test]
fn a_guess_of_c_bits_passes_as_often_as_predicted() {
    let parameters = one_of_two(1, Security::Malicious);
    let mut deltas = Coins::danger_fixed_seed(11).secret("offsets");
    let (mut passed, runs) = ([0; 3], 96);
    for _ in 0..runs {
        let delta = short(deltas.block().value());
        for c in 1..=3 {
            let flips: Vec<_> = (0..c).map(|i| (5 + 40 * i, 9 * i)).collect();
            let (q, _) = against(parameters, delta, COUNT, None, |mut receiver, mesh| {
                extend_with(&mut receiver, mesh, COUNT, &flip(&flips))
            });
            // A deviation in column i is invisible if bit i of the offset is 0, and only then.
            let predicted = flips.iter().all(|&(i, _)| bit(&delta, i) == 0);
            assert_eq!(q.is_ok(), predicted, "{flips:?}");
            passed[c - 1] += usize::from(predicted);
        }
    }
    // Expected 48, 24 and 12 of 96; four deviations about them.
    assert!((28..=68).contains(&passed[0]), "{passed:?}");
    assert!((7..=41).contains(&passed[1]), "{passed:?}");
    assert!((1..=25).contains(&passed[2]), "{passed:?}");
}

#[test]
fn a_guess_of_trees_of_one_of_many_passes_if_all_are_right() {
    let parameters = one_of_many(8, 4, Security::Malicious);
    let mut coins = Coins::danger_fixed_seed(12).secret("offsets");
    let trees = [8, 40, 80];
    let mut passed = 0;
    for run in 0..24 {
        let mut delta: Offset = [coins.block(), coins.block(), coins.block()];
        // The guess is that the parts of these trees are 0, so that they are not touched.
        for (_, tree) in trees.iter().enumerate().filter(|(n, _)| run >> n & 1 == 1) {
            for column in 4 * tree..4 * tree + 4 {
                let low = Block::new(!(1 << (column % 128)));
                delta[column / 128] = delta[column / 128] & low;
            }
        }
        let flips = trees.map(|tree| (tree, 3 * tree % COUNT));
        let (q, _) = against(parameters, delta, COUNT, None, |mut receiver, mesh| {
            extend_with(&mut receiver, mesh, COUNT, &flip(&flips))
        });
        let zero = |tree: usize| (4 * tree..4 * tree + 4).all(|column| bit(&delta, column) == 0);
        assert_eq!(q.is_ok(), trees.into_iter().all(zero), "run {run}");
        passed += usize::from(q.is_ok());
    }
    assert!(passed >= 3);
}

#[test]
fn a_dealer_of_inconsistent_trees_learns_one_bit_and_is_caught_half_of_the_time() {
    for bit in [0, 1] {
        // The second level of the first tree takes bit 1 of the offset: the sum of side 1 is read
        // where that bit is 0.
        let delta = short(bit << 1 | 0xabcd_0000);
        for (security, byte) in [(Security::SemiHonest, 40), (Security::Malicious, 40)] {
            let parameters = one_of_two(4, security);
            let (q, (x, t)) = against(
                parameters,
                delta,
                COUNT,
                Some(byte),
                |mut receiver, mesh| extend_with(&mut receiver, mesh, COUNT, &flip(&[])),
            );
            let noticed = bit == 0;
            match security {
                Security::Malicious if noticed => {
                    assert!(matches!(q, Err(OtError::CheckFailed(RECEIVER))));
                }
                _ => {
                    let q = q.expect("nothing to notice");
                    let fit = (0..COUNT).all(|j| fits(parameters, &q, &x, &t, &delta, j));
                    assert_eq!(fit, !noticed, "the semi-honest form tells the bit");
                }
            }
        }
    }
}

#[test]
fn every_changed_byte_of_a_dealers_check_is_caught() {
    let parameters = one_of_two(4, Security::Malicious);
    // The last 64 bytes of a tree's message: the sum and the hash of what its leaves give.
    let tree = tree::message_bytes(parameters) / parameters.trees();
    for byte in (tree - 64..tree).step_by(7) {
        let delta = short(0x5555_0123 << 64 | 0x1357_9bdf);
        // The sender never comes to the extension.
        let (q, ()) = against(parameters, delta, COUNT, Some(byte), |_, _| ());
        assert!(matches!(q, Err(OtError::CheckFailed(RECEIVER))), "{byte}");
    }
}
