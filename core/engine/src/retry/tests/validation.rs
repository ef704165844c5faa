use super::{codes, policy};
use crate::retry::{MAX_BROKER_DELAY_MS, RetryPolicy};

#[test]
fn every_problem_of_a_policy_is_found_at_once() {
    let builder = RetryPolicy::exponential(0, 0).cap(0).multiplier_thousandths(1_001).jitter(5.0).give_up_after(0);
    assert_eq!(
        codes(builder.build()),
        [
            "attempts_too_few",
            "first_zero",
            "cap_zero",
            "multiplier_out_of_range",
            "jitter_out_of_range",
            "give_up_after_zero"
        ]
    );
}

#[test]
fn each_rule_has_its_edge() {
    let exponential = RetryPolicy::exponential(2, 1_000);
    assert!(exponential.cap(1_000).build().is_ok());
    assert_eq!(codes(exponential.cap(999).build()), ["cap_below_first"]);
    assert!(exponential.jitter(0.0).build().is_ok() && exponential.jitter(1.0).build().is_ok());
    for jitter in [-f64::MIN_POSITIVE, 1.0_f64.next_up(), f64::NAN, f64::INFINITY] {
        assert_eq!(codes(exponential.jitter(jitter).build()), ["jitter_out_of_range"]);
    }
    for thousandths in [1_000, 1_010, 1_000_000] {
        assert!(exponential.multiplier_thousandths(thousandths).build().is_ok());
    }
    for thousandths in [0, 999, 1_001, 1_009, 1_000_001, u32::MAX] {
        assert_eq!(codes(exponential.multiplier_thousandths(thousandths).build()), ["multiplier_out_of_range"]);
    }
    assert!(RetryPolicy::fixed(1, 0).build().is_ok());
    assert_eq!(codes(RetryPolicy::fixed(0, 0).build()), ["attempts_too_few"]);
    assert_eq!(codes(RetryPolicy::exponential(1, 0).build()), ["first_zero"]);
    assert_eq!(codes(RetryPolicy::none().to_builder().give_up_after(0).build()), ["give_up_after_zero"]);
}

#[test]
fn a_broker_wait_beyond_the_longest_ttl_is_refused() {
    assert!(RetryPolicy::fixed(2, MAX_BROKER_DELAY_MS).build().is_ok());
    let over = RetryPolicy::fixed(2, MAX_BROKER_DELAY_MS + 1);
    assert_eq!(codes(over.build()), ["broker_delay_too_long"]);
    // Nobody waits in the broker when there is no retry, or when every wait is the consumer's.
    assert!(RetryPolicy::fixed(1, MAX_BROKER_DELAY_MS + 1).build().is_ok());
    assert!(over.wait_in_broker_from(0).build().is_ok());
    assert!(over.wait_in_broker_from(MAX_BROKER_DELAY_MS + 2).build().is_ok());
    let problems = RetryPolicy::exponential(3, MAX_BROKER_DELAY_MS + 1).jitter(2.0).build();
    assert_eq!(codes(problems), ["jitter_out_of_range", "broker_delay_too_long"]);
}

#[test]
fn sixty_four_rungs_are_the_most() {
    // 30 s · 1.01ⁱ: every entry differs, so 65 attempts make 64 rungs.
    assert_eq!(policy("exponential(65, 30s).multiplier(1.01)").broker_delays().len(), 64);
    let problems = "exponential(66, 30s).multiplier(1.01)".parse::<RetryPolicy>().unwrap_err();
    let problem = problems.iter().next().unwrap();
    assert_eq!((problem.code.as_str(), &problem.fields["rungs"]), ("too_many_rungs", &65.into()));
    // The shortest 10 of these wait in the consumer.
    assert!("exponential(75, 30s).multiplier(1.01).wait_in_broker_from(33139ms)".parse::<RetryPolicy>().is_ok());
    // However many attempts there are, the cap bounds the rungs.
    assert_eq!(policy("exponential(4294967295, 30s, 1h).multiplier(1.1)").broker_delays().len(), 52);
}

#[test]
fn equal_policies_are_equal_however_they_were_made() {
    let built = RetryPolicy::exponential(6, 10_000).cap(300_000).jitter(0.1).build().unwrap();
    assert_eq!(policy("exponential(6, 10s, 5m).jitter(0.10)"), built);
    assert_ne!(policy("exponential(6, 10s, 5m)"), built);
    assert_eq!(built.to_builder().jitter(0.2).build().unwrap(), policy("exponential(6, 10s, 5m)"));
}
