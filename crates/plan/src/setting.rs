//! Pass `setting`: which parties compute, and in which roles.
//!
//! The parties of a session are those of the program and then its helpers, who own nothing and
//! learn nothing but may compute. A protocol without fixed roles is run by all of them alike. A
//! protocol with roles is run by all parties, if its roles take so many, or by the helpers, if they
//! take as many as these; for other numbers the computing parties are ambiguous, and planning
//! refuses.

use sealane_diagnostic::{Code, Diagnostic};
use sealane_parties::{NetworkClass, PartyId};
use sealane_program::graph::Program;
use sealane_protocol::{Players, Profile, Protocol, Role, Setting};

/// Names for the fewest helpers with whom a protocol runs a program of these parties; `None` if it
/// runs none of that number with any helpers.
pub fn fewest_helpers(profile: &Profile, named: &[String]) -> Option<Vec<String>> {
    let roles = profile.roles.len();
    let helpers = match roles.checked_sub(named.len()) {
        _ if profile.suits(named.len()) => 0,
        Some(missing) => missing,
        None if profile.outsiders => roles,
        None => return None,
    };
    Some(free_names(named, helpers))
}

/// Returns the settings that a program with helpers may run in, in order of preference: every
/// assignment of computing parties to the roles.
///
/// # Errors
/// The parties do not fit the protocol.
pub(crate) fn settings<P: Protocol>(
    program: &Program,
    helpers: usize,
    network: NetworkClass,
) -> Result<Vec<Setting>, Diagnostic> {
    candidates(&P::profile(), &program.parties, helpers, network)
}

fn candidates(
    profile: &Profile,
    named: &[String],
    helpers: usize,
    network: NetworkClass,
) -> Result<Vec<Setting>, Diagnostic> {
    let parties = named.len() + helpers;
    let computing = match helpers {
        _ if profile.roles.is_empty() => 0..0,
        _ if profile.suits(parties) => 0..parties,
        _ if profile.outsiders && profile.suits(helpers) => named.len()..parties,
        _ => return Err(refusal(profile, named, helpers)),
    };
    let computing = computing.map(PartyId::from_index).collect::<Vec<_>>();
    let assigned = assignments(profile.roles, &computing).into_iter();
    let setting = |roles| Setting {
        parties,
        roles,
        security: profile.security,
        timing: profile.timing(),
        network,
        pooled: false,
        silent: false,
    };
    Ok(assigned.map(setting).collect())
}

/// Returns whether a program of the parties `named` can run a protocol with that many helpers.
pub fn suits(profile: &Profile, named: &[String], helpers: usize) -> bool {
    candidates(profile, named, helpers, NetworkClass::Lan).is_ok()
}

/// Every assignment of parties to roles: each role of one is tried with each party, in the given
/// order first, and all others share the role of any number, so that there are `n^k` assignments of
/// `n` parties to `k` roles of one, not `n!`.
fn assignments(roles: &[Role], parties: &[PartyId]) -> Vec<Vec<Vec<PartyId>>> {
    let Some((role, rest)) = roles.split_first() else {
        return vec![Vec::new()];
    };
    if role.players == Players::AtLeastOne {
        // The roles behind it choose first.
        let behind = assignments(rest, parties).into_iter();
        let all = behind.map(|mut behind| {
            let taken = |party: &PartyId| behind.iter().flatten().any(|other| other == party);
            let others = parties.iter().copied().filter(|party| !taken(party));
            behind.insert(0, others.collect());
            behind
        });
        return all.collect();
    }
    let mut all = Vec::new();
    for (at, player) in parties.iter().enumerate() {
        let others = [&parties[..at], &parties[at + 1..]].concat();
        let prepend = |rest: Vec<Vec<PartyId>>| [vec![vec![*player]], rest].concat();
        all.extend(assignments(rest, &others).into_iter().map(prepend));
    }
    all
}

/// Returns every change of the helpers with which a program of the parties `named` can run a
/// protocol.
fn ways(profile: &Profile, named: &[String]) -> Vec<String> {
    let (roles, parties) = (profile.roles.len(), named.len());
    let mut ways = Vec::new();
    match roles.checked_sub(parties) {
        Some(0) => ways.push("name no helper: the program's parties compute".to_string()),
        Some(few) => {
            let (who, example) = (who(few, "with"), example(named, few));
            ways.push(format!("name {who} (`--helpers {example}`)"));
        }
        None => {}
    }
    if profile.outsiders {
        let (who, example) = (who(roles, "for"), example(named, roles));
        ways.push(format!("name {who} (`--helpers {example}`)"));
    }
    ways
}

/// States which numbers do not fit, and every change that would make them fit.
fn refusal(profile: &Profile, named: &[String], helpers: usize) -> Diagnostic {
    let (roles, parties) = (profile.roles.len(), named.len());
    let names = named.join(", ");
    let together = match helpers {
        0 => "no helper".to_string(),
        _ => count(helpers, "helper"),
    };
    Diagnostic {
        code: Code::Parties,
        message: format!(
            "protocol `{}` computes with {}{}",
            profile.name,
            if profile.most().is_none() {
                "at least "
            } else {
                ""
            },
            plural(roles, "party", "parties")
        ),
        span: None,
        reason: format!("the program names {parties} ({names}) and the command {together}"),
        hint: ways(profile, named).join(", or "),
    }
}

/// Describes missing helpers: those who compute with the program's parties, or for them.
fn who(missing: usize, how: &str) -> String {
    let verb = if missing == 1 { "computes" } else { "compute" };
    format!("{} who {verb} {how} them", count(missing, "helper"))
}

fn count(number: usize, what: &str) -> String {
    plural(number, what, &format!("{what}s"))
}

fn plural(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// Example names for helpers beside those of the program, as `--helpers` takes them.
fn example(taken: &[String], helpers: usize) -> String {
    free_names(taken, helpers).join(",")
}

fn free_names(taken: &[String], helpers: usize) -> Vec<String> {
    let names = ["ada", "bob", "cyd"].map(String::from).into_iter();
    let names = names.chain((1..).map(|number| format!("helper{number}")));
    let free = names.filter(|name| !taken.contains(name));
    free.take(helpers).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealane_testkit::fake::Honest;

    fn profile(roles: &'static [Role], outsiders: bool) -> Profile {
        Profile {
            name: "ring",
            roles,
            outsiders,
            ..Honest::profile()
        }
    }

    const THREE: &[Role] = &[Role::one("first"), Role::one("second"), Role::one("third")];
    const TWO: &[Role] = &[Role::one("garbler"), Role::one("evaluator")];
    const OPEN: &[Role] = &[Role::any("garblers"), Role::one("evaluator")];

    fn named(names: &str) -> Vec<String> {
        names.split(' ').map(String::from).collect()
    }

    /// Indices of the parties that may take the roles.
    fn players(
        roles: &'static [Role],
        outsiders: bool,
        names: &str,
        helpers: usize,
    ) -> Option<Vec<Vec<u8>>> {
        let named = named(names);
        let settings = candidates(
            &profile(roles, outsiders),
            &named,
            helpers,
            NetworkClass::Lan,
        )
        .ok()?;
        let total = named.len() + helpers;
        assert!(settings.iter().all(|setting| setting.parties == total));
        let roles = |setting: Setting| {
            let all = setting.roles.iter().flatten();
            all.map(|party| party.0).collect()
        };
        Some(settings.into_iter().map(roles).collect())
    }

    fn refused(roles: &'static [Role], outsiders: bool, names: &str, helpers: usize) -> String {
        let refused = candidates(
            &profile(roles, outsiders),
            &named(names),
            helpers,
            NetworkClass::Lan,
        );
        let error = refused.expect_err("the numbers do not fit");
        assert_eq!(error.code, "parties");
        format!("{}: {}; {}", error.message, error.reason, error.hint)
    }

    #[test]
    fn without_roles_all_take_part_alike() {
        assert_eq!(players(&[], false, "a b", 0), Some(vec![vec![]]));
        assert_eq!(players(&[], false, "a b", 3), Some(vec![vec![]]));
    }

    #[test]
    fn as_many_helpers_as_roles_compute_for_the_parties_of_the_program() {
        let orders = players(THREE, true, "a b", 3).expect("three helpers suit three roles");
        assert_eq!(orders.len(), 6);
        assert_eq!(orders[0], [2, 3, 4]);
        assert_eq!(orders[5], [4, 3, 2]);
        assert_eq!(
            players(TWO, true, "a", 2),
            Some(vec![vec![1, 2], vec![2, 1]])
        );
        // Not if parties without a role may own nothing.
        assert_eq!(players(THREE, false, "a b", 3), None);
    }

    #[test]
    fn all_compute_where_all_together_are_as_many_as_roles() {
        for outsiders in [false, true] {
            let orders = players(THREE, outsiders, "a b", 1).expect("one helper is missing");
            assert_eq!((orders.len(), &orders[0][..]), (6, &[0, 1, 2][..]));
            let pair = vec![vec![0, 1], vec![1, 0]];
            assert_eq!(players(TWO, outsiders, "a b", 0), Some(pair));
        }
    }

    /// Each party is tried as the evaluator, all others garble; as many assignments as parties.
    #[test]
    fn a_role_of_any_number_takes_all_who_are_left() {
        let all = players(OPEN, false, "a b c d", 0);
        let want = [[1, 2, 3, 0], [0, 2, 3, 1], [0, 1, 3, 2], [0, 1, 2, 3]];
        assert_eq!(all, Some(want.map(|roles| roles.to_vec()).to_vec()));
        assert_eq!(
            players(OPEN, false, "a b", 38).map(|all| all.len()),
            Some(40)
        );
        assert_eq!(players(OPEN, false, "a", 0), None);
        let text = refused(OPEN, false, "a", 0);
        assert!(text.contains("computes with at least 2 parties"), "{text}");
    }

    #[test]
    fn what_does_not_fit_is_refused_with_every_way_out() {
        assert_eq!(
            refused(THREE, true, "hospital lab", 0),
            "protocol `ring` computes with 3 parties: the program names 2 (hospital, lab) and the \
             command no helper; name 1 helper who computes with them (`--helpers ada`), or name \
             3 helpers who compute for them (`--helpers ada,bob,cyd`)"
        );
        assert_eq!(
            refused(TWO, false, "a b c", 2),
            "protocol `ring` computes with 2 parties: the program names 3 (a, b, c) and the \
             command 2 helpers; "
        );
        assert_eq!(
            refused(TWO, false, "a b", 1),
            "protocol `ring` computes with 2 parties: the program names 2 (a, b) and the command \
             1 helper; name no helper: the program's parties compute"
        );
    }

    #[test]
    fn the_fewest_helpers_fit_and_no_fewer_do() {
        for (roles, outsiders) in [
            (TWO, false),
            (TWO, true),
            (THREE, true),
            (OPEN, false),
            (&[], false),
        ] {
            for names in ["a", "a b", "a b c", "a b c d"] {
                let (profile, named) = (profile(roles, outsiders), named(names));
                let fits =
                    |helpers| candidates(&profile, &named, helpers, NetworkClass::Lan).is_ok();
                let fewest = fewest_helpers(&profile, &named).map(|names| names.len());
                assert_eq!(fewest, (0..9).find(|helpers| fits(*helpers)), "{names}");
            }
        }
    }

    #[test]
    fn examples_take_no_name_of_the_program() {
        let text = refused(THREE, true, "ada cyd", 2);
        assert!(text.contains("`--helpers bob`"), "{text}");
        assert!(text.contains("`--helpers bob,helper1,helper2`"), "{text}");
    }
}
