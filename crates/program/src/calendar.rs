//! Days and seconds of the proleptic Gregorian calendar, years 1 to 9999, from and to the text of
//! ISO 8601. For cells of tables; circuits compute the parts of a date by other formulas
//! (`python/sealane/_dates.py`).

use crate::types::Range;

/// Days since 1970-01-01 that have a date: 0001-01-01 to 9999-12-31.
pub const DAYS: Range = Range::new(-719_162, 2_932_896);

/// Seconds since 1970-01-01 00:00:00 that have a date.
pub const SECONDS: Range = Range::new(DAYS.lo * DAY_S, DAYS.hi * DAY_S + DAY_S - 1);

/// Seconds of a day: UTC without leap seconds, as in all data formats.
pub const DAY_S: i128 = 86_400;

/// Reason why a text is no date or timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoDate {
    /// It is not written as `2020-02-29` or `2020-02-29T12:30:00`.
    Form,
    /// There is no such day or time: `2021-02-29`, `24:30:00`.
    None,
    /// A date has a time of day other than midnight, or a time a fraction of a second.
    Finer,
    /// A zone other than UTC.
    Zone,
}

/// Number of days since 1970-01-01 of a day; none if there is no such day.
pub fn days(year: i128, month: i128, day: i128) -> Option<i128> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        2 => 28 + i128::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    let exists = (1..=9999).contains(&year) && (1..=12).contains(&month);
    if !exists || !(1..=length).contains(&day) {
        return None;
    }
    // Years from March on, so that the leap day is the last of its year.
    let (y, m) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let before = 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5;
    Some(before + day - 1 - 719_468)
}

/// Year, month and day of a number of days since 1970-01-01 within [`DAYS`].
pub fn civil(days: i128) -> (i128, i128, i128) {
    let from_march = days + 719_468;
    let (era, of_era) = (
        from_march.div_euclid(146_097),
        from_march.rem_euclid(146_097),
    );
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    (400 * era + year + carry, month, day)
}

/// `2020-02-29` of a number of days.
pub fn date_text(days: i128) -> String {
    let (year, month, day) = civil(days);
    format!("{year:04}-{month:02}-{day:02}")
}

/// `2020-02-29T12:30:00` of a number of seconds.
pub fn timestamp_text(seconds: i128) -> String {
    let (day, of_day) = (seconds.div_euclid(DAY_S), seconds.rem_euclid(DAY_S));
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{}T{hour:02}:{minute:02}:{second:02}", date_text(day))
}

/// Parses a date: `2020-02-29`, also with midnight behind it, as programs write dates.
///
/// # Errors
/// It is no date.
pub fn parse_date(text: &str) -> Result<i128, NoDate> {
    let seconds = parse_timestamp(text)?;
    match seconds.rem_euclid(DAY_S) {
        0 => Ok(seconds.div_euclid(DAY_S)),
        _ => Err(NoDate::Finer),
    }
}

/// Parses a timestamp: a date, and perhaps `T` or a space and a time of day, with seconds or
/// without, and `Z` or `+00:00` or nothing. A fraction of a second has to be 0.
///
/// # Errors
/// It is no timestamp.
pub fn parse_timestamp(text: &str) -> Result<i128, NoDate> {
    let digits = |from: usize, count: usize| {
        let part = text.get(from..from + count).ok_or(NoDate::Form)?;
        if part.bytes().all(|byte| byte.is_ascii_digit()) {
            part.parse::<i128>().map_err(|_| NoDate::Form)
        } else {
            Err(NoDate::Form)
        }
    };
    let sign = |at: usize, signs: &[u8]| {
        let byte = text.as_bytes().get(at);
        if byte.is_some_and(|byte| signs.contains(byte)) {
            Ok(())
        } else {
            Err(NoDate::Form)
        }
    };
    let (year, month, day) = (digits(0, 4)?, digits(5, 2)?, digits(8, 2)?);
    sign(4, b"-")?;
    sign(7, b"-")?;
    let days = days(year, month, day).ok_or(NoDate::None)?;
    if text.len() == 10 {
        return Ok(days * DAY_S);
    }
    sign(10, b"T ")?;
    let (hour, minute) = (digits(11, 2)?, digits(14, 2)?);
    sign(13, b":")?;
    let mut rest = text.get(16..).ok_or(NoDate::Form)?;
    let mut second = 0;
    if rest.starts_with(':') {
        second = digits(17, 2)?;
        rest = text.get(19..).ok_or(NoDate::Form)?;
    }
    if let Some(fraction) = rest.strip_prefix(['.', ',']) {
        let count = fraction.bytes().take_while(u8::is_ascii_digit).count();
        if count == 0 {
            return Err(NoDate::Form);
        }
        if fraction[..count].bytes().any(|byte| byte != b'0') {
            return Err(NoDate::Finer);
        }
        rest = &fraction[count..];
    }
    match rest.trim_start() {
        "" | "Z" | "z" | "UTC" | "+00:00" | "-00:00" | "+0000" | "+00" => {}
        zone if zone.starts_with(['+', '-']) => return Err(NoDate::Zone),
        _ => return Err(NoDate::Form),
    }
    if hour < 24 && minute < 60 && second < 60 {
        Ok(days * DAY_S + hour * 3600 + minute * 60 + second)
    } else {
        Err(NoDate::None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_has_one_date() {
        let mut expected = (1, 1, 1);
        for number in DAYS.lo..=DAYS.hi {
            assert_eq!(civil(number), expected);
            let (year, month, day) = expected;
            assert_eq!(days(year, month, day), Some(number));
            // The next day by the lengths of the months.
            expected = match days(year, month, day + 1) {
                Some(_) => (year, month, day + 1),
                None if month < 12 => (year, month + 1, 1),
                None => (year + 1, 1, 1),
            };
        }
        assert_eq!(expected, (10_000, 1, 1));
    }

    #[test]
    fn texts_of_iso_8601_are_read() {
        // Known seconds: 2001-09-09 01:46:40 is 10^9.
        for text in [
            "2001-09-09T01:46:40",
            "2001-09-09 01:46:40",
            "2001-09-09T01:46:40Z",
            "2001-09-09T01:46:40.000+00:00",
            "2001-09-09 01:46:40 UTC",
        ] {
            assert_eq!(parse_timestamp(text), Ok(1_000_000_000), "{text}");
        }
        assert_eq!(timestamp_text(1_000_000_000), "2001-09-09T01:46:40");
        assert_eq!(timestamp_text(SECONDS.lo), "0001-01-01T00:00:00");
        assert_eq!(timestamp_text(SECONDS.hi), "9999-12-31T23:59:59");
        assert_eq!(parse_date("1970-01-02"), Ok(1));
        assert_eq!(parse_date("2000-02-29 00:00:00"), Ok(11_016));
        assert_eq!(date_text(-1), "1969-12-31");
        for (text, reason) in [
            ("", NoDate::Form),
            ("2001-9-9", NoDate::Form),
            ("01.09.2001", NoDate::Form),
            ("+001-01-01", NoDate::Form),
            ("2001-09-09x", NoDate::Form),
            ("2001-09-09T", NoDate::Form),
            ("2001-09-09T01:46:40.", NoDate::Form),
            ("2001-09-09T01:46:40 CET", NoDate::Form),
            ("2001-02-29", NoDate::None),
            ("1900-02-29", NoDate::None),
            ("2001-13-01", NoDate::None),
            ("0000-01-01", NoDate::None),
            ("2001-09-09T24:00:00", NoDate::None),
            ("2001-09-09T23:59:60", NoDate::None),
            ("2001-09-09T01:46:40.5", NoDate::Finer),
            ("2001-09-09T01:46:40+02:00", NoDate::Zone),
            ("ü001-09-09", NoDate::Form),
        ] {
            assert_eq!(parse_timestamp(text), Err(reason), "{text}");
        }
        assert_eq!(parse_date("2001-09-09T01:46"), Err(NoDate::Finer));
    }
}
