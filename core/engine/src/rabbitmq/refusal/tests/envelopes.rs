//! The same refusal as AMQP, clients, logs and the management API show it.

use super::{Known, Printed, Refusal, RefusalClass, Side, printed, read, typed};

/// Reads a text that shows its code itself, and checks that it is this inequivalence.
fn shows(text: &str, name: &str, vhost: &str, argument: &str, received: Option<Printed>, current: Option<Printed>) {
    let refusal = Refusal::read(None, text, Known::default());
    assert_eq!(refusal.class, RefusalClass::Inequivalent, "{text}");
    assert_eq!(refusal.code, Some(406), "{text}");
    assert_eq!(
        (refusal.name.as_deref(), refusal.vhost.as_deref(), refusal.argument.as_deref()),
        (Some(name), Some(vhost), Some(argument)),
        "{text}"
    );
    assert_eq!((refusal.received, refusal.current), (received, current), "{text}");
    assert!(refusal.text.starts_with("inequivalent arg"), "{}", refusal.text);
}

#[test]
fn java() {
    shows(
        "channel error; protocol method: #method<channel.close>(reply-code=406, reply-text=PRECONDITION_FAILED - inequivalent arg 'x-message-ttl' for queue 'queue1' in vhost '/': received '60000' but current is '100000', class-id=50, method-id=10)",
        "queue1",
        "/",
        "x-message-ttl",
        Some(printed("60000")),
        Some(printed("100000")),
    );
    shows(
        "com.rabbitmq.client.ShutdownSignalException: channel error; protocol method: #method<channel.close>(reply-code=406, reply-text=PRECONDITION_FAILED - inequivalent arg 'x-message-ttl' for queue 'spark_event_queue' in vhost '/': received none but current is the value '300000' of type 'long', class-id=50, method-id=10)\n\tat com.rabbitmq.client.impl.ChannelN.queueDeclare(ChannelN.java:962)",
        "spark_event_queue",
        "/",
        "x-message-ttl",
        None,
        Some(typed("300000", "long")),
    );
}

#[test]
fn dotnet() {
    shows(
        "RabbitMQ.Client.Exceptions.OperationInterruptedException: The AMQP operation was interrupted: AMQP close-reason, initiated by Peer, code=406, text='PRECONDITION_FAILED - inequivalent arg 'x-expires' for queue 'hfam.events.test' in vhost '/': received none but current is the value '2592000000' of type 'long'', classId=50, methodId=10\n   at RabbitMQ.Client.Impl.ModelBase.QueueDeclare(String queue)",
        "hfam.events.test",
        "/",
        "x-expires",
        None,
        Some(typed("2592000000", "long")),
    );
    shows(
        "The AMQP operation was interrupted: AMQP close-reason, initiated by Peer, code=406, text=\"PRECONDITION_FAILED - inequivalent arg 'auto_delete' for exchange 'bus-X1' in vhost '/': received 'false' but current is 'true'\", classId=40, methodId=10, cause=",
        "bus-X1",
        "/",
        "auto_delete",
        Some(printed("false")),
        Some(printed("true")),
    );
    // Wrapped by whoever pasted it.
    shows(
        "The AMQP operation was interrupted: AMQP close-reason, initiated by Peer, code=406, text='PRECONDITION_FAILED - \ninequivalent arg 'x-message-ttl' for queue 'DoBeDo' in vhost '/': \nreceived the value '20000' of type 'signedint' but current is none', classId=50, methodId=10\n",
        "DoBeDo",
        "/",
        "x-message-ttl",
        Some(typed("20000", "signedint")),
        None,
    );
}

#[test]
fn go() {
    shows(
        "Exception (406) Reason: \"PRECONDITION_FAILED - inequivalent arg 'durable' for queue 'publisher' in vhost '/': received 'false' but current is 'true'\"",
        "publisher",
        "/",
        "durable",
        Some(printed("false")),
        Some(printed("true")),
    );
    // %q escapes quotes, backslashes and what cannot be printed.
    shows(
        r#"Failed to declare a queue: Exception (406) Reason: "PRECONDITION_FAILED - inequivalent arg 'x-message-ttl' for queue 'q'u\"o\\te\x01' in vhost '/': received '2' but current is '1'""#,
        "q'u\"o\\te\u{1}",
        "/",
        "x-message-ttl",
        Some(printed("2")),
        Some(printed("1")),
    );
    // In a JSON log, itself in a compose log.
    shows(
        r#"forwarder_1  | {"level":"error","msg":"Failed to declare a queue:scheduled_posts: Exception (406) Reason: \"PRECONDITION_FAILED - inequivalent arg 'x-dead-letter-exchange' for queue 'scheduled_posts' in vhost 'tweebr_dev': received the value 'scheduled_posts-dead-letter' of type 'longstr' but current is none\"","time":"2019-10-30T07:22:49Z"}"#,
        "scheduled_posts",
        "tweebr_dev",
        "x-dead-letter-exchange",
        Some(typed("scheduled_posts-dead-letter", "longstr")),
        None,
    );
    // As this engine's own renderings print it: not escaped.
    shows(
        "acemq: cannot declare queue \"orders\": Exception (406) Reason: \"PRECONDITION_FAILED - inequivalent arg 'x-dead-letter-exchange' for queue 'orders' in vhost '/': received 'a\"b' but current is 'c'\"",
        "orders",
        "/",
        "x-dead-letter-exchange",
        Some(printed("a\"b")),
        Some(printed("c")),
    );
}

#[test]
fn python() {
    shows(
        r#"pika.exceptions.ChannelClosedByBroker: (406, "PRECONDITION_FAILED - inequivalent arg 'x-max-priority' for queue 'compute-worker' in vhost '/': received the value '10' of type 'signedint' but current is none")"#,
        "compute-worker",
        "/",
        "x-max-priority",
        Some(typed("10", "signedint")),
        None,
    );
    // With both quotes in it, Python quotes with ' and escapes that one.
    shows(
        r#"(406, 'PRECONDITION_FAILED - inequivalent arg \'x-dead-letter-exchange\' for queue \'q\' in vhost \'/\': received \'d"l\' but current is \'\xfc\'')"#,
        "q",
        "/",
        "x-dead-letter-exchange",
        Some(printed("d\"l")),
        Some(printed("ü")),
    );
    shows(
        "amqp.exceptions.PreconditionFailed: Queue.declare: (406) PRECONDITION_FAILED - inequivalent arg 'x-max-priority' for queue '**Q-Name**' in vhost '/': received none but current is the value '10' of type 'signedint'",
        "**Q-Name**",
        "/",
        "x-max-priority",
        None,
        Some(typed("10", "signedint")),
    );
}

#[test]
fn node_php_ruby_and_rust() {
    shows(
        "Error: Failed to create queue 'define-list-price.q' on connection 'default' with 'Error: Operation failed: QueueDeclare; 406 (PRECONDITION-FAILED) with message \"PRECONDITION_FAILED - inequivalent arg 'x-dead-letter-exchange' for queue 'define-list-price.q' in vhost '/': received the value 'dead-letter.ex' of type 'longstr' but current is none\"",
        "define-list-price.q",
        "/",
        "x-dead-letter-exchange",
        Some(typed("dead-letter.ex", "longstr")),
        None,
    );
    shows(
        "PHP Fatal error:  Uncaught PhpAmqpLib\\Exception\\AMQPProtocolChannelException: PRECONDITION_FAILED - inequivalent arg 'durable' for queue 'request-queue' in vhost '/': received 'true' but current is 'false' in /app/vendor/php-amqplib/AMQPChannel.php:188\nStack trace:\n#0 [internal function]",
        "request-queue",
        "/",
        "durable",
        Some(printed("true")),
        Some(printed("false")),
    );
    shows(
        "exception 'AMQPProtocolChannelException' with message 'PRECONDITION_FAILED - inequivalent arg 'x-max-priority' for queue 'msgs' in vhost '/': received the value '10' of type 'signedint' but current is none'",
        "msgs",
        "/",
        "x-max-priority",
        Some(typed("10", "signedint")),
        None,
    );
    shows(
        "sneakers[28891]: Unexpected error PRECONDITION_FAILED - inequivalent arg 'durable' for exchange 'figgy_events' in vhost '/': received 'false' but current is 'true'",
        "figgy_events",
        "/",
        "durable",
        Some(printed("false")),
        Some(printed("true")),
    );
    shows(
        "'406: PRECONDITION_FAILED - inequivalent arg 'durable' for queue 'q' in vhost '/': received 'false' but current is 'true'', (class_id = 50, method_id = 10)",
        "q",
        "/",
        "durable",
        Some(printed("false")),
        Some(printed("true")),
    );
    shows(
        "{utf8,<<\"PRECONDITION_FAILED - inequivalent arg 'durable' for queue 'QueueQ' in vhost 'dev': received 'false' but current is 'true'\">>}",
        "QueueQ",
        "dev",
        "durable",
        Some(printed("false")),
        Some(printed("true")),
    );
}

#[test]
fn the_broker_log() {
    shows(
        "2022-07-22 09:42:14.389534+00:00 [error] <0.598.0> Channel error on connection <0.589.0> (10.0.2.5:41960 -> 10.0.2.2:5672, vhost: '/', user: 'app'), channel 1:\n2022-07-22 09:42:14.389534+00:00 [error] <0.598.0> operation queue.declare caused a channel exception precondition_failed: inequivalent arg 'durable' for queue 'rabbitmq_queue' in vhost '/': received 'false' but current is 'true'\n2022-07-22 09:42:14.404201+00:00 [warning] <0.589.0> closing AMQP connection",
        "rabbitmq_queue",
        "/",
        "durable",
        Some(printed("false")),
        Some(printed("true")),
    );
    shows(
        "{amqp_error,precondition_failed,\n            \"inequivalent arg 'alternate-exchange' for exchange 'alternate' in vhost '/': received 'somewhere' but current is 'UME'\",\n            'exchange.declare'}",
        "alternate",
        "/",
        "alternate-exchange",
        Some(printed("somewhere")),
        Some(printed("UME")),
    );
    // Connection exceptions are quoted, and escaped as Erlang does it.
    let text = r#"operation queue.delete caused a connection exception not_implemented: "cannot delete queue 'q\"q' in vhost '/'. queue.delete operations with if-unused flag set are not supported by quorum queues""#;
    let refusal = Refusal::read(None, text, Known::default());
    assert_eq!((refusal.class, refusal.code), (RefusalClass::NotImplemented, Some(540)));
    assert_eq!(refusal.name.as_deref(), Some("q\"q"));
    let text = "operation exchange.declare caused a connection exception internal_error: \"failed to declare exchange 'direct' in vhost '/' because the operation timed out\"";
    let refusal = Refusal::read(None, text, Known::default());
    assert_eq!((refusal.class, refusal.code), (RefusalClass::Unavailable, Some(541)));
    assert_eq!(refusal.name.as_deref(), Some("direct"));
}

#[test]
fn the_management_api_and_bare_words() {
    let text = r#"{"error":"bad_request","reason":"inequivalent arg 'x-message-ttl' for queue 'q' in vhost '/': received '2' but current is '1'"}"#;
    let refusal = Refusal::read(None, text, Known::default());
    assert_eq!(refusal.class, RefusalClass::Inequivalent);
    assert_eq!((refusal.code, refusal.current), (None, Some(printed("1"))));

    let text = "Error: inequivalent arg 'x-message-ttl' for queue 'q' in vhost '/': received none but current is the value '1' of type 'long' (see the log)";
    let refusal = Refusal::read(None, text, Known::default());
    assert_eq!(refusal.absent, Some(Side::Received));
    assert_eq!(refusal.current, Some(typed("1", "long")));
}

#[test]
fn a_plan_of_our_own_that_was_wrapped() {
    let text = "  DRIFT    queue orders.new (classic) — inequivalent arg 'x-message-ttl' for queue\n           'orders.new' in vhost '/': received the value '30000' but current is the\n           value '60000'\n";
    let refusal = Refusal::read(None, text, Known::default());
    assert_eq!(refusal.class, RefusalClass::Inequivalent);
    assert_eq!(refusal.name.as_deref(), Some("orders.new"));
    assert_eq!((refusal.received, refusal.current), (Some(printed("30000")), Some(printed("60000"))));
}

#[test]
fn a_queue_that_is_named_like_a_refusal_is_not_taken_for_one() {
    let refusal = read(404, "NOT_FOUND - no queue 'PRECONDITION_FAILED - queue 'x' in vhost '/' in use' in vhost '/'");
    assert_eq!(refusal.class, RefusalClass::NotFound);
    assert_eq!(refusal.code, Some(404));
}

#[test]
fn the_callers_code_goes_before_the_one_in_the_text() {
    assert_eq!(read(404, "PRECONDITION_FAILED - unknown delivery tag 1").code, Some(404));
    let refusal = Refusal::read(None, "PRECONDITION_FAILED - unknown delivery tag 1", Known::default());
    assert_eq!(refusal.code, Some(406));
}

#[test]
fn lines_of_input() {
    let text = "NOT_FOUND - no queue 'q' in vhost '/'";
    let json_string = serde_json::to_string(text).unwrap();
    let object = format!(r#"{{"code":404,"text":{json_string},"name":"q","vhost":"/"}}"#);
    let only_text = format!(r#"{{"text":{json_string},"name":null}}"#);
    for line in [text, json_string.as_str(), object.as_str(), only_text.as_str()] {
        let refusal = Refusal::read_line(line).unwrap();
        assert_eq!((refusal.class, refusal.name.as_deref()), (RefusalClass::NotFound, Some("q")), "{line}");
    }
    let http = r#"{"error":"bad_request","reason":"unknown exchange type 'x'"}"#;
    assert_eq!(Refusal::read_line(http).unwrap().class, RefusalClass::Invalid);
    let term = "{amqp_error,not_found,\"no queue 'q' in vhost '/'\",'queue.declare'}";
    assert_eq!(Refusal::read_line(term).unwrap().class, RefusalClass::NotFound);

    for (line, says) in [
        ("", "the line is empty"),
        ("   ", "the line is empty"),
        (r#"{"text":"x","nmae":"q"}"#, "unknown field `nmae`"),
        (r#"{"code":406}"#, "missing field `text`"),
        (r#"{"code":"406","text":"x"}"#, "invalid type"),
        (r#"{"code":70000,"text":"x"}"#, "invalid value"),
        (r#"{"text":"x","text":"y"}"#, "duplicate field `text`"),
        ("{}", "missing field `text`"),
    ] {
        let error = Refusal::read_line(line).unwrap_err().to_string();
        assert!(error.contains(says), "{line}: {error}");
        assert!(error.contains("a line is a refusal's text"), "{error}");
    }
}

#[test]
fn the_document_has_exactly_these_keys() {
    let text = "PRECONDITION_FAILED - inequivalent arg 'x-message-ttl' for queue 'orders.new' in vhost '/': received none but current is the value '60000' of type 'signedint'";
    assert_eq!(
        serde_json::to_string(&read(406, text).to_document()).unwrap(),
        r#"{"format":"acemq.refusal/1","class":"inequivalent","kind":"queue","name":"orders.new","vhost":"/","argument":"x-message-ttl","received":null,"current":{"value":"60000","type":"signedint"},"absent":"received","truncated":false,"says":"queue \"orders.new\" in vhost \"/\" has x-message-ttl 60000; the declaration does not set it"}"#
    );
    assert_eq!(
        serde_json::to_string(&read(541, "INTERNAL_ERROR").to_document()).unwrap(),
        r#"{"format":"acemq.refusal/1","class":"other","kind":null,"name":null,"vhost":null,"argument":null,"received":null,"current":null,"absent":null,"truncated":false,"says":"the broker crashed over this request and says no more (541 INTERNAL_ERROR); its log has the reason"}"#
    );
}
