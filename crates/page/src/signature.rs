//! Signatures and participants: the parts that records of programs, plans and runs share.

use crate::units::grouped;
use crate::{Card, Named};
use serde::{Deserialize, Serialize};

/// Tables, inputs and results of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signature {
    /// Tables, in the order of the program; cards alone show them.
    #[serde(skip)]
    pub tables: Vec<TableRecord>,
    /// Inputs, in the order of the program.
    pub inputs: Vec<InputRecord>,
    /// Results, in the order of the program.
    pub results: Vec<ResultRecord>,
}

/// The number of rows of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableRecord {
    /// Its name.
    pub name: String,
    /// The most that it may be.
    pub bound: u64,
    /// The numbers of which it is the sum; empty if it is none.
    pub sum: Vec<String>,
}

/// An input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputRecord {
    /// Name.
    pub name: String,
    /// Party that gives it.
    pub owner: String,
    /// Element type.
    #[serde(rename = "type")]
    pub ty: String,
    /// Shape, such as `[patients, 30]`; empty for a single element.
    pub shape: String,
    /// Names of the columns of a table that fill it, where the program gives them.
    #[serde(default)]
    pub columns: Vec<String>,
}

/// A result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultRecord {
    /// Name.
    pub name: String,
    /// Parties that learn it.
    pub to: Vec<String>,
    /// Element type.
    #[serde(rename = "type")]
    pub ty: String,
    /// Shape, as of [`InputRecord`].
    pub shape: String,
    /// Protection of single people that the program declares; empty if there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// A type with a shape, which stands before the meaning of the elements: `u1[n] as category "a"`.
pub(crate) fn shaped(ty: &str, shape: &str) -> String {
    match ty.split_once(" as ") {
        Some((ty, meaning)) => format!("{ty}{shape} as {meaning}"),
        None => format!("{ty}{shape}"),
    }
}

/// The parties of a session, and what each does in it. Owners of data and receivers of results need
/// not compute, and helpers do nothing else.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Participants {
    /// Names of all parties, helpers last.
    pub parties: Vec<String>,
    /// Names of the helpers.
    #[serde(default)]
    pub helpers: Vec<String>,
    /// Names of the parties that compute.
    pub computing: Vec<String>,
    /// Party of each role; empty where the protocol has no roles.
    pub roles: Named<String>,
}

impl Signature {
    /// Adds what the signature says to a card.
    pub(crate) fn add_to(&self, card: &mut Card) {
        let table = |table: &TableRecord| {
            if table.sum.is_empty() {
                format!("{} ≤ {}", table.name, grouped(table.bound))
            } else {
                format!("{} = {}", table.name, table.sum.join(" + "))
            }
        };
        card.lines("rows", self.tables.iter().map(table));
        let gives = |input: &InputRecord| {
            let (owner, name) = (&input.owner, &input.name);
            format!("{owner}: {name} {}", shaped(&input.ty, &input.shape))
        };
        card.lines("gives", self.inputs.iter().map(gives));
        card.lines("learns", self.results.iter().flat_map(ResultRecord::lines));
    }

    /// Names of the inputs of a party.
    fn given_by(&self, party: &str) -> Vec<&str> {
        let own = self.inputs.iter().filter(|input| input.owner == party);
        own.map(|input| input.name.as_str()).collect()
    }

    /// Tells whether a party learns a result.
    fn is_learnt_by(&self, party: &str) -> bool {
        let mut receivers = self.results.iter().flat_map(|result| &result.to);
        receivers.any(|receiver| receiver == party)
    }
}

impl ResultRecord {
    fn lines(&self) -> impl Iterator<Item = String> + '_ {
        let (to, name) = (self.to.join(", "), &self.name);
        let learnt = format!("{to}: {name} {}", shaped(&self.ty, &self.shape));
        let notes = self.note.split("; ").filter(|note| !note.is_empty());
        let notes = notes.map(|note| format!("      {note}"));
        // A note is text that came with the program: nothing proves it.
        let claim = (!self.note.is_empty()).then(|| "    the author says:".to_string());
        [learnt].into_iter().chain(claim).chain(notes)
    }
}

impl Participants {
    /// The role of a party, if it has one.
    pub fn role(&self, party: &str) -> Option<&str> {
        let role = self.roles.iter().find(|(_, player)| player == party);
        role.map(|(role, _)| role.as_str())
    }

    /// Those who compute, with their roles: `lab`, or `lab as evaluator`.
    pub fn players(&self) -> Vec<String> {
        let player = |name: &String| match self.role(name) {
            Some(role) => format!("{name} as {role}"),
            None => name.clone(),
        };
        self.computing.iter().map(player).collect()
    }

    /// Those who do not compute: `lab only gives`.
    pub fn bystanders(&self, signature: &Signature) -> Vec<String> {
        let others = self.parties.iter();
        let others = others.filter(|name| !self.computing.contains(name));
        let does = |name: &String| {
            let gives = !signature.given_by(name).is_empty();
            let does = match (gives, signature.is_learnt_by(name)) {
                (true, true) => "only gives and learns",
                (true, false) => "only gives",
                (false, true) => "only learns",
                (false, false) => "does nothing",
            };
            format!("{name} {does}")
        };
        others.map(does).collect()
    }

    /// Work of a party in a finished run, without its results.
    pub fn done(&self, party: &str, signature: &Signature) -> String {
        let gives = signature.given_by(party);
        let gave = (!gives.is_empty()).then(|| format!("gave {}", gives.join(", ")));
        let computes = self.computing.iter().any(|name| name == party);
        let computed = computes.then(|| match self.role(party) {
            Some(role) => format!("computed as {role}"),
            None => "computed".to_string(),
        });
        let done = gave.into_iter().chain(computed).collect::<Vec<_>>();
        if done.is_empty() {
            "neither gave an input nor computed".to_string()
        } else {
            done.join(" and ")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_stands_before_the_meaning_of_elements() {
        assert_eq!(shaped("u8", "[n, 2]"), "u8[n, 2]");
        assert_eq!(shaped("i23 as date", ""), "i23 as date");
        let named = r#"u1 as category "such as this", "b""#;
        let want = r#"u1[n] as category "such as this", "b""#;
        assert_eq!(shaped(named, "[n]"), want);
    }

    #[test]
    fn who_does_not_compute_gives_or_learns() {
        let names = |names: &[&str]| names.iter().map(|name| name.to_string()).collect();
        let signature = serde_json::json!({
            "inputs": [
                { "name": "x", "owner": "a", "type": "u8", "shape": "" },
                { "name": "y", "owner": "a", "type": "u8", "shape": "" },
            ],
            "results": [{ "name": "r", "to": ["b"], "type": "u8", "shape": "" }],
        });
        let signature: Signature = serde_json::from_value(signature).unwrap();
        let participants = Participants {
            parties: names(&["a", "b", "idle"]),
            ..Participants::default()
        };
        let reported = ["a only gives", "b only learns", "idle does nothing"];
        assert_eq!(participants.bystanders(&signature), reported);
        assert!(participants.players().is_empty());
        assert_eq!(participants.done("a", &signature), "gave x, y");
        let nothing = "neither gave an input nor computed";
        assert_eq!(participants.done("b", &signature), nothing);
    }
}
