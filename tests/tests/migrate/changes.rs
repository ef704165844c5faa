//! Plain changes on real brokers: run, killed in the middle, and taken back to the definitions of the start.

use acemq_core::migration::history::{Given, Place, Script};
use acemq_core::migration::{FileName, MigrationFile};
use acemq_core::rabbitmq::{BindingDeclaration, ExchangeDeclaration, QueueDeclaration};
use acemq_core::topology::Format;
use acemq_core::value::Value;
use acemq_live::{Client, Management};
use acemq_migrate::history::{Author, Folder, HISTORY_STREAM, Keeping, Ran, Session};
use acemq_migrate::{Ending, LOCK_QUEUE, Progress, RunError, Runner};
use acemq_tests::amqp::Publish;
use acemq_tests::broker::Vhost;
use acemq_tests::on_every_broker;
use acemq_tests::running::LIMITS;
use serde_json::{Value as Json, json};
use std::time::Duration;

/// Each kind of change, with some that change nothing: the first binding, the queue and the exchange are there already. It ends
/// with a policy, whose removal therefore comes first on the way back.
const FILE: &str = "acemq_migration: 1
changes:
  - bind: { exchange: x, queue: q, routing_key: there }
  - bind: { exchange: x, queue: q, routing_key: more }
  - declare: { queue: { name: q, type: classic } }
  - declare: { exchange: { name: x, type: topic } }
  - declare: { queue: { name: classic, type: classic, dead_letter: true } }
  - declare: { queue: { name: quorum } }
  - declare: { exchange: { name: e, type: fanout, arguments: { alternate-exchange: x } } }
  - bind: { exchange: e, queue: classic }
  - bind: { exchange: x, to_exchange: e, routing_key: \"e.#\" }
  - unbind: { exchange: x, queue: q, routing_key: argued, arguments: { why: because } }
  - delete: { exchange: spare }
  - policy: { name: changed, pattern: ^q$, apply_to: queues, definition: { max-length: 9 } }
  - policy: { name: fresh, pattern: ^classic$, apply_to: queues, priority: 3, definition: { max-length: 9 } }
";

fn prepare(vhost: &Vhost<'_>) {
    let channel = vhost.connect().channel().unwrap();
    channel.declare_exchange(&ExchangeDeclaration::durable("x", "topic")).unwrap();
    channel
        .declare_exchange(&ExchangeDeclaration { durable: false, ..ExchangeDeclaration::durable("spare", "headers") })
        .unwrap();
    channel.declare_queue(&QueueDeclaration::durable("q")).unwrap();
    channel.bind(&BindingDeclaration::queue("x", "q", "there")).unwrap();
    let mut argued = BindingDeclaration::queue("x", "q", "argued");
    argued.arguments.insert("why", Value::text("because"));
    channel.bind(&argued).unwrap();
    set_policy(vhost, 5);
}

fn set_policy(vhost: &Vhost<'_>, limit: u32) {
    let definition =
        json!({ "pattern": "^q$", "apply-to": "queues", "priority": 1, "definition": { "max-length": limit } });
    vhost.node().management().put(&format!("/api/policies/{}/changed", vhost.name()), &definition).unwrap();
}

/// The export, without the lock and the history, in an order of its own. Transient exchanges are listed beside it.
fn definitions(vhost: &Vhost<'_>) -> Json {
    let mut export = vhost.definitions();
    for list in export.as_object_mut().unwrap().values_mut().filter_map(Json::as_array_mut) {
        list.retain(|object| ![LOCK_QUEUE, HISTORY_STREAM].iter().any(|name| object["name"] == *name));
        list.sort_by_key(Json::to_string);
    }
    let exchanges =
        vhost.node().management().get(&format!("/api/exchanges/{}?columns=name,type,durable", vhost.name()));
    json!([export, exchanges.unwrap()])
}

fn folder(text: &str) -> Folder {
    let file = MigrationFile::parse(text, Format::Yaml).unwrap();
    let name = "V1__changes.yaml";
    let script =
        Script { name: FileName::parse(name).unwrap(), file: name.to_owned(), checksum: file.checksum.clone() };
    Folder { files: vec![(script, file)], given: Given::Everything }
}

/// What a process of its own would do: connect, take the lock, do it, go.
fn with_session<T>(vhost: &Vhost<'_>, act: impl AsyncFnOnce(&Session<'_>) -> T) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let client = Client::connect(vhost.amqp_url().parse().unwrap(), "acemq changes", LIMITS).await.unwrap();
        let management = Management::new(vhost.node().management_url().parse().unwrap(), LIMITS).unwrap();
        let runner = Runner::new(&client, &management, vhost.name()).with_statistics_lag(Duration::ZERO);
        let place = Place { cluster: "c".to_owned(), vhost: vhost.name().to_owned() };
        let author = Author { by: "tests".to_owned(), tool: "0".to_owned(), broker: "RabbitMQ".to_owned() };
        act(&Session::new(runner, &client, Keeping::Broker, place, author)).await
    })
}

/// Runs it; with a number, the runner is cut off when that step is done, before it writes down the next one.
fn run(vhost: &Vhost<'_>, text: &str, cut: Option<usize>) -> Option<Vec<Ran>> {
    with_session(vhost, async |session| {
        let (sender, mut told) = tokio::sync::mpsc::unbounded_channel();
        let folder = folder(text);
        let run = session.run(&folder, false, move |_, progress| {
            if matches!(progress, Progress::Step { number, .. } if Some(number) == cut) {
                let _ = sender.send(());
            }
        });
        tokio::select! {
            biased;
            Some(()) = told.recv() => None,
            ran = run => Some(ran.unwrap()),
        }
    })
}

fn finish(vhost: &Vhost<'_>, text: &str) {
    assert!(run(vhost, text, None).unwrap().iter().all(|ran| ran.ending == Ending::Finished));
}

fn undo(vhost: &Vhost<'_>, text: &str) -> Result<Ending, RunError> {
    with_session(vhost, async |session| Ok(session.undo(&folder(text), |_, _| ()).await?.ending))
}

fn stopped(ending: Result<Ending, RunError>) -> String {
    match ending.unwrap() {
        Ending::Stopped(why) => why,
        other => panic!("{other:?}"),
    }
}

on_every_broker! {
    fn plain_changes_are_taken_back_to_the_definitions_of_the_start(node) {
        let vhost = node.fresh_vhost();
        prepare(&vhost);
        let start = definitions(&vhost);
        finish(&vhost, FILE);
        let end = definitions(&vhost);
        assert_ne!(end, start);
        assert_eq!(undo(&vhost, FILE).unwrap(), Ending::Finished);
        assert_eq!(definitions(&vhost), start);
        // The runner is cut off: taken back from there, or run to the end from there.
        for cut in [2, 8, 15, 17] {
            assert_eq!(run(&vhost, FILE, Some(cut)), None, "step {cut}");
            assert_ne!(definitions(&vhost), start, "step {cut}");
            if cut == 15 {
                finish(&vhost, FILE);
                assert_eq!(definitions(&vhost), end, "step {cut}");
            }
            assert_eq!(undo(&vhost, FILE).unwrap(), Ending::Finished, "step {cut}");
            assert_eq!(definitions(&vhost), start, "step {cut}");
        }
    }

    fn an_undo_stops_at_what_others_changed_since(node) {
        let vhost = node.fresh_vhost();
        prepare(&vhost);
        let start = definitions(&vhost);
        finish(&vhost, FILE);
        let connection = vhost.connect();
        let channel = connection.channel().unwrap();
        channel.confirm_select().unwrap();
        set_policy(&vhost, 7);
        let edited = definitions(&vhost);
        let why = stopped(undo(&vhost, FILE));
        assert!(why.contains("policy \"changed\" was changed since the migration set it"), "{why}");
        assert_eq!(definitions(&vhost), edited, "nothing is taken back before that is settled");
        let ours = json!({ "pattern": "^q$", "apply-to": "queues", "priority": 0, "definition": { "max-length": 9 } });
        node.management().put(&format!("/api/policies/{}/changed", vhost.name()), &ours).unwrap();

        let theirs = BindingDeclaration::queue("x", "classic", "theirs");
        channel.bind(&theirs).unwrap();
        let why = stopped(undo(&vhost, FILE));
        assert!(why.contains("queue \"classic\" is bound as x -> classic [theirs]"), "{why}");
        channel.unbind(&theirs).unwrap();

        assert!(channel.publish_confirmed(&Publish::to("", "quorum")).unwrap().acknowledged);
        let why = stopped(undo(&vhost, FILE));
        assert!(why.contains("queue \"quorum\" holds 1 message, and it is not deleted with"), "{why}");
        channel.purge("quorum").unwrap();
        assert_eq!(undo(&vhost, FILE).unwrap(), Ending::Finished);
        assert_eq!(definitions(&vhost), start);
    }

    fn a_deleted_queue_is_where_plain_changes_cannot_be_taken_back_any_more(node) {
        let vhost = node.fresh_vhost();
        prepare(&vhost);
        let start = definitions(&vhost);
        let text = "acemq_migration: 1
changes:
  - unbind: { exchange: x, queue: q, routing_key: there }
  - unbind: { exchange: x, queue: q, routing_key: argued, arguments: { why: because } }
  - delete: { queue: q }
  - declare: { exchange: { name: e, type: fanout } }
";
        assert_eq!(run(&vhost, text, Some(2)), None);
        assert_eq!(undo(&vhost, text).unwrap(), Ending::Finished);
        assert_eq!(definitions(&vhost), start);
        assert_eq!(run(&vhost, text, Some(5)), None);
        let gone = definitions(&vhost);
        let error = undo(&vhost, text).unwrap_err().to_string();
        assert!(error.contains("step 5 (delete queue q) is done"), "{error}");
        assert_eq!(definitions(&vhost), gone);
        finish(&vhost, text);
    }
}
