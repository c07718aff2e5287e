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
//! * *Pools.* The dealer makes triples, and other parties make random choices for the owners of
//!   inputs, in refills. An input is its correction: the value plus the mask that its owner drew.
//! * *Two domains of bits with tapes*: reductions run on XOR shares, all else on masked values.
//! * *Checks* that tiles settle, and broadcasts that parties compare before anything is opened.
//!
//! Every word of a message is 8 bytes, also that of a bit.

mod description;
mod offline;
mod online;

pub use description::Masked;
use description::{bucket, words_of};
pub use online::MaskedParty;

use sealane_block::Coins;
use sealane_net::Mesh;
use sealane_parties::PartyId;
use sealane_party::{Broadcast, ECHO_BYTES, Fault, Planes, Result, Start};
use sealane_protocol::{
    Algebra, CheckKind, Checks, Choices, Correlation, Demand, Domain, Setting, Sharing,
};
use std::collections::{BTreeMap, VecDeque};

/// Masks or masked values, one word a bit or ring element.
pub type Words = Planes<u64>;

/// Role of the party that makes triples.
const DEALER: usize = 0;

/// State of a party that both walks use.
pub struct Common {
    setting: Setting,
    me: PartyId,
    coins: Coins,
    broadcast: Broadcast,
    /// Triples, as words of the factors and the product; masks of inputs, as single words.
    pools: BTreeMap<Correlation, VecDeque<[u64; 3]>>,
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

/// The bytes by which a party settles its checks.
fn settling(checks: &[Check]) -> Vec<u8> {
    vec![0; 8 * words_of(&count(checks)) as usize]
}

/// Digest of all broadcasts.
type Echo = [u8; ECHO_BYTES as usize];

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

    /// Adds correlations to the pools: the dealer deals triples, in buckets, the sender of a choice
    /// sends it.
    fn refill(&mut self, demand: &Demand, mesh: &mut Mesh) -> Result<()> {
        let bucket = bucket(&self.setting) as usize;
        for (kind, count) in &demand.0 {
            match kind {
                Correlation::Triple { .. } if self.is_first() => {
                    let own = self.deal(bucket * *count as usize, mesh)?;
                    let own = own.into_iter().step_by(bucket);
                    self.pools.entry(*kind).or_default().extend(own);
                }
                Correlation::Cot {
                    sender, receiver, ..
                } if *sender == self.me => {
                    let words = self.random(Algebra::Z2k(64), *count as usize);
                    mesh.send(*receiver, &to_bytes(&words))?;
                    let words = words.into_iter().map(|word| [word, 0, 0]);
                    self.pools.entry(*kind).or_default().extend(words);
                }
                _ => {}
            }
        }
        mesh.flush()?;
        for (kind, count) in &demand.0 {
            let (from, words) = match kind {
                Correlation::Triple { .. } if !self.is_first() => {
                    (self.setting.player(DEALER), 3 * bucket)
                }
                Correlation::Cot {
                    sender, receiver, ..
                } if *receiver == self.me => (*sender, 1),
                _ => continue,
            };
            let words = recv(from, words * *count as usize, mesh)?;
            let triples = words.chunks(words.len() / *count as usize).map(|words| {
                // The first of a bucket is kept.
                let words = &words[..words.len().min(3)];
                let mut triple = [0; 3];
                triple[..words.len()].copy_from_slice(words);
                triple
            });
            self.pools.entry(*kind).or_default().extend(triples);
        }
        Ok(())
    }

    /// Makes triples of bits, sends each other party its part, returns the dealer's own.
    fn deal(&mut self, count: usize, mesh: &mut Mesh) -> Result<Vec<[u64; 3]>> {
        let [mut a, mut b] = [0, 1].map(|_| self.random(Algebra::Z2, count));
        let mut c = a.iter().zip(&b).map(|(a, b)| a & b).collect::<Vec<_>>();
        for to in self.others() {
            let part = self.random(Algebra::Z2, 3 * count);
            mesh.send(to, &to_bytes(&part))?;
            for (i, part) in part.chunks(3).enumerate() {
                (a[i], b[i], c[i]) = (a[i] ^ part[0], b[i] ^ part[1], c[i] ^ part[2]);
            }
        }
        Ok((0..count).map(|i| [a[i], b[i], c[i]]).collect())
    }

    /// Takes correlations from a pool.
    fn take(&mut self, kind: Correlation, count: usize) -> Result<Vec<[u64; 3]>> {
        let pool = self.pools.entry(kind).or_default();
        if pool.len() < count {
            return Err(Fault::internal("a pool is empty"));
        }
        Ok(pool.drain(..count).collect())
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

    /// Words for products of shared bits by triples: both factors less those of a triple.
    fn beaver(&mut self, factors: &[[u64; 2]]) -> Result<(Vec<[u64; 3]>, Vec<u64>)> {
        let algebra = Algebra::Z2;
        let triples = self.take(Correlation::Triple { algebra }, factors.len())?;
        let pairs = factors.iter().zip(&triples);
        let words = pairs.flat_map(|([x, y], [a, b, _])| [x ^ a, y ^ b]);
        let words = words.collect();
        Ok((triples, words))
    }

    /// This party's parts of the products, from the sums of the words of [`Common::beaver`].
    fn products(&self, triples: &[[u64; 3]], sums: &Sums) -> Vec<u64> {
        let pairs = triples.iter().zip(sums.xor.chunks(2));
        let product = |([a, b, c], opened): (&[u64; 3], &[u64])| {
            let (d, e) = (opened[0], opened[1]);
            c ^ d & b ^ e & a ^ if self.is_first() { d & e } else { 0 }
        };
        pairs.map(product).collect()
    }
}

/// Choices that a party makes for the owner of an input.
fn choices(sender: PartyId, receiver: PartyId) -> Correlation {
    Correlation::Cot {
        sender,
        receiver,
        choices: Choices::Random,
    }
}

/// Words of an element of so many bits.
fn planes_of(domain: Domain, bits: usize) -> usize {
    match domain.algebra {
        Algebra::Z2 => bits,
        Algebra::Z2k(_) | Algebra::Gf2k(_) => 1,
    }
}

fn is_masked(domain: Domain) -> bool {
    domain.sharing == Sharing::Masked
}

/// The bits of a word that count.
fn mask(algebra: Algebra) -> u64 {
    match algebra {
        Algebra::Z2 => 1,
        Algebra::Z2k(k) | Algebra::Gf2k(k) => u64::MAX >> (64 - u32::from(k)),
    }
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
