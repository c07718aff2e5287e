//! A protocol for any number of parties with **no secrecy at all** whose preparation depends on the
//! circuit, for tests of plan and engine.
//!
//! It exercises the features that [`fake`](crate::fake) lacks and that protocols to come need:
//!
//! * A role of one party, the dealer, and a role of any number.
//! * *Offline and online walks.* A value `x` is held as a public masked value `m = x + l` online
//!   and a shared mask `l` offline, as in protocols with function-dependent preprocessing
//!   (Ben-Efraim, Nielsen and Omri, "Turbospeedz", ACNS 2019, section 3). An AND or a product is
//!   prepared offline and costs one broadcast element a party online, however often its operands
//!   are used.
//! * *Pools.* The dealer makes products of bits and of matrices and bits for conversions, and other
//!   parties make random choices for the owners of inputs, in refills. An input is its correction:
//!   the value plus the mask that its owner drew. With [`Setting::pooled`] the choices are random
//!   OTs that two parties made before the run, in either direction, and the owner tells its own.
//! * *Operands that a party knows*: the mask of a ring element that is an input is its owner's
//!   alone, who tells all others the bits of the number where it is multiplied, each xor a random
//!   one, in as few bytes as hold it.
//! * *Choices of ring elements, parts of their bits and floors* as steps that open masks.
//! * *Two domains of bits with tapes*: XOR shares and masked values, as it takes the least time,
//!   and two routes from XOR shares to ring elements.
//! * *Checks* that tiles settle, and broadcasts that parties compare before anything is opened.
//!
//! Every other word of a message is 8 bytes, also that of a bit.

mod description;
mod offline;
mod online;
mod pools;
mod products;
mod ring;

pub use description::Masked;
use description::words_of;
pub use online::MaskedParty;

use sealane_block::Coins;
use sealane_net::Mesh;
use sealane_parties::PartyId;
use sealane_party::{
    Broadcast, ECHO_BYTES, Fault, Outcome, Planes, Progress, Result, Start, Steps, Stocks,
};
use sealane_protocol::{
    Algebra, CheckKind, Checks, Correlation, Domain, Numbers, Setting, Sharing,
};
use std::collections::{BTreeMap, VecDeque};

/// Masks or masked values, one word a bit or ring element.
pub type Words = Planes<u64>;

/// Role of the party that makes correlations.
const DEALER: usize = 0;

/// State of a party that both walks use.
pub struct Common {
    setting: Setting,
    me: PartyId,
    coins: Coins,
    broadcast: Broadcast,
    /// This party's parts of correlations, word by word.
    pools: BTreeMap<Correlation, VecDeque<u64>>,
    /// Random OTs that were made before the run.
    stocks: Stocks,
    /// True if this party's next broadcast tells the last party something else.
    lies: bool,
}

/// Output of the offline part of a step: this party's parts of the masks that its online part
/// needs.
#[derive(Default)]
pub struct Material(Vec<Vec<u64>>);

/// Checks of a kind that a step leaves. All of them hold.
pub type Check = (CheckKind, u64);

fn count(checks: &[Check]) -> Checks {
    let mut all = Checks::default();
    for (kind, count) in checks {
        all.add(&Checks::of(*kind, *count), 1);
    }
    all
}

/// Digest of all broadcasts.
type Echo = [u8; ECHO_BYTES as usize];

/// The rest of a step: it reads the flight that is due, and writes the next one or ends the step.
type Rest<'a, W> = Box<dyn FnOnce(&mut W, &mut Mesh) -> Result<Progress<'a, W>> + Send + 'a>;

/// A step that waits for a flight.
fn then<'a, W: Steps<Pending<'a> = Rest<'a, W>>>(
    rest: impl FnOnce(&mut W, &mut Mesh) -> Result<Progress<'a, W>> + Send + 'a,
) -> Progress<'a, W> {
    let rest: Rest<'a, W> = Box::new(rest);
    Progress::More(rest)
}

/// Steps that both walks begin alike.
trait Walk: for<'a> Steps<Check = Check, Output: Default, Pending<'a> = Rest<'a, Self>> {
    fn common(&mut self) -> &mut Common;

    /// Broadcasts this party's words, and goes on with the sums of those of all.
    fn sum<'a>(
        &mut self,
        own: Vec<u64>,
        mesh: &mut Mesh,
        rest: impl FnOnce(&mut Self, Sums, &mut Mesh) -> Result<Progress<'a, Self>> + Send + 'a,
    ) -> Result<Progress<'a, Self>> {
        self.common().send(&own, mesh)?;
        Ok(then(move |walk: &mut Self, mesh| {
            let sums = walk.common().sums(&own, mesh)?;
            rest(walk, sums, mesh)
        }))
    }

    /// Settles checks: sends digests of broadcasts and the checks, and compares those of all.
    fn settle<'a>(&mut self, checks: &[Check], mesh: &mut Mesh) -> Result<Progress<'a, Self>> {
        let checks = vec![0; 8 * words_of(&count(checks)) as usize];
        let echo = self.common().send_checks(&checks, mesh)?;
        Ok(then(move |walk: &mut Self, mesh| {
            walk.common().settle(&echo, checks, mesh)?;
            Ok(Progress::Done(Outcome::Settled(Self::Output::default())))
        }))
    }
}

/// Sums of words that each party broadcast, by XOR and modulo `2^64`.
struct Sums {
    xor: Vec<u64>,
    add: Vec<u64>,
}

impl Common {
    fn new(start: Start<'_>, lies: bool) -> Common {
        Common {
            broadcast: Broadcast::new(start.me, start.setting.parties, start.session),
            setting: start.setting.clone(),
            me: start.me,
            coins: start.coins,
            stocks: start.stocks,
            pools: BTreeMap::new(),
            lies,
        }
    }

    fn is_first(&self) -> bool {
        self.me == self.setting.player(DEALER)
    }

    fn others(&self) -> impl Iterator<Item = PartyId> + use<> {
        self.setting.others(self.me)
    }

    /// Random words of an algebra.
    fn random(&mut self, algebra: Algebra, count: usize) -> Vec<u64> {
        let mut bytes = vec![0; 8 * count];
        self.coins.secret("masked: words").fill_bytes(&mut bytes);
        let words = from_bytes(&bytes).into_iter();
        words.map(|word| word & mask(algebra)).collect()
    }

    /// Broadcasts words.
    fn send(&mut self, words: &[u64], mesh: &mut Mesh) -> Result<()> {
        if !self.lies || words.is_empty() {
            return self.broadcast.send(&to_bytes(words), mesh);
        }
        self.lies = false;
        // The last party gets another word than all others.
        let last = self.others().last();
        for to in self.others() {
            let mut reported = words.to_vec();
            reported[0] ^= u64::from(Some(to) == last);
            mesh.send(to, &to_bytes(&reported))?;
        }
        Ok(())
    }

    /// Reads the words that `from` broadcast.
    fn recv(&mut self, from: PartyId, count: usize, mesh: &mut Mesh) -> Result<Vec<u64>> {
        let mut bytes = vec![0; 8 * count];
        self.broadcast.recv(from, &mut bytes, mesh)?;
        Ok(from_bytes(&bytes))
    }

    /// Counts words of this party as broadcast, when others have read them.
    fn heard(&mut self, own: &[u64], mesh: &mut Mesh) -> Result<()> {
        self.broadcast.recv(self.me, &mut to_bytes(own), mesh)
    }

    /// Reads what all others broadcast and adds this party's own words.
    fn sums(&mut self, own: &[u64], mesh: &mut Mesh) -> Result<Sums> {
        let (mut xor, mut add) = (own.to_vec(), own.to_vec());
        self.heard(own, mesh)?;
        for from in self.others() {
            let words = self.recv(from, own.len(), mesh)?;
            for (i, word) in words.into_iter().enumerate() {
                xor[i] ^= word;
                add[i] = add[i].wrapping_add(word);
            }
        }
        Ok(Sums { xor, add })
    }

    /// Writes the digest of all broadcasts, and checks.
    fn send_checks(&self, checks: &[u8], mesh: &mut Mesh) -> Result<Echo> {
        let echo = self.broadcast.send_echo(mesh)?;
        for to in self.others() {
            mesh.send(to, checks)?;
        }
        Ok(echo)
    }

    /// Compares the digests of all, and sums up the checks, which have to be zero.
    fn settle(&self, echo: &Echo, mut checks: Vec<u8>, mesh: &mut Mesh) -> Result<()> {
        self.broadcast.check_echo(echo, mesh)?;
        let mut theirs = vec![0; checks.len()];
        for from in self.others() {
            mesh.recv(from, &mut theirs)?;
            for (check, sum) in checks.iter_mut().zip(&theirs) {
                *check ^= sum;
            }
        }
        if checks.iter().all(|sum| *sum == 0) {
            Ok(())
        } else {
            Err(Fault::CheckFailed)
        }
    }
}

/// The fault of a sort.
fn no_sorts() -> Fault {
    Fault::internal("this protocol sorts by networks, in copies")
}

/// The operand of a product that a party knows, and that party.
fn known(numbers: [Numbers; 2]) -> Option<(usize, PartyId)> {
    let known = |at: usize| Some((at, numbers[at].known_to?));
    known(0).or_else(|| known(1))
}

/// Bytes of a number that a party tells, at least one.
fn bytes_of(numbers: Numbers) -> usize {
    numbers.bits.max(1).div_ceil(8) as usize
}

/// Words of an element of so many bits.
fn planes_of(domain: Domain, bits: usize) -> usize {
    match domain.algebra {
        Algebra::Z2 => bits,
        Algebra::Z2k(_) | Algebra::Gf2k(_) | Algebra::Fp => 1,
    }
}

fn is_masked(domain: Domain) -> bool {
    domain.sharing == Sharing::Masked
}

/// The bits of a word that count.
fn mask(algebra: Algebra) -> u64 {
    u64::MAX >> (64 - algebra.bits())
}

fn plus(algebra: Algebra, a: u64, b: u64) -> u64 {
    a.wrapping_add(b) & mask(algebra)
}

fn minus(algebra: Algebra, a: u64, b: u64) -> u64 {
    a.wrapping_sub(b) & mask(algebra)
}

fn to_bytes(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn from_bytes(bytes: &[u8]) -> Vec<u64> {
    let (words, _) = bytes.as_chunks();
    words.iter().map(|word| u64::from_le_bytes(*word)).collect()
}

fn recv(from: PartyId, count: usize, mesh: &mut Mesh) -> Result<Vec<u64>> {
    let mut bytes = vec![0; 8 * count];
    mesh.recv(from, &mut bytes)?;
    Ok(from_bytes(&bytes))
}

/// Elements as the words of a domain: their bits plane by plane, or the elements themselves.
fn encode(domain: Domain, bits: usize, values: &[u64]) -> Vec<u64> {
    match domain.algebra {
        Algebra::Z2 => {
            let plane = |plane: usize| values.iter().map(move |value| value >> plane & 1);
            (0..bits).flat_map(plane).collect()
        }
        ring => values.iter().map(|value| value & mask(ring)).collect(),
    }
}

/// Elements from the words of a domain.
fn decode(domain: Domain, bits: usize, words: &[u64]) -> Vec<u64> {
    match domain.algebra {
        Algebra::Z2 => {
            let count = words.len() / bits.max(1);
            let element = |i: usize| (0..bits).map(move |p| words[p * count + i] << p).sum();
            (0..count).map(element).collect()
        }
        _ => words.to_vec(),
    }
}

/// The sum of multiples of words by public factors modulo `2^k`.
fn linear(domain: Domain, lanes: usize, terms: &[sealane_party::Term<'_, Words>]) -> Words {
    use sealane_party::{Factor, Shares};
    let mut sums = vec![0u64; lanes];
    for term in terms {
        for plane in 0..term.share.planes() {
            for (lane, word) in term.share.plane(plane).iter().enumerate() {
                let factor = match &term.factor {
                    Factor::Number(factor) => *factor,
                    Factor::Table(table) => table[plane * lanes + lane],
                };
                sums[lane] = sums[lane].wrapping_add(word.wrapping_mul(factor));
            }
        }
    }
    let sums = sums.into_iter().map(|sum| sum & mask(domain.algebra));
    Planes::new(1, lanes, sums.collect())
}
