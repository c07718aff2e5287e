//! Declared networks.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// The network between the parties as they declare it: plans are made for it, and runs simulated.
///
/// Its text is `lan`, `wan`, or a round trip and a bandwidth, such as `20ms/100Mbps`. Both numbers
/// are rounded to one significant digit, so that parties that measured nearly the same declare the
/// same, and a job has few plans.
#[derive(Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct NetworkClass {
    round_trip_us: u64,
    mbps: u64,
}

/// Round trips, in microseconds, and bandwidths, in megabits per second, that can be declared.
const BOUNDS: [[f64; 2]; 2] = [[10.0, 1e6], [1.0, 1e5]];

const SYNTAX: &str = "write `lan`, `wan`, or a round trip and a bandwidth, such as `20ms/100Mbps`";
const RANGE: &str = "a round trip takes `10us` to `1s`, and a bandwidth is `1Mbps` to `100Gbps`";

impl NetworkClass {
    /// One building or data centre: 0.5 ms round trip, 1 Gbit/s.
    pub const LAN: NetworkClass = NetworkClass {
        round_trip_us: 500,
        mbps: 1000,
    };
    /// Two cities: 40 ms round trip, 100 Mbit/s.
    pub const WAN: NetworkClass = NetworkClass {
        round_trip_us: 40_000,
        mbps: 100,
    };

    /// Time from the departure of a message to the arrival of its answer.
    pub const fn round_trip(self) -> Duration {
        Duration::from_micros(self.round_trip_us)
    }

    /// Bytes per second, in each direction.
    pub const fn bytes_per_s(self) -> u64 {
        self.mbps * 125_000
    }

    /// Tells if bytes cost more than the work that saves them: below 1 Gbit/s, four bytes take
    /// longer than the slowest extension of oblivious transfers.
    pub const fn spares_bytes(self) -> bool {
        self.mbps < 1000
    }

    /// Tells if rounds cost more than memory: at 5 ms and more, between a building and two cities.
    pub const fn spares_rounds(self) -> bool {
        self.round_trip_us >= 5000
    }

    /// The network in a sentence, behind `on`.
    pub fn described(self) -> String {
        match self {
            NetworkClass::LAN => "a LAN".to_string(),
            NetworkClass::WAN => "a WAN".to_string(),
            other => format!("a network of {other}"),
        }
    }
}

impl fmt::Display for NetworkClass {
    /// The text that [`NetworkClass::from_str`] reads.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            NetworkClass::LAN => return f.write_str("lan"),
            NetworkClass::WAN => return f.write_str("wan"),
            _ => (),
        }
        match self.round_trip_us {
            us @ ..1000 => write!(f, "{us}us/")?,
            us @ ..1_000_000 => write!(f, "{}ms/", us / 1000)?,
            us => write!(f, "{}s/", us / 1_000_000)?,
        }
        match self.mbps {
            mbps @ ..1000 => write!(f, "{mbps}Mbps"),
            mbps => write!(f, "{}Gbps", mbps / 1000),
        }
    }
}

impl fmt::Debug for NetworkClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for NetworkClass {
    /// The hint that says what to write.
    type Err = &'static str;

    fn from_str(text: &str) -> Result<NetworkClass, &'static str> {
        match text {
            "lan" => return Ok(NetworkClass::LAN),
            "wan" => return Ok(NetworkClass::WAN),
            _ => (),
        }
        let (round_trip, bandwidth) = text.split_once('/').ok_or(SYNTAX)?;
        let round_trip = number(round_trip, &[("us", 1.0), ("ms", 1e3), ("s", 1e6)]);
        let bandwidth = number(bandwidth, &[("Mbps", 1.0), ("Gbps", 1e3)]);
        let numbers = [round_trip.ok_or(SYNTAX)?, bandwidth.ok_or(SYNTAX)?];
        let within = |(number, [least, most]): (f64, [f64; 2])| (least..=most).contains(&number);
        if !numbers.into_iter().zip(BOUNDS).all(within) {
            return Err(RANGE);
        }
        let [round_trip_us, mbps] = numbers.map(on_grid);
        Ok(NetworkClass {
            round_trip_us,
            mbps,
        })
    }
}

/// Reads a number with one of these units.
fn number(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let in_unit = |(unit, factor): &(&str, f64)| {
        let digits = text.strip_suffix(unit)?;
        let plain = digits.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        let number = digits.parse::<f64>().ok().filter(|_| plain)?;
        Some(number * factor)
    };
    units.iter().find_map(in_unit)
}

/// Rounds a number that is at least 1 to one significant digit.
fn on_grid(number: f64) -> u64 {
    let number = number.round() as u64;
    let unit = 10u64.pow(number.ilog10());
    (number + unit / 2) / unit * unit
}

impl From<NetworkClass> for String {
    fn from(network: NetworkClass) -> String {
        network.to_string()
    }
}

impl TryFrom<String> for NetworkClass {
    type Error = &'static str;

    /// Takes the text of [`fmt::Display`] alone, so that a network has one encoding.
    fn try_from(text: String) -> Result<NetworkClass, &'static str> {
        let network = text.parse::<NetworkClass>()?;
        (network.to_string() == text)
            .then_some(network)
            .ok_or(SYNTAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_lie_on_a_grid_and_round_trip() {
        let cases = [
            ("lan", "lan"),
            ("wan", "wan"),
            ("0.5ms/1000Mbps", "lan"),
            ("41.7ms/0.0951Gbps", "wan"),
            ("20ms/100Mbps", "20ms/100Mbps"),
            ("14.9ms/149Mbps", "10ms/100Mbps"),
            ("15ms/150Mbps", "20ms/200Mbps"),
            ("0.95s/960Mbps", "1s/1Gbps"),
            ("10us/100Gbps", "10us/100Gbps"),
            ("1s/1Mbps", "1s/1Mbps"),
            ("0.0999ms/2.5Gbps", "100us/3Gbps"),
        ];
        for (text, canonical) in cases {
            let network = text.parse::<NetworkClass>().unwrap();
            assert_eq!(network.to_string(), canonical, "{text}");
            assert_eq!(canonical.parse(), Ok(network));
        }
    }

    #[test]
    fn other_texts_are_refused_with_what_to_write() {
        let bad = [
            "",
            "LAN",
            "man",
            "20ms",
            "20/100",
            "20ms/100",
            "ms/Mbps",
            "-1ms/1Mbps",
            "20 ms/1Gbps",
            "1e1ms/1Mbps",
            "infms/1Mbps",
            "NaNms/1Mbps",
            "1ms/1Mbps/",
            "1min/1Mbps",
            ".ms/1Mbps",
        ];
        for text in bad {
            assert_eq!(text.parse::<NetworkClass>(), Err(SYNTAX), "{text}");
        }
        for text in [
            "9us/1Mbps",
            "0ms/1Mbps",
            "1.1s/1Mbps",
            "1ms/0.9Mbps",
            "1ms/101Gbps",
        ] {
            assert_eq!(text.parse::<NetworkClass>(), Err(RANGE), "{text}");
        }
    }

    #[test]
    fn presets_have_the_numbers_of_their_kind() {
        let numbers = |class: NetworkClass| (class.round_trip().as_micros(), class.bytes_per_s());
        assert_eq!(numbers(NetworkClass::LAN), (500, 125_000_000));
        assert_eq!(numbers(NetworkClass::WAN), (40_000, 12_500_000));
        let spares = |class: NetworkClass| [class.spares_bytes(), class.spares_rounds()];
        assert_eq!(spares(NetworkClass::LAN), [false; 2]);
        assert_eq!(spares(NetworkClass::WAN), [true; 2]);
    }
}
