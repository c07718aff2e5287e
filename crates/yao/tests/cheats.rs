//! An evaluator that deviates in the oblivious transfers of its inputs: the garbler tells it apart
//! from one that sends nonsense.

use crate::common::{EVALUATOR, GARBLER, domain, setting, side};
use sealane_block::{Coins, Cpu, Nonce};
use sealane_net::Mesh;
use sealane_ot::SoftSpoken;
use sealane_ot::softspoken::Receiver;
use sealane_ot::traits::CotCost;
use sealane_party::{Fault, Result};
use sealane_protocol::Setting;
use sealane_testkit::side::transfers;
use sealane_yao::MultiInstance;
use std::thread;

const BITS: usize = 40;

/// Runs a garbler up to the evaluator's input, against this evaluator.
fn garbler_against(evaluator: impl FnOnce(&Setting, &mut Mesh) + Send) -> Fault {
    let setting = &setting(2);
    let [here, mut there]: [Mesh; 2] = Mesh::in_memory(2).try_into().ok().expect("two");
    thread::scope(|threads| {
        // It stays until the garbler has its fault.
        let other = threads.spawn(move || {
            evaluator(setting, &mut there);
            there
        });
        let fault = garbler(setting, here).expect_err("an evaluator that deviates");
        drop(other.join().expect("no panic"));
        fault
    })
}

fn garbler(setting: &Setting, mesh: Mesh) -> Result<()> {
    let mut side = side::<MultiInstance>(mesh, setting, &transfers(BITS))?;
    side.input(EVALUATOR, domain(), 1, &[0; BITS]).map(drop)
}

#[test]
fn an_evaluator_that_fails_a_check_is_reported_by_a_fault_of_its_own() {
    let fault = garbler_against(|setting, mesh| {
        let (parameters, cpu) = (SoftSpoken::on(setting.network), Cpu::best());
        let coins = &mut Coins::danger_fixed_seed(2);
        let setup = Receiver::set_up(parameters, cpu, mesh, GARBLER, coins).expect("memory");
        mesh.flush().expect("memory");
        let mut nonce = [0; Nonce::BYTES];
        mesh.recv(GARBLER, &mut nonce).expect("memory");
        setup.finish(mesh).expect("an honest garbler");
        // Corrections of choices that differ from tree to tree, the digest of all that was sent,
        // and an answer that fits none of them.
        let (digest, answer) = (32, 48);
        let bytes = parameters.extend(0, BITS as u64)[0].from_receiver as usize;
        mesh.send(GARBLER, &vec![0; bytes - digest - answer])
            .expect("memory");
        let digest = mesh.digest_sent(GARBLER);
        mesh.send(GARBLER, &digest).expect("memory");
        mesh.send(GARBLER, &vec![0; answer]).expect("memory");
        mesh.flush().expect("memory");
    });
    let reported = matches!(
        fault,
        Fault::Deviated {
            party: EVALUATOR,
            check: "a check of oblivious transfers"
        }
    );
    assert!(reported, "{fault}");
}

#[test]
fn an_evaluator_that_sends_no_point_has_broken_the_protocol() {
    let fault = garbler_against(|_, mesh| {
        mesh.send(GARBLER, &[0xff; 32]).expect("memory");
        mesh.flush().expect("memory");
    });
    let reported = matches!(
        fault,
        Fault::Peer {
            party: EVALUATOR,
            ..
        }
    );
    assert!(reported, "{fault}");
}
