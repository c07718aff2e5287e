//! Arithmetic modulo `2^k`: sums of multiples, which are local, and inner products.
//!
//! An inner product of any length is one resharing (Araki et al., CCS 2016): each party
//! adds up its cross terms over all factors first.

use crate::Share;
use crate::arrive::Arriving;
use crate::roles::Computing;
use sealane_net::Mesh;
use sealane_party::{Form, Planes, Result, Shares, add_terms, ring};
use sealane_protocol::Domain;

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
