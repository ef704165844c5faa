use super::keys::Area;
use super::*;
use crate::rabbitmq::{BindingDeclaration, Broker, ExchangeDeclaration, QueueDeclaration, Version};

fn vhost(queues: usize) -> State {
    let mut state = State::empty(Broker::rabbitmq(Version::new(4, 0, 5)), "/");
    state.insert_exchange(ExchangeDeclaration::durable("events", "topic"));
    state.insert_exchange(ExchangeDeclaration::durable("dead", "fanout"));
    state.insert_queue(QueueDeclaration::durable("keep"));
    state.bindings.insert(BindingDeclaration::queue("dead", "keep", ""));
    for number in 0..queues {
        let name = format!("q{number}");
        state.insert_queue(QueueDeclaration::durable(&name).with("x-dead-letter-exchange", "dead"));
        state.bindings.insert(BindingDeclaration::queue("events", &name, format!("k{number}.*")));
    }
    state
}

fn lost() -> State {
    let mut state = vhost(2);
    let queue = QueueDeclaration::durable("<\"lost\" & co>").with("x-dead-letter-exchange", "nowhere");
    state.insert_queue(queue);
    state
}

#[test]
fn dead_letters_and_retries_are_edges_of_their_own() {
    let mut state = vhost(1);
    let wait = QueueDeclaration::durable("wait")
        .with("x-message-ttl", 1_000)
        .with("x-dead-letter-exchange", "")
        .with("x-dead-letter-routing-key", "q0");
    state.insert_queue(wait);
    let graph = graph(&state, &Options::default(), false);
    let named = |number: usize| graph.nodes()[number].label();
    let mut edges: Vec<(String, EdgeKind, String)> =
        graph.edges().iter().map(|edge| (named(edge.from), edge.kind, named(edge.to))).collect();
    edges.sort_unstable();
    let edge = |from: &str, kind, to: &str| (from.to_owned(), kind, to.to_owned());
    assert_eq!(
        edges,
        [
            edge("dead", EdgeKind::Binding, "keep"),
            edge("events", EdgeKind::Binding, "q0"),
            edge("q0", EdgeKind::DeadLetter, "dead"),
            edge("wait", EdgeKind::Retry, "q0"),
        ]
    );
}

#[test]
fn what_is_missing_is_drawn_and_findings_mark_the_node() {
    let graph = graph(&lost(), &Options::default(), false);
    let node = graph.nodes().iter().find(|node| node.names[0].starts_with('<')).unwrap();
    assert_eq!(node.severity, Some(Severity::Error));
    assert!(graph.nodes().iter().any(|node| node.kind == NodeKind::Missing && node.label() == "nowhere"));
}

#[test]
fn five_hundred_queues_of_one_shape_are_one_node() {
    let drawn = graph(&vhost(500), &Options::default(), false);
    assert_eq!(drawn.nodes().len(), 4);
    let many = drawn.nodes().iter().find(|node| node.names.len() > 1).unwrap();
    assert_eq!(many.names.len(), 500);
    // One that differs stands apart.
    let mut state = vhost(500);
    state.insert_queue(QueueDeclaration::durable("odd").with("x-dead-letter-exchange", "nowhere"));
    let drawn = graph(&state, &Options::default(), false);
    assert!(drawn.nodes().iter().any(|node| node.label() == "odd"));
    assert_eq!(graph(&vhost(500), &Options::default(), true).nodes().len(), 503);
}

/// Names that want to break out of what they stand in.
const HOSTILE: [&str; 8] = [
    "</text></svg><script>alert(1)</script>",
    "\"' onload='alert(1)",
    "]]> <!-- --> &amp; &#60;",
    "\u{202e}gpj.exe\u{2066}",
    "javascript:alert(1)",
    "url(http://example.com/x)",
    "日本語のキュー",
    "a very long name that goes on and on, as names of generated queues do, until it is cut in its middle: 3f2a",
];

fn hostile() -> State {
    let mut state = vhost(2);
    for name in HOSTILE {
        let queue = QueueDeclaration::durable(name).with("x-dead-letter-exchange", name);
        state.insert_queue(queue);
        state.bindings.insert(BindingDeclaration::queue("events", name, name));
    }
    state
}

#[test]
fn every_form_holds_every_node_and_no_name_breaks_out() {
    let graph = graph(&hostile(), &Options::default(), true);
    let (svg, html) = (graph.to_svg(), graph.to_html());
    assert_eq!(svg.matches("<g class=\"node").count(), graph.nodes().len());
    assert_eq!(svg.matches("<g class=\"edge").count(), graph.edges().len());
    for markup in [&svg, &html] {
        assert!(!markup.contains("<script>alert") && !markup.contains("' onload") && !markup.contains('\u{202e}'));
        assert!(markup.contains("&lt;/text&gt;&lt;/svg&gt;&lt;script&gt;alert(1)&lt;/script&gt;"));
        assert!(markup.contains("\\u{202e}gpj.exe"));
        for element in ["g", "text", "title", "svg", "script", "li", "bdi"] {
            let opened =
                markup.matches(&format!("<{element} ")).count() + markup.matches(&format!("<{element}>")).count();
            assert_eq!(opened, markup.matches(&format!("</{element}>")).count(), "{element}");
        }
    }
    // Nothing is fetched: addresses stand only in names, and the one other is the name of the SVG namespace.
    let named = ["http://www.w3.org/2000/svg", "http://example.com/x", "http-equiv"];
    let own = named.iter().fold(html.clone(), |html, text| html.replace(text, ""));
    assert!(!own.contains("http") && !own.contains("src=") && !own.contains("@import") && !own.contains("fetch("));
    let policy = "content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\"";
    assert!(html.contains(policy));
    let dot = graph.to_dot();
    assert!(dot.contains("\\\"' onload='alert(1)"));
    assert_eq!(dot.matches(" -> n").count(), graph.edges().len());
    let mermaid = graph.to_mermaid();
    assert!(mermaid.contains("#60;/text#62;#60;/svg#62;#60;script#62;"));
    assert!(mermaid.lines().any(|line| line.starts_with("  class n") && line.ends_with(" error")));
}

/// Sorted so that a sweep finds every overlap of areas.
fn overlapping(areas: &[Area]) -> Option<(Area, Area)> {
    let mut sorted = areas.to_vec();
    sorted.sort_by_key(|area| area.left);
    for (index, one) in sorted.iter().enumerate() {
        let near = sorted.iter().skip(index + 1).take_while(|other| other.left < one.right);
        if let Some(other) = near.into_iter().find(|other| one.overlaps(other)) {
            return Some((*one, *other));
        }
    }
    None
}

/// Exchanges behind exchanges, services with dead letters, retries and faults, bindings across.
fn varied(services: usize) -> State {
    let mut state = vhost(0);
    for team in 0..10 {
        let exchange = format!("team-{team}");
        state.insert_exchange(ExchangeDeclaration::durable(&exchange, "topic"));
        state.bindings.insert(BindingDeclaration::exchange("events", &exchange, format!("team-{team}.#")));
    }
    for number in 0..services {
        let name = format!("team-{}.service-{number}.commands", number % 10);
        let mut queue = QueueDeclaration::durable(&name);
        if number % 3 == 0 {
            queue = queue.with("x-dead-letter-exchange", "dead");
        }
        if number % 7 == 0 {
            queue = queue.with("x-dead-letter-exchange", "nowhere");
        }
        state.insert_queue(queue);
        for team in [number % 10, number * number % 10] {
            let key = format!("team-{team}.event-{number}.#");
            state.bindings.insert(BindingDeclaration::queue(format!("team-{team}"), &name, key));
        }
        if number % 5 == 0 {
            let wait = QueueDeclaration::durable(format!("{name}.wait"))
                .with("x-message-ttl", 1_000)
                .with("x-dead-letter-exchange", "")
                .with("x-dead-letter-routing-key", name.as_str());
            state.insert_queue(wait);
        }
    }
    // A circle, a queue that dead-letters to itself, and what stands alone.
    let back = |name: &str, to: &str| {
        QueueDeclaration::durable(name).with("x-dead-letter-exchange", "").with("x-dead-letter-routing-key", to)
    };
    state.insert_queue(back("circle.work", "circle.wait"));
    state.insert_queue(back("circle.wait", "circle.work").with("x-message-ttl", 1_000));
    state.insert_queue(back("own", "own"));
    for number in 0..40 {
        state.insert_queue(QueueDeclaration::durable(format!("alone-{number}")));
    }
    state
}

#[test]
fn five_hundred_queues_stand_apart_inside_the_picture_and_no_line_crosses_a_box() {
    for state in [vhost(5), vhost(500), varied(500), hostile()] {
        let graph = graph(&state, &Options::default(), true);
        let layout = layout::layout(&graph);
        let boxes: Vec<Area> = layout
            .places
            .iter()
            .map(|place| Area {
                left: place.x,
                right: place.x + place.width,
                top: place.y,
                bottom: place.y + layout::HEIGHT,
            })
            .collect();
        assert_eq!(boxes.len(), graph.nodes().len());
        assert_eq!(overlapping(&boxes), None);
        let inside =
            |area: &Area| area.left >= 0 && area.top >= 0 && area.right <= layout.width && area.bottom <= layout.height;
        assert!(boxes.iter().all(inside));
        // Lines run level through a column, between its boxes.
        for way in &layout.ways {
            for (one, other) in way.iter().zip(way.iter().skip(1)).filter(|(one, other)| one.1 == other.1) {
                let (left, right) = (one.0.min(other.0), one.0.max(other.0));
                let line = Area { left: left + 1, right: right - 1, top: one.1, bottom: one.1 + 1 };
                let crossed = boxes.iter().find(|area| area.left > left && area.right < right && area.overlaps(&line));
                assert_eq!(crossed, None, "{line:?}");
            }
        }
        // Keys stand on no box and on no other key.
        let keys = keys::key_places(&graph, &layout);
        let written = graph.edges().iter().zip(&keys).filter_map(|(edge, at)| Some((edge, (*at)?)));
        let keys: Vec<Area> = written
            .map(|(edge, (x, y))| {
                let text = shorten(&edge.label, layout::LONGEST_KEY);
                let half = cells(&text) * layout::KEY_CHARACTER / 2;
                Area { left: x - half, right: x + half, top: y - 9, bottom: y + 2 }
            })
            .collect();
        assert!(!keys.is_empty());
        assert_eq!(overlapping(&keys.iter().chain(&boxes).copied().collect::<Vec<_>>()), None);
    }
}

#[test]
fn messages_flow_to_the_right_and_only_a_retry_flows_back() {
    let graph = graph(&varied(50), &Options::default(), true);
    let layout = layout::layout(&graph);
    let mut back = Vec::new();
    for edge in graph.edges() {
        let (from, to) = (layout.places[edge.from], layout.places[edge.to]);
        if from.x >= to.x {
            back.push((graph.nodes()[edge.from].label(), edge.kind, graph.nodes()[edge.to].label()));
        }
    }
    assert_eq!(
        back,
        [
            ("circle.wait".to_owned(), EdgeKind::Retry, "circle.work".to_owned()),
            ("own".to_owned(), EdgeKind::DeadLetter, "own".to_owned()),
        ]
    );
}

#[test]
fn a_long_name_keeps_both_ends_and_what_nobody_sees_is_written_out() {
    assert_eq!(shorten("orders", 10), "orders");
    assert_eq!(shorten("orders.new.retry.40s", 10), "order….40s");
    assert_eq!(shorten("\u{202e}a\tb", 40), "\\u{202e}a\\u{9}b");
    for name in HOSTILE {
        assert!(cells(&shorten(name, 20)) <= 20, "{name}");
    }
}

#[test]
fn several_nodes_of_one_shape_show_what_their_names_have_in_common() {
    let label = |names: &[&str]| {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        Node { kind: NodeKind::Missing, is_queue: true, names, severity: None, findings: Vec::new() }.label()
    };
    assert_eq!(label(&["orders"]), "orders");
    assert_eq!(label(&["a.retry.1m", "bc.retry.1m"]), "2 × ….retry.1m");
    assert_eq!(label(&["orders.a", "orders.b"]), "2 × orders.…");
    assert_eq!(label(&["aa", "aaa"]), "2 × aa…");
    assert_eq!(label(&["left", "mid", "port"]), "3 × left … port");
    assert_eq!(label(&["é1", "é2"]), "2 × é…");
}
