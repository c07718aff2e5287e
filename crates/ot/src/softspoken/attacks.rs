//! Receivers that deviate: against the semi-honest form each attack gets what it is after, and the
//! malicious form catches it as often as the paper says.

use super::{COLUMNS, Piece, Receiver, Sender, SoftSpoken, generators, tree};
use crate::traits::{CotSender, choice};
use crate::transcript::send_digest;
use crate::{OtError, Security};
use sealane_block::{Block, Coins, ColumnHash, Cpu, Seed, transpose};
use sealane_net::Mesh;
use sealane_parties::PartyId;
use std::thread;

const SENDER: PartyId = PartyId(0);
const RECEIVER: PartyId = PartyId(1);
/// OTs of a run: two blocks of a column.
const COUNT: usize = 200;
/// OTs of a run of three pieces, of which the last is short.
const MANY: usize = 2 * 4096 + 300;

/// Keys of base OTs, dealt.
fn base_keys(delta: Block) -> (Vec<Seed>, Vec<[Seed; 2]>) {
    let mut stream = Coins::danger_fixed_seed(7).secret("base");
    let pairs: Vec<[Seed; 2]> = (0..COLUMNS)
        .map(|_| [stream.seed(), stream.seed()])
        .collect();
    let chosen = |(i, pair): (usize, &[Seed; 2])| pair[(delta.value() >> i & 1) as usize].clone();
    (pairs.iter().enumerate().map(chosen).collect(), pairs)
}

/// Runs a sender against `cheat`, which gets the leaves of an honest dealer; with `flip`, one bit
/// of the dealer's message, the byte with this number, is another. Returns the sender's rows.
fn against<T: Send>(
    parameters: SoftSpoken,
    delta: Block,
    count: usize,
    flip: Option<usize>,
    cheat: impl FnOnce(Receiver, &mut Mesh) -> T + Send,
) -> (Result<Vec<Block>, OtError>, T) {
    let cpu = Cpu::best();
    let (chosen, pairs) = base_keys(delta);
    let [mut here, mut there]: [Mesh; 2] = Mesh::in_memory(2).try_into().ok().expect("two");
    let dealt = tree::deal(parameters, &pairs, here.session());
    let mut message = dealt.message;
    if let Some(byte) = flip {
        message[byte] ^= 1;
    }
    let session = here.session();
    thread::scope(|scope| {
        let sender = scope.spawn(move || {
            let trees = tree::choose(parameters, &chosen, delta, session, &message, RECEIVER)?;
            let mut sender = Sender {
                parameters,
                cpu,
                peer: RECEIVER,
                delta,
                trees: generators(parameters, cpu, session, &trees),
            };
            let mut q = vec![Block::ZERO; count];
            sender.extend(&mut here, &mut q)?;
            assert_eq!(sender.delta().value(), delta.value());
            Ok(q)
        });
        let receiver = Receiver {
            parameters,
            cpu,
            peer: SENDER,
            trees: generators(parameters, cpu, session, &dealt.trees),
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
    receiver: &mut Receiver,
    mesh: &mut Mesh,
    count: usize,
    alter: &Alter<'_>,
) -> (Vec<Block>, Vec<Block>) {
    let malicious = receiver.parameters.malicious();
    let mut hash = ColumnHash::new(receiver.cpu, COLUMNS + 1);
    let (mut choices, mut rows) = (Vec::new(), Vec::new());
    for piece in super::pieces(receiver.parameters, count) {
        let (width, before) = (piece.width, mesh.digest_sent(SENDER));
        let mut columns = vec![Block::ZERO; (COLUMNS + 1) * width];
        let (by_bit, x) = columns.split_at_mut(COLUMNS * width);
        let trees = receiver.parameters.columns().zip(&mut receiver.trees);
        for (i, (range, leaves)) in trees.enumerate() {
            let mut u = vec![Block::ZERO; width];
            leaves.sums(&mut u, &mut by_bit[range.start * width..range.end * width]);
            if i == 0 {
                x.copy_from_slice(&u);
                continue;
            }
            u.iter_mut().zip(&*x).for_each(|(u, &x)| *u ^= x);
            let altered = alter(i, &piece, before);
            u.iter_mut()
                .zip(altered)
                .for_each(|(u, change)| *u ^= change);
            mesh.send(SENDER, Block::as_bytes(&u)).expect("memory");
        }
        if malicious {
            hash.update(super::challenge(&mesh.digest_sent(SENDER)), &columns);
        }
        let mut t = vec![Block::ZERO; COLUMNS * width];
        transpose(receiver.cpu, &columns[..COLUMNS * width], &mut t);
        choices.extend_from_slice(&columns[COLUMNS * width + piece.hidden..]);
        rows.extend_from_slice(&t[piece.hidden * COLUMNS..][..piece.count]);
    }
    if malicious {
        send_digest(mesh, SENDER).expect("memory");
        let digest = mesh.digest_sent(SENDER);
        let (values, x) = hash.values().split_at(COLUMNS);
        mesh.send(SENDER, &x[0].to_bytes()).expect("memory");
        let answer = super::check_hash(&digest, values);
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
fn fits(q: &[Block], x: &[Block], t: &[Block], delta: Block, j: usize) -> bool {
    (q[j] ^ delta.masked(choice(x, j))).value() == t[j].value()
}

#[test]
fn without_the_check_a_receiver_reads_the_offset_off_one_extension() {
    let delta = Block::new(0x0123_4567_89ab_cdef_0f1e_2d3c_4b5a_6978);
    let (q, (x, t)) = against(
        SoftSpoken::IKNP,
        delta,
        COUNT,
        None,
        |mut receiver, mesh| {
            // Row j asks for bit j.
            let flips: Vec<_> = (1..COLUMNS).map(|j| (j, j)).collect();
            extend_with(&mut receiver, mesh, COUNT, &flip(&flips))
        },
    );
    let q = q.expect("no check");
    for j in 1..COLUMNS {
        let bit = delta.value() >> j & 1;
        assert_eq!(fits(&q, &x, &t, delta, j), bit == 0, "bit {j}");
    }
    // Rows that were left alone fit.
    assert!((COLUMNS..COUNT).all(|j| fits(&q, &x, &t, delta, j)));
}

#[test]
fn the_check_catches_it_for_every_k() {
    for k in [1, 2, 4, 8] {
        let parameters = SoftSpoken::new(k, Security::Malicious);
        // No piece of the offset is 0, so every guess that a tree is not touched is wrong.
        let delta = Block::ONES;
        for at in [(1, 0), (parameters.trees() - 1, COUNT - 1), (3, 77)] {
            let (q, _) = against(parameters, delta, COUNT, None, |mut receiver, mesh| {
                extend_with(&mut receiver, mesh, COUNT, &flip(&[at]))
            });
            let caught = matches!(q, Err(OtError::CheckFailed(RECEIVER)));
            assert!(caught, "k = {k}, {at:?}");
        }
        let (q, (x, t)) = against(parameters, delta, COUNT, None, |mut receiver, mesh| {
            extend_with(&mut receiver, mesh, COUNT, &flip(&[]))
        });
        let q = q.expect("an honest receiver");
        assert!((0..COUNT).all(|j| fits(&q, &x, &t, delta, j)));
    }
}

#[test]
fn every_piece_of_an_extension_is_checked() {
    let parameters = SoftSpoken::new(4, Security::Malicious);
    let delta = Block::ONES;
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
        let (q, _) = against(parameters, delta, MANY, None, |mut receiver, mesh| {
            extend_with(&mut receiver, mesh, MANY, &flip(flips))
        });
        let caught = matches!(q, Err(OtError::CheckFailed(RECEIVER)));
        assert!(caught, "{flips:?}");
    }
    let (q, (x, t)) = against(parameters, delta, MANY, None, |mut receiver, mesh| {
        extend_with(&mut receiver, mesh, MANY, &flip(&[]))
    });
    let q = q.expect("an honest receiver");
    assert!((0..MANY).all(|j| fits(&q, &x, &t, delta, j)));
}

#[test]
fn a_challenge_cannot_be_computed_before_the_corrections_that_it_checks() {
    let parameters = SoftSpoken::new(4, Security::Malicious);
    // Under the key that follows from what is sent before a piece, this change of a column has
    // hash zero: K K^i + 1 K^(i + 1).
    let unnoticed = |tree: usize, piece: &Piece, before: [u8; 32]| {
        let mut change = vec![Block::ZERO; piece.width];
        if tree == 3 && piece.first > 0 && piece.width == super::PIECE {
            change[4] = super::challenge(&before);
            change[5] = Block::new(1);
            let mut hash = ColumnHash::new(Cpu::best(), 1);
            hash.update(Block::new(1), &vec![Block::ZERO; piece.width]);
            hash.update(change[4], &change);
            assert_eq!(hash.values()[0].value(), 0, "the attack would work");
        }
        change
    };
    let (q, _) = against(parameters, Block::ONES, MANY, None, |mut receiver, mesh| {
        extend_with(&mut receiver, mesh, MANY, &unnoticed)
    });
    assert!(matches!(q, Err(OtError::CheckFailed(RECEIVER))));
}

#[test]
fn a_guess_of_c_bits_passes_as_often_as_predicted() {
    let parameters = SoftSpoken::new(1, Security::Malicious);
    let mut deltas = Coins::danger_fixed_seed(11).secret("offsets");
    let (mut passed, runs) = ([0; 3], 96);
    for _ in 0..runs {
        let delta = deltas.block();
        for c in 1..=3 {
            let flips: Vec<_> = (0..c).map(|i| (5 + 40 * i, 9 * i)).collect();
            let (q, _) = against(parameters, delta, COUNT, None, |mut receiver, mesh| {
                extend_with(&mut receiver, mesh, COUNT, &flip(&flips))
            });
            // A deviation in column i is invisible if bit i of the offset is 0, and only then.
            let predicted = flips.iter().all(|(i, _)| delta.value() >> i & 1 == 0);
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
fn a_dealer_of_inconsistent_trees_learns_one_bit_and_is_caught_half_of_the_time() {
    for bit in [0, 1] {
        // The second level of the first tree takes bit 1 of the offset: the sum of side 1 is read
        // where that bit is 0.
        let delta = Block::new(bit << 1 | 0xabcd_0000);
        for (security, byte) in [(Security::SemiHonest, 40), (Security::Malicious, 40)] {
            let parameters = SoftSpoken::new(4, security);
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
                    let fit = (0..COUNT).all(|j| fits(&q, &x, &t, delta, j));
                    assert_eq!(fit, !noticed, "the semi-honest form tells the bit");
                }
            }
        }
    }
}

#[test]
fn every_changed_byte_of_a_dealers_check_is_caught() {
    let parameters = SoftSpoken::new(4, Security::Malicious);
    // The last 64 bytes of a tree's message: the sum and the hash of what its leaves give.
    let tree = tree::message_bytes(parameters) / parameters.trees();
    for byte in (tree - 64..tree).step_by(7) {
        let delta = Block::new(0x5555_0123 << 64 | 0x1357_9bdf);
        // The sender never comes to the extension.
        let (q, ()) = against(parameters, delta, COUNT, Some(byte), |_, _| ());
        assert!(matches!(q, Err(OtError::CheckFailed(RECEIVER))), "{byte}");
    }
}
