//! Examples from which mutation starts, one folder per target, and findings.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The corpus in a folder: name and content of each file, by name.
///
/// # Errors
/// There is no such folder, or a file cannot be read.
pub fn load(folder: &Path) -> io::Result<Vec<(String, Vec<u8>)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        files.push((name, fs::read(entry.path())?));
    }
    files.sort();
    Ok(files)
}

/// Adds an input to the corpus in a folder, under its hash; returns its path.
///
/// # Errors
/// The file cannot be written.
pub fn add(folder: &Path, kind: &str, input: &[u8]) -> io::Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let hash = blake3::hash(input).to_hex();
    let path = folder.join(format!("{kind}-{}", &hash[..10]));
    fs::write(&path, input)?;
    Ok(path)
}

/// Makes a smaller input that fails as well: parts are removed as long as it still fails, first
/// large ones, then single bytes, with at most `tries` calls.
pub fn minimise(input: &[u8], tries: usize, mut fails: impl FnMut(&[u8]) -> bool) -> Vec<u8> {
    let mut best = input.to_vec();
    let (mut part, mut left) = (best.len().div_ceil(2), tries);
    while part > 0 && left > 0 {
        let mut at = 0;
        while at < best.len() && left > 0 {
            let end = (at + part).min(best.len());
            let shorter = [&best[..at], &best[end..]].concat();
            left -= 1;
            if fails(&shorter) {
                best = shorter;
            } else {
                at = end;
            }
        }
        part = if part == 1 { 0 } else { part.div_ceil(2) };
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_matter_is_taken_out() {
        let fails = |input: &[u8]| input.contains(&b'x') && input.contains(&b'y');
        let input = [&[b'a'; 99][..], b"x", &[b'b'; 57], b"y", &[b'c'; 3]].concat();
        assert_eq!(minimise(&input, 1000, fails), b"xy");
        assert!(fails(&minimise(&input, 9, fails)), "also with few tries");
        assert_eq!(minimise(b"", 9, |_| true), b"");
    }
}
