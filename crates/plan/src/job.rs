//! The job that parties approve before anything runs: its text, the hash of each part of it, and
//! the parts in which two jobs differ. Row counts are symbolic here; machines compare them in the
//! handshake.

use crate::steps::Plan;
use sealane_circuit::Tape;
use sealane_parties::{NetworkClass, PartyId};
use sealane_program::graph::Program;
use sealane_protocol::{Profile, Protocol, Setting};
use serde::{Deserialize, Serialize};
use std::io::{self, Write};

/// A job in the parts of which its hash is made.
pub struct JobText<'a> {
    /// The program: its canonical text.
    pub program: &'a Program,
    /// The protocol, as these parties run it: its whole profile, so that nobody runs it with other
    /// assumptions or security parameters than others have approved.
    pub profile: Profile,
    /// The names of all parties, those of the program and then the helpers.
    pub parties: &'a [String],
    /// The declared network class.
    pub network: NetworkClass,
    /// The plan of the work of all.
    pub plan: &'a Plan,
    /// The plans of the work that single parties do in the clear before.
    pub alone: Vec<(PartyId, &'a Plan)>,
}

/// The protocol's part.
#[derive(Serialize)]
struct Run<'a> {
    profile: &'a Profile,
    parties: &'a [String],
    setting: &'a Setting,
}

/// A part of a job: one preimage of a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobPart {
    /// The program.
    Program,
    /// The network class.
    Network,
    /// Protocol, parties, roles.
    Protocol,
    /// The plan of the work of all.
    Plan,
    /// The plans of the work of single parties.
    Alone,
}

impl JobPart {
    /// All of them: causes before their consequences. Roles, which belong to the protocol's part,
    /// are chosen by network class.
    pub const ALL: [JobPart; 5] = [
        JobPart::Program,
        JobPart::Network,
        JobPart::Protocol,
        JobPart::Plan,
        JobPart::Alone,
    ];

    /// Name of the file of its text, where a job is exported.
    pub fn file(self) -> &'static str {
        match self {
            JobPart::Program => "program.sealane",
            JobPart::Network => "network.json",
            JobPart::Protocol => "protocol.json",
            JobPart::Plan => "plan.jsonl",
            JobPart::Alone => "alone.jsonl",
        }
    }

    /// Its name for people.
    pub fn name(self) -> &'static str {
        match self {
            JobPart::Program => "program",
            JobPart::Network => "network class",
            JobPart::Protocol => "protocol",
            JobPart::Plan => "plan",
            JobPart::Alone => "work of single parties",
        }
    }
}

impl<'a> JobText<'a> {
    /// The job that runs `plan` after the plans of single parties, made from `program` for protocol
    /// `P`.
    pub fn new<P: Protocol>(
        program: &'a Program,
        parties: &'a [String],
        network: NetworkClass,
        plan: &'a Plan,
        alone: Vec<(PartyId, &'a Plan)>,
    ) -> JobText<'a> {
        JobText {
            program,
            profile: P::profile(),
            parties,
            network,
            plan,
            alone,
        }
    }

    /// Writes a part.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, part: JobPart, out: &mut dyn Write) -> io::Result<()> {
        #[derive(Serialize)]
        struct Alone {
            party: PartyId,
        }
        match part {
            JobPart::Program => {
                return out.write_all(sealane_program::text::print(self.program).as_bytes());
            }
            JobPart::Network => serde_json::to_writer(&mut *out, &self.network)?,
            JobPart::Protocol => {
                let run = Run {
                    profile: &self.profile,
                    parties: self.parties,
                    setting: &self.plan.setting,
                };
                serde_json::to_writer(&mut *out, &run)?;
            }
            JobPart::Plan => return self.plan.write_text(out),
            JobPart::Alone => {
                return self.alone.iter().try_for_each(|(party, plan)| {
                    serde_json::to_writer(&mut *out, &Alone { party: *party })?;
                    out.write_all(b"\n")?;
                    plan.write_text(out)
                });
            }
        }
        out.write_all(b"\n")
    }

    /// The tapes of all plans, each once or more.
    pub fn tapes(&self) -> impl Iterator<Item = &Tape> {
        let alone = self.alone.iter().map(|(_, plan)| *plan);
        let plans = std::iter::once(self.plan).chain(alone);
        plans
            .flat_map(|plan| std::iter::once(plan).chain(&plan.others))
            .flat_map(|plan| plan.tapes.iter().map(AsRef::as_ref))
    }

    /// Computes the hash of each part.
    pub fn parts(&self) -> JobParts {
        JobParts(JobPart::ALL.map(|part| {
            let mut hasher = blake3::Hasher::new();
            let written = self.write(part, &mut hasher);
            debug_assert!(written.is_ok(), "a hash takes every byte");
            *hasher.finalize().as_bytes()
        }))
    }
}

/// The hash of each part of a job: BLAKE3 of what [`JobText::write`] writes, in the order of
/// [`JobPart::ALL`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobParts([[u8; 32]; 5]);

impl JobParts {
    /// Returns the hash of a part.
    pub fn part(&self, part: JobPart) -> &[u8; 32] {
        &self.0[part as usize]
    }

    /// Computes the hash of the job.
    pub fn hash(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key("sealane job 2");
        for part in &self.0 {
            hasher.update(part);
        }
        *hasher.finalize().as_bytes()
    }

    /// Returns the parts that differ.
    pub fn differences(&self, other: &JobParts) -> Vec<JobPart> {
        let differs = |part: &JobPart| self.part(*part) != other.part(*part);
        JobPart::ALL.into_iter().filter(differs).collect()
    }
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
            references: _,
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
            with(&|p| p.references = ONE),
            with(&|p| p.references = OTHER),
            with(&|p| p.security.computational = security.computational + 1),
            with(&|p| p.security.statistical = security.statistical + 1),
        ];
        let setting = Setting {
            parties: 2,
            roles: vec![vec![PartyId(0)], vec![PartyId(1)]],
            security,
            timing: Honest::profile().timing(),
            network: NetworkClass::LAN,
            pooled: false,
            silent: false,
            batch: None,
        };
        let parties = ["a", "b"].map(String::from);
        let texts = profiles.iter().map(|profile| {
            let run = Run {
                profile,
                parties: &parties,
                setting: &setting,
            };
            serde_json::to_string(&run).unwrap()
        });
        assert_eq!(texts.collect::<HashSet<_>>().len(), profiles.len());
    }
}
