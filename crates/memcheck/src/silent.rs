//! Silent extension of correlated OT, both forms and both parties. The correlations that it begins
//! with are secret, and with them the offset, the choices and the places of errors. Coins are not:
//! from them come the keys of the matrix, which both parties see and which make addresses. Roots of
//! trees come from them, too; half of the nodes below are made of the offset as well, so they are
//! secret, and the other half goes through the same instructions.

use crate::Check;
use crate::request::{is_secret, secret};
use crate::transfers::{RECEIVER, SENDER, blocks, ends};
use sealane_block::{Block, Coins, Cpu, Prg};
use sealane_net::Mesh;
use sealane_ot::ferret::{FerretReceiver, FerretSender, Params};
use sealane_ot::traits::{CotReceiver, CotSender, CotTerms, packed_blocks};
use sealane_ot::{OtError, Security};

/// The checks of this file.
pub const CHECKS: &[Check] = &[
    ("ferret, semi-honest", |cpu| {
        run(cpu, Params::danger_tiny(Security::SemiHonest));
    }),
    ("ferret, malicious", |cpu| {
        run(cpu, Params::danger_tiny(Security::Malicious));
    }),
    ("ferret, uniform errors, malicious", |cpu| {
        run(cpu, Params::danger_tiny_uniform(Security::Malicious));
    }),
    ("ferret, after a failure", |cpu| {
        fail(cpu, Params::danger_tiny(Security::Malicious));
    }),
];

const DELTA: Block = Block::new(0x8f0e_6a51_c3d2_7b94_00ff_1234_9abc_def1);

/// An ideal source of correlations, all of which are secret.
struct Source(Prg);

impl CotSender for Source {
    fn terms(&self) -> CotTerms {
        CotTerms::new(RECEIVER, Security::Malicious)
    }

    fn delta(&self) -> Block {
        let mut delta = [DELTA];
        // Bit 0 is public.
        secret(&mut Block::as_bytes_mut(&mut delta)[1..]);
        delta[0]
    }

    fn extend(&mut self, _: &mut Mesh, q: &mut [Block]) -> Result<(), OtError> {
        self.0.fill(q);
        secret(Block::as_bytes_mut(q));
        Ok(())
    }
}

impl CotReceiver for Source {
    fn terms(&self) -> CotTerms {
        CotTerms::new(SENDER, Security::Malicious)
    }

    fn extend(&mut self, _: &mut Mesh, x: &mut [Block], t: &mut [Block]) -> Result<(), OtError> {
        self.0.fill(t);
        self.0.fill(x);
        for (i, t) in t.iter_mut().enumerate() {
            *t ^= DELTA.masked((x[i / 128].value() >> (i % 128)) as u8);
        }
        secret(Block::as_bytes_mut(t));
        secret(Block::as_bytes_mut(x));
        Ok(())
    }
}

/// Runs the set-up, an iteration in place and one in a buffer.
fn run(cpu: Cpu, params: Params) {
    let count = params.main().rows() + 200;
    let [sender, receiver] = both(cpu, params, [count, count]);
    sender.expect("an honest receiver");
    receiver.expect("an honest sender");
}

/// The sender leaves after the set-up, without a word; what the receiver has kept is freed at its
/// error, and what the sender has kept as it leaves.
fn fail(cpu: Cpu, params: Params) {
    let [sender, receiver] = both(cpu, params, [0, params.given()]);
    assert!(matches!(sender, Err(OtError::Ended)), "it leaves");
    receiver.expect_err("a sender that has left");
}

/// Runs both parties for as many OTs.
fn both(cpu: Cpu, params: Params, [sends, receives]: [usize; 2]) -> [Result<(), OtError>; 2] {
    let source = || Source(Prg::danger_fixed(cpu, 7));
    ends(
        |mesh| {
            let (source, coins) = (&mut source(), &mut Coins::danger_fixed_seed(1));
            let mut cot = FerretSender::set_up(cpu, mesh, RECEIVER, params, source, coins)?;
            let mut q = blocks(sends);
            cot.extend(mesh, &mut q)?;
            if sends == 0 {
                mesh.flush()?;
                return Err(OtError::Ended);
            }
            assert!(is_secret(&q), "rows are made of secrets");
            Ok(())
        },
        |mesh| {
            let (source, coins) = (&mut source(), &mut Coins::danger_fixed_seed(2));
            let mut cot = FerretReceiver::set_up(cpu, mesh, SENDER, params, source, coins)?;
            let (mut t, mut x) = (blocks(receives), blocks(packed_blocks(receives)));
            cot.extend(mesh, &mut x, &mut t)?;
            assert!(is_secret(&t) && is_secret(&x[..params.main().rows() / 128]));
            Ok(())
        },
    )
}
