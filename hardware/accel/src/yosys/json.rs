//! The JSON that Yosys writes: modules, ports, cells, names of nets.

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

#[derive(serde::Deserialize)]
pub(super) struct File {
    pub modules: BTreeMap<String, Module>,
}

#[derive(serde::Deserialize)]
pub(super) struct Module {
    #[serde(default)]
    pub attributes: BTreeMap<String, Value>,
    pub ports: InOrder<Port>,
    #[serde(default)]
    pub cells: InOrder<Cell>,
    #[serde(default)]
    pub netnames: InOrder<Net>,
}

#[derive(serde::Deserialize)]
pub(super) struct Port {
    pub direction: String,
    pub bits: Vec<Bit>,
}

#[derive(serde::Deserialize)]
pub(super) struct Cell {
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(default)]
    pub attributes: BTreeMap<String, Value>,
    #[serde(default)]
    pub connections: BTreeMap<String, Vec<Bit>>,
}

impl Cell {
    /// The place in the source, for an error.
    pub fn place(&self) -> String {
        let place = self.attributes.get("src").and_then(Value::as_str);
        place.unwrap_or("no place known").to_string()
    }
}

#[derive(serde::Deserialize)]
pub(super) struct Net {
    pub bits: Vec<Bit>,
    #[serde(default)]
    pub attributes: BTreeMap<String, Value>,
}

/// A bit: the number of a net, or a constant. Undefined bits are 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Bit {
    Constant(bool),
    Net(u64),
}

impl<'de> Deserialize<'de> for Bit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Bit, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Number(number) => match number.as_u64() {
                Some(net) => Ok(Bit::Net(net)),
                None => Err(D::Error::custom("a net has a number from 0 on")),
            },
            Value::String(text) if text == "1" => Ok(Bit::Constant(true)),
            Value::String(text) if ["0", "x", "z"].contains(&text.as_str()) => {
                Ok(Bit::Constant(false))
            }
            other => Err(D::Error::custom(format!("a bit cannot be {other}"))),
        }
    }
}

/// A map with its entries in the order of the file.
pub(super) struct InOrder<T>(pub Vec<(String, T)>);

impl<T> Default for InOrder<T> {
    fn default() -> InOrder<T> {
        InOrder(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for InOrder<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<InOrder<T>, D::Error> {
        deserializer.deserialize_map(Entries(PhantomData))
    }
}

struct Entries<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
    type Value = InOrder<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<InOrder<T>, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(InOrder(entries))
    }
}
