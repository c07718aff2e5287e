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
        return Ok([compact(&mut lowering.builder, x, y), y.to_vec()]);
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

/// The element of a place after it has met the one that may move there: a flag of what is to be
/// kept, the places by which it still moves, and what moves with it.
fn compact(b: &mut Builder, x: &[Rc<Words>], y: &[Rc<Words>]) -> Element {
    let flag = |element: &[Rc<Words>]| element[0].words[0][0];
    let odd = |element: &[Rc<Words>]| element[1].words[0][0];
    let comes = b.and(flag(y), odd(y));
    let stays = b.and(flag(x), !odd(x));
    // An element that comes never finds one that stays.
    let there = b.xor(comes, stays);
    let mut moved = |x: &Rc<Words>, y: &Rc<Words>| {
        let words = x.words.iter().zip(&y.words);
        let words = words.map(|(x, y)| b.select(comes, y, x));
        Words::new(x.range, words)
    };
    let mut places = moved(&x[1], &y[1]);
    let halved = places.words[0].split_off(1);
    let zero = Wire::ZERO;
    places.words[0] = halved.into_iter().chain([zero]).collect();
    let rest = x.iter().zip(y).skip(2);
    let rest = rest.map(|(x, y)| Rc::new(moved(x, y))).collect::<Vec<_>>();
    let there = Words::new(x[0].range, [vec![there]]);
    [vec![Rc::new(there), Rc::new(places)], rest].concat()
}

/// A whole network over elements, in one circuit.
pub(super) fn network(
    lowering: &mut Lowering,
    network: Network,
    graph: &Graph,
    mut elements: Vec<Element>,
    captured: &[Rc<Words>],
) -> Result<Vec<Element>, TooLarge> {
    let none = elements.first().map(nothing);
    let none = none.unwrap_or_default();
    for stage in network.stages(elements.len()) {
        let [first, second] = network.writes();
        let mut written = Vec::new();
        let all = |views: Vec<View>| views.iter().flat_map(View::indices).collect::<Vec<_>>();
        let missing = std::iter::repeat(elements.len());
        let seconds = all(stage.seconds()).into_iter().chain(missing);
        for (i, j) in all(stage.firsts()).into_iter().zip(seconds) {
            let pair = [&elements[i][..], elements.get(j).unwrap_or(&none)];
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

/// An element of zeros.
fn nothing(element: &Element) -> Element {
    let zeros = |words: &Rc<Words>| {
        let zero = words.words.iter().map(|word| vec![Wire::ZERO; word.len()]);
        Rc::new(Words::new(words.range, zero))
    };
    element.iter().map(zeros).collect()
}

fn in_ranges(element: &[Rc<Words>], ranges: &[Range]) -> Element {
    let words = element.iter().zip(ranges);
    words.map(|(words, range)| widen(words, *range)).collect()
}
