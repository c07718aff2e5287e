//! The ring of roles: three roles, numbered modulo 3.
//!
//! ```text
//! role i holds components i and i + 1      component i is held by roles i and i - 1
//! role i knows keys       k_i and k_(i+1)  role i sends what it makes to role i - 1
//! ```

use sealane_parties::PartyId;
use sealane_protocol::Setting;

/// The party of a role, modulo 3.
pub(crate) fn party(setting: &Setting, role: usize) -> PartyId {
    setting.player(role % 3)
}

/// The role of a party, if it has one.
pub(crate) fn role(setting: &Setting, party: PartyId) -> Option<usize> {
    setting.role_of(party)
}

/// Every two parties that may exchange payload, in both directions: all but two without a role.
pub(crate) fn links(setting: &Setting) -> impl Iterator<Item = (PartyId, PartyId)> {
    let pairs = setting.everyone();
    let pairs = pairs.flat_map(|from| setting.everyone().map(move |to| (from, to)));
    pairs.filter(|(from, to)| {
        from != to && (role(setting, *from).is_some() || role(setting, *to).is_some())
    })
}

/// A party with a role, and its neighbours.
#[derive(Clone, Copy)]
pub(crate) struct RoleIndex {
    pub(crate) role: usize,
    /// The party of role `i - 1`: holds component `i` besides this one.
    pub(crate) previous: PartyId,
    /// The party of role `i + 1`: holds component `i + 1` besides this one.
    pub(crate) next: PartyId,
}

impl RoleIndex {
    /// The role index of a party, if it has a role.
    pub(crate) fn of(setting: &Setting, me: PartyId) -> Option<RoleIndex> {
        role(setting, me).map(|role| RoleIndex {
            role,
            previous: party(setting, role + 2),
            next: party(setting, role + 1),
        })
    }

    /// Returns the position of `component`, modulo 3, among this party's two; none if it is the one
    /// that it lacks.
    pub(crate) fn place_of(self, component: usize) -> Option<usize> {
        let place = (component + 3 - self.role) % 3;
        (place < 2).then_some(place)
    }
}
