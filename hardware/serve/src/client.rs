//! The client's side of a session: it evaluates, and learns the outputs.

use crate::Account;
use crate::ServeError;
use crate::job::{Job, Port, Promise};
use crate::messages::{SERVER, ask, give_up};
use sealane_block::{Block, Coins, Cpu, Nonce};
use sealane_garble::{Cycles, Evaluator};
use sealane_net::Mesh;
use sealane_ot::forms::receive_given;
use sealane_party::{check_digests, send_digests};
use sealane_yao::IncomingTables;
use zeroize::Zeroizing;

/// The outputs of a session.
pub struct Outputs {
    /// Bits of an output, one a byte, by opened netlist cycle in the order of ports.
    bits: Zeroizing<Vec<u8>>,
    width: usize,
}

impl Outputs {
    /// Returns the bits of each netlist cycle that was opened, one a byte.
    pub fn cycles(&self) -> impl DoubleEndedIterator<Item = &[u8]> {
        self.bits.chunks(self.width.max(1))
    }
}

/// Has a server garble a job, on this side's bits, one a byte, in the order of
/// [`InputText`](crate::input::InputText). Returns the outputs, which this side alone learns, and
/// the account of the session.
///
/// # Errors
/// The server refuses the job or breaks the protocol, or the network fails. The server has been
/// told.
///
/// # Panics
/// If there are not as many bits as the job states.
pub fn run(
    job: &Job,
    input: &[u8],
    cpu: Cpu,
    mut coins: Coins,
    mesh: &mut Mesh,
) -> Result<(Outputs, Account), ServeError> {
    assert_eq!(
        input.len() as u64,
        job.input_bits()[1],
        "the evaluator's bits"
    );
    ask(job, &mut coins, mesh)?;
    let outcome = evaluate(job, input, cpu, coins, mesh);
    outcome.inspect_err(|error| give_up(error, mesh))
}

fn evaluate(
    job: &Job,
    input: &[u8],
    cpu: Cpu,
    coins: Coins,
    mesh: &mut Mesh,
) -> Result<(Outputs, Account), ServeError> {
    let session = *mesh.session().as_bytes();
    let mut coins = coins.enter(&session);
    // 1. Set-up.
    let source = job.source();
    let setup = if input.is_empty() {
        None
    } else {
        Some(source.receiver(cpu, mesh, SERVER, &mut coins)?)
    };
    mesh.flush()?;
    let mut nonce = [0; Nonce::BYTES];
    mesh.recv(SERVER, &mut nonce)?;
    let hash = Nonce::from_bytes(nonce).stream("serve: hash", &session);
    let mut evaluator = Evaluator::new(cpu, job.scheme(), { hash }.block());
    // 2. Oblivious transfers.
    let mut t = Zeroizing::new(vec![Block::ZERO; input.len()]);
    if let Some(setup) = setup {
        let mut ot = setup.finish(mesh, &mut coins)?;
        receive_given(&mut ot, mesh, input, &mut t)?;
        mesh.flush()?;
    }
    // 3. Netlist cycles.
    let tape = job.tape();
    let inputs = job.netlist().netlist().parts().inputs;
    let constants = vec![Block::ZERO; tape.constants().count()];
    let mut run: Option<Cycles<&_>> = None;
    let mut used = 0;
    let mut bits = Zeroizing::new(Vec::with_capacity(job.output_bits() as usize));
    for cycle in 0..job.cycles() {
        let mut labels = |counts: [u32; 2], mesh: &mut Mesh| -> Result<_, ServeError> {
            let all = counts.iter().sum::<u32>() as usize;
            let mut labels = Zeroizing::new(vec![Block::ZERO; all]);
            mesh.recv(SERVER, Block::as_bytes_mut(&mut labels))?;
            for label in &mut labels[counts[0] as usize..] {
                *label ^= t[used];
                used += 1;
            }
            Ok(labels)
        };
        let run = match &mut run {
            Some(run) => run,
            none => {
                let held = labels([inputs.garbler_initial, inputs.evaluator_initial], mesh)?;
                none.insert(Cycles::new(tape, 1, 1, &constants, &held))
            }
        };
        let fresh = labels([inputs.garbler, inputs.evaluator], mesh)?;
        let mut tables = IncomingTables::new(cpu, mesh, SERVER);
        run.evaluate(&mut evaluator, &fresh, &mut tables)?;
        if !job.opens(cycle) {
            continue;
        }
        let outputs = run.outputs(0);
        bits.extend(job.ports().iter().map(|port| match *port {
            Port::Constant(_) => 0,
            Port::Output(output) => outputs[output as usize].lsb(),
        }));
    }
    // 4. The digest of all that was sent.
    send_digests(mesh, [SERVER])?;
    mesh.flush()?;
    // 5. Masks, and the server's digest, which is also of them: nothing else protects an output.
    let mut masks = vec![0; bits.len().div_ceil(8)];
    mesh.recv(SERVER, &mut masks)?;
    check_digests(mesh, [SERVER])?;
    for (at, bit) in bits.iter_mut().enumerate() {
        *bit ^= masks[at / 8] >> (at % 8) & 1;
    }
    mesh.finish()?;
    let account = Account {
        planned: job.promise(),
        measured: Promise {
            from_server: mesh.payload_received(SERVER),
            from_client: mesh.payload_sent(SERVER),
            rounds: mesh.rounds(),
        },
        clock_cycles: None,
    };
    let width = job.ports().len();
    Ok((Outputs { bits, width }, account))
}
