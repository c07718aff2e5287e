//! The parties of correlations, and the check of what they made.

use sealane_block::{Block, Coins, Cpu};
use sealane_net::Mesh;
use sealane_ot::OtError;
use sealane_ot::forms::{HashedReceiver, HashedSender};
use sealane_ot::ideal::correlations::Checked;
use sealane_ot::softspoken::one_of_n::large::{self, LargeKeys};
use sealane_ot::softspoken::one_of_n::{Keys, OneOfN, StringsReceiver, StringsSender};
use sealane_ot::traits::{CorrelationSource, OneOfNKeys, OneOfNReceiver, OneOfNSender};
use sealane_ot::triples::{
    ArithmeticTriples, BooleanTriples, BothWays, DaBits, KnownProducts, MatrixTriples, Ole,
    Selects, WideTriples,
};

use super::super::{
    AnyReceiver, AnySender, Protocol, SENDER, other, set_up_receiver, set_up_sender,
};
use super::{Correlation, Source};

/// Bytes of an index of one of 2^64.
const INDEX_BYTES: usize = 8;

/// Correlations of a window, at one party.
pub(super) enum Output {
    Boolean(BooleanTriples),
    Ole(Ole),
    Arithmetic(ArithmeticTriples),
    Matrix(MatrixTriples),
    Wide(WideTriples),
    DaBits(DaBits),
    Selects(Selects),
    Known(KnownProducts),
    Keys(Keys),
    Large(LargeKeys<Keys>),
    /// Choices and their keys.
    Chosen(Vec<u64>, Vec<Block>),
}

/// The work of a party in a window.
pub(super) type Work = Box<dyn FnMut(&mut Mesh) -> Result<Output, OtError>>;

/// The correlations that a party makes in a window, and the tier.
#[derive(Clone, Copy)]
pub(super) struct Making {
    pub(super) cpu: Cpu,
    pub(super) correlation: Correlation,
    pub(super) count: usize,
}

impl Making {
    /// Sets up a party.
    pub(super) fn set_up(self, source: Source, mesh: &mut Mesh) -> Result<Work, OtError> {
        match source {
            Source::Cots(protocol) => self.of_cots(&protocol, mesh),
            Source::Trees(k, security) => {
                // Of one of 2^64, a byte of the index each.
                let bits = match self.correlation {
                    Correlation::OneOf { bits, .. } => bits,
                    _ => 8,
                };
                self.of_trees(OneOfN::new(bits, k, security), mesh)
            }
        }
    }

    /// A party of correlations that are made of correlated OTs.
    fn of_cots(self, protocol: &Protocol, mesh: &mut Mesh) -> Result<Work, OtError> {
        let (cpu, count, sends) = (self.cpu, self.count, mesh.me() == SENDER);
        match self.correlation {
            Correlation::Ole(ring) => {
                let mut source = self.one_way::<Ole>(protocol, mesh)?;
                return Ok(Box::new(move |mesh| {
                    source.make(mesh, ring, count).map(Output::Ole)
                }));
            }
            Correlation::Known(shape) => {
                let mut source = self.one_way::<KnownProducts>(protocol, mesh)?;
                return Ok(Box::new(move |mesh| {
                    source.make(mesh, shape, count).map(Output::Known)
                }));
            }
            _ => {}
        }
        let (sender, receiver) = if sends {
            let sender = set_up_sender(cpu, protocol, mesh)?;
            mesh.flush()?;
            (sender, set_up_receiver(cpu, protocol, mesh)?)
        } else {
            let receiver = set_up_receiver(cpu, protocol, mesh)?;
            mesh.flush()?;
            (set_up_sender(cpu, protocol, mesh)?, receiver)
        };
        let mut both = BothWays::new(cpu, mesh, sender, receiver, "bench triples");
        Ok(match self.correlation {
            Correlation::Boolean => {
                Box::new(move |mesh| both.make(mesh, (), count).map(Output::Boolean))
            }
            Correlation::Matrix(shape) => {
                Box::new(move |mesh| both.make(mesh, shape, count).map(Output::Matrix))
            }
            Correlation::Arithmetic(ring) => {
                Box::new(move |mesh| both.make(mesh, ring, count).map(Output::Arithmetic))
            }
            Correlation::Wide(width) => {
                Box::new(move |mesh| both.make(mesh, width, count).map(Output::Wide))
            }
            Correlation::DaBits(ring) => {
                Box::new(move |mesh| both.make(mesh, ring, count).map(Output::DaBits))
            }
            Correlation::Selects(ring) => {
                Box::new(move |mesh| both.make(mesh, ring, count).map(Output::Selects))
            }
            Correlation::Ole(_)
            | Correlation::Known(_)
            | Correlation::OneOf { .. }
            | Correlation::Large => {
                unreachable!("made otherwise")
            }
        })
    }

    /// A party of correlations of one direction.
    fn one_way<G: Checked>(
        self,
        protocol: &Protocol,
        mesh: &mut Mesh,
    ) -> Result<Box<dyn CorrelationSource<G>>, OtError>
    where
        HashedSender<AnySender>: CorrelationSource<G>,
        HashedReceiver<AnyReceiver>: CorrelationSource<G>,
    {
        Ok(if mesh.me() == SENDER {
            let cot = set_up_sender(self.cpu, protocol, mesh)?;
            Box::new(HashedSender::new(self.cpu, mesh, cot, "bench one way"))
        } else {
            let cot = set_up_receiver(self.cpu, protocol, mesh)?;
            Box::new(HashedReceiver::new(self.cpu, mesh, cot, "bench one way"))
        })
    }

    /// A party of OTs of one of many strings.
    fn of_trees(self, parameters: OneOfN, mesh: &mut Mesh) -> Result<Work, OtError> {
        let (cpu, count, peer) = (self.cpu, self.count, other(mesh));
        let coins = &mut Coins::danger_fixed_seed(3);
        if mesh.me() != SENDER {
            let setup = StringsReceiver::set_up(parameters, cpu, mesh, peer, coins)?;
            mesh.flush()?;
            return Ok(self.receive(setup.finish(mesh)?));
        }
        let setup = StringsSender::set_up(parameters, cpu, mesh, peer, coins)?;
        mesh.flush()?;
        let mut sender = setup.finish(mesh)?;
        if let Correlation::Large = self.correlation {
            return Ok(Box::new(move |mesh| {
                let made = LargeKeys::send(&mut sender, mesh, INDEX_BYTES, count)?;
                for (j, index) in indices(count).enumerate() {
                    std::hint::black_box((made.key(j, index), made.key(j, !index)));
                }
                Ok(Output::Large(made))
            }));
        }
        let all = matches!(self.correlation, Correlation::OneOf { all: true, .. });
        let mut keys = blocks(if all { count * parameters.strings() } else { 0 });
        Ok(Box::new(move |mesh| {
            let made = sender.extend(mesh, count)?;
            if all {
                made.fill_all(&mut keys);
            }
            Ok(Output::Keys(made))
        }))
    }

    fn receive(self, mut receiver: StringsReceiver) -> Work {
        let count = self.count;
        if let Correlation::Large = self.correlation {
            return Box::new(move |mesh| {
                let (indices, mut keys) = (indices(count).collect::<Vec<_>>(), blocks(count));
                large::receive(&mut receiver, mesh, INDEX_BYTES, &indices, &mut keys)?;
                Ok(Output::Chosen(indices, keys))
            });
        }
        let mut choices = vec![0; count];
        Box::new(move |mesh| {
            let mut keys = blocks(count);
            receiver.extend(mesh, &mut choices, &mut keys)?;
            let choices = choices.iter().map(|&choice| u64::from(choice)).collect();
            Ok(Output::Chosen(choices, keys))
        })
    }
}

fn blocks(count: usize) -> Vec<Block> {
    vec![Block::ZERO; count]
}

/// Indices of one of 2^64 that the receiver asks for.
fn indices(count: usize) -> impl Iterator<Item = u64> {
    (0..count as u64).map(|j| 0x0123_4567_89ab_cdef ^ (j << 40 | j))
}

/// Checks the correlations of both parties.
///
/// # Panics
/// If a product or a key is wrong.
pub(super) fn check(correlations: Correlation, outputs: [&Output; 2], count: usize) {
    let name = correlations.name();
    let wrong = match (correlations, outputs) {
        (_, [Output::Boolean(one), Output::Boolean(two)]) => {
            BooleanTriples::wrong((), count, [one, two])
        }
        (Correlation::Ole(ring), [Output::Ole(one), Output::Ole(two)]) => {
            Ole::wrong(ring, count, [one, two])
        }
        (Correlation::Arithmetic(ring), [Output::Arithmetic(one), Output::Arithmetic(two)]) => {
            ArithmeticTriples::wrong(ring, count, [one, two])
        }
        (Correlation::Matrix(shape), [Output::Matrix(one), Output::Matrix(two)]) => {
            MatrixTriples::wrong(shape, count, [one, two])
        }
        (Correlation::Wide(width), [Output::Wide(one), Output::Wide(two)]) => {
            WideTriples::wrong(width, count, [one, two])
        }
        (Correlation::DaBits(ring), [Output::DaBits(one), Output::DaBits(two)]) => {
            DaBits::wrong(ring, count, [one, two])
        }
        (Correlation::Selects(ring), [Output::Selects(one), Output::Selects(two)]) => {
            Selects::wrong(ring, count, [one, two])
        }
        (Correlation::Known(shape), [Output::Known(one), Output::Known(two)]) => {
            KnownProducts::wrong(shape, count, [one, two])
        }
        (_, [Output::Keys(all), Output::Chosen(choices, keys)]) => {
            assert_eq!([all.count(), keys.len()], [count; 2], "{name}");
            let places = choices.iter().map(|&choice| choice as u8).enumerate();
            let mut expected = blocks(count);
            all.fill(&places.collect::<Vec<_>>(), &mut expected);
            first_other(keys, expected)
        }
        (_, [Output::Large(all), Output::Chosen(indices, keys)]) => {
            assert_eq!([all.count(), keys.len()], [count; 2], "{name}");
            let expected = indices.iter().enumerate();
            first_other(keys, expected.map(|(j, &index)| *all.key(j, index)))
        }
        _ => unreachable!("both parties make the same correlations"),
    };
    assert_eq!(wrong, None, "{name}");
}

/// The first key that is not as expected.
fn first_other(keys: &[Block], expected: impl IntoIterator<Item = Block>) -> Option<String> {
    let mut pairs = keys.iter().zip(expected);
    let place = pairs.position(|(key, expected)| key.value() != expected.value())?;
    Some(format!("key {place} is wrong"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealane_ot::ideal;
    use sealane_ot::triples::Ring;

    /// Checks OLEs of the ideal functionality, of which one share has these bits changed.
    fn check_oles(flips: u64) {
        let ring = Ring::new(64);
        let outputs = ideal::correlations::danger_pair(1).map(|mut party| {
            let mesh = &mut Mesh::in_memory(2).remove(0);
            party.make(mesh, ring, 5).expect("nothing is sent")
        });
        let [one, mut two]: [Ole; 2] = outputs;
        two.shares[3] ^= flips;
        let outputs = [&Output::Ole(one), &Output::Ole(two)];
        check(Correlation::Ole(ring), outputs, 5);
    }

    #[test]
    fn right_correlations_are_right() {
        check_oles(0);
    }

    #[test]
    #[should_panic(expected = "ole-64")]
    fn wrong_correlations_are_no_figures() {
        check_oles(1 << 20);
    }
}
