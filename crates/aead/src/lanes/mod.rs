//! Execution of modes on lanes.
//!
//! A mode ([`Mode`]) is written once, as equations on [`Wave`]s: one block for each lane. The
//! meaning of a lane is not visible to the mode:
//!
//! | form | lanes | vectors | round keys | blocks come from |
//! |---|---|---|---|---|
//! | [`lockstep`] | messages, each with its key | eight | [`keys::Each`] | [`data::Dealt`] |
//! | [`single`], sequential part | the first one | one | [`keys::Same`] | [`data::Alone`] |
//! | [`single`], parallel part | neighbouring units | eight | [`keys::Same`] | [`data::Dealt`] |
//!
//! Vectors are those of the tier where there is work for all lanes; few messages, and the last
//! units of one message, have those of a narrower tier.
//!
//! A message has three parts: the *head* (nonce and associated data, a block at a time), the *body*
//! (whole units of text) and the *tail* (the rest of the text, and the tag). Each runs in all lanes
//! in use, with masks where lanes differ; lengths are public, so code may branch on them.

pub(crate) mod data;
pub(crate) mod head;
pub(crate) mod keys;
pub(crate) mod lockstep;
pub(crate) mod mode;
pub(crate) mod single;
mod table;
pub(crate) mod tail;
pub(crate) mod wave;
pub(crate) mod work;

pub(crate) use data::Data;
pub(crate) use head::Head;
pub(crate) use keys::{BACK, FORWARD, KeyMaterial, Keys};
pub(crate) use mode::{Count, Facts, Group, Mode, Of, OneState, Params, State};
pub(crate) use table::AlignedBlocks;
pub(crate) use tail::Tail;
pub(crate) use wave::{One, Shape, Token, Vector, Vectors, Wave};
