//! Values that are computed once in a process: circuits are built more than once, and some hundred
//! values of high precision take long.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Values by their keys.
pub(crate) struct Known<K, V>(Mutex<BTreeMap<K, Arc<V>>>);

impl<K: Ord + Clone, V> Known<K, V> {
    /// None so far.
    pub(crate) const fn new() -> Known<K, V> {
        Known(Mutex::new(BTreeMap::new()))
    }

    /// The value of a key, which is made if it is not known yet. Meanwhile others may make theirs.
    pub(crate) fn get(&self, key: K, make: impl FnOnce() -> V) -> Arc<V> {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&key) {
            return known.clone();
        }
        let new = Arc::new(make());
        lock().insert(key, new.clone());
        new
    }
}
