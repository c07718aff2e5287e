//! Parties whose steps have offline parts, which run one by one as those of [`side`](crate::side).

use crate::side::Side;
use sealane_circuit::Tape;
use sealane_parties::{PartyId, PartySet};
use sealane_party::{Opened, Outcome, Party, Result, Shares, Step, Steps, Words, run_alone};
use sealane_protocol::{Algebra, Domain, Protocol};
use std::sync::Arc;

/// One party of a session, and what it has to settle.
pub struct TwoWalks<P: Party> {
    /// The party, and its links.
    pub side: Side<P>,
    checks: Vec<P::Check>,
}

/// A value in both walks.
pub struct Both<P: Party> {
    ahead: Arc<<P::Offline as Steps>::Share>,
    share: Arc<P::Share>,
}

impl<P: Party> TwoWalks<P> {
    /// A party that is set up.
    pub fn new(side: Side<P>) -> TwoWalks<P> {
        let checks = Vec::new();
        TwoWalks { side, checks }
    }

    /// Runs both parts of a step that makes a value.
    fn step(&mut self, ahead: Step<'_, P::Offline>, step: Step<'_, P>) -> Result<Both<P>> {
        let (ahead, _, material) = shared(self.prepare(ahead)?);
        let Side { party, mesh } = &mut self.side;
        let (share, checks, ()) = shared(run_alone(party, mesh, step, Some(material))?);
        self.checks.extend(checks);
        Ok(Both {
            ahead: Arc::new(ahead),
            share: Arc::new(share),
        })
    }

    /// Runs the offline part of a step.
    fn prepare(&mut self, step: Step<'_, P::Offline>) -> Result<Outcome<P::Offline>> {
        let Side { party, mesh } = &mut self.side;
        let offline = party.offline().expect("a protocol with offline parts");
        run_alone(offline, mesh, step, None)
    }

    /// Shares so many elements of bits, which only their owner gives.
    ///
    /// # Errors
    /// Those of the steps, as of all functions here.
    pub fn input(
        &mut self,
        owner: PartyId,
        [elements, bits]: [usize; 2],
        values: Option<Words>,
    ) -> Result<Both<P>> {
        let domain = bits_of::<P>();
        let ahead = Step::Input {
            owner,
            domain,
            elements,
            bits,
            values: None,
        };
        let step = Step::Input {
            owner,
            domain,
            elements,
            bits,
            values,
        };
        self.step(ahead, step)
    }

    /// Runs a tape on all elements of its operands.
    ///
    /// # Errors
    /// As [`TwoWalks::input`].
    pub fn tape(&mut self, tape: &Tape, operands: &[&Both<P>]) -> Result<Both<P>> {
        let (domain, lanes) = (bits_of::<P>(), operands[0].share.elements());
        let ahead = Step::Tape {
            tape,
            domain,
            lanes,
            operands: operands.iter().map(|of| Arc::clone(&of.ahead)).collect(),
        };
        let step = Step::Tape {
            tape,
            domain,
            lanes,
            operands: operands.iter().map(|of| Arc::clone(&of.share)).collect(),
        };
        self.step(ahead, step)
    }

    /// Settles all that is not settled.
    ///
    /// # Errors
    /// As [`TwoWalks::input`].
    pub fn settle(&mut self) -> Result<()> {
        let Outcome::Settled(material) = self.prepare(Step::Settle { checks: vec![] })? else {
            panic!("a settlement is due");
        };
        let checks = std::mem::take(&mut self.checks);
        let Side { party, mesh } = &mut self.side;
        let settled = run_alone(party, mesh, Step::Settle { checks }, Some(material))?;
        assert!(matches!(settled, Outcome::Settled(())), "a settlement");
        Ok(())
    }

    /// Opens values to these parties: returns those that this party learns.
    ///
    /// # Errors
    /// As [`TwoWalks::input`].
    pub fn open(&mut self, values: &[&Both<P>], to: PartySet) -> Result<Vec<Option<Words>>> {
        let Outcome::Opened(_, material) = self.prepare(Step::Open { results: vec![] })? else {
            panic!("results are due");
        };
        let results = values.iter().map(|value| Opened {
            share: Arc::clone(&value.share),
            domain: bits_of::<P>(),
            to,
        });
        let step = Step::Open {
            results: results.collect(),
        };
        let Side { party, mesh } = &mut self.side;
        match run_alone(party, mesh, step, Some(material))? {
            Outcome::Opened(values, ()) => Ok(values),
            _ => panic!("results are due"),
        }
    }
}

/// The domain of bits.
fn bits_of<P: Party>() -> Domain {
    P::Protocol::domain(Algebra::Z2)
}

/// The parts of an outcome that is a share.
fn shared<W: Steps>(outcome: Outcome<W>) -> (W::Share, Vec<W::Check>, W::Output) {
    match outcome {
        Outcome::Share(share, checks, output) => (share, checks, output),
        _ => panic!("a share is due"),
    }
}
