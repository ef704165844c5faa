//! Random choices that are the same at every run.

use std::env;

/// A stream of random numbers: SplitMix64, which is enough for choosing test cases.
pub struct Draw(u64);

impl Draw {
    /// The stream of that number; `ACEMQ_SEED` gives other streams.
    pub fn new(number: usize) -> Self {
        let seed: u64 = env::var("ACEMQ_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
        Self(
            seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)
                ^ u64::try_from(number).unwrap().wrapping_mul(0xbf58_476d_1ce4_e5b9),
        )
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(limit).unwrap()).unwrap()
    }

    /// True once in `times`.
    pub fn chance(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of these.
    pub fn one_of<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }
}

/// How many times the usual number of cases: `ACEMQ_DIFFERENTIAL`, for longer runs by hand.
pub fn scale() -> usize {
    env::var("ACEMQ_DIFFERENTIAL").ok().and_then(|scale| scale.parse().ok()).unwrap_or(1)
}
