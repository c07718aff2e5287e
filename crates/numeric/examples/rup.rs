//! Checks the certificate of a SAT solver that a formula has no solution.
//!
//! ```text
//! rup FORMULA.cnf PROOF.drat
//! ```
//!
//! The certificate is a list of clauses in the text form of DRAT (Wetzler, Heule and Hunt,
//! "DRAT-trim", SAT 2014). Each clause has to follow from those before it by *reverse unit
//! propagation*: with all its literals false, unit clauses alone lead to a contradiction. The last
//! one is the empty clause. Clauses that need the stronger rule RAT are refused. Deleted clauses
//! are dropped only to be fast: a clause that follows still does so with more clauses at hand, so
//! the verdict does not rest on deletions.
//!
//! The exit status is 0 only if the formula is refuted.

use std::collections::HashMap;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [formula, proof] = &arguments[..] else {
        eprintln!("rup FORMULA.cnf PROOF.drat");
        return ExitCode::FAILURE;
    };
    let read = |path: &str| std::fs::read_to_string(path).map_err(|e| format!("{path}: {e}"));
    let verdict = || check(&read(formula)?, &read(proof)?);
    match verdict() {
        Ok(lemmas) => {
            println!("refuted, {lemmas} clauses checked");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("not refuted: {why}");
            ExitCode::FAILURE
        }
    }
}

/// Checks all clauses up to the empty one, and counts them.
fn check(formula: &str, proof: &str) -> Result<usize, String> {
    let mut checker = Checker::default();
    for line in formula.lines().filter(|line| !line.starts_with(['c', 'p'])) {
        checker.add(literals(line)?);
    }
    let mut lemmas = 0;
    for (number, line) in proof.lines().enumerate() {
        if checker.refuted {
            return Ok(lemmas);
        }
        if let Some(deleted) = line.strip_prefix("d ") {
            checker.delete(literals(deleted)?);
            continue;
        }
        let clause = literals(line)?;
        lemmas += 1;
        if !checker.follows(&clause) {
            return Err(format!("line {} does not follow", number + 1));
        }
        checker.add(clause);
    }
    let unproven = "the proof ends before a contradiction".to_string();
    checker.refuted.then_some(lemmas).ok_or(unproven)
}

/// The literals of a line that ends with 0, as even and odd numbers: 2 v for v, 2 v + 1 for its
/// complement. Repeated ones are dropped.
fn literals(line: &str) -> Result<Vec<usize>, String> {
    let numbers: Result<Vec<i64>, _> = line.split_whitespace().map(str::parse).collect();
    let mut numbers = numbers.map_err(|_| format!("not a clause: {line}"))?;
    if numbers.pop() != Some(0) || numbers.contains(&0) {
        return Err(format!("not a clause: {line}"));
    }
    let literal = |n: &i64| 2 * n.unsigned_abs() as usize + usize::from(*n < 0);
    let mut literals: Vec<usize> = numbers.iter().map(literal).collect();
    literals.sort_unstable();
    literals.dedup();
    Ok(literals)
}

/// Clauses with two watched literals each, and the literals that are true in all solutions.
#[derive(Default)]
struct Checker {
    clauses: Vec<Vec<usize>>,
    /// For each literal, the clauses that watch it.
    watches: Vec<Vec<usize>>,
    values: Vec<Option<bool>>,
    /// Literals that were set true, in order.
    trail: Vec<usize>,
    /// Places of clauses by their sorted literals.
    places: HashMap<Vec<usize>, Vec<usize>>,
    refuted: bool,
}

impl Checker {
    fn add(&mut self, literals: Vec<usize>) {
        let variables = literals.iter().max().map_or(0, |&literal| literal / 2 + 1);
        if self.values.len() < variables {
            self.values.resize(variables, None);
            self.watches.resize(2 * variables, Vec::new());
        }
        // Two literals that are not false are watched, so that only these are read again.
        let mut clause = literals.clone();
        clause.sort_by_key(|&literal| self.value(literal) == Some(false));
        let free = clause.iter().filter(|&&l| self.value(l) != Some(false));
        let free = free.count();
        let place = self.clauses.len();
        if clause.len() >= 2 {
            for &watched in &clause[..2] {
                self.watches[watched].push(place);
            }
            self.places.entry(literals).or_default().push(place);
        }
        let first = clause.first().copied();
        self.clauses.push(clause);
        match (free, first) {
            (0, _) => self.refuted = true,
            (1, Some(unit)) if self.value(unit).is_none() => {
                self.set(unit);
                self.refuted = !self.propagate(self.trail.len() - 1);
            }
            _ => {}
        }
    }

    /// Drops a clause, unless it may be the reason for a value.
    fn delete(&mut self, literals: Vec<usize>) {
        let mut values = literals.iter().map(|&literal| self.value(literal));
        let unit = values.any(|value| value == Some(true));
        if let (false, Some(places)) = (unit, self.places.get_mut(&literals))
            && let Some(place) = places.pop()
        {
            self.clauses[place].clear();
        }
    }

    /// True if the complement of the clause leads to a contradiction by unit clauses alone.
    fn follows(&mut self, clause: &[usize]) -> bool {
        let start = self.trail.len();
        let mut contradiction = false;
        for &literal in clause {
            match self.values.get(literal / 2) {
                None => {}
                Some(None) => self.set(literal ^ 1),
                Some(Some(_)) => contradiction |= self.value(literal) == Some(true),
            }
        }
        let contradiction = contradiction || !self.propagate(start);
        for literal in self.trail.drain(start..) {
            self.values[literal / 2] = None;
        }
        contradiction
    }

    fn value(&self, literal: usize) -> Option<bool> {
        self.values[literal / 2].map(|value| value == (literal.is_multiple_of(2)))
    }

    fn set(&mut self, literal: usize) {
        self.values[literal / 2] = Some(literal.is_multiple_of(2));
        self.trail.push(literal);
    }

    /// Follows unit clauses from a place of the trail on; false on a contradiction.
    fn propagate(&mut self, mut next: usize) -> bool {
        while next < self.trail.len() {
            let falsified = self.trail[next] ^ 1;
            next += 1;
            let watching = std::mem::take(&mut self.watches[falsified]);
            let mut kept = Vec::with_capacity(watching.len());
            let mut holds = true;
            for (i, &place) in watching.iter().enumerate() {
                match self.visit(place, falsified) {
                    Visit::Moved => {}
                    Visit::Stays => kept.push(place),
                    Visit::Contradiction => {
                        kept.extend(&watching[i..]);
                        holds = false;
                        break;
                    }
                }
            }
            self.watches[falsified] = kept;
            if !holds {
                return false;
            }
        }
        true
    }

    /// Looks at a clause one of whose watched literals has become false.
    fn visit(&mut self, place: usize, falsified: usize) -> Visit {
        let mut clause = std::mem::take(&mut self.clauses[place]);
        if clause.is_empty() {
            // It was deleted.
            return Visit::Moved;
        }
        if clause[0] == falsified {
            clause.swap(0, 1);
        }
        let other = clause[0];
        let visit = match self.value(other) {
            Some(true) => Visit::Stays,
            value => {
                let free = (2..clause.len()).find(|&i| self.value(clause[i]) != Some(false));
                match (free, value) {
                    (Some(i), _) => {
                        clause.swap(1, i);
                        self.watches[clause[1]].push(place);
                        Visit::Moved
                    }
                    (None, Some(false)) => Visit::Contradiction,
                    (None, _) => {
                        self.set(other);
                        Visit::Stays
                    }
                }
            }
        };
        self.clauses[place] = clause;
        visit
    }
}

/// The result of looking at a clause.
enum Visit {
    /// Another literal is watched.
    Moved,
    /// The same literal is watched.
    Stays,
    Contradiction,
}
