//! Components in transit, and the resharing that every product ends with.
//!
//! Components of inputs and of results cross as any message does. All others are *bulk* of this
//! protocol, which is semi-honest, and so have the cheaper digest against accidents.

use crate::roles::Computing;
use sealane_block::Cpu;
use sealane_net::{Mesh, NetError};
use sealane_parties::PartyId;
use sealane_party::{Fault, Form, Group, Planes, Result};

/// A shared tensor of which one component may still be in transit to this party.
pub(crate) struct Arriving {
    pub(crate) form: Form,
    parts: [Planes<u64>; 2],
    /// Index and sender of the missing component.
    missing: Option<(usize, PartyId)>,
    /// The tier that digests it, if it is bulk.
    bulk: Option<Cpu>,
}

impl Arriving {
    /// Builds a tensor from its components; the missing one comes from `sender`.
    ///
    /// # Errors
    /// [`Fault::Internal`] if both are missing.
    pub(crate) fn of(
        bulk: Option<Cpu>,
        form: Form,
        parts: [Option<Planes<u64>>; 2],
        sender: PartyId,
    ) -> Result<Arriving> {
        let missing = parts.iter().position(Option::is_none);
        if parts.iter().all(Option::is_none) {
            return Err(Fault::Internal("a component has no key".to_string()));
        }
        Ok(Arriving {
            form,
            parts: parts.map(|part| part.unwrap_or_else(|| Planes::new(0, 0, vec![]))),
            missing: missing.map(|place| (place, sender)),
            bulk,
        })
    }

    /// Receives the missing component, after the flight.
    pub(crate) fn finish(mut self, mesh: &mut Mesh) -> Result<[Planes<u64>; 2]> {
        if let Some((place, sender)) = self.missing {
            self.parts[place] = recv(self.bulk, self.form, sender, mesh)?;
        }
        Ok(self.parts)
    }
}

impl Computing {
    /// Turns this party's summand of a tensor into a component that two parties hold (Araki et al.,
    /// CCS 2016): adds a share of zero, sends the sum to the one other party that holds
    /// this component, and awaits the next component from its maker.
    ///
    /// The receiver knows one of the two keys of this share of zero; the other key makes the
    /// received words look random to it.
    pub(crate) fn reshare(
        &mut self,
        form: Form,
        mut summand: Planes<u64>,
        mesh: &mut Mesh,
    ) -> Result<Arriving> {
        self.keys.add_zero(form, summand.data_mut());
        self.hand_over(form, summand, mesh)
    }

    /// Sends a summand that has its share of zero, and awaits the next component.
    pub(crate) fn hand_over(
        &mut self,
        form: Form,
        summand: Planes<u64>,
        mesh: &mut Mesh,
    ) -> Result<Arriving> {
        let bulk = Some(self.cpu);
        send(bulk, form, summand.data(), self.role_index.previous, mesh)?;
        Arriving::of(bulk, form, [Some(summand), None], self.role_index.next)
    }
}

/// Sends a component, as bulk if a tier is named.
pub(crate) fn send(
    bulk: Option<Cpu>,
    form: Form,
    component: &[u64],
    to: PartyId,
    mesh: &mut Mesh,
) -> Result<()> {
    Ok(form.pack(component, |bytes| write(bulk, bytes, to, mesh))?)
}

/// Writes a message, as bulk if a tier is named. A test may change a bit of it, as a party that
/// deviates would.
pub(crate) fn write(
    bulk: Option<Cpu>,
    bytes: &[u8],
    to: PartyId,
    mesh: &mut Mesh,
) -> Result<(), NetError> {
    #[cfg(test)]
    let bytes = &crate::guarded::tests::harmed(bytes)[..];
    match bulk {
        Some(cpu) => mesh.send_bulk(cpu, to, bytes),
        None => mesh.send(to, bytes),
    }
}

/// Reads a component that was sent so.
///
/// # Errors
/// [`Fault::Peer`] if bits after the last one are not zero, or an integer is not below its prime.
pub(crate) fn recv(
    bulk: Option<Cpu>,
    form: Form,
    from: PartyId,
    mesh: &mut Mesh,
) -> Result<Planes<u64>> {
    let component = form.unpack(|bytes| fill(bulk, from, bytes, mesh))?;
    component.ok_or_else(|| no_component(form, from))
}

/// As [`recv`], into the words of the component.
///
/// # Errors
/// Those of [`recv`].
pub(crate) fn recv_to(
    bulk: Option<Cpu>,
    form: Form,
    from: PartyId,
    into: &mut [u64],
    mesh: &mut Mesh,
) -> Result<()> {
    if form.unpack_to(into, |bytes| fill(bulk, from, bytes, mesh))? {
        Ok(())
    } else {
        Err(no_component(form, from))
    }
}

/// Reads as many bytes as there is room for: this party computes their number.
fn fill(
    bulk: Option<Cpu>,
    from: PartyId,
    bytes: &mut [u8],
    mesh: &mut Mesh,
) -> Result<(), NetError> {
    match bulk {
        Some(cpu) => mesh.recv_bulk(cpu, from, bytes),
        None => mesh.recv(from, bytes),
    }
}

fn no_component(form: Form, party: PartyId) -> Fault {
    let what = match form.group {
        Group::Prime => {
            "a message has an integer that is not below 2^61 - 1, or bits after its end"
        }
        Group::Xor | Group::Sum => "bits after the end of a message are not zero",
    };
    let what = what.to_string();
    Fault::Peer { party, what }
}
