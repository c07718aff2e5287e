//! Chi-square tests of what one party sees, under four choices of secrets.
//!
//! Both samples of a test have `n` lanes, and the statistic is the sum over cells of
//! `(a - b)^2 / (a + b)`. If both have one distribution, it is chi-square of 255 degrees of freedom
//! at most, and of fewer if some of the 256 cells are impossible.

/// Chi-square of 255 degrees of freedom lies above this with a chance of 1e-10.
pub const BOUND: f64 = 425.93;

/// Observations of one value by one party: for each lane of all sessions, at most two bits.
#[derive(Clone)]
pub struct Seen {
    pub name: String,
    pub lanes: Vec<u8>,
}

/// The view of one party: components that it holds, and messages that it receives.
#[derive(Clone, Default)]
pub struct View {
    pub held: Vec<Seen>,
    pub heard: Vec<Seen>,
}

impl View {
    /// Adds further sessions of the same kind.
    pub fn extend(&mut self, other: View) {
        for (mine, theirs) in [(&mut self.held, other.held), (&mut self.heard, other.heard)] {
            if mine.is_empty() {
                *mine = theirs;
                continue;
            }
            assert_eq!(mine.len(), theirs.len());
            let pairs = mine.iter_mut().zip(theirs);
            pairs.for_each(|(mine, theirs)| mine.lanes.extend(theirs.lanes));
        }
    }

    /// Restricts the view to the components of these names.
    pub fn only(&self, names: &[&str]) -> View {
        let named = |seen: &&Seen| names.contains(&seen.name.as_str());
        let (held, heard) = (self.held.iter().filter(named).cloned().collect(), vec![]);
        View { held, heard }
    }
}

/// Finds the largest statistic of all tests, with its name: every four planes that are held, and
/// every message with every two of them.
pub fn worst(samples: &[View; 4]) -> (f64, String) {
    let held = samples[0].held.len();
    let mut pairs = vec![];
    for second in 0..held {
        pairs.extend((0..second).map(|first| (first, second)));
    }
    let joint = |(first, second): (usize, usize)| {
        samples
            .each_ref()
            .map(|view| joined(&view.held[first], &view.held[second]))
    };
    let joints = pairs.iter().copied().map(joint).collect::<Vec<_>>();
    let mut worst = (0.0, String::new());
    let mut test = |one: [&[u8]; 4], other: [&[u8]; 4], names: &dyn Fn() -> String| {
        let statistic = statistic(one, other);
        if statistic > worst.0 {
            worst = (statistic, names());
        }
    };
    for (right, (third, fourth)) in joints.iter().zip(&pairs) {
        let right = right.each_ref().map(Vec::as_slice);
        let name = |i: &usize| samples[0].held[*i].name.as_str();
        let before = joints.iter().zip(&pairs);
        let before = before.filter(|(_, pair)| pair.1 < *third);
        for (left, (first, second)) in before {
            let left = left.each_ref().map(Vec::as_slice);
            test(left, right, &|| {
                [first, second, third, fourth].map(name).join(", ")
            });
        }
        for heard in 0..samples[0].heard.len() {
            let left = samples
                .each_ref()
                .map(|view| view.heard[heard].lanes.as_slice());
            let message = samples[0].heard[heard].name.as_str();
            test(left, right, &|| {
                [message, name(third), name(fourth)].join(", ")
            });
        }
    }
    worst
}

/// Two bits and two bits.
fn joined(one: &Seen, other: &Seen) -> Vec<u8> {
    let pairs = one.lanes.iter().zip(&other.lanes);
    pairs.map(|(one, other)| one << 2 | other).collect()
}

/// The largest chi-square statistic of every two of four samples, whose cells are four bits and
/// four bits.
fn statistic(one: [&[u8]; 4], other: [&[u8]; 4]) -> f64 {
    let counts = [0, 1, 2, 3].map(|choice| {
        let mut counts = [0.0; 256];
        let pairs = one[choice].iter().zip(other[choice]);
        pairs.for_each(|(one, other)| counts[usize::from(one << 4 | other)] += 1.0);
        counts
    });
    let cell = |(a, b): (&f64, &f64)| (a - b).powi(2) / (a + b).max(1.0);
    let mut worst = 0.0f64;
    for (i, one) in counts.iter().enumerate() {
        for other in &counts[..i] {
            worst = worst.max(one.iter().zip(other).map(cell).sum());
        }
    }
    worst
}
