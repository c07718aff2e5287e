//! Digest of the payload that crosses a link in one direction.
//!
//! BLAKE3 takes all payload but one kind, the *bulk* of semi-honest protocols: garbled tables, the
//! corrections and masked strings of semi-honest oblivious transfer, and shares of three parties
//! but those of inputs and results. These are by far the most bytes of a run and have a hash of
//! their own, [`PolyHash`], at a small part of the cost. It finds accidents and nothing else: TLS
//! authenticates every byte already, and a peer that deviates could as well send the right digest
//! of wrong bulk.
//!
//! Bulk that follows bulk is one *run*, however it was written, read or cut into frames. Its
//! position in the stream is hashed with it, so both ends see the same runs or different digests.

use sealane_block::{Block, Cpu, PolyHash};

/// Content of payload, which decides how it is digested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Content {
    #[default]
    /// Any message.
    Any,
    /// Bulk of a semi-honest protocol.
    Bulk(Cpu),
}

impl Content {
    /// Bulk or not, on the best tier.
    pub(crate) fn of(is_bulk: bool) -> Content {
        if is_bulk {
            Content::Bulk(Cpu::best())
        } else {
            Content::Any
        }
    }
}

/// Digest of the payload of one direction so far.
#[derive(Clone, Default)]
pub(crate) struct Digest {
    /// BLAKE3 of all payload but bulk.
    hash: blake3::Hasher,
    /// Hash of the bulk, if there was any.
    bulk: Option<PolyHash>,
    bulk_key: Block,
    /// Bytes of payload so far.
    position: u64,
    /// Position at which the run under way began, if there is one.
    run: Option<u64>,
}

impl Digest {
    /// Sets the key for the hash of bulk.
    ///
    /// # Panics
    /// If there were some already.
    pub(crate) fn set_bulk_key(&mut self, key: Block) {
        assert!(self.bulk.is_none(), "the key is set before bulk crosses");
        self.bulk_key = key;
    }

    /// Appends payload.
    pub(crate) fn update(&mut self, bytes: &[u8], content: Content) {
        if bytes.is_empty() {
            return;
        }
        match content {
            Content::Any => {
                self.end_run();
                self.hash.update(bytes);
            }
            Content::Bulk(cpu) => {
                self.run.get_or_insert(self.position);
                let key = self.bulk_key;
                let bulk = self.bulk.get_or_insert_with(|| PolyHash::new(cpu, key));
                bulk.update(bytes);
            }
        }
        self.position += bytes.len() as u64;
    }

    /// Returns BLAKE3 of all payload but bulk, and the hash of bulk if there was any.
    pub(crate) fn value(mut self) -> ([u8; 32], Option<[u8; 16]>) {
        self.end_run();
        let bulk = self.bulk.map(|bulk| bulk.value().to_bytes());
        (*self.hash.finalize().as_bytes(), bulk)
    }

    fn end_run(&mut self) {
        if let (Some(bulk), Some(position)) = (&mut self.bulk, self.run.take()) {
            bulk.end_run(position);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(pieces: &[(&[u8], bool)]) -> ([u8; 32], Option<[u8; 16]>) {
        let mut digest = Digest::default();
        digest.set_bulk_key(Block::new(77));
        for (bytes, bulk) in pieces {
            digest.update(bytes, Content::of(*bulk));
        }
        digest.value()
    }

    /// The digest of one run of bulk.
    fn bulk(bytes: &[u8]) -> Option<[u8; 16]> {
        digest(&[(bytes, true)]).1
    }

    #[test]
    fn every_change_of_tables_is_found() {
        // Two chunks of the hash and a part of one.
        let sent = (0..4500u32).map(|i| (i.wrapping_mul(0x9e37_79b1) >> 13) as u8);
        let sent = sent.collect::<Vec<_>>();
        let right = bulk(&sent);
        let is_found = |bytes: &[u8]| assert!(*bytes != *sent && bulk(bytes) != right);
        let mut altered = sent.clone();
        for bit in 0..8 * sent.len() {
            altered[bit / 8] ^= 1 << (bit % 8);
            is_found(&altered);
            altered[bit / 8] = sent[bit / 8];
        }
        for length in 1..sent.len() {
            is_found(&sent[..length]);
        }
        let blocks = sent.chunks(16).collect::<Vec<_>>();
        for i in 0..blocks.len() {
            // A block that is lost, and one that comes twice.
            is_found(&[&blocks[..i], &blocks[i + 1..]].concat().concat());
            is_found(&[&blocks[..=i], &blocks[i..]].concat().concat());
            for j in [1, 4, 5, 8, 128, 132].map(|distance| i + distance) {
                if j < blocks.len() {
                    let mut swapped = blocks.clone();
                    swapped.swap(i, j);
                    is_found(&swapped.concat());
                }
            }
        }
    }

    #[test]
    fn bulk_counts_by_content_place_and_key_and_not_by_its_pieces() {
        let [any, bulk] = [false, true];
        let whole = digest(&[(b"ab", any), (b"cdef", bulk), (b"gh", any)]);
        // Pieces are divided by spaces; those of bulk are in capitals.
        let cut = |text: &str| {
            let pieces = text.split(' ').map(|piece| piece.to_ascii_lowercase());
            let pieces: Vec<_> = pieces.zip(text.split(' ')).collect();
            let is_bulk = |piece: &str| piece.starts_with(|c: char| c.is_ascii_uppercase());
            let pieces = pieces
                .iter()
                .map(|(bytes, piece)| (bytes.as_bytes(), is_bulk(piece)));
            digest(&pieces.collect::<Vec<_>>())
        };
        assert_eq!(cut("a b C  DE F gh"), whole);
        let others = "ab CDEG gh; ab CDE fgh; ab CD g EF h; abg CDEF h; ab cdef gh; ab gh";
        for other in others.split("; ") {
            assert_ne!(cut(other), whole, "{other:?}");
        }
        let mut keyless = Digest::default();
        keyless.update(b"ab", Content::Any);
        keyless.update(b"cdef", Content::Bulk(Cpu::best()));
        keyless.update(b"gh", Content::Any);
        assert_ne!(keyless.value(), whole);
    }
}
