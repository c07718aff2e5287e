//! Products of batches: their relation, and parties that deviate as these are made, at reduced
//! sizes where what they try succeeds often enough to be counted.

use super::{BOTH, EVALUATOR, GARBLER, Side, demand, here, setting};
use crate::Auth;
use crate::bits::{Bits, pack_lowest};
use crate::common::Place;
use crate::products::batch::{self, Making};
use crate::products::{Begun, DangerDealer, PRODUCT, Products, Shape, Transfers, leaky};
use crate::roles::Roles;
use crate::sums::Challenges;
use sealane_block::hash::Mi;
use sealane_block::{Block, Coins, LabelHash, Nonce};
use sealane_net::Mesh;
use sealane_parties::PartyId;
use sealane_party::{Fault, Party, Result};
use sealane_protocol::{Demand, LeftOver, Protocol};
use sealane_testkit::side::on_threads;
use sealane_testkit::tamper::tampered;
use std::collections::{BTreeMap, BTreeSet};

/// A party of batches whose bits a dealer gives.
struct Maker {
    mesh: Mesh,
    dealer: DangerDealer,
    challenges: Challenges,
    garbles: bool,
    peer: PartyId,
    batches: u64,
}

/// A batch that has passed its checks, at one party.
struct Passed {
    shifts: Vec<usize>,
    products: [Bits; 3],
}

impl Maker {
    fn new(mut mesh: Mesh) -> Maker {
        let (nonce, session) = (Nonce::from_bytes([5; 32]), mesh.session());
        let garbles = mesh.me() == GARBLER;
        let peer = if garbles { EVALUATOR } else { GARBLER };
        let challenges = Challenges::new(here(), session, nonce);
        let begun = Begun {
            cpu: here(),
            session,
            nonce,
            me: mesh.me(),
            roles: Roles::of(&setting()),
            setting: &setting(),
            coins: Coins::danger_fixed_seed(0),
            challenges: challenges.clone(),
        };
        let dealer = DangerDealer::set_up(begun, &Demand::default(), &mut mesh);
        Maker {
            dealer: dealer.expect("a dealer sends nothing"),
            mesh,
            challenges,
            garbles,
            peer,
            batches: 0,
        }
    }

    /// Makes a batch. The garbler adds an error to these rows.
    fn make(&mut self, shape: Shape, errors: &[(usize, usize)], seed: u64) -> Result<Passed> {
        self.make_with(shape, errors, seed, |_| ())
    }

    /// The same, with what `change` makes of the differences of factors.
    fn make_with(
        &mut self,
        shape: Shape,
        errors: &[(usize, usize)],
        seed: u64,
        change: impl FnOnce(&mut [u8]),
    ) -> Result<Passed> {
        let [bits] = &self.dealer.bits(shape.bits())?[..] else {
            panic!("one other party");
        };
        let errors = if self.garbles { errors } else { &[] };
        let shares = pack_lowest([&bits.mac[..]].into_iter());
        let hash = Mi::new(here(), Block::new(9));
        let making = Making {
            place: leaky::Place {
                cpu: here(),
                hash: &hash,
                number: self.batches,
                garbles: self.garbles,
                offset: self.dealer.offset(),
                shape,
            },
            challenges: &self.challenges,
            session: self.mesh.session(),
            peer: self.peer,
            bits: leaky::Layers {
                items: shape.products,
                mac: &bits.mac,
                key: &bits.key,
                shares: &shares,
            },
            errors,
        };
        let coins = &mut Coins::danger_fixed_seed(2 * seed + u64::from(self.garbles));
        let mesh = &mut self.mesh;
        let toss = batch::toss(self.batches, self.peer, coins, mesh)?;
        mesh.flush()?;
        self.batches += 1;
        let leaky = &mut leaky::Leaky::default();
        let (opened, shifts) = making.checked(toss, leaky, coins, mesh)?;
        let mut differences = making.differences(&shifts, mesh)?;
        change(&mut differences);
        let mut products = [(); 3].map(|()| Bits {
            mac: vec![Block::ZERO; shape.products],
            key: vec![Block::ZERO; shape.products],
        });
        let mut made = products.each_mut().map(|of| [&mut of.mac[..], &mut of.key]);
        making.combine(&shifts, &opened, &differences, &mut made);
        Ok(Passed { shifts, products })
    }
}

/// Values of bits that both parties hold, whose MACs fit.
fn values(offsets: [Block; 2], bits: [&Bits; 2]) -> Vec<u8> {
    let [a, b] = bits;
    let count = a.mac.len();
    assert_eq!([a.key.len(), b.mac.len(), b.key.len()], [count; 3]);
    let value = |at: usize| {
        for (me, other, offset) in [(a, b, offsets[1]), (b, a, offsets[0])] {
            let mac = other.key[at] ^ offset.masked(me.mac[at].lsb());
            assert_eq!(me.mac[at].value(), mac.value(), "a MAC");
            assert_eq!(me.key[at].lsb(), 0);
        }
        a.mac[at].lsb() ^ b.mac[at].lsb()
    };
    (0..count).map(value).collect()
}

fn are_products(offsets: [Block; 2], made: [&[Bits; 3]; 2]) {
    let [x, y, z] = [0, 1, 2].map(|of| values(offsets, made.map(|made| &made[of])));
    let right = |at: usize| x[at] & y[at] == z[at];
    assert!((0..x.len()).all(right));
    // All values are there: 200 tosses miss one with a chance of 2^-200.
    for of in [&x, &y] {
        assert!(of.len() < 200 || (of.contains(&0) && of.contains(&1)));
    }
}

#[test]
fn batches_of_any_shape_make_products() {
    for (bucket, products) in [(2, 1), (2, 5), (3, 64), (4, 1000), (3, 2049), (8, 27)] {
        let shape = Shape { bucket, products };
        let ends = on_threads(Mesh::in_memory(2), |mesh| {
            let mut maker = Maker::new(mesh);
            let before = maker.mesh.payload_sent(maker.peer);
            let passed = maker.make(shape, &[], 7).expect("both are honest");
            let sent = maker.mesh.payload_sent(maker.peer) - before;
            assert_eq!(sent, shape.flights().iter().sum::<u64>());
            (maker.dealer.offset(), passed)
        });
        let [a, b] = [0, 1].map(|me| &ends[me]);
        assert_eq!(a.1.shifts, b.1.shifts);
        are_products([a.0, b.0], [&a.1.products, &b.1.products]);
    }
}

/// How many of so many batches pass in which the garbler adds errors to rows, and in how many of
/// these it knows all of a bucket. It tries the rows that `errors` returns for the shifts of a
/// batch, which a garbler does not know in time.
fn attacked(
    shape: Shape,
    runs: u64,
    errors: impl Fn(&[usize]) -> Vec<(usize, usize)> + Sync,
) -> [u64; 2] {
    let ends = on_threads(Mesh::in_memory(2), |mesh| {
        let mut maker = Maker::new(mesh);
        let (mut passed, mut known) = (0, 0);
        for seed in 0..runs {
            // The coins of a batch have a seed here, so its shifts are found by making it twice.
            let number = maker.batches;
            let honest = maker.make(shape, &[], seed).expect("no error");
            maker.batches = number;
            let rows = errors(&honest.shifts);
            let Ok(end) = maker.make(shape, &rows, seed) else {
                continue;
            };
            assert_eq!(end.shifts, honest.shifts);
            passed += 1;
            let whole = |g: &usize| {
                let item = |layer: usize| (g + end.shifts[layer]) % shape.products;
                (0..shape.bucket).all(|layer| rows.contains(&(layer, item(layer))))
            };
            if let Some(g) = (0..shape.products).find(whole) {
                known += 1;
                // An error at `x` of 1 would have been found, so all of them are 0.
                let x = end.products[0].mac[g].lsb();
                assert!(maker.garbles || x == 0);
            }
        }
        [passed, known]
    });
    assert_eq!(ends[0], ends[1]);
    ends[0]
}

/// Checks a number of tosses of a chance: it lies outside with less than 2^-17, and coins are
/// fixed.
fn about(what: &str, found: u64, runs: u64, chance: f64) {
    let (found, mean) = (found as f64, runs as f64 * chance);
    let deviation = (mean * (1.0 - chance)).sqrt();
    let near = (found - mean).abs() <= 4.5 * deviation;
    assert!(near, "{what}: {found} of {runs}, {mean} expected");
}

/// One error in each layer passes where all guesses are right, and tells all of a bucket only where
/// the shifts bring these rows together.
#[test]
fn rows_with_errors_pass_and_tell_a_factor_at_the_stated_rates() {
    let runs = 3000;
    for (bucket, products) in [(2, 8), (3, 4)] {
        let shape = Shape { bucket, products };
        let item_0 = |_: &[usize]| (0..bucket).map(|layer| (layer, 0)).collect();
        let [passed, known] = attacked(shape, runs, item_0);
        let passes = 0.5_f64.powi(bucket as i32);
        about("passed", passed, runs, passes);
        let meet = (products as f64).powi(1 - bucket as i32);
        about("known", known, runs, passes * meet);
    }
}

/// If shifts were known before rows are sent, errors would always meet in a bucket: this is what
/// the coin is for, to which both commit before the rows and which they open behind them.
#[test]
fn rows_that_are_chosen_by_shifts_tell_a_factor_whenever_they_pass() {
    let (runs, shape) = (
        600,
        Shape {
            bucket: 2,
            products: 8,
        },
    );
    let meeting = |shifts: &[usize]| shifts.iter().copied().enumerate().collect();
    let [passed, known] = attacked(shape, runs, meeting);
    assert_eq!(passed, known);
    about("known", known, runs, 0.25);
}

/// Rows of one layer tell nothing of a bucket, and each is found with 1/2.
#[test]
fn errors_in_one_layer_are_found_with_a_half_each() {
    let shape = Shape {
        bucket: 3,
        products: 16,
    };
    for errors in 1..4 {
        let rows = |_: &[usize]| (0..errors).map(|item| (1, 5 * item)).collect();
        let [passed, known] = attacked(shape, 800, rows);
        assert_eq!(known, 0);
        about("passed", passed, 800, 0.5_f64.powi(errors as i32));
    }
}

/// MACs alone find a false difference of factors. Without them the product is wrong where the other
/// factor of that layer is 1, and its own MACs are valid.
#[test]
fn a_false_difference_of_factors_makes_a_wrong_product_unless_its_mac_is_checked() {
    let shape = Shape {
        bucket: 2,
        products: 8,
    };
    let runs = 300;
    let ends = on_threads(Mesh::in_memory(2), |mesh| {
        let mut maker = Maker::new(mesh);
        let made = |seed| maker.make_with(shape, &[], seed, |differences| differences[0] ^= 1);
        let made = (0..runs)
            .map(made)
            .map(|end| end.expect("no check sees it"));
        let made = made.map(|passed| passed.products).collect::<Vec<_>>();
        (maker.dealer.offset(), made)
    });
    let [a, b] = [0, 1].map(|me| &ends[me]);
    let mut wrong = 0;
    for made in a.1.iter().zip(&b.1) {
        let of = |of: usize| values([a.0, b.0], [&made.0[of], &made.1[of]]);
        let [x, y, z] = [0, 1, 2].map(of);
        assert!((1..8).all(|at| x[at] & y[at] == z[at]));
        wrong += u64::from(x[0] & y[0] != z[0]);
    }
    about("wrong", wrong, runs, 0.5);
}

/// A party that finds a deviation in a refill has no offset, bits or products any more, and makes
/// no others.
#[test]
fn a_failed_refill_erases_what_was_made_before() {
    let first = demand(600, 70);
    let cost = Transfers::set_up_cost(&setting(), &first);
    let to = |of: PartyId| {
        let messages = cost.flights.iter().flatten();
        let bytes = messages.filter(|message| message.to == of);
        bytes.map(|message| message.bytes).sum::<u64>() + 96
    };
    let more = demand(600, 70);
    let refill = Transfers::refill_cost(&setting(), &more);
    let sent = |flights: usize| {
        let flights = refill.flights[..flights].iter();
        flights.map(|flight| flight[0].bytes).sum::<u64>()
    };
    // Corrections of OTs, a row, a share of a product, the equality, the coin, and a difference.
    let (row, share, opening, difference) = (sent(1), sent(2), sent(4), sent(5));
    for at in [40, row, share, opening + 1, opening + 65, difference] {
        let meshes = tampered(EVALUATOR, to(EVALUATOR) + at, 1);
        let ends = on_threads(meshes, |mesh| {
            let side = Side::<Transfers>::over(mesh, here(), 3, &first).expect("a set-up");
            let mut side = side.reckoned(&first);
            assert!(side.party.offline.0.products.offset().lsb() == 1);
            let end = side.party.refill(&more, &mut side.mesh);
            let source = &mut side.party.offline.0.products;
            let left = [
                source.offset().value() != 0,
                source.bits(1).is_ok(),
                source.products(1).is_ok(),
            ];
            let failed = end.is_err();
            drop(end);
            assert!(!failed || side.party.refill(&more, &mut side.mesh).is_err());
            (failed, left)
        });
        let (failed, left) = ends[1];
        assert!(failed, "a changed byte {at} of a refill");
        for (failed, left) in [(failed, left), ends[0]] {
            assert_eq!(left, [!failed; 3], "{at}");
        }
    }
}

/// Each row of a batch is hashed under a key that no other row has.
#[test]
fn keys_belong_to_a_batch_a_layer_a_direction_and_an_item() {
    let hash = Mi::new(here(), Block::new(9));
    let mut keys = BTreeSet::new();
    for number in 0..3 {
        let place = leaky::Place {
            cpu: here(),
            hash: &hash,
            number,
            garbles: true,
            offset: Block::new(1),
            shape: Shape {
                bucket: 3,
                products: 4,
            },
        };
        for layer in 0..3 {
            for of_garbler in [true, false] {
                let tweaks = (0..4).map(|item| place.tweak(layer, of_garbler, item));
                keys.extend(tweaks.map(|tweak| tweak.block().value()));
            }
        }
    }
    assert_eq!(keys.len(), 3 * 3 * 2 * 4);
}

/// Parties over OTs, with what a refill adds to what the set-up has made.
#[test]
fn transfers_make_bits_and_products_in_set_up_and_refills() {
    let first = demand(600, 70);
    let ends = on_threads(Mesh::in_memory(2), |mesh| {
        let side = Side::<Transfers>::over(mesh, here(), 3, &first).expect("a set-up");
        let mut side = side.reckoned(&first);
        let later = [demand(27, 0), demand(0, 5), demand(5161, 129)];
        for more in &later {
            side.party.refill(more, &mut side.mesh).expect("a refill");
            let cost = Transfers::refill_cost(&setting(), more);
            let reckoning = side.reckoning.as_mut().expect("it reckons");
            reckoning.add(&cost, &side.mesh);
        }
        let source = &mut side.party.offline.0.products;
        let mut products = Vec::new();
        for count in [1, 600, 26, 0, 5000, 161] {
            products.push(source.products(count).expect("products").remove(0));
        }
        assert!(source.products(1).is_err(), "there are no more");
        let bits = source.bits(100).expect("bits of both").remove(0);
        let of = BOTH.map(|owner| source.bits_of(owner, 104).expect("bits of one").remove(0));
        assert!(source.bits(1).is_err(), "there are no more");
        (source.offset(), products, bits, of)
    });
    let [a, b] = [0, 1].map(|me| &ends[me]);
    let offsets = [a.0, b.0];
    assert_eq!(offsets.map(|of| of.value() & 3), [1, 3]);
    for made in a.1.iter().zip(&b.1) {
        are_products(offsets, [made.0, made.1]);
    }
    assert_eq!(values(offsets, [&a.2, &b.2]).len(), 100);
    for (one, other) in a.3.iter().zip(&b.3) {
        values(offsets, [one, other]);
    }
}

/// However many tiles draw on it, a source keeps what plans state for a refill of one, and what
/// that may leave over.
#[test]
fn a_source_keeps_as_much_memory_as_plans_state() {
    let setting = &setting();
    let ends = on_threads(Mesh::in_memory(2), |mesh| {
        let none = demand(0, 0);
        let mut side = Side::<Transfers>::over(mesh, here(), 3, &none).expect("a set-up");
        let mut left_over = LeftOver::after_set_up::<Auth<Transfers>>(setting, &none);
        let mut most = 0;
        for tile in 0..40 {
            // Batches are larger than what these take, and some are not needed.
            let (ands, bits) = (300 + 37 * (tile % 5), 200 + 11 * (tile % 3));
            let taken = demand(ands, ands + bits);
            let made = left_over.refill::<Auth<Transfers>>(setting, &taken);
            if !made.is_empty() {
                side.party.refill(&made, &mut side.mesh).expect("a refill");
            }
            let source = side.party.source();
            most = most.max(source.memory());
            drop(source.products(ands as usize).expect("products"));
            drop(source.bits((ands + bits) as usize).expect("bits"));
        }
        most
    });
    // The largest of these, and products of a batch but one.
    let largest = demand(512, 448 + 222);
    let [stated, _] = Auth::<Transfers>::demand_bits(setting, &largest);
    let stated = (stated + 511 * Transfers::pool_bits(PRODUCT)) / 8;
    for most in ends {
        assert!(most <= stated, "{most} of {stated} bytes");
        // What is stated is not far from what is kept.
        assert!(stated < 2 * most, "{most} of {stated} bytes");
    }
}

/// Bits all over the messages of a set-up with products: the run stops.
#[test]
fn a_changed_bit_of_a_set_up_stops_it() {
    let wanted = demand(1, 3);
    let total = Transfers::set_up_cost(&setting(), &wanted);
    let total = total.flights.iter().flatten();
    let total = total.filter(|message| message.to == GARBLER);
    let total = total.map(|message| message.bytes).sum::<u64>() + 96;
    let mut found = BTreeMap::<&str, u64>::new();
    for to in [GARBLER, EVALUATOR] {
        for at in (0..total)
            .step_by(1499)
            .chain((total - 700..total).step_by(13))
        {
            let flips = 1 << (at % 8);
            let ends = on_threads(tampered(to, at, flips), |mesh| {
                Side::<Transfers>::over(mesh, here(), at, &wanted).map(drop)
            });
            assert!(ends.iter().any(Result::is_err), "{at} to {to:?}");
            for end in ends {
                let what = match end {
                    Ok(()) => "nothing",
                    Err(Fault::Deviated { check, .. }) => check,
                    Err(Fault::Altered(_)) => "digest",
                    Err(Fault::Peer { .. }) => "message",
                    Err(Fault::Net(_)) => "gone",
                    Err(other) => panic!("{other}"),
                };
                *found.entry(what).or_default() += 1;
            }
        }
    }
    for what in ["digest", "a check of the set-up", Place::Products.check()] {
        assert!(found.contains_key(what), "{what}: {found:?}");
    }
}
