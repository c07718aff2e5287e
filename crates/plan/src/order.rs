//! Sorts by keys: which ones need no network, and whether one without costs less.
//!
//! The body of a sort in a program is any comparison of two elements. [`keys`] reads keys from a
//! body that compares numbers, the first unequal pair of which decides. A sort that protocols have
//! as a step keeps elements of equal keys in order, and a network does not. So it takes the place
//! of a network only where nobody can tell: equal keys are equal elements, the keys include the
//! number of the place, or the program says that the order of equal elements shows in no result.

use crate::cost::step_ns;
use crate::network::{Network, Stage};
use crate::steps::SortKey;
use sealane_circuit::Tape;
use sealane_program::graph::{Binary, Graph, Op, ValueId};
use sealane_protocol::{Algebra, Checks, Domain, Protocol, Setting, SortShape, StepShape};

/// The keys of a sort whose elements consist of so many values, the first key above the others;
/// none if its body compares something else.
pub(crate) fn keys(body: &Graph, over: usize) -> Option<Vec<SortKey>> {
    let [exchange] = body.returns[..] else {
        return None;
    };
    let body = Body { body, over };
    let mut keys = Vec::new();
    let mut rest = Some(exchange);
    while let Some(id) = rest {
        let (key, after) = body.first(id)?;
        keys.push(key);
        rest = after;
    }
    Some(keys)
}

/// The part of the keys that decides, if a stable sort by it gives the same elements as any other
/// sort. `whole` says for each value whether it is one number of each element, `places` whether it
/// is the number of the place, and `free` that the order of equal elements does not matter.
pub(crate) fn stable(
    mut keys: Vec<SortKey>,
    whole: &[bool],
    places: &[bool],
    free: bool,
) -> Option<Vec<SortKey>> {
    let at = |key: &SortKey| key.operand as usize;
    let place = keys.iter().position(|key| places[at(key)]);
    if let Some(place) = place {
        // No two elements have the same one: what follows never decides, and a sort that is stable
        // does not look at an ascending one.
        let ascending = !keys[place].descending;
        keys.truncate(place + usize::from(!ascending));
    }
    let is_key = |value: usize| whole[value] && keys.iter().any(|key| at(key) == value);
    let equal = (0..whole.len()).all(is_key);
    let sound = !keys.is_empty() && keys.iter().all(|key| whole[at(key)]);
    (sound && (free || place.is_some() || equal)).then_some(keys)
}

struct Body<'a> {
    body: &'a Graph,
    over: usize,
}

impl Body<'_> {
    fn op(&self, id: ValueId) -> &Op {
        &self.body[id].op
    }

    /// Reads `less` or `less | (same & rest)`: the key that is compared first, and the rest.
    fn first(&self, id: ValueId) -> Option<(SortKey, Option<ValueId>)> {
        if let Some(key) = self.less(id) {
            return Some((key, None));
        }
        let Op::Binary(Binary::Or, a, b) = *self.op(id) else {
            return None;
        };
        let (key, other) = match (self.less(a), self.less(b)) {
            (Some(key), _) => (key, b),
            (None, Some(key)) => (key, a),
            (None, None) => return None,
        };
        let Op::Binary(Binary::And, a, b) = *self.op(other) else {
            return None;
        };
        let rest = match (self.same(a), self.same(b)) {
            (Some(same), _) if same == key.operand => b,
            (_, Some(same)) if same == key.operand => a,
            _ => return None,
        };
        Some((key, Some(rest)))
    }

    /// The key of which a comparison says that the element behind comes first.
    fn less(&self, id: ValueId) -> Option<SortKey> {
        let (first, second) = match *self.op(id) {
            Op::Binary(Binary::Lt, a, b) => (a, b),
            Op::Binary(Binary::Gt, a, b) => (b, a),
            _ => return None,
        };
        let (operand, behind) = self.pair(first, second)?;
        Some(SortKey {
            operand,
            descending: !behind,
        })
    }

    /// The value of which a comparison says that both elements have the same.
    fn same(&self, id: ValueId) -> Option<u32> {
        match *self.op(id) {
            Op::Binary(Binary::Eq, a, b) => Some(self.pair(a, b)?.0),
            _ => None,
        }
    }

    /// The number of the value that is compared, and whether the one behind is named first.
    fn pair(&self, first: ValueId, second: ValueId) -> Option<(u32, bool)> {
        let (Op::Param(first), Op::Param(second)) = (self.op(first), self.op(second)) else {
            return None;
        };
        let over = self.over as u32;
        let (low, behind) = (*first.min(second), first > second);
        (low < over && first.abs_diff(*second) == over).then_some((low, behind))
    }
}

/// The prices of a protocol that sorts without a network.
pub(crate) struct Prices {
    setting: Setting,
    step_ns: fn(&Setting, &StepShape) -> f64,
    checks: fn(&Setting, &StepShape) -> Checks,
    /// Domain in which networks run.
    domain: Domain,
    /// Most elements of a sort.
    most: u64,
}

impl Prices {
    /// The prices of a protocol; none if it sorts by networks alone.
    pub fn of<P: Protocol>(setting: &Setting) -> Option<Prices> {
        let domain = P::domain(Algebra::Z2);
        let most = P::sorts().filter(|_| P::tape_domains() == [domain])?;
        Some(Prices {
            setting: setting.clone(),
            step_ns: |setting, work| step_ns::<P>(setting, work, 1),
            checks: |setting, work| P::cost(setting, work).checks,
            domain,
            most,
        })
    }

    /// Returns whether a sort of so many elements takes less time than a network of `pair`, with
    /// the proofs that either leaves to a later settlement.
    pub fn pays(&self, elements: u64, planes: u64, key_bits: u64, pair: &Tape) -> bool {
        if elements > self.most {
            return false;
        }
        let sort = StepShape::Sort(SortShape {
            domain: self.domain,
            rows: elements,
            planes,
            key_bits,
        });
        let setting = &self.setting;
        let stages = Network::Sort.stages(elements as usize);
        let mut checks = Checks::default();
        let mut stage = |stage: &Stage| {
            let tape = StepShape::tape(pair, self.domain, stage.pairs() as u64);
            checks.add(&(self.checks)(setting, &tape), 1);
            (self.step_ns)(setting, &tape)
        };
        let network = stages.iter().map(&mut stage).sum::<f64>();
        let settled = |checks| (self.step_ns)(setting, &StepShape::Settle { checks });
        // There is a settlement anyway.
        let proofs = settled(checks) - settled(Checks::default());
        (self.step_ns)(setting, &sort) < network + proofs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealane_program::graph::{Value, Visibility};
    use sealane_program::infer::Meta;
    use sealane_program::types::{Shape, Type};

    fn key(operand: u32, descending: bool) -> SortKey {
        SortKey {
            operand,
            descending,
        }
    }

    /// A body over elements of two numbers whose operations follow its four parameters.
    fn body(ops: &[Op]) -> Graph {
        let params = (0..4).map(Op::Param);
        let (ty, range) = (Type::Bool, Type::Bool.range());
        let meta = Meta::new(ty, Shape::scalar(), range, Visibility::Secret);
        let values = params.chain(ops.iter().cloned());
        let values = values.map(|op| Value::new(op, meta.clone(), None));
        let values = values.collect::<Vec<_>>();
        Graph {
            params: 4,
            returns: vec![ValueId(values.len() as u32 - 1)],
            values,
        }
    }

    fn binary(binary: Binary, a: u32, b: u32) -> Op {
        Op::Binary(binary, ValueId(a), ValueId(b))
    }

    #[test]
    fn keys_are_read_from_comparisons() {
        use Binary::*;
        // The parameters are x0 x1 y0 y1; the element y is behind.
        let read = |ops: &[Op]| keys(&body(ops), 2);
        assert_eq!(read(&[binary(Lt, 2, 0)]), Some(vec![key(0, false)]));
        assert_eq!(read(&[binary(Gt, 1, 3)]), Some(vec![key(1, false)]));
        assert_eq!(read(&[binary(Lt, 0, 2)]), Some(vec![key(0, true)]));
        let both = [
            binary(Lt, 1, 3),
            binary(Lt, 2, 0),
            binary(Eq, 0, 2),
            binary(And, 6, 4),
            binary(Or, 5, 7),
        ];
        assert_eq!(read(&both), Some(vec![key(0, false), key(1, true)]));
        // Another value is the same than the one that is compared.
        let mut other = both.clone();
        other[2] = binary(Eq, 1, 3);
        assert_eq!(read(&other), None);
        assert_eq!(read(&[binary(Le, 2, 0)]), None);
        assert_eq!(read(&[binary(Lt, 2, 1)]), None);
        assert_eq!(read(&[binary(Xor, 2, 0)]), None);
    }

    #[test]
    fn an_order_that_could_show_is_left_to_the_network() {
        let by = |keys: &[SortKey], places: &[bool], free| {
            let whole = vec![true; places.len()];
            stable(keys.to_vec(), &whole, places, free)
        };
        let first = vec![key(0, true)];
        assert_eq!(by(&first, &[false], false), Some(first.clone()));
        assert_eq!(by(&first, &[false, false], false), None);
        assert_eq!(by(&first, &[false, false], true), Some(first.clone()));
        // The number of the place is no key of a stable sort, unless the last place comes first.
        let two = [key(0, true), key(1, false)];
        assert_eq!(by(&two, &[false, true, false], false), Some(first));
        let two = vec![key(0, true), key(1, true)];
        assert_eq!(by(&two, &[false, true, false], false), Some(two.clone()));
        // A key of several numbers is none.
        assert_eq!(stable(two, &[true, false], &[false, false], true), None);
    }
}
