//! Crate `page`: presentation of plans, results and runs, in a terminal, a notebook and a browser.
//!
//! A [`Card`] is a titled block of labelled lines: its `Display` is for terminals and logs, its
//! [`Card::html`] for notebooks. A [`RunRecord`] is the content of a run's folder, and its
//! [`RunRecord::page`] one self-contained file: no script, no external font or picture, and a
//! policy in it that forbids every request.
//!
//! Everything here is a function of values: no file, no clock, no network. Names and texts may come
//! from other parties, so they become HTML in one way only, by [`html::Html::text`], which escapes
//! them.
//!
//! | file | what it holds |
//! |---|---|
//! | `card`, `notebook` | cards as text and as HTML |
//! | `html` | escaping by type |
//! | `units` | numbers, sizes, times and dates for people |
//! | `view` | what a command shows: a record, from which card and JSON derive |
//! | `check`, `plan`, `report` | the records of a check, a plan, a finished run |
//! | `signature`, `named`, `division` | parts of these records |
//! | `run` | what a run left, read from its events; its summary |
//! | `run/page` | the page: header, parties, failures, tables |
//! | `run/lanes`, `run/crossed` | parties as lanes over time, and what crossed between them |
#![forbid(unsafe_code)]

pub mod card;
pub mod check;
pub mod compare;
pub mod division;
pub mod html;
mod named;
mod notebook;
pub mod plan;
pub mod report;
pub mod run;
pub mod signature;
pub mod units;
mod view;
pub mod why;

pub use card::Card;
pub use named::Named;
pub use run::RunRecord;
pub use signature::{Participants, Signature};
pub use view::View;
