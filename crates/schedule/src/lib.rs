//! Crate `schedule`: work graphs, machine models, orders and batches.
//!
//! The main idea of this project, *find independent work, fill the lanes*, without reference to
//! gates or protocols. A [`Graph`] holds pieces of work and their dependencies; its nodes are free
//! or costly. A [`Machine`] states how many costly nodes it runs at once and how far from the
//! written order it may go. [`schedule`] cuts the graph into batches: free nodes that run in order,
//! then costly nodes that do not depend on each other. [`slots()`] assigns every value a place in a
//! short array, which is reused after the value's last use.
//!
//! The same call serves gates of a circuit (costly: AND; lanes: AES pipes) and steps of a plan
//! (costly: steps that send messages; lanes: one round, without a limit).
//!
//! The default order is *static with a locality window*: a list schedule that prefers the oldest
//! node and never looks further ahead than a window of costly nodes, so that the live set stays
//! near that of the written order while the lanes fill. Pure levels fill them better and push
//! values out of cache; the written order does the opposite.
//!
//! A machine that issues nodes in cycles is a [`Pipeline`]; [`prioritised`] orders a graph inside
//! its exact model, by one of several priorities or by a search, and [`in_order`] runs a given
//! order. [`Lanes`] is the CPU as such a machine, whose cycles are batches. Models of garbling
//! hardware are in crate `accel`.
//!
//! Time and memory of batches are linear in nodes and edges, up to the logarithm of the window.
//! Nothing here depends on secret values: graphs are public.

#![forbid(unsafe_code)]

mod chains;
mod graph;
mod lanes;
mod order;
mod pipeline;
mod search;
mod slots;

pub use chains::{longest_first, steps};
pub use graph::{Graph, NodeCost};
pub use lanes::Lanes;
pub use order::{Batch, Machine, Order, Schedule, schedule};
pub use pipeline::{Issue, Pipeline, Priority, in_order, prioritised};
pub use search::Effort;
pub use slots::{Slots, slots};
