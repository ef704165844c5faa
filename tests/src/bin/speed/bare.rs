//! The yardstick: amqprs and nothing else. A channel that the broker closes is replaced by the next one.

use acemq_core::value::{Table, Value};
use acemq_live::{BrokerUrl, Operation};
use amqprs::channel::{Channel, QueueDeclareArguments};
use amqprs::connection::{Connection, OpenConnectionArguments};
use amqprs::{FieldTable, FieldValue};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Sends the operations on that many channels of one connection, each channel one after the other.
pub async fn run(url: &str, channels: usize, operations: &[Operation]) -> Duration {
    let url: BrokerUrl = url.parse().expect("a URL of the harness");
    let mut arguments = OpenConnectionArguments::new(url.host(), url.port(), url.user(), url.password().reveal());
    arguments.virtual_host(url.vhost());
    let connection = Connection::open(&arguments).await.expect("a broker that is there");
    let requests: Arc<Vec<_>> = Arc::new(operations.iter().map(request).collect());
    let next = Arc::new(AtomicUsize::new(0));
    let started = Instant::now();
    let workers: Vec<_> = (0..channels)
        .map(|_| {
            let (connection, requests, next) = (connection.clone(), Arc::clone(&requests), Arc::clone(&next));
            tokio::spawn(async move {
                let mut channel: Option<Channel> = None;
                while let Some(request) = requests.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let open = match channel.take() {
                        Some(open) => open,
                        None => connection.open_channel(None).await.expect("a channel"),
                    };
                    if open.queue_declare(request.clone()).await.is_ok() {
                        channel = Some(open);
                    }
                }
            })
        })
        .collect();
    for worker in workers {
        worker.await.expect("a worker that ends");
    }
    let elapsed = started.elapsed();
    // It fails now and then when channels are being closed at the same time.
    let _ = connection.close().await;
    elapsed
}

fn request(operation: &Operation) -> QueueDeclareArguments {
    match operation {
        Operation::LookUpQueue(name) => QueueDeclareArguments::new(name).passive(true).finish(),
        Operation::DeclareQueue(queue) => QueueDeclareArguments::new(&queue.name)
            .durable(queue.durable)
            .auto_delete(queue.auto_delete)
            .arguments(table(&queue.arguments))
            .finish(),
        other => panic!("{other:?} is no operation on a queue"),
    }
}

fn table(arguments: &Table) -> FieldTable {
    let mut fields = FieldTable::new();
    for (name, value) in arguments.iter() {
        let value = match value {
            Value::I64(n) => FieldValue::l(*n),
            text => FieldValue::from(text.as_text().expect("a number or a text")),
        };
        fields.insert(name.try_into().expect("a short name"), value);
    }
    fields
}
