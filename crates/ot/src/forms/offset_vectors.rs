//! Vectors of the wire: given choices under a new offset, from random OTs.

use super::{OffsetRequest, send_under};
use sealane_block::Block;
use sealane_net::Mesh;
use sealane_testkit::record::recorded;
use sealane_testkit::vectors::{Value, block, blocks, json, list, number, stated};
use zeroize::Zeroizing;

/// Both messages, and what both parties have.
pub(crate) fn under(of: &Value) -> Value {
    let bits = |field: &str| list(&of[field]).iter().map(|bit| number(bit) as u8);
    let (random, choices) = (bits("random").collect::<Vec<_>>(), bits("choices"));
    let (choices, pairs) = (choices.collect::<Vec<_>>(), blocks(&of["pairs"]));
    let (pairs, _) = pairs.as_chunks::<2>();
    let known = pairs.iter().zip(&random);
    let known = known.map(|(pair, choice)| pair[usize::from(*choice)]);
    let known = Zeroizing::new(known.collect::<Vec<_>>());
    let (meshes, logs) = recorded(2);
    let [mut sender, mut receiver] = <[Mesh; 2]>::try_from(meshes).ok().expect("two parties");
    let ends = [sender.me(), receiver.me()];
    let request = OffsetRequest::new(&choices, &random, known, &mut receiver, ends[0]);
    receiver.flush().expect("memory");
    let mut q = vec![Block::ZERO; pairs.len()];
    let answered = send_under(block(&of["delta"]), pairs, &mut sender, ends[1], &mut q);
    answered.expect("memory");
    sender.flush().expect("memory");
    let (_, t) = request
        .expect("memory")
        .finish(&mut receiver)
        .expect("memory");
    let [answer, request] = [(0, 1), (1, 0)].map(|(from, to): (usize, usize)| {
        let sent = logs[from][to].sent();
        stated(&sent[0].payload)
    });
    let [q, t] = [&q, &*t].map(|rows| stated(Block::as_bytes(rows)));
    json!({ "request": request, "answer": answer, "q": q, "t": t })
}
