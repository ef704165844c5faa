use super::{codes, policy};
use crate::retry::{Backoff, RetryPolicy, RetryProblems};
use proptest::prelude::*;

#[test]
fn canonical_text_is_its_own_printing() {
    for text in [
        "none()",
        "none().jitter(0.5)",
        "fixed(3, 0)",
        "fixed(3, 30500ms).jitter(0.1)",
        "exponential(6, 10s)",
        "exponential(6, 10s, 5m)",
        "exponential(1, 90s).multiplier(1)",
        "exponential(6, 10s, 5m).multiplier(1.5).jitter(0.1).give_up_after(2h).wait_in_broker_from(1m)",
        "exponential(6, 10s).jitter(0).wait_in_broker_from(0)",
    ] {
        assert_eq!(policy(text).to_string(), text);
    }
}

#[test]
fn any_other_spelling_prints_canonically() {
    for (text, canonical) in [
        ("exponential(6,10s,5m)", "exponential(6, 10s, 5m)"),
        ("exponential(6,   10000ms,\t300s)", "exponential(6, 10s, 5m)"),
        ("exponential(06, 010s).multiplier(2.000).jitter(0.20)", "exponential(6, 10s)"),
        ("fixed(3, 60s).jitter(0)", "fixed(3, 1m)"),
        ("fixed(3, 0h).wait_in_broker_from(30000ms)", "fixed(3, 0)"),
        (
            "exponential(6, 10s).wait_in_broker_from(60s).give_up_after(24h).jitter(1).multiplier(3)",
            "exponential(6, 10s).multiplier(3).jitter(1).give_up_after(24h).wait_in_broker_from(1m)",
        ),
    ] {
        assert_eq!(policy(text).to_string(), canonical);
    }
}

#[test]
fn a_text_outside_the_grammar_is_refused_at_its_place() {
    for (text, code, column) in [
        ("", "policy_syntax", 1),
        (" none()", "policy_syntax", 1),
        ("none", "policy_syntax", 5),
        ("none( )", "policy_syntax", 6),
        ("none() ", "policy_syntax", 7),
        ("None()", "unknown_policy", 1),
        ("exponental(6, 10s)", "unknown_policy", 1),
        ("fixed(3)", "policy_syntax", 8),
        ("fixed(3 , 10s)", "policy_syntax", 8),
        ("fixed(3, 10s, 1m)", "policy_syntax", 13),
        ("fixed(, 10s)", "policy_syntax", 7),
        ("fixed(3, 10s", "policy_syntax", 13),
        ("exponential(6, 10s, 5m, 1h)", "policy_syntax", 23),
        ("exponential(6, 10s ,5m)", "policy_syntax", 19),
        ("exponential(6, 10s).", "policy_syntax", 21),
        ("exponential(6, 10s).jitter", "policy_syntax", 27),
        ("exponential(6, 10s).jitter()", "policy_syntax", 28),
        ("exponential(6, 10s).jitter( 0.1)", "policy_syntax", 28),
        ("exponential(6, 10s).giveup_after(2h)", "unknown_option", 21),
        ("exponential(6, 10s).jitter(0.1).jitter(0.1)", "repeated_option", 33),
        ("é", "unknown_policy", 1),
        ("fixed(3, 10s)é", "policy_syntax", 14),
    ] {
        let problems = text.parse::<RetryPolicy>().unwrap_err();
        let problem = problems.iter().next().unwrap();
        assert_eq!(problem.code.as_str(), code, "{text}");
        assert_eq!(problem.fields["column"], column, "{text}");
    }
}

#[test]
fn the_nearest_known_word_is_named() {
    let nearest =
        |text: &str| text.parse::<RetryPolicy>().unwrap_err().iter().next().unwrap().fields["nearest"].clone();
    assert_eq!(nearest("exponental(6, 10s)"), "exponential");
    assert_eq!(nearest("fixed(6, 10s).giveup_after(2h)"), "give_up_after");
}

#[test]
fn every_bad_value_is_found_at_its_column() {
    let problems: RetryProblems =
        "exponential(x, 10, 1d).multiplier(1.0005).jitter(y).give_up_after(-1s)".parse::<RetryPolicy>().unwrap_err();
    let found: Vec<_> =
        problems.iter().map(|problem| (problem.code.as_str(), problem.fields["column"].as_u64().unwrap())).collect();
    assert_eq!(
        found,
        [
            ("policy_syntax", 13),
            ("duration_no_unit", 18),
            ("duration_unknown_unit", 21),
            ("multiplier_too_precise", 35),
            ("policy_syntax", 50),
            ("duration_no_digits", 67),
        ]
    );
    let message = problems.iter().nth(1).unwrap().to_string();
    assert!(message.contains("column 18") && message.contains("\"10s\"") && message.contains("\"10ms\""), "{message}");
}

#[test]
fn values_that_are_numbers_but_not_possible_ones_are_all_named() {
    let text = "exponential(-1, 0, 0).multiplier(1.001).jitter(-0.5).give_up_after(0)";
    assert_eq!(
        codes(text.parse()),
        [
            "attempts_out_of_range",
            "multiplier_out_of_range",
            "first_zero",
            "cap_zero",
            "jitter_out_of_range",
            "give_up_after_zero"
        ]
    );
    assert_eq!(codes("fixed(4294967296, 1s)".parse()), ["attempts_out_of_range"]);
    assert_eq!(codes("fixed(0, 1s).multiplier(2)".parse()), ["attempts_too_few", "multiplier_not_exponential"]);
}

#[test]
fn text_of_any_size_gets_a_short_answer() {
    let problems = "x".repeat(1 << 20).parse::<RetryPolicy>().unwrap_err();
    assert!(problems.to_string().len() < 1_000);
    assert!("(".repeat(1 << 20).parse::<RetryPolicy>().is_err());
}

fn any_policy() -> impl Strategy<Value = RetryPolicy> {
    let ms = || prop_oneof![1..2_000_u64, (1..5_000_u64).prop_map(|s| s * 1_000), 1..=u64::MAX];
    let backoff = prop_oneof![
        Just(RetryPolicy::none().to_builder()),
        (1..=u32::MAX, prop_oneof![Just(0), ms()]).prop_map(|(attempts, delay)| RetryPolicy::fixed(attempts, delay)),
        (1..=u32::MAX, ms(), prop_oneof![Just(1_000_u32), 1_010..=1_000_000_u32]).prop_map(
            |(attempts, first, thousandths)| {
                RetryPolicy::exponential(attempts, first).multiplier_thousandths(thousandths)
            }
        ),
        (1..=u32::MAX, ms(), ms())
            .prop_map(|(attempts, a, b)| { RetryPolicy::exponential(attempts, a.min(b)).cap(a.max(b)) }),
    ];
    let jitter = proptest::option::of(prop_oneof![Just(0.0), Just(-0.0), Just(0.2), Just(1.0), 0.0..1.0]);
    (backoff, jitter, proptest::option::of(ms()), proptest::option::of(ms())).prop_filter_map(
        "too many rungs",
        |(mut builder, jitter, give_up_after, threshold)| {
            if let Some(factor) = jitter {
                builder = builder.jitter(factor);
            }
            if let Some(ms) = give_up_after {
                builder = builder.give_up_after(ms);
            }
            if let Some(ms) = threshold {
                builder = builder.wait_in_broker_from(ms);
            }
            builder.build().or_else(|_| builder.wait_in_broker_from(0).build()).ok()
        },
    )
}

proptest! {
    #[test]
    fn what_is_printed_is_read_back(policy in any_policy()) {
        let text = policy.to_string();
        prop_assert_eq!(&text.parse::<RetryPolicy>().unwrap(), &policy);
        prop_assert_eq!(text.parse::<RetryPolicy>().unwrap().to_string(), text);
        let json = serde_json::to_string(&policy).unwrap();
        prop_assert_eq!(&serde_json::from_str::<RetryPolicy>(&json).unwrap(), &policy);
        if let Backoff::Fixed { delay_ms, .. } = policy.backoff() {
            prop_assert_eq!(policy.schedule().distinct().iter().all(|wait| *wait == delay_ms), true);
        }
    }

    #[test]
    fn no_text_is_answered_with_a_panic(text in "(none|fixed|exponential|x)?[(]?[0-9a-z(),. é-]{0,40}") {
        if let Ok(policy) = text.parse::<RetryPolicy>() {
            prop_assert_eq!(policy.to_string().parse::<RetryPolicy>().unwrap(), policy);
        }
    }
}
