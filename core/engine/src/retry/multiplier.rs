//! Multipliers in thousandths, so that growth is exact.

use super::{RetryCode, RetryProblem};
use std::fmt;

/// 2, in thousandths.
pub(super) const DEFAULT: u32 = 2_000;

const OUT_OF_RANGE_HELP: &str = "give 1, or 1.01 to 1000 with at most three decimals";

/// Whether a policy may grow by it: exactly 1, or 1.01 to 1000.
pub(super) const fn is_valid(thousandths: u32) -> bool {
    matches!(thousandths, 1_000 | 1_010..=1_000_000)
}

/// The problem of a multiplier that is none of these.
pub(super) fn out_of_range(written: &str) -> RetryProblem {
    let message = format!("multiplier {} is out of range", super::duration::shortened(written));
    RetryProblem::new(RetryCode::MultiplierOutOfRange, message, OUT_OF_RANGE_HELP).with("multiplier", written)
}

/// Reads plain decimal digits exactly. Zeros behind the third decimal are no precision.
///
/// # Errors
/// When there are more decimals than three, or the number is out of range.
pub(super) fn parse(written: &str) -> Result<u32, RetryProblem> {
    let (whole, fraction) = written.split_once('.').unwrap_or((written, ""));
    let fraction = fraction.trim_end_matches('0');
    if fraction.len() > 3 {
        let message = format!("multiplier {} has more than three decimals", super::duration::shortened(written));
        let help = "round it to three decimals, so that every language computes the same waits";
        return Err(RetryProblem::new(RetryCode::MultiplierTooPrecise, message, help).with("multiplier", written));
    }
    let thousandths = format!("{whole}{fraction:0<3}").parse::<u32>().ok().filter(|thousandths| is_valid(*thousandths));
    thousandths.ok_or_else(|| out_of_range(written))
}

/// Prints thousandths without zeros that say nothing: `2`, `1.5`, `1.125`.
pub(super) struct Thousandths(pub(super) u32);

impl fmt::Display for Thousandths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / 1_000, self.0 % 1_000);
        if rest == 0 {
            return write!(f, "{whole}");
        }
        let fraction = format!("{rest:03}");
        write!(f, "{whole}.{}", fraction.trim_end_matches('0'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_becomes_thousandths_exactly() {
        for (written, thousandths) in
            [("1", 1_000), ("1.0", 1_000), ("1.01", 1_010), ("1.5", 1_500), ("2.125000", 2_125), ("1000", 1_000_000)]
        {
            assert_eq!(parse(written), Ok(thousandths), "{written}");
        }
        assert_eq!(parse("1.0005").unwrap_err().code, RetryCode::MultiplierTooPrecise);
        assert_eq!(parse("0.0001").unwrap_err().code, RetryCode::MultiplierTooPrecise);
        for outside in ["0", "0.999", "1.001", "1.009", "1000.001", "1001", "99999999999999999999"] {
            assert_eq!(parse(outside).unwrap_err().code, RetryCode::MultiplierOutOfRange, "{outside}");
        }
    }

    #[test]
    fn every_multiplier_survives_printing() {
        for thousandths in (1_000..=1_000_000).filter(|thousandths| is_valid(*thousandths)) {
            assert_eq!(parse(&Thousandths(thousandths).to_string()), Ok(thousandths));
        }
        assert_eq!(Thousandths(1_050).to_string(), "1.05");
    }
}
