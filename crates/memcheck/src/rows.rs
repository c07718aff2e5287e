//! A shuffle and a sort of rows under `trio`, from shared rows to opened ones. Rows and all random
//! choices are secret at each party.
//!
//! Orders of shuffles are an exception, which `public.supp` names: a party reads its memory in
//! orders that it knows and others must not learn, as the page of the protocol states. Opened
//! places are public, and the order that follows from them too; their own part of the sum is not
//! declared so, so that the same names cover the branches on them. Everything else of a sort is
//! watched: bits and integers, shares of zero, masks, places before they are opened.

use crate::Check;
use crate::crossing::meshes;
use crate::kernels::secret_coins;
use crate::request::secret_words;
use sealane_block::Cpu;
use sealane_net::Mesh;
use sealane_parties::{PartyId, PartySet};
use sealane_party::{KeyBit, Opened, Step, Stocks};
use sealane_protocol::{Algebra, Demand, Protocol, Setting};
use sealane_testkit::side::{Given, Side, on_threads};
use sealane_trio::{Trio, TrioParty};
use std::hint::black_box;
use zeroize::Zeroizing;

/// The checks of this file.
pub const CHECKS: &[Check] = &[("trio: shuffle and sort", check)];

/// Rows, more than a word has bits, and bits of each.
const ROWS: usize = 70;
const BITS: usize = 5;

fn check(cpu: Cpu) {
    let setting = Setting::in_order(&Trio::profile(), 3);
    on_threads(meshes(3), |mesh| party(cpu, &setting, mesh));
}

fn party(cpu: Cpu, setting: &Setting, mesh: Mesh) {
    let (me, domain) = (mesh.me(), Trio::domain(Algebra::Z2));
    let given = Given {
        cpu,
        coins: secret_coins(),
        stocks: Stocks::default(),
    };
    let side = Side::<TrioParty>::set_up(mesh, setting, &Demand::default(), given);
    let mut side = side.expect(HONEST);
    let owner = PartyId(0);
    let values = (me == owner).then(|| {
        let mut values = Zeroizing::new(Vec::from_iter((0..ROWS as u64).map(|row| row * 11 % 32)));
        secret_words(&mut values);
        values
    });
    let input = Step::Input {
        owner,
        domain,
        elements: ROWS,
        bits: BITS,
        values,
    };
    let share = side.share(input).expect(HONEST);
    let share = side.share(Step::Shuffle { domain, share }).expect(HONEST);
    // A turn of two bits, and one of a single bit.
    let bit = |plane| KeyBit {
        plane,
        inverted: plane == 1,
    };
    let key = [0, 1, 2].map(bit).to_vec();
    let share = side.share(Step::Sort { domain, share, key }).expect(HONEST);
    let results = vec![Opened {
        share,
        domain,
        to: PartySet::of(setting.everyone()),
    }];
    black_box(side.open(results).expect(HONEST));
    side.mesh.finish().expect(HONEST);
}

const HONEST: &str = "all parties are honest";
