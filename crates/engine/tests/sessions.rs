//! Every party contributes to the identifier of a session, and all of them enter the same one.

use crate::common::Session;
use sealane_engine::{Journal, danger_run_with_seed};
use sealane_net::{Mesh, SessionId};
use sealane_testkit::side::on_threads;

/// Returns the session identifier of each party, for these seeds of their coins.
fn entered(session: &Session, seeds: &[u64]) -> Vec<SessionId> {
    on_threads(Mesh::in_memory(session.parties()), |mut mesh| {
        let me = mesh.me().index();
        let (inputs, journal) = (&session.inputs[me], &mut Journal::silent());
        let report = danger_run_with_seed(&session.job, inputs, &mut mesh, seeds[me], journal);
        session.assert_right(&report.expect("an honest run"));
        mesh.session()
    })
}

#[test]
fn one_fresh_contribution_makes_another_session() {
    for session in Session::all() {
        let seeds = (1..=session.parties() as u64).collect::<Vec<_>>();
        let first = entered(&session, &seeds);
        let mut same = first.iter().map(|id| *id == first[0]);
        assert!(same.all(|same| same) && first[0] != SessionId::default());
        assert_eq!(entered(&session, &seeds), first);
        for party in 0..session.parties() {
            let mut seeds = seeds.clone();
            seeds[party] = 99;
            let other = entered(&session, &seeds);
            let fresh = other.iter().all(|id| *id == other[0] && *id != first[0]);
            assert!(fresh, "{party}");
        }
    }
}
