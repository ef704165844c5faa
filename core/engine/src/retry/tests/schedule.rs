use super::policy;
use crate::retry::{MAX_BROKER_DELAY_MS, RetryPolicy};
use proptest::prelude::*;

fn schedule(text: &str) -> Vec<u64> {
    policy(text).schedule().iter().collect()
}

#[test]
fn waits_double_until_the_cap() {
    assert_eq!(schedule("exponential(6, 10s)"), [10_000, 20_000, 40_000, 80_000, 160_000]);
    assert_eq!(schedule("exponential(6, 10s, 1m)"), [10_000, 20_000, 40_000, 60_000, 60_000]);
    assert_eq!(schedule("fixed(4, 30500ms)"), [30_500; 3]);
    assert_eq!(schedule("fixed(3, 0)"), [0, 0]);
    assert_eq!(schedule("exponential(4, 5s).multiplier(1)"), [5_000; 3]);
    assert!(schedule("none()").is_empty() && schedule("exponential(1, 1s)").is_empty());
}

#[test]
fn fractions_of_a_millisecond_are_kept_while_growing() {
    // 1 ms, 1.5, 2.25, 3.375, 5.0625 (5062 µs), 7.593: the reference cuts what it reads, not what it carries on.
    assert_eq!(schedule("exponential(7, 1ms).multiplier(1.5)"), [1, 1, 2, 3, 5, 7]);
    // 8.1 s doubled twice is not a whole second.
    assert_eq!(policy("exponential(4, 8100ms)").broker_delays(), [32_400]);
}

#[test]
fn growth_stops_at_the_limit_of_the_broker() {
    // 1 s doubles 28 times to 268435456 s; the next would be 536870912 s, over 315360000 s.
    let policy = policy("exponential(4294967295, 1s).wait_in_broker_from(100h)");
    let schedule = policy.schedule();
    assert_eq!(schedule.len(), u32::MAX - 1);
    assert_eq!(schedule.get(28), Some(268_435_456_000));
    assert_eq!(schedule.get(29), Some(315_360_000_000));
    assert_eq!(schedule.get(u32::MAX - 2), Some(315_360_000_000));
    assert_eq!(schedule.get(u32::MAX - 1), None);
    assert_eq!(schedule.iter().len(), schedule.len() as usize);
    assert_eq!(policy.broker_delays().last(), Some(&MAX_BROKER_DELAY_MS));
}

#[test]
fn a_first_wait_beyond_the_limit_is_kept_and_does_not_grow() {
    let policy = policy("exponential(4, 100000h).wait_in_broker_from(0)");
    assert_eq!(policy.schedule().iter().collect::<Vec<_>>(), [360_000_000_000; 3]);
    let longest = RetryPolicy::exponential(u32::MAX, u64::MAX).wait_in_broker_from(0).build().unwrap();
    assert_eq!(longest.schedule().get(7), Some(u64::MAX));
}

#[test]
fn the_slowest_growth_reaches_the_limit_in_some_thousand_steps() {
    let policy = policy("exponential(4294967295, 1ms).multiplier(1.01).wait_in_broker_from(0)");
    let schedule = policy.schedule();
    let settled = (0..).find(|index| schedule.get(*index) == Some(MAX_BROKER_DELAY_MS)).unwrap();
    // ln(315360000000) / ln(1.01) = 2661.2; cutting to microseconds makes it a little slower.
    assert!((2_662..2_800).contains(&settled), "{settled}");
}

/// The rule once more, on decimal digits: `e · m` as a product in base 10, and division by 1000 as three digits cut off.
fn by_long_multiplication(first_ms: u64, thousandths: u32, cap_ms: Option<u64>, index: u32) -> u64 {
    let limit = decimal(MAX_BROKER_DELAY_MS.into(), 3);
    let mut exact = decimal(first_ms.into(), 3);
    for _ in 0..index {
        if at_least(&exact, &limit) {
            break;
        }
        let mut product = vec![0_u32; exact.len() + 8];
        for (place, digit) in exact.iter().enumerate() {
            for (other_place, other) in decimal(thousandths.into(), 0).iter().enumerate() {
                product[place + other_place] += digit * other;
            }
        }
        for place in 0..product.len() - 1 {
            product[place + 1] += product[place] / 10;
            product[place] %= 10;
        }
        product.drain(..3);
        exact = if at_least(&product, &limit) { limit.clone() } else { product };
    }
    let ms = exact.iter().skip(3).rev().fold(0_u64, |number, digit| number * 10 + u64::from(*digit));
    cap_ms.map_or(ms, |cap| cap.min(ms))
}

/// Digits, lowest first, behind `zeros` zeros.
fn decimal(mut number: u128, zeros: usize) -> Vec<u32> {
    let mut digits = vec![0; zeros];
    while number > 0 {
        digits.push(u32::try_from(number % 10).unwrap());
        number /= 10;
    }
    digits
}

fn at_least(a: &[u32], b: &[u32]) -> bool {
    let digits = a.len().max(b.len());
    let padded = |number: &[u32]| (0..digits).rev().map(|place| number.get(place).copied().unwrap_or(0)).collect();
    let (a, b): (Vec<u32>, Vec<u32>) = (padded(a), padded(b));
    a >= b
}

proptest! {
    #[test]
    fn every_entry_is_what_long_multiplication_gives(
        first_ms in prop_oneof![1..100_u64, 1..10_000_000_u64, 1..400_000_000_000_u64],
        thousandths in prop_oneof![Just(1_000_u32), 1_010..1_100_u32, 1_010..=10_000_u32, 1_010..=1_000_000_u32],
        above_first in proptest::option::of(0..10_000_000_000_u64),
        index in prop_oneof![0..40_u32, 0..200_u32],
    ) {
        let cap_ms = above_first.map(|more| first_ms + more);
        let mut builder = RetryPolicy::exponential(u32::MAX, first_ms).multiplier_thousandths(thousandths);
        if let Some(cap_ms) = cap_ms {
            builder = builder.cap(cap_ms);
        }
        let policy = builder.wait_in_broker_from(0).build().unwrap();
        let expected = by_long_multiplication(first_ms, thousandths, cap_ms, index);
        prop_assert_eq!(policy.schedule().get(index), Some(expected));
    }

    #[test]
    fn broker_delays_are_the_distinct_waits_from_the_threshold_on(
        attempts in 1..60_u32,
        first_ms in 1..100_000_u64,
        thousandths in 1_010..3_000_u32,
        threshold_ms in 0..200_000_u64,
    ) {
        let built = RetryPolicy::exponential(attempts, first_ms)
            .multiplier_thousandths(thousandths)
            .wait_in_broker_from(threshold_ms)
            .build()
            .unwrap();
        let mut expected = Vec::new();
        for wait in built.schedule().iter() {
            if threshold_ms > 0 && wait >= threshold_ms && !expected.contains(&wait) {
                expected.push(wait);
            }
        }
        prop_assert_eq!(built.broker_delays(), expected);
    }
}
