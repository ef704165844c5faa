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

#[test]
fn every_form_holds_every_node_and_no_name_breaks_out() {
    let graph = graph(&lost(), &Options::default(), false);
    let (svg, html) = (graph.to_svg(), graph.to_html());
    assert_eq!(svg.matches("<g class=\"node").count(), graph.nodes().len());
    assert_eq!(svg.matches("<g class=\"edge").count(), graph.edges().len());
    for markup in [&svg, &html] {
        assert!(!markup.contains("<\"lost"));
        assert!(markup.contains("&lt;&quot;lost&quot; &amp; co&gt;"));
        assert_eq!(markup.matches("<g ").count(), markup.matches("</g>").count());
    }
    // Nothing is fetched: the only address is the name of the SVG namespace.
    assert_eq!(html.matches("http").count(), html.matches("http://www.w3.org/2000/svg").count());
    let dot = graph.to_dot();
    assert!(dot.contains("<\\\"lost\\\" & co>"));
    assert_eq!(dot.matches(" -> ").count(), graph.edges().len());
    let mermaid = graph.to_mermaid();
    assert!(mermaid.contains("#60;#34;lost#34; #38; co#62;"));
    assert!(mermaid.lines().any(|line| line.starts_with("  class n") && line.ends_with(" error")));
}

#[test]
fn boxes_of_one_layer_do_not_overlap_and_edges_lead_to_the_right() {
    let graph = graph(&vhost(30), &Options::default(), true);
    let layout = layout::layout(&graph);
    for (index, one) in layout.places.iter().enumerate() {
        for other in layout.places.iter().skip(index + 1) {
            let apart = one.x + one.width <= other.x
                || other.x + other.width <= one.x
                || one.y + layout::HEIGHT <= other.y
                || other.y + layout::HEIGHT <= one.y;
            assert!(apart, "{one:?} {other:?}");
        }
    }
    for edge in graph.edges() {
        assert!(layout.places[edge.from].x < layout.places[edge.to].x);
    }
}
