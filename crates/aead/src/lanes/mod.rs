//! How modes meet lanes.
//!
//! A mode ([`Mode`]) is written once, as equations on [`Wave`]s: one block for each lane. What a
//! lane is, the mode does not know:
//!
//! | form | lanes | vectors | round keys | blocks come from |
//! |---|---|---|---|---|
//! | [`lockstep`] | messages, each with its key | eight | [`keys::Each`] | a stream for each lane |
//! | [`single`], sequential part | the first one | one | [`keys::Same`] | [`data::One`] |
//! | [`single`], parallel part | neighbouring units of the message | eight | [`keys::Same`] | the message, dealt out |
//!
//! A message has three parts: the *head* (nonce and associated data, a block at a time), the *body*
//! (whole units of text) and the *tail* (what is left of the text, and the tag). Each runs in all
//! lanes that are there, with masks where lanes differ; lengths are public, so what differs by
//! length alone may branch.

pub(crate) mod data;
pub(crate) mod head;
pub(crate) mod keys;
pub(crate) mod lockstep;
pub(crate) mod mode;
pub(crate) mod single;
pub(crate) mod tail;
pub(crate) mod wave;

pub(crate) use data::Data;
pub(crate) use head::Head;
pub(crate) use keys::{KeyMaterial, Keys};
pub(crate) use mode::{Count, Facts, Group, Mode, Of, Params, State};
pub(crate) use tail::Tail;
pub(crate) use wave::Wave;
