//! Findings of messages that can be lost, doubled or held up under a condition that definitions do not show.

/// Hands them on to the next macro, behind those that it was given.
macro_rules! warnings {
    ($next:ident $($later:ident)* ; $($before:tt)*) => {
        $next! { $($later)* ; $($before)*
        DeadLetterLostForSome = "dead_letter_lost_for_some", Warning, "all",
            when "The bindings of a queue let keys through that its dead-letter exchange routes to no queue, beside others that it does.",
            why "The keys that can reach the queue are more than those that the dead-letter exchange is bound with. The finding shows the shortest key that gets through and is lost at its death; whether anybody publishes such a key, definitions cannot tell.",
            fix "Bind the dead-letter queue with the same patterns, set x-dead-letter-routing-key, or make the dead-letter exchange a fanout.",
            example "orders bound with order.*, its dead-letter exchange with order.new only: order.x is lost";
        DeadLetterKeyAlone = "dead_letter_key_alone", Warning, "all",
            when "A policy gives a queue a dead-letter routing key, and nothing gives it a dead-letter exchange.",
            why "Without an exchange nothing is dead-lettered; the key alone does nothing.",
            fix "Set dead-letter-exchange in the same policy.",
            example "policy {dead-letter-routing-key: dlq} on a queue without x-dead-letter-exchange";
        AtLeastOnceInactive = "at_least_once_inactive", Warning, "3.10 and later",
            when "A quorum queue asks for at-least-once dead-lettering without overflow reject-publish, or without a dead-letter exchange.",
            why "The strategy takes effect only together with overflow reject-publish and a dead-letter exchange. Otherwise the broker falls back to at-most-once, with only a line in its log, and dead letters can be lost on the way.",
            fix "Set x-overflow to reject-publish (by policy it wins over the argument of a quorum queue).",
            example "quorum queue q {x-dead-letter-strategy: at-least-once, x-dead-letter-exchange: dlx} and nothing about overflow";
        DeadLetterCycleOverflow = "dead_letter_cycle_overflow", Warning, "all",
            when "What a full queue drops goes round a retry loop and is dropped for good on its return.",
            why "A length limit is a reason to die like any other. The dropped message waits, comes back, and the broker drops it because nothing in the cycle was a rejection.",
            fix "Use overflow reject-publish, or give the overflow a way of its own.",
            example "work {x-max-length: 1000} dead-letters to wait {x-message-ttl: 30000}, which dead-letters to work";
        DeadLetterCycleDeliveryLimit = "dead_letter_cycle_delivery_limit", Warning, "delivery limit 20 unless set from 4.0; before, only where one is set",
            when "A message that exceeds the delivery limit of a quorum queue goes round a retry loop and is dropped on its return.",
            why "The loop is endless only for messages that a consumer rejects. The delivery limit is no rejection: such a message waits once more and is then dropped by the broker.",
            fix "Give up in the consumer before the limit is reached, and publish what is given up to a queue outside the loop.",
            example "quorum queue work, delivery limit 20, dead-letters to wait {x-message-ttl}, which dead-letters to work";
        RetryNeverEnds = "retry_never_ends", Warning, "all; from 4.0 on a client that republishes a message starts its count anew",
            when "A rejected message comes back to its queue after a delay, as often as it is rejected.",
            why "This is how delayed retries are built, and the broker never ends it: a cycle with a rejection in it is not cut. Only a consumer that reads the count in x-death, and gives up, ends it. From 4.0 on the broker ignores an x-death that a client sends.",
            fix "Count in the consumer (x-death, or a header of your own where messages are republished) and publish what is given up to a queue outside the loop.",
            example "work dead-letters to wait {x-message-ttl: 10000}, which dead-letters to work";
        LoopWithoutDelay = "loop_without_delay", Warning, "all",
            when "Rejected messages come back to the same queue without any delay.",
            why "A message that cannot be processed is delivered, rejected and delivered again as fast as the broker can, for ever.",
            fix "Put a queue with x-message-ttl into the loop, or dead-letter to a queue that does not lead back.",
            example "queue q {x-dead-letter-exchange: \"\", x-dead-letter-routing-key: q}";
        CrossTalk = "cross_talk", Warning, "all",
            when "Dead letters of one queue also land in the dead-letter queue of another one.",
            why "Two queues take the same key and share a dead-letter exchange that routes by key: a failure in one looks like a failure in both, and whoever puts the dead letters back delivers the message to a queue that had processed it.",
            fix "Set x-dead-letter-routing-key on each queue to the name of its own dead-letter queue, and bind it with that.",
            example "a and b bound with x, dead-letter queues a.dlx and b.dlx bound with x too: what b rejects is in both";
        RetryLeaks = "retry_leaks", Warning, "all",
            when "Retried messages return through an exchange that leads to other queues as well.",
            why "Each retry of one queue delivers the message again to its neighbours, which had processed it.",
            fix "Return through the default exchange: x-dead-letter-exchange \"\" and x-dead-letter-routing-key with the name of the queue.",
            example "fanout A leads to q and other; q dead-letters to wait, and wait {x-dead-letter-exchange: A}";
        DeadLetterQueueBounded = "dead_letter_queue_bounded", Warning, "all",
            when "A queue at the end of a dead-letter path throws messages away: a length limit, or a time to live.",
            why "A dead-letter queue is where messages are kept to be looked at. Past its limit the oldest are dropped without a trace.",
            fix "Take the limit away, watch the queue's length instead, or keep dead letters in a stream.",
            example "orders.dlq {x-max-length: 1000} without a dead-letter exchange of its own";
        QueueExpiresWithMessages = "queue_expires_with_messages", Warning, "all",
            when "A queue that keeps messages for later is deleted after a time without consumers.",
            why "x-expires deletes a queue that nobody consumes, however many messages it holds, and none of them is dead-lettered. Publishing is no use that counts.",
            fix "Take x-expires away, or make it longer than x-message-ttl on a waiting queue that is declared before each message.",
            example "orders.wait {x-message-ttl: 60000, x-expires: 30000, x-dead-letter-exchange: \"\"}: deleted before the first message is due";
        HeadOfLine = "head_of_line", Warning, "all",
            when "A delay queue has no time to live of its own, so that each message brings one.",
            why "Messages expire only at the head of a queue. One with a short time to live behind one with a long time waits for the long one.",
            fix "One queue for each delay, with x-message-ttl on the queue.",
            example "queue delay {x-dead-letter-exchange: work} fed with expirations 180000, 3600000 and 1800000: the third leaves after 60 minutes";
        DeliveryLimitDrops = "delivery_limit_drops", Warning, "4.0 and later; before, only where a limit is set",
            when "A quorum queue without a dead-letter exchange has a delivery limit.",
            why "From 4.0 on a quorum queue gives a message up after 20 deliveries unless told otherwise. Without a dead-letter exchange it is gone.",
            fix "Set a dead-letter exchange, or x-delivery-limit -1 where a message may come back for ever.",
            example "quorum queue orders without arguments on 4.0: a message that is put back 21 times is dropped";
        OverflowOnQuorum = "overflow_on_quorum", Warning, "all",
            when "A quorum queue has overflow reject-publish-dlx.",
            why "Quorum queues take the value and act as drop-head: publishers are not refused, and the oldest message goes.",
            fix "Set reject-publish, or drop-head with a dead-letter exchange.",
            example "quorum queue q {x-overflow: reject-publish-dlx, x-max-length: 10}";
        QueueCutOff = "queue_cut_off", Warning, "all",
            when "A queue has bindings, and no message can come through any of them.",
            why "Its bindings lead from exchanges that clients cannot publish to (internal ones) and that nothing leads to, or whose keys never fit.",
            fix "Bind the internal exchange to one that clients publish to, or correct the keys.",
            example "internal exchange x without anything leading to it, bound to q";
        BindingNeverMatches = "binding_never_matches", Warning, "all",
            when "A binding of an internal exchange takes only keys that never get there.",
            why "The exchange gets its messages from bindings of other exchanges, and none of their keys fits.",
            fix "Correct one of the two patterns.",
            example "events -[order.#]-> x (internal), x -[invoice.#]-> q";
        BindingToMissing = "binding_to_missing", Warning, "all",
            when "A binding names an exchange or a queue that is not declared.",
            why "An import fails at such a binding from 3.13.6 on, and passes over it before. Exports leave exclusive queues and, in most versions, internal exchanges out, and keep their bindings.",
            fix "Declare what is missing before the import, or take the binding out.",
            example "binding x -> q in a file that declares no exchange x";
        ExchangeLeadsNowhere = "exchange_leads_nowhere", Warning, "all",
            when "An exchange has bindings, and all of them end at exchanges that lead to no queue.",
            why "A message is taken by the first exchange and dropped by the second, and an alternate exchange of the first is not used, because a binding did fit.",
            fix "Bind a queue to the last exchange, or take the binding away.",
            example "events -[#]-> audit, exchange audit without bindings";
        AlternateExchangeLosesSome = "alternate_exchange_loses_some", Warning, "all",
            when "A key that no binding of an exchange takes is taken by none of its alternate exchange either.",
            why "An alternate exchange routes by its own type and bindings: only a fanout, or a topic exchange bound with #, keeps everything.",
            fix "Make the alternate exchange a fanout, or bind it with #.",
            example "exchange events {alternate-exchange: unrouted}, unrouted direct and bound with lost only";
        AlternateExchangeBypassed = "alternate_exchange_bypassed", Warning, "all",
            when "A message fits a binding to another exchange that drops it, so that the alternate exchange is not used.",
            why "An alternate exchange is used only when the exchange's own bindings give nothing. A binding to another exchange counts, even where that exchange leads nowhere.",
            fix "Give the second exchange the same alternate exchange.",
            example "events {alternate-exchange: unrouted} -[#]-> audit, audit -[a]-> q: key b reaches neither q nor unrouted";
        AlternateOnDelayed = "alternate_on_delayed", Warning, "all, with the delayed message plugin",
            when "An x-delayed-message exchange has an alternate exchange.",
            why "While a message is delayed the exchange routes it to nothing, so every delayed message goes to the alternate exchange as well, at once.",
            fix "Take the alternate exchange away from the delayed exchange.",
            example "exchange later, type x-delayed-message, {alternate-exchange: unrouted}";
        HeadersMatchAll = "headers_match_all", Warning, "all",
            when "A headers binding without criteria takes every message.",
            why "With x-match all, which is what an absent x-match means, a binding that asks for nothing matches everything. As the only binding of its exchange, which then is a fanout in effect, it is worth knowing and no more. Arguments whose names start with x- are no criteria.",
            fix "Put the criteria into the arguments of the binding; not of the queue, not of the exchange.",
            example "headers exchange h bound to q1 and q2 without arguments: both get every message";
        HeadersMatchNone = "headers_match_none", Warning, "all",
            when "A headers binding without criteria takes no message.",
            why "With x-match any at least one criterion must fit, and there is none.",
            fix "Put the criteria into the arguments of the binding.",
            example "headers exchange h bound to q with {x-match: any} only";
        XMatchMisplaced = "x_match_misplaced", Warning, "all",
            when "x-match stands where nothing reads it: on a queue, on an exchange, or on a binding of an exchange that is no headers exchange.",
            why "Only the arguments of a binding of a headers exchange are matched against the headers of a message.",
            fix "Move x-match and the criteria to the binding of a headers exchange.",
            example "queue q {x-match: all, class: one}";
        WildcardOnDirect = "wildcard_on_direct", Warning, "all",
            when "A binding of a direct exchange has * or # as a word of its key.",
            why "A direct exchange compares the whole key; the wildcard is an ordinary character there.",
            fix "Make it a topic exchange, or bind the keys one by one.",
            example "direct exchange events -[order.*]-> q: order.new does not reach q";
        WildcardInsideWord = "wildcard_inside_word", Warning, "all",
            when "A topic binding has * or # inside a word.",
            why "A wildcard is a whole word between dots. Anywhere else it is an ordinary character.",
            fix "Write it as a word of its own: order.* instead of order*.",
            example "topic exchange events -[order*]-> q: orders does not reach q";
        EmptyKeyOnTopic = "empty_key_on_topic", Warning, "all",
            when "A topic binding has the empty key.",
            why "It takes the empty key and nothing else. Binding without a key is a habit from fanout exchanges.",
            fix "Bind with # to take everything.",
            example "topic exchange events -[]-> q: order.new does not reach q";
        FederationUpstreamMissing = "federation_upstream_missing", Warning, "all",
            when "A set of federation upstreams names one that is not defined.",
            why "A policy that federates by the set gets nothing from that upstream, without an error.",
            fix "Define the upstream, or take it out of the set.",
            example "federation-upstream-set nearby: [ { upstream: oslo } ], and no federation-upstream oslo";
        PolicyTie = "policy_tie", Warning, "all",
            when "Policies of one priority match the same object and say different things.",
            why "Exactly one policy applies, and between equals the choice is undefined: it has been another one on different versions and metadata stores.",
            fix "Give them different priorities, or patterns that do not overlap.",
            example "ha-all .* priority 0 and expiry ^tmp priority 0: a queue tmp.1 gets one of them";
        PolicySkipped = "policy_skipped", Warning, "all",
            when "A policy matches a queue by name and is passed over, because the queue's type does not support one of its keys.",
            why "One unsupported key keeps the whole policy off the queue, the supported ones included, and the next lower priority applies.",
            fix "Split the policy by type with apply-to classic_queues, quorum_queues or streams (3.12 and later).",
            example "policy .* {ha-mode: all, dead-letter-exchange: dlx} on a quorum queue: no dead-letter exchange";
        PolicyUnknownKey = "policy_unknown_key", Warning, "all",
            when "A policy has a key that this version does not know without a plugin.",
            why "Setting or importing such a policy is refused; one that was there before an upgrade does nothing by that key.",
            fix "Take the key out.",
            example "policy {ha-mode: all} on 4.0";
        DefaultTypeChanges = "default_type_changes", Warning, "3.10.8 and later",
            when "The vhost's default queue type is not classic, and a queue in it is stored as classic without naming a type.",
            why "Whoever declares it again without a type asks for the default one and is refused (406); an import of the definitions makes it a queue of that type.",
            fix "Declare it with x-queue-type classic where it is to stay one.",
            example "vhost with default_queue_type quorum, queue q {}";

        UpgradeDeliveryLimit = "upgrade_delivery_limit", Warning, "4.0 and later",
            when "A quorum queue has no delivery limit, and gets one of 20 by the upgrade.",
            why "A message that comes back more often is dead-lettered, or dropped where there is no dead-letter exchange.",
            fix "Set x-delivery-limit by policy (delivery-limit) before the upgrade, and a dead-letter exchange.",
            example "quorum queue orders, from 3.13 to 4.0";
        UpgradeUncounted = "upgrade_uncounted", Warning, "4.3 and later",
            when "A quorum queue has a delivery limit, and the version to upgrade to no longer counts what a consumer puts back with basic.nack.",
            why "From 4.3 on only failures count, basic.reject with requeue among them. A message that a consumer puts back with basic.nack again and again was given up, and now comes back for ever.",
            fix "Put back with basic.reject, or count in the consumer and give up there.",
            example "quorum queue orders {x-delivery-limit: 5}, from 4.0 to 4.3: a message that is put back with basic.nack stays";
        UpgradeSettingChanges = "upgrade_setting_changes", Warning, "the version of --target",
            when "A setting of a queue has another value on the version to upgrade to, by the same arguments and policies.",
            why "Which policy keys a queue type supports, and whether an argument or a policy holds, is not the same in every version: a policy that applied as a whole is passed over as a whole, or the other way about.",
            fix "Give each queue type a policy of its own with the keys that it supports on both versions, before the upgrade.",
            example "policy {max-length: 10, max-in-memory-length: 5} on a classic queue, from 3.11 to 3.13: the queue has no limit any more";
        UpgradeIgnores = "upgrade_ignores", Warning, "3.10 for max-in-memory-…, 3.12 for queue-mode",
            when "The version to upgrade to takes an argument or a policy key and does nothing by it.",
            why "The declaration stays what it is, and is still compared; the effect is gone.",
            fix "Take it out of the declaration when the queue is declared anew.",
            example "x-queue-mode lazy with --target 4.0";
        UpgradeRetryCount = "upgrade_retry_count", Warning, "4.0 and later",
            when "Retries run through the broker, and the version to upgrade to no longer counts on from an x-death that a client sends.",
            why "A consumer that republishes a message with its headers, and gives up by the count in x-death, never gives up any more.",
            fix "Count in a header of your own.",
            example "work dead-letters to wait, which dead-letters to work, from 3.13 to 4.0";
        UpgradeHeaders = "upgrade_headers", Warning, "3.13 and later",
            when "A headers binding asks for a number with a fraction or for a time, which the version to upgrade to compares differently.",
            why "From 3.13 on 5 and 5.0 differ, and the time of a message counts in milliseconds while that of a binding does not.",
            fix "Ask for texts or whole numbers.",
            example "headers binding {size: 5.0}: a message with size 5 fits on 3.12 and not on 3.13";
        SuppressionUnknownCode = "suppression_unknown_code", Warning, "all",
            when "A suppression in the document names a code that no finding has.",
            why "It suppresses nothing, and what it was meant for is reported.",
            fix "Correct the code: acemq audit --explain lists them.",
            example "suppress: [ { code: dead_letter_lots, queue: orders, reason: … } ]";
        SuppressionObjectMissing = "suppression_object_missing", Warning, "all",
            when "A suppression in the document names an object that the topology does not have.",
            why "It suppresses nothing. Names are compared as they are, and a binding is written exchange -> queue (routing key).",
            fix "Correct the name, or take the suppression out with the object that it was for.",
            example "suppress: [ { code: queue_unreachable, queue: oders, reason: … } ] with a queue orders";
        }
    };
}
pub(super) use warnings;
