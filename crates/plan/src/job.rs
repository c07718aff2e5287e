//! What parties approve before anything runs: a hash of the job, and which part of two jobs
//! differs. Row counts are symbolic here; machines compare them in the handshake.

use crate::steps::Plan;
use sealane_net::NetworkClass;
use sealane_program::graph::Program;
use sealane_protocol::Protocol;
use serde::{Deserialize, Serialize};

/// The hash of each part of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobParts {
    /// Of the program's text.
    pub program: [u8; 32],
    /// Of the protocol's name and version, all parties in their order, and their roles.
    pub protocol: [u8; 32],
    /// Of the declared network class.
    pub network: [u8; 32],
    /// Of the plan's text.
    pub plan: [u8; 32],
}

impl JobParts {
    /// The parts of the job that runs `plan`, made from `program` for protocol `P`. `parties` are
    /// the names of all, those of the program and then the helpers.
    pub fn new<P: Protocol>(
        program: &Program,
        parties: &[String],
        plan: &Plan,
        network: NetworkClass,
    ) -> JobParts {
        let profile = P::profile();
        let roles = plan
            .setting
            .roles
            .iter()
            .map(|party| party.0)
            .collect::<Vec<_>>();
        // Debug forms quote names and delimit lists, so that no two settings read alike.
        let protocol = format!(
            "{:?} {} parties {parties:?} roles {roles:?}",
            profile.name, profile.version
        );
        JobParts {
            program: program.hash(),
            protocol: hash(protocol.as_bytes()),
            network: hash(format!("{network:?}").as_bytes()),
            plan: plan.hash(),
        }
    }

    /// The hash of the job.
    pub fn hash(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key("sealane job 1");
        for part in [self.program, self.protocol, self.network, self.plan] {
            hasher.update(&part);
        }
        *hasher.finalize().as_bytes()
    }

    /// The names of the parts that differ, for people: causes before what follows from them. Roles,
    /// which are of the protocol's part, are chosen by network class.
    pub fn differences(&self, other: &JobParts) -> Vec<&'static str> {
        let parts = [
            ("program", self.program == other.program),
            ("network class", self.network == other.network),
            ("protocol", self.protocol == other.protocol),
            ("plan", self.plan == other.plan),
        ];
        parts
            .into_iter()
            .filter(|(_, same)| !same)
            .map(|(name, _)| name)
            .collect()
    }
}

fn hash(bytes: &[u8]) -> [u8; 32] {
    *blake3::hash(bytes).as_bytes()
}
