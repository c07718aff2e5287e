//! Receivers that deviate: against the semi-honest form each attack gets what it is after, and the
//! malicious form catches it as often as the paper says.

use super::{COLUMNS, PIECE, Receiver, Sender, SoftSpoken, tree};
use crate::traits::{CotSender, choice};
use crate::transcript::send_digest;
use crate::{OtError, Security};
use sealane_block::{Block, Coins, ColumnHash, Cpu, Leaves, Seed, transpose};
use sealane_net::Mesh;
use sealane_parties::PartyId;
use std::thread;

const SENDER: PartyId = PartyId(0);
const RECEIVER: PartyId = PartyId(1);
/// OTs of a run: two blocks of a column.
const COUNT: usize = 200;

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
    let streams = |leaves: &[Seed]| -> Vec<_> {
        let stream = |leaf: &Seed| leaf.stream(super::LEAF, &[0; 32]);
        leaves.iter().map(stream).collect()
    };
    thread::scope(|scope| {
        let sender = scope.spawn(move || {
            let trees = tree::choose(
                parameters,
                &chosen,
                delta,
                here.session(),
                &message,
                RECEIVER,
            )?;
            let trees = parameters.columns().zip(&trees).map(|(columns, leaves)| {
                Leaves::punctured(cpu, columns.len(), streams(leaves).into_iter())
            });
            let mut sender = Sender {
                parameters,
                cpu,
                peer: RECEIVER,
                delta,
                trees: trees.collect(),
            };
            let mut q = vec![Block::ZERO; COUNT];
            sender.extend(&mut here, &mut q)?;
            assert_eq!(sender.delta().value(), delta.value());
            Ok(q)
        });
        let trees = parameters
            .columns()
            .zip(&dealt.trees)
            .map(|(columns, leaves)| {
                Leaves::whole(cpu, columns.len(), streams(leaves).into_iter())
            });
        let receiver = Receiver {
            parameters,
            cpu,
            peer: SENDER,
            trees: trees.collect(),
        };
        let got = cheat(receiver, &mut there);
        // A sender that failed is gone already.
        let _ = there.flush();
        (sender.join().expect("no panic"), got)
    })
}

/// An extension of [`COUNT`] OTs that uses another choice for tree `i` in row `j`, for each `(i,
/// j)` of `flips`, and answers the check as if it had not. Returns choices and rows.
fn extend_with(
    receiver: &mut Receiver,
    mesh: &mut Mesh,
    flips: &[(usize, usize)],
) -> (Vec<Block>, Vec<Block>) {
    let hidden = receiver.parameters.hidden();
    let width = receiver.parameters.blocks(COUNT);
    assert!(width <= PIECE);
    let mut columns = vec![Block::ZERO; (COLUMNS + 1) * width];
    let (rows, x) = columns.split_at_mut(COLUMNS * width);
    let trees = receiver.parameters.columns().zip(&mut receiver.trees);
    for (i, (range, leaves)) in trees.enumerate() {
        let mut u = vec![Block::ZERO; width];
        leaves.sums(&mut u, &mut rows[range.start * width..range.end * width]);
        if i == 0 {
            x.copy_from_slice(&u);
            continue;
        }
        u.iter_mut().zip(&*x).for_each(|(u, &x)| *u ^= x);
        for (_, row) in flips.iter().filter(|flip| flip.0 == i) {
            u[hidden + row / 128] ^= Block::new(1 << (row % 128));
        }
        mesh.send(SENDER, Block::as_bytes(&u)).expect("memory");
    }
    if receiver.parameters.security == Security::Malicious {
        let mut hash = ColumnHash::new(receiver.cpu, COLUMNS + 1);
        hash.update(super::challenge(&mesh.digest_sent(SENDER)), &columns);
        send_digest(mesh, SENDER).expect("memory");
        let digest = mesh.digest_sent(SENDER);
        let (values, x) = hash.values().split_at(COLUMNS);
        mesh.send(SENDER, &x[0].to_bytes()).expect("memory");
        let answer = super::check_hash(&digest, values);
        mesh.send(SENDER, &answer).expect("memory");
    }
    let mut t = vec![Block::ZERO; COLUMNS * width];
    transpose(receiver.cpu, &columns[..COLUMNS * width], &mut t);
    let choices = columns[COLUMNS * width + hidden..].to_vec();
    (choices, t[hidden * COLUMNS..][..COUNT].to_vec())
}

/// Returns whether row `j` is what an honest receiver of its choice would share with the sender:
/// the run that goes on with it, to a correct result or not, tells the receiver.
fn fits(q: &[Block], x: &[Block], t: &[Block], delta: Block, j: usize) -> bool {
    (q[j] ^ delta.masked(choice(x, j))).value() == t[j].value()
}

#[test]
fn without_the_check_a_receiver_reads_the_offset_off_one_extension() {
    let delta = Block::new(0x0123_4567_89ab_cdef_0f1e_2d3c_4b5a_6978);
    let (q, (x, t)) = against(SoftSpoken::IKNP, delta, None, |mut receiver, mesh| {
        // Row j asks for bit j.
        let flips: Vec<_> = (1..COLUMNS).map(|j| (j, j)).collect();
        extend_with(&mut receiver, mesh, &flips)
    });
    let q = q.expect("no check");
    for j in 1..COLUMNS {
        let bit = delta.value() >> j & 1;
        assert_eq!(fits(&q, &x, &t, delta, j), bit == 0, "bit {j}");
    }
    // Rows that were left alone fit.
    assert!((COLUMNS..COUNT).all(|j| fits(&q, &x, &t, delta, j)));
}

#[test]
fn the_check_catches_it_in_every_column_and_row() {
    for k in [1, 2, 4, 8] {
        let parameters = SoftSpoken::new(k, Security::Malicious);
        // No piece of the offset is 0, so every guess that a tree is not touched is wrong.
        let delta = Block::ONES;
        for flip in [(1, 0), (parameters.trees() - 1, COUNT - 1), (3, 77)] {
            let (q, _) = against(parameters, delta, None, |mut receiver, mesh| {
                extend_with(&mut receiver, mesh, &[flip])
            });
            let caught = matches!(q, Err(OtError::CheckFailed(RECEIVER)));
            assert!(caught, "k = {k}, {flip:?}");
        }
        let (q, (x, t)) = against(parameters, delta, None, |mut receiver, mesh| {
            extend_with(&mut receiver, mesh, &[])
        });
        let q = q.expect("an honest receiver");
        assert!((0..COUNT).all(|j| fits(&q, &x, &t, delta, j)));
    }
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
            let (q, _) = against(parameters, delta, None, |mut receiver, mesh| {
                extend_with(&mut receiver, mesh, &flips)
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
            let (q, (x, t)) = against(parameters, delta, Some(byte), |mut receiver, mesh| {
                extend_with(&mut receiver, mesh, &[])
            });
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
        let (q, ()) = against(parameters, delta, Some(byte), |_, _| ());
        assert!(matches!(q, Err(OtError::CheckFailed(RECEIVER))), "{byte}");
    }
}
