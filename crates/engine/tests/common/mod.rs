//! What the tests of failures have in common: a small job with inputs on both sides, and both of
//! its parties on threads of their own.

#![allow(dead_code)] // Each test file uses a part of it.

use std::thread;
use std::time::{Duration, Instant};

use sealane_engine::{EngineError, Job, NetworkClass, ProtocolName, RunReport, run};
use sealane_net::{Limits, Mesh, MeshConfig, PartyId, Transport};
use sealane_program::graph::Program;
use sealane_program::text;
use sealane_program::types::{Data, Type};

/// A clinic learns who is over the lab's limit, the lab how many; both learn the largest value.
/// The clinic counts the rows, at most 100.
pub const PROGRAM: &str = "\
sealane program 1
name over
party clinic
party lab
rows people <= 100
input x : clinic u8[people] in 0..200
input limit : lab u8 in 0..255
main {
  %0 = param 0 : u8[people] in 0..200 known clinic
  %1 = param 1 : u8 in 0..255 known lab
  %2 = gt %0, %1 : bool[people] in 0..1 secret
  %3 = cast %2 : u7[people] in 0..1 secret
  %4 = reduce sum %3 axis 0 : u7 in 0..100 secret
  %5 = reduce max %0 axis 0 : u8 in 0..200 known clinic
}
reveal who = %2 : bool to clinic
reveal count = %4 : u7 to lab
reveal largest = %5 : u8 to clinic, lab
";

/// Values of the clinic.
pub const X: [i128; 5] = [7, 200, 31, 100, 0];
/// The limit of the lab.
pub const LIMIT: i128 = 30;

pub fn parse(text: &str) -> Program {
    text::parse(text, "over.sealane").unwrap_or_else(|error| panic!("{error}"))
}

/// The job in tiles of two rows, so that one run has several.
pub fn job() -> Job {
    Job::in_tiles(
        parse(PROGRAM),
        ProtocolName::Yao,
        NetworkClass::Lan,
        vec![],
        2,
    )
    .expect("a sound job")
}

pub fn job_of(text: &str, protocol: ProtocolName, network: NetworkClass) -> Job {
    Job::new(parse(text), protocol, network, vec![]).unwrap_or_else(|error| panic!("{error}"))
}

pub fn numbers(ty: Type, shape: Vec<u64>, numbers: &[i128]) -> Data {
    Data::from_numbers(ty, shape, numbers).expect("numbers of the type")
}

/// What each party brings.
pub fn inputs() -> [Vec<Option<Data>>; 2] {
    let x = numbers(Type::U8, vec![X.len() as u64], &X);
    let limit = numbers(Type::U8, vec![], &[LIMIT]);
    [vec![Some(x), None], vec![None, Some(limit)]]
}

/// Asserts that a party that got results got the right ones, and only its own.
pub fn assert_right(report: &RunReport) {
    let learnt = |name: &str| {
        let result = report.results.iter().find(|result| result.name == name)?;
        Some(result.data.as_ref()?.numbers().collect::<Vec<_>>())
    };
    let over = X.iter().map(|x| i128::from(*x > LIMIT)).collect::<Vec<_>>();
    let count = over.iter().sum();
    let clinic = report.party.as_deref() == Some("clinic");
    assert_eq!(learnt("who"), clinic.then_some(over));
    assert_eq!(learnt("count"), (!clinic).then_some(vec![count]));
    assert_eq!(
        learnt("largest"),
        X.iter().max().map(|largest| vec![*largest])
    );
}

/// How a run ended at one party, and after how long.
pub struct Ending {
    pub result: Result<RunReport, EngineError>,
    pub after: Duration,
}

impl Ending {
    /// The error of a run that had to fail.
    #[track_caller]
    pub fn error(&self) -> &EngineError {
        self.result.as_ref().err().expect("the run has to fail")
    }
}

/// Runs one party on transports of its own making.
pub fn party(
    job: &Job,
    me: usize,
    inputs: &[Option<Data>],
    transport: Result<Box<dyn Transport>, EngineError>,
    limits: Limits,
) -> (Result<RunReport, EngineError>, Option<Mesh>) {
    let transport = match transport {
        Ok(transport) => transport,
        Err(error) => return (Err(error), None),
    };
    let mut transports: Vec<Option<Box<dyn Transport>>> = vec![None, None];
    transports[1 - me] = Some(transport);
    let mut mesh = Mesh::from_transports(PartyId::from_index(me), transports, limits).unwrap();
    let result = run(job, inputs, &mut mesh, &mut |_, _| ());
    (result, Some(mesh))
}

/// Runs both parties, given how each comes to its transport. No mesh is dropped before both have
/// ended, so nothing is told by dropping.
pub fn both<F>(
    jobs: [&Job; 2],
    inputs: [Vec<Option<Data>>; 2],
    meet: [F; 2],
    limits: Limits,
) -> [Ending; 2]
where
    F: FnOnce() -> Result<Box<dyn Transport>, EngineError> + Send,
{
    let mut sides = jobs.into_iter().zip(inputs).zip(meet).enumerate();
    let mut next = || sides.next().expect("two sides");
    type Side<'a, F> = (usize, ((&'a Job, Vec<Option<Data>>), F));
    let side = |(me, ((job, inputs), meet)): Side<'_, F>| {
        let started = Instant::now();
        let (result, mesh) = party(job, me, &inputs, meet(), limits);
        (
            Ending {
                result,
                after: started.elapsed(),
            },
            mesh,
        )
    };
    let (one, other) = (next(), next());
    thread::scope(|scope| {
        let other = scope.spawn(move || side(other));
        let (one, _mesh) = side(one);
        let (other, _other_mesh) = other.join().expect("no party panics");
        [one, other]
    })
}

/// Meets the other party of two over TLS.
pub fn over_tls(config: &MeshConfig) -> Result<Box<dyn Transport>, EngineError> {
    let names = config
        .parties
        .iter()
        .map(|party| party.name.clone())
        .collect::<Vec<_>>();
    let transports = sealane_net::connect_transports(config);
    let transports = transports.map_err(|error| EngineError::from_net(error, &names))?;
    Ok(transports
        .into_iter()
        .flatten()
        .next()
        .expect("one other party"))
}
