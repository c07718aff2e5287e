//! The offline part of products: masks are multiplied.

use super::offline::{Offline, made};
use super::pools::Matrices;
use super::{Walk, Words, mask, minus, plus, recv, to_bytes};
use sealane_net::Mesh;
use sealane_party::{Fault, Planes, Progress, Result, Selected};
use sealane_protocol::{Algebra, Correlation};
use std::collections::BTreeMap;

impl Offline {
    /// Begins the product of the masks of two matrices.
    pub(super) fn matrices<'a>(
        &mut self,
        kind: Correlation,
        algebra: Algebra,
        factors: [Selected<Words>; 2],
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, Self>> {
        let shape = Matrices::of(kind).ok_or_else(|| Fault::internal("no matrices"))?;
        let [left, right] = factors.each_ref().map(lines);
        let (mut x, columns) = (left.0.concat(), &right.0);
        let [left_length, right_length, _] = shape.lengths();
        // Where views overlap there may be fewer than the plan counts.
        x.resize(left_length, 0);
        let inner = factors[0].planes();
        let y = (0..inner).flat_map(|i| {
            let of = |at: usize| columns.get(at).map_or(0, |column| column[i]);
            (0..right_length / inner).map(of).collect::<Vec<_>>()
        });
        let (words, own) = self.0.open(kind, &x, &y.collect::<Vec<_>>())?;
        self.sum(own, mesh, move |walk, sums, _| {
            let opened = sums.add.iter().map(|sum| sum & mask(algebra));
            let product = walk.0.product(shape, &words, &opened.collect::<Vec<_>>());
            let places = left.1.iter().zip(&right.1);
            let parts = places.map(|(row, column)| product[shape.place(*row, *column)]);
            Ok(walk.prepared(algebra, factors, parts.collect()))
        })
    }

    /// A product whose masks are multiplied: its own mask, and what its online part takes.
    pub(super) fn prepared<'a>(
        &mut self,
        algebra: Algebra,
        factors: [Selected<Words>; 2],
        parts: Vec<u64>,
    ) -> Progress<'a, Self> {
        let lanes = parts.len();
        let out = self.0.random(algebra, lanes);
        let sums = parts.iter().zip(&out).map(|(p, z)| plus(algebra, *p, *z));
        let [left, right] = factors.map(|of| of.gathered().data().to_vec());
        let material = vec![left, right, sums.collect()];
        made(Planes::new(1, lanes, out), material)
    }

    /// At the dealer: reads the masks of all others, multiplies, and sends each its part of the
    /// products. Returns the dealer's own parts.
    pub(super) fn deal_products(
        &mut self,
        algebra: Algebra,
        factors: &[Selected<Words>; 2],
        mesh: &mut Mesh,
    ) -> Result<Vec<u64>> {
        let mut sums = factors.each_ref().map(distinct);
        for from in self.0.others() {
            for sum in &mut sums {
                let words = recv(from, sum.len(), mesh)?;
                for (sum, word) in sum.iter_mut().zip(words) {
                    *sum = plus(algebra, *sum, word);
                }
            }
        }
        let [left, right] = [0, 1].map(|i: usize| spread(&factors[i], &sums[i]));
        let lanes = factors[0].lanes();
        let mut products = vec![0u64; lanes];
        for (i, (x, y)) in left.iter().zip(&right).enumerate() {
            let sum = &mut products[i % lanes];
            *sum = plus(algebra, *sum, x.wrapping_mul(*y));
        }
        for to in self.0.others() {
            let part = self.0.random(algebra, lanes);
            mesh.send(to, &to_bytes(&part))?;
            for (sum, part) in products.iter_mut().zip(part) {
                *sum = minus(algebra, *sum, part);
            }
        }
        Ok(products)
    }
}

/// The different lanes that a product reads of an operand, and the number of the one of each lane.
pub(super) fn lines(selected: &Selected<Words>) -> (Vec<Vec<u64>>, Vec<usize>) {
    let (data, inner) = (selected.share.data(), selected.inner.indices());
    let (mut known, mut lines) = (BTreeMap::new(), Vec::new());
    let lanes = selected.lanes.indices().into_iter().map(|lane| {
        *known.entry(lane).or_insert_with(|| {
            lines.push(inner.iter().map(|i| data[lane + i]).collect());
            lines.len() - 1
        })
    });
    let places = lanes.collect();
    (lines, places)
}

/// Indices of the elements that a product reads, each once.
fn indices(selected: &Selected<Words>) -> BTreeMap<usize, usize> {
    let inner = selected.inner.indices();
    let lanes = selected.lanes.indices().into_iter();
    let all = lanes.flat_map(|lane| inner.iter().map(move |i| lane + i));
    let mut all = all.collect::<Vec<_>>();
    all.sort_unstable();
    all.dedup();
    all.into_iter().enumerate().map(|(at, i)| (i, at)).collect()
}

/// Words of the elements that a product reads, each once; zeros up to the number that the plan
/// counts.
pub(super) fn distinct(selected: &Selected<Words>) -> Vec<u64> {
    let data = selected.share.data();
    let words = indices(selected).into_keys().map(|index| data[index]);
    let mut words = words.collect::<Vec<_>>();
    words.resize(selected.distinct() as usize, 0);
    words
}

/// Words of all elements that a product reads, in its order, from those of [`distinct`].
fn spread(selected: &Selected<Words>, words: &[u64]) -> Vec<u64> {
    let places = indices(selected);
    let lanes = selected.lanes.indices();
    let inner = selected.inner.indices().into_iter();
    let all = inner.flat_map(|i| lanes.iter().map(move |lane| lane + i));
    all.map(|index| words[places[&index]]).collect()
}
