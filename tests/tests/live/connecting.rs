//! Opening a connection: what the broker tells, and every reason not to get one as a sentence.

use crate::{LIMITS, client, run, url};
use acemq_core::rabbitmq::Product;
use acemq_live::{BrokerUrl, Client, ConnectError, ConnectFailure, Limits};
use acemq_tests::on_every_broker;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

fn failure(url: BrokerUrl, limits: Limits) -> ConnectError {
    match run(Client::connect(url, "acemq live tests", limits)) {
        Ok(_) => panic!("connected"),
        Err(error) => error,
    }
}

/// A port of its own on which `serve` talks to every client.
fn port_where(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let serve = Arc::new(serve);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let serve = Arc::clone(&serve);
            // A second look must not wait until the first connection is gone.
            thread::spawn(move || serve(stream.unwrap()));
        }
    });
    port
}

on_every_broker! {
    fn the_brokers_greeting_tells_product_and_version(node) {
        run(async {
            let client = client(&node.amqp_url()).await;
            assert_eq!(client.broker().product, Product::RabbitMq);
            assert_eq!(client.broker().version, Some(node.version()));
            client.close().await;
        });
    }

    fn a_wrong_password_is_said_so(node) {
        let url = url(&format!("amqp://guest:sesame99@127.0.0.1:{}", node.amqp_port()));
        let error = failure(url, LIMITS);
        assert_eq!(error.failure, ConnectFailure::LoginRefused { user: "guest".to_owned() });
        assert_eq!(
            error.to_string(),
            format!(
                "cannot connect to amqp://guest:***@127.0.0.1:{}/: the broker refused the login of user \"guest\"; check \
                 user and password, and mind that guest may only log in from the broker's own machine",
                node.amqp_port()
            )
        );
    }

    fn a_missing_vhost_and_one_without_rights_are_told_apart(node) {
        let missing = url(&format!("amqp://127.0.0.1:{}/no%22such", node.amqp_port()));
        let missing = failure(missing, LIMITS);
        assert_eq!(missing.failure, ConnectFailure::VhostMissing { vhost: "no\"such".to_owned() });

        let vhost = node.fresh_vhost();
        let elsewhere = node.fresh_vhost();
        elsewhere.user("stranger", ".*", ".*", ".*");
        let address = format!("amqp://stranger:stranger@127.0.0.1:{}/{}", node.amqp_port(), vhost.name());
        let refused = failure(url(&address), LIMITS);
        let (vhost, user) = (vhost.name().to_owned(), "stranger".to_owned());
        assert_eq!(refused.failure, ConnectFailure::VhostRefused { vhost, user });
    }

    fn a_connection_limit_is_quoted(node) {
        let vhost = node.fresh_vhost();
        vhost.set_limit("max-connections", 0);
        let error = failure(url(&vhost.amqp_url()), LIMITS);
        let ConnectFailure::Refused { code: 530, text } = &error.failure else { panic!("{error}") };
        assert!(text.contains("limit"), "{text}");
    }

    fn the_management_port_is_recognised(node) {
        // It waits for the end of what it takes for a request, so the first attempt takes its whole limit.
        let limits = Limits { connect: Duration::from_secs(5), ..LIMITS };
        let error = failure(url(&format!("amqp://127.0.0.1:{}", node.management_port())), limits);
        assert!(error.to_string().contains("a web server answers on that port"), "{error}");
    }

    fn tls_asked_of_a_plain_port_is_recognised(node) {
        let error = failure(url(&format!("amqps://127.0.0.1:{}", node.amqp_port())), LIMITS);
        assert!(error.to_string().contains("that port speaks no TLS; write amqp://"), "{error}");
    }
}

#[test]
fn nothing_on_the_port_and_no_such_host_are_told_apart() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let error = failure(url(&format!("amqp://127.0.0.1:{free}")), LIMITS);
    assert_eq!(error.failure, ConnectFailure::NotListening { port: free });
    let error = failure(url("amqp://no-such-host.invalid"), LIMITS);
    assert_eq!(error.failure, ConnectFailure::HostUnknown { host: "no-such-host.invalid".to_owned() });
}

#[test]
fn a_port_that_never_answers_costs_one_limit() {
    let port = port_where(|mut stream| {
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let started = Instant::now();
    let limits = Limits { connect: Duration::from_secs(1), ..LIMITS };
    let error = failure(url(&format!("amqp://127.0.0.1:{port}")), limits);
    assert_eq!(error.failure, ConnectFailure::Timeout { after: Duration::from_secs(1) });
    // It is one limit and a second look, not a wait without end.
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
}

#[test]
fn what_speaks_another_language_is_named() {
    for (words, sentence) in [
        (&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], "a web server answers on that port"),
        (b"AMQP\x03\x01\x00\x00", "the broker does not speak AMQP 0-9-1"),
        (b"\x15\x03\x03\x00\x02\x02\x46", "that port speaks TLS; write amqps://"),
        (b"SSH-2.0-OpenSSH_9.2p1\r\n", "what answers on that port is no AMQP broker"),
        (b"", "the connection was closed without a word"),
    ] {
        let port = port_where(move |mut stream| {
            let _ = stream.read(&mut [0; 8]);
            let _ = stream.write_all(words);
        });
        let error = failure(url(&format!("amqp://u:sesame99@127.0.0.1:{port}")), LIMITS);
        assert!(error.to_string().contains(sentence), "{error}");
        assert!(!format!("{error} {error:?}").contains("sesame99"));
    }
}
