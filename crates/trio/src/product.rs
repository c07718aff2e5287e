//! Arithmetic modulo `2^k`: sums of multiples, which are local, and inner products.
//!
//! An inner product of any length is one resharing (Araki et al., CCS 2016): each party
//! adds up its cross terms over all factors first.

use crate::arrive::Arriving;
use crate::form::{Form, width};
use crate::roles::Computing;
use crate::share::Share;
use sealane_net::Mesh;
use sealane_party::{Factor, Fault, Planes, Result, Shares, Term};
use sealane_protocol::Domain;

/// The ring of a domain.
pub(crate) fn ring(domain: Domain) -> Result<usize> {
    let none = || Fault::Internal("arithmetic takes ring elements".to_string());
    width(domain)?.ok_or_else(none)
}

/// A sum of multiples, at a party with a role.
pub(crate) fn linear(domain: Domain, lanes: usize, terms: &[Term<'_, Share>]) -> Result<Share> {
    let k = ring(domain)?;
    let form = Form::ring(k, 1, lanes);
    let mut sums = [form.zeros(), form.zeros()];
    let mut first = true;
    for Term { share, factor } in terms {
        let planes = share.planes();
        if let Factor::Table(table) = factor
            && table.len() != planes * lanes
        {
            let what = "a table of factors has another shape than its term";
            return Err(Fault::Internal(what.to_string()));
        }
        let Some(parts) = Form::ring(k, planes, lanes).parts(share)? else {
            continue;
        };
        for plane in 0..planes {
            let of_plane = plane * lanes..(plane + 1) * lanes;
            for (sum, part) in sums.iter_mut().zip(parts) {
                let words = part[of_plane.clone()].iter();
                match factor {
                    Factor::Number(factor) => {
                        let terms = words.map(|word| word.wrapping_mul(*factor));
                        add_terms(sum.data_mut(), terms, first);
                    }
                    Factor::Table(table) => {
                        let pairs = words.zip(&table[of_plane.clone()]);
                        let terms = pairs.map(|(word, factor)| word.wrapping_mul(*factor));
                        add_terms(sum.data_mut(), terms, first);
                    }
                }
            }
            first = false;
        }
    }
    for sum in &mut sums {
        form.trim(sum.data_mut());
    }
    Ok(form.share(sums))
}

impl Computing {
    /// Begins an inner product.
    pub(crate) fn product(
        &mut self,
        domain: Domain,
        left: &Share,
        right: &Share,
        mesh: &mut Mesh,
    ) -> Result<Arriving> {
        let k = ring(domain)?;
        let factors = Form::ring(k, left.planes(), left.elements());
        let (left, right) = (factors.parts(left)?, factors.parts(right)?);
        let form = Form::ring(k, 1, factors.elements());
        let summand = match (left, right) {
            (Some(left), Some(right)) => cross(form, left, right),
            // A shape alone is zero.
            _ => form.zeros(),
        };
        self.reshare(form, summand, mesh)
    }
}

/// This party's summand of an inner product, one for each element of `form`:
/// `x_i y_i + x_i y_(i+1) + x_(i+1) y_i` over all planes, not reduced.
pub(crate) fn cross(form: Form, x: [&[u64]; 2], y: [&[u64]; 2]) -> Planes<u64> {
    let mut sum = form.zeros();
    let lanes = form.elements().max(1);
    let [x_own, x_next] = x.map(|part| part.chunks_exact(lanes));
    let [y_own, y_next] = y.map(|part| part.chunks_exact(lanes));
    let planes = x_own.zip(x_next).zip(y_own.zip(y_next));
    for (plane, ((x_own, x_next), (y_own, y_next))) in planes.enumerate() {
        let rows = x_own.iter().zip(x_next).zip(y_own.iter().zip(y_next));
        let terms = rows.map(|((x_own, x_next), (y_own, y_next))| {
            let own = x_own.wrapping_mul(y_own.wrapping_add(*y_next));
            own.wrapping_add(x_next.wrapping_mul(*y_own))
        });
        add_terms(sum.data_mut(), terms, plane == 0);
    }
    sum
}

/// Adds terms to words. The first ones take the place of zeros, which are not read: memory that is
/// read before it is written to comes to a process twice.
pub(crate) fn add_terms(sum: &mut [u64], terms: impl Iterator<Item = u64>, first: bool) {
    let pairs = sum.iter_mut().zip(terms);
    if first {
        pairs.for_each(|(sum, term)| *sum = term)
    } else {
        pairs.for_each(|(sum, term)| *sum = sum.wrapping_add(term))
    }
}
