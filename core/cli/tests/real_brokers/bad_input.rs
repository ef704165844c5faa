//! What is no broker, no management API or no user of it: one sentence that says so, exit code 5, and never a password.

use crate::{Ran, acemq};
use acemq_tests::on_every_broker;
use serde_json::json;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;

const DOCUMENT: &str = "acemq: 1\nqueues: { q: {} }\n";

/// The one sentence of a command that found no broker.
fn sentence(ran: &Ran) -> &str {
    assert_eq!((ran.code, ran.out.as_str()), (5, ""), "{}", ran.err);
    assert!(!ran.err.contains("sesame99"), "{}", ran.err);
    let sentence = ran.err.strip_prefix("acemq: ").unwrap().strip_suffix('\n').unwrap();
    assert!(!sentence.contains('\n'), "{sentence}");
    sentence
}

/// A web server that answers every request alike; its port.
fn page(answer: &'static str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    port
}

/// Every command that takes a management API, with this one.
fn with_management(url: &str) -> Vec<Ran> {
    vec![
        acemq(&["plan", "-", "--management", url], "", DOCUMENT),
        acemq(&["drift", "-", "--management", url], "", DOCUMENT),
        acemq(&["plan", "-", "--management", url, "--vhosts", "*"], "", DOCUMENT),
        acemq(&["apply", "-", "--management", url], "amqp://127.0.0.1:1", DOCUMENT),
        acemq(&["plan", url, "--broker", "memory:"], "", ""),
        acemq(&["route", "--management", url, "--exchange", "e"], "", ""),
    ]
}

#[test]
fn an_ordinary_web_page_is_no_management_api() {
    let port = page(
        "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 13\r\nconnection: close\r\n\r\n<html></html>",
    );
    for ran in with_management(&format!("http://guest:sesame99@127.0.0.1:{port}")) {
        assert_eq!(
            sentence(&ran),
            format!(
                "cannot use the management API at http://guest:***@127.0.0.1:{port}: what answers there is no RabbitMQ \
                 management API; check host, port (15672, or 15671 with TLS) and path"
            )
        );
    }
}

#[test]
fn a_redirect_is_named_and_not_followed() {
    let port = page(
        "HTTP/1.1 301 Moved\r\nlocation: https://u:sesame99@sso.example/login?token=sesame99\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
    );
    for ran in with_management(&format!("http://guest:sesame99@127.0.0.1:{port}")) {
        assert!(
            sentence(&ran).ends_with(
                "it redirects to https://sso.example/login, which is not followed with credentials; give that address if it is \
                 the right one"
            ),
            "{}",
            ran.err
        );
    }
}

on_every_broker! {
    fn a_user_without_the_tag_and_one_with_a_wrong_password_are_told_apart(node) {
        node.management().put("/api/users/untagged", &json!({"password": "sesame99", "tags": ""})).unwrap();
        let port = node.management_port();
        for ran in with_management(&format!("http://untagged:sesame99@127.0.0.1:{port}")) {
            assert_eq!(
                sentence(&ran),
                format!(
                    "cannot use the management API at http://untagged:***@127.0.0.1:{port}: user \"untagged\" may not use the \
                     management API; give it a tag with `rabbitmqctl set_user_tags untagged management`"
                )
            );
        }
        let wrong = acemq(&["drift", "-", "--management", &format!("http://guest:sesame99@127.0.0.1:{port}")], "", DOCUMENT);
        assert!(sentence(&wrong).ends_with("the login of user \"guest\" was refused; check user and password"), "{}", wrong.err);
    }

    fn ports_that_were_mixed_up_are_recognised(node) {
        let (amqp, management) = (node.amqp_port(), node.management_port());
        let as_amqp = acemq(&["drift", "-"], &format!("amqp://guest:sesame99@127.0.0.1:{management}"), DOCUMENT);
        assert!(sentence(&as_amqp).contains("a web server answers on that port"), "{}", as_amqp.err);
        for ran in with_management(&format!("http://guest:sesame99@127.0.0.1:{amqp}")) {
            assert!(sentence(&ran).contains("no RabbitMQ management API"), "{}", ran.err);
        }
    }
}
