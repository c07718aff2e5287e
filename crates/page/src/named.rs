//! Values by name, in an order that people expect.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::ops::Deref;

/// Values by name in a fixed order, such as that of the program; a map in JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named<T>(Vec<(String, T)>);

impl<T> Named<T> {
    /// The value of a name.
    pub fn named(&self, name: &str) -> Option<&T> {
        let pair = self.iter().find(|(of, _)| of == name);
        pair.map(|(_, value)| value)
    }
}

impl<T> Default for Named<T> {
    fn default() -> Named<T> {
        Named(Vec::new())
    }
}

impl<T> Deref for Named<T> {
    type Target = [(String, T)];

    fn deref(&self) -> &[(String, T)] {
        &self.0
    }
}

impl<T> FromIterator<(String, T)> for Named<T> {
    fn from_iter<I: IntoIterator<Item = (String, T)>>(pairs: I) -> Named<T> {
        Named(pairs.into_iter().collect())
    }
}

impl<T: Serialize> Serialize for Named<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter().map(|(name, value)| (name, value)))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Named<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Named<T>, D::Error> {
        let map = BTreeMap::<String, T>::deserialize(deserializer)?;
        Ok(map.into_iter().collect())
    }
}
