//! Vectors of the wire: messages of the agreement and of the farewell, and what is made of them.

use super::difference::PrefixHashes;
use super::{Goodbye, Hello, Instance, RowCounts, StatedRows};
use crate::job::instance_hash;
use crate::split_plan::drawn_number;
use sealane_identity::PublicKey;
use sealane_net::{Mesh, SessionId, fuzzing};
use sealane_parties::PartyId;
use sealane_plan::{Form, JobPart, JobParts};
use sealane_program::graph::{Program, RowSymbol};
use sealane_program::types::RowId;
use sealane_program::without_empty;
use sealane_testkit::vectors::{Value, array, bytes, check, json, list, number, stated, text};
use serde::de::DeserializeOwned;
use serde::ser::{Serialize, SerializeTuple, Serializer};

/// Bytes that are sent as they are.
struct Raw(Vec<u8>);

impl Serialize for Raw {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut tuple = to.serialize_tuple(self.0.len())?;
        self.0
            .iter()
            .try_for_each(|byte| tuple.serialize_element(byte))?;
        tuple.end()
    }
}

/// Receives bytes as a control message.
fn received<T: DeserializeOwned>(of: &Value) -> Result<T, String> {
    let [mut one, mut other] = Mesh::in_memory(2).try_into().ok().expect("two parties");
    let sent = one.send_control(PartyId(1), &Raw(bytes(&of["bytes"])));
    sent.expect("a message that is not too long");
    other
        .recv_control(PartyId(0))
        .map_err(|error| error.code().to_string())
}

fn key(of: &Value) -> PublicKey {
    let key = format!("ed25519:{}", text(of)).parse();
    key.expect("a key")
}

fn numbers(of: &Value) -> Vec<u64> {
    list(of).iter().map(number).collect()
}

fn counts(of: &Value) -> Vec<Option<u64>> {
    list(of).iter().map(Value::as_u64).collect()
}

fn agreed_rows(of: &Value) -> Result<Value, String> {
    let table = |(at, table): (usize, &Value)| RowSymbol {
        name: format!("t{at}"),
        bound: number(&table["bound"]),
        sum: numbers(&table["sum"])
            .iter()
            .map(|part| RowId(*part as u16))
            .collect(),
    };
    let tables = list(&of["tables"])
        .iter()
        .enumerate()
        .map(table)
        .collect::<Vec<_>>();
    let peers = list(&of["peers"]);
    let names = (0..=peers.len())
        .map(|party| format!("p{party}"))
        .collect::<Vec<_>>();
    let mut rows = RowCounts::new(&counts(&of["own"]), PartyId(0));
    let code = |error: crate::EngineError| error.finding().code.to_string();
    for (theirs, peer) in peers.iter().zip(1..) {
        rows.merge(&tables, &names, &counts(theirs), PartyId(peer))
            .map_err(code)?;
    }
    let counts = rows.complete(&tables).map_err(code)?;
    // With tables without rows this implementation goes on, but with another program.
    let known = counts.iter().map(|count| Some(*count)).collect::<Vec<_>>();
    let program = Program {
        rows: tables,
        ..Program::default()
    };
    let rest = without_empty(&program, &known).expect("no result");
    rest.map_or(Ok(json!({ "counts": counts })), |_| Err("own".into()))
}

#[test]
fn agreements_are_those_of_the_vectors() {
    check(
        "engine",
        &[
            ("drawn-number", |of| {
                let bits = number(&of["bits"]) as u8;
                Ok(json!({ "number": drawn_number(&bytes(&of["bytes"]), bits) }))
            }),
            ("control-job", |of| {
                let said = received::<Hello>(of)?;
                let keys = said
                    .keys
                    .iter()
                    .map(|key| stated(key.as_bytes()))
                    .collect::<Vec<_>>();
                Ok(json!({
                    "parts": JobPart::ALL.map(|part| stated(said.parts.part(part))),
                    "protocol": said.protocol, "parties": said.parties,
                    "network": said.network.to_string(), "pooled": said.pooled, "keys": keys,
                }))
            }),
            ("control-rows", |of| {
                Ok(json!({ "rows": received::<StatedRows>(of)?.rows }))
            }),
            ("control-instance", |of| {
                let said = received::<Instance>(of)?;
                let (hash, contribution) = (stated(&said.hash), stated(&said.contribution));
                Ok(json!({ "hash": hash, "contribution": contribution }))
            }),
            ("pool-contribution", |of| {
                let fields = [bytes(&of["contribution"]), vec![1], bytes(&of["offer"])];
                let message = [vec![0; 32], fields.concat()].concat();
                let said = received::<Instance>(&json!({ "bytes": hex::encode(message) }))?;
                Ok(json!({ "contribution": stated(&said.bound()) }))
            }),
            ("control-farewell", |of| {
                let said = received::<Goodbye>(of)?;
                let digest = stated(&said.digest);
                Ok(json!({ "sent": said.sent, "rounds": said.rounds, "digest": digest }))
            }),
            ("beginnings", |of| {
                let lines = list(&of["lines"]).iter().map(text).collect::<Vec<_>>();
                let [first, width] = ["first", "width"].map(|field| number(&of[field]) as usize);
                let hashes = PrefixHashes::new(&lines, first, width).hashes;
                let message = [&[hashes.len() as u8], hashes.as_flattened()].concat();
                let again = fuzzing::control::<PrefixHashes>(&message).ok_or("another form")?;
                Ok(json!({ "message": stated(&again) }))
            }),
            ("rows", agreed_rows),
            ("instance", |of| {
                let [plan, silent] = array(&of["form"]);
                let form = Form {
                    plan,
                    silent: silent == 1,
                    batch: None,
                };
                let keys = list(&of["keys"]).iter().map(key).collect::<Vec<_>>();
                let hash = instance_hash(&array(&of["job"]), &numbers(&of["counts"]), form, &keys);
                Ok(json!({ "instance": stated(&hash) }))
            }),
            ("session", |of| {
                let contributions = list(&of["contributions"])
                    .iter()
                    .map(array)
                    .collect::<Vec<_>>();
                let session = SessionId::new(&array(&of["instance"]), &contributions);
                Ok(json!({ "session": stated(session.as_bytes()) }))
            }),
        ],
    );
    check(
        "plan",
        &[("job-hash", |of| {
            let parts = list(&of["parts"])
                .iter()
                .map(array::<32>)
                .collect::<Vec<_>>();
            let parts = serde_json::from_value::<JobParts>(json!(parts)).expect("hashes of parts");
            Ok(json!({ "job": stated(&parts.hash()) }))
        })],
    );
}
