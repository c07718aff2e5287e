//! Pass `setting`: which parties compute, and in which roles.
//!
//! The parties of a session are those of the program and then its helpers, who own nothing and
//! learn nothing but may compute. A protocol without fixed roles is run by all of them alike. A
//! protocol with roles is run by all parties, if its roles take so many. Where other parties may
//! give and learn, it is run by the helpers, if its roles take as many as these, or by the owners
//! of inputs and the helpers, if its roles take as many as both together. For other numbers the
//! computing parties are ambiguous, and planning refuses.

use sealane_diagnostic::{Code, Diagnostic};
use sealane_parties::{NetworkClass, PartyId, PartySet};
use sealane_program::graph::Program;
use sealane_protocol::{Players, Profile, Protocol, Role, Setting};

/// Parties of a session who may compute in place of all.
#[derive(Clone, Copy, Debug)]
pub struct Roster {
    /// The parties of the program that own inputs.
    owners: PartySet,
    /// Number of helpers.
    helpers: usize,
    /// True if they have a pool of oblivious transfers.
    pool: bool,
}

impl Roster {
    /// The owners of the inputs of a program, and so many helpers.
    pub fn of(program: &Program, helpers: usize) -> Roster {
        let owners = program.inputs.iter().map(|input| PartyId(input.owner));
        Roster {
            owners: PartySet::of(owners),
            helpers,
            pool: false,
        }
    }

    /// The same with a pool of oblivious transfers.
    pub fn with_pool(self) -> Roster {
        Roster { pool: true, ..self }
    }

    fn owners(self) -> usize {
        self.owners.iter().count()
    }
}

/// Names for the fewest helpers with whom a protocol runs a program; `None` if it runs it with no
/// number of helpers.
pub fn fewest_helpers(profile: &Profile, program: &Program) -> Option<Vec<String>> {
    let (roles, named) = (profile.roles.len(), &program.parties);
    let roster = Roster::of(program, 0);
    let others = [named.len(), roster.owners(), 0].into_iter();
    let mut numbers = others.filter_map(|other| roles.checked_sub(other));
    let helpers = if suits(profile, program, 0) {
        0
    } else {
        numbers.find(|helpers| suits(profile, program, *helpers))?
    };
    Some(free_names(named, helpers))
}

/// Returns the settings that a program may run in, in order of preference: every assignment of
/// computing parties to the roles.
///
/// # Errors
/// The parties do not fit the protocol.
pub(crate) fn settings<P: Protocol>(
    program: &Program,
    roster: Roster,
    network: NetworkClass,
) -> Result<Vec<Setting>, Diagnostic> {
    candidates(&P::profile(), &program.parties, roster, network)
}

fn candidates(
    profile: &Profile,
    named: &[String],
    roster: Roster,
    network: NetworkClass,
) -> Result<Vec<Setting>, Diagnostic> {
    let helpers = roster.helpers;
    let parties = named.len() + helpers;
    let together = roster.owners() + helpers;
    let party = PartyId::from_index;
    let computing = match profile.outsiders {
        _ if profile.roles.is_empty() => Vec::new(),
        _ if profile.suits(parties) => (0..parties).map(party).collect(),
        true if profile.suits(helpers) => (named.len()..parties).map(party).collect(),
        true if profile.suits(together) => {
            let helpers = (named.len()..parties).map(party);
            roster.owners.iter().chain(helpers).collect()
        }
        _ => return Err(refusal(profile, named, roster)),
    };
    let assigned = assignments(profile.roles, &computing).into_iter();
    let setting = |roles| Setting {
        parties,
        roles,
        security: profile.security,
        timing: profile.timing(),
        network,
        pooled: roster.pool,
        silent: false,
        batch: None,
    };
    Ok(assigned.map(setting).collect())
}

/// Returns whether a program can run a protocol with that many helpers.
pub fn suits(profile: &Profile, program: &Program, helpers: usize) -> bool {
    let roster = Roster::of(program, helpers);
    candidates(profile, &program.parties, roster, NetworkClass::LAN).is_ok()
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
fn ways(profile: &Profile, named: &[String], roster: Roster) -> Vec<String> {
    let (roles, parties) = (profile.roles.len(), named.len());
    let none = |who: &str| format!("name no helper: {who} compute");
    let some = |helpers: usize, how: &str| {
        let verb = if helpers == 1 { "computes" } else { "compute" };
        let (who, example) = (count(helpers, "helper"), example(named, helpers));
        format!("name {who} who {verb} {how} (`--helpers {example}`)")
    };
    let all = roles.checked_sub(parties).map(|few| match few {
        0 => none("the program's parties"),
        _ => some(few, "with them"),
    });
    let owners = match roster.owners() {
        0 => None,
        owners if owners == parties => None,
        owners => roles.checked_sub(owners),
    };
    let owners = owners.map(|few| match few {
        0 => none("the owners of inputs"),
        _ => some(few, "with the owners of inputs"),
    });
    let outside = [owners, Some(some(roles, "for them"))].into_iter();
    let outside = outside.filter(|_| profile.outsiders).flatten();
    all.into_iter().chain(outside).collect()
}

/// States which numbers do not fit, and every change that would make them fit.
fn refusal(profile: &Profile, named: &[String], roster: Roster) -> Diagnostic {
    let helpers = roster.helpers;
    let (roles, parties) = (profile.roles.len(), named.len());
    let names = named.join(", ");
    let together = match helpers {
        0 => "no helper".to_string(),
        _ => count(helpers, "helper"),
    };
    let least = profile.most().map_or("at least ", |_| "");
    let roles = plural(roles, "party", "parties");
    Diagnostic {
        code: Code::Parties,
        message: format!("protocol `{}` computes with {least}{roles}", profile.name),
        span: None,
        reason: format!("the program names {parties} ({names}) and the command {together}"),
        hint: ways(profile, named, roster).join(", or "),
    }
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

    /// Owners of inputs are the parties in capitals.
    fn roster(names: &str, helpers: usize) -> Roster {
        let owns = |(_, name): &(usize, &str)| *name == name.to_uppercase();
        let owners = names.split(' ').enumerate().filter(owns);
        Roster {
            owners: PartySet::of(owners.map(|(at, _)| PartyId::from_index(at))),
            helpers,
            pool: false,
        }
    }

    /// Indices of the parties that may take the roles.
    fn players(
        roles: &'static [Role],
        outsiders: bool,
        names: &str,
        helpers: usize,
    ) -> Option<Vec<Vec<u8>>> {
        let (profile, roster) = (profile(roles, outsiders), roster(names, helpers));
        let named = named(names);
        let settings = candidates(&profile, &named, roster, NetworkClass::LAN).ok()?;
        let total = named.len() + helpers;
        assert!(settings.iter().all(|setting| setting.parties == total));
        let roles = |setting: Setting| {
            let all = setting.roles.iter().flatten();
            all.map(|party| party.0).collect()
        };
        Some(settings.into_iter().map(roles).collect())
    }

    fn refused(roles: &'static [Role], outsiders: bool, names: &str, helpers: usize) -> String {
        let (profile, roster) = (profile(roles, outsiders), roster(names, helpers));
        let refused = candidates(&profile, &named(names), roster, NetworkClass::LAN);
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
    fn owners_and_helpers_compute_for_receivers() {
        let pair = |a, b| Some(vec![vec![a, b], vec![b, a]]);
        assert_eq!(players(TWO, true, "A B bank", 0), pair(0, 1));
        assert_eq!(players(TWO, true, "bank A tax B", 0), pair(1, 3));
        assert_eq!(players(TWO, true, "A bank tax", 1), pair(0, 3));
        assert_eq!(players(TWO, true, "A B bank", 1), None);
        assert_eq!(players(TWO, true, "A B bank", 2), pair(3, 4));
        assert_eq!(players(TWO, false, "A B bank", 0), None);
        assert_eq!(players(TWO, true, "A B C", 0), None);
        let three = players(THREE, true, "A B bank tax", 1).expect("two owners and a helper");
        assert_eq!((three.len(), &three[0][..]), (6, &[0, 1, 4][..]));
        // All compute where all fit.
        let all = players(THREE, true, "A B bank", 0).expect("three parties");
        assert_eq!(all[0], [0, 1, 2]);
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
            refused(TWO, true, "A B bank", 1),
            "protocol `ring` computes with 2 parties: the program names 3 (A, B, bank) and the \
             command 1 helper; name no helper: the owners of inputs compute, or name 2 helpers \
             who compute for them (`--helpers ada,bob`)"
        );
        assert_eq!(
            refused(THREE, true, "A B bank tax", 0),
            "protocol `ring` computes with 3 parties: the program names 4 (A, B, bank, tax) and \
             the command no helper; name 1 helper who computes with the owners of inputs \
             (`--helpers ada`), or name 3 helpers who compute for them (`--helpers ada,bob,cyd`)"
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
            for (parties, owners) in (1..5).flat_map(|all| (0..=all).map(move |own| (all, own))) {
                let profile = profile(roles, outsiders);
                let party = |at: usize| format!("party p{at}\n");
                let input = |at: usize| format!("input x{at} : p{at} u8 in 0..255\n");
                let lines = (0..parties).map(party).chain((0..owners).map(input));
                let text = lines.collect::<String>();
                let param =
                    |at: usize| format!("  %{at} = param {at} : u8 in 0..255 known p{at}\n");
                let params = (0..owners).map(param).collect::<String>();
                let seven = format!("  %{owners} = const [7] : u8 in 7..7 public\n");
                let reveal = format!("reveal seven = %{owners} : u8 to p0\n");
                let main = format!("main {{\n{params}{seven}}}\n{reveal}");
                let text = format!("sealane program 1\nname p\n{text}{main}");
                let program = sealane_program::text::parse(&text, "p").expect("a program");
                let fits = |helpers: &usize| suits(&profile, &program, *helpers);
                let fewest = fewest_helpers(&profile, &program).map(|names| names.len());
                assert_eq!(fewest, (0..9).find(fits), "{text}");
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
