//! The parsers of sealed files and key files, for those who feed them with what nobody would seal
//! (`fuzz/`). Nothing else has a use for them, so they are no part of the documented interface.
//!
//! Each takes bytes, and where it accepts them gives back the bytes that this crate itself would
//! write for what it has read.

use crate::archive::{Entries, Kind};
use crate::header::{HEADER_BYTES, Header};
use crate::key::Master;

/// The header of a sealed file.
pub fn header(bytes: &[u8]) -> Option<Vec<u8>> {
    let (header, commitment) = Header::parse(&bytes[..bytes.len().min(HEADER_BYTES)]).ok()?;
    Some([header.bound().as_slice(), &commitment].concat())
}

/// The key of a key file.
pub fn key(bytes: &[u8]) -> Option<Vec<u8>> {
    Some(Master::from_text(bytes).ok()?.text().to_vec())
}

/// The content of a sealed folder, and the paths in it.
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
        if let Kind::File { bytes, .. } = entry.kind {
            let content = rest.split_at_checked(usize::try_from(bytes).ok()?)?;
            again.extend(content.0);
            rest = content.1;
        }
        paths.push(entry.path);
    }
}
