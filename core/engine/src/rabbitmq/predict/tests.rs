//! Expectations are answers of real brokers (3.8.9, 3.10.8, 4.0.5, 4.3.6) unless a test says otherwise.

use super::*;
use crate::rabbitmq::{BindingDeclaration, ExchangeDeclaration, QueueDeclaration, Version};
use crate::value::{Table, Value};

const V38: &str = "3.8.9";
const V310: &str = "3.10.8";
const V40: &str = "4.0.5";
const V43: &str = "4.3.6";
const ALL: [&str; 4] = [V38, V310, V40, V43];

fn conditions(version: &str) -> Conditions {
    Conditions::new(version.parse().unwrap(), "v")
}

fn queue(arguments: Table) -> QueueDeclaration {
    QueueDeclaration { arguments, ..QueueDeclaration::durable("q") }
}

fn arguments<const N: usize>(entries: [(&str, Value); N]) -> Table {
    entries.into_iter().collect()
}

fn said<T>(answer: Result<T, Refused>) -> String {
    match answer {
        Ok(_) => "ok".to_owned(),
        Err(refused) => {
            let closes = if refused.scope == Scope::Channel { "" } else { "connection: " };
            format!("{closes}{} {}", refused.code, refused.text)
        }
    }
}

/// The answer to `request` where `stored` exists, declared under the same conditions.
fn redeclared(conditions: &Conditions, stored: &QueueDeclaration, request: &QueueDeclaration) -> String {
    let stored = declare_queue(conditions, None, stored).unwrap();
    let owner = if stored.exclusive { Owner::Requester } else { Owner::Nobody };
    said(declare_queue(conditions, Some(ExistingQueue { declaration: &stored, owner }), request))
}

fn created(version: &str, request: &QueueDeclaration) -> String {
    said(declare_queue(&conditions(version), None, request))
}

/// The answer to an `x-message-ttl` of `received` where `current` is stored; what follows the colon.
fn ttl(version: &str, current: Option<Value>, received: Option<Value>) -> String {
    let table = |value: Option<Value>| value.map(|value| ("x-message-ttl", value)).into_iter().collect();
    let answer = redeclared(&conditions(version), &queue(table(current)), &queue(table(received)));
    let prefix = "406 PRECONDITION_FAILED - inequivalent arg 'x-message-ttl' for queue 'q' in vhost 'v': ";
    answer.strip_prefix(prefix).unwrap_or(&answer).to_owned()
}

#[test]
fn integers_of_every_width_and_timestamps_are_one_number() {
    let same = [
        Value::U8(100),
        Value::I8(100),
        Value::I16(100),
        Value::U16(100),
        Value::I32(100),
        Value::U32(100),
        Value::I64(100),
        Value::Timestamp(100),
    ];
    for version in ALL {
        for value in same.clone() {
            assert_eq!(ttl(version, Some(Value::I32(100)), Some(value)), "ok");
        }
        assert_eq!(ttl(version, Some(Value::I32(77)), Some(Value::I8(78))), "received '78' but current is '77'");
    }
}

#[test]
fn a_value_is_shown_with_its_type_only_where_the_other_side_is_absent() {
    let ttl_of = |received| ttl(V40, Some(Value::I32(1000)), Some(received));
    assert_eq!(ttl_of(Value::F64(1000.0)), "received '1.0e3' but current is '1000'");
    assert_eq!(ttl_of(Value::text("1000")), "received '1000' but current is '1000'");
    assert_eq!(ttl_of(Value::Binary(b"1000".to_vec())), "received '1000' but current is '1000'");
    assert_eq!(ttl_of(Value::Bool(true)), "received 'true' but current is '1000'");
    assert_eq!(ttl_of(Value::Void), "received none but current is '1000'");
    assert_eq!(
        ttl_of(Value::Table(arguments([("a", Value::I32(1))]))),
        r#"received '[{<<"a">>,signedint,1}]' but current is '1000'"#
    );
    assert_eq!(
        ttl(V40, Some(Value::I32(1000)), None),
        "received none but current is the value '1000' of type 'signedint'"
    );
    assert_eq!(
        ttl(V40, None, Some(Value::I32(1000))),
        "received the value '1000' of type 'signedint' but current is none"
    );
}

#[test]
fn a_decimal_that_differs_crashes_the_channel() {
    let decimal = Value::Decimal { scale: 0, unscaled: 1000 };
    for version in ALL {
        assert_eq!(ttl(version, Some(Value::I32(1000)), Some(decimal.clone())), "connection: 541 INTERNAL_ERROR");
        // Against nothing it is printed as any other value (rabbitmq.md 1.1).
        assert_eq!(
            ttl(version, None, Some(decimal.clone())),
            "received the value '{0,1000}' of type 'decimal' but current is none"
        );
    }
}

#[test]
fn the_first_difference_follows_the_list_of_the_existing_type() {
    let classic = queue(arguments([("x-message-ttl", Value::I32(1)), ("x-expires", Value::I32(9))]));
    let other = queue(arguments([
        ("x-queue-type", Value::text("quorum")),
        ("x-message-ttl", Value::I32(2)),
        ("x-expires", Value::I32(8)),
        ("x-unknown", Value::I32(8)),
    ]));
    for version in ALL {
        assert!(redeclared(&conditions(version), &classic, &other).contains("inequivalent arg 'x-expires'"));
    }
    let mut transient = other.clone();
    transient.durable = false;
    assert!(
        redeclared(&conditions(V43), &classic, &transient)
            .ends_with("inequivalent arg 'durable' for queue 'q' in vhost 'v': received 'false' but current is 'true'")
    );
    // Neither an unknown argument nor one of another type's is looked at.
    let quorum = queue(arguments([("x-queue-type", Value::text("quorum"))]));
    let decorated = quorum.clone().with("x-unknown", 1).with("x-max-priority", 5);
    assert_eq!(redeclared(&conditions(V43), &quorum, &decorated), "ok");
}

#[test]
fn an_absent_type_equals_classic_and_is_injected_from_4_0_on() {
    let (none, classic) = (queue(Table::new()), queue(arguments([("x-queue-type", Value::text("classic"))])));
    let quorum = queue(arguments([("x-queue-type", Value::text("quorum"))]));
    for version in ALL {
        assert_eq!(redeclared(&conditions(version), &none, &classic), "ok");
        assert_eq!(redeclared(&conditions(version), &classic, &none), "ok");
    }
    let explain = |version: &str| {
        let answer = redeclared(&conditions(version), &quorum, &none);
        answer.split_once("vhost 'v': ").unwrap().1.to_owned()
    };
    assert_eq!(explain(V310), "received none but current is the value 'quorum' of type 'longstr'");
    assert_eq!(explain(V40), "received 'classic' but current is 'quorum'");
    // An unknown type is no "unsupported queue type" where the queue exists.
    let bogus = queue(arguments([("x-queue-type", Value::text("bogus"))]));
    assert!(redeclared(&conditions(V40), &none, &bogus).ends_with("received 'bogus' but current is 'classic'"));
}

/// rabbitmq.md 1.6; the answers were compared with 3.10.8, 4.0.5 and 4.3.6 on vhosts of each default type.
#[test]
fn the_default_type_is_injected_where_it_fits() {
    let stored = |version: &str, default: Option<&str>, request: &QueueDeclaration| {
        let mut conditions = conditions(version);
        conditions.default_queue_type = default.map(str::to_owned);
        let arguments = effective_request(&conditions, request).into_owned().arguments;
        arguments.get("x-queue-type").and_then(Value::as_text).map(str::to_owned)
    };
    let fits = queue(Table::new());
    let unfit = QueueDeclaration { auto_delete: true, ..fits.clone() };
    for (version, none, fitting, not_fitting) in [
        ("3.10.7", None, None, None),
        ("3.10.8", None, Some("quorum"), None),
        ("3.13.3", None, Some("quorum"), None),
        ("3.13.4", None, Some("quorum"), Some("classic")),
        ("4.0.0", Some("classic"), Some("quorum"), Some("classic")),
    ] {
        assert_eq!(stored(version, None, &fits).as_deref(), none, "{version}");
        assert_eq!(stored(version, Some("quorum"), &fits).as_deref(), fitting, "{version}");
        assert_eq!(stored(version, Some("quorum"), &unfit).as_deref(), not_fitting, "{version}");
    }
    // "undefined" is stored as it is, and then differs from the default that it meant.
    let undefined = queue(arguments([("x-queue-type", Value::text("undefined"))]));
    assert!(redeclared(&conditions(V40), &undefined, &fits).ends_with("received 'classic' but current is 'undefined'"));
    assert_eq!(
        created(V310, &undefined),
        "406 PRECONDITION_FAILED - invalid arg 'x-queue-type' for queue 'q' in vhost 'v': \"unsupported queue type \
         'undefined'\""
    );
}

#[test]
fn a_stream_s_age_is_compared_as_a_duration_from_4_3_6_on() {
    let age =
        |text: &str| queue(arguments([("x-queue-type", Value::text("stream")), ("x-max-age", Value::text(text))]));
    let difference = |version: &str, current: &str, received: &str| {
        let answer = redeclared(&conditions(version), &age(current), &age(received));
        answer.split_once("vhost 'v': ").map_or(answer.clone(), |(_, rest)| rest.to_owned())
    };
    assert_eq!(difference("4.3.5", "1D", "24h"), "received '24h' but current is '1D'");
    assert_eq!(difference(V43, "1D", "24h"), "ok");
    assert_eq!(difference(V43, "1D", "2D"), "received '172800000' but current is '86400000'");
    assert_eq!(difference(V43, "1D", "xyz"), "received 'xyz' but current is '86400000'");
    let without = queue(arguments([("x-queue-type", Value::text("stream"))]));
    assert!(
        redeclared(&conditions(V43), &age("1D"), &without)
            .ends_with("received none but current is the value '86400000' of type 'longstr'")
    );
}

#[test]
fn exclusiveness_comes_first_and_locks() {
    const LOCKED: &str = "405 RESOURCE_LOCKED - cannot obtain exclusive access to locked queue 'q' in vhost 'v'. It could \
                          be originally declared on another connection or the exclusive property value does not match \
                          that of the original declaration.";
    let plain = queue(Table::new());
    let exclusive = QueueDeclaration { exclusive: true, auto_delete: true, ..plain.clone() };
    for version in ALL {
        let conditions = conditions(version);
        assert_eq!(redeclared(&conditions, &plain, &exclusive), LOCKED);
        assert_eq!(redeclared(&conditions, &exclusive, &plain), LOCKED);
        let other = Some(ExistingQueue { declaration: &exclusive, owner: Owner::Another });
        assert_eq!(said(declare_queue(&conditions, other, &exclusive)), LOCKED);
        assert_eq!(said(declare_queue_passively(&conditions, other, "q")), LOCKED);
        // It is stored transient, so its owner may say either.
        let transient = QueueDeclaration { durable: false, ..exclusive.clone() };
        assert_eq!(redeclared(&conditions, &exclusive, &transient), "ok");
        assert!(!declare_queue(&conditions, None, &exclusive).unwrap().durable);
    }
}

/// rabbitmq.md 1.4.
#[test]
fn a_relaxed_broker_lets_a_quorum_queue_be_redeclared_as_classic() {
    let mut relaxed = conditions(V40);
    relaxed.relaxed_quorum_redeclare = true;
    let quorum = queue(arguments([("x-queue-type", Value::text("quorum")), ("x-delivery-limit", Value::I32(3))]));
    let request = QueueDeclaration { durable: false, exclusive: true, auto_delete: true, ..queue(Table::new()) };
    assert_eq!(redeclared(&relaxed, &quorum, &request), "ok");
    assert!(redeclared(&relaxed, &quorum, &request.clone().with("x-message-ttl", 5)).contains("'x-message-ttl'"));
    // Before 4.0 no type is injected, so both tables must name theirs.
    relaxed.version = Version::new(3, 13, 7);
    assert!(redeclared(&relaxed, &quorum, &queue(Table::new())).contains("'x-queue-type'"));
    assert_eq!(redeclared(&relaxed, &quorum, &request.with("x-queue-type", "classic")), "ok");
}

#[test]
fn a_new_queue_is_checked_in_the_broker_s_order() {
    let quorum = |entries: &[(&str, Value)]| {
        let mut queue = queue(arguments([("x-queue-type", Value::text("quorum"))]));
        for (name, value) in entries {
            queue.arguments.insert(*name, value.clone());
        }
        queue
    };
    let invalid = |argument: &str, why: &str| {
        format!("406 PRECONDITION_FAILED - invalid arg '{argument}' for queue 'q' in vhost 'v'{why}")
    };
    // A bad value before a foreign argument before a property.
    let mut request = quorum(&[("x-max-priority", Value::I32(5)), ("x-message-ttl", Value::I32(-1))]);
    request.auto_delete = true;
    for version in [V310, V40, V43] {
        assert_eq!(created(version, &request), invalid("x-message-ttl", ": {value_negative,-1}"));
        let mut request = request.clone();
        request.arguments.remove("x-message-ttl");
        assert_eq!(created(version, &request), invalid("x-max-priority", " of queue type rabbit_quorum_queue"));
        request.arguments.remove("x-max-priority");
        assert_eq!(
            created(version, &request),
            "406 PRECONDITION_FAILED - invalid property 'auto-delete' for queue 'q' in vhost 'v'"
        );
    }
    assert_eq!(created(V38, &quorum(&[("x-overflow", Value::text("drop-head"))])), invalid("x-overflow", ""));
    // A dead-letter exchange of the wrong type comes before everything, in words of its own.
    let request = quorum(&[("x-expires", Value::I32(0)), ("x-dead-letter-exchange", Value::I32(5))]);
    assert_eq!(
        created(V43, &request),
        "406 PRECONDITION_FAILED - invalid type 'signedint' for arg 'x-dead-letter-exchange' in queue 'q' in vhost 'v'"
    );
}

#[test]
fn values_are_refused_in_the_broker_s_words() {
    let why = |version: &str, argument: &str, value: Value| {
        let answer = created(version, &queue(arguments([(argument, value)])));
        answer.split_once("vhost 'v': ").map_or(answer.clone(), |(_, why)| why.to_owned())
    };
    for (argument, value, said) in [
        ("x-expires", Value::I32(0), "{value_zero,0}"),
        ("x-message-ttl", Value::I64(315_576_000_000), "{value_too_large,315576000000}"),
        ("x-message-ttl", Value::I64(4_294_967_295), "ok"),
        ("x-message-ttl", Value::Void, "\"expected integer, got void\""),
        ("x-message-ttl", Value::Timestamp(5), "\"expected integer, got timestamp\""),
        ("x-max-priority", Value::I32(256), "{max_value_exceeded,256}"),
        ("x-overflow", Value::I32(1), "{unacceptable_type,signedint}"),
        ("x-overflow", Value::text("drop"), "invalid_overflow"),
        ("x-dead-letter-routing-key", Value::text("a"), "routing_key_but_no_dlx_defined"),
        ("x-queue-version", Value::I32(3), "\"unsupported queue version '3'\""),
        ("x-single-active-consumer", Value::text("true"), "{unacceptable_type,longstr}"),
        ("x-queue-type", Value::text("bogus"), "\"unsupported queue type 'bogus'\""),
        ("x-queue-type", Value::Binary(b"classic".to_vec()), "{unacceptable_type,binary}"),
        ("x-max-length", Value::F64(5.0), "\"expected integer, got double\""),
    ] {
        for version in [V310, V40, V43] {
            assert_eq!(why(version, argument, value.clone()), said, "{argument} on {version}");
        }
    }
    assert_eq!(why(V38, "x-max-length", Value::text("5")), "{unacceptable_type,longstr}");
    assert_eq!(why(V38, "x-queue-type", Value::text("bogus")), "invalid_queue_type");
    assert_eq!(why(V40, "x-queue-mode", Value::text("bogus")), "\"unsupported queue mode 'bogus'\"");
    assert_eq!(why(V43, "x-queue-mode", Value::text("bogus")), "ok");
    assert_eq!(why(V40, "x-queue-version", Value::I32(1)), "ok");
    assert_eq!(why(V43, "x-queue-version", Value::I32(1)), "\"unsupported queue version '1'\"");
    // The text inside is printed as numbers where it is not Latin-1.
    assert!(why(V40, "x-queue-type", Value::text("日")).starts_with("[117,110,115,117,112,112"));
}

#[test]
fn streams_check_their_sizes_last() {
    let stream = |argument: &str, value: i64| {
        queue(arguments([("x-queue-type", Value::text("stream")), (argument, Value::I64(value))]))
    };
    assert_eq!(
        created(V310, &stream("x-stream-max-segment-size-bytes", 3_000_000_001)),
        "406 PRECONDITION_FAILED - Exceeded max value for x-stream-max-segment-size-bytes"
    );
    let filter = stream("x-stream-filter-size-bytes", 15);
    assert_eq!(created(V310, &filter), "ok");
    assert_eq!(created(V40, &filter), "406 PRECONDITION_FAILED - Invalid value for  x-stream-filter-size-bytes");
    assert_eq!(created(V43, &filter), "406 PRECONDITION_FAILED - Invalid value for x-stream-filter-size-bytes");
    let age =
        |text: &str| queue(arguments([("x-queue-type", Value::text("stream")), ("x-max-age", Value::text(text))]));
    assert_eq!(created(V40, &age("xyz")), "connection: 541 INTERNAL_ERROR");
    assert!(created(V43, &age("xyz")).ends_with(": invalid_max_age"));
}

#[test]
fn denied_features_close_the_connection_and_are_named() {
    let locator = queue(arguments([("x-queue-master-locator", Value::text("bogus"))]));
    assert_eq!(created(V310, &locator), "connection: 541 INTERNAL_ERROR");
    assert_eq!(created(V40, &locator), "ok");
    assert_eq!(
        created(V43, &locator),
        "connection: 541 INTERNAL_ERROR - Feature `queue_master_locator` is deprecated.\nBy default, this feature is not \
         permitted anymore.\nThe feature will be removed from a future major RabbitMQ version, regardless of the \
         configuration; actual version to be determined.\nTo con..."
    );
    let transient = QueueDeclaration { durable: false, ..queue(Table::new()) };
    let mut upstream = conditions(V43);
    assert_eq!(said(declare_queue(&upstream, None, &transient)), "ok");
    upstream.transient_nonexclusive = false;
    let refused = said(declare_queue(&upstream, None, &transient));
    assert!(refused.starts_with("connection: 541 INTERNAL_ERROR - Feature `transient_nonexcl_queues` is deprecated."));
}

#[test]
fn names_are_stripped_reserved_or_made_up_by_the_broker() {
    for version in ALL {
        let conditions = conditions(version);
        assert_eq!(declare_queue(&conditions, None, &QueueDeclaration::durable("a\r\nb")).unwrap().name, "ab");
        assert_eq!(
            created(version, &QueueDeclaration::durable("amq.foo")),
            "403 ACCESS_REFUSED - queue name 'amq.foo' contains reserved prefix 'amq.*'"
        );
        for fine in ["amq", "AMQ.foo", "amqfoo", "amq.rabbitmq.reply-to"] {
            assert_eq!(created(version, &QueueDeclaration::durable(fine)), "ok", "{fine}");
        }
        assert_eq!(
            said(declare_queue_passively(&conditions, None, "amq.foo")),
            "404 NOT_FOUND - no queue 'amq.foo' in vhost 'v'"
        );
        assert_eq!(created(version, &QueueDeclaration::durable("")), "ok");
    }
    let named = |version: &str, kind: &str| created(version, &QueueDeclaration::durable("").with("x-queue-type", kind));
    assert_eq!(
        named(V310, "quorum"),
        "406 PRECONDITION_FAILED - Cannot declare a server-named queue for type rabbit_quorum_queue"
    );
    assert_eq!(named(V38, "quorum"), "ok");
    assert_eq!(named(V40, "bogus"), "connection: 541 INTERNAL_ERROR");
    assert_eq!(named(V43, "bogus"), "406 PRECONDITION_FAILED - unknown queue type 'bogus'");
    assert_eq!(named(V43, ""), "ok");
    assert_eq!(said(short_string(b"a\xff").map(str::len)), "connection: 501 FRAME_ERROR - Malformed UTF-8 in shortstr");
}

#[test]
fn texts_are_cut_as_each_version_cuts_them() {
    let missing = |version: &str, name: &str| said(declare_queue_passively(&conditions(version), None, name));
    let long = "n".repeat(255);
    for version in ALL {
        assert_eq!(missing(version, &long), format!("404 NOT_FOUND - no queue '{}...", "n".repeat(230)));
    }
    let umlauts = "ü".repeat(127);
    assert_eq!(missing(V310, &umlauts), format!("404 NOT_FOUND - no queue '{}...", "ü".repeat(115)));
    assert_eq!(missing(V40, &umlauts), "connection: 541 INTERNAL_ERROR");
    // In the middle of a character.
    assert_eq!(
        missing(V310, &format!("n{umlauts}")),
        format!("404 NOT_FOUND - no queue 'n{}\u{fffd}...", "ü".repeat(114))
    );
    // rabbitmq.md 0.5, from source: characters above 255 crash in between, and those below leave as single bytes.
    assert_eq!(missing("3.13.7", "日"), "connection: 541 INTERNAL_ERROR");
    assert_eq!(missing("3.13.7", "ü"), "404 NOT_FOUND - no queue '\u{fffd}' in vhost 'v'");
    assert_eq!(missing(V43, "größe-日本-😀"), "404 NOT_FOUND - no queue 'größe-日本-😀' in vhost 'v'");
}

#[test]
fn rights_are_asked_for_in_order_and_named_from_3_12_on() {
    let limited = |version: &str| {
        let mut conditions = conditions(version);
        conditions.user = "limited".to_owned();
        conditions.permissions = Permissions::new("^mine-", "^mine-", "^mine-").unwrap();
        conditions
    };
    let declare = |version: &str, name: &str, dlx: Option<&str>| {
        let mut request = QueueDeclaration::durable(name).with("x-message-ttl", -1);
        if let Some(dlx) = dlx {
            request.arguments.insert("x-dead-letter-exchange", dlx);
        }
        said(declare_queue(&limited(version), None, &request))
    };
    let refused = |what: &str| format!("403 ACCESS_REFUSED - {what} in vhost 'v' refused for user 'limited'");
    for (version, configure, write) in [(V310, "", ""), (V40, "configure ", "write ")] {
        assert_eq!(declare(version, "yours", None), refused(&format!("{configure}access to queue 'yours'")));
        assert_eq!(declare(version, "mine-q", Some("yours")), refused(&format!("{write}access to exchange 'yours'")));
        assert_eq!(declare(version, "mine-q", Some("")), refused(&format!("{write}access to exchange 'amq.default'")));
        assert!(declare(version, "mine-q", Some("mine-x")).ends_with("{value_negative,-1}"));
    }
    let passive = |version: &str| said(declare_queue_passively(&limited(version), None, "yours"));
    assert_eq!(passive("4.2.5"), "404 NOT_FOUND - no queue 'yours' in vhost 'v'");
    assert_eq!(passive(V43), refused("configure access to queue 'yours'"));
    // rabbitmq.md 7.1: `configure` alone in 4.2.6 and 4.3.0, any of the three afterwards.
    for (version, enough) in [("4.2.6", false), ("4.2.7", true), ("4.3.0", false), ("4.3.1", true)] {
        let mut reader = conditions(version);
        reader.permissions = Permissions::new("", "", ".*").unwrap();
        let answer = said(declare_queue_passively(&reader, None, "yours"));
        assert_eq!(answer.starts_with("404"), enough, "{version}: {answer}");
    }
}

#[test]
fn limits_come_before_the_arguments_until_3_12_and_after_them_from_3_13_on() {
    let limited = |version: &str, request: &QueueDeclaration| {
        let mut conditions = conditions(version);
        conditions.queue_limit = Some(Limit { maximum: 1, declared: 1 });
        said(declare_queue(&conditions, None, request))
    };
    let reached = "406 PRECONDITION_FAILED - cannot declare queue 'q': queue limit in vhost 'v' (1) is reached";
    let bad = queue(arguments([("x-message-ttl", Value::I32(-1))]));
    assert_eq!(limited(V310, &bad), reached);
    assert!(limited(V40, &bad).ends_with("{value_negative,-1}"));
    assert_eq!(limited(V40, &queue(Table::new())), reached);
    let mut exclusive_quorum = queue(arguments([("x-queue-type", Value::text("quorum"))]));
    exclusive_quorum.exclusive = true;
    assert_eq!(limited(V43, &exclusive_quorum), reached);
}

#[test]
fn exchanges_are_refused_by_type_name_and_difference() {
    let declare = |version: &str, existing: Option<&ExchangeDeclaration>, request: &ExchangeDeclaration| {
        said(declare_exchange(&conditions(version), existing, request))
    };
    let direct = ExchangeDeclaration::durable("x", "direct");
    let bogus = ExchangeDeclaration::durable("x", "bogus");
    assert_eq!(declare(V310, Some(&direct), &bogus), "connection: 503 COMMAND_INVALID - unknown exchange type 'bogus'");
    assert_eq!(declare(V40, Some(&direct), &bogus), "406 PRECONDITION_FAILED - unknown exchange type 'bogus'");
    let empty = ExchangeDeclaration::durable("x", "");
    assert_eq!(declare(V40, None, &empty), "406 PRECONDITION_FAILED - invalid exchange type ''");
    for version in ALL {
        let default = ExchangeDeclaration::durable("", "fanout");
        let refused = "403 ACCESS_REFUSED - operation not permitted on the default exchange";
        assert_eq!(declare(version, None, &default), refused);
        assert_eq!(said(declare_exchange_passively(&conditions(version), Some(&default), "")), refused);
        let reserved = ExchangeDeclaration::durable("amq.foo", "direct");
        assert_eq!(
            declare(version, None, &reserved),
            "403 ACCESS_REFUSED - exchange name 'amq.foo' contains reserved prefix 'amq.*'"
        );
        // What exists is compared, whatever its name.
        assert_eq!(declare(version, Some(&reserved), &reserved), "ok");
        let other = ExchangeDeclaration { durable: false, auto_delete: true, internal: true, ..direct.clone() };
        assert_eq!(
            declare(version, Some(&direct), &other),
            "406 PRECONDITION_FAILED - inequivalent arg 'durable' for exchange 'x' in vhost 'v': received 'false' but \
             current is 'true'"
        );
        let alternate = direct.clone().with("alternate-exchange", "a");
        assert!(
            declare(version, Some(&alternate), &direct)
                .ends_with("received none but current is the value 'a' of type 'longstr'")
        );
        assert_eq!(declare(version, Some(&direct.clone().with("x-foo", 1)), &direct), "ok");
    }
    // rabbitmq.md 1.2, from source: a type is an atom, and one with dashes is quoted.
    let mut with_plugin = conditions(V40);
    with_plugin.plugin_exchange_types.push("x-delayed-message".to_owned());
    let delayed = ExchangeDeclaration::durable("x", "x-delayed-message");
    assert!(
        said(declare_exchange(&with_plugin, Some(&direct), &delayed))
            .ends_with("received ''x-delayed-message'' but current is 'direct'")
    );
}

#[test]
fn a_binding_is_refused_for_what_is_missing_the_source_first() {
    let conditions = conditions(V43);
    let binding = BindingDeclaration::queue("x", "q", "#.#.#");
    let topic = ExchangeDeclaration::durable("x", "topic");
    assert_eq!(said(bind(&conditions, &binding, None, false, false)), "404 NOT_FOUND - no exchange 'x' in vhost 'v'");
    assert_eq!(
        said(bind(&conditions, &binding, Some(&topic), false, false)),
        "404 NOT_FOUND - no queue 'q' in vhost 'v'"
    );
    let hashes = "406 PRECONDITION_FAILED - Topic binding key '#.#.#' uses 3 '#' wildcards, at most 2 are allowed";
    assert_eq!(said(bind(&conditions, &binding, Some(&topic), true, true)), hashes);
    let older = Conditions::new(Version::new(4, 3, 4), "v");
    assert!(said(bind(&older, &binding, Some(&topic), true, true)).starts_with("405 RESOURCE_LOCKED"));
}
