//! Invariants after each pass, checked before the next pass relies on them. Those of the finished
//! plan, which `choose` and `rearrange` make, are in `check`; those after `fuse` are in `draft`.

use crate::algebra::Had;
use crate::draft::{Draft, Phase};
use crate::floats::Call;
use crate::lower::Lowered;
use crate::segment::computed_by;
use crate::steps::{PlanValue, Step};
use sealane_parties::PartyId;
use sealane_program::call;
use sealane_program::graph::{Graph, Op, Program, ValueId};
use sealane_program::types::Type;
use sealane_protocol::{Algebra, Players, Profile, Role, Setting};

/// Most roles of one party in a protocol: `setting` tries each party in each of them.
const MOST_ROLES_OF_ONE: usize = 3;

/// Checks the settings that `setting` proposes: every role is played by a party of the session, and
/// no party plays two.
pub(crate) fn setting(settings: &[Setting], profile: &Profile) -> Result<(), String> {
    ensure(!settings.is_empty(), "no setting")?;
    let open = |role: &&Role| role.players == Players::AtLeastOne;
    let open = profile.roles.iter().filter(open).count();
    let bounded = open <= 1 && profile.roles.len() - open <= MOST_ROLES_OF_ONE;
    ensure(bounded, "too many roles of one, or of any number")?;
    for setting in settings {
        ensure(setting.roles.len() == profile.roles.len(), "a role is open")?;
        let mut parties = setting.roles.concat();
        let there = |party: &PartyId| party.index() < setting.parties;
        ensure(parties.iter().all(there), "a role of no party")?;
        for (role, players) in profile.roles.iter().zip(&setting.roles) {
            let fits = match role.players {
                Players::One => players.len() == 1,
                Players::AtLeastOne => !players.is_empty(),
            };
            ensure(fits, "a role of too many or too few parties")?;
        }
        let all = parties.len();
        parties.sort();
        parties.dedup();
        ensure(parties.len() == all, "a party plays two roles")?;
    }
    Ok(())
}

/// Checks the program after `floats`: no value is of floating point, in any body either, and every
/// call has a name that `lower` knows.
pub(crate) fn plain(program: &Program) -> Result<(), String> {
    ensure(is_plain(&program.main), "a value is of floating point")?;
    let inputs = program.inputs.iter().map(|input| &input.ty);
    let mut types = inputs.chain(program.results.iter().map(|result| &result.ty));
    ensure(
        !types.any(|ty| ty.is_float()),
        "an input or result is of floating point",
    )
}

fn is_plain(graph: &Graph) -> bool {
    graph.values.iter().all(|value| {
        let plain = match &value.op {
            Op::Const(data) => !data.ty.is_float(),
            Op::Call(name, _) => {
                let fixed = call::of_fixed(name).is_some() || call::of_power(name).is_some();
                let field = call::of_field(name).is_some();
                fixed || field || call::function(name).is_ok() || Call::named(name).is_some()
            }
            op => op.body().is_none_or(is_plain),
        };
        plain && !value.ty.is_float()
    })
}

/// Checks the program after `scale`: no type has a fraction, in any body either.
pub(crate) fn scaled(program: &Program) -> Result<(), String> {
    let whole = |ty: &Type| !matches!(ty, Type::Fixed { .. });
    ensure(graph_is_whole(&program.main), "a value has a fraction")?;
    let inputs = program.inputs.iter().map(|input| &input.ty);
    let mut types = inputs.chain(program.results.iter().map(|result| &result.ty));
    ensure(types.all(whole), "an input or result has a fraction")
}

fn graph_is_whole(graph: &Graph) -> bool {
    graph.values.iter().all(|value| {
        let body = value.op.body().is_none_or(graph_is_whole);
        body && !matches!(value.ty, Type::Fixed { .. })
    })
}

/// Checks the program after `expand`: operands stand before their users, a result depends on every
/// value, and a protocol without arithmetic is asked for no dot product.
pub(crate) fn expanded(program: &Program, arithmetic: bool) -> Result<(), String> {
    let values = &program.main.values;
    let mut read = vec![false; values.len()];
    for (index, value) in values.iter().enumerate() {
        for operand in value.op.operands() {
            ensure(
                (operand.0 as usize) < index,
                "an operand stands behind its user",
            )?;
            read[operand.0 as usize] = true;
        }
        let dot = matches!(value.op, Op::Dot(..));
        ensure(arithmetic || !dot, "a dot product is left")?;
    }
    for result in &program.results {
        let read = read.get_mut(result.value.0 as usize);
        *read.ok_or("a result has no value")? = true;
    }
    ensure(
        read.into_iter().all(|read| read),
        "no result depends on a value",
    )
}

/// Checks the choice of `algebra`: every value is computed somewhere, a ring has at most 64 bits or
/// is a prime field, and only protocols with arithmetic have one.
pub(crate) fn algebras(program: &Program, had: &[Had], arithmetic: bool) -> Result<(), String> {
    ensure(
        had.len() == program.main.values.len(),
        "a value has no algebra",
    )?;
    for had in had {
        ensure(
            had.bits || had.ring.is_some(),
            "a value is computed nowhere",
        )?;
        ensure(
            arithmetic || had.ring.is_none(),
            "a ring without arithmetic",
        )?;
        let fits = had.ring.is_none_or(|ring| match ring {
            Algebra::Z2k(k) => (1..=64).contains(&k),
            ring => ring == Algebra::Fp,
        });
        ensure(fits, "a ring of no or too many bits")?;
    }
    Ok(())
}

/// Checks the phases of `segment`: no value is computed in a level before that of an operand, and a
/// value with rows is computed in a walk over these rows.
pub(crate) fn phases(program: &Program, phases: &[Phase]) -> Result<(), String> {
    let values = &program.main.values;
    ensure(phases.len() == values.len(), "a value has no phase")?;
    for (index, (value, phase)) in values.iter().zip(phases).enumerate() {
        for operand in value.op.operands() {
            let before = phases[operand.0 as usize].level <= phase.level;
            ensure(before, "a value is computed in a level before its operand")?;
        }
        let walked = computed_by(&program.main, ValueId(index as u32));
        ensure(phase.rows == walked, "rows of another walk")?;
    }
    Ok(())
}

/// Checks the steps of `lower`: one for each unit, which reads and writes what its unit does.
pub(crate) fn lowered(draft: &Draft, lowered: &Lowered) -> Result<(), String> {
    let whole = |steps: &Vec<Step>| steps.len() == draft.units.len();
    ensure(lowered.forms.iter().all(whole), "a unit has no step")?;
    let units = lowered
        .forms
        .iter()
        .flat_map(|steps| draft.units.iter().zip(steps));
    for (unit, step) in units {
        let sorted = |mut values: Vec<PlanValue>| {
            values.sort_unstable();
            values.dedup();
            values
        };
        let reads = sorted(step.op.reads());
        let unit_reads = sorted(unit.work.reads());
        // A circuit that ignores an operand has no input for it.
        let known = reads.iter().all(|read| unit_reads.contains(read));
        ensure(known, "a step reads what its unit does not")?;
        let same = sorted(step.op.writes()) == sorted(unit.work.writes());
        ensure(same, "a step writes what its unit does not")?;
    }
    Ok(())
}

fn ensure(holds: bool, otherwise: &str) -> Result<(), String> {
    if holds {
        Ok(())
    } else {
        Err(otherwise.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domains::Domains;
    use crate::{algebra, expand, fuse, lower, scale, segment};
    use sealane_program::text;
    use sealane_protocol::Goal;
    use sealane_testkit::fake::Honest;

    /// A sum over rows of products of fixed point, and a value that depends on it.
    const PROGRAM: &str = "sealane program 1\nname p\nparty a\nparty b\nrows n <= 100\n\
        input x : a fixed8.8[n] in -128..127.99609375\n\
        input y : b fixed8.8[n] in -128..127.99609375\n\
        main {\n\
        \x20 %0 = param 0 : fixed8.8[n] in -128..127.99609375 known a\n\
        \x20 %1 = param 1 : fixed8.8[n] in -128..127.99609375 known b\n\
        \x20 %2 = min %0, %1 : fixed8.8[n] in -128..127.99609375 secret\n\
        \x20 %3 = reduce max %2 axis 0 : fixed8.8 in -128..127.99609375 secret\n\
        }\nreveal r = %3 : fixed8.8 to a\n";

    fn program() -> Program {
        text::parse(PROGRAM, "p").unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn fractions_are_noticed() {
        let program = program();
        assert!(scaled(&program).is_err());
        let mut scaled_program = scale::scale(&program);
        assert_eq!(scaled(&scaled_program), Ok(()));
        scaled_program.results[0].ty = program.results[0].ty;
        assert!(scaled(&scaled_program).is_err());
    }

    #[test]
    fn values_without_a_reader_or_in_the_wrong_order_are_noticed() {
        let good = expand::expand(
            &scale::scale(&program()),
            algebra::Arithmetic::None,
            Goal::Size,
            false,
        );
        assert_eq!(expanded(&good, false), Ok(()));
        let mut unread = good.clone();
        unread.main.values.push(good.main.values[0].clone());
        assert!(expanded(&unread, false).is_err());
        let mut swapped = good.clone();
        let last = swapped.main.values.len() - 1;
        swapped.main.values.swap(0, last);
        assert!(expanded(&swapped, false).is_err());
    }

    #[test]
    fn algebras_and_phases_that_do_not_fit_are_noticed() {
        let program = expand::expand(
            &scale::scale(&program()),
            algebra::Arithmetic::None,
            Goal::Size,
            false,
        );
        let mut had = algebra::algebra(&program, algebra::Arithmetic::None, false, false);
        assert_eq!(algebras(&program, &had, false), Ok(()));
        had[0].ring = Some(Algebra::Z2k(16));
        assert!(algebras(&program, &had, false).is_err());
        assert_eq!(algebras(&program, &had, true), Ok(()));
        had[0].ring = Some(Algebra::Z2k(65));
        assert!(algebras(&program, &had, true).is_err());
        let mut computed = segment::segment(&program);
        assert_eq!(phases(&program, &computed), Ok(()));
        computed[0].level += 1;
        assert!(phases(&program, &computed).is_err());
    }

    /// Lowers a program; also returns the number of circuits that it took.
    fn lower(program: &Program) -> (Draft, Lowered, usize) {
        let program = expand::expand(
            &scale::scale(program),
            algebra::Arithmetic::None,
            Goal::Size,
            false,
        );
        let had = algebra::algebra(&program, algebra::Arithmetic::None, false, false);
        let draft = fuse::fuse(&program, &segment::segment(&program), &had, None).expect("a draft");
        let domains = Domains::of::<Honest>(2, true);
        let mut bodies = lower::Bodies::default();
        let target = lower::Target {
            domains: &domains,
            prices: None,
            lookups: Default::default(),
        };
        let steps = lower::lower(
            &draft,
            &[PartyId(0), PartyId(1)],
            &[64],
            &[100],
            target,
            &mut bodies,
        );
        (draft, steps.expect("steps"), bodies.0.len())
    }

    #[test]
    fn steps_that_are_not_those_of_their_units_are_noticed() {
        let (draft, mut steps, _) = lower(&program());
        assert_eq!(lowered(&draft, &steps), Ok(()));
        let last = draft.units.len() - 1;
        steps.forms[0].swap(0, last);
        assert!(lowered(&draft, &steps).is_err());
        steps.forms[0].pop();
        assert!(lowered(&draft, &steps).is_err());
    }

    #[test]
    fn circuits_of_equal_work_are_built_once() {
        let end = "in -128..127.99609375 secret\n";
        let turn = |of, max, at, then| {
            let most = format!("  %{at} = max %{of}, %{max} : fixed8.8[n] {end}");
            format!("{most}  %{then} = reduce max %{at} axis 0 : fixed8.8 {end}")
        };
        let turns = format!("{}{}}}\n", turn(2, 3, 4, 5), turn(4, 5, 6, 7));
        let text = PROGRAM.replace("}\n", &turns).replace("r = %3", "r = %7");
        let program = text::parse(&text, "p").unwrap_or_else(|error| panic!("{error}"));
        let (draft, _, built) = lower(&program);
        // Both turns have one body, and all levels of all trees one circuit.
        assert_eq!((draft.units.len(), built), (8, 3));
    }
}
