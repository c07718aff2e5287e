//! Numbers, sizes, times and dates as people read them.

pub use sealane_plan::cost::grouped;

/// Formats a duration with two digits, in a suitable unit: `850 µs`, `1.2 s`, `3 min`.
pub fn seconds(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.0} µs", s * 1e6),
        s if s < 1e-2 => format!("{:.1} ms", s * 1e3),
        s if s < 1.0 => format!("{:.0} ms", s * 1e3),
        s if s < 10.0 => format!("{s:.1} s"),
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s if s < 172_800.0 => format!("{:.1} h", s / 3600.0),
        s => format!("{:.1} days", s / 86_400.0),
    }
}

/// Formats a number of things: `1 round`, `1,234 rounds`. Their plural ends in `s`.
pub fn counted(number: u64, one: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {one}{plural}", grouped(number))
}

/// Formats a rate per second: `8,300`, and `12.5 million` from a million on.
pub fn speed(per_second: f64) -> String {
    match per_second {
        s if s < 1e6 => grouped(s as u64),
        s => format!("{:.1} million", s / 1e6),
    }
}

/// Formats bytes in a suitable unit: `96 B`, `1.5 kB`, `289 MB`.
pub fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["B", "kB", "MB", "GB", "TB", "PB"];
    let (mut size, mut unit) = (bytes as f64, 0);
    while size >= 999.5 && unit + 1 < UNITS.len() {
        (size, unit) = (size / 1000.0, unit + 1);
    }
    let decimals = usize::from(unit > 0 && size < 99.95);
    format!("{size:.decimals$} {}", UNITS[unit])
}

/// Formats a moment, given in microseconds since 1970, as `2026-03-14 15:30:12 UTC`.
pub fn date(unix_us: u64) -> String {
    let seconds = unix_us / 1_000_000;
    let (year, month, day) = civil(seconds / 86_400);
    let [hour, minute, second] = [seconds / 3600 % 24, seconds / 60 % 60, seconds % 60];
    format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

/// Converts a number of days since 1970 to year, month and day in the Gregorian calendar. The
/// computation begins years in March, so that the leap day is the last one.
fn civil(days: u64) -> (u64, u64, u64) {
    const ERA: u64 = 146_097; // days of 400 years
    let days = days + 719_468; // since the first of March of year 0
    let (era, day) = (days / ERA, days % ERA);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153; // from March on
    let day = day - (153 * month + 2) / 5 + 1;
    let next = month / 10; // January and February
    (400 * era + year + next, month + 3 - 12 * next, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_times_rounded() {
        let groups = [0u64, 999, 1000, 1_234_567].map(grouped);
        assert_eq!(groups, ["0", "999", "1,000", "1,234,567"]);
        let counts = [0, 1, 1234].map(|number| counted(number, "round"));
        assert_eq!(counts, ["0 rounds", "1 round", "1,234 rounds"]);
        let times = [2e-5, 4.44e-3, 0.25, 1.24, 59.6, 180.0, 9000.0, 216_000.0].map(seconds);
        let wanted = "20 µs, 4.4 ms, 250 ms, 1.2 s, 60 s, 3 min, 2.5 h, 2.5 days";
        assert_eq!(times.join(", "), wanted);
        let speeds = [0.0, 8300.4, 1.25e7].map(speed);
        assert_eq!(speeds, ["0", "8,300", "12.5 million"]);
        let sizes = [0, 999, 1000, 99_940, 99_960, 999_600, 289_000_000, u64::MAX].map(bytes);
        let wanted = "0 B, 999 B, 1.0 kB, 99.9 kB, 100 kB, 1.0 MB, 289 MB, 18447 PB";
        assert_eq!(sizes.join(", "), wanted);
    }

    /// Dates of `date -u -d @SECONDS`.
    #[test]
    fn dates_are_those_of_the_calendar() {
        let dates = [
            (0, "1970-01-01 00:00:00 UTC"),
            (951_782_399, "2000-02-28 23:59:59 UTC"),
            (951_782_400, "2000-02-29 00:00:00 UTC"),
            (951_868_800, "2000-03-01 00:00:00 UTC"),
            (1_709_164_800, "2024-02-29 00:00:00 UTC"),
            (1_735_689_599, "2024-12-31 23:59:59 UTC"),
            (4_107_542_400, "2100-03-01 00:00:00 UTC"),
        ];
        for (seconds, text) in dates {
            assert_eq!(date(seconds * 1_000_000), text);
        }
    }
}
