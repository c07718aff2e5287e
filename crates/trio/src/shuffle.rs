//! Shuffle: rows in an order that no party knows.
//!
//! Each pair of neighbours in turn puts the rows in a random order which both draw from the key
//! that they have in common, and hides the rows from the third (Laur, Willemson, Zhang,
//! "Round-Efficient Oblivious Database Manipulation", ISC 2011). The order of all three together is
//! unknown to each, who lacks one of them. Between the passes the rows are the sum of two parts, so
//! that a pass costs one element of each row, as in Araki, Furukawa, Ohara, Pinkas, Rosemarin,
//! Tsuchida, "Secure Graph Analysis at Scale", CCS 2021. With `o_1`, `o_2`, `o_0` the orders, and
//! `r`, `s`, `t`, `y_0` masks, from keys `k_1`, `k_2` and `k_0`:
//!
//! ```text
//!                role 0                     role 1                  role 2
//! first          x_0 + x_1                  x_2
//! flight 1       sends o_1(x_0 + x_1) - r   o_1(x_2) + r                         0 -> 2
//! flight 2                                  sends o_2(...) - s      o_2(...) + s    1 -> 0
//! flight 3       y_1 = o_0(...) - t                                 y_2 = o_0(...) + t - y_0
//!                both send theirs to role 1, and know y_0
//! ```
//!
//! Every message has a mask that its receiver does not know, so it looks random. Four elements of
//! each row cross in three flights.
//!
//! *Opened rows.* Where all parties are to learn the rows in their new order, the last flight is
//! another: roles 0 and 2 send their parts to each other and, with a mask `t`, to role 1. Each
//! learns the sum of two parts, of which one is its own or random.

use crate::Share;
use crate::arrive::{recv, send};
use crate::order::{MOST_ROWS, Order, Rows, planes_of_rows, rows_of_planes};
use crate::roles::Computing;
use sealane_net::Mesh;
use sealane_party::{Fault, Form, Planes, Result, Shares};

/// Rows that go through a shuffle together.
struct ShuffledRows {
    rows: Rows,
    opened: bool,
    /// This party's part between two flights, if it has one, or the first component of the result;
    /// then the second one.
    parts: [Option<Planes<u64>>; 2],
}

/// A shuffle between two flights.
pub(crate) struct Shuffling {
    count: usize,
    tables: Vec<ShuffledRows>,
    /// Flights that have been read.
    read: u8,
    /// The last order, at the two parties that know it.
    last: Option<Order>,
}

/// Rows to be shuffled: their layout, and both components.
pub(crate) type Given<'a> = (Rows, [&'a [u64]; 2]);

/// Rows to be shuffled that are the sum of a part at role 0 and a part at role 1; the part of role
/// 2 is not used.
pub(crate) type InParts<'a> = (Rows, &'a [u64]);

/// Progress of a shuffle.
pub(crate) enum ShuffleProgress {
    More(Shuffling),
    /// For each of the tables the components, those of `hidden` first, or the opened rows of
    /// `opened`, once.
    Done(Vec<[Planes<u64>; 2]>, Option<Planes<u64>>),
}

impl Computing {
    /// Begins a shuffle of so many rows: those of `hidden`, and `opened`, which all parties learn
    /// in the new order.
    pub(crate) fn shuffle(
        &mut self,
        count: usize,
        hidden: &[Given<'_>],
        opened: Option<InParts<'_>>,
        mesh: &mut Mesh,
    ) -> Result<Shuffling> {
        let role = self.role_index.role;
        let order = match role {
            0 => Some(self.keys.next.order(count)),
            1 => Some(self.keys.own.order(count)),
            _ => None,
        };
        let mut tables = Vec::with_capacity(hidden.len() + 1);
        for (rows, [own, next]) in hidden {
            // Role 0 has components 0 and 1, role 1 has component 2 behind component 1.
            let sum = (role == 0).then(|| rows.form.sum([*own, *next]));
            let part = sum.as_ref().map_or(*next, Planes::data);
            let part = self.first_pass(order.as_ref(), *rows, part, mesh)?;
            tables.push(ShuffledRows {
                rows: *rows,
                opened: false,
                parts: [part, None],
            });
        }
        if let Some((rows, part)) = opened {
            let part = self.first_pass(order.as_ref(), rows, part, mesh)?;
            tables.push(ShuffledRows {
                rows,
                opened: true,
                parts: [part, None],
            });
        }
        Ok(Shuffling {
            count,
            tables,
            read: 0,
            last: None,
        })
    }

    /// The pass of roles 0 and 1, who know the order, each with a part of the rows.
    fn first_pass(
        &mut self,
        order: Option<&Order>,
        rows: Rows,
        part: &[u64],
        mesh: &mut Mesh,
    ) -> Result<Option<Planes<u64>>> {
        let (role_index, keys, form) = (self.role_index, &mut self.keys, rows.form);
        let Some(order) = order else {
            return Ok(None);
        };
        let mut part = order.of_rows(rows, part);
        match role_index.role {
            0 => keys.next.subtract_mask(form, part.data_mut()),
            _ => keys.own.add_mask(form, part.data_mut()),
        }
        if role_index.role == 0 {
            send(Some(self.cpu), form, part.data(), role_index.previous, mesh)?;
            return Ok(None);
        }
        Ok(Some(part))
    }

    /// Begins a shuffle of the rows of a share, which has this form.
    pub(crate) fn shuffle_share(
        &mut self,
        form: Form,
        share: &Share,
        mesh: &mut Mesh,
    ) -> Result<Shuffling> {
        let (count, planes) = (share.elements(), share.planes());
        if count as u64 > MOST_ROWS {
            return Err(Fault::internal("more rows than a shuffle takes"));
        }
        let rows = match form.ring_bits() {
            Some(k) => Rows::ring(k, planes, count),
            None => Rows::bits(count, planes),
        };
        let given = match (form.parts(share)?, form.ring_bits()) {
            // At a party with a role, a shape alone is zero.
            (None, _) => [(); 2].map(|()| rows.form.zeros()),
            (Some(parts), Some(_)) => parts.map(|part| form.sum([part])),
            (Some(parts), None) => parts.map(|part| rows_of_planes(count, planes, part)),
        };
        let given = (rows, given.each_ref().map(Planes::data));
        self.shuffle(count, &[given], None, mesh)
    }

    /// Reads the flight that is due and writes the next one.
    pub(crate) fn advance_shuffle(
        &mut self,
        mut shuffling: Shuffling,
        mesh: &mut Mesh,
    ) -> Result<ShuffleProgress> {
        shuffling.read += 1;
        match shuffling.read {
            1 => self.second_pass(&mut shuffling, mesh)?,
            2 => self.third_pass(&mut shuffling, mesh)?,
            _ => return self.end_shuffle(shuffling, mesh),
        }
        Ok(ShuffleProgress::More(shuffling))
    }

    /// The pass of roles 1 and 2, whose parts `role 1` has and role 0 has sent.
    fn second_pass(&mut self, shuffling: &mut Shuffling, mesh: &mut Mesh) -> Result<()> {
        let (role_index, keys) = (self.role_index, &mut self.keys);
        let key = match role_index.role {
            0 => return Ok(()),
            1 => &mut keys.next,
            _ => &mut keys.own,
        };
        let order = key.order(shuffling.count);
        for ShuffledRows { rows, parts, .. } in &mut shuffling.tables {
            let form = rows.form;
            let before = match role_index.role {
                1 => parts[0].take().ok_or_else(missing)?,
                _ => recv(Some(self.cpu), form, role_index.next, mesh)?,
            };
            let mut part = order.of_rows(*rows, before.data());
            match role_index.role {
                1 => key.subtract_mask(form, part.data_mut()),
                _ => key.add_mask(form, part.data_mut()),
            }
            match role_index.role {
                1 => send(Some(self.cpu), form, part.data(), role_index.previous, mesh)?,
                _ => parts[0] = Some(part),
            }
        }
        Ok(())
    }

    /// The pass of roles 2 and 0, which leaves the result.
    fn third_pass(&mut self, shuffling: &mut Shuffling, mesh: &mut Mesh) -> Result<()> {
        let (role_index, keys) = (self.role_index, &mut self.keys);
        let key = match role_index.role {
            0 => &mut keys.own,
            1 => return Ok(()),
            _ => &mut keys.next,
        };
        let (pair, third) = match role_index.role {
            0 => (role_index.previous, role_index.next),
            _ => (role_index.next, role_index.previous),
        };
        let order = key.order(shuffling.count);
        for ShuffledRows {
            rows,
            opened,
            parts,
        } in &mut shuffling.tables
        {
            let form = rows.form;
            let before = match role_index.role {
                0 => recv(Some(self.cpu), form, role_index.next, mesh)?,
                _ => parts[0].take().ok_or_else(missing)?,
            };
            let mut masked = order.of_rows(*rows, before.data());
            let part = opened.then(|| form.sum([masked.data()]));
            match role_index.role {
                0 => key.subtract_mask(form, masked.data_mut()),
                _ => key.add_mask(form, masked.data_mut()),
            }
            *parts = match part {
                Some(part) => {
                    send(Some(self.cpu), form, before.data(), pair, mesh)?;
                    send(Some(self.cpu), form, masked.data(), third, mesh)?;
                    [Some(part), None]
                }
                None => {
                    let first = key.mask(form);
                    if role_index.role == 2 {
                        form.group.subtract(masked.data_mut(), first.data());
                        form.trim(masked.data_mut());
                    }
                    send(Some(self.cpu), form, masked.data(), third, mesh)?;
                    match role_index.role {
                        0 => [Some(first), Some(masked)],
                        _ => [Some(masked), Some(first)],
                    }
                }
            };
        }
        shuffling.last = Some(order);
        Ok(())
    }

    /// Reads the last flight.
    fn end_shuffle(&mut self, shuffling: Shuffling, mesh: &mut Mesh) -> Result<ShuffleProgress> {
        let (role_index, last) = (self.role_index, shuffling.last);
        let (mut hidden, mut opened) = (Vec::new(), None);
        for ShuffledRows {
            rows,
            opened: is_opened,
            parts,
        } in shuffling.tables
        {
            let form = rows.form;
            let parts = match (role_index.role, parts) {
                // The parts of roles 0 and 2, in this order: components 1 and 2, or a sum.
                (1, _) => [
                    recv(Some(self.cpu), form, role_index.previous, mesh)?,
                    recv(Some(self.cpu), form, role_index.next, mesh)?,
                ],
                (_, [Some(part), None]) => {
                    let pair = if role_index.role == 0 {
                        role_index.previous
                    } else {
                        role_index.next
                    };
                    let other = recv(Some(self.cpu), form, pair, mesh)?;
                    let order = last.as_ref().ok_or_else(missing)?;
                    [part, order.of_rows(rows, other.data())]
                }
                (_, [Some(own), Some(next)]) => [own, next],
                _ => return Err(missing()),
            };
            if is_opened {
                opened = Some(form.sum(parts.each_ref().map(Planes::data)))
            } else {
                hidden.push(parts)
            }
        }
        Ok(ShuffleProgress::Done(hidden, opened))
    }
}

/// The share of this form that the only rows of a shuffle are.
pub(crate) fn shuffled(form: Form, hidden: Vec<[Planes<u64>; 2]>) -> Result<Share> {
    let parts = hidden.into_iter().next().ok_or_else(missing)?;
    Ok(form.share(match form.ring_bits() {
        Some(_) => parts,
        None => {
            let [planes, count] = [form.planes(), form.elements()];
            parts.map(|rows| planes_of_rows(count, planes, rows.data()))
        }
    }))
}

fn missing() -> Fault {
    Fault::internal("a shuffle has lost its rows")
}
