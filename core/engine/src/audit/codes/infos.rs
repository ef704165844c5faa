//! Findings that are worth knowing.

/// Hands them on to the next macro, behind those that it was given.
macro_rules! infos {
    ($next:ident $($later:ident)* ; $($before:tt)*) => {
        $next! { $($later)* ; $($before)*
        DeadLetterLostByName = "dead_letter_lost_by_name", Info, "all",
            when "A message that is published to the queue by its name, through the default exchange, is routed to no queue when it dies.",
            why "The queue has bindings, and its dead letters are routed for the keys of those. A message that comes through the default exchange has the queue's name as its key, which the dead-letter exchange does not know.",
            fix "Set x-dead-letter-routing-key, bind the name as well, or never publish to the queue by name.",
            example "orders bound with order.new, as is its dead-letter exchange: a message sent to the queue orders by name is lost when it dies";
        DeadLetterNotProven = "dead_letter_not_proven", Info, "all",
            when "It could not be decided within the bound whether every dead letter of a queue is routed.",
            why "The question is decided by following all keys at once through the patterns of both sides. Headers exchanges and plugin exchanges decide by more than the key, and some sets of patterns are too many to follow; then nothing is claimed.",
            fix "Set x-dead-letter-routing-key: with one key there is nothing left to prove.",
            example "a dead-letter exchange of type headers or x-consistent-hash";
        DeadLetterQueueDeadLetters = "dead_letter_queue_dead_letters", Info, "all",
            when "A queue that takes dead letters dead-letters in turn.",
            why "What is rejected, expires or overflows there moves on once more, away from where people look for it.",
            fix "Let dead-letter queues end the way, unless the next stop is meant.",
            example "orders dead-letters to orders.dlq, which dead-letters to orders.parked";
        AutoDeleteQueue = "auto_delete_queue", Info, "all",
            when "A durable queue is auto-delete.",
            why "It survives a restart of the broker and not the last consumer: the queue goes with every message in it, and none is dead-lettered.",
            fix "Make it not auto-delete, or exclusive when it belongs to one consumer.",
            example "queue q, durable, auto_delete";

        QueueUnreachable = "queue_unreachable", Info, "all",
            when "Only the default exchange reaches a queue.",
            why "No binding, dead-letter exchange or alternate exchange leads to it. That is right for a queue that is published to by name, and a sign of a lost binding for any other.",
            fix "Bind it to the exchange that its messages are published to, if they are not published to the queue by name.",
            example "queue work without bindings";
        ExchangeUnbound = "exchange_unbound", Info, "all",
            when "An exchange leads nowhere: no binding and no alternate exchange.",
            why "Whatever is published to it is dropped, unless it is published as mandatory.",
            fix "Bind it, give it an alternate exchange, or delete it.",
            example "fanout exchange x without bindings";
        KeysLostBetweenExchanges = "keys_lost_between_exchanges", Info, "all",
            when "A binding between exchanges takes keys that the second exchange routes to no queue.",
            why "The first exchange takes the message, no binding of the second fits.",
            fix "Narrow the first pattern or widen those behind it.",
            example "events -[order.#]-> orders, orders -[order.new]-> q: order.x is dropped";
        KeysOnFanout = "keys_on_fanout", Info, "all",
            when "Bindings of a fanout exchange have different keys.",
            why "A fanout exchange looks at no key: every queue gets every message.",
            fix "Make it a direct or topic exchange if the keys are to count.",
            example "fanout events -[a]-> q1, events -[b]-> q2: a message with key a reaches both";
        BindingRedundant = "binding_redundant", Info, "all",
            when "A binding takes nothing that another one of the same two ends does not take.",
            why "A queue gets one copy however many bindings fit. The narrower binding changes nothing, and taking it away will not stop the messages.",
            fix "Take the narrower binding away.",
            example "events -[#]-> q and events -[order.new]-> q";
        BindingTwice = "binding_twice", Info, "all",
            when "Two bindings differ only in arguments that their exchange does not look at.",
            why "Arguments are part of what a binding is. Taking one away leaves the other in force.",
            fix "Unbind one of them, with exactly its arguments.",
            example "direct x -[k]-> q and x -[k]-> q {x-hash-on: cluster}";

        PolicyMatchesNothing = "policy_matches_nothing", Info, "all",
            when "A policy matches no queue and no exchange.",
            why "It may wait for objects that are not there yet, or its pattern is mistyped.",
            fix "Check the pattern and apply-to, or delete it.",
            example "policy ^order- on queues that are named orders.…";
        PolicyUnanchored = "policy_unanchored", Info, "all",
            when "The pattern of a policy matches anywhere in a name, and matches objects that do not start with its text.",
            why "Patterns are regular expressions without anchors.",
            fix "Start the pattern with ^.",
            example "pattern audit matches pre-audit";
        PolicyOverruled = "policy_overruled", Info, "all",
            when "What a policy sets has no effect on a queue, because an argument of the queue holds instead.",
            why "For dead-lettering the argument wins, for limits the smaller number does; a policy cannot loosen what a declaration froze.",
            fix "Redeclare the queue without the argument (by a migration) where policies are to rule.",
            example "policy {message-ttl: 60000} over a queue with x-message-ttl 30000: it stays 30000";
        ShovelTargetUndeclared = "shovel_target_undeclared", Info, "all",
            when "A shovel writes to a queue that the definitions do not declare.",
            why "The shovel declares the queue itself, without any argument: it has no dead-letter exchange and no limit, and a later declaration with others is refused.",
            fix "Declare the queue.",
            example "shovel backup with dest-queue archive, and no queue archive";
        FederatedQueue = "federated_queue", Info, "all",
            when "A policy federates a queue or an exchange, so that the verdicts here cover only this broker's part.",
            why "Messages come from and go to other brokers, whose definitions are not part of the audit.",
            fix "Audit the other brokers as well.",
            example "policy {federation-upstream-set: all} on queue orders";
        SuppressionUnused = "suppression_unused", Info, "all",
            when "A suppression in the document suppresses nothing.",
            why "What it was for is mended, or is another finding now. Left alone it would hide the same fault when it comes back.",
            fix "Take it out of the document.",
            example "suppress: [ { code: queue_unreachable, queue: orders, reason: … } ] with a binding to orders";
        }
    };
}
pub(super) use infos;
