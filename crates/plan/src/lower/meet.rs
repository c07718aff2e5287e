//! Gates of networks: one pair, and whole networks of a fixed number of elements in a body.

use super::body::{Lowering, TooLarge};
use super::words::{Words, widen};
use crate::network::Network;
use sealane_circuit::{Builder, Wire};
use sealane_program::graph::Graph;
use sealane_program::types::Range;
use sealane_protocol::View;
use std::rc::Rc;

/// One element of each tensor of a network.
pub(super) type Element = Vec<Rc<Words>>;

/// Lets two elements meet; returns both after it. Those that the network does not write are as
/// before.
pub(super) fn pair(
    lowering: &mut Lowering,
    network: Network,
    graph: &Graph,
    [x, y]: [&[Rc<Words>]; 2],
    captured: &[Rc<Words>],
) -> Result<[Element; 2], TooLarge> {
    if matches!(network, Network::Compact { .. }) {
        return Ok(compact(&mut lowering.builder, x, y));
    }
    let params = [x, y, captured].concat();
    let results = lowering.graph(graph, &params)?;
    Ok(match network {
        Network::Sort => {
            let exchange = results[0].words[0][0];
            let both = x.iter().zip(y);
            let both = both.map(|(x, y)| exchanged(&mut lowering.builder, exchange, x, y));
            let (x, y) = both.unzip();
            [x, y]
        }
        _ => [x.to_vec(), results],
    })
}

/// Exchanges two elements under a condition: an AND a bit.
fn exchanged(
    b: &mut Builder,
    exchange: Wire,
    x: &Rc<Words>,
    y: &Rc<Words>,
) -> (Rc<Words>, Rc<Words>) {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for (x, y) in x.words.iter().zip(&y.words) {
        let differ = b.zip(x, y, Builder::xor);
        let change = differ.iter().map(|bit| b.and(exchange, *bit));
        let change = change.collect::<Vec<_>>();
        first.push(b.zip(x, &change, Builder::xor));
        second.push(b.zip(y, &change, Builder::xor));
    }
    let range = x.range;
    let words = |words| Rc::new(Words { range, words });
    (words(first), words(second))
}

/// Two elements of a compaction: each has a flag of what is to be kept, the place from behind to
/// which it moves, from the bit of this stage on, and what moves with it. That bit is 1 of the first
/// place, and 0 of the second one.
fn compact(b: &mut Builder, x: &[Rc<Words>], y: &[Rc<Words>]) -> [Element; 2] {
    let flag = |element: &[Rc<Words>]| element[0].words[0][0];
    let bit = |element: &[Rc<Words>]| element[1].words[0][0];
    let back = b.and(flag(x), !bit(x));
    let front = b.and(flag(y), bit(y));
    // If both are kept, both stay or both move.
    let exchange = b.or(back, front);
    let both = x.iter().zip(y);
    let (x, y) = both.map(|(x, y)| exchanged(b, exchange, x, y)).unzip();
    [x, y]
}

/// A place without its lowest bits.
fn settled(place: &Words, bits: usize) -> Words {
    let zeros = std::iter::repeat_n(Wire::ZERO, bits);
    let words = place.words.iter();
    let words = words.map(|word| word[bits..].iter().copied().chain(zeros.clone()).collect());
    Words {
        range: place.range,
        words: words.collect(),
    }
}

/// A whole network over elements, in one circuit.
pub(super) fn network(
    lowering: &mut Lowering,
    network: Network,
    graph: &Graph,
    mut elements: Vec<Element>,
    captured: &[Rc<Words>],
) -> Result<Vec<Element>, TooLarge> {
    let mut settled = 0;
    for stage in network.stages(elements.len()) {
        if let Some(places) = network.places() {
            let bits = (stage.bit() - settled) as usize;
            for element in &mut elements {
                element[places] = Rc::new(self::settled(&element[places], bits));
            }
            settled = stage.bit();
        }
        let [first, second] = network.writes();
        let mut written = Vec::new();
        let all = |views: Vec<View>| views.iter().flat_map(View::indices).collect::<Vec<_>>();
        for (i, j) in all(stage.firsts()).into_iter().zip(all(stage.seconds())) {
            let pair = [&elements[i][..], &elements[j]];
            let [x, y] = self::pair(lowering, network, graph, pair, captured)?;
            let ranges = elements[i].iter().map(|words| words.range);
            let ranges = ranges.collect::<Vec<_>>();
            written.extend(first.then(|| (i, in_ranges(&x, &ranges))));
            written.extend(second.then(|| (j, in_ranges(&y, &ranges))));
        }
        for (at, element) in written {
            elements[at] = element;
        }
    }
    Ok(elements)
}

fn in_ranges(element: &[Rc<Words>], ranges: &[Range]) -> Element {
    let words = element.iter().zip(ranges);
    words.map(|(words, range)| widen(words, *range)).collect()
}
