use crate::retry::{RetryCode, RetryForm, parse_duration};

/// One bad policy for each message, as JSON.
const BAD: &[&str] = &[
    r#""exponential(0, 0, 0).multiplier(1.001).jitter(5).give_up_after(0)""#,
    r#""exponential(6, 10s, 9s).multiplier(1.0005)""#,
    r#""fixed(99999999999, 1s).multiplier(2)""#,
    r#""fixed(3, 100000h)""#,
    r#""exponential(4294967295, 30s).multiplier(1.01)""#,
    r#""exponential(six, 10s).jitter(much)""#,
    r#""exponential(6 10s)""#,
    r#""exponential(6, 10s""#,
    r#""exponental(6, 10s)""#,
    r#""exponential(6, 10s).giveup_after(2h)""#,
    r#""exponential(6, 10s).jitter(0.1).jitter(0.2)""#,
    r#""exponential(6, ten, 10).give_up_after(1.5s).wait_in_broker_from(1d)""#,
    r#""exponential(6, 1m30s, 18446744073709551616ms)""#,
    r#"{"exponential":{"atempts":6,"first":10,"first":11,"cap":[],"multiplier":"x"},"jitter":"x"}"#,
    r#"{"exponential":{"attempts":-1,"first":"10","multiplier":1.0005},"jitter":2}"#,
    r#"{"fixed":{"attempts":2.5,"delay":"1 s"},"none":{"a":1}}"#,
    r#"{"none":{"a":1}}"#,
    r#"{"fixed":3}"#,
    r#"{"jitter":0.1}"#,
    r#"["exponential(6, 10s)"]"#,
];

#[test]
fn every_problem_says_what_is_wrong_and_what_to_do() {
    let mut golden = String::new();
    let mut seen = Vec::new();
    for text in BAD {
        let form: RetryForm = serde_json::from_str(text).unwrap();
        golden.push_str(&format!("{text}\n"));
        for problem in form.policy().unwrap_err() {
            golden.push_str(&format!("  {}: {problem}\n", problem.code));
            seen.push(problem.code);
        }
    }
    insta::assert_snapshot!(golden);
    for code in RetryCode::ALL {
        assert!(seen.contains(&code), "{code} has no golden");
    }
}

#[test]
fn a_bad_duration_says_what_is_wrong_and_what_to_do() {
    let texts = ["", "-1s", "10", "1.5s", "1d", "10 s", "1m30s", "99999999999999999999h"];
    let messages: Vec<String> = texts.iter().map(|text| parse_duration(text).unwrap_err().to_string()).collect();
    insta::assert_snapshot!(messages.join("\n"));
}
