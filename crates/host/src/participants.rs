//! Participants of a session: the inputs that each party gives, whether it computes and in which
//! role, the results that it learns. Owners of data and receivers of results need not compute, and
//! helpers do nothing else.

use sealane_engine::Job;
use sealane_parties::PartyId;
use std::collections::BTreeMap;

/// A party in the sessions of a job.
pub struct Participant<'a> {
    /// The party.
    pub name: &'a str,
    /// Names of the inputs that it gives.
    gives: Vec<&'a str>,
    /// Tells whether it computes.
    computes: bool,
    /// The role in which it does, where the protocol has roles.
    role: Option<&'static str>,
    /// Tells whether it learns a result.
    learns: bool,
}

/// All parties, in their order.
pub fn participants<'a>(job: &'a Job) -> Vec<Participant<'a>> {
    let (program, roles) = (job.program(), job.roles());
    let participant = |(index, name): (usize, &'a String)| {
        let role = roles.iter().find(|(_, party)| party.index() == index);
        let inputs = program.inputs.iter();
        let own = inputs.filter(|input| usize::from(input.owner) == index);
        let mut to = program.results.iter().flat_map(|result| &result.to);
        Participant {
            name,
            gives: own.map(|input| input.name.as_str()).collect(),
            computes: roles.is_empty() || role.is_some(),
            role: role.map(|(role, _)| *role),
            learns: to.any(|party| usize::from(*party) == index),
        }
    };
    job.parties().iter().enumerate().map(participant).collect()
}

impl Participant<'_> {
    /// The party with its role, if it computes: `lab`, or `lab as evaluator`.
    pub fn player(&self) -> Option<String> {
        let player = match self.role {
            Some(role) => format!("{} as {role}", self.name),
            None => self.name.to_string(),
        };
        self.computes.then_some(player)
    }

    /// Participant of a party that does not compute: `lab only gives`.
    pub fn bystander(&self) -> Option<String> {
        let does = match (self.gives.is_empty(), self.learns) {
            (false, true) => "only gives and learns",
            (false, false) => "only gives",
            (true, true) => "only learns",
            (true, false) => "does nothing",
        };
        (!self.computes).then(|| format!("{} {does}", self.name))
    }

    /// Participant of the party in a finished run, without its results.
    pub fn done(&self) -> String {
        let gave = (!self.gives.is_empty()).then(|| format!("gave {}", self.gives.join(", ")));
        let computed = self.computes.then(|| match self.role {
            Some(role) => format!("computed as {role}"),
            None => "computed".to_string(),
        });
        let done = gave.into_iter().chain(computed).collect::<Vec<_>>();
        match done.is_empty() {
            true => "neither gave an input nor computed".to_string(),
            false => done.join(" and "),
        }
    }
}

/// The names of those who compute, in the order of the parties.
pub fn computing(job: &Job) -> Vec<String> {
    let participants = participants(job)
        .into_iter()
        .filter(|participant| participant.computes);
    participants
        .map(|participant| participant.name.to_string())
        .collect()
}

/// The party of each role; empty where the protocol has no roles.
pub fn roles(job: &Job) -> BTreeMap<String, String> {
    let parties = job.parties();
    let pair = |(role, party): (&str, PartyId)| (role.to_string(), parties[party.index()].clone());
    job.roles().into_iter().map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealane_engine::{NetworkClass, ProtocolName};
    use sealane_program::text;

    /// One gives two inputs, another learns the result, and the third does neither.
    const PROGRAM: &str = "sealane program 1\nname p\nparty a\nparty b\nparty idle\n\
        input x : a u8 in 0..255\ninput y : a u8 in 0..255\n\
        main {\n  %0 = param 0 : u8 in 0..255 known a\n  %1 = param 1 : u8 in 0..255 known a\n  \
        %2 = xor %0, %1 : u8 in 0..255 known a\n}\nreveal r = %2 : u8 to b\n";

    fn job(program: &str, protocol: ProtocolName, helpers: &[&str]) -> Job {
        let program = text::parse(program, "p").unwrap_or_else(|error| panic!("{error}"));
        let helpers = helpers.iter().map(|name| name.to_string()).collect();
        Job::new(program, protocol, NetworkClass::Lan, helpers).unwrap()
    }

    #[test]
    fn without_roles_all_compute() {
        let job = job(PROGRAM, ProtocolName::Clear, &["ada"]);
        let participants = participants(&job);
        let done = participants
            .iter()
            .map(Participant::done)
            .collect::<Vec<_>>();
        assert_eq!(
            done,
            ["gave x, y and computed", "computed", "computed", "computed"]
        );
        assert_eq!(computing(&job), ["a", "b", "idle", "ada"]);
        assert_eq!(participants[3].player().as_deref(), Some("ada"));
        assert_eq!(
            (participants[3].bystander(), roles(&job)),
            (None, BTreeMap::new())
        );
    }

    #[test]
    fn roles_have_names() {
        let job = job(&PROGRAM.replace("party idle\n", ""), ProtocolName::Yao, &[]);
        let played = roles(&job);
        for participant in participants(&job) {
            let role = participant.role.expect("both play a role");
            assert_eq!(played[role], participant.name);
            assert_eq!(
                participant.player(),
                Some(format!("{} as {role}", participant.name))
            );
            assert!(participant.done().ends_with(&format!("computed as {role}")));
        }
    }

    #[test]
    fn who_does_not_compute_gives_or_learns() {
        let job = job(PROGRAM, ProtocolName::Clear, &[]);
        let participants = participants(&job)
            .into_iter()
            .map(|participant| Participant {
                computes: false,
                ..participant
            });
        let participants = participants.collect::<Vec<_>>();
        let said = participants.iter().filter_map(Participant::bystander);
        let said = said.collect::<Vec<_>>();
        assert_eq!(said, ["a only gives", "b only learns", "idle does nothing"]);
        assert!(
            participants
                .iter()
                .all(|participant| participant.player().is_none())
        );
        assert_eq!(participants[0].done(), "gave x, y");
        assert_eq!(participants[1].done(), "neither gave an input nor computed");
    }
}
