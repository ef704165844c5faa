//! A text that is never printed.

use std::fmt;

/// A password. `Debug` and `Display` print `***`; only [`Secret::reveal`] gives the text.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a password.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The password itself, for the one place that sends it.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// `text` with every occurrence of the password replaced by `***`, for texts that other libraries wrote.
    ///
    /// A password of fewer than four characters stays: it would mangle innocent words and says little.
    pub fn redact(&self, text: &str) -> String {
        if self.0.chars().count() < 4 { text.to_owned() } else { text.replace(&self.0, "***") }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_never_printed() {
        let secret = Secret::new("hunter2");
        assert_eq!(format!("{secret} {secret:?}"), "*** ***");
        assert_eq!(secret.redact("login hunter2 failed"), "login *** failed");
        assert_eq!(Secret::new("a").redact("a b a"), "a b a");
    }
}
