//! `--input` where one command serves several parties: `simulate` and `run --local`.

use crate::Failure;
use sealane_diagnostic::{Code, Diagnostic};
use sealane_engine::EngineError;
use sealane_engine::data::{self, Inputs, Sources, split};
use sealane_program::graph::Program;
use sealane_program::kind::Form;
use sealane_program::types::Data;
use std::collections::BTreeSet;

/// The files of the one party that this process is.
///
/// # Errors
/// Two files are given for the same inputs.
pub fn of_one(arguments: &[String]) -> Result<Sources, Failure> {
    each_once(arguments)?;
    Ok(Sources::from_arguments(arguments))
}

/// Refuses a second file for what already has one: the first would silently not be read.
fn each_once(arguments: &[String]) -> Result<(), Failure> {
    let mut seen = BTreeSet::new();
    for argument in arguments {
        let name = split(argument).0;
        if !seen.insert(name) {
            let what = match name {
                Some(name) => format!("`--input` names two files for `{name}`"),
                None => "`--input` names two files for all inputs".to_string(),
            };
            let hint = "write `NAME=FILE` for a single input";
            return Err(Failure::new(Code::InputTwice, what, hint));
        }
    }
    Ok(())
}

/// The files of each party of a session, those of the program and then the helpers, who have none.
/// An argument is `PARTY=FILE` for all inputs of a party, `NAME=FILE` for one input, or `FILE`
/// where one party alone owns inputs: else one table would silently stand for those of several
/// owners.
pub fn by_party(
    program: &Program,
    helpers: &[String],
    arguments: &[String],
) -> Result<Vec<Sources>, Failure> {
    each_once(arguments)?;
    let mut sources = vec![Sources::default(); program.parties.len() + helpers.len()];
    for argument in arguments {
        let (name, path) = split(argument);
        let Some(name) = name else {
            sources[sole_owner(program, path)?].default = Some(path.into());
            continue;
        };
        if let Some(party) = program.parties.iter().position(|party| party == name) {
            sources[party].default = Some(path.into());
        } else if let Some(input) = program.inputs.iter().find(|input| input.name == name) {
            let named = &mut sources[usize::from(input.owner)].by_input;
            named.insert(name.to_string(), path.into());
        } else if helpers.iter().any(|helper| helper == name) {
            let what = format!("`--input {argument}` names a helper, and helpers own no input");
            let hint = "leave it out, or name the owner";
            return Err(Failure::new(Code::InputOfHelper, what, hint));
        } else {
            let inputs = program.inputs.iter().map(|input| input.name.as_str());
            let inputs = inputs.collect::<Vec<_>>().join(", ");
            let what = format!("the program has no party and no input `{name}`");
            let parties = program.parties.join(", ");
            let hint = format!("name a party ({parties}) or an input ({inputs})");
            return Err(Failure::new(Code::UnknownInput, what, hint));
        }
    }
    Ok(sources)
}

/// Checks that each party of a session has a file for all of its inputs, where one command serves
/// them all.
///
/// # Errors
/// A party has none at all: an input without a file beside others is refused when it is read.
pub fn need_files(program: &Program, sources: &[Sources]) -> Result<(), Failure> {
    for (party, (name, sources)) in program.parties.iter().zip(sources).enumerate() {
        let own = program.inputs.iter().filter(|input| {
            usize::from(input.owner) == party && !matches!(input.kind.form, Form::Missing(_))
        });
        let own = own.collect::<Vec<_>>();
        let Some(first) = own.first() else {
            continue;
        };
        if sources.default.is_some() || !sources.by_input.is_empty() {
            continue;
        }
        let names = own.iter().map(|input| format!("`{}`", input.name));
        let names = names.collect::<Vec<_>>().join(", ");
        let noun = if own.len() == 1 { "input" } else { "inputs" };
        let message = format!("there is no file for the {noun} {names} of {name}");
        let finding = Diagnostic::new(Code::DataMissing, message)
            .at(first.span.as_ref())
            .because("this command reads the inputs of all parties")
            .hint(format!("add `--input {name}=FILE`"));
        return Err(EngineError::from(finding).into());
    }
    Ok(())
}

/// The one party that owns inputs, to whom a file without a name belongs.
fn sole_owner(program: &Program, path: &str) -> Result<usize, Failure> {
    let owners = program.inputs.iter().map(|input| input.owner);
    let owners = owners.collect::<BTreeSet<_>>();
    match owners.first() {
        Some(owner) if owners.len() == 1 => Ok(usize::from(*owner)),
        _ => {
            let names = owners
                .iter()
                .map(|owner| &program.parties[usize::from(*owner)]);
            let each = names.map(|name| format!("`--input {name}=FILE`"));
            let what = format!("`--input {path}` does not say whose inputs it holds");
            let hint = format!("write {}", each.collect::<Vec<_>>().join(" and "));
            Err(Failure::new(Code::WhoseInput, what, hint))
        }
    }
}

/// All inputs of a program, each read as its owner would read it, and notes about them.
pub fn load_all(
    program: &Program,
    sources: &[Sources],
) -> Result<(Vec<Data>, Vec<String>), Failure> {
    let mut all: Vec<Option<Data>> = program.inputs.iter().map(|_| None).collect();
    let mut notes = Vec::new();
    for (party, sources) in sources.iter().enumerate() {
        let own = load_own(program, party as u8, sources)?;
        for (slot, data) in all.iter_mut().zip(own.data) {
            *slot = slot.take().or(data);
        }
        notes.extend(own.notes);
    }
    let missing = || EngineError::internal("an input was not read").into();
    let all = all.into_iter().map(|data| data.ok_or_else(missing));
    Ok((all.collect::<Result<_, Failure>>()?, notes))
}

/// The inputs of one party.
pub fn load_own(program: &Program, party: u8, sources: &Sources) -> Result<Inputs, Failure> {
    data::load(program, party, sources).map_err(|finding| EngineError::from(finding).into())
}

/// The arguments that give one party its files.
pub fn arguments(sources: &Sources) -> Vec<String> {
    let default = sources.default.iter();
    let default = default.map(|path| path.display().to_string());
    let named = sources.by_input.iter();
    let named = named.map(|(name, path)| format!("{name}={}", path.display()));
    let values = default.chain(named);
    values
        .flat_map(|value| ["--input".to_string(), value])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealane_program::text;

    fn program() -> Program {
        let text = "sealane program 1\nname f\nparty alice\nparty bob\n\
                    input alice : alice u8 in 0..255\ninput key : bob u8 in 0..255\n\
                    main {\n  %0 = param 0 : u8 in 0..255 known alice\n  \
                    %1 = param 1 : u8 in 0..255 known bob\n  \
                    %2 = gt %0, %1 : bool in 0..1 secret\n}\nreveal result = %2 : bool to bob\n";
        text::parse(text, "f.sealane").unwrap()
    }

    fn by_party_of(given: &[&str]) -> Vec<Sources> {
        let given: Vec<String> = given.iter().map(|text| text.to_string()).collect();
        by_party(&program(), &[], &given).unwrap()
    }

    fn arguments_of(given: &[&str]) -> Vec<Vec<String>> {
        by_party_of(given).iter().map(arguments).collect()
    }

    #[test]
    fn a_party_without_a_file_is_named() {
        let refused = |given: &[&str]| {
            need_files(&program(), &by_party_of(given))
                .err()
                .map(|failure| {
                    let finding = failure.finding();
                    (finding.message.clone(), finding.hint.clone())
                })
        };
        let what = "there is no file for the input `key` of bob".to_string();
        let reported = (what, "add `--input bob=FILE`".to_string());
        assert_eq!(refused(&["alice=a.csv"]), Some(reported));
        assert_eq!(refused(&["alice=a.csv", "key=b.csv"]), None);
    }

    #[test]
    fn files_go_to_parties_and_to_owners_of_inputs() {
        let alice = [vec!["--input", "a.csv"], vec![]];
        assert_eq!(arguments_of(&["alice=a.csv"]), alice);
        let bob = [vec![], vec!["--input", "key=k.npy"]];
        assert_eq!(arguments_of(&["key=k.npy"]), bob);
        assert!(by_party(&program(), &[], &["carol=c.csv".to_string()]).is_err());
        assert!(by_party(&program(), &[], &["./x=y.csv".to_string()]).is_err());
        let mut alone = program();
        alone.inputs.iter_mut().for_each(|input| input.owner = 1);
        let sources = by_party(&alone, &[], &["./x=y.csv".to_string()]).unwrap();
        assert!(sources[0].default.is_none() && sources[1].default.is_some());
    }

    #[test]
    fn helpers_have_no_files() {
        let helpers = ["ada", "cyd"].map(String::from);
        let given = ["alice=a.csv".to_string()];
        let sources = by_party(&program(), &helpers, &given).unwrap();
        assert_eq!(sources.len(), 4);
        let mut of_helpers = sources[2..].iter();
        assert!(of_helpers.all(|sources| arguments(sources).is_empty()));
        let error = by_party(&program(), &helpers, &["cyd=c.csv".to_string()]);
        let text = error.expect_err("helpers own no input").to_string();
        let refused = "`--input cyd=c.csv` names a helper";
        assert!(text.contains(refused), "{text}");
    }

    #[test]
    fn a_second_file_for_the_same_inputs_is_refused() {
        let given = |given: [&str; 2]| given.map(str::to_string);
        assert!(by_party(&program(), &[], &given(["alice=a.csv", "alice=b.csv"])).is_err());
        assert!(of_one(&given(["a.csv", "b.csv"])).is_err());
        assert!(of_one(&given(["a.csv", "key=k.npy"])).is_ok());
    }
}
