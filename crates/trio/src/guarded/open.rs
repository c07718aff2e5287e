//! Reveals: each component of a result comes from one of its two holders, and a digest of it from
//! the other one, in the same flight.
//!
//! A party with a role lacks one component. The role before it sends that, and the next one the
//! digest. A digest tells nothing to whom has the component.
//!
//! A party without a role gets all three: 0 and 1 from role 0, 2 from role 1, their digests from
//! roles 2 (of 0 and 2) and 1 (of 1). So that they tell the result and no more, they have *masks*
//! that sum to zero, from a seed that all roles know. Without them, results that are sums of
//! inputs would show more: of `a + c` and `b + c`, where roles 0, 1 and 2 gave `a`, `b` and `c`,
//! components 0 and 2 of both tell `c`.

use super::crossed::check_same;
use super::settle::Settled;
use crate::Share;
use crate::arrive::{recv, send, write};
use crate::reveal::Revealed;
use crate::role_index;
use crate::roles::Computing;
use blake3::Hasher;
use sealane_net::Mesh;
use sealane_parties::PartyId;
use sealane_party::{Fault, Form, Opened, Planes, Result, Shares};
use sealane_protocol::Setting;
use zeroize::Zeroizing;

/// Bytes of a digest.
pub(super) const DIGEST_BYTES: u64 = 32;

/// A component that a receiver gets.
#[derive(Clone, Copy)]
pub(super) struct Given {
    pub(super) component: usize,
    /// The role that sends it.
    pub(super) giver: usize,
    /// The role that sends its digest.
    pub(super) confirms: usize,
}

/// The components that a party of this role gets, or one without a role.
pub(super) fn given(receiver: Option<usize>) -> Vec<Given> {
    let of = |(component, giver, confirms)| Given {
        component,
        giver,
        confirms,
    };
    match receiver {
        Some(role) => {
            let before = (role + 2) % 3;
            vec![of((before, before, (role + 1) % 3))]
        }
        None => [(0, 0, 2), (1, 0, 1), (2, 1, 2)].map(of).to_vec(),
    }
}

/// The opening of this number, at one party.
pub(super) struct Opening<'a> {
    pub(super) setting: &'a Setting,
    pub(super) me: PartyId,
    pub(super) number: u64,
}

impl Opening<'_> {
    /// Sends components and digests of the results that others learn.
    pub(super) fn give(
        &self,
        _: &Settled,
        party: &mut Computing,
        results: &[Opened<Share>],
        mesh: &mut Mesh,
    ) -> Result<()> {
        let role = party.role_index.role;
        for to in self.setting.others(self.me) {
            let given = given(role_index::role(self.setting, to));
            let mut digests = given.iter().map(|_| self.hasher(mesh)).collect::<Vec<_>>();
            let learnt = results.iter().filter(|result| result.to.contains(to));
            let mut any = false;
            for Opened { share, domain, .. } in learnt {
                any = true;
                let form = Form::of(*domain, share.planes(), share.elements())?;
                let masks = match role_index::role(self.setting, to) {
                    Some(_) => None,
                    None => Some(masks(form, party)?),
                };
                let parts = form.parts(share)?;
                for (of, digest) in given.iter().zip(&mut digests) {
                    let Some(place) = party.role_index.place_of(of.component) else {
                        continue;
                    };
                    let part = parts.iter().map(|parts| parts[place]);
                    let mask = masks.iter().map(|masks| masks[of.component].data());
                    let sum = form.sum(part.chain(mask));
                    if of.giver == role {
                        send(None, form, sum.data(), to, mesh)?;
                    } else {
                        update(digest, form, &sum);
                    }
                }
            }
            let confirmed = given.iter().zip(&digests);
            for (_, digest) in confirmed.filter(|(of, _)| any && of.confirms == role) {
                write(None, digest.finalize().as_bytes(), to, mesh)?;
            }
        }
        Ok(())
    }

    /// Reconstructs the results that this party learns, if both holders of each component say the
    /// same.
    ///
    /// # Errors
    /// [`Fault::Disputed`] if they do not.
    pub(super) fn learn(&self, results: &[Opened<Share>], mesh: &mut Mesh) -> Result<Revealed> {
        let given = given(role_index::role(self.setting, self.me));
        let mut digests = given.iter().map(|_| self.hasher(mesh)).collect::<Vec<_>>();
        let mut sums = Vec::new();
        for Opened { share, domain, to } in results {
            if !to.contains(self.me) {
                sums.push(None);
                continue;
            }
            let form = Form::of(*domain, share.planes(), share.elements())?;
            let mut sum = form.sum(form.parts(share)?.into_iter().flatten());
            for (of, digest) in given.iter().zip(&mut digests) {
                let from = role_index::party(self.setting, of.giver);
                let part = recv(None, form, from, mesh)?;
                update(digest, form, &part);
                form.group.add(sum.data_mut(), part.data());
            }
            form.trim(sum.data_mut());
            sums.push(Some((form, sum)));
        }
        let any = sums.iter().any(Option::is_some);
        for (of, digest) in given.iter().zip(&digests).filter(|_| any) {
            let confirms = role_index::party(self.setting, of.confirms);
            let mut theirs = [0; DIGEST_BYTES as usize];
            mesh.recv(confirms, &mut theirs)?;
            let (ours, check) = (digest.finalize(), "the confirmation of a result");
            let holders = [role_index::party(self.setting, of.giver), confirms];
            check_same(ours.as_bytes(), &theirs, holders, check)?;
        }
        let decode = |(form, sum): (Form, Planes<u64>)| form.decode(sum.data());
        let decoded = sums.into_iter().map(|sum| sum.map(decode).transpose());
        decoded.collect()
    }

    fn hasher(&self, mesh: &Mesh) -> Zeroizing<Hasher> {
        let mut hasher = Zeroizing::new(Hasher::new_derive_key("sealane 1 trio reveal"));
        hasher.update(mesh.session().as_bytes());
        hasher.update(&self.number.to_le_bytes());
        hasher
    }
}

/// The next masks of the three components of a result, which sum to zero.
fn masks(form: Form, party: &mut Computing) -> Result<[Planes<u64>; 3]> {
    let guard = party.keys.guard.as_mut();
    let guard = guard.ok_or_else(|| Fault::internal("no key of reveals"))?;
    let [first, second] = [0, 1].map(|_| guard.reveals.component(form));
    let mut third = form.zeros();
    for mask in [&first, &second] {
        form.group.subtract(third.data_mut(), mask.data());
    }
    form.trim(third.data_mut());
    Ok([first, second, third])
}

fn update(digest: &mut Hasher, form: Form, part: &Planes<u64>) {
    form.pack(part.data(), |bytes| {
        digest.update(bytes);
    });
}
