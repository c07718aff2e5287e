//! OTs of one of many strings.

use super::{Case, Changed, Honest, Outputs, RECEIVER, SENDER};
use super::{coins, cpu, from_receiver, from_sender, same};
use sealane_block::Block;
use sealane_net::Mesh;
use sealane_ot::softspoken::one_of_n::large::{self, LargeKeys};
use sealane_ot::softspoken::one_of_n::{OneOfN, Request, StringsReceiver, StringsSender};
use sealane_ot::traits::{OneOfNKeys, OneOfNReceiver, OneOfNSender};
use sealane_ot::{Flights, OtError, Security};
use sealane_parties::PartyId;

/// Keys of choices that the receiver gives, and then strings; with 256 strings, also keys of large
/// numbers.
struct Many {
    parameters: OneOfN,
    security: Security,
}

/// Each number of strings and of leaves, once.
pub const CASES: [&dyn Case; 3] = [
    &Many::new(2, 4, Security::Malicious),
    &Many::new(4, 8, Security::SemiHonest),
    &Many::new(8, 6, Security::Malicious),
];

/// OTs of each kind, blocks of a string, and bytes of a large number.
const COUNT: usize = 3;
const LENGTH: usize = 2;
const BYTES: usize = 3;
/// Large numbers of strings.
const LARGE: [u64; COUNT] = [0, 0x12_3456, 0xff_ffff];

impl Many {
    const fn new(bits: u8, k: u8, security: Security) -> Many {
        Many {
            parameters: OneOfN::new(bits, k, security),
            security,
        }
    }

    fn is_large(&self) -> bool {
        self.parameters.strings() == 256
    }

    fn choices(&self) -> [u8; COUNT] {
        let mask = (self.parameters.strings() - 1) as u8;
        [0x9c, 0x00, 0xff].map(|choice| choice & mask)
    }

    fn send(&self, mesh: &mut Mesh) -> Result<Outputs, OtError> {
        let (parameters, coins) = (self.parameters, &mut coins(mesh));
        let setup = StringsSender::set_up(parameters, cpu(), mesh, RECEIVER, coins)?;
        mesh.flush()?;
        let mut sender = setup.finish(mesh)?;
        let end = self.send_from(&mut sender, mesh);
        if let Err(OtError::CheckFailed(_)) = end {
            let again = sender.extend(mesh, 1).map(drop);
            assert!(matches!(again, Err(OtError::Ended)));
        }
        end
    }

    fn send_from(&self, sender: &mut StringsSender, mesh: &mut Mesh) -> Result<Outputs, OtError> {
        let strings = self.parameters.strings();
        let given = sender.extend_given(mesh, COUNT)?;
        let mut keys = vec![Block::ZERO; COUNT * strings];
        given.fill_all(&mut keys);
        let blocks = (0..(COUNT * strings * LENGTH) as u128).map(Block::new);
        sender.send_chosen(mesh, LENGTH, &blocks.collect::<Vec<_>>())?;
        mesh.flush()?;
        if !self.is_large() {
            return Ok(vec![keys]);
        }
        let large = LargeKeys::send(sender, mesh, BYTES, COUNT)?;
        let large = LARGE
            .iter()
            .enumerate()
            .map(|(j, index)| *large.key(j, *index));
        Ok(vec![keys, large.collect()])
    }

    fn receive(&self, mesh: &mut Mesh) -> Result<Outputs, OtError> {
        let (parameters, coins) = (self.parameters, &mut coins(mesh));
        let setup = StringsReceiver::set_up(parameters, cpu(), mesh, SENDER, coins)?;
        mesh.flush()?;
        let mut receiver = setup.finish(mesh)?;
        mesh.flush()?;
        let mut keys = vec![Block::ZERO; COUNT];
        receiver.receive_given(mesh, &self.choices(), &mut keys)?;
        let request = Request::new(&mut receiver, mesh, &self.choices())?;
        mesh.flush()?;
        let mut strings = vec![Block::ZERO; COUNT * LENGTH];
        request.finish(mesh, LENGTH, &mut strings)?;
        if !self.is_large() {
            return Ok(vec![keys, strings]);
        }
        let mut large = vec![Block::ZERO; COUNT];
        large::receive(&mut receiver, mesh, BYTES, &LARGE, &mut large)?;
        mesh.flush()?;
        Ok(vec![keys, strings, large])
    }

    /// Keys of strings are those of others where choices differ. The receiver of a sender that
    /// takes other base OTs has other keys, too.
    fn check_sender(&self, party: &Honest, changed: &Changed, outputs: &Outputs) {
        let (strings, bits) = (self.parameters.strings(), self.parameters.bits() as usize);
        let given = party.differences(changed, 3);
        for j in 0..COUNT {
            let difference = given[j * bits / 8] >> (j * bits % 8);
            let difference = usize::from(difference) & (strings - 1);
            for string in 0..strings {
                let key = outputs[0][j * strings + string];
                let honest = party.outputs[0][j * strings + (string ^ difference)];
                assert_eq!(key.value(), honest.value(), "string {string} of OT {j}");
            }
        }
        if self.is_large() && party.has(changed, 6) {
            assert!(same(&outputs[1], &party.outputs[1]));
        }
    }

    /// Strings are the sender's; keys hang on its base OTs alone.
    fn check_receiver(&self, party: &Honest, changed: &Changed, outputs: &Outputs) {
        for of_keys in (0..outputs.len()).step_by(2) {
            assert!(same(&outputs[of_keys], &party.outputs[of_keys]));
        }
        let differences = party.differences(changed, 1);
        let (differences, _) = differences.as_chunks::<16>();
        for (j, choice) in self.choices().into_iter().enumerate() {
            let first = (j * self.parameters.strings() + usize::from(choice)) * LENGTH;
            for i in 0..LENGTH {
                let at = j * LENGTH + i;
                let expected = party.outputs[1][at] ^ Block::from_bytes(differences[first + i]);
                assert_eq!(outputs[1][at].value(), expected.value(), "string of OT {j}");
            }
        }
    }
}

impl Case for Many {
    fn run(&self, mesh: &mut Mesh) -> Result<Outputs, OtError> {
        match mesh.me() {
            SENDER => self.send(mesh),
            _ => self.receive(mesh),
        }
    }

    fn flights(&self) -> Flights {
        let (parameters, count) = (self.parameters, COUNT as u64);
        let mut flights = parameters.set_up_flights();
        for _ in 0..2 {
            flights.extend(parameters.flights(count));
            flights.push(from_receiver(parameters.given_bytes(count)));
        }
        flights.push(from_sender(parameters.chosen_bytes(count, LENGTH as u64)));
        if self.is_large() {
            flights.extend(large::flights(parameters, BYTES, count));
        }
        flights
    }

    fn checker(&self) -> Option<PartyId> {
        (self.security == Security::Malicious).then_some(SENDER)
    }

    fn points(&self) -> usize {
        1
    }

    fn check(&self, party: &Honest, changed: &Changed, outputs: &Outputs) {
        match party.me {
            // The check leaves nothing but given choices to a corrupt receiver.
            SENDER if self.security == Security::Malicious => {
                self.check_sender(party, changed, outputs);
            }
            RECEIVER if party.has(changed, 0) => self.check_receiver(party, changed, outputs),
            _ => {}
        }
    }
}
