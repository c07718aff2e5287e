//! The pool of one party with another, on its disk.

use crate::disk::{Disk, Folder, Lock};
use crate::error;
use crate::keys::{ChainKey, WrapKey};
use crate::state::{Fill, Half, MOST_BYTES, Offer, PoolState};
use crate::stock::DiskStock;
use sealane_diagnostic::Diagnostic;
use sealane_files::UNFINISHED;
use sealane_identity::{Identity, PublicKey};
use sealane_ot::Role;
use sealane_party::Fault;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// Name of the file of the state.
const STATE: &str = "state";
/// Name of the file whose lock a process holds while it changes the state.
const STATE_LOCK: &str = "lock";
/// Name of the file whose lock a process holds while it fills the pool.
const FILL_LOCK: &str = "fill-lock";
/// Ending of files of OTs.
const OTS: &str = ".ots";
/// Longest wait for another process that changes the state, which takes it a few writes.
const PATIENCE: Duration = Duration::from_secs(10);

/// Random OTs that this party has made with another, and that no run has used.
pub struct Pool {
    disk: Arc<dyn Disk>,
    key: WrapKey,
    /// Where it is, for messages.
    place: String,
}

/// Counts of the OTs in which this party has one role, in batches of [`BATCH`](crate::BATCH).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Batches for runs to come.
    pub left: u64,
    /// Batches of runs that ended well.
    pub used: u64,
    /// Batches of runs that failed, or are under way.
    pub unfinished: u64,
    /// Batches that were made and cannot be used, since the other party does not hold them, or has
    /// used further.
    pub lost: u64,
}

impl Pool {
    /// The pool of the party with this identity with the party of the key `peer`, in the folder of
    /// all pools. Nothing is read yet.
    pub fn new(folder: &Path, identity: &Identity, peer: &PublicKey) -> Pool {
        let mut hasher = blake3::Hasher::new_derive_key("sealane pool 1 name of a folder");
        hasher.update(identity.public_key().as_bytes());
        hasher.update(peer.as_bytes());
        let folder = folder.join(hex::encode(&hasher.finalize().as_bytes()[..16]));
        Pool::on(
            Arc::new(Folder::new(&folder)),
            WrapKey::new(identity.secret_pkcs8(), peer.as_bytes()),
            folder.display().to_string(),
        )
    }

    pub(crate) fn on(disk: Arc<dyn Disk>, key: WrapKey, place: String) -> Pool {
        Pool { disk, key, place }
    }

    /// Returns the state as it may be shown to the other party.
    ///
    /// # Errors
    /// The files cannot be read, or are not this party's.
    pub fn offer(&self) -> Result<Offer, Diagnostic> {
        Ok(self.look()?.offer())
    }

    /// Returns counts for the OTs in which this party has the role.
    ///
    /// # Errors
    /// The files cannot be read, or are not this party's.
    pub fn count(&self, role: Role) -> Result<Count, Diagnostic> {
        let state = self.look()?;
        let half = state.half(role);
        Ok(Count {
            left: half.left(),
            used: half.finished,
            unfinished: half.taken.saturating_sub(half.finished),
            lost: half.lost,
        })
    }

    /// Takes batches for a run, so many in each role of this party, for both parties from the
    /// larger number on. They are out of the pool when this returns, on the disk too. `mine` and
    /// `theirs` are the offers that crossed. Returns those of each role.
    ///
    /// # Errors
    /// There are not so many that both hold; another process has changed the pool since it was
    /// offered; or the files cannot be read or written.
    pub fn take(
        &self,
        wanted: &[(Role, u64)],
        mine: &Offer,
        theirs: &Offer,
    ) -> Result<(Vec<DiskStock>, Taken), Diagnostic> {
        let _lock = self.lock()?;
        let mut state = self.load()?;
        if state.offer() != *mine {
            return Err(error::busy(&self.place));
        }
        let mut taken = Vec::new();
        for &(role, batches) in wanted {
            let theirs = theirs.opposite(role);
            let half = state.half_mut(role);
            let have = half.left_with(theirs);
            if have < batches {
                return Err(error::short(role, have, batches));
            }
            half.agree(theirs).map_err(error::no_randomness)?;
            let parts = half.take(batches).map_err(error::no_randomness)?;
            taken.push((role, parts));
        }
        // Of either direction something is taken, or of none.
        self.store(&state)?;
        let open = |(role, parts)| DiskStock::open(&*self.disk, role, parts, &self.place);
        let stocks = taken.into_iter().map(open).collect::<io::Result<_>>();
        let stocks = stocks.map_err(|error| error::lost(&self.place, error))?;
        self.tidy(&state);
        let taken = Taken {
            epoch: state.epoch,
            batches: wanted.to_vec(),
        };
        Ok((stocks, taken))
    }

    /// Counts batches of a run that ended well.
    ///
    /// # Errors
    /// The files cannot be read or written.
    pub fn finish(&self, taken: &Taken) -> Result<(), Diagnostic> {
        let _lock = self.lock()?;
        let mut state = self.load()?;
        // A pool that was destroyed meanwhile counts nothing of the time before.
        if state.epoch == taken.epoch {
            for &(role, batches) in &taken.batches {
                state.half_mut(role).finished += batches;
            }
            self.store(&state)?;
        }
        self.tidy(&state);
        Ok(())
    }

    /// [Destroys](Pool::destroy) the pool for a user who asks for it, unless a fill is under way.
    ///
    /// # Errors
    /// The errors of [`Pool::destroy`]; another process fills the pool.
    pub fn remove(&self) -> Result<(), Diagnostic> {
        if self.disk.names().is_ok_and(|names| names.is_empty()) {
            return Ok(());
        }
        let _lock = self.lock_fill()?;
        self.destroy()
    }

    /// Removes what a fill that failed has written; its process holds the lock of fills.
    pub(crate) fn clear_up(&self) {
        if let Ok(_lock) = self.lock()
            && let Ok(state) = self.load()
        {
            self.sweep(&state);
        }
    }

    /// Removes everything that is of use to anybody, first the key of what is left. For a pair
    /// whose check has failed. Files that cannot be read are no
    /// obstacle.
    ///
    /// # Errors
    /// The operating system refuses to change the files.
    pub fn destroy(&self) -> Result<(), Diagnostic> {
        // A folder that does not exist is not made.
        if self.disk.names().is_ok_and(|names| names.is_empty()) {
            return Ok(());
        }
        let _lock = self.lock()?;
        // Every file is tried, whatever becomes of the others.
        let named = |name: &str| {
            let unusable = |error| error::unusable(&format!("{}/{name}", self.place), error);
            self.disk.remove(name).map_err(unusable)
        };
        let mut first = named(STATE);
        let names = self.disk.names().unwrap_or_default();
        for name in names.iter().filter(|name| is_content(name)) {
            first = first.and(named(name));
        }
        first
    }

    /// Destroys the pool if the fault is a failed check of what the other party computed: what it
    /// learned by that must not add up with what it learns later. To be called before anybody sees
    /// the error.
    ///
    /// # Errors
    /// The errors of [`Pool::destroy`].
    pub fn heed(&self, fault: &Fault) -> Result<(), Diagnostic> {
        match fault {
            Fault::Deviated { .. } | Fault::CheckFailed => self.destroy(),
            _ => Ok(()),
        }
    }

    /// Keeps other processes from filling the pool, until the lock is dropped.
    pub(crate) fn lock_fill(&self) -> Result<Lock, Diagnostic> {
        self.wait_for(|| self.disk.try_lock(FILL_LOCK))
    }

    /// Returns the pool in step with the other party before a fill, for which this process holds
    /// the lock. On the disk it stays as it is: on the other party's word alone nothing is dropped.
    pub(crate) fn agreed(&self, mine: &Offer, theirs: &Offer) -> Result<PoolState, Diagnostic> {
        let _lock = self.lock()?;
        let mut state = self.load()?;
        if state.offer() != *mine {
            return Err(error::busy(&self.place));
        }
        // A pool that was not there before has its name from here on.
        self.store(&state)?;
        self.sweep(&state);
        for role in [Role::Sender, Role::Receiver] {
            let half = state.half_mut(role);
            half.agree(theirs.opposite(role))
                .map_err(error::no_randomness)?;
        }
        Ok(state)
    }

    /// Adds fills whose files are on the disk, each with the key of its first batch, to the pool of
    /// this epoch. What the other party does not hold, by its offer before the fill, goes then.
    pub(crate) fn add(
        &self,
        epoch: [u8; 16],
        theirs: &Offer,
        fills: Vec<(Role, Fill, ChainKey)>,
    ) -> Result<(), Diagnostic> {
        let _lock = self.lock()?;
        let mut state = self.load()?;
        // The pool was destroyed meanwhile, and what was made by then is not for use.
        if state.epoch != epoch {
            return Err(error::busy(&self.place));
        }
        for (role, fill, key) in fills {
            let half = state.half_mut(role);
            half.agree(theirs.opposite(role))
                .map_err(error::no_randomness)?;
            if !half.add(fill, key) {
                return Err(error::busy(&self.place));
            }
        }
        self.store(&state)?;
        self.sweep(&state);
        Ok(())
    }

    pub(crate) fn disk(&self) -> &dyn Disk {
        &*self.disk
    }

    pub(crate) fn place(&self) -> &str {
        &self.place
    }

    fn lock(&self) -> Result<Lock, Diagnostic> {
        self.wait_for(|| self.disk.try_lock(STATE_LOCK))
    }

    fn wait_for(&self, lock: impl Fn() -> io::Result<Option<Lock>>) -> Result<Lock, Diagnostic> {
        let began = Instant::now();
        loop {
            match lock().map_err(|error| error::unusable(&self.place, error))? {
                Some(lock) => return Ok(lock),
                None if began.elapsed() > PATIENCE => return Err(error::busy(&self.place)),
                None => thread::sleep(Duration::from_millis(10)),
            }
        }
    }

    /// Reads the state to show it.
    fn look(&self) -> Result<PoolState, Diagnostic> {
        // A folder that does not exist is not made.
        if self.disk.names().is_ok_and(|names| names.is_empty()) {
            return PoolState::empty().map_err(error::no_randomness);
        }
        // Another process overwrites an old state right after it has lost its name.
        let _lock = self.wait_for(|| self.disk.try_share(STATE_LOCK))?;
        self.load()
    }

    fn load(&self) -> Result<PoolState, Diagnostic> {
        let file = self.disk.read(STATE, MOST_BYTES);
        let place = format!("{}/{STATE}", self.place);
        match file.map_err(|error| error::unusable(&place, error))? {
            None => PoolState::empty().map_err(error::no_randomness),
            Some(file) => PoolState::open(&self.key, &file).ok_or_else(|| {
                let what = "its state was not written by this party, or is damaged";
                error::unusable(&place, what)
            }),
        }
    }

    fn store(&self, state: &PoolState) -> Result<(), Diagnostic> {
        let sealed = state.seal(&self.key).map_err(error::no_randomness)?;
        let written = self.disk.replace(STATE, &sealed);
        written.map_err(|error| error::unusable(&self.place, error))
    }

    /// Removes files that are of no use, unless a fill is under way: no state holds its files yet.
    fn tidy(&self, state: &PoolState) {
        if let Ok(Some(_lock)) = self.disk.try_lock(FILL_LOCK) {
            self.sweep(state);
        }
    }

    /// Removes files of fills that the state does not hold any more, and those that a process that
    /// was killed has left. The next sweep finds what this one could not remove.
    fn sweep(&self, state: &PoolState) {
        let held = |role: Role| {
            let half: &Half = state.half(role);
            half.fills.iter().map(move |fill| file_name(role, fill))
        };
        let held = held(Role::Sender).chain(held(Role::Receiver));
        let held = held.collect::<Vec<_>>();
        let names = self.disk.names().unwrap_or_default();
        for name in names.iter().filter(|name| is_content(name)) {
            if !held.contains(name) {
                let _ = self.disk.remove(name);
            }
        }
    }
}

/// Returns true for files of OTs, and for files that have no name yet.
fn is_content(name: &str) -> bool {
    name.ends_with(OTS) || name.starts_with(UNFINISHED)
}

/// Batches that a run has taken, to be counted when it has ended well.
pub struct Taken {
    epoch: [u8; 16],
    batches: Vec<(Role, u64)>,
}

/// Name of the file of a fill.
pub(crate) fn file_name(role: Role, fill: &Fill) -> String {
    let role = match role {
        Role::Sender => "sender",
        Role::Receiver => "receiver",
    };
    format!("{role}-{}{OTS}", hex::encode(fill.id))
}
