//! Reveals: digests first, then each party receives its missing component.
//!
//! A party with a role lacks one component, and its predecessor, who holds it first, sends it. That
//! component is the result less two that the receiver holds, so it tells the result and no more.
//!
//! A party without a role gets two elements of each result: the sum of components 0 and 1 from role
//! 0, and component 2 from role 1. The first is the result less the second, so it sees the results
//! and their components 2, all of which together tell nothing about the inputs of others. Component
//! 2 of an input is zero, or a fresh pseudorandom word, or a value less such words, which this
//! party does not know (or the input is its own). Component 2 of a product, AND or not, has a fresh
//! share of zero in it, of which this party knows no key. The share of a value opened under
//! masks is a mask, or has two in it, from keys of roles. Component 2 of a shuffle has a mask drawn
//! from a key of two roles, and so has a part of opened places. Each other component 2 is a public
//! function of these alone: linear steps, and in conversions the bits of a word or the word of
//! bits. So jointly they are one fixed map of words that are, to this party, its own, or uniform,
//! independent of each other and of the secrets.

use crate::Share;
use crate::arrive::{recv, send};
use crate::role_index;
use sealane_net::Mesh;
use sealane_parties::PartyId;
use sealane_party::{Form, Opened, Result, Shares, Words};
use sealane_protocol::Setting;

/// The values of each result that this party learns.
pub(crate) type Revealed = Vec<Option<Words>>;

/// The parties with which this one may have exchanged payload.
pub(crate) fn peers(setting: &Setting, me: PartyId) -> Vec<PartyId> {
    let links = role_index::links(setting).filter(|(from, _)| *from == me);
    links.map(|(_, to)| to).collect()
}

/// Returns the roles that send to a party of this role, or to one without, each with the components
/// that it sends.
pub(crate) fn givers(receiver: Option<usize>) -> Vec<(usize, &'static [usize])> {
    match receiver {
        Some(role) => vec![((role + 2) % 3, &[0])],
        None => vec![(0, &[0, 1]), (1, &[1])],
    }
}

/// Sends the components that others lack of the results that they learn.
pub(crate) fn open(
    setting: &Setting,
    me: PartyId,
    results: &[Opened<Share>],
    mesh: &mut Mesh,
) -> Result<()> {
    let role = role_index::role(setting, me);
    for Opened { share, domain, to } in results {
        let form = Form::of(*domain, share.planes(), share.elements())?;
        let parts = form.parts(share)?;
        for to in to.iter() {
            let givers = givers(role_index::role(setting, to)).into_iter();
            for (_, places) in givers.filter(|(giver, _)| Some(*giver) == role) {
                let given = parts.map(|parts| places.iter().map(move |place| parts[*place]));
                let sum = form.sum(given.into_iter().flatten());
                send(None, form, sum.data(), to, mesh)?;
            }
        }
    }
    Ok(())
}

/// Reconstructs the results that this party learns.
pub(crate) fn learn(
    setting: &Setting,
    me: PartyId,
    results: &[Opened<Share>],
    mesh: &mut Mesh,
) -> Result<Revealed> {
    let mut revealed = Vec::new();
    for Opened { share, domain, to } in results {
        if !to.contains(me) {
            revealed.push(None);
            continue;
        }
        let form = Form::of(*domain, share.planes(), share.elements())?;
        let mut sum = form.sum(form.parts(share)?.into_iter().flatten());
        for (giver, _) in givers(role_index::role(setting, me)) {
            let part = recv(None, form, role_index::party(setting, giver), mesh)?;
            form.group.add(sum.data_mut(), part.data());
        }
        form.trim(sum.data_mut());
        revealed.push(Some(form.decode(sum.data())?));
    }
    Ok(revealed)
}
