//! The management API: a vhost's whole state, policies, and every reason not to get them.

use crate::{LIMITS, client, run};
use acemq_core::definitions::{self, Overrides};
use acemq_core::rabbitmq::{BindingDeclaration, ExchangeDeclaration, PolicyDeclaration, Product, QueueDeclaration};
use acemq_core::state::{DefaultTypeOrigin, State};
use acemq_core::value::{Table, Value};
use acemq_live::{Limits, Management, ManagementError, ManagementFailure};
use acemq_tests::broker::{Node, Vhost};
use acemq_tests::management::path_segment;
use acemq_tests::on_every_broker;
use serde_json::json;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

fn api(url: &str) -> Management {
    Management::new(url.parse().unwrap(), LIMITS).unwrap()
}

fn api_of(node: &Node, user: &str, password: &str) -> Management {
    api(&format!("http://{user}:{password}@127.0.0.1:{}/", node.management_port()))
}

fn exported(vhost: &Vhost<'_>) -> State {
    let mut export = vhost.definitions();
    // The export of one vhost does not say which version wrote it in every version.
    export["rabbitmq_version"] = json!(vhost.node().version().to_string());
    let definitions = definitions::read(export.to_string().as_bytes()).unwrap();
    definitions.state(Some(vhost.name()), &Overrides::default()).unwrap()
}

fn policy(name: &str, priority: i64) -> PolicyDeclaration {
    PolicyDeclaration {
        name: name.to_owned(),
        pattern: "^orders\\.".to_owned(),
        apply_to: "queues".to_owned(),
        priority,
        definition: Table::from([("max-length", Value::from(100_000)), ("overflow", Value::from("reject-publish"))]),
    }
}

on_every_broker! {
    fn the_state_of_a_vhost_is_what_its_export_says_and_what_exports_leave_out(node) {
        let vhost = node.fresh_vhost();
        vhost.set_limit("max-queues", 500);
        run(async {
            let amqp = client(&vhost.amqp_url()).await;
            for queue in [
                QueueDeclaration::durable("orders.new").with("x-message-ttl", 60000).with("x-dead-letter-exchange", "dlx"),
                QueueDeclaration::durable("orders.quorum").with("x-queue-type", "quorum").with("x-delivery-limit", Value::I32(5)),
                QueueDeclaration::durable("audit").with("x-queue-type", "stream").with("x-max-age", "7D"),
                QueueDeclaration { auto_delete: true, ..QueueDeclaration::durable("passing") },
                QueueDeclaration::durable("odd \"name\" / é %").with("x-max-length", Value::U8(7)),
                QueueDeclaration { durable: false, exclusive: true, ..QueueDeclaration::durable("mine") },
            ] {
                amqp.declare_queue(&queue).await.unwrap();
            }
            let internal = ExchangeDeclaration { internal: true, ..ExchangeDeclaration::durable("inner", "fanout") };
            let with_alternate = ExchangeDeclaration::durable("events", "topic").with("alternate-exchange", "inner");
            for exchange in [&internal, &with_alternate, &ExchangeDeclaration::durable("by-header", "headers")] {
                amqp.declare_exchange(exchange).await.unwrap();
            }
            let arguments = Table::from([("x-match", Value::from("any")), ("n", Value::F64(1.5)), ("flag", Value::Bool(true))]);
            for binding in [
                BindingDeclaration::queue("events", "orders.new", "order.*"),
                BindingDeclaration::exchange("events", "inner", "#"),
                BindingDeclaration { arguments, ..BindingDeclaration::queue("by-header", "audit", "") },
            ] {
                amqp.bind(&binding).await.unwrap();
            }
            let management = api(&node.management_url());
            management.set_policy(vhost.name(), &policy("limits", 100_000)).await.unwrap();
            let path = format!("/api/operator-policies/{}/guard", path_segment(vhost.name()));
            let guard = json!({"pattern": ".*", "apply-to": "queues", "definition": {"message-ttl": 86_400_000}});
            node.management().put(&path, &guard).unwrap();

            let state = management.state(vhost.name()).await.unwrap();
            assert_eq!((&state.broker.product, state.broker.version), (&Product::RabbitMq, Some(node.version())));
            assert!(state.known.queues && state.known.exchanges && state.known.bindings && state.known.policies);
            assert!(state.exclusive_queues_visible && state.internal_exchanges_visible);
            assert_eq!(state.queue_limit, Some(500));
            assert_eq!(state.policies, [policy("limits", 100_000)]);
            assert_eq!(state.operator_policies[0].name, "guard");
            assert_eq!(state.exchanges.keys().collect::<Vec<_>>(), ["by-header", "events", "inner"]);
            assert!(state.exchanges["inner"].internal);
            assert!(state.queues["mine"].exclusive && !state.queues["orders.new"].exclusive);

            let mut from_export = exported(&vhost);
            let mut visible = state.clone();
            visible.queues.remove("mine");
            visible.exclusive_queues_visible = false;
            // Left out of exports from 4.2.9 and 4.3.3 on.
            from_export.exchanges.insert("inner".to_owned(), internal.clone());
            from_export.internal_exchanges_visible = true;
            // The export of one vhost does not show its settings before 4.0; the list of vhosts does.
            if from_export.default_type_origin == DefaultTypeOrigin::Unknown {
                from_export.default_type_origin = visible.default_type_origin;
            }
            assert_eq!(visible, from_export);
        });
    }

    fn a_vhost_with_any_name_and_its_default_type_is_found(node) {
        let name = format!("team/{} ü%", std::process::id());
        node.vhost_with_default_queue_type(&name, "quorum");
        run(async {
            let management = api(&node.management_url());
            assert!(management.vhosts().await.unwrap().contains(&name));
            let state = management.state(&name).await.unwrap();
            assert_eq!(state.default_queue_type.as_deref(), Some("quorum"));
            assert!(state.queues.is_empty() && state.exchanges.is_empty() && state.bindings.is_empty());
            node.management().delete(&format!("/api/vhosts/{}", path_segment(&name))).unwrap();
            let error = management.state(&name).await.unwrap_err();
            assert_eq!(error.failure, ManagementFailure::VhostMissing { vhost: name.clone() });
        });
    }

    fn thousands_of_queues_are_one_answer(node) {
        let vhost = node.fresh_vhost();
        let queues: Vec<_> = (0..2000)
            .map(|n| json!({"name": format!("q{n}"), "durable": true, "auto_delete": false, "arguments": {"x-max-length": n}}))
            .collect();
        vhost.import(&json!({"queues": queues}));
        run(async {
            let state = api(&node.management_url()).state(vhost.name()).await.unwrap();
            assert_eq!(state.queues.len(), 2000);
            assert_eq!(state.queues["q1999"].arguments.get("x-max-length"), Some(&Value::from(1999)));
        });
    }

    fn whoever_may_not_use_the_api_is_told_why(node) {
        let vhost = node.fresh_vhost();
        let elsewhere = node.fresh_vhost();
        elsewhere.user("manager", "", "", "");
        node.management().put("/api/users/nobody", &json!({"password": "nobody", "tags": ""})).unwrap();
        run(async {
            let wrong = api_of(node, "guest", "sesame99").broker().await.unwrap_err();
            assert_eq!(wrong.failure, ManagementFailure::LoginRefused { user: "guest".to_owned() });
            assert!(!format!("{wrong} {wrong:?}").contains("sesame99"));
            let untagged = api_of(node, "nobody", "nobody").broker().await.unwrap_err();
            assert_eq!(untagged.failure, ManagementFailure::NotAManagementUser { user: "nobody".to_owned() });
            let manager = api_of(node, "manager", "manager");
            let foreign = manager.state(vhost.name()).await.unwrap_err();
            let (user, name) = ("manager".to_owned(), vhost.name().to_owned());
            // 4.3 shows no difference between a vhost that is not there and one that the user may not see.
            let hidden = node.version().at_least(4, 3, 0);
            let expected = if hidden {
                ManagementFailure::VhostMissing { vhost: name }
            } else {
                ManagementFailure::Forbidden { user: user.clone(), vhost: name }
            };
            assert_eq!(foreign.failure, expected);
            // The tag management is enough to read a vhost of one's own, and not for policies.
            let state = manager.state(elsewhere.name()).await.unwrap();
            assert!(state.known.queues && state.known.policies);
            let refused = manager.set_policy(elsewhere.name(), &policy("p", 0)).await.unwrap_err();
            assert_eq!(refused.failure, ManagementFailure::Forbidden { user, vhost: elsewhere.name().to_owned() });
        });
    }

    fn a_policy_is_set_changed_and_deleted_and_a_wrong_one_refused(node) {
        let vhost = node.fresh_vhost();
        run(async {
            let management = api(&node.management_url());
            for priority in [0, 0, 7] {
                management.set_policy(vhost.name(), &policy("a b/c", priority)).await.unwrap();
            }
            assert_eq!(management.state(vhost.name()).await.unwrap().policies, [policy("a b/c", 7)]);
            let mut wrong = policy("wrong", 0);
            wrong.definition.insert("max-lengthh", 5);
            let error = management.set_policy(vhost.name(), &wrong).await.unwrap_err();
            let ManagementFailure::Refused { status: 400, reason } = &error.failure else { panic!("{error}") };
            assert!(reason.contains("max-lengthh") && !reason.contains('\n') && !reason.contains("&lt;"), "{reason}");
            management.delete_policy(vhost.name(), "a b/c").await.unwrap();
            management.delete_policy(vhost.name(), "a b/c").await.unwrap();
            assert_eq!(management.state(vhost.name()).await.unwrap().policies, []);
        });
    }

    fn what_is_no_management_api_is_recognised(node) {
        run(async {
            let amqp = api(&format!("http://127.0.0.1:{}", node.amqp_port())).broker().await.unwrap_err();
            assert_eq!(amqp.failure, ManagementFailure::NotTheApi);
            let page = api(&format!("http://127.0.0.1:{}/js", node.management_port())).broker().await.unwrap_err();
            assert_eq!(page.failure, ManagementFailure::NotTheApi);
            let secured = api(&format!("https://127.0.0.1:{}", node.management_port())).broker().await.unwrap_err();
            assert!(secured.to_string().contains("that port speaks no TLS; write http://"), "{secured}");
        });
    }
}

/// A web server that gives every request the same answer and counts the requests that carry credentials.
fn page(answer: String) -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let logins = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&logins);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream: TcpStream = stream.unwrap();
            let mut request = vec![0; 4096];
            let length = stream.read(&mut request).unwrap_or(0);
            if String::from_utf8_lossy(&request[..length]).to_ascii_lowercase().contains("authorization:") {
                counter.fetch_add(1, Ordering::SeqCst);
            }
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    (port, logins)
}

fn broker_failure(url: &str, limits: Limits) -> ManagementError {
    run(async { Management::new(url.parse().unwrap(), limits).unwrap().broker().await.unwrap_err() })
}

#[test]
fn a_redirect_is_not_followed() {
    let (target, logins) = page("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n".to_owned());
    let location = format!("http://guest:sesame99@127.0.0.1:{target}/api/overview?token=sesame99");
    let (port, _) = page(format!("HTTP/1.1 302 Found\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n"));
    let error = broker_failure(&format!("http://127.0.0.1:{port}"), LIMITS);
    assert_eq!(
        error.to_string(),
        format!(
            "cannot use the management API at http://127.0.0.1:{port}: it redirects to http://127.0.0.1:{target}/api/overview, \
             which is not followed with credentials; give that address if it is the right one"
        )
    );
    assert_eq!(logins.load(Ordering::SeqCst), 0);
}

#[test]
fn an_ordinary_web_page_is_recognised() {
    for answer in [
        "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 13\r\n\r\n<html></html>",
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}",
        "HTTP/1.1 404 Not Found\r\ncontent-type: text/html\r\ncontent-length: 0\r\n\r\n",
        "SSH-2.0-OpenSSH_9.2p1\r\n",
    ] {
        let (port, _) = page(answer.to_owned());
        let error = broker_failure(&format!("http://127.0.0.1:{port}"), LIMITS);
        assert_eq!(error.failure, ManagementFailure::NotTheApi, "{answer}");
    }
}

#[test]
fn an_api_that_is_not_there_or_does_not_answer_costs_one_limit() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let error = broker_failure(&format!("http://127.0.0.1:{free}"), LIMITS);
    assert!(error.to_string().contains("nothing listens on port"), "{error}");
    assert!(error.to_string().contains("rabbitmq-plugins enable rabbitmq_management"), "{error}");
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let limits = Limits { listing: Duration::from_secs(1), ..LIMITS };
    let error = broker_failure(&format!("http://127.0.0.1:{}", silent.local_addr().unwrap().port()), limits);
    assert_eq!(error.failure, ManagementFailure::Timeout { after: Duration::from_secs(1) });
}
