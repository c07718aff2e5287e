//! Golden sessions: keys, records and what crosses, under fixed coins in a fixed session; what no
//! two sessions share.

use crate::sessions::{job, meshes, run, served};
use crate::support::{Which, blocks, keys, ours, records};
use sealane_block::{Block, Coins};
use sealane_garble::Scheme;
use sealane_net::SessionId;
use sealane_serve::SERVER;
use sealane_serve::device::Keys;
use sealane_testkit::golden;
use std::collections::HashSet;

#[test]
fn every_session_has_secrets_of_its_own() {
    let mut secrets = HashSet::new();
    for session in [[1; 32], [2; 32]] {
        let mut coins = Coins::danger_fixed_seed(1).enter(&session);
        for _ in 0..2 {
            let [_, drawn @ ..] = blocks(&Keys::draw(&mut coins, Block::ZERO));
            secrets.extend(drawn.map(|secret| secret.value()));
        }
    }
    assert_eq!(secrets.len(), 2 * 2 * 3);
}

#[test]
fn sessions_are_those_of_this_wire_version() {
    let (netlist, cycles, mut lines) = (ours("Mill_8_8"), 8, String::new());
    for scheme in [Scheme::Prp, Scheme::Mi] {
        let (which, job) = (Which::Cpu(scheme), job(&netlist, cycles, scheme));
        let mut device = which.device();
        device.load(job.netlist()).expect("a netlist");
        let mut secrets = Block::as_bytes(&blocks(&keys(1))).to_vec();
        let records = records(&mut *device, 0, keys(1), cycles);
        records
            .iter()
            .for_each(|record| secrets.extend(record.data));
        let session = SessionId::new(&[1; 32], &[[2; 32], [3; 32]]);
        let mut meshes = meshes();
        meshes.iter_mut().for_each(|mesh| mesh.set_session(session));
        let serving = [served(which, &netlist, cycles, "a1")];
        let ends = run(meshes, (&serving, &job), &[1; 8], 1, || Ok(()));
        assert!(ends.client.is_ok());
        let (mut mesh, secrets) = (ends.at_client, blake3::hash(&secrets));
        lines += &format!("{scheme} keys and records {secrets}\n");
        for digest in [mesh.digest_received(SERVER), mesh.digest_sent(SERVER)] {
            lines += &format!("{scheme} crosses {}\n", hex::encode(digest));
        }
    }
    golden::is("hardware/serve/tests/served/golden.txt", &lines);
}
