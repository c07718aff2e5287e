//! Vectors of the wire: the functions of base transfers, of trees and of the check.

use super::subspace::{Subspace, challenge, check_hash};
use super::tree::{choose, deal};
use super::{SoftSpoken, one_of_n};
use crate::base::{KeyDerivation, MalformedPoint, Roles, decode, encode};
use crate::ferret::tests::vectors as silent;
use crate::forms::offset_vectors;
use crate::{OtError, Security};
use curve25519_dalek::{ristretto::RistrettoPoint, scalar::Scalar};
use sealane_block::{Block, Seed, transpose};
use sealane_parties::PartyId;
use sealane_testkit::vectors::{
    Value, array, block, bytes, check, json, list, number, on_tiers, session, stated,
};

/// The code of a malformed point.
fn broken(_: MalformedPoint) -> String {
    "protocol-broken".into()
}

/// The party with both keys of a base transfer is the receiver of the extension.
fn roles(of: &Value) -> Roles {
    let [both, one] = ["receiver", "sender"].map(|field| PartyId(number(&of[field]) as u8));
    Roles::new(session(&of["session"]), both, one)
}

fn place(of: &Value) -> (usize, u8) {
    (number(&of["index"]) as usize, number(&of["choice"]) as u8)
}

/// Parameters of one tree.
fn one_tree(levels: usize) -> Subspace {
    Subspace {
        columns: levels,
        ..SoftSpoken::new(levels as u8, Security::Malicious).subspace()
    }
}

fn leaves(trees: &[Vec<Seed>]) -> Value {
    let leaves = trees.iter().flatten().flat_map(|leaf| *leaf.as_bytes());
    stated(&leaves.collect::<Vec<_>>())
}

fn seeds(of: &Value) -> Vec<Seed> {
    list(of)
        .iter()
        .map(|key| Seed::from_bytes(&array(key)))
        .collect()
}

#[test]
fn transfers_are_made_of_the_functions_of_the_vectors() {
    check(
        "ot",
        &[
            ("transpose", |of| {
                let rows = number(&of["rows"]) as usize;
                let width = rows.div_ceil(128);
                let mut columns = vec![Block::ZERO; 128 * width];
                for (column, of) in columns.chunks_mut(width).zip(list(&of["columns"])) {
                    let bytes = bytes(of);
                    Block::as_bytes_mut(column)[..bytes.len()].copy_from_slice(&bytes);
                }
                Ok(on_tiers(|cpu| {
                    let mut out = vec![Block::ZERO; columns.len()];
                    transpose(cpu, &columns, &mut out);
                    json!({ "rows": stated(Block::as_bytes(&out[..rows])) })
                }))
            }),
            ("ristretto-decode", |of| {
                let point = decode(&array(&of["bytes"])).map_err(broken)?;
                Ok(json!({ "bytes": stated(&encode(&point)) }))
            }),
            ("ristretto-map", |of| {
                let point = RistrettoPoint::from_uniform_bytes(&array(&of["bytes"]));
                Ok(json!({ "point": stated(&encode(&point)) }))
            }),
            ("ristretto-multiply", |of| {
                let scalar = Scalar::from_bytes_mod_order_wide(&array(&of["scalar"]));
                let point = decode(&array(&of["point"])).map_err(broken)?;
                Ok(json!({ "point": stated(&encode(&(scalar * point))) }))
            }),
            ("base-point", |of| {
                let (index, choice) = place(of);
                let point = roles(of).hash_to_point(index, choice, &array(&of["other"]));
                Ok(json!({ "point": stated(&encode(&point)) }))
            }),
            ("base-transcript", |of| {
                let (point, points) = (array(&of["point"]), bytes(&of["points"]));
                let transcript = KeyDerivation::new(roles(of), &point, &points).transcript;
                Ok(json!({ "transcript": stated(&transcript) }))
            }),
            ("base-key", |of| {
                let (index, choice) = place(of);
                let derivation = KeyDerivation {
                    transcript: array(&of["transcript"]),
                };
                let key = derivation.key(index, choice, &array(&of["point"]));
                Ok(json!({ "key": stated(key.as_bytes()) }))
            }),
            ("tree-deal", |of| {
                let keys = seeds(&of["zeros"]).into_iter().zip(seeds(&of["ones"]));
                let keys = keys.map(<[Seed; 2]>::from).collect::<Vec<_>>();
                let dealt = deal(one_tree(keys.len()), &keys, session(&of["session"]));
                Ok(json!({ "leaves": leaves(&dealt.trees), "message": stated(&dealt.message) }))
            }),
            ("tree-choose", |of| {
                let (keys, number) = (
                    seeds(&of["keys"]),
                    Block::new(number(&of["missing"]).into()),
                );
                let (message, session) = (bytes(&of["message"]), session(&of["session"]));
                let trees = choose(
                    one_tree(keys.len()),
                    &keys,
                    &[number],
                    session,
                    &message,
                    PartyId(0),
                );
                match trees {
                    Ok(trees) => Ok(json!({ "leaves": leaves(&trees) })),
                    Err(OtError::CheckFailed(_)) => Err("peer-deviated".into()),
                    Err(error) => Err(error.to_string()),
                }
            }),
            ("check-key", |of| {
                let key = challenge(&array(&of["digest"]));
                Ok(json!({ "key": stated(&key.to_bytes()) }))
            }),
            ("check-values", |of| {
                let hashes = list(&of["hashes"]).iter().map(block).collect::<Vec<_>>();
                Ok(json!({ "values": stated(&check_hash(&array(&of["digest"]), &hashes)) }))
            }),
            ("under-offset", |of| Ok(offset_vectors::under(of))),
            ("silent-proof", |of| Ok(silent::proof(of))),
            ("one-of-many", |of| Ok(one_of_n::vectors::turns(of))),
            ("one-of-many-word", |of| Ok(one_of_n::vectors::word(of))),
            ("one-of-many-large", |of| Ok(one_of_n::vectors::key(of))),
        ],
    );
}
