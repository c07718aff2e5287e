//! Sums of multiples modulo `2^k` or a prime, component by component.

use crate::components::Components;
use crate::fault::{Fault, Result};
use crate::form::{Form, Group, is_prime, width};
use crate::share::Shares;
use crate::step::{Factor, Term};
use sealane_block::Prime;
use sealane_protocol::Domain;
use zeroize::Zeroizing;

/// Bits of an element of a domain of ring elements.
///
/// # Errors
/// [`Fault::Internal`] if it is another domain.
pub fn ring(domain: Domain) -> Result<usize> {
    let none = || Fault::Internal("arithmetic takes ring elements".to_string());
    width(domain)?.ok_or_else(none)
}

/// A sum of multiples of shared elements modulo `2^k` or a prime, at a party that has shares.
///
/// # Errors
/// [`Fault::Internal`] if an operand is no share of such elements.
pub fn linear<const P: usize>(
    domain: Domain,
    lanes: usize,
    terms: &[Term<'_, Components<P>>],
) -> Result<Components<P>> {
    if !is_prime(domain) {
        ring(domain)?;
    }
    let form = Form::of(domain, 1, lanes)?;
    let prime = form.group == Group::Prime;
    let mut sums: [_; P] = std::array::from_fn(|_| form.zeros());
    let mut first = true;
    for Term { share, factor } in terms {
        let planes = share.planes();
        if let Factor::Table(table) = factor
            && table.len() != planes * lanes
        {
            let what = "a table of factors has another shape than its term";
            return Err(Fault::Internal(what.to_string()));
        }
        let Some(parts) = Form::of(domain, planes, lanes)?.parts(share)? else {
            continue;
        };
        for plane in 0..planes {
            let of_plane = plane * lanes..(plane + 1) * lanes;
            for (sum, part) in sums.iter_mut().zip(parts) {
                let words = part[of_plane.clone()].iter();
                match factor {
                    Factor::Number(factor) if prime => {
                        let factor = Prime::from_signed(*factor);
                        let terms = words.map(|word| Prime::mul(*word, factor));
                        form.group
                            .add(sum.data_mut(), &Zeroizing::new(terms.collect::<Vec<_>>()));
                    }
                    Factor::Table(table) if prime => {
                        let pairs = words.zip(&table[of_plane.clone()]);
                        let terms = pairs
                            .map(|(word, factor)| Prime::mul(*word, Prime::from_signed(*factor)));
                        form.group
                            .add(sum.data_mut(), &Zeroizing::new(terms.collect::<Vec<_>>()));
                    }
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

/// Adds terms to words. The first ones take the place of zeros, which are not read: memory that is
/// read before it is written to comes to a process twice.
pub fn add_terms(sum: &mut [u64], terms: impl Iterator<Item = u64>, first: bool) {
    let pairs = sum.iter_mut().zip(terms);
    if first {
        pairs.for_each(|(sum, term)| *sum = term)
    } else {
        pairs.for_each(|(sum, term)| *sum = sum.wrapping_add(term))
    }
}
