//! Durations: whole milliseconds, written with exactly one unit.

use std::fmt;

/// What is wrong with a duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DurationFault {
    /// Nothing there, or no digit first: a sign, a blank, a word.
    NoDigits,
    /// A number without a unit that is not `0`.
    NoUnit,
    /// A fraction: `1.5s`.
    Fraction,
    /// A unit other than `ms`, `s`, `m`, `h`; days are among them.
    UnknownUnit,
    /// Something behind the unit: `1m30s`, or a blank.
    Trailing,
    /// More milliseconds than 64 bits hold.
    TooLarge,
}

impl DurationFault {
    /// The stable code.
    pub const fn code(self) -> &'static str {
        match self {
            Self::NoDigits => "duration_no_digits",
            Self::NoUnit => "duration_no_unit",
            Self::Fraction => "duration_fraction",
            Self::UnknownUnit => "duration_unknown_unit",
            Self::Trailing => "duration_trailing",
            Self::TooLarge => "duration_too_large",
        }
    }
}

/// A text that is no duration. Its `Display` is one sentence with the place and the way out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DurationError {
    text: String,
    /// Characters before the fault.
    at: usize,
    fault: DurationFault,
}

impl DurationError {
    /// The stable code of the fault.
    pub const fn code(&self) -> &'static str {
        self.fault.code()
    }

    /// What is wrong.
    pub const fn fault(&self) -> DurationFault {
        self.fault
    }

    /// Where in the text, counted in characters from 1.
    pub const fn column(&self) -> usize {
        self.at + 1
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The way out.
    pub const fn help(&self) -> &'static str {
        match self.fault {
            DurationFault::NoDigits => "write digits and one unit, as in \"10s\" or \"10ms\"",
            DurationFault::NoUnit => "the unit is missing, write \"10s\" for seconds or \"10ms\" for milliseconds",
            DurationFault::Fraction => "fractions are not accepted, use a smaller unit, as in \"1500ms\"",
            DurationFault::UnknownUnit => "the units are ms, s, m and h; a day is \"24h\"",
            DurationFault::Trailing => "there is one number and one unit, as in \"90s\" for a minute and a half",
            DurationFault::TooLarge => "it is longer than 18446744073709551615 ms",
        }
    }
}

impl fmt::Display for DurationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\" is no duration (column {}): {}", shortened(&self.text), self.column(), self.help())
    }
}

impl std::error::Error for DurationError {}

/// Control characters escaped, and no more of it than a person reads.
pub(super) fn shortened(text: &str) -> String {
    const KEPT: usize = 60;
    let mut out: String = text.chars().take(KEPT).flat_map(char::escape_debug).collect();
    if text.chars().nth(KEPT).is_some() {
        out.push('…');
    }
    out
}

/// Reads a duration into milliseconds: digits and one of `ms`, `s`, `m`, `h`, or just `0`.
///
/// ```
/// use acemq_core::retry::parse_duration;
///
/// assert_eq!(parse_duration("90s"), Ok(90_000));
/// assert!(parse_duration("10").unwrap_err().to_string().contains("write \"10s\" for seconds or \"10ms\""));
/// ```
///
/// # Errors
/// For everything else: no sign, fraction, blank, second unit or day, and no number without a unit but `0`.
pub fn parse_duration(text: &str) -> Result<u64, DurationError> {
    let error = |at, fault| DurationError { text: text.to_owned(), at, fault };
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at_checked(digits).unwrap_or((text, ""));
    if number.is_empty() {
        return Err(error(0, DurationFault::NoDigits));
    }
    if rest.is_empty() {
        return if number == "0" { Ok(0) } else { Err(error(digits, DurationFault::NoUnit)) };
    }
    if rest.starts_with(['.', ',']) {
        return Err(error(digits, DurationFault::Fraction));
    }
    let letters = rest.chars().take_while(|character| character.is_alphabetic()).count();
    let unit: String = rest.chars().take(letters).collect();
    let factor = match unit.as_str() {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return Err(error(digits, DurationFault::UnknownUnit)),
    };
    if unit.len() < rest.len() {
        return Err(error(digits + letters, DurationFault::Trailing));
    }
    let number = number.parse::<u64>().ok().and_then(|number| number.checked_mul(factor));
    number.ok_or_else(|| error(0, DurationFault::TooLarge))
}

/// Why a number of another unit is no whole number of milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnitError {
    /// There is a rest that milliseconds cannot hold.
    NotWhole,
    /// Below zero, or no number at all.
    Negative,
    /// More than 64 bits of milliseconds.
    TooLarge,
}

impl UnitError {
    /// The stable code.
    pub const fn code(self) -> &'static str {
        match self {
            Self::NotWhole => "duration_not_whole",
            Self::Negative => "duration_negative",
            Self::TooLarge => "duration_too_large",
        }
    }
}

impl UnitError {
    /// What is wrong.
    pub const fn message(self) -> &'static str {
        match self {
            Self::NotWhole => "the duration is no whole number of milliseconds",
            Self::Negative => "the duration is negative or no number",
            Self::TooLarge => "the duration is longer than 18446744073709551615 ms",
        }
    }

    /// The way out.
    pub const fn help(self) -> &'static str {
        match self {
            Self::NotWhole => "round it first",
            Self::Negative => "give one of at least 0",
            Self::TooLarge => "give a shorter one",
        }
    }
}

impl fmt::Display for UnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.message(), self.help())
    }
}

impl std::error::Error for UnitError {}

/// The whole milliseconds in a number of nanoseconds, for languages whose durations are finer.
///
/// # Errors
/// When there is a rest, or 64 bits do not hold the result.
pub fn milliseconds_from_nanoseconds(nanoseconds: u128) -> Result<u64, UnitError> {
    if !nanoseconds.is_multiple_of(1_000_000) {
        return Err(UnitError::NotWhole);
    }
    u64::try_from(nanoseconds / 1_000_000).map_err(|_| UnitError::TooLarge)
}

/// The nearest whole milliseconds to a number of seconds, for languages that count time in floating point.
///
/// `0.3` is not exactly three tenths, so the nearest millisecond is taken when it is within 1 µs.
///
/// # Errors
/// When it is further away, negative, no number, or too long.
pub fn milliseconds_from_seconds(seconds: f64) -> Result<u64, UnitError> {
    const MICROSECOND: f64 = 0.001;
    // 2⁶⁴, the first double that 64 bits do not hold.
    const LIMIT: f64 = 18_446_744_073_709_551_616.0;
    let exact = seconds * 1_000.0;
    if exact.is_nan() || exact < 0.0 {
        return Err(UnitError::Negative);
    }
    let whole = exact.round();
    if whole >= LIMIT {
        return Err(UnitError::TooLarge);
    }
    // The multiplication itself may be off by one unit in the last place.
    if (exact - whole).abs() > MICROSECOND + exact * f64::EPSILON {
        return Err(UnitError::NotWhole);
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked against both ends")]
    Ok(whole as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_number_and_one_unit_make_a_duration() {
        for (text, ms) in [
            ("0", 0),
            ("0s", 0),
            ("1ms", 1),
            ("10s", 10_000),
            ("010s", 10_000),
            ("90s", 90_000),
            ("5m", 300_000),
            ("36h", 129_600_000),
            ("18446744073709551615ms", u64::MAX),
        ] {
            assert_eq!(parse_duration(text), Ok(ms), "{text}");
        }
    }

    #[test]
    fn everything_else_is_refused_at_its_place() {
        use DurationFault::{Fraction, NoDigits, NoUnit, TooLarge, Trailing, UnknownUnit};
        for (text, fault, column) in [
            ("", NoDigits, 1),
            ("s", NoDigits, 1),
            ("-1s", NoDigits, 1),
            ("+1s", NoDigits, 1),
            (" 1s", NoDigits, 1),
            ("١s", NoDigits, 1),
            (".5s", NoDigits, 1),
            ("10", NoUnit, 3),
            ("00", NoUnit, 3),
            ("1.5s", Fraction, 2),
            ("1d", UnknownUnit, 2),
            ("1S", UnknownUnit, 2),
            ("1 s", UnknownUnit, 2),
            ("10µs", UnknownUnit, 3),
            ("10sec", UnknownUnit, 3),
            ("1m30s", Trailing, 3),
            ("1s ", Trailing, 3),
            ("1s\n", Trailing, 3),
            ("18446744073709551616ms", TooLarge, 1),
            ("18446744073709551615s", TooLarge, 1),
            ("99999999999999999999999999h", TooLarge, 1),
        ] {
            let error = parse_duration(text).unwrap_err();
            assert_eq!((error.fault(), error.column()), (fault, column), "{text}");
        }
    }

    #[test]
    fn a_missing_unit_shows_seconds_and_milliseconds() {
        for text in ["10", "30", "5000"] {
            let message = parse_duration(text).unwrap_err().to_string();
            assert!(message.contains("\"10s\"") && message.contains("\"10ms\""), "{message}");
        }
    }

    #[test]
    fn other_units_are_taken_only_when_they_are_whole_milliseconds() {
        assert_eq!(milliseconds_from_nanoseconds(30_500_000_000), Ok(30_500));
        assert_eq!(milliseconds_from_nanoseconds(1), Err(UnitError::NotWhole));
        assert_eq!(milliseconds_from_nanoseconds(u128::MAX - u128::MAX % 1_000_000), Err(UnitError::TooLarge));
        for (seconds, ms) in [(0.0, 0), (-0.0, 0), (0.3, 300), (32.3, 32_300), (64.1, 64_100), (1.001, 1_001)] {
            assert_eq!(milliseconds_from_seconds(seconds), Ok(ms));
        }
        // 1 µs away is near enough, 2 µs are not.
        for near in [0.000_001, 0.004_001, 1.000_999, 86_400.000_001] {
            assert!(milliseconds_from_seconds(near).is_ok(), "{near}");
            assert_eq!(milliseconds_from_seconds(near + 0.000_25), Err(UnitError::NotWhole), "{near}");
        }
        assert_eq!(milliseconds_from_seconds(30.000_002), Err(UnitError::NotWhole));
        for bad in [-0.001, f64::NAN, f64::NEG_INFINITY] {
            assert_eq!(milliseconds_from_seconds(bad), Err(UnitError::Negative));
        }
        assert_eq!(milliseconds_from_seconds(f64::INFINITY), Err(UnitError::TooLarge));
        assert_eq!(milliseconds_from_seconds(1.9e16), Err(UnitError::TooLarge));
    }

    #[test]
    fn every_millisecond_survives_the_way_through_a_double() {
        // 5,907 of these lose one millisecond when they are multiplied and truncated.
        for ms in 0..=700_000_u32 {
            assert_eq!(milliseconds_from_seconds(f64::from(ms) / 1_000.0), Ok(ms.into()));
        }
    }
}
