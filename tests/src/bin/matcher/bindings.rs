//! Bindings and keys as services write them: `domain.entity.event.region`.

/// A stream of random numbers that is the same at every run: SplitMix64.
pub struct Draw(u64);

impl Draw {
    pub fn new(seed: usize) -> Self {
        Self(seed as u64)
    }

    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) % limit as u64) as usize
    }
}

const ENTITIES: usize = 100;
const EVENTS: [&str; 20] = [
    "created",
    "updated",
    "deleted",
    "confirmed",
    "cancelled",
    "shipped",
    "paid",
    "refunded",
    "expired",
    "requested",
    "accepted",
    "declined",
    "started",
    "finished",
    "failed",
    "retried",
    "opened",
    "closed",
    "assigned",
    "archived",
];
const REGIONS: [&str; 10] = ["eu", "us", "cn", "in", "br", "uk", "jp", "za", "au", "ca"];

/// The words that bindings of some number are made of: the more bindings, the more services, so that a key reaches a few
/// queues whatever their number.
pub struct Vocabulary {
    domains: usize,
}

impl Vocabulary {
    pub fn for_bindings(bindings: usize) -> Self {
        Self { domains: (bindings / 500).max(2) }
    }

    fn words(&self, draw: &mut Draw) -> [String; 4] {
        [
            format!("service-{}", draw.below(self.domains)),
            format!("entity-{}", draw.below(ENTITIES)),
            EVENTS[draw.below(EVENTS.len())].to_owned(),
            REGIONS[draw.below(REGIONS.len())].to_owned(),
        ]
    }

    pub fn key(&self, draw: &mut Draw) -> String {
        self.words(draw).join(".")
    }

    /// A pattern and a key. In every second pair, the pattern was made for that key.
    pub fn pair(&self, draw: &mut Draw) -> (String, String) {
        let words = self.words(draw);
        let key = words.join(".");
        let pattern = if draw.below(2) == 0 { pattern(words, draw) } else { self.pattern(draw) };
        (pattern, key)
    }

    /// Of 1,000 patterns: 700 without wildcard, 220 with `*`, 70 that end in `#`, 10 with `#` elsewhere.
    pub fn pattern(&self, draw: &mut Draw) -> String {
        pattern(self.words(draw), draw)
    }
}

fn pattern([domain, entity, event, region]: [String; 4], draw: &mut Draw) -> String {
    match draw.below(1_000) {
        0..700 => format!("{domain}.{entity}.{event}.{region}"),
        700..820 => format!("{domain}.{entity}.*.{region}"),
        820..920 => format!("{domain}.*.{event}.{region}"),
        920..985 => format!("{domain}.{entity}.#"),
        985..990 => format!("{domain}.#"),
        990..996 => format!("{domain}.#.{region}"),
        _ => format!("{domain}.#.{event}.*"),
    }
}
