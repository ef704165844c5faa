//! A definitions file is refused with a sentence or read; every vhost of what is read gives a state.
#![no_main]

use acemq_core::definitions::{Overrides, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    match read(bytes) {
        Ok(definitions) => {
            for vhost in definitions.vhosts() {
                if let Err(error) = definitions.state(Some(vhost), &Overrides::default()) {
                    assert!(!error.to_string().is_empty());
                }
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
