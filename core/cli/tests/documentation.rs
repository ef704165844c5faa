//! Every command in the documentation, and every message that the command has, is run and its output compared.

#[test]
fn the_documentation_is_true() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    trycmd::TestCases::new().env("ACEMQ_BROKER", "").case(format!("{root}/README.md"));
}

#[test]
fn every_message_says_what_to_do() {
    trycmd::TestCases::new().env("ACEMQ_BROKER", "").case("tests/cases/*.trycmd");
}
