//! The history of migrations: kept in the broker, read to its end.

use acemq_core::migration::history::{Event, Happened, History, Origin, Place, Subject, What};
use acemq_live::{Client, Management};
use acemq_migrate::history::{Keeping, Store};
use acemq_migrate::{RunError, Runner};
use acemq_tests::broker::{Cluster, Generation, Node, Vhost};
use acemq_tests::on_every_broker;
use acemq_tests::running::LIMITS;
use std::sync::atomic::{AtomicBool, Ordering};

fn event(rank: u64, vhost: &str) -> Event {
    let subject = Subject {
        version: "1".to_owned(),
        description: "a".repeat(usize::try_from(rank % 400).unwrap()),
        file: "V1__a.yaml".to_owned(),
        checksum: "c".to_owned(),
    };
    let origin = Origin {
        at: "2026-01-01T00:00:00Z".to_owned(),
        by: "ann@laptop".to_owned(),
        tool: "0.1.0".to_owned(),
        broker: "RabbitMQ".to_owned(),
        cluster: "c".to_owned(),
        vhost: vhost.to_owned(),
    };
    Event::new(rank, What::Migration { subject, happened: Happened::UndoBegan }, origin)
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap().block_on(future)
}

async fn client(url: &str) -> Client {
    Client::connect(url.parse().unwrap(), "acemq history tests", LIMITS).await.unwrap()
}

/// Writes `count` records one by one; a reader sees each of them as soon as it is written.
async fn write_and_read(writer: &Client, reader: &Client, vhost: &str, count: u64) {
    let mut store = Store::new(&Keeping::Broker, writer, vhost);
    assert_eq!(store.read().await.unwrap(), []);
    let place = Place { cluster: "c".to_owned(), vhost: vhost.to_owned() };
    for rank in 1..=count {
        store.append(&event(rank, vhost)).await.unwrap();
        if rank % 97 == 0 || rank < 4 {
            let mut other = Store::new(&Keeping::Broker, reader, vhost);
            let history = History::read(&other.read().await.unwrap(), place.clone());
            other.close().await;
            assert_eq!(history.check(), Ok(()));
            assert_eq!(history.next_rank(), rank + 1, "the reader did not come to the end");
        }
    }
    let stored = store.read().await.unwrap();
    assert_eq!(stored.len() as u64, count);
    assert!(
        stored.iter().zip(1..).all(|(stored, rank)| {
            stored.place == rank && stored.bytes == event(rank, vhost).to_line().into_bytes()
        })
    );
    // Whoever did not read to the end, or is not alone, cannot write what comes behind unnoticed.
    let error = store.append(&event(count, vhost)).await.unwrap_err();
    assert!(error.to_string().contains("another runner is at work"), "{error}");
    let history = History::read(&store.read().await.unwrap(), place);
    assert_eq!(history.check(), Ok(()), "his record was taken back");
    assert_eq!(history.next_rank(), count + 3);
    store.close().await;
}

on_every_broker! {
    fn a_history_in_the_broker_is_read_to_its_end(node) {
        let vhost = node.fresh_vhost();
        block_on(async {
            let client = client(&vhost.amqp_url()).await;
            write_and_read(&client, &client, vhost.name(), 700).await;
            client.close().await;
        });
    }

    fn a_user_who_may_not_write_the_history_is_told_what_he_needs(node) {
        let vhost = node.fresh_vhost();
        let (all, but_default) = (".*", "^acemq");
        for (user, configure, write, says) in [
            ("no-declare", "^x", all, "cannot declare the history, stream acemq.history: 403 ACCESS_REFUSED"),
            ("no-publish", all, but_default, "write on amq.default, or keep the history in a file with --history sqlite:PATH"),
        ] {
            vhost.user(user, configure, write, all);
            let url = vhost.amqp_url().replace("guest:guest", &format!("{user}:{user}"));
            block_on(async {
                let client = client(&url).await;
                let mut store = Store::new(&Keeping::Broker, &client, vhost.name());
                let error = store.append(&event(1, vhost.name())).await.unwrap_err();
                assert!(error.to_string().contains(says), "{error}");
                store.close().await;
                client.close().await;
            });
        }
    }

    fn a_management_api_that_does_not_show_the_lock_is_that_of_another_vhost(node) {
        let (vhost, other) = (node.fresh_vhost(), node.fresh_vhost());
        let before = other.definitions();
        block_on(async {
            let client = client(&vhost.amqp_url()).await;
            let management = Management::new(node.management_url().parse().unwrap(), LIMITS).unwrap();
            let error = Runner::new(&client, &management, other.name()).lock_or_wait(&mut |_| ()).await.unwrap_err();
            assert!(matches!(error, RunError::Apart { .. }), "{error}");
            Runner::new(&client, &management, vhost.name()).lock_or_wait(&mut |_| ()).await.unwrap();
            client.close().await;
        });
        assert_eq!(other.definitions(), before);
    }

    fn a_history_has_each_record_once_however_often_connections_are_cut(node) {
        survive_cut_connections(node);
    }
}

/// Whether a record that was cut off is there is not known to whoever wrote it; he looks, and writes it only where it is not.
fn survive_cut_connections(node: &Node) {
    let vhost = node.fresh_vhost();
    let over = AtomicBool::new(false);
    let (count, cuts) = std::thread::scope(|scope| {
        let cutter = scope.spawn(|| {
            let mut cuts = 0;
            while !over.load(Ordering::SeqCst) && cuts < 4 {
                node.rabbitmqctl(&["close_all_connections", "--vhost", vhost.name(), "cut by a test"]).unwrap();
                cuts += 1;
            }
            over.store(true, Ordering::SeqCst);
            cuts
        });
        let count = block_on(async {
            let client = client(&vhost.amqp_url()).await;
            let mut store = Store::new(&Keeping::Broker, &client, vhost.name());
            let mut rank = 0;
            while !over.load(Ordering::SeqCst) {
                rank += 1;
                store.append(&event(rank, vhost.name())).await.unwrap();
            }
            store.close().await;
            client.close().await;
            rank
        });
        (count, cutter.join().unwrap())
    });
    assert_eq!(cuts, 4);
    block_on(async {
        let client = client(&vhost.amqp_url()).await;
        let mut store = Store::new(&Keeping::Broker, &client, vhost.name());
        let place = Place { cluster: "c".to_owned(), vhost: vhost.name().to_owned() };
        let history = History::read(&store.read().await.unwrap(), place);
        assert_eq!((history.check(), history.next_rank()), (Ok(()), count + 1), "each record once, none lost");
        store.close().await;
        client.close().await;
    });
}

#[test]
fn a_history_in_a_cluster_is_read_to_its_end_through_every_node() {
    for generation in Generation::wanted() {
        let cluster = match Cluster::start(generation) {
            Ok(cluster) => cluster,
            Err(why) => panic!("{why}"),
        };
        let vhost = cluster.nodes()[0].fresh_vhost();
        block_on(async {
            for (writer, reader) in [(0, 2), (1, 0)] {
                let url = |node: usize| {
                    let url: String = vhost.amqp_url();
                    let port = |node: usize| format!(":{}", cluster.nodes()[node].amqp_port());
                    url.replace(&port(0), &port(node))
                };
                let vhost: &Vhost<'_> = &vhost;
                let (writer, reader) = (client(&url(writer)).await, client(&url(reader)).await);
                write_and_read(&writer, &reader, vhost.name(), 200).await;
                writer.ask(&acemq_live::Operation::DeleteQueue("acemq.history".to_owned())).await;
                writer.close().await;
                reader.close().await;
            }
        });
    }
}
