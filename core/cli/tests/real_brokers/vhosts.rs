//! Several vhosts in one call, and a live broker in place of a file.

use crate::acemq;
use acemq_tests::broker::{Node, Vhost};
use acemq_tests::management::path_segment;
use acemq_tests::on_every_broker;
use serde_json::{Value as Json, json};

const DOCUMENT: &str = "acemq: 1\nexchanges: { orders: { type: topic } }\nqueues:\n  recent: { type: classic, arguments: { x-message-ttl: 30000 \
                        } }\n  new: {}\nbindings:\n  - { queue: new, exchange: orders, routing_key: \"order.*\" }\n";

/// Three vhosts whose names begin alike, for one test: one empty, one as the document asks, one that drifted.
fn tenants<'a>(node: &'a Node, test: &str) -> (String, [Vhost<'a>; 3]) {
    let prefix = format!("{test}-{}/", std::process::id());
    let vhosts = ["drifted", "empty", "whole"].map(|name| node.vhost(&format!("{prefix}{name}")));
    let recent = |ttl: u32| json!({"name": "recent", "durable": true, "auto_delete": false, "arguments": {"x-message-ttl": ttl}});
    let new = json!({"name": "new", "durable": true, "auto_delete": false, "arguments": {"x-queue-type": "quorum"}});
    let orders = json!({"name": "orders", "type": "topic", "durable": true, "auto_delete": false, "internal": false, "arguments": {}});
    let binding = json!({"source": "orders", "destination": "new", "destination_type": "queue", "routing_key": "order.*", "arguments": {}});
    vhosts[0].import(&json!({"queues": [recent(60000)]}));
    vhosts[2].import(&json!({"queues": [recent(30000), new], "exchanges": [orders], "bindings": [binding]}));
    (prefix, vhosts)
}

/// The last block of a report: which vhosts are how.
fn closing(out: &str) -> &str {
    out.rsplit("\n\n").next().unwrap()
}

on_every_broker! {
    fn each_vhost_has_a_result_of_its_own(node) {
        let (prefix, [drifted, empty, whole]) = tenants(node, "plan");
        let management = node.management_url();
        let pattern = format!("{prefix}*");
        let planned = acemq(&["plan", "-", "--management", &management, "--vhosts", &pattern], "", DOCUMENT);
        assert_eq!((planned.code, planned.err.as_str()), (3, ""));
        assert_eq!(
            closing(&planned.out),
            format!(
                "3 vhosts\n  nothing to do: {}\n  only creations are left: {}\n  differs: {}\n",
                whole.name(), empty.name(), drifted.name()
            )
        );
        // Each block is what a plan of that vhost alone prints.
        for vhost in [&drifted, &empty, &whole] {
            let alone = acemq(&["plan", "-", "--management", &management, "--vhost", vhost.name()], "", DOCUMENT);
            assert!(planned.out.contains(&format!("vhost {}\n{}\n", vhost.name(), alone.out)), "{}", planned.out);
        }
        let json = acemq(&["plan", "-", "--management", &management, "--vhosts", &pattern, "--format", "json"], "", DOCUMENT);
        let document: Json = serde_json::from_str(&json.out).unwrap();
        let codes: Vec<_> = document["vhosts"].as_array().unwrap().iter().map(|vhost| vhost["exit_code"].as_i64().unwrap()).collect();
        assert_eq!((codes, document["exit_code"].as_i64()), (vec![3, 2, 0], Some(3)));
        assert_eq!(document["vhosts"][0]["plan"]["summary"]["drift"], 1);
        assert_eq!(document["vhosts"][1]["plan"]["broker"]["vhost"], empty.name());

        // The same over AMQP, which names vhosts but cannot list them.
        let names = [drifted.name(), whole.name()].join(",");
        let drift = acemq(&["drift", "-", "--vhosts", &names], &node.amqp_url(), DOCUMENT);
        assert_eq!((drift.code, drift.err.as_str()), (3, ""));
        let alone = acemq(&["drift", "-"], &drifted.amqp_url(), DOCUMENT);
        assert_eq!(
            drift.out,
            format!("vhost {0}\n{1}\n2 vhosts\n  nothing to do: {2}\n  differs: {0}\n", drifted.name(), alone.out, whole.name())
        );
    }

    fn a_vhost_that_cannot_be_had_does_not_hide_the_others(node) {
        let (prefix, [drifted, ..]) = tenants(node, "missing");
        let nowhere = format!("{prefix}nowhere");
        let names = format!("{nowhere},{}", drifted.name());
        for (options, broker) in [(vec!["--management", &*node.management_url()], ""), (vec![], &*node.amqp_url())] {
            let arguments = [&["drift", "-", "--vhosts", &names][..], &options].concat();
            let ran = acemq(&arguments, broker, DOCUMENT);
            assert_eq!(ran.code, 5, "{}", ran.out);
            assert!(ran.out.contains("drift: queue recent: "), "{}", ran.out);
            assert!(ran.out.contains(&format!("no vhost \"{nowhere}\"")), "{}", ran.out);
            assert_eq!(closing(&ran.out), format!("2 vhosts\n  differs: {}\n  cannot be had: {nowhere}\n", drifted.name()));
        }
        let none = acemq(&["drift", "-", "--management", &node.management_url(), "--vhosts", &format!("{nowhere}*")], "", DOCUMENT);
        assert_eq!((none.code, none.out.as_str()), (5, ""));
        assert!(none.err.starts_with(&format!("acemq: no vhost fits \"{nowhere}*\"; there are ")), "{}", none.err);
    }

    fn an_apply_in_several_vhosts_is_all_or_nothing_as_far_as_can_be_known(node) {
        let (prefix, [drifted, empty, whole]) = tenants(node, "apply");
        let management = node.management_url();
        let pattern = format!("{prefix}*");
        let arguments = ["apply", "-", "--management", &management, "--vhosts", &pattern];
        let before = empty.definitions();
        let refused = acemq(&arguments, &node.amqp_url(), DOCUMENT);
        assert_eq!((refused.code, refused.err.as_str()), (3, "acemq: nothing was declared in any of the vhosts\n"));
        assert!(refused.out.contains("acemq: nothing was declared: 1 queue differs from the broker\n"), "{}", refused.out);
        assert_eq!(empty.definitions(), before);

        let path = format!("/api/queues/{}/recent", path_segment(drifted.name()));
        node.management().delete(&path).unwrap();
        let applied = acemq(&arguments, &node.amqp_url(), DOCUMENT);
        assert_eq!((applied.code, applied.err.as_str()), (0, ""), "{}", applied.out);
        for (vhost, declared) in [(&drifted, "4 objects declared"), (&empty, "4 objects declared"), (&whole, "nothing to declare")] {
            let block = applied.out.split(&format!("vhost {}\n", vhost.name())).nth(1).unwrap();
            assert!(block.contains(declared), "{block}");
            assert_eq!(vhost.definitions()["queues"].as_array().unwrap().len(), 2);
        }
    }

    fn each_vhost_of_a_broker_is_audited_and_drawn(node) {
        let (prefix, [drifted, empty, whole]) = tenants(node, "audit");
        let management = node.management_url();
        let pattern = format!("{prefix}*");
        for place in [vec!["--management", &*management], vec![&*management]] {
            let audited = acemq(&[&["audit"], &place[..], &["--vhosts", &pattern, "--format", "json"]].concat(), "", "");
            assert_eq!((audited.code, audited.err.as_str()), (0, ""));
            let document: Json = serde_json::from_str(&audited.out).unwrap();
            let vhosts = document["vhosts"].as_array().unwrap();
            let names: Vec<_> = vhosts.iter().map(|vhost| vhost["vhost"].as_str().unwrap()).collect();
            assert_eq!(names, [drifted.name(), empty.name(), whole.name()]);
            // Each is what an audit of that vhost alone prints.
            for vhost in vhosts {
                let name = vhost["vhost"].as_str().unwrap();
                let alone = acemq(&["audit", "--management", &management, "--vhost", name, "--format", "json"], "", "");
                assert_eq!(vhost["audit"], serde_json::from_str::<Json>(&alone.out).unwrap());
            }
        }
        // A queue that nothing leads to is worth knowing: with that threshold it counts.
        let told = acemq(&["audit", &management, "--vhosts", &pattern, "--severity", "info"], "", "");
        assert_eq!(told.code, 3);
        assert!(closing(&told.out).ends_with(&format!("\n  no findings: {}\n", empty.name())), "{}", told.out);
        let drawn = acemq(&["graph", "--management", &management, "--vhosts", &pattern], "", "");
        assert_eq!((drawn.code, drawn.err.as_str()), (0, ""));
        for (vhost, clusters) in [(&drifted, 1), (&empty, 0), (&whole, 1)] {
            assert_eq!(drawn.out.matches(&format!("label=\"vhost {} on ", vhost.name())).count(), clusters, "{}", drawn.out);
        }
    }

    fn what_one_broker_holds_is_planned_against_another(node) {
        let (_, [drifted, empty, whole]) = tenants(node, "from");
        let management = node.management_url();
        let from = |from: &Vhost<'_>, to: &Vhost<'_>| {
            acemq(&["plan", &management, "--from-vhost", from.name(), "--management", &management, "--vhost", to.name()], "", "")
        };
        assert_eq!(from(&whole, &whole).code, 0);
        assert_eq!(from(&empty, &whole).code, 0);
        let new = from(&whole, &empty);
        assert_eq!((new.code, new.err.as_str()), (2, ""));
        assert_eq!(
            new.out,
            "topology plan:\n  create   exchange orders (topic)\n  create   queue new (quorum)\n  create   queue recent (classic)\n  \
             create   binding new <- orders [order.*]\n"
        );
        assert_eq!(from(&whole, &drifted).code, 3);
    }

    fn a_message_is_routed_by_the_bindings_of_a_live_broker(node) {
        let (_, [_, _, whole]) = tenants(node, "route");
        let management = node.management_url();
        let message = ["--exchange", "orders", "--key", "order.placed"];
        for place in [vec!["--management", &*management, "--vhost", whole.name()], vec![&*management, "--vhost", whole.name()]] {
            let ran = acemq(&[&["route"], &place[..], &message].concat(), "", "");
            assert_eq!((ran.code, ran.err.as_str(), ran.out.as_str()), (0, "", "new\n"));
        }
        let beside = acemq(&[&["route", "--management", &*management], &message[..]].concat(), &whole.amqp_url(), "");
        assert_eq!((beside.code, beside.out.as_str()), (0, "new\n"));
    }
}
