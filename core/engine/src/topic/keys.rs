//! Many keys in one call, laid end to end, and what each of them matched.

use std::fmt;
use std::ops::Range;

/// Keys laid end to end, with the offsets at which they start: key i is `bytes[offsets[i]..offsets[i + 1]]`.
///
/// ```
/// use acemq_core::topic::{Keys, TopicPattern};
///
/// let keys = Keys::new(b"a.ba.b.c", &[0, 3, 8]).unwrap();
/// let pattern = TopicPattern::new("a.*");
/// assert_eq!(keys.map(|key| pattern.matches(key)).collect::<Vec<_>>(), [true, false]);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Keys<'a> {
    bytes: &'a [u8],
    offsets: &'a [u32],
}

/// Offsets that do not describe keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeysError {
    /// Which offset.
    pub index: usize,
    /// Its value.
    pub offset: u32,
    /// How many bytes there are.
    pub length: usize,
}

impl fmt::Display for KeysError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { index, offset, length } = self;
        write!(f, "offset {index} of the keys is {offset}: offsets must not fall and must stay within {length} bytes")
    }
}

impl std::error::Error for KeysError {}

impl<'a> Keys<'a> {
    /// One key fewer than there are offsets.
    ///
    /// # Errors
    /// The first offset that is smaller than the one before it, or that lies behind the end of `bytes`.
    pub fn new(bytes: &'a [u8], offsets: &'a [u32]) -> Result<Self, KeysError> {
        let mut last = 0;
        for (index, offset) in offsets.iter().copied().enumerate() {
            if offset < last || usize::try_from(offset).map_or(true, |offset| offset > bytes.len()) {
                return Err(KeysError { index, offset, length: bytes.len() });
            }
            last = offset;
        }
        Ok(Self { bytes, offsets })
    }
}

impl<'a> Iterator for Keys<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let (first, rest) = self.offsets.split_first()?;
        let second = rest.first()?;
        self.offsets = rest;
        self.bytes.get(usize::try_from(*first).ok()?..usize::try_from(*second).ok()?)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let keys = self.offsets.len().saturating_sub(1);
        (keys, Some(keys))
    }
}

impl ExactSizeIterator for Keys<'_> {}

/// What a batch of keys matched: for each key, in their order, the values it reached, sorted, each once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matches<T> {
    values: Vec<T>,
    ends: Vec<usize>,
}

impl<T> Default for Matches<T> {
    fn default() -> Self {
        Self { values: Vec::new(), ends: Vec::new() }
    }
}

impl<T: Ord> Matches<T> {
    /// Adds the answer for one more key: what `fill` pushes.
    pub(super) fn extend_with(&mut self, fill: impl FnOnce(&mut Vec<T>)) {
        let start = self.values.len();
        fill(&mut self.values);
        if let Some(found) = self.values.get_mut(start..) {
            found.sort_unstable();
        }
        // Duplicates are compared within this key's part only.
        let mut keep = start;
        for at in start..self.values.len() {
            let repeated = keep > start && self.values.get(at) == keep.checked_sub(1).and_then(|k| self.values.get(k));
            if !repeated {
                self.values.swap(keep, at);
                keep += 1;
            }
        }
        self.values.truncate(keep);
        self.ends.push(keep);
    }

    /// What each key matched.
    pub fn iter(&self) -> impl Iterator<Item = &[T]> {
        (0..self.ends.len()).map(|key| self.values.get(self.range(key)).unwrap_or_default())
    }

    /// All values end to end.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// Where the values of key `key` stand in [`values`](Self::values).
    pub fn range(&self, key: usize) -> Range<usize> {
        let end = self.ends.get(key).copied().unwrap_or(self.values.len());
        let start = key.checked_sub(1).map_or(0, |before| self.ends.get(before).copied().unwrap_or(self.values.len()));
        start..end
    }
}
