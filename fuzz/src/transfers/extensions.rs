//! Correlated OTs: base OTs, trees and extension, and silent extension.

use super::{Case, Changed, DELTA, Honest, Outputs, RECEIVER, SENDER, coins, cpu, equal, same};
use sealane_block::Block;
use sealane_net::Mesh;
use sealane_ot::ferret::{FerretCost, FerretReceiver, FerretSender, Params};
use sealane_ot::softspoken::{Receiver, Sender};
use sealane_ot::traits::{CotCost, CotReceiver, CotSender, PACKED, packed_blocks};
use sealane_ot::{Flights, OtError, Security, SoftSpoken, ideal};
use sealane_parties::PartyId;

/// Makes OTs, and where that fails sees that nothing is left and nothing goes on.
fn sends(cot: &mut impl CotSender, mesh: &mut Mesh, count: usize) -> Result<Outputs, OtError> {
    let mut q = vec![Block::ONES; count];
    if let Err(error) = cot.extend(mesh, &mut q) {
        assert!(q.iter().all(|q| q.value() == 0), "no row is left");
        assert!(matches!(cot.extend(mesh, &mut q), Err(OtError::Ended)));
        return Err(error);
    }
    mesh.flush()?;
    Ok(vec![q])
}

fn receives(cot: &mut impl CotReceiver, mesh: &mut Mesh, count: usize) -> Result<Outputs, OtError> {
    let mut choices = vec![Block::ONES; packed_blocks(count)];
    let mut t = vec![Block::ONES; count];
    if let Err(error) = cot.extend(mesh, &mut choices, &mut t) {
        let again = cot.extend(mesh, &mut choices, &mut t);
        assert!(matches!(again, Err(OtError::Ended)));
        return Err(error);
    }
    mesh.flush()?;
    if let (Some(last), rest @ 1..) = (choices.last(), count % PACKED) {
        assert_eq!(last.value() >> rest, 0, "nothing but choices");
    }
    Ok(vec![choices, t])
}

/// An extension of base OTs: one call of so many OTs.
struct Extension {
    k: u8,
    security: Security,
    count: usize,
}

/// The form that `yao` uses; IKNP; and two pieces of an extension with large trees.
pub const CHECKED: [&dyn Case; 3] = [
    &extension(4, Security::Malicious, 200),
    &extension(1, Security::SemiHonest, 130),
    &extension(7, Security::Malicious, 4200),
];

const fn extension(k: u8, security: Security, count: usize) -> Extension {
    Extension { k, security, count }
}

impl Extension {
    fn parameters(&self) -> SoftSpoken {
        SoftSpoken::new(self.k, self.security)
    }
}

impl Case for Extension {
    fn run(&self, mesh: &mut Mesh) -> Result<Outputs, OtError> {
        let (parameters, coins) = (self.parameters(), &mut coins(mesh));
        if mesh.me() == SENDER {
            let setup = Sender::set_up(parameters, cpu(), mesh, RECEIVER, DELTA, coins)?;
            mesh.flush()?;
            return sends(&mut setup.finish(mesh)?, mesh, self.count);
        }
        let setup = Receiver::set_up(parameters, cpu(), mesh, SENDER, coins)?;
        mesh.flush()?;
        receives(&mut setup.finish(mesh)?, mesh, self.count)
    }

    fn flights(&self) -> Flights {
        let parameters = self.parameters();
        let mut flights = parameters.set_up();
        flights.extend(parameters.extend(0, self.count as u64));
        flights
    }

    fn checker(&self) -> Option<PartyId> {
        (self.security == Security::Malicious).then_some(SENDER)
    }

    fn points(&self) -> usize {
        1
    }

    fn check(&self, party: &Honest, changed: &Changed, outputs: &Outputs) {
        if party.me == RECEIVER {
            return;
        }
        let pairs = outputs[0].iter().zip(&party.outputs[0]);
        for (q, honest) in pairs {
            let difference = *q ^ *honest;
            match self.security {
                // Answers of the honest receiver fit its messages alone.
                Security::Malicious => assert_eq!(difference.value(), 0),
                // Rows of any choices, in each tree other ones.
                Security::SemiHonest if changed.message == 2 => {
                    assert_eq!(difference.value() & !DELTA.value(), 0);
                }
                Security::SemiHonest => {}
            }
        }
    }
}

/// Silent extension of ideal OTs, with tiny parameters.
struct Silent {
    security: Security,
    params: fn(Security) -> Params,
}

/// Regular errors; with the check, and errors at any places with it.
pub const SILENT: [&dyn Case; 3] = [
    &silent(Security::SemiHonest, Params::danger_tiny),
    &silent(Security::Malicious, Params::danger_tiny),
    &silent(Security::Malicious, Params::danger_tiny_uniform),
];

const fn silent(security: Security, params: fn(Security) -> Params) -> Silent {
    Silent { security, params }
}

impl Silent {
    const COUNT: usize = 200;
}

impl Case for Silent {
    fn run(&self, mesh: &mut Mesh) -> Result<Outputs, OtError> {
        let (params, coins) = ((self.params)(self.security), &mut coins(mesh));
        let (mut sender, mut receiver) = ideal::danger_pair([SENDER, RECEIVER], DELTA, 3);
        if mesh.me() == SENDER {
            let source = &mut sender;
            let mut cot = FerretSender::set_up(cpu(), mesh, RECEIVER, params, source, coins)?;
            return sends(&mut cot, mesh, Self::COUNT);
        }
        let source = &mut receiver;
        let mut cot = FerretReceiver::set_up(cpu(), mesh, SENDER, params, source, coins)?;
        receives(&mut cot, mesh, Self::COUNT)
    }

    fn flights(&self) -> Flights {
        let cost = FerretCost {
            source: ideal::Free,
            params: (self.params)(self.security),
        };
        let mut flights = cost.set_up();
        flights.extend(cost.extend(0, Self::COUNT as u64));
        flights
    }

    fn checker(&self) -> Option<PartyId> {
        (self.security == Security::Malicious).then_some(RECEIVER)
    }

    fn check(&self, party: &Honest, changed: &Changed, outputs: &Outputs) {
        // Another contribution to the keys gives another matrix.
        if changed.message == 0 {
            return;
        }
        // A sender's rows do not depend on the receiver's messages, nor choices on the sender's.
        assert!(same(&outputs[0], &party.outputs[0]));
        if self.security == Security::Malicious {
            assert!(equal(outputs, &party.outputs));
        }
    }
}
