//! Corruption that a protocol of this crate withstands.

/// Corruption that an extension withstands. Both parties use the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Security {
    /// Both parties follow the protocol.
    SemiHonest,
    /// One of them may deviate; it is caught, up to the leakage that the extension states.
    Malicious,
}
