//! Findings of messages that are lost, held up or refused.

/// Hands them on to the next macro, behind those that it was given.
macro_rules! errors {
    ($next:ident $($later:ident)* ; $($before:tt)*) => {
        $next! { $($later)* ; $($before)*
        DeadLetterExchangeMissing = "dead_letter_exchange_missing", Error, "all",
            when "The dead-letter exchange of a queue does not exist.",
            why "Declaring a queue with a dead-letter exchange that is not there succeeds. At its death the message is dropped without a line in the log; a quorum queue that dead-letters at least once keeps it instead and retries for ever.",
            fix "Declare the exchange and bind a queue to it, or name one that exists; a policy can set the name on a live queue that has no such argument.",
            example "queue orders {x-dead-letter-exchange: dlx}, no exchange dlx: a message rejected from orders is gone";
        DeadLetterQueueMissing = "dead_letter_queue_missing", Error, "all",
            when "A queue dead-letters through the default exchange to a queue that does not exist.",
            why "The default exchange leads to the queue that the routing key names and nowhere else, and an alternate exchange does not help it. A delay queue of this kind loses every message when its time is up.",
            fix "Declare the queue that x-dead-letter-routing-key names, or correct the name.",
            example "queue orders.wait {x-message-ttl: 5000, x-dead-letter-exchange: \"\", x-dead-letter-routing-key: orders}, no queue orders";
        DeadLetterLost = "dead_letter_lost", Error, "all",
            when "A message that reaches the queue by one of its bindings is routed to no queue when it dies.",
            why "Naming a dead-letter exchange creates no binding. A dead letter keeps its routing key unless x-dead-letter-routing-key is set, and where no binding of the exchange fits that key it is dropped in silence.",
            fix "Bind the dead-letter queue with the keys that arrive, set x-dead-letter-routing-key, or make the dead-letter exchange a fanout.",
            example "queue test {x-dead-letter-exchange: dlx}, direct exchange dlx bound with \"\" only: a message with key test is gone when it dies";
        DeadLetterBlocked = "dead_letter_blocked", Error, "3.10 and later",
            when "A quorum queue dead-letters at least once to where no queue takes the message.",
            why "At-least-once dead-lettering keeps a message until a target confirms it. Without a target it is kept and retried for ever, counts against the length limit, and in the end publishers are refused.",
            fix "Bind a queue to the dead-letter exchange with the key that the dead letters have.",
            example "quorum queue q {x-dead-letter-strategy: at-least-once, x-overflow: reject-publish, x-dead-letter-exchange: x}, x not bound";
        DeadLetterCycleCut = "dead_letter_cycle_cut", Error, "all",
            when "Dead letters return to a queue where they died before, and no consumer need reject them on the way.",
            why "A message that returns to a queue in a cycle of deaths without a rejection is dropped by the broker, with at most one line in the log. A queue whose time to live sends messages into a retry loop that nobody consumes loses them all on the first return.",
            fix "Take the time to live away from the queue that is consumed, or let the waiting queue lead somewhere else.",
            example "work {x-message-ttl: 10000} dead-letters to wait {x-message-ttl: 30000}, which dead-letters to work: unconsumed messages are dropped after 40 s";
        RetryCutIn313 = "retry_cut_in_3_13", Error, "3.13.0 to 3.13.2, and later while the feature flag message_containers_deaths_v2 is off",
            when "A retry loop with a rejection runs on a version that may drop its messages all the same.",
            why "These versions look for cycles in alphabetical instead of chronological order, and so may drop a message although it was rejected on the way.",
            fix "Upgrade to 3.13.3 or later and enable all feature flags.",
            example "work dead-letters to wait {x-message-ttl}, which dead-letters to work, on RabbitMQ 3.13.1";
        AlternateExchangeMissing = "alternate_exchange_missing", Error, "all",
            when "The alternate exchange of an exchange does not exist.",
            why "Messages that no binding takes are dropped in silence instead of being kept, and the exchange was declared without an error.",
            fix "Declare the alternate exchange and bind a queue to it.",
            example "exchange events {alternate-exchange: unrouted}, no exchange unrouted";
        AlternateExchangeDefault = "alternate_exchange_default", Error, "all",
            when "The default exchange is named as an alternate exchange.",
            why "As an alternate the default exchange has no bindings to match and routes nothing, unlike as a dead-letter exchange.",
            fix "Name an exchange of your own, a fanout with one queue.",
            example "exchange events {alternate-exchange: \"\"}";
        AlternateExchangeCannotRoute = "alternate_exchange_cannot_route", Error, "all",
            when "An alternate exchange leads to no queue at all.",
            why "It exists to keep what nobody else takes, and drops it.",
            fix "Bind a queue to it; a fanout takes every key.",
            example "exchange events {alternate-exchange: unrouted}, unrouted without bindings";
        EmptyKeyLeaks = "empty_key_leaks", Error, "4.3.0 only, repaired in 4.3.1",
            when "A topic binding has the empty key on a version where it matches the empty key of every other topic exchange too.",
            why "RabbitMQ 4.3.0 forgets the exchange of an empty binding key.",
            fix "Upgrade to 4.3.1 or later and enable the feature flag topic_binding_projection_v5.",
            example "t1 -[]-> q1 on 4.3.0: a message with the empty key published to t2 reaches q1";
        UpgradeRefuses = "upgrade_refuses", Error, "the version of --target",
            when "The version to upgrade to refuses a declaration that this one took.",
            why "Services that declare it fail after the upgrade, and an import of the definitions stops at it.",
            fix "Change the declaration before the upgrade.",
            example "x-queue-version 1 with --target 4.3";
        UpgradeMirroring = "upgrade_mirroring", Error, "4.0 and later",
            when "A policy mirrors classic queues, which the version to upgrade to cannot.",
            why "Mirrored classic queues are gone with 4.0. A policy that is there stays and does nothing: the queue has one replica. Setting or importing one is refused.",
            fix "Move the queues to quorum, and take the ha- keys out of the policy before the upgrade.",
            example "policy {ha-mode: all} with --target 4.0";
        UpgradeTransientQueue = "upgrade_transient_queue", Error, "4.3 and later, as upstream builds it; some distributions permit them",
            when "A queue is neither durable nor exclusive, which the version to upgrade to denies.",
            why "Transient non-exclusive queues are deprecated since 3.13. From 4.3 on the feature is denied unless the configuration permits it.",
            fix "Make the queue durable (with x-expires, if it is to go when unused) or exclusive.",
            example "queue q, durable: false, with --target 4.3";
        UpgradeTooManyHashes = "upgrade_too_many_hashes", Error, "4.3.5 and later",
            when "A topic binding has more than two words #.",
            why "Such a binding survives the upgrade and can be neither declared nor imported again.",
            fix "Write the pattern with at most two #.",
            example "events -[#.a.#.b.#]-> q with --target 4.3";
        }
    };
}
pub(super) use errors;
