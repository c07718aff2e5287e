//! Runs with their records and progress displays, for the command and for the methods of Python.

use crate::Failure;
use crate::connect::{self, Meeting};
use crate::record::Recording;
use sealane_engine::{
    EngineError, Job, Journal, Observer, RunReport, run_with_pool, simulate_with,
};
use sealane_net::{Cancel, NetError};
use sealane_parties::PartyId;
use sealane_program::types::Data;

/// Meets the other parties and runs a job with them.
///
/// # Errors
/// The errors of the meeting and of the run; the record of the run contains both.
pub fn connect_and_run(
    job: &Job,
    inputs: &[Option<Data>],
    meeting: &Meeting,
    recording: Option<Recording>,
    progress: impl Observer,
) -> Result<RunReport, Failure> {
    let events = recording.as_ref().and_then(Recording::events);
    let mut journal = Journal::new(job, meeting.me(), (events, progress));
    let met = connect::connect(meeting);
    let met = met.inspect_err(|failure| journal.failed(failure.finding()));
    let report = met.and_then(|mut mesh| {
        let pool = meeting.pool();
        let report = run_with_pool(job, inputs, pool.as_ref(), &mut mesh, &mut journal);
        Ok(report?)
    });
    if let Some(recording) = &recording {
        recording.end(job);
    }
    report.map_err(|failure| with_remains(failure, recording.as_ref()))
}

/// Runs all parties of a job in this process, each with a folder of its own in the folder of the
/// run, until `cancel` is set.
///
/// # Errors
/// The errors of [`sealane_engine::simulate`].
pub fn simulate(
    job: &Job,
    inputs: Vec<Data>,
    recording: Option<Recording>,
    progress: impl Observer,
    cancel: &Cancel,
) -> Result<RunReport, Failure> {
    let of_party = |name: &String| recording.as_ref().and_then(|all| all.party(name, job));
    let sides = job.parties().iter().map(of_party).collect::<Vec<_>>();
    let mut progress = Some(progress);
    let journals = sides.iter().enumerate().map(|(party, side)| {
        let events = side.as_ref().and_then(Recording::events);
        // The first party stands for all, since they advance together.
        Journal::new(job, PartyId::from_index(party), (events, progress.take()))
    });
    let report = simulate_with(job, inputs, journals.collect(), cancel);
    let folders = sides.iter().flatten().chain(&recording);
    folders.for_each(|folder| folder.end(job));
    report.map_err(|error| with_remains(error.into(), recording.as_ref()))
}

/// Creates the failure of a cancelled run, which names its record.
pub fn cancelled(recording: Option<&Recording>) -> Failure {
    let failure = EngineError::from_net(NetError::Cancelled, &[]);
    with_remains(failure.into(), recording)
}

/// Adds the record to the failure of a cancelled run; returns others unchanged.
fn with_remains(failure: Failure, recording: Option<&Recording>) -> Failure {
    if failure.finding().code != NetError::Cancelled.code() {
        return failure;
    }
    let left = match recording {
        Some(recording) => format!("{} says how far it came", recording.folder().display()),
        None => "it leaves nothing behind".to_string(),
    };
    let hint = format!("nothing of it goes on and no result was written; {left}");
    failure.hint(hint)
}
