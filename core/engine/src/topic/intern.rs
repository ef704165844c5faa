//! Numbers for the literal words of a trie, so that an edge is two numbers and a word is stored once.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::BuildHasherDefault;

/// A word's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WordId(pub(super) u32);

/// The words in use, each with its number and how many edges carry it.
#[derive(Debug, Clone, Default)]
pub(super) struct Interner {
    // SipHash with fixed keys: deterministic, and still no pattern of collisions that a short routing key could show.
    words: HashMap<Box<[u8]>, (WordId, u32), BuildHasherDefault<DefaultHasher>>,
    free: Vec<WordId>,
}

impl Interner {
    pub(super) fn id(&self, word: &[u8]) -> Option<WordId> {
        self.words.get(word).map(|(id, _)| *id)
    }

    /// The number of `word`, for one edge more.
    pub(super) fn acquire(&mut self, word: &[u8]) -> WordId {
        if let Some((id, edges)) = self.words.get_mut(word) {
            *edges = edges.saturating_add(1);
            return *id;
        }
        let fresh = WordId(u32::try_from(self.words.len()).unwrap_or(u32::MAX));
        let id = self.free.pop().unwrap_or(fresh);
        self.words.insert(word.into(), (id, 1));
        id
    }

    /// Gives back what [`acquire`](Self::acquire) gave for one edge; the word's number is free when it was the last.
    pub(super) fn release(&mut self, word: &[u8]) -> Option<WordId> {
        let (id, edges) = self.words.get_mut(word)?;
        let id = *id;
        *edges = edges.saturating_sub(1);
        if *edges == 0 {
            self.words.remove(word);
            self.free.push(id);
        }
        Some(id)
    }
}
