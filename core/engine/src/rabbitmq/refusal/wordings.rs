//! Everything that brokers are known to say, one row a wording.
//!
//! A pattern is the broker's own format text with fields in braces ([`pattern`](super::pattern) tells how it is matched).
//! Beside it stands what it means: the class, the kind of object where the pattern has no `{kind}`, and a sentence with the
//! same fields. `{object}` is kind, name and vhost as far as they are known; a part in square brackets goes when one of its
//! fields is not there.
//!
//! RabbitMQ's texts are those of 3.8 to 4.3, as four real brokers gave them or as its source has them.

use super::RefusalClass::{
    self, AccessRefused, InUse, Inequivalent, Invalid, Locked, NotEmpty, NotFound, NotImplemented, Other, Unavailable,
};
use super::RefusedKind::{self, Binding, Connection, Exchange, Queue, Vhost};
use super::pattern::beginning;

/// One thing that a broker says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wording {
    pub(super) pattern: &'static str,
    /// What every text of this wording begins with: the pattern up to its first field.
    pub(super) beginning: &'static str,
    pub(super) class: RefusalClass,
    /// The kind of object where the pattern has no `{kind}`.
    pub(super) kind: Option<RefusedKind>,
    /// The argument where the pattern has no `{argument}`.
    pub(super) argument: Option<&'static str>,
    /// The sentence.
    pub(super) says: &'static str,
    /// Proves that the named object does not exist.
    pub(super) absence: bool,
}

/// A wording whose pattern has a `{kind}`, or that is about no object.
const fn any(class: RefusalClass, pattern: &'static str, says: &'static str) -> Wording {
    Wording { pattern, beginning: beginning(pattern), class, kind: None, argument: None, says, absence: false }
}

const fn about(kind: RefusedKind, class: RefusalClass, pattern: &'static str, says: &'static str) -> Wording {
    Wording { kind: Some(kind), ..any(class, pattern, says) }
}

impl Wording {
    const fn argument(mut self, argument: &'static str) -> Self {
        self.argument = Some(argument);
        self
    }

    const fn proves_absence(mut self) -> Self {
        self.absence = true;
        self
    }
}

/// All of them; where a text fits two, the first is meant.
pub(super) const WORDINGS: &[Wording] = &[
    // A declaration that differs from what is there. The sentence depends on the two values: see `sentence`.
    any(Inequivalent, "inequivalent arg '{argument}' for {kind} '{name}' in vhost '{vhost}': received {sides}", ""),
    // Up to 3.0 without the blank.
    any(Inequivalent, "inequivalent arg '{argument}'for {kind} '{name}' in vhost '{vhost}': received {sides}", ""),
    // 2.x
    any(
        Inequivalent,
        "parameters for {kind} '{name}' in vhost '{vhost}' not equivalent",
        "{object} is there with other properties or arguments; this broker does not say which",
    ),
    any(
        Inequivalent,
        "cannot redeclare {kind} '{name}' in vhost '{vhost}' with different type, durable, internal or autodelete value",
        "{object} is there with another type, durable, internal or auto-delete flag; this broker does not say which",
    ),
    any(
        Inequivalent,
        "cannot redeclare {kind} '{name}' in vhost '{vhost}' with different type, durable or autodelete value",
        "{object} is there with another type, durable or auto-delete flag; this broker does not say which",
    ),
    // A declaration that no broker of this kind takes.
    about(
        Queue,
        Invalid,
        "invalid arg '{argument}' for queue '{name}' in vhost '{vhost}' of queue type {module}",
        "{object} cannot be declared: {module} do not take {argument}",
    ),
    about(
        Queue,
        Invalid,
        "invalid arg '{argument}' for queue '{name}' in vhost '{vhost}': {error}",
        "{object} cannot be declared: {error}",
    ),
    // 3.8 gives no reason for some.
    about(
        Queue,
        Invalid,
        "invalid arg '{argument}' for queue '{name}' in vhost '{vhost}'",
        "{object} cannot be declared: a queue of this type does not take {argument}, or not with that value",
    ),
    about(
        Queue,
        Invalid,
        "invalid property '{argument}' for queue '{name}' in vhost '{vhost}'",
        "{object} cannot be declared: a quorum queue or stream cannot be {property}",
    ),
    any(
        Invalid,
        "invalid type '{type}' for arg '{argument}' in {kind} '{name}' in vhost '{vhost}'",
        "{object} cannot be declared: {argument} must be a text, and {type} was sent",
    ),
    about(
        Queue,
        Invalid,
        "Cannot declare a server-named queue for type {module}",
        "a queue without a name cannot be declared here: {module} need one",
    ),
    about(
        Queue,
        Invalid,
        "Queue name prefix '{prefix}' exceeds the 64-byte limit",
        "a queue cannot be declared: its x-name-prefix {prefix} is longer than 64 bytes",
    )
    .argument("x-name-prefix"),
    about(
        Queue,
        Invalid,
        "unknown queue type '{value}'",
        "a queue cannot be declared: this broker has no queue type {value}",
    )
    .argument("x-queue-type"),
    about(
        Queue,
        Invalid,
        "Exceeded max value for x-stream-max-segment-size-bytes",
        "a stream cannot be declared: x-stream-max-segment-size-bytes must not be above 3000000000",
    )
    .argument("x-stream-max-segment-size-bytes"),
    // Two blanks before 4.2.7 and 4.3.1.
    about(Queue, Invalid, "Invalid value for  x-stream-filter-size-bytes", FILTER_SIZE)
        .argument("x-stream-filter-size-bytes"),
    about(Queue, Invalid, "Invalid value for x-stream-filter-size-bytes", FILTER_SIZE)
        .argument("x-stream-filter-size-bytes"),
    about(Queue, Invalid, "Invalid type for x-stream-filter-size-bytes", FILTER_SIZE)
        .argument("x-stream-filter-size-bytes"),
    about(Exchange, Invalid, "unknown exchange type '{value}'", EXCHANGE_TYPE).argument("type"),
    about(Exchange, Invalid, "invalid exchange type '{value}'", EXCHANGE_TYPE).argument("type"),
    about(
        Exchange,
        Invalid,
        "Invalid argument, 'x-delayed-type' must be {rest}",
        "an exchange cannot be declared: x-delayed-type must name an exchange type of this broker",
    )
    .argument("x-delayed-type"),
    any(Invalid, "{kind} name '{name}' contains reserved prefix 'amq.*'", RESERVED),
    // AMQP 1.0 management, 4.0 and later.
    any(Invalid, "{kind} '{name}' in vhost '{vhost}' starts with reserved prefix 'amq.'", RESERVED),
    about(
        Exchange,
        Invalid,
        "operation not permitted on the default exchange",
        "the default exchange (the one without a name) cannot be declared, deleted, bound or unbound",
    ),
    about(
        Exchange,
        Invalid,
        "deletion of system exchange '{name}' in vhost '{vhost}' not allowed",
        "{object} cannot be deleted: names that begin with amq. belong to the broker",
    ),
    about(
        Queue,
        Invalid,
        "cannot declare queue '{name}': queue limit in vhost '{vhost}' ({limit}) is reached",
        "{object} cannot be declared: the vhost already has the {limit} queues that its limit allows",
    ),
    about(
        Queue,
        Invalid,
        "cannot declare queue '{name}': queue limit in cluster ({limit}) is reached",
        "{object} cannot be declared: the cluster already has the {limit} queues that its limit allows",
    ),
    about(
        Exchange,
        Invalid,
        "cannot declare exchange '{name}' in vhost '{vhost}': exchange limit of {limit} is reached",
        "{object} cannot be declared: the broker already has the {limit} exchanges that its limit allows",
    ),
    about(
        Queue,
        Invalid,
        "Feature `transient_nonexcl_queues` is deprecated.{rest}",
        "this broker no longer permits queues that are neither durable nor exclusive",
    ),
    about(
        Queue,
        Invalid,
        "Feature `queue_master_locator` is deprecated.{rest}",
        "this broker no longer permits x-queue-master-locator; use x-queue-leader-locator",
    )
    .argument("x-queue-master-locator"),
    any(
        Invalid,
        "Feature `{feature}` is deprecated.{rest}",
        "this broker no longer permits the deprecated feature {feature}",
    ),
    // A binding.
    about(
        Binding,
        Invalid,
        "Invalid x-match field value {value}; expected all, any, all-with-x, or any-with-x",
        "a binding of a headers exchange cannot have x-match {value}; it must be all, any, all-with-x or any-with-x",
    )
    .argument("x-match"),
    about(
        Binding,
        Invalid,
        "Invalid x-match field value {value}; expected all or any",
        "a binding of a headers exchange cannot have x-match {value}; it must be all or any",
    )
    .argument("x-match"),
    about(
        Binding,
        Invalid,
        "Invalid x-match field type {type} (value {value}); expected longstr",
        "a binding of a headers exchange cannot have x-match {value}: it must be a text, and {type} was sent",
    )
    .argument("x-match"),
    about(
        Binding,
        Invalid,
        "Topic binding key '{key}' uses {limit} '#' wildcards, at most 2 are allowed",
        "a topic binding cannot have the key {key}: it holds {limit} # wildcards, and this broker allows two",
    ),
    about(
        Binding,
        Invalid,
        "Non empty binding '{key}' key not permitted",
        "an x-local-random exchange takes bindings with an empty key only, and {key} was asked",
    ),
    about(
        Binding,
        Invalid,
        "Queue type {module} not valid for this exchange type",
        "an x-local-random exchange takes bindings of classic queues only, and this binding is of {module}",
    ),
    // Nothing there.
    any(NotFound, "no {kind} '{name}' in vhost '{vhost}'", "{object} does not exist").proves_absence(),
    about(
        Queue,
        NotFound,
        "no previously declared queue",
        "an empty queue name means the last queue declared on the channel, and none was declared on it",
    ),
    about(Vhost, NotFound, "vhost {vhost} not found", "vhost {vhost} does not exist"),
    // There, and out of reach.
    about(
        Queue,
        Unavailable,
        "home node '{node}' of durable queue '{name}' in vhost '{vhost}' is down or inaccessible",
        "{object} is there, but its node {node} is down or cannot be reached",
    ),
    about(
        Queue,
        Unavailable,
        "queue '{name}' in vhost '{vhost}' process is stopped by supervisor",
        "{object} is there, but the broker has stopped it",
    ),
    about(
        Queue,
        Unavailable,
        "queue '{name}' in vhost '{vhost}' has crashed and failed to restart",
        "{object} is there, but it has crashed and did not start again",
    ),
    about(
        Queue,
        Unavailable,
        "failed to perform operation on queue '{name}' in vhost '{vhost}' due to timeout",
        "{object} did not answer in time",
    ),
    about(
        Queue,
        Unavailable,
        "failed to perform operation on queue '{name}' in vhost '{vhost}': its leader {pid} may be stopping or being demoted",
        LEADER,
    ),
    about(
        Queue,
        Unavailable,
        "failed to perform operation on queue '{name}' in vhost '{vhost}': its master replica {pid} may be stopping or being demoted",
        LEADER,
    ),
    about(
        Queue,
        Unavailable,
        "Cannot declare quorum queue '{name}' in vhost '{vhost}' on node '{node}' with leader on node '{leader}': {rest}",
        "{object} could not be declared: its members could not be started on the cluster's nodes",
    ),
    about(
        Queue,
        Unavailable,
        "Could not {verb} queue '{name}' in vhost '{vhost}' on node '{node}' because the metadata store operation timed out",
        STORE,
    ),
    about(
        Queue,
        Unavailable,
        "Could not {verb} quorum queue '{name}' in vhost '{vhost}' on node '{node}' because the metadata store operation timed out",
        STORE,
    ),
    about(
        Exchange,
        Unavailable,
        "failed to {verb} exchange '{name}' in vhost '{vhost}' because the operation timed out",
        STORE,
    ),
    about(Binding, Unavailable, "Could not {verb} binding due to timeout", STORE),
    about(
        Vhost,
        Unavailable,
        "access to vhost '{vhost}' refused for user '{user}': vhost '{down}' is down",
        "vhost {vhost} is there, but it is down on the node that was asked",
    ),
    about(
        Connection,
        Unavailable,
        "broker forced connection closure with reason '{reason}'",
        "the broker closed the connection by itself, for the reason {reason}",
    ),
    // Exclusive.
    about(
        Queue,
        Locked,
        "cannot obtain exclusive access to locked queue '{name}' in vhost '{vhost}'. It could be originally declared on \
         another connection or the exclusive property value does not match that of the original declaration.",
        LOCK,
    ),
    // 3.7 and earlier.
    about(Queue, Locked, "cannot obtain exclusive access to locked queue '{name}' in vhost '{vhost}'", LOCK),
    about(
        Queue,
        Locked,
        "Cannot delete protected queue '{name}' in vhost '{vhost}'.",
        "{object} cannot be deleted: it is protected, because the broker uses it itself",
    ),
    // Permissions.
    any(
        AccessRefused,
        "{permission} access to {kind} '{name}' in vhost '{vhost}' refused for user '{user}'",
        PERMISSION,
    ),
    any(
        AccessRefused,
        "{permission} access to {kind} '{name}' in vhost '{vhost}' refused for user '{user}' by backend {rest}",
        PERMISSION,
    ),
    any(AccessRefused, "access to {kind} '{name}' in vhost '{vhost}' refused for user '{user}'", PERMISSION),
    any(
        AccessRefused,
        "access to {kind} '{name}' in vhost '{vhost}' refused for user '{user}' by backend {rest}",
        PERMISSION,
    ),
    about(
        Exchange,
        AccessRefused,
        "{permission} access to topic '{key}' in exchange exchange '{name}' in vhost '{vhost}' refused for user '{user}'",
        TOPIC_PERMISSION,
    ),
    about(
        Exchange,
        AccessRefused,
        "{permission} access to topic '{key}' in exchange exchange '{name}' in vhost '{vhost}' refused for user '{user}' by backend {rest}",
        TOPIC_PERMISSION,
    ),
    about(
        Exchange,
        AccessRefused,
        "access to topic '{key}' in exchange exchange '{name}' in vhost '{vhost}' refused for user '{user}'",
        TOPIC_PERMISSION,
    ),
    about(
        Exchange,
        AccessRefused,
        "access to topic '{key}' in exchange exchange '{name}' in vhost '{vhost}' refused for user '{user}' by backend {rest}",
        TOPIC_PERMISSION,
    ),
    about(
        Vhost,
        AccessRefused,
        "access to vhost '{vhost}' refused for user '{user}'",
        "user {user} has no permissions in vhost {vhost}",
    ),
    about(
        Vhost,
        AccessRefused,
        "access to vhost '{vhost}' refused for user '{user}': {error}",
        "user {user} may not use vhost {vhost} now: {error}",
    ),
    about(
        Connection,
        AccessRefused,
        "Login was refused using authentication mechanism {permission}. For details see the broker logfile.",
        "the broker refused the login: wrong user name or password, or a user that may not log in from here",
    ),
    about(
        Exchange,
        Invalid,
        "cannot publish to internal exchange '{name}' in vhost '{vhost}'",
        "{object} is internal: clients cannot publish to it, only other exchanges can",
    ),
    // Deletions and consumers.
    about(Queue, NotEmpty, "queue '{name}' in vhost '{vhost}' not empty", "{object} is not empty"),
    about(
        Queue,
        InUse,
        "queue '{name}' in vhost '{vhost}' in exclusive use",
        "{object} has a consumer that has it for itself, or has consumers and cannot be had exclusively",
    ),
    about(Queue, InUse, "queue '{name}' in vhost '{vhost}' in use", "{object} has consumers"),
    about(Exchange, InUse, "exchange '{name}' in vhost '{vhost}' in use", "{object} has bindings that lead from it"),
    // Not offered.
    about(
        Queue,
        NotImplemented,
        "cannot delete queue '{name}' in vhost '{vhost}'. queue.delete operations with {flag} flag set are not supported by \
         quorum queues",
        "{object} is a quorum queue, and those cannot be deleted with {flag}",
    ),
    about(
        Queue,
        NotImplemented,
        "{verb} not supported by stream queues queue '{name}' in vhost '{vhost}'",
        "{object} is a stream, and streams know no {verb}",
    ),
    any(NotImplemented, "immediate=true", "RabbitMQ does not know the immediate flag of basic.publish"),
    // Messages and consumers.
    about(
        Queue,
        Invalid,
        "consumer prefetch count is not set for 'queue '{name}' in vhost '{vhost}''",
        STREAM_PREFETCH,
    ),
    about(
        Queue,
        Invalid,
        "consumer prefetch count is not set for stream queue '{name}' in vhost '{vhost}'",
        STREAM_PREFETCH,
    ),
    about(Queue, Invalid, "consumer prefetch count is not set for queue '{name}' in vhost '{vhost}'", STREAM_PREFETCH),
    any(
        Invalid,
        "invalid expiration '{value}': {rest}",
        "a message cannot have the expiration {value}: it must be a whole number of milliseconds, written as a text",
    ),
    any(
        Invalid,
        "invalid message: {rest}",
        "a message cannot be published: its CC or BCC header must be a list of texts",
    ),
    any(
        Invalid,
        "user_id property set to '{value}' but authenticated user was '{user}'",
        "a message cannot be published: its user_id is {value}, and the connection is that of user {user}",
    ),
    any(
        Invalid,
        "message size {number} is larger than configured max size {limit}",
        "a message of {number} bytes cannot be published: this broker allows {limit}",
    ),
    any(
        Invalid,
        "unknown delivery tag {number}",
        "delivery tag {number} was acknowledged twice, on another channel than it came from, or without being asked for",
    ),
    any(
        Other,
        "delivery acknowledgement on channel {limit} timed out. Timeout value used: {number} ms{rest}",
        "a consumer did not acknowledge a message within {number} ms, so the broker closed its channel",
    ),
    any(
        Invalid,
        "attempt to reuse consumer tag '{value}'",
        "the connection already has a consumer with the tag {value}",
    ),
    about(Connection, Invalid, "Malformed UTF-8 in shortstr", "a name or a routing key that was sent is not UTF-8"),
    about(Connection, Invalid, "expected 'channel.open'", CHANNEL_USE),
    about(Connection, Invalid, "second 'channel.open' seen", CHANNEL_USE),
    about(
        Connection,
        Invalid,
        "number of channels opened ({number}) has reached the negotiated channel_max ({limit})",
        "the connection already has {number} channels, and {limit} were agreed on",
    ),
    // LavinMQ.
    any(
        Inequivalent,
        "Existing {kind} '{name}' declared with other arguments",
        "{object} is there with other properties or arguments; LavinMQ does not say which",
    ),
    any(
        Inequivalent,
        "Existing {kind} declared with other arguments{rest}",
        "the {kind} is there with other properties or arguments; LavinMQ does not say which",
    ),
    about(
        Queue,
        Locked,
        "Exclusive queue",
        "the queue is an exclusive one of another connection, or was asked for as not exclusive",
    ),
    about(
        Queue,
        Locked,
        "Not an exclusive queue",
        "the queue is there and not exclusive; the declaration asked for an exclusive one",
    ),
    about(Queue, Locked, "Queue '{name}' is exclusive", "{object} is an exclusive one of another connection"),
    any(NotFound, "{Kind} '{name}' doesn't exists", "{object} does not exist"),
    any(NotFound, "{Kind} '{name}' not found", "{object} does not exist"),
    any(Invalid, "{Kind} name isn't valid", "LavinMQ takes printable ASCII in the name of the {kind} only"),
    any(
        Invalid,
        "Prefix {rest} forbidden, please choose another name",
        "names that begin with amq. or mqtt. belong to the broker; choose another name",
    ),
    about(
        Exchange,
        Invalid,
        "Not allowed to {rest} the default exchange",
        "the default exchange (the one without a name) cannot be declared, deleted, bound or unbound",
    ),
    about(
        Queue,
        Invalid,
        "queue limit in vhost '{vhost}' ({limit}) is reached",
        "vhost {vhost} already has the {limit} queues that its limit allows",
    ),
    any(Invalid, "{argument} header not an integer", "{argument} must be an integer"),
    any(Invalid, "{argument} header not a string", "{argument} must be a text"),
    any(Invalid, "{argument} header not a boolean", "{argument} must be a boolean"),
    any(Invalid, "{argument} header less than minimum value {limit}", "{argument} must be at least {limit}"),
    any(Invalid, "{argument} header greater than maximum value {limit}", "{argument} must be at most {limit}"),
    any(Invalid, "{needed} required if {argument} is defined", "{argument} needs {needed} among the arguments"),
    about(
        Binding,
        Invalid,
        "x-match must be 'any' or 'all'",
        "a binding of a headers exchange must have x-match any or all",
    )
    .argument("x-match"),
    about(
        Queue,
        Unavailable,
        "Server low on disk space, can not create queue",
        "the broker creates no queue now: it is low on disk space",
    ),
    any(AccessRefused, "User doesn't have permissions to {verb} {kind} '{name}'", NO_PERMISSION),
    any(AccessRefused, "User '{user}' doesn't have permissions to {verb} {kind} '{name}'", PERMISSION),
    any(AccessRefused, "User doesn't have permissions to {kind} '{name}'", NO_PERMISSION),
    any(AccessRefused, "User '{user}' doesn't have permissions to {kind} '{name}'", PERMISSION),
    any(AccessRefused, "User doesn't have {permission} permissions to {kind} '{name}'", NO_PERMISSION),
    any(AccessRefused, "User '{user}' doesn't have {permission} permissions to {kind} '{name}'", PERMISSION),
    any(AccessRefused, "User not allowed to publish to {kind} '{name}'", NO_PERMISSION),
    any(NotEmpty, "{Kind} '{name}' is not empty", "{object} is not empty"),
    any(InUse, "{Kind} '{name}' in use", "{object} is in use"),
];

const FILTER_SIZE: &str = "a stream cannot be declared: x-stream-filter-size-bytes must be an integer from 16 to 255";
const EXCHANGE_TYPE: &str = "an exchange cannot be declared: this broker has no exchange type {value}";
const RESERVED: &str = "{object} cannot be declared: names that begin with amq. belong to the broker";
const LEADER: &str = "{object} is there, but its leader is stopping or changing; try again";
const STORE: &str = "[{object} could not be changed: ]the cluster's metadata store did not answer in time";
const LOCK: &str =
    "{object} is exclusive and belongs to another connection, or its exclusive flag differs from the one asked for";
const PERMISSION: &str = "user {user} has no [{permission} ]permission on {object}";
const TOPIC_PERMISSION: &str = "user {user} has no [{permission} ]permission for the routing key {key} on {object}";
const STREAM_PREFETCH: &str = "{object} is a stream: a consumer must set a prefetch count (basic.qos) first";
const CHANNEL_USE: &str = "the client used a channel that is not open, or opened one twice";
const NO_PERMISSION: &str = "the user has no [{permission} ]permission for this on {object}";
