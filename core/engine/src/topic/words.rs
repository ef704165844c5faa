//! Splitting a key into words without copying it.

/// The words of a routing key or a pattern, in order. The empty key has none.
///
/// ```
/// use acemq_core::topic::Words;
///
/// assert_eq!(Words::new(b"").count(), 0);
/// assert_eq!(Words::new(b"a..b").collect::<Vec<_>>(), [&b"a"[..], b"", b"b"]);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Words<'a> {
    /// What stands behind the last dot that was passed; `None` when every word was given out.
    rest: Option<&'a [u8]>,
}

impl<'a> Words<'a> {
    /// The words of `key`.
    pub const fn new(key: &'a [u8]) -> Self {
        Self { rest: if key.is_empty() { None } else { Some(key) } }
    }

    /// Whether no word is left.
    pub const fn is_done(&self) -> bool {
        self.rest.is_none()
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let rest = self.rest?;
        match rest.iter().position(|byte| *byte == b'.') {
            Some(dot) => {
                self.rest = rest.get(dot + 1..);
                rest.get(..dot)
            }
            None => self.rest.take(),
        }
    }
}
