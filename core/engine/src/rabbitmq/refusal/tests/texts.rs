//! One text for each thing that brokers say.

use super::{Known, Printed, Refusal, RefusalClass, RefusedKind, Side, printed, read, typed};
use RefusalClass::{AccessRefused, Inequivalent, Locked, NotImplemented, Other};

/// Each line: code, class and kind | name | vhost | argument | text. A dash is nothing, `\n` a line end.
fn check(expected: &str) {
    for line in expected.lines().filter(|line| !line.is_empty()) {
        let [head, name, vhost, argument, text] = *line.splitn(5, " | ").collect::<Vec<_>>() else { panic!("{line}") };
        let [code, class, kind] = *head.split(' ').collect::<Vec<_>>() else { panic!("{line}") };
        let text = text.replace("\\n", "\n");
        let refusal = read(code.parse().unwrap(), &text);
        let or_dash = |field: &Option<String>| field.clone().unwrap_or_else(|| "-".to_owned());
        assert_eq!((refusal.class.name(), refusal.kind.map_or("-", RefusedKind::name)), (class, kind), "{text}");
        assert_eq!(
            [or_dash(&refusal.name), or_dash(&refusal.vhost), or_dash(&refusal.argument)],
            [name, vhost, argument],
            "{text}"
        );
        assert!(!refusal.truncated, "{text}");
        assert!(!refusal.says().is_empty() && !refusal.says().contains(['{', '[', '…']), "{text}: {}", refusal.says());
    }
}

#[test]
fn what_rabbitmq_says_to_declarations() {
    check(
        r#"
406 inequivalent queue | q-ttl | probe | x-message-ttl | PRECONDITION_FAILED - inequivalent arg 'x-message-ttl' for queue 'q-ttl' in vhost 'probe': received '2000' but current is '1000'
406 inequivalent exchange | x-t | probe | type | PRECONDITION_FAILED - inequivalent arg 'type' for exchange 'x-t' in vhost 'probe': received 'fanout' but current is 'direct'
406 invalid queue | q | / | x-max-length | PRECONDITION_FAILED - invalid arg 'x-max-length' for queue 'q' in vhost '/': {value_negative,-1}
406 invalid queue | q | / | x-max-priority | PRECONDITION_FAILED - invalid arg 'x-max-priority' for queue 'q' in vhost '/' of queue type rabbit_quorum_queue
406 invalid queue | q | / | x-expires | PRECONDITION_FAILED - invalid arg 'x-expires' for queue 'q' in vhost '/'
406 invalid queue | q | / | auto-delete | PRECONDITION_FAILED - invalid property 'auto-delete' for queue 'q' in vhost '/'
406 invalid queue | q | / | x-dead-letter-exchange | PRECONDITION_FAILED - invalid type 'signedint' for arg 'x-dead-letter-exchange' in queue 'q' in vhost '/'
406 invalid exchange | e | / | alternate-exchange | PRECONDITION_FAILED - invalid type 'signedint' for arg 'alternate-exchange' in exchange 'e' in vhost '/'
406 invalid queue | - | - | - | PRECONDITION_FAILED - Cannot declare a server-named queue for type rabbit_stream_queue
406 invalid queue | - | - | x-name-prefix | PRECONDITION_FAILED - Queue name prefix 'abc' exceeds the 64-byte limit
406 invalid queue | - | - | x-queue-type | PRECONDITION_FAILED - unknown queue type 'bogus'
406 invalid queue | - | - | x-stream-max-segment-size-bytes | PRECONDITION_FAILED - Exceeded max value for x-stream-max-segment-size-bytes
406 invalid queue | - | - | x-stream-filter-size-bytes | PRECONDITION_FAILED - Invalid value for  x-stream-filter-size-bytes
406 invalid queue | - | - | x-stream-filter-size-bytes | PRECONDITION_FAILED - Invalid value for x-stream-filter-size-bytes
406 invalid queue | - | - | x-stream-filter-size-bytes | PRECONDITION_FAILED - Invalid type for x-stream-filter-size-bytes
503 invalid exchange | - | - | type | COMMAND_INVALID - unknown exchange type 'bogus'
406 invalid exchange | - | - | type | PRECONDITION_FAILED - invalid exchange type ''
406 invalid exchange | - | - | x-delayed-type | PRECONDITION_FAILED - Invalid argument, 'x-delayed-type' must be an existing exchange type
403 invalid queue | amq.foo | - | - | ACCESS_REFUSED - queue name 'amq.foo' contains reserved prefix 'amq.*'
403 invalid exchange | amq. | - | - | ACCESS_REFUSED - exchange name 'amq.' contains reserved prefix 'amq.*'
403 invalid exchange | amq.x | / | - | exchange 'amq.x' in vhost '/' starts with reserved prefix 'amq.'
403 invalid exchange | - | - | - | ACCESS_REFUSED - operation not permitted on the default exchange
406 invalid queue | q | / | - | PRECONDITION_FAILED - cannot declare queue 'q': queue limit in vhost '/' (10) is reached
406 invalid queue | q | - | - | PRECONDITION_FAILED - cannot declare queue 'q': queue limit in cluster (10) is reached
406 invalid exchange | e | / | - | PRECONDITION_FAILED - cannot declare exchange 'e' in vhost '/': exchange limit of 10 is reached
541 invalid queue | - | - | - | INTERNAL_ERROR - Feature `transient_nonexcl_queues` is deprecated.\nBy default, this feature is not permitted anymore.
541 invalid queue | - | - | x-queue-master-locator | INTERNAL_ERROR - Feature `queue_master_locator` is deprecated.\nBy default, this feature is not permitted anymore.
541 invalid - | - | - | - | INTERNAL_ERROR - Feature `global_qos` is deprecated.
"#,
    );
}

#[test]
fn what_rabbitmq_says_to_bindings_and_deletions() {
    check(
        r#"
406 invalid binding | - | - | x-match | PRECONDITION_FAILED - Invalid x-match field value <<"some">>; expected all, any, all-with-x, or any-with-x
406 invalid binding | - | - | x-match | PRECONDITION_FAILED - Invalid x-match field value <<"some">>; expected all or any
406 invalid binding | - | - | x-match | PRECONDITION_FAILED - Invalid x-match field type signedint (value 5); expected longstr
406 invalid binding | - | - | - | PRECONDITION_FAILED - Topic binding key '#.#.#' uses 3 '#' wildcards, at most 2 are allowed
406 invalid binding | - | - | - | PRECONDITION_FAILED - Non empty binding 'k' key not permitted
406 invalid binding | - | - | - | PRECONDITION_FAILED - Queue type rabbit_quorum_queue not valid for this exchange type
403 invalid exchange | amq.topic | / | - | ACCESS_REFUSED - deletion of system exchange 'amq.topic' in vhost '/' not allowed
405 locked queue | q | / | - | RESOURCE_LOCKED - Cannot delete protected queue 'q' in vhost '/'.
406 not_empty queue | q-full | / | - | PRECONDITION_FAILED - queue 'q-full' in vhost '/' not empty
406 in_use queue | q-used | / | - | PRECONDITION_FAILED - queue 'q-used' in vhost '/' in use
406 in_use exchange | e | / | - | PRECONDITION_FAILED - exchange 'e' in vhost '/' in use
403 in_use queue | q | / | - | ACCESS_REFUSED - queue 'q' in vhost '/' in exclusive use
540 not_implemented queue | q | / | - | NOT_IMPLEMENTED - cannot delete queue 'q' in vhost '/'. queue.delete operations with if-unused flag set are not supported by quorum queues
540 not_implemented queue | q | / | - | NOT_IMPLEMENTED - queue.purge not supported by stream queues queue 'q' in vhost '/'
540 not_implemented queue | q | / | - | NOT_IMPLEMENTED - basic.get not supported by stream queues queue 'q' in vhost '/'
540 not_implemented - | - | - | - | NOT_IMPLEMENTED - immediate=true
"#,
    );
}

#[test]
fn what_rabbitmq_says_when_something_is_missing_locked_or_out_of_reach() {
    check(
        r#"
404 not_found queue | q | / | - | NOT_FOUND - no queue 'q' in vhost '/'
404 not_found exchange | e | / | - | NOT_FOUND - no exchange 'e' in vhost '/'
404 not_found queue | - | - | - | NOT_FOUND - no previously declared queue
530 not_found vhost | - | nope | - | NOT_ALLOWED - vhost nope not found
530 not_found vhost | - |  | - | NOT_ALLOWED - vhost  not found
404 unavailable queue | q | / | - | NOT_FOUND - home node 'rabbit@a' of durable queue 'q' in vhost '/' is down or inaccessible
404 unavailable queue | q | / | - | NOT_FOUND - queue 'q' in vhost '/' process is stopped by supervisor
404 unavailable queue | q | / | - | NOT_FOUND - queue 'q' in vhost '/' has crashed and failed to restart
404 unavailable queue | q | / | - | NOT_FOUND - failed to perform operation on queue 'q' in vhost '/' due to timeout
404 unavailable queue | q | / | - | NOT_FOUND - failed to perform operation on queue 'q' in vhost '/': its leader <0.1.0> may be stopping or being demoted
404 unavailable queue | q | / | - | NOT_FOUND - failed to perform operation on queue 'q' in vhost '/': its master replica <0.1.0> may be stopping or being demoted
541 unavailable queue | q | / | - | INTERNAL_ERROR - Cannot declare quorum queue 'q' in vhost '/' on node 'rabbit@a' with leader on node 'rabbit@b': {error,timeout}
541 unavailable queue | q | / | - | INTERNAL_ERROR - Could not declare queue 'q' in vhost '/' on node 'rabbit@a' because the metadata store operation timed out
541 unavailable queue | q | / | - | INTERNAL_ERROR - Could not delete quorum queue 'q' in vhost '/' on node 'rabbit@a' because the metadata store operation timed out
541 unavailable binding | - | - | - | INTERNAL_ERROR - Could not add binding due to timeout
541 unavailable exchange | direct | / | - | INTERNAL_ERROR - failed to declare exchange 'direct' in vhost '/' because the operation timed out
541 unavailable vhost | - | / | - | INTERNAL_ERROR - access to vhost '/' refused for user 'u': vhost '/' is down
320 unavailable connection | - | - | - | CONNECTION_FORCED - broker forced connection closure with reason 'shutdown'
405 locked queue | q | / | - | RESOURCE_LOCKED - cannot obtain exclusive access to locked queue 'q' in vhost '/'. It could be originally declared on another connection or the exclusive property value does not match that of the original declaration.
405 locked queue | q | / | - | RESOURCE_LOCKED - cannot obtain exclusive access to locked queue 'q' in vhost '/'
"#,
    );
}

#[test]
fn what_rabbitmq_says_about_permissions() {
    check(
        r#"
403 access_refused queue | q | / | - | ACCESS_REFUSED - access to queue 'q' in vhost '/' refused for user 'limited'
403 access_refused queue | q | / | - | ACCESS_REFUSED - configure access to queue 'q' in vhost '/' refused for user 'limited'
403 access_refused exchange | amq.default | / | - | ACCESS_REFUSED - write access to exchange 'amq.default' in vhost '/' refused for user 'limited'
403 access_refused queue | q | / | - | ACCESS_REFUSED - read access to queue 'q' in vhost '/' refused for user 'limited' by backend rabbit_auth_backend_http: denied
403 access_refused queue | q | / | - | ACCESS_REFUSED - access to queue 'q' in vhost '/' refused for user 'limited' by backend rabbit_auth_backend_http: denied
403 access_refused exchange | e | / | - | ACCESS_REFUSED - access to topic 'a.b' in exchange exchange 'e' in vhost '/' refused for user 'limited'
403 access_refused exchange | e | / | - | ACCESS_REFUSED - write access to topic 'a.b' in exchange exchange 'e' in vhost '/' refused for user 'limited'
403 access_refused exchange | e | / | - | ACCESS_REFUSED - write access to topic 'a.b' in exchange exchange 'e' in vhost '/' refused for user 'limited' by backend x: denied
403 access_refused exchange | e | / | - | ACCESS_REFUSED - access to topic 'a.b' in exchange exchange 'e' in vhost '/' refused for user 'limited' by backend x: denied
530 access_refused vhost | - | probe | - | NOT_ALLOWED - access to vhost 'probe' refused for user 'limited'
530 access_refused vhost | - | probe | - | NOT_ALLOWED - access to vhost 'probe' refused for user 'limited': connection limit (5) is reached
403 access_refused connection | - | - | - | ACCESS_REFUSED - Login was refused using authentication mechanism PLAIN. For details see the broker logfile.
403 invalid exchange | e | / | - | ACCESS_REFUSED - cannot publish to internal exchange 'e' in vhost '/'
"#,
    );
}

#[test]
fn what_rabbitmq_says_about_messages_consumers_and_the_protocol() {
    check(
        r#"
406 invalid queue | q | / | - | PRECONDITION_FAILED - consumer prefetch count is not set for 'queue 'q' in vhost '/''
406 invalid queue | q | / | - | PRECONDITION_FAILED - consumer prefetch count is not set for stream queue 'q' in vhost '/'
406 invalid queue | q | / | - | PRECONDITION_FAILED - consumer prefetch count is not set for queue 'q' in vhost '/'
406 invalid - | - | - | - | PRECONDITION_FAILED - invalid expiration '5x': {leftover_string,"x"}
406 invalid - | - | - | - | PRECONDITION_FAILED - invalid message: {unacceptable_type_in_header,"CC",longstr}
406 invalid - | - | - | - | PRECONDITION_FAILED - user_id property set to 'bob' but authenticated user was 'guest'
406 invalid - | - | - | - | PRECONDITION_FAILED - message size 200 is larger than configured max size 100
406 invalid - | - | - | - | PRECONDITION_FAILED - unknown delivery tag 99
406 other - | - | - | - | PRECONDITION_FAILED - delivery acknowledgement on channel 2 timed out. Timeout value used: 3600000 ms. This timeout value can be configured
530 invalid - | - | - | - | NOT_ALLOWED - attempt to reuse consumer tag 't'
530 invalid connection | - | - | - | NOT_ALLOWED - number of channels opened (10) has reached the negotiated channel_max (10)
501 invalid connection | - | - | - | FRAME_ERROR - Malformed UTF-8 in shortstr
504 invalid connection | - | - | - | CHANNEL_ERROR - expected 'channel.open'
504 invalid connection | - | - | - | CHANNEL_ERROR - second 'channel.open' seen
541 other - | - | - | - | INTERNAL_ERROR
312 other - | - | - | - | NO_ROUTE
"#,
    );
}

#[test]
fn what_older_brokers_say() {
    check(
        r#"
406 inequivalent queue | soamon.requests-dead | soamon | x-message-ttl | PRECONDITION_FAILED - inequivalent arg 'x-message-ttl'for queue 'soamon.requests-dead' in vhost 'soamon': received the value '900000' of type 'longstr' but current is none
406 inequivalent queue | php_52cc14ecebb576.01794390 | / | - | PRECONDITION_FAILED - parameters for queue 'php_52cc14ecebb576.01794390' in vhost '/' not equivalent
406 inequivalent exchange | xxxx_exchang | xxxx | - | PRECONDITION_FAILED - cannot redeclare exchange 'xxxx_exchang' in vhost 'xxxx' with different type, durable, internal or autodelete value
406 inequivalent exchange | e | / | - | PRECONDITION_FAILED - cannot redeclare exchange 'e' in vhost '/' with different type, durable or autodelete value
"#,
    );
}

#[test]
fn what_lavinmq_says() {
    check(
        r#"
406 inequivalent queue | q | - | - | PRECONDITION_FAILED - Existing queue 'q' declared with other arguments
406 inequivalent exchange | reiterate-topic | - | - | PRECONDITION_FAILED - Existing exchange 'reiterate-topic' declared with other arguments
406 inequivalent exchange | - | - | - | PRECONDITION_FAILED - Existing exchange declared with other arguments
400 inequivalent queue | - | - | - | Existing queue declared with other arguments arg
405 locked queue | - | - | - | RESOURCE_LOCKED - Exclusive queue
405 locked queue | - | - | - | RESOURCE_LOCKED - Not an exclusive queue
405 locked queue | q | - | - | RESOURCE_LOCKED - Queue 'q' is exclusive
404 not_found queue | q | - | - | NOT_FOUND - Queue 'q' doesn't exists
404 not_found exchange | e | - | - | NOT_FOUND - Exchange 'e' doesn't exists
404 not_found queue | q | - | - | NOT_FOUND - Queue 'q' not found
406 invalid queue | - | - | - | PRECONDITION_FAILED - Queue name isn't valid
403 invalid - | - | - | - | ACCESS_REFUSED - Prefix ["mqtt.", "amq."] forbidden, please choose another name
403 invalid exchange | - | - | - | ACCESS_REFUSED - Not allowed to declare the default exchange
403 invalid queue | - | / | - | ACCESS_REFUSED - queue limit in vhost '/' (3) is reached
406 invalid - | - | - | x-message-ttl | PRECONDITION_FAILED - x-message-ttl header not an integer
406 invalid - | - | - | x-overflow | PRECONDITION_FAILED - x-overflow header not a string
406 invalid - | - | - | x-single-active-consumer | PRECONDITION_FAILED - x-single-active-consumer header not a boolean
406 invalid - | - | - | x-expires | PRECONDITION_FAILED - x-expires header less than minimum value 1
406 invalid - | - | - | x-max-priority | PRECONDITION_FAILED - x-max-priority header greater than maximum value 255
406 invalid - | - | - | x-dead-letter-routing-key | PRECONDITION_FAILED - x-dead-letter-exchange required if x-dead-letter-routing-key is defined
406 invalid binding | - | - | x-match | PRECONDITION_FAILED - x-match must be 'any' or 'all'
406 unavailable queue | - | - | - | PRECONDITION_FAILED - Server low on disk space, can not create queue
403 access_refused exchange | e | - | - | ACCESS_REFUSED - User doesn't have permissions to declare exchange 'e'
403 access_refused queue | q | - | - | ACCESS_REFUSED - User 'bob' doesn't have permissions to delete queue 'q'
403 access_refused queue | q | - | - | ACCESS_REFUSED - User doesn't have permissions to queue 'q'
403 access_refused exchange | e | - | - | ACCESS_REFUSED - User doesn't have read permissions to exchange 'e'
403 access_refused exchange | e | - | - | ACCESS_REFUSED - User not allowed to publish to exchange 'e'
406 not_empty queue | q | - | - | PRECONDITION_FAILED - Queue 'q' is not empty
406 in_use exchange | e | - | - | PRECONDITION_FAILED - Exchange 'e' in use
"#,
    );
}

#[test]
fn the_forms_of_a_value() {
    let sides = |sides: &str| {
        let text = format!("PRECONDITION_FAILED - inequivalent arg 'x-a' for queue 'q' in vhost '/': received {sides}");
        let refusal = read(406, &text);
        assert_eq!(refusal.class, Inequivalent, "{text}");
        (refusal.received, refusal.current, refusal.absent)
    };
    let both = |a: Printed, b: Printed| (Some(a), Some(b), None);
    assert_eq!(sides("'30000' but current is '60000'"), both(printed("30000"), printed("60000")));
    assert_eq!(
        sides("none but current is the value '60000' of type 'signedint'"),
        (None, Some(typed("60000", "signedint")), Some(Side::Received))
    );
    assert_eq!(
        sides("the value 'dlx' of type 'longstr' but current is none"),
        (Some(typed("dlx", "longstr")), None, Some(Side::Current))
    );
    // A void value.
    assert_eq!(sides("none but current is '60000'"), (None, Some(printed("60000")), Some(Side::Received)));
    // What old brokers and web pages show.
    assert_eq!(
        sides("the value '1' of type 'signedint' but current is the value '2' of type 'long'"),
        both(typed("1", "signedint"), typed("2", "long"))
    );
    assert_eq!(sides("the value '1' but current is the value '2'"), both(printed("1"), printed("2")));
    assert_eq!(
        sides("'default' of type 'longstr' but current is none"),
        (Some(typed("default", "longstr")), None, Some(Side::Current))
    );
    // Values that hold quotes, or words of the text itself.
    assert_eq!(sides("'oth'er' but current is 'd'l\"x'"), both(printed("oth'er"), printed("d'l\"x")));
    assert_eq!(sides("'a' of type 'b' but current is 'c'"), both(printed("a' of type 'b"), printed("c")));
    assert_eq!(sides("'' but current is ''"), both(printed(""), printed("")));
    // Erlang breaks long terms into lines.
    assert_eq!(
        sides("'[{<<\"a\">>,signedint,1},\n {<<\"b\">>,longstr,<<\"x\">>}]' but current is '1'"),
        both(printed("[{<<\"a\">>,signedint,1},\n {<<\"b\">>,longstr,<<\"x\">>}]"), printed("1"))
    );
    assert_eq!(
        sides("''x-delayed-message'' but current is 'direct'"),
        both(printed("'x-delayed-message'"), printed("direct"))
    );
    // One quote cannot both open and close a value.
    let lame = "PRECONDITION_FAILED - inequivalent arg 'x' for queue 'q' in vhost '/': received ' but current is 'b'";
    assert_eq!(read(406, lame).class, Other);
}

#[test]
fn a_complaint_gives_the_value_that_it_prints() {
    let received = |error: &str| {
        let text = format!("PRECONDITION_FAILED - invalid arg 'x-a' for queue 'q' in vhost '/': {error}");
        read(406, &text).received
    };
    assert_eq!(received("{value_negative,-22000}"), Some(printed("-22000")));
    assert_eq!(received("{value_zero,0}"), Some(printed("0")));
    assert_eq!(received("{value_too_large,315360000001}"), Some(printed("315360000001")));
    assert_eq!(received("{max_value_exceeded,256}"), Some(printed("256")));
    assert_eq!(received("\"unsupported queue type 'bo'gus'\""), Some(printed("bo'gus")));
    assert_eq!(received("\"unsupported queue version '3'\""), Some(printed("3")));
    assert_eq!(received("\"expected integer, got longstr\""), None);
    assert_eq!(received("{unacceptable_type,longstr}"), None);
    assert_eq!(received("invalid_overflow"), None);
    assert_eq!(read(406, "PRECONDITION_FAILED - unknown exchange type 'di'rect'").received, Some(printed("di'rect")));
}

#[test]
fn only_two_texts_prove_that_something_is_not_there() {
    let proves = |code, text: &str| read(code, text).proves_absence();
    assert!(proves(404, "NOT_FOUND - no queue 'q' in vhost '/'"));
    assert!(proves(404, "NOT_FOUND - no exchange 'e' in vhost '/'"));
    for text in [
        "NOT_FOUND - no previously declared queue",
        "NOT_FOUND - home node 'rabbit@a' of durable queue 'q' in vhost '/' is down or inaccessible",
        "NOT_FOUND - queue 'q' in vhost '/' process is stopped by supervisor",
        "NOT_FOUND - failed to perform operation on queue 'q' in vhost '/' due to timeout",
        "NOT_FOUND - Queue 'q' doesn't exists",
        "NOT_FOUND - no queue 'q' in vhost '/' on this node",
        "NOT_FOUND",
        "NOT_FOUND - something new",
    ] {
        assert!(!proves(404, text), "{text}");
    }
    assert!(!proves(406, "PRECONDITION_FAILED - no queue 'q' in vhost '/'"));
}

#[test]
fn names_with_quotes_are_anchored_on_what_is_known() {
    let name = "it's 'x' in vhost '/': received 'a";
    let vhost = "v' but current is 'h";
    let text = format!(
        "PRECONDITION_FAILED - inequivalent arg 'x-message-ttl' for queue '{name}' in vhost '{vhost}': received '1' but current is '2'"
    );
    let refusal = Refusal::read(Some(406), &text, Known { name: Some(name), vhost: Some(vhost) });
    assert_eq!(refusal.name.as_deref(), Some(name));
    assert_eq!(refusal.vhost.as_deref(), Some(vhost));
    assert_eq!((refusal.received, refusal.current), (Some(printed("1")), Some(printed("2"))));
}

#[test]
fn a_known_name_that_is_not_in_the_text_gives_way_to_the_one_that_is() {
    // A binding of a queue that exists to an exchange that does not.
    let text = "NOT_FOUND - no exchange 'events' in vhost 'v'";
    let refusal = Refusal::read(Some(404), text, Known { name: Some("orders"), vhost: Some("v") });
    assert_eq!((refusal.name.as_deref(), refusal.kind), (Some("events"), Some(RefusedKind::Exchange)));
}

#[test]
fn a_known_name_is_found_as_the_broker_prints_it() {
    // Line ends are taken out of names.
    let text = "NOT_FOUND - no queue 'ab' in vhost '/'";
    let refusal = Refusal::read(Some(404), text, Known { name: Some("a\r\nb"), vhost: None });
    assert_eq!(refusal.name.as_deref(), Some("ab"));
    // 3.12 to 4.0.4 send characters up to U+00FF as single bytes, which a client shows as U+FFFD.
    let text = "NOT_FOUND - no queue 'gr\u{fffd}\u{fffd}e' in vhost '/'";
    let refusal = Refusal::read(Some(404), text, Known { name: Some("größe"), vhost: None });
    assert_eq!(refusal.name.as_deref(), Some("größe"));
}

#[test]
fn unknown_words_keep_the_class_of_their_code() {
    for (code, class) in [(403, AccessRefused), (405, Locked), (540, NotImplemented), (404, Other), (406, Other)] {
        let refusal = read(code, "SOMETHING_NEW - words of a later version");
        assert_eq!((refusal.class, refusal.code), (class, Some(code)));
        assert!(refusal.says().contains(&code.to_string()), "{}", refusal.says());
    }
}
