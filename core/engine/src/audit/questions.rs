//! Questions about all keys of a set, asked of an exchange and everything behind it.

use super::exchange::Exchange;
use super::keys::{Answer, Follow, KeySet, Letter, find, shortest};
use super::patterns::Nodes;
use super::world::{Given, Reach, World};
use crate::rabbitmq::DestinationType;
use std::collections::BTreeMap;

impl<'a> World<'a> {
    /// The shortest key of a set that the exchange routes to no queue.
    pub(super) fn unrouted<'w>(&'w self, set: &KeySet<'w>, exchange: &str) -> Answer {
        if self.takes_all(exchange) {
            return Answer::None;
        }
        self.ask(set, exchange, |reach| reach.queues.is_empty() && !reach.perhaps)
    }

    /// Whether it may be that the exchange routes no key of the set that is not routed for certain.
    pub(super) fn certainly_routed<'w>(&'w self, set: &KeySet<'w>, exchange: &str) -> Answer {
        self.ask(set, exchange, |reach| reach.queues.is_empty())
    }

    /// The shortest key of a set that the exchange routes to a queue, or may route to one.
    pub(super) fn routed<'w>(&'w self, set: &KeySet<'w>, exchange: &str) -> Answer {
        let mut follow = self.follow(set, exchange, |reach| !reach.queues.is_empty() || reach.perhaps);
        follow.all_words = true;
        find(set, &follow, &self.stranger)
    }

    fn ask<'w>(&'w self, set: &KeySet<'w>, exchange: &str, wanted: fn(&Reach<'w>) -> bool) -> Answer {
        find(set, &self.follow(set, exchange, wanted), &self.stranger)
    }

    /// The shortest key that fits some binding of the exchange, whose alternate is therefore not used, and reaches no queue.
    pub(super) fn bypassed<'w>(&'w self, exchange: &'w Exchange<'a>) -> Answer {
        if exchange.outgoing.iter().all(|binding| binding.destination_type == DestinationType::Queue) {
            return Answer::None;
        }
        self.unrouted_where(exchange, true)
    }

    /// The shortest key that fits no binding of the exchange, and that its alternate takes to no queue either.
    pub(super) fn unmatched_and_unrouted<'w>(&'w self, exchange: &'w Exchange<'a>) -> Answer {
        self.unrouted_where(exchange, false)
    }

    fn unrouted_where<'w>(&'w self, exchange: &'w Exchange<'a>, own_match: bool) -> Answer {
        let any = KeySet::any();
        let mut follow = self.follow(&any, exchange.name, |reach| reach.queues.is_empty() && !reach.perhaps);
        (follow.all_words, follow.own_match) = (true, Some(own_match));
        find(&any, &follow, &self.stranger)
    }

    fn follow<'w>(&'w self, set: &KeySet<'w>, exchange: &str, wanted: fn(&Reach<'w>) -> bool) -> FollowRoutes<'w, 'a> {
        let exchanges = self.behind_with(exchange, set);
        let numbers = exchanges.iter().enumerate().map(|(number, exchange)| (exchange.name, number)).collect();
        // Where nothing has an alternate, a key that fits fewer bindings reaches no more.
        let all_words = exchanges.iter().any(|exchange| exchange.alternate != Given::Nothing);
        FollowRoutes { world: self, exchanges, numbers, all_words, own_match: None, wanted }
    }

    /// The shortest key of a set; `None` when it holds none, or none was found within the bound.
    pub(super) fn sample(&self, set: &KeySet<'_>) -> Option<String> {
        match shortest(set, &self.stranger) {
            Answer::Key(key) => Some(key),
            Answer::None | Answer::NotProven => None,
        }
    }

    /// Whether a set holds no key at all.
    pub(super) fn is_empty(&self, set: &KeySet<'_>) -> bool {
        shortest(set, &self.stranger) == Answer::None
    }
}

/// Follows a key through every exchange that it can come to.
struct FollowRoutes<'w, 'a> {
    world: &'w World<'a>,
    /// The first is where the key enters.
    exchanges: Vec<&'w Exchange<'a>>,
    numbers: BTreeMap<&'w str, usize>,
    /// Whether words that the exchanges name matter, although the set does not name them.
    all_words: bool,
    /// Whether a binding of the first exchange has to fit, or must not.
    own_match: Option<bool>,
    wanted: fn(&Reach<'w>) -> bool,
}

impl<'w> Follow<'w> for FollowRoutes<'w, '_> {
    type At = Vec<Nodes>;

    fn start(&self) -> Self::At {
        self.exchanges.iter().map(|exchange| self.world.table(exchange).by_key.start()).collect()
    }

    fn step(&self, at: &Self::At, letter: Letter<'w>) -> Self::At {
        let exchanges = self.exchanges.iter().zip(at);
        exchanges.map(|(exchange, nodes)| self.world.table(exchange).by_key.step(nodes, letter)).collect()
    }

    fn wanted(&self, at: &Self::At) -> bool {
        let Some(first) = self.exchanges.first() else { return true };
        if let Some(wanted) = self.own_match {
            let table = self.world.table(first);
            let fits = at.first().is_some_and(|nodes| table.by_key.ends(nodes).next().is_some());
            if (fits || !table.always.is_empty() || !table.perhaps.is_empty()) != wanted {
                return false;
            }
        }
        let reach = self.world.walk(first.name, None, |exchange, table| {
            let nodes = self.numbers.get(exchange.name).and_then(|number| at.get(*number));
            nodes.map(|nodes| table.by_key.ends(nodes).collect()).unwrap_or_default()
        });
        (self.wanted)(&reach)
    }

    fn letters(&self, at: &Self::At) -> Vec<Letter<'w>> {
        if !self.all_words {
            return Vec::new();
        }
        let exchanges = self.exchanges.iter().zip(at);
        exchanges.flat_map(|(exchange, nodes)| self.world.table(exchange).by_key.letters(nodes)).collect()
    }
}
