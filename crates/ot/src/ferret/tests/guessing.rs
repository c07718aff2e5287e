//! A sender that guesses the path of a tree: the leak that the check leaves, and no more.

use sealane_block::silent::matrix::LocalMatrix;
use sealane_block::silent::trees::{TREES, TreeHash};
use sealane_block::{Block, Coins, Cpu};
use sealane_net::Mesh;
use sealane_parties::PartyId;
use zeroize::Zeroize;

use super::support::*;
use crate::Security;
use crate::ferret::check::Binding;
use crate::ferret::run::{Part, Run};
use crate::ferret::sender::SenderPart;
use crate::ferret::{FerretReceiver, Params};
use crate::traits::{CotReceiver, CotSender};
use crate::{OtError, Role};

/// The pair of leaves that the sender guesses to be at the end of the first tree's path.
const GUESS: usize = 5;
/// The amount by which its message of the last level is wrong.
const ERROR: Block = Block::new(0x1234_5678 << 40);

/// A sender whose message makes both leaves at the end of the path wrong, wherever that is, and
/// whose proof is right if they are the pair that it guesses.
struct Guessing {
    part: SenderPart,
    batches: usize,
}

impl Zeroize for Guessing {
    fn zeroize(&mut self) {
        self.part.zeroize();
    }
}

impl Part for Guessing {
    const ROLE: Role = Role::Sender;
    const CHOICES: bool = false;

    fn trees(
        &mut self,
        mesh: &mut Mesh,
        peer: PartyId,
        hash: &TreeHash,
        levels: &[Block],
        rows: &mut [Block],
    ) -> Result<(), OtError> {
        let mut levels = levels.to_vec();
        if self.batches == 0 {
            let last = levels.len() - TREES;
            levels[last] ^= ERROR;
        }
        self.batches += 1;
        self.part.trees(mesh, peer, hash, &levels, rows)
    }

    fn encode(
        matrix: &LocalMatrix,
        secret: &[Block],
        first: u64,
        leaves: &[Block],
        rows: &mut [Block],
        choices: &mut [Block],
    ) {
        SenderPart::encode(matrix, secret, first, leaves, rows, choices);
    }

    fn check(
        &mut self,
        mesh: &mut Mesh,
        binding: Binding,
        rows: &[Block],
        choices: &[Block],
        masks: &[Block],
    ) -> Result<(), OtError> {
        let mut rows = rows.to_vec();
        for leaf in [2 * GUESS, 2 * GUESS + 1] {
            rows[leaf * TREES] ^= ERROR;
        }
        self.part.check(mesh, binding, &rows, choices, masks)?;
        Ok(mesh.flush()?)
    }

    fn pack(row: Block, choice: u8) -> Block {
        SenderPart::pack(row, choice)
    }
}

/// The pair of leaves at the end of the first tree's path: away from the choices of the
/// correlations that the tree takes.
fn pair(params: Params, number: u64) -> usize {
    let [mut mesh, _] = in_memory();
    let count = params.from_source();
    let (mut x, mut t) = (
        vec![Block::ZERO; count.div_ceil(128)],
        vec![Block::ZERO; count],
    );
    CotReceiver::extend(&mut dealer(number).1, &mut mesh, &mut x, &mut t).expect("an ideal source");
    let levels = (0..params.first().depth() - 1).map(|level| {
        let at = params.first().secret() + level * TREES;
        1 - (x[at / 128].value() >> (at % 128) & 1) as usize
    });
    levels.fold(0, |path, turn| 2 * path + turn)
}

#[test]
fn a_guess_passes_exactly_if_it_is_right() {
    let params = Params::danger_tiny(Security::Malicious);
    let cpu = Cpu::best();
    let mut passed = 0;
    let runs = 160;
    for number in 0..runs {
        let sender = |mut mesh: Mesh| {
            let mut source = dealer(number).0;
            let mut coins = Coins::danger_fixed_seed(number);
            let part = SenderPart::new(cpu, source.delta(), &mut coins);
            let part = Guessing { part, batches: 0 };
            let from_source = |mesh: &mut Mesh, kept: &mut [Block]| {
                CotSender::extend(&mut source, mesh, kept)?;
                kept.iter_mut()
                    .for_each(|block| *block = SenderPart::pack(*block, 0));
                Ok(())
            };
            Run::set_up(
                cpu,
                &mut mesh,
                RECEIVER,
                params,
                part,
                &mut coins,
                from_source,
            )
            .map(drop)
        };
        let receiver = |mut mesh: Mesh| {
            let mut source = dealer(number).1;
            let mut coins = Coins::danger_fixed_seed(1000 + number);
            FerretReceiver::set_up(cpu, &mut mesh, SENDER, params, &mut source, &mut coins)
                .map(drop)
        };
        let (_, result) = both(in_memory(), sender, receiver);
        let is_right = pair(params, number) == GUESS;
        match result {
            Ok(()) => assert!(is_right, "run {number}"),
            Err(OtError::CheckFailed(party)) => {
                assert!(!is_right && party == SENDER, "run {number}");
            }
            Err(error) => panic!("{error}"),
        }
        passed += usize::from(is_right);
    }
    // One in 16 of them: 10, with a standard deviation of 3.
    assert!((1..=22).contains(&passed), "{passed} of {runs}");
}
