//! Parsers of sealed files and key files, exported for the fuzz targets (`fuzz/`). They have no
//! other use, so they are not part of the documented interface.
//!
//! Each parses bytes. If it accepts them, it returns the bytes that this crate would write for the
//! parsed value.

use crate::archive::{Entries, EntryKind};
use crate::header::{HEADER_BYTES, Header};
use crate::key::MasterKey;

/// Parses the header of a sealed file.
pub fn header(bytes: &[u8]) -> Option<Vec<u8>> {
    let (header, commitment) = Header::parse(&bytes[..bytes.len().min(HEADER_BYTES)]).ok()?;
    Some([header.bound().as_slice(), &commitment].concat())
}

/// Parses the key of a key file.
pub fn key(bytes: &[u8]) -> Option<Vec<u8>> {
    Some(MasterKey::from_text(bytes).ok()?.text().to_vec())
}

/// Parses the content of a sealed folder; also returns the paths in it.
pub fn folder(bytes: &[u8]) -> Option<(Vec<u8>, Vec<String>)> {
    let (mut rest, mut entries) = (bytes, Entries::default());
    let (mut again, mut paths) = (Vec::new(), Vec::new());
    loop {
        let mut fill = |into: &mut [u8]| {
            let taken = rest.len().min(into.len());
            let (now, later) = rest.split_at(taken);
            into[..taken].copy_from_slice(now);
            rest = later;
            Ok(taken)
        };
        let Some(entry) = entries.next(&mut fill).ok()? else {
            return Some((again, paths));
        };
        again.extend(entry.head());
        if let EntryKind::File { bytes, .. } = entry.kind {
            let content = rest.split_at_checked(usize::try_from(bytes).ok()?)?;
            again.extend(content.0);
            rest = content.1;
        }
        paths.push(entry.path);
    }
}
