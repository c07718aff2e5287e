//! Products modulo `2^k`.
//!
//! *Shared operands* open both less random ones whose product is shared: pair by pair, or as
//! matrices where each row meets each column.
//!
//! *Numbers `r` that a party knows* take products of random bits `p_i` that this party has by
//! random elements `a` of the other one (Gilboa, CRYPTO 1999). It sends `d_i = r_i ^ p_i`, the
//! other sends its share `y` less `a`. Then `r y` is `r (y - a)`, which the first party computes,
//! and the sum of `2^i r_i a`, where `r_i a` is `p_i a` or `a - p_i a` by `d_i`. The product by the
//! first party's share is its own.

use crate::convert::turned;
use crate::cost::{Known, Method, method};
use crate::role::{Computing, recv, send};
use crate::{MixedParty, Share, then};
use sealane_net::Mesh;
use sealane_party::{Fault, Form, Progress, Result, Selected, Shares, ring};
use sealane_protocol::{Correlation, Domain, StepShape};
use std::collections::BTreeMap;
use zeroize::Zeroizing;

type Words = Zeroizing<Vec<u64>>;

impl<const L: bool> Computing<L> {
    /// Begins a product.
    pub(crate) fn product<'a>(
        &mut self,
        shape: &StepShape,
        domain: Domain,
        factors: [Selected<Share>; 2],
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, MixedParty<L>>> {
        let StepShape::Product(product) = shape else {
            return Err(Fault::internal("not a product"));
        };
        match method(&self.setting, product) {
            Method::Local => self.local(domain, &factors),
            Method::Known(known) => self.by_known(domain, known, factors, mesh),
            Method::Matrix {
                rows,
                inner,
                columns,
            } => self.matrices(domain, [rows, inner, columns], &factors, mesh),
            Method::Pairs => self.pairs(domain, &factors, mesh),
        }
    }

    /// All elements that a product reads of an operand, plane by plane.
    fn gathered(&self, k: usize, operand: &Selected<Share>) -> Result<Words> {
        let share = operand.gathered();
        self.words(Form::ring(k, share.planes(), share.elements()), &share)
    }

    /// A product of operands that one party knows; the other's shares are zero.
    fn local<'a>(
        &self,
        domain: Domain,
        factors: &[Selected<Share>; 2],
    ) -> Result<Progress<'a, MixedParty<L>>> {
        let k = ring(domain)?;
        let x = self.gathered(k, &factors[0])?;
        let y = self.gathered(k, &factors[1])?;
        let lanes = factors[0].lanes();
        let products = x.iter().zip(&*y).map(|(x, y)| x.wrapping_mul(*y));
        Ok(summed(k, lanes, products))
    }

    /// Pair by pair.
    fn pairs<'a>(
        &mut self,
        domain: Domain,
        factors: &[Selected<Share>; 2],
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, MixedParty<L>>> {
        let (k, algebra) = (ring(domain)?, domain.algebra);
        let (lanes, terms) = (factors[0].lanes(), factors[0].planes());
        let count = lanes * terms;
        let random = self.goods.take(Correlation::Triple { algebra }, count)?;
        let form = Form::ring(k, 2, count);
        let mut own = form.zeros();
        for (at, factor) in factors.iter().enumerate() {
            let words = self.gathered(k, factor)?;
            own.plane_mut(at).copy_from_slice(&words);
            form.group.subtract(own.plane_mut(at), &random.elements[at]);
        }
        form.trim(own.data_mut());
        let first = self.first();
        self.open_masked([(form, own)], mesh, move |_, [opened], _| {
            let [a, b, c] = &random.elements[..] else {
                return Err(Fault::internal("other correlations of products"));
            };
            let products = (0..count).map(|at| {
                let (d, e) = (opened.plane(0)[at], opened.plane(1)[at]);
                let sum = c[at].wrapping_add(d.wrapping_mul(b[at]));
                let sum = sum.wrapping_add(e.wrapping_mul(a[at]));
                sum.wrapping_add(if first { d.wrapping_mul(e) } else { 0 })
            });
            Ok(summed(k, lanes, products))
        })
    }

    /// Each row of the left operand by each column of the right one.
    fn matrices<'a>(
        &mut self,
        domain: Domain,
        sides: [u32; 3],
        factors: &[Selected<Share>; 2],
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, MixedParty<L>>> {
        let k = ring(domain)?;
        let kind = Correlation::Matrix {
            algebra: domain.algebra,
            rows: sides[0],
            inner: sides[1],
            columns: sides[2],
        };
        let [rows, inner, columns] = sides.map(|side| side as usize);
        let [left, right] = [0, 1].map(|at: usize| Lines::of(&factors[at]));
        let x = left.words(&self.operand(k, &factors[0])?, rows);
        let by_columns = right.words(&self.operand(k, &factors[1])?, columns);
        let y = transposed(&by_columns, inner);
        let random = self.goods.take(kind, 1)?;
        let form = Form::ring(k, 1, x.len() + y.len());
        let mut own = form.zeros();
        let (of_x, of_y) = own.data_mut().split_at_mut(x.len());
        for ((own, words), random) in [(of_x, x), (of_y, y)].into_iter().zip(&random.elements) {
            own.copy_from_slice(&words);
            form.group.subtract(own, random);
        }
        form.trim(own.data_mut());
        let (first, lanes) = (self.first(), factors[0].lanes());
        self.open_masked([(form, own)], mesh, move |_, [opened], _| {
            let [a, b, c] = &random.elements[..] else {
                return Err(Fault::internal("other correlations of matrices"));
            };
            let (d, e) = opened.data().split_at(rows * inner);
            let mut sum = c.clone();
            add_product(&mut sum, d, b, [inner, columns]);
            add_product(&mut sum, a, e, [inner, columns]);
            if first {
                add_product(&mut sum, d, e, [inner, columns]);
            }
            let places = left.of_lane.iter().zip(&right.of_lane);
            let elements = places.map(|(row, column)| sum[row * columns + column]);
            Ok(summed(k, lanes, elements))
        })
    }

    /// All elements of an operand.
    fn operand(&self, k: usize, operand: &Selected<Share>) -> Result<Words> {
        let share = &operand.share;
        self.words(Form::ring(k, share.planes(), share.elements()), share)
    }

    /// By numbers that a party knows.
    fn by_known<'a>(
        &mut self,
        domain: Domain,
        known: Known,
        factors: [Selected<Share>; 2],
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, MixedParty<L>>> {
        let k = ring(domain)?;
        let pairs = self.met(k, known, &factors)?;
        let random = self
            .goods
            .take(known.kind(domain.algebra), known.numbers as usize)?;
        let numbers = factors[known.at].numbers;
        let bits = usize::from(known.bits);
        let told = Form::ring(bits, 1, pairs.numbers.len());
        let met = Form::ring(k, 1, pairs.others.len());
        let holds = known.holder == self.me;
        let (out, sent) = if holds { (told, met) } else { (met, told) };
        let mut own = out.zeros();
        if holds {
            own.data_mut().copy_from_slice(&pairs.numbers);
            let pairs = own.data_mut().iter_mut().zip(&*random.elements[0]);
            pairs.for_each(|(own, bits)| *own ^= bits);
        } else {
            own.data_mut().copy_from_slice(&pairs.others);
            out.group.subtract(own.data_mut(), &random.elements[0]);
        }
        out.trim(own.data_mut());
        send(out, &own, self.peer, mesh)?;
        let peer = self.peer;
        Ok(then(move |_, mesh| {
            let theirs = recv(sent, peer, mesh)?;
            let weight = |bit: usize| {
                if numbers.signed && bit + 1 == bits {
                    (1u64 << bit).wrapping_neg()
                } else {
                    1 << bit
                }
            };
            let told = if holds { &own } else { &theirs };
            let partners = known.partners as usize;
            let mut products = Zeroizing::new(vec![0u64; pairs.others.len()]);
            for (at, product) in products.iter_mut().enumerate() {
                let number = at / partners;
                if holds {
                    let met = theirs.data()[at].wrapping_add(pairs.others[at]);
                    *product = met.wrapping_mul(pairs.numbers[number]);
                }
                let element = if holds { 0 } else { random.elements[0][at] };
                for bit in 0..bits {
                    let part = random.elements[1][(number * bits + bit) * partners + at % partners];
                    let part = turned(told.data()[number] >> bit & 1, element, part);
                    *product = product.wrapping_add(part.wrapping_mul(weight(bit)));
                }
            }
            Ok(pairs.sums(k, &products))
        }))
    }

    /// The pairs of a product by numbers that a party knows.
    fn met(&self, k: usize, known: Known, factors: &[Selected<Share>; 2]) -> Result<Pairs> {
        let [of_numbers, of_others] = [known.at, 1 - known.at].map(|at| &factors[at]);
        let (lanes, terms) = (of_numbers.lanes(), of_numbers.planes());
        let whole = of_numbers.lines() * of_others.lines() == lanes as u64;
        if !whole {
            return Ok(Pairs {
                numbers: self.gathered(k, of_numbers)?,
                others: self.gathered(k, of_others)?,
                lanes,
                cells: None,
            });
        }
        let partners = known.partners as usize;
        let [rows, columns] = [of_numbers, of_others].map(Lines::of);
        let numbers = rows.words(
            &self.operand(k, of_numbers)?,
            known.numbers as usize / terms,
        );
        let by_columns = columns.words(&self.operand(k, of_others)?, partners);
        let by_terms = transposed(&by_columns, terms);
        let mut others = Zeroizing::new(Vec::with_capacity(numbers.len() * partners));
        for _ in 0..numbers.len() / terms {
            others.extend_from_slice(&by_terms);
        }
        let of_lane = rows.of_lane.into_iter().zip(columns.of_lane).collect();
        Ok(Pairs {
            numbers,
            others,
            lanes,
            cells: Some(Cells {
                of_lane,
                terms,
                columns: partners,
            }),
        })
    }
}

/// Pairs of numbers that a party knows and of elements.
struct Pairs {
    numbers: Words,
    /// For each number the elements that it meets.
    others: Words,
    lanes: usize,
    /// Of matrices, the cell of each lane.
    cells: Option<Cells>,
}

/// The row and the column of each lane, and the numbers of terms and columns.
struct Cells {
    of_lane: Vec<(usize, usize)>,
    terms: usize,
    columns: usize,
}

impl Pairs {
    /// Sums of the products of each lane.
    fn sums<'a, const L: bool>(&self, k: usize, products: &[u64]) -> Progress<'a, MixedParty<L>> {
        let Some(cells) = &self.cells else {
            return summed(k, self.lanes, products.iter().copied());
        };
        let sum = |(row, column): &(usize, usize)| {
            let numbers = row * cells.terms..(row + 1) * cells.terms;
            let products = numbers.map(|number| products[number * cells.columns + column]);
            products.fold(0, u64::wrapping_add)
        };
        summed(k, self.lanes, cells.of_lane.iter().map(sum))
    }
}

/// The different lanes that a product reads of an operand.
struct Lines {
    /// Elements of each, by their places in the operand.
    places: Vec<Vec<usize>>,
    terms: usize,
    /// The number of that of each lane.
    of_lane: Vec<usize>,
}

impl Lines {
    fn of(operand: &Selected<Share>) -> Lines {
        let inner = operand.inner.indices();
        let (mut numbers, mut places) = (BTreeMap::new(), Vec::new());
        let of_lane = operand.lanes.indices().into_iter().map(|lane| {
            *numbers.entry(lane).or_insert_with(|| {
                places.push(inner.iter().map(|at| lane + at).collect());
                places.len() - 1
            })
        });
        Lines {
            of_lane: of_lane.collect(),
            places,
            terms: inner.len(),
        }
    }

    /// Elements of so many lanes, one lane after the other; where views overlap, there may be fewer
    /// than the plan counts, and the rest is zero.
    fn words(&self, operand: &[u64], count: usize) -> Words {
        let mut words = Zeroizing::new(Vec::with_capacity(count * self.terms));
        words.extend(self.places.iter().flatten().map(|place| operand[*place]));
        words.resize(count * self.terms, 0);
        words
    }
}

/// Columns of `inner` elements each as rows.
fn transposed(columns: &[u64], inner: usize) -> Words {
    let count = columns.len() / inner.max(1);
    let rows = (0..inner).flat_map(|i| (0..count).map(move |j| columns[j * inner + i]));
    let mut words = Zeroizing::new(Vec::with_capacity(columns.len()));
    words.extend(rows);
    words
}

/// Adds the product of two matrices, of these inner and last sides.
fn add_product(sum: &mut [u64], x: &[u64], y: &[u64], [inner, columns]: [usize; 2]) {
    for (sum, row) in sum.chunks_mut(columns).zip(x.chunks(inner)) {
        for (x, y) in row.iter().zip(y.chunks(columns)) {
            let pairs = sum.iter_mut().zip(y);
            pairs.for_each(|(sum, y)| *sum = sum.wrapping_add(x.wrapping_mul(*y)));
        }
    }
}

/// A finished product: the sums of what each lane has in all planes.
fn summed<'a, const L: bool>(
    k: usize,
    lanes: usize,
    products: impl Iterator<Item = u64>,
) -> Progress<'a, MixedParty<L>> {
    let form = Form::ring(k, 1, lanes);
    let mut sum = form.zeros();
    for (at, product) in products.enumerate() {
        let sum = &mut sum.data_mut()[at % lanes];
        *sum = sum.wrapping_add(product);
    }
    form.trim(sum.data_mut());
    Progress::share(form.share([sum]))
}
