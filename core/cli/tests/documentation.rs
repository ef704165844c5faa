//! Every command in the documentation is run, and its output compared.

#[test]
fn the_documentation_is_true() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    std::env::set_current_dir(root).unwrap();
    trycmd::TestCases::new().env("ACEMQ_BROKER", "").case("README.md").case("docs/*.md");
}
