//! The job that parties approve before anything runs: its hash, and the parts in which two jobs
//! differ. Row counts are symbolic here; machines compare them in the handshake.

use crate::steps::Plan;
use sealane_parties::NetworkClass;
use sealane_program::graph::Program;
use sealane_protocol::{Profile, Protocol, Setting};
use serde::{Deserialize, Serialize};

/// The hash of each part of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobParts {
    /// Hash of the program's text.
    pub program: [u8; 32],
    /// Hash of the protocol's whole profile, all parties in their order, and their roles.
    pub protocol: [u8; 32],
    /// Hash of the declared network class.
    pub network: [u8; 32],
    /// Hash of the plan's text.
    pub plan: [u8; 32],
}

impl JobParts {
    /// Makes the parts of the job that runs `plan`, made from `program` for protocol `P`. `parties`
    /// are the names of all, those of the program and then the helpers.
    pub fn new<P: Protocol>(
        program: &Program,
        parties: &[String],
        plan: &Plan,
        network: NetworkClass,
    ) -> JobParts {
        JobParts {
            program: program.hash(),
            protocol: protocol(&P::profile(), parties, &plan.setting),
            network: hash(format!("{network:?}").as_bytes()),
            plan: plan.hash(),
        }
    }

    /// Computes the hash of the job.
    pub fn hash(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key("sealane job 1");
        for part in [self.program, self.protocol, self.network, self.plan] {
            hasher.update(&part);
        }
        *hasher.finalize().as_bytes()
    }

    /// Names of the parts that differ, for people: causes before their consequences. Roles, which
    /// belong to the protocol's part, are chosen by network class.
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

/// Computes the hash of a protocol, as these parties run it: of its whole profile, so that nobody
/// runs it with other assumptions or security parameters than others have approved.
fn protocol(profile: &Profile, parties: &[String], setting: &Setting) -> [u8; 32] {
    // Debug forms name every field, quote texts and delimit lists, so that no two are alike.
    let text = format!("{profile:?} parties {parties:?} in {setting:?}");
    hash(text.as_bytes())
}

fn hash(bytes: &[u8]) -> [u8; 32] {
    *blake3::hash(bytes).as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealane_parties::PartyId;
    use sealane_protocol::{Corruption, Paper, Role, Security, Threshold};
    use sealane_testkit::fake::Honest;
    use std::collections::HashSet;

    const ONE_ROLE: &[Role] = &[Role::one("other")];
    const ANY_ROLE: &[Role] = &[Role::any("other")];
    const ONE: &[Paper] = &[paper(Security::Statistical(40))];
    const OTHER: &[Paper] = &[paper(Security::Statistical(64))];

    const fn paper(security: Security) -> Paper {
        Paper {
            part: "sums",
            authors: "",
            venue: "",
            section: "",
            assumption: "",
            security,
        }
    }

    /// Checks one field after the other; a new one has to be named here.
    #[test]
    fn every_word_of_a_profile_is_part_of_the_job() {
        let Profile {
            name: _,
            version,
            roles: _,
            outsiders,
            arithmetic,
            settles,
            offline,
            pools,
            silent,
            corruption: _,
            assumption: _,
            papers: _,
            security,
        } = Honest::profile();
        let with = |change: &dyn Fn(&mut Profile)| {
            let mut profile = Honest::profile();
            change(&mut profile);
            profile
        };
        let profiles = [
            with(&|_| ()),
            with(&|p| p.name = "other"),
            with(&|p| p.version = version + 1),
            with(&|p| p.roles = ONE_ROLE),
            with(&|p| p.roles = ANY_ROLE),
            with(&|p| p.outsiders = !outsiders),
            with(&|p| p.arithmetic = !arithmetic),
            with(&|p| p.settles = !settles),
            with(&|p| p.offline = !offline),
            with(&|p| p.pools = !pools),
            with(&|p| p.silent = !silent),
            with(&|p| p.corruption = Corruption::Malicious(Threshold::Exactly(7))),
            with(&|p| p.corruption = Corruption::Malicious(Threshold::Minority)),
            with(&|p| p.assumption = "other"),
            with(&|p| p.papers = ONE),
            with(&|p| p.papers = OTHER),
            with(&|p| p.security.computational = security.computational + 1),
            with(&|p| p.security.statistical = security.statistical + 1),
        ];
        let setting = Setting {
            parties: 2,
            roles: vec![vec![PartyId(0)], vec![PartyId(1)]],
            security,
            timing: Honest::profile().timing(),
            network: NetworkClass::Lan,
            pooled: false,
            silent: false,
        };
        let parties = ["a", "b"].map(String::from);
        let hashes = profiles
            .iter()
            .map(|profile| protocol(profile, &parties, &setting));
        assert_eq!(hashes.collect::<HashSet<_>>().len(), profiles.len());
    }
}
