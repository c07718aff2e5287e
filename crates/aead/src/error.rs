//! Errors of this crate.

use crate::Suite;

/// The reason why a message was not sealed or opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The message, its nonce or its associated data differ from those sealed under this key. The
    /// difference is not reported; no plaintext is left.
    #[error("the message is not authentic")]
    NotAuthentic,
    /// No mode has this name, in this build.
    #[error("there is no mode `{name}`; there are {known}")]
    UnknownMode {
        /// The name that was given.
        name: String,
        /// The names that there are.
        known: String,
    },
    /// The mode has no such version.
    #[error("{mode} has no version `{version}`; it has {known}")]
    UnknownVersion {
        /// The mode.
        mode: &'static str,
        /// The version that was given.
        version: String,
        /// The versions that there are.
        known: String,
    },
    /// The mode has no tag of this length.
    #[error("{mode} has no tag of {bytes} bytes; it has {known}")]
    TagLength {
        /// The mode.
        mode: &'static str,
        /// The length that was given.
        bytes: usize,
        /// The lengths that there are.
        known: String,
    },
    /// The key has the wrong length.
    #[error("{suite} takes a key of {needed} bytes, not {bytes}")]
    KeyLength {
        /// The mode.
        suite: Suite,
        /// The length that was given.
        bytes: usize,
        /// The length that is needed.
        needed: usize,
    },
    /// The nonce has the wrong length.
    #[error("{suite} takes a nonce of {needed} bytes, not {bytes}")]
    NonceLength {
        /// The mode.
        suite: Suite,
        /// The length that was given.
        bytes: usize,
        /// The lengths that are taken.
        needed: String,
    },
    /// A building block, which authenticates nothing, was given associated data.
    #[error("{suite} authenticates nothing and takes no associated data")]
    NoAssociatedData {
        /// The mode.
        suite: Suite,
    },
    /// The mode takes whole blocks.
    #[error("{suite} takes whole blocks of 16 bytes, and {bytes} bytes are none; pad the text")]
    WholeBlocks {
        /// The mode.
        suite: Suite,
        /// The length that was given.
        bytes: usize,
    },
    /// The text is longer than the mode, with this nonce, can take.
    #[error("a text of {bytes} bytes is too long: {suite} takes at most {most} with this nonce")]
    TextTooLong {
        /// The mode.
        suite: Suite,
        /// The length that was given.
        bytes: usize,
        /// The largest length.
        most: u64,
    },
    /// The associated data are longer than the mode can take.
    #[error("associated data of {bytes} bytes are too long: {suite} takes at most {most}")]
    AssociatedDataTooLong {
        /// The mode.
        suite: Suite,
        /// The length that was given.
        bytes: usize,
        /// The largest length.
        most: u64,
    },
    /// The key has sealed as many messages, or as much text, as is safe.
    #[error(
        "this key has sealed as much as is safe with {suite}, {messages} messages or {blocks} \
         blocks of 16 bytes; take a new one"
    )]
    KeyWornOut {
        /// The mode.
        suite: Suite,
        /// The most messages.
        messages: u64,
        /// The most blocks of text and associated data.
        blocks: u64,
    },
    /// A message of a batch was to be sealed with the nonce of an earlier one under the same key.
    #[error("messages {first} and {number} have the same nonce under one key")]
    NonceRepeated {
        /// The number of the earlier message, from 0.
        first: usize,
        /// The number of this one.
        number: usize,
    },
    /// So many messages were not authentic that a guess at the tag of another might succeed: the
    /// key opens none any more.
    #[error(
        "{failures} messages under this key were not authentic, which is as many as are safe with \
         {suite} and tags of {tag} bytes; take a new one"
    )]
    TooManyFailures {
        /// The mode.
        suite: Suite,
        /// Bytes of its tag.
        tag: usize,
        /// The most failures.
        failures: u64,
    },
    /// The message is shorter, or longer, than any output of the mode.
    #[error("{bytes} bytes are nothing that {suite} seals a text to")]
    SealedLength {
        /// The mode.
        suite: Suite,
        /// The length that was given.
        bytes: usize,
    },
    /// The mode cannot determine the length of the text.
    #[error("{suite} does not say how long the text is: the length has to be given")]
    TextLengthNeeded {
        /// The mode.
        suite: Suite,
    },
    /// The buffer of a message of a batch does not have the length of the sealed message.
    #[error("the buffer has {bytes} bytes, and the sealed message {needed}")]
    BufferLength {
        /// The length of the buffer.
        bytes: usize,
        /// The length that is needed.
        needed: usize,
    },
    /// Rows of a batch do not have equal lengths.
    #[error("{bytes} bytes of {what} are not {count} pieces of one length")]
    UnevenRows {
        /// The name of the field.
        what: &'static str,
        /// Its length.
        bytes: usize,
        /// Number of messages.
        count: usize,
    },
    /// The mode has no tag that could be detached.
    #[error("what {suite} seals a text to is no text of the same length with a tag")]
    NotDetachable {
        /// The mode.
        suite: Suite,
    },
    /// The messages of a batch are of several modes, versions or lengths of tag.
    #[error("a batch is of one mode, and there are {first} and {other}")]
    MixedBatch {
        /// The mode of the first message.
        first: Suite,
        /// Another.
        other: Suite,
    },
}

/// Errors are large, and travel in a box where messages are many.
impl From<Box<Error>> for Error {
    fn from(error: Box<Error>) -> Error {
        *error
    }
}
