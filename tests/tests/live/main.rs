//! The client for real brokers against real brokers: every refusal, every way to lose a connection, every trap of amqprs.

mod cluster;
mod connecting;
mod faults;
mod head;
mod management;
mod operations;
mod planning;
mod products;
mod rights;
mod tls;
mod walk;

use acemq_live::{BrokerUrl, Client, Limits};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

/// Limits that a busy machine keeps; only a hang is longer. Tests of limits set their own.
const LIMITS: Limits = Limits {
    connect: Duration::from_secs(30),
    question: Duration::from_secs(30),
    change: Duration::from_secs(60),
    reconnect: Duration::from_secs(60),
    listing: Duration::from_secs(60),
    close: Duration::from_secs(3),
};

fn run<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(future)
}

fn url(text: &str) -> BrokerUrl {
    text.parse().unwrap()
}

async fn client(text: &str) -> Arc<Client> {
    Arc::new(Client::connect(url(text), "acemq live tests", LIMITS).await.unwrap())
}
