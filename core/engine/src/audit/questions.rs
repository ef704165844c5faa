//! Questions about all keys of a set, asked of an exchange and everything behind it.

use super::keys::{Answer, Everything, Follow, KeySet, Letter, Nodes, find};
use super::world::{Exchange, Reach, World};
use crate::rabbitmq::DestinationType;

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
        let follow = self.follow(exchange, true, |reach| !reach.queues.is_empty() || reach.perhaps);
        find(set, &follow, &self.stranger)
    }

    fn ask<'w>(&'w self, set: &KeySet<'w>, exchange: &str, wanted: fn(&Reach<'w>) -> bool) -> Answer {
        // Where nothing has an alternate, a key that fits fewer bindings reaches no more.
        let all_words = self.has_alternates(exchange);
        find(set, &self.follow(exchange, all_words, wanted), &self.stranger)
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
        let mut follow = self.follow(exchange.name, true, |reach| reach.queues.is_empty() && !reach.perhaps);
        follow.own_match = Some(own_match);
        find(&KeySet::any(), &follow, &self.stranger)
    }

    fn follow<'w>(&'w self, exchange: &str, all_words: bool, wanted: fn(&Reach<'w>) -> bool) -> FollowRoutes<'w, 'a> {
        FollowRoutes { world: self, exchanges: self.behind(exchange), all_words, own_match: None, wanted }
    }

    /// The shortest key of a set; `None` when it holds none, or none was found within the bound.
    pub(super) fn sample(&self, set: &KeySet<'_>) -> Option<String> {
        match find(set, &Everything, &self.stranger) {
            Answer::Key(key) => Some(key),
            Answer::None | Answer::NotProven => None,
        }
    }

    /// Whether a set holds no key at all.
    pub(super) fn is_empty(&self, set: &KeySet<'_>) -> bool {
        find(set, &Everything, &self.stranger) == Answer::None
    }
}

/// Follows a key through every exchange that it can come to.
struct FollowRoutes<'w, 'a> {
    world: &'w World<'a>,
    /// The first is where the key enters.
    exchanges: Vec<&'w Exchange<'a>>,
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
            let number = self.exchanges.iter().position(|known| known.name == exchange.name);
            number.and_then(|number| at.get(number)).map(|nodes| table.by_key.ends(nodes).collect()).unwrap_or_default()
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
