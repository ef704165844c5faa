//! Every kind of finding: the list that the audit is built from, and that `acemq audit --explain CODE` prints.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::str::FromStr;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// Messages can be lost, doubled or held up under a condition that the definitions do not show.
    Warning,
    /// Messages are lost, held up, or refused.
    Error,
}

impl Severity {
    /// All, the least first.
    pub const ALL: [Self; 3] = [Self::Info, Self::Warning, Self::Error];

    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What the audit knows about one kind of finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct About {
    /// The stable code.
    pub code: &'static str,
    /// How much it matters.
    pub severity: Severity,
    /// When it is found, in one line.
    pub condition: &'static str,
    /// The RabbitMQ versions that it is true of.
    pub versions: &'static str,
    /// What is behind it.
    pub why: &'static str,
    /// The way out.
    pub fix: &'static str,
    /// The smallest case.
    pub example: &'static str,
}

macro_rules! codes {
    ($($code:ident = $text:literal, $severity:ident, $versions:literal,
        when $condition:literal, why $why:literal, fix $fix:literal, example $example:literal;)*) => {
        /// The kinds of findings, by stable codes.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = $condition] $code,)*
        }

        impl Code {
            /// All of them, in the order in which they are listed.
            pub const ALL: &'static [Self] = &[$(Self::$code),*];

            /// What is known about it.
            pub const fn about(self) -> &'static About {
                match self {
                    $(Self::$code => &About {
                        code: $text,
                        severity: Severity::$severity,
                        condition: $condition,
                        versions: $versions,
                        why: $why,
                        fix: $fix,
                        example: $example,
                    },)*
                }
            }
        }
    };
}

codes! {
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
    DeadLetterLostForSome = "dead_letter_lost_for_some", Warning, "all",
        when "The bindings of a queue let keys through that its dead-letter exchange routes to no queue, beside others that it does.",
        why "The keys that can reach the queue are more than those that the dead-letter exchange is bound with. The finding shows the shortest key that gets through and is lost at its death; whether anybody publishes such a key, definitions cannot tell.",
        fix "Bind the dead-letter queue with the same patterns, set x-dead-letter-routing-key, or make the dead-letter exchange a fanout.",
        example "orders bound with order.*, its dead-letter exchange with order.new only: order.x is lost";
    DeadLetterLostByName = "dead_letter_lost_by_name", Info, "all",
        when "A message that is published to the queue by its name, through the default exchange, is routed to no queue when it dies.",
        why "The queue has bindings, and its dead letters are routed for the keys of those. A message that comes through the default exchange has the queue's name as its key, which the dead-letter exchange does not know.",
        fix "Set x-dead-letter-routing-key, bind the name as well, or never publish to the queue by name.",
        example "orders bound with order.new, as is its dead-letter exchange: a message sent to the queue orders by name is lost when it dies";
    DeadLetterBlocked = "dead_letter_blocked", Error, "3.10 and later",
        when "A quorum queue dead-letters at least once to where no queue takes the message.",
        why "At-least-once dead-lettering keeps a message until a target confirms it. Without a target it is kept and retried for ever, counts against the length limit, and in the end publishers are refused.",
        fix "Bind a queue to the dead-letter exchange with the key that the dead letters have.",
        example "quorum queue q {x-dead-letter-strategy: at-least-once, x-overflow: reject-publish, x-dead-letter-exchange: x}, x not bound";
    DeadLetterNotProven = "dead_letter_not_proven", Info, "all",
        when "It could not be decided within the bound whether every dead letter of a queue is routed.",
        why "The question is decided by following all keys at once through the patterns of both sides. Headers exchanges and plugin exchanges decide by more than the key, and some sets of patterns are too many to follow; then nothing is claimed.",
        fix "Set x-dead-letter-routing-key: with one key there is nothing left to prove.",
        example "a dead-letter exchange of type headers or x-consistent-hash";
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
    DeadLetterCycleCut = "dead_letter_cycle_cut", Error, "all",
        when "Dead letters return to a queue where they died before, and no consumer need reject them on the way.",
        why "A message that returns to a queue in a cycle of deaths without a rejection is dropped by the broker, with at most one line in the log. A queue whose time to live sends messages into a retry loop that nobody consumes loses them all on the first return.",
        fix "Take the time to live away from the queue that is consumed, or let the waiting queue lead somewhere else.",
        example "work {x-message-ttl: 10000} dead-letters to wait {x-message-ttl: 30000}, which dead-letters to work: unconsumed messages are dropped after 40 s";
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
    RetryCutIn313 = "retry_cut_in_3_13", Error, "3.13.0 to 3.13.2, and later while the feature flag message_containers_deaths_v2 is off",
        when "A retry loop with a rejection runs on a version that may drop its messages all the same.",
        why "These versions look for cycles in alphabetical instead of chronological order, and so may drop a message although it was rejected on the way.",
        fix "Upgrade to 3.13.3 or later and enable all feature flags.",
        example "work dead-letters to wait {x-message-ttl}, which dead-letters to work, on RabbitMQ 3.13.1";
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
    DeadLetterQueueDeadLetters = "dead_letter_queue_dead_letters", Info, "all",
        when "A queue that takes dead letters dead-letters in turn.",
        why "What is rejected, expires or overflows there moves on once more, away from where people look for it.",
        fix "Let dead-letter queues end the way, unless the next stop is meant.",
        example "orders dead-letters to orders.dlq, which dead-letters to orders.parked";
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
    ExchangeUnbound = "exchange_unbound", Info, "all",
        when "An exchange leads nowhere: no binding and no alternate exchange.",
        why "Whatever is published to it is dropped, unless it is published as mandatory.",
        fix "Bind it, give it an alternate exchange, or delete it.",
        example "fanout exchange x without bindings";
    ExchangeLeadsNowhere = "exchange_leads_nowhere", Warning, "all",
        when "An exchange has bindings, and all of them end at exchanges that lead to no queue.",
        why "A message is taken by the first exchange and dropped by the second, and an alternate exchange of the first is not used, because a binding did fit.",
        fix "Bind a queue to the last exchange, or take the binding away.",
        example "events -[#]-> audit, exchange audit without bindings";
    KeysLostBetweenExchanges = "keys_lost_between_exchanges", Info, "all",
        when "A binding between exchanges takes keys that the second exchange routes to no queue.",
        why "The first exchange takes the message, no binding of the second fits.",
        fix "Narrow the first pattern or widen those behind it.",
        example "events -[order.#]-> orders, orders -[order.new]-> q: order.x is dropped";
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
        why "With x-match all, which is what an absent x-match means, a binding that asks for nothing matches everything. Arguments whose names start with x- are no criteria.",
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
    EmptyKeyLeaks = "empty_key_leaks", Error, "4.3.0 only, repaired in 4.3.1",
        when "A topic binding has the empty key on a version where it matches the empty key of every other topic exchange too.",
        why "RabbitMQ 4.3.0 forgets the exchange of an empty binding key.",
        fix "Upgrade to 4.3.1 or later and enable the feature flag topic_binding_projection_v5.",
        example "t1 -[]-> q1 on 4.3.0: a message with the empty key published to t2 reaches q1";
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
    PolicyUnknownKey = "policy_unknown_key", Warning, "all",
        when "A policy has a key that this version does not know without a plugin.",
        why "Setting or importing such a policy is refused; one that was there before an upgrade does nothing by that key.",
        fix "Take the key out.",
        example "policy {ha-mode: all} on 4.0";
    FederatedQueue = "federated_queue", Info, "all",
        when "A policy federates a queue or an exchange, so that the verdicts here cover only this broker's part.",
        why "Messages come from and go to other brokers, whose definitions are not part of the audit.",
        fix "Audit the other brokers as well.",
        example "policy {federation-upstream-set: all} on queue orders";
    DefaultTypeChanges = "default_type_changes", Warning, "3.10.8 and later",
        when "The vhost's default queue type is not classic, and a queue in it is stored as classic without naming a type.",
        why "Whoever declares it again without a type asks for the default one and is refused (406); an import of the definitions makes it a queue of that type.",
        fix "Declare it with x-queue-type classic where it is to stay one.",
        example "vhost with default_queue_type quorum, queue q {}";

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
    UpgradeDeliveryLimit = "upgrade_delivery_limit", Warning, "4.0 and later",
        when "A quorum queue has no delivery limit, and gets one of 20 by the upgrade.",
        why "A message that comes back more often is dead-lettered, or dropped where there is no dead-letter exchange.",
        fix "Set x-delivery-limit by policy (delivery-limit) before the upgrade, and a dead-letter exchange.",
        example "quorum queue orders, from 3.13 to 4.0";
    UpgradeIgnores = "upgrade_ignores", Warning, "3.12 for queue-mode, 4.3 for the leader of mirrored queues",
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
    SuppressionUnused = "suppression_unused", Info, "all",
        when "A suppression in the document suppresses nothing.",
        why "What it was for is mended, or is another finding now. Left alone it would hide the same fault when it comes back.",
        fix "Take it out of the document.",
        example "suppress: [ { code: queue_unreachable, queue: orders, reason: … } ] with a binding to orders";
}

impl Code {
    /// The code as documents carry it.
    pub const fn as_str(self) -> &'static str {
        self.about().code
    }

    /// How much it matters.
    pub const fn severity(self) -> Severity {
        self.about().severity
    }

    /// Everything known about it, for people.
    pub fn explain(self) -> String {
        let about = self.about();
        format!(
            "{} ({})\n\n{}\n\nwhy:      {}\nfix:      {}\nversions: {}\nexample:  {}\n",
            about.code, about.severity, about.condition, about.why, about.fix, about.versions, about.example
        )
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl JsonSchema for Code {
    fn schema_name() -> Cow<'static, str> {
        "FindingCode".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let codes: Vec<&str> = Self::ALL.iter().map(|code| code.as_str()).collect();
        json_schema!({ "description": "the stable code of a finding", "type": "string", "enum": codes })
    }
}

/// A text that is no code of a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownCode {
    given: String,
}

impl fmt::Display for UnknownCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let codes = Code::ALL.iter().map(|code| code.as_str());
        let near = crate::name::nearest(&self.given, codes).unwrap_or_default();
        write!(f, "there is no finding \"{}\"; did you mean {near}?", self.given.escape_debug())
    }
}

impl std::error::Error for UnknownCode {}

impl FromStr for Code {
    type Err = UnknownCode;

    fn from_str(text: &str) -> Result<Self, UnknownCode> {
        let found = Self::ALL.iter().copied().find(|code| code.as_str() == text);
        found.ok_or_else(|| UnknownCode { given: text.chars().take(60).collect() })
    }
}

impl Code {
    /// A line for each code, the most severe first: code, severity, condition.
    pub fn list() -> String {
        let mut out = String::new();
        for severity in Severity::ALL.into_iter().rev() {
            for code in Self::ALL.iter().filter(|code| code.severity() == severity) {
                let _ = writeln!(out, "{:<8} {code:<32} {}", severity.name(), code.about().condition);
            }
        }
        out
    }
}

/// The page `FINDINGS.md`: every code, the most severe first.
pub fn page() -> String {
    let mut out = String::from(
        "# Findings of the audit\n\nWhat `acemq audit` can say about definitions, a topology document or a live broker. The list is made from\n`core/engine/src/audit/codes.rs`, and `acemq audit --explain CODE` prints an entry. Codes are stable.\n",
    );
    for severity in Severity::ALL.into_iter().rev() {
        let _ = write!(out, "\n## {severity}\n");
        for code in Code::ALL.iter().filter(|code| code.severity() == severity) {
            let about = code.about();
            let _ = write!(
                out,
                "\n### `{}`\n\n{}\n\n* Why: {}\n* Fix: {}\n* Versions: {}\n* Example: {}\n",
                about.code, about.condition, about.why, about.fix, about.versions, about.example
            );
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_page_in_the_repository_is_the_table() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/FINDINGS.md");
        if std::env::var_os("ACEMQ_BLESS").is_some() {
            std::fs::write(file, page()).unwrap();
        }
        assert_eq!(std::fs::read_to_string(file).unwrap(), page(), "run with ACEMQ_BLESS=1 to write it anew");
    }

    #[test]
    fn codes_are_unique_words_and_read_back() {
        let codes: BTreeSet<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(codes.len(), Code::ALL.len());
        for code in Code::ALL {
            assert_eq!(code.as_str().parse(), Ok(*code));
            assert!(code.as_str().bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_'));
            let about = code.about();
            for sentence in [about.condition, about.why, about.fix] {
                assert!(sentence.ends_with('.'), "{code}: {sentence}");
            }
        }
        let unknown = "dead_letter_lots".parse::<Code>().unwrap_err();
        assert_eq!(unknown.to_string(), "there is no finding \"dead_letter_lots\"; did you mean dead_letter_lost?");
    }
}
