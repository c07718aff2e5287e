//! Keys, states and batches whose secrets a check declares, for `crates/memcheck/` alone. It is no
//! part of the documented interface.

use crate::disk::Unnamed;
use crate::fill::BatchWriter;
use crate::keys::{ChainKey, WrapKey};
use crate::state::{Fill, Part, PoolState};
use crate::stock::DiskStock;
use sealane_block::Block;
use sealane_ot::Role;
use std::collections::VecDeque;
use std::io::{self, Cursor, Read, Write};
use std::sync::{Arc, Mutex};
use zeroize::Zeroizing;

/// Functions by which a check declares bytes secret, and public again.
#[derive(Clone, Copy)]
pub struct Watch {
    /// Declares bytes secret.
    pub secret: fn(&mut [u8]),
    /// Declares bytes public, though computed from secrets.
    pub public: fn(&[u8]),
}

/// A file in memory, whose content anybody may see.
struct Visible {
    content: Arc<Mutex<Vec<u8>>>,
    watch: Watch,
}

impl Write for Visible {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (self.watch.public)(bytes);
        self.content
            .lock()
            .expect("no panic")
            .extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Unnamed for Visible {
    fn keep(self: Box<Self>) -> io::Result<()> {
        Ok(())
    }
}

/// Writes `batches` under a secret chain of keys, as a fill does, and returns all but the first as
/// a run takes them.
///
/// # Panics
/// If a batch has another length than those of this role.
pub fn batches(watch: Watch, role: Role, batches: &[&[Block]]) -> DiskStock {
    let count = batches.len() as u64;
    let fill = Fill {
        id: [3; 16],
        first: 5,
        batches: count,
    };
    let mut key = secret_key(watch);
    let content = Arc::default();
    let file = Visible {
        content: Arc::clone(&content),
        watch,
    };
    let mut writer = BatchWriter::new(role, &fill, key.clone(), Box::new(file));
    for batch in batches {
        writer.write(&[batch]).expect("room in memory");
    }
    drop(writer);
    key.advance(1);
    let content = content.lock().expect("no panic");
    let left = content[content.len() / batches.len()..].to_vec();
    let reader = Box::new(Cursor::new(left)) as Box<dyn Read + Send>;
    let part = Part {
        first: fill.first + 1,
        batches: count - 1,
        key,
        fill,
    };
    DiskStock::of(role, VecDeque::from([(part, reader)]), "memory")
}

/// Seals a state with secret keys under a secret key, after steps of its chains, and decrypts it.
///
/// # Panics
/// If it does not come back.
pub fn state(watch: Watch) {
    let mut private = Zeroizing::new([9; 85]);
    (watch.secret)(&mut private[..]);
    let wrap = WrapKey::new(&private[..], &[7; 32]);
    let mut state = PoolState::empty().expect("randomness");
    for role in [Role::Sender, Role::Receiver] {
        let half = state.half_mut(role);
        half.key = secret_key(watch);
        for number in 0..3 {
            let (id, first, key) = ([number; 16], half.end(), half.key_of(half.end()));
            let batches = 4;
            assert!(half.add(Fill { id, first, batches }, key));
        }
        let parts = half.take(5).expect("randomness");
        assert_eq!(parts.len(), 2);
    }
    let reported = state.offer();
    let half = state.half_mut(Role::Receiver);
    half.agree(reported.opposite(Role::Sender))
        .expect("randomness");
    let file = state.seal(&wrap).expect("randomness");
    (watch.public)(&file);
    assert!(PoolState::decrypt(&wrap, &file).is_some());
}

fn secret_key(watch: Watch) -> ChainKey {
    let mut key = ChainKey::fresh().expect("randomness");
    (watch.secret)(key.bytes_mut());
    key
}
