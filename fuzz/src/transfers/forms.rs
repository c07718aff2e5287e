//! The forms that are made of correlated OTs.

use super::{Case, Changed, DELTA, Honest, Outputs, RECEIVER, SENDER};
use super::{cpu, equal, from_receiver, from_sender, same};
use sealane_block::Block;
use sealane_net::Mesh;
use sealane_ot::forms::{
    self, HashedReceiver, HashedSender, OffsetRequest, Request, chosen_bytes, given_bytes,
    offset_bytes,
};
use sealane_ot::traits::{RandomReceiver, RandomSender, choice, packed_blocks};
use sealane_ot::{Flights, OtError, ideal};
use zeroize::Zeroizing;

/// All forms, of ideal correlated OTs.
pub struct Forms;

impl Forms {
    /// OTs with given choices, random OTs, and OTs of strings, which have so many blocks.
    const GIVEN: usize = 21;
    const RANDOM: usize = 5;
    const CHOSEN: usize = 9;
    const LENGTH: usize = 2;
    /// OTs that get another offset later.
    const NEW: usize = 13;
    const NEW_DELTA: Block = Block::new(0x77aa_0123);

    fn choices(count: usize) -> Vec<u8> {
        (0..count).map(|j| (0x5a3c >> (j % 16)) as u8 & 1).collect()
    }

    fn strings(first: u128) -> Vec<Block> {
        let blocks = first..first + (Self::CHOSEN * Self::LENGTH) as u128;
        blocks.map(Block::new).collect()
    }

    fn send(cot: ideal::IdealCotSender, mesh: &mut Mesh) -> Result<Outputs, OtError> {
        let sender = &mut HashedSender::new(cpu(), mesh, cot, "fuzz");
        let mut q = vec![Block::ZERO; Self::GIVEN];
        forms::send_given(&mut sender.cot, mesh, &mut q)?;
        let mut pairs = [[Block::ZERO; 2]; Self::RANDOM];
        sender.random(mesh, &mut pairs)?;
        let strings = [100, 200].map(Self::strings);
        let [zeros, ones] = &strings;
        let HashedSender { cot, hasher } = sender;
        forms::send_chosen(cot, hasher, mesh, Self::LENGTH, [zeros, ones])?;
        mesh.flush()?;
        let (mut new, mut under) = ([[Block::ZERO; 2]; Self::NEW], vec![Block::ZERO; Self::NEW]);
        sender.random(mesh, &mut new)?;
        forms::send_under(Self::NEW_DELTA, &new, mesh, RECEIVER, &mut under)?;
        mesh.flush()?;
        Ok(vec![q, pairs.concat(), under, new.concat()])
    }

    fn receive(cot: ideal::IdealCotReceiver, mesh: &mut Mesh) -> Result<Outputs, OtError> {
        let receiver = &mut HashedReceiver::new(cpu(), mesh, cot, "fuzz");
        let mut t = vec![Block::ZERO; Self::GIVEN];
        forms::receive_given(&mut receiver.cot, mesh, &Self::choices(Self::GIVEN), &mut t)?;
        let mut keys = vec![Block::ZERO; Self::RANDOM];
        let mut choices = vec![Block::ZERO; packed_blocks(Self::RANDOM)];
        receiver.random(mesh, &mut choices, &mut keys)?;
        let request = Request::new(&mut receiver.cot, mesh, &Self::choices(Self::CHOSEN))?;
        mesh.flush()?;
        let mut strings = vec![Block::ZERO; Self::CHOSEN * Self::LENGTH];
        request.finish(&mut receiver.hasher, mesh, Self::LENGTH, &mut strings)?;
        let mut new = Zeroizing::new(vec![Block::ZERO; Self::NEW]);
        let mut random = [Block::ZERO; packed_blocks(Self::NEW)];
        receiver.random(mesh, &mut random, &mut new)?;
        let random: Vec<u8> = (0..Self::NEW).map(|j| choice(&random, j)).collect();
        let choices = Self::choices(Self::NEW);
        let request = OffsetRequest::new(&choices, &random, new, mesh, SENDER)?;
        mesh.flush()?;
        let (_, under) = request.finish(mesh)?;
        Ok(vec![t, keys, strings, under.to_vec()])
    }
}

impl Case for Forms {
    fn run(&self, mesh: &mut Mesh) -> Result<Outputs, OtError> {
        let (sender, receiver) = ideal::danger_pair([SENDER, RECEIVER], DELTA, 4);
        match mesh.me() {
            SENDER => Self::send(sender, mesh),
            _ => Self::receive(receiver, mesh),
        }
    }

    fn flights(&self) -> Flights {
        let given = |count| from_receiver(given_bytes(count as u64));
        vec![
            given(Self::GIVEN),
            given(Self::CHOSEN),
            from_sender(chosen_bytes(Self::CHOSEN as u64, Self::LENGTH as u64)),
            given(Self::NEW),
            from_sender(offset_bytes(Self::NEW as u64)),
        ]
    }

    fn check(&self, party: &Honest, changed: &Changed, outputs: &Outputs) {
        let differences = |message| party.differences(changed, message);
        if party.me == SENDER {
            // Choices are the receiver's.
            let given = differences(0);
            for (j, (q, honest)) in outputs[0].iter().zip(&party.outputs[0]).enumerate() {
                let expected = *honest ^ DELTA.masked(given[j / 8] >> (j % 8));
                assert_eq!(q.value(), expected.value(), "OT {j}");
            }
            assert!(same(&outputs[1], &party.outputs[1]));
            let (given, pairs) = (differences(2), outputs[3].as_chunks::<2>().0);
            for (j, (q, honest)) in outputs[2].iter().zip(&party.outputs[2]).enumerate() {
                let both = pairs[j][0] ^ pairs[j][1];
                let expected = *honest ^ both.masked(given[j / 8] >> (j % 8));
                assert_eq!(q.value(), expected.value(), "OT {j} under a new offset");
            }
            return;
        }
        // Strings are the sender's, and the offset that comes later, and nothing else is.
        assert!(equal(&outputs[..2].to_vec(), &party.outputs[..2].to_vec()));
        let length = Self::LENGTH;
        let (strings, new) = (differences(0), differences(1));
        let (strings, new) = (strings.as_chunks::<16>().0, new.as_chunks::<16>().0);
        for (j, choice) in Self::choices(Self::CHOSEN).into_iter().enumerate() {
            for i in 0..length {
                let sent = strings[(2 * j + usize::from(choice)) * length + i];
                let at = j * length + i;
                let expected = party.outputs[2][at] ^ Block::from_bytes(sent);
                assert_eq!(outputs[2][at].value(), expected.value(), "string {j}");
            }
        }
        for (j, choice) in Self::choices(Self::NEW).into_iter().enumerate() {
            let expected = party.outputs[3][j] ^ Block::from_bytes(new[j]).masked(choice);
            let under = outputs[3][j].value();
            assert_eq!(under, expected.value(), "OT {j} under a new offset");
        }
    }
}
