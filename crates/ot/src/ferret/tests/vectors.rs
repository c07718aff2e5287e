//! Vectors of the wire: the proof of an iteration.

use crate::ferret::check::Binding;
use sealane_block::{Cpu, Nonce};
use sealane_net::Mesh;
use sealane_parties::PartyId;
use sealane_testkit::vectors::{Value, array, block, json, number, session, stated};

/// The proof of a sender's sum.
pub fn proof(of: &Value) -> Value {
    let mut mesh = Mesh::in_memory(2).remove(0);
    mesh.set_session(session(&of["session"]));
    let binding = Binding {
        cpu: Cpu::best(),
        instance: Nonce::from_bytes(array(&of["instance"])),
        iteration: number(&of["iteration"]),
        masks: &[],
    };
    let ends = ["sender", "receiver"].map(|end| PartyId(number(&of[end]) as u8));
    let proof = binding.hash(&mesh, ends, block(&of["value"]));
    json!({ "proof": stated(&*proof) })
}
