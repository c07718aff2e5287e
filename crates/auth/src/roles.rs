//! Roles of those who compute: one evaluator and one or more garblers.

use sealane_garble::authenticated::Seat;
use sealane_parties::PartyId;
use sealane_protocol::Setting;

/// The parties of a run by their roles.
#[derive(Clone)]
pub struct Roles {
    /// The first garbler, the evaluator, and all other garblers: the order in which challenges
    /// number them.
    parties: Vec<PartyId>,
}

impl Roles {
    /// The roles of a run of which role 0 garbles and role 1 evaluates.
    pub(crate) fn of(setting: &Setting) -> Roles {
        let [first, others @ ..] = &setting.roles[0][..] else {
            unreachable!("a plan gives every role to some party");
        };
        let mut parties = vec![*first, setting.player(1)];
        parties.extend(others);
        Roles { parties }
    }

    /// The party that evaluates.
    pub(crate) fn evaluator(&self) -> PartyId {
        self.parties[1]
    }

    /// The first of those that garble. Public bits are added to its shares.
    pub(crate) fn first(&self) -> PartyId {
        self.parties[0]
    }

    /// Those that garble, in order.
    pub(crate) fn garblers(&self) -> impl Iterator<Item = PartyId> {
        let evaluator = self.evaluator();
        let all = self.parties.iter().copied();
        all.filter(move |party| *party != evaluator)
    }

    /// All parties, in the order of their numbers.
    pub(crate) fn everyone(&self) -> &[PartyId] {
        &self.parties
    }

    /// The number of a party.
    pub(crate) fn number(&self, of: PartyId) -> usize {
        let found = self.parties.iter().position(|party| *party == of);
        found.expect("each party has a role")
    }

    /// All others of a party, in the order in which it holds MACs and keys for them: garblers in
    /// their order, and at a garbler the evaluator before all others.
    pub(crate) fn peers(&self, me: PartyId) -> Vec<PartyId> {
        let evaluator = [self.evaluator()];
        let all = evaluator.into_iter().chain(self.garblers());
        all.filter(|party| *party != me).collect()
    }

    /// The labels that a party holds of a wire: those of all garblers, or its own.
    pub(crate) fn labels(&self, of: PartyId) -> usize {
        if of == self.evaluator() {
            self.parties.len() - 1
        } else {
            1
        }
    }

    /// The place of a garbler among all.
    pub(crate) fn seat(&self, of: PartyId) -> Seat {
        let number = self.garblers().position(|garbler| garbler == of);
        Seat {
            number: number.expect("a garbler"),
            garblers: self.parties.len() - 1,
        }
    }

    /// True if there are more than two, which have to compare what each broadcasts.
    pub(crate) fn are_many(&self) -> bool {
        self.parties.len() > 2
    }

    /// All messages of as many bytes as `bytes` says for each two parties.
    pub(crate) fn flight(
        &self,
        bytes: impl Fn(PartyId, PartyId) -> u64,
    ) -> sealane_protocol::Flight {
        let all = self.parties.iter();
        let links = all.flat_map(|from| self.parties.iter().map(move |to| (*from, *to)));
        let links = links.filter(|(from, to)| from != to);
        links
            .map(|(from, to)| sealane_protocol::Message::new(from, to, bytes(from, to)))
            .collect()
    }
}
