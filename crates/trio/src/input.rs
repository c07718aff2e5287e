//! Inputs: a party with a role sends one element in all, any other party two.
//!
//! *By role `i`.* Component `i + 2` is zero, component `i + 1` is `F(k_(i+1))`, which role `i + 1`
//! draws for itself, and component `i` is the rest, sent to role `i - 1`. Role `i + 1` sees
//! pseudorandom words that do not depend on the value. Role `i - 1` sees the value less
//! `F(k_(i+1))`; it does not know `k_(i+1)`, so this looks random to it.
//!
//! *By a party without a role.* Components 0 and 1 come from its keys and are drawn by their
//! holders; component 2 is the rest, sent to roles 1 and 2. Each of them knows one of the two keys,
//! role 0 knows both but does not see the rest.

use crate::arrive::{Arriving, send};
use crate::keys::Key;
use crate::role_index;
use crate::roles::Computing;
use sealane_block::Cpu;
use sealane_net::Mesh;
use sealane_parties::PartyId;
use sealane_party::{Fault, Form, Planes, Result};
use sealane_protocol::Setting;

impl Computing {
    /// The input of the party of role `owner`, who gives the values; or in the middle of a run, a
    /// value that this role knows, whose shares are bulk.
    pub(crate) fn input_of_role(
        &mut self,
        owner: usize,
        bulk: Option<Cpu>,
        form: Form,
        values: Option<Planes<u64>>,
        mesh: &mut Mesh,
    ) -> Result<Arriving> {
        let (role_index, keys) = (self.role_index, &mut self.keys);
        let parts = match (role_index.role + 3 - owner) % 3 {
            0 => {
                let mut rest = values.ok_or_else(no_values)?;
                let random = keys.next.input(form);
                form.group.subtract(rest.data_mut(), random.data());
                form.trim(rest.data_mut());
                send(bulk, form, rest.data(), role_index.previous, mesh)?;
                [Some(rest), Some(random)]
            }
            1 => [Some(keys.own.input(form)), Some(form.zeros())],
            _ => [Some(form.zeros()), None],
        };
        Arriving::of(bulk, form, parts, role_index.next)
    }

    /// The input of a party without a role.
    pub(crate) fn input_of_guest(&mut self, guest: PartyId, form: Form) -> Result<Arriving> {
        let keys = self.keys.guests.get_mut(&guest);
        let keys = keys.ok_or_else(|| Fault::Internal(format!("no keys with {guest}")))?;
        let parts = keys.each_mut().map(|key| Some(key.as_mut()?.input(form)));
        Arriving::of(None, form, parts, guest)
    }
}

/// The owner's part of an input of a party without a role.
pub(crate) fn give(
    setting: &Setting,
    keys: &mut [Key; 2],
    form: Form,
    values: Option<Planes<u64>>,
    mesh: &mut Mesh,
) -> Result<()> {
    let mut rest = values.ok_or_else(no_values)?;
    for key in keys {
        let random = key.input(form);
        form.group.subtract(rest.data_mut(), random.data());
    }
    form.trim(rest.data_mut());
    for holder in [1, 2] {
        let to = role_index::party(setting, holder);
        send(None, form, rest.data(), to, mesh)?;
    }
    Ok(())
}

fn no_values() -> Fault {
    Fault::Internal("an input without values at its owner".to_string())
}
