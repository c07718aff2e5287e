//! Correlations of all types, made by their ideal functionality and by protocols over any source.

use crate::common::*;
use sealane_block::Cpu;
use sealane_net::Mesh;
use sealane_ot::ideal::correlations::Checked;
use sealane_ot::traits::CorrelationSource;
use sealane_ot::triples::{
    ArithmeticTriples, BooleanTriples, DaBits, KnownProducts, KnownShape, MatrixTriples, Ole, Ring,
    Selects, WideTriples,
};
use sealane_ot::{Result, ideal};
use sealane_parties::PartyId;

pub type AnySource<G> = Box<dyn CorrelationSource<G>>;

/// Correlations that both their ideal functionality and a protocol make.
pub trait Tested: Checked + Send
where
    ideal::correlations::Party: CorrelationSource<Self>,
{
    /// Sets up a party of the protocol.
    fn protocol(cots: Cots, cpu: Cpu, mesh: &mut Mesh) -> Result<AnySource<Self>>;

    /// All that a party has.
    fn values(&self) -> Vec<u128>;
}

/// Result of a party: its correlations, the bytes that it sent for them, and a digest of all that
/// it sent.
pub type Made<G> = (G, u64, [u8; 32]);

/// Makes correlations at one party.
pub fn make<G: Tested>(
    source: &mut AnySource<G>,
    mesh: &mut Mesh,
    kind: G::Parameters,
    count: usize,
) -> Result<Made<G>>
where
    ideal::correlations::Party: CorrelationSource<G>,
{
    let peer = PartyId(1 - mesh.me().0);
    let before = mesh.payload_sent(peer);
    let correlations = source.make(mesh, kind, count)?;
    mesh.flush()?;
    let bytes = mesh.payload_sent(peer) - before;
    Ok((correlations, bytes, mesh.digest_sent(peer)))
}

/// Runs the protocol.
pub fn run<G: Tested>(cots: Cots, cpu: Cpu, kind: G::Parameters, count: usize) -> (Made<G>, Made<G>)
where
    ideal::correlations::Party: CorrelationSource<G>,
    G::Parameters: Send + Sync,
{
    let party = |mesh: &mut Mesh| {
        let mut source = G::protocol(cots, cpu, mesh)?;
        make(&mut source, mesh, kind, count)
    };
    pair(party, party)
}

pub fn check<G: Checked>(kind: G::Parameters, count: usize, parts: [&G; 2]) {
    assert_eq!(G::wrong(kind, count, parts), None);
}

/// Makes correlations of all these kinds by the ideal functionality, which sends nothing, and by
/// the protocol over every source, which takes the planned bytes.
pub fn assert_multiplied<G: Tested>(cases: &[(G::Parameters, usize)])
where
    ideal::correlations::Party: CorrelationSource<G>,
    G::Parameters: Send + Sync + std::fmt::Debug,
{
    for &(kind, count) in cases {
        let [one, two] = ideal::correlations::danger_pair(3);
        let party = |party: ideal::correlations::Party| {
            move |mesh: &mut Mesh| {
                let mut source: AnySource<G> = Box::new(party);
                make(&mut source, mesh, kind, count)
            }
        };
        let ((one, from_one, _), (two, from_two, _)) = pair(party(one), party(two));
        check(kind, count, [&one, &two]);
        assert_eq!([from_one, from_two], [0; 2]);
        for cots in Cots::all() {
            let ((one, from_one, _), (two, from_two, _)) = run::<G>(cots, Cpu::best(), kind, count);
            check(kind, count, [&one, &two]);
            let planned = cots.planned(|cot| G::flights(cot, 0, kind, count as u64));
            let crossed = [from_one, from_two];
            assert_eq!(crossed, bytes_of(&planned), "{count} of {kind:?}, {cots:?}");
        }
    }
}

impl Tested for BooleanTriples {
    fn protocol(cots: Cots, cpu: Cpu, mesh: &mut Mesh) -> Result<AnySource<Self>> {
        Ok(Box::new(cots.both(cpu, mesh)?))
    }

    fn values(&self) -> Vec<u128> {
        [values(&self.a), values(&self.b), values(&self.c)].concat()
    }
}

pub fn wide(numbers: &[&[u64]]) -> Vec<u128> {
    numbers.concat().into_iter().map(u128::from).collect()
}

impl Tested for Ole {
    fn protocol(cots: Cots, cpu: Cpu, mesh: &mut Mesh) -> Result<AnySource<Self>> {
        if mesh.me() == SENDER {
            return Ok(Box::new(cots.hashed_sender(cpu, mesh)?));
        }
        Ok(Box::new(cots.hashed_receiver(cpu, mesh)?))
    }

    fn values(&self) -> Vec<u128> {
        wide(&[&self.factors, &self.shares])
    }
}

impl Tested for ArithmeticTriples {
    fn protocol(cots: Cots, cpu: Cpu, mesh: &mut Mesh) -> Result<AnySource<Self>> {
        Ok(Box::new(cots.both(cpu, mesh)?))
    }

    fn values(&self) -> Vec<u128> {
        wide(&[&self.a, &self.b, &self.c])
    }
}

impl Tested for WideTriples {
    fn protocol(cots: Cots, cpu: Cpu, mesh: &mut Mesh) -> Result<AnySource<Self>> {
        Ok(Box::new(cots.both(cpu, mesh)?))
    }

    fn values(&self) -> Vec<u128> {
        let planes = self.b.iter().chain(&self.c);
        planes
            .chain([&self.a])
            .flat_map(|plane| values(plane))
            .collect()
    }
}

impl Tested for DaBits {
    fn protocol(cots: Cots, cpu: Cpu, mesh: &mut Mesh) -> Result<AnySource<Self>> {
        Ok(Box::new(cots.both(cpu, mesh)?))
    }

    fn values(&self) -> Vec<u128> {
        [values(&self.bits), wide(&[&self.elements])].concat()
    }
}

impl Tested for Selects {
    fn protocol(cots: Cots, cpu: Cpu, mesh: &mut Mesh) -> Result<AnySource<Self>> {
        Ok(Box::new(cots.both(cpu, mesh)?))
    }

    fn values(&self) -> Vec<u128> {
        let numbers = wide(&[&self.elements, &self.factors, &self.products]);
        [values(&self.bits), numbers].concat()
    }
}

impl Tested for KnownProducts {
    fn protocol(cots: Cots, cpu: Cpu, mesh: &mut Mesh) -> Result<AnySource<Self>> {
        if mesh.me() == SENDER {
            return Ok(Box::new(cots.hashed_sender(cpu, mesh)?));
        }
        Ok(Box::new(cots.hashed_receiver(cpu, mesh)?))
    }

    fn values(&self) -> Vec<u128> {
        wide(&[&self.factors, &self.shares])
    }
}

impl Tested for MatrixTriples {
    fn protocol(cots: Cots, cpu: Cpu, mesh: &mut Mesh) -> Result<AnySource<Self>> {
        Ok(Box::new(cots.both(cpu, mesh)?))
    }

    fn values(&self) -> Vec<u128> {
        wide(&[&self.a, &self.b, &self.c])
    }
}

/// Makes correlations of all these kinds from one source after another, as many OTs each as `ots`
/// says, and checks them and their bytes.
pub fn assert_all_multiplied<G: Tested>(
    cases: &[(G::Parameters, usize)],
    ots: impl Fn(G::Parameters, u64) -> u64,
) where
    ideal::correlations::Party: CorrelationSource<G>,
    G::Parameters: Send + Sync + std::fmt::Debug,
{
    for cots in Cots::all() {
        let party = |mesh: &mut Mesh| {
            let mut source = G::protocol(cots, Cpu::best(), mesh)?;
            let each = |&(kind, count)| make(&mut source, mesh, kind, count);
            cases.iter().map(each).collect::<Result<Vec<Made<G>>>>()
        };
        let (one, two) = pair(party, party);
        let mut before = 0;
        for ((one, two), &(kind, count)) in one.iter().zip(&two).zip(cases) {
            check(kind, count, [&one.0, &two.0]);
            let planned = cots.planned(|cot| G::flights(cot, before, kind, count as u64));
            assert_eq!(
                [one.1, two.1],
                bytes_of(&planned),
                "{count} of {kind:?}, {cots:?}"
            );
            before += ots(kind, count as u64);
        }
    }
}

pub const fn known(bits: u32, choice_bits: u32, partners: usize) -> KnownShape {
    KnownShape {
        ring: Ring::new(bits),
        choice_bits,
        partners,
    }
}
