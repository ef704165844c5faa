//! Puts a request to a broker, each on a channel of its own.

use super::request::{Asked, Existing, LIMITED, VHOST, vhost_name};
use super::steps::take;
use super::{Case, Given, Question, Request};
use crate::amqp::{Connection, Failure, QueueRequest, Scope};
use crate::broker::{Node, Vhost};
use acemq_core::rabbitmq::QueueType;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(20);
const RESOURCE_LOCKED: u16 = 405;

/// Asks one node. Its vhosts `probe` and `probe-TYPE` must be nobody else's.
pub struct Recorder<'a> {
    node: &'a Node,
    /// By default queue type.
    places: BTreeMap<Option<&'static str>, Place<'a>>,
}

/// A vhost and the connection that asks there.
struct Place<'a> {
    vhost: Vhost<'a>,
    connection: Connection,
}

impl<'a> Recorder<'a> {
    /// Makes the vhosts that requests name.
    ///
    /// # Panics
    /// When the broker refuses them.
    pub fn new(node: &'a Node) -> Self {
        let mut places = BTreeMap::from([(None, Place::open(node.vhost(VHOST)))]);
        for kind in QueueType::ALL.map(QueueType::name) {
            let vhost = node.vhost_with_default_queue_type(&vhost_name(Some(kind)), kind);
            places.insert(Some(kind), Place::open(vhost));
        }
        Self { node, places }
    }

    /// The version in two numbers, as recordings call a broker.
    pub fn name(&self) -> String {
        let version = self.node.version();
        format!("{}.{}", version.major, version.minor)
    }

    /// Asks the request of `case` and takes away again whatever was declared for it.
    ///
    /// # Panics
    /// When the broker does not answer.
    pub fn ask(&mut self, case: &Case) -> Given {
        let request = match &case.question {
            Question::Declare(request) => request,
            Question::Steps(steps) => return take(&self.places[&None].vhost, steps),
        };
        let place = self.places.get_mut(&request.default_queue_type).expect("a vhost for each type");
        let given = place.put(request);
        if matches!(given, Given::Refused { outcome: CONNECTION_CLOSE, .. }) || !place.connection.is_open() {
            place.connection = place.vhost.connect();
        }
        place.clean_up(&request.asked);
        given
    }
}

const CONNECTION_CLOSE: &str = "connection.close";

impl<'a> Place<'a> {
    fn open(vhost: Vhost<'a>) -> Self {
        let connection = vhost.connect();
        Self { vhost, connection }
    }

    fn put(&self, request: &Request) -> Given {
        let mut _elsewhere = None;
        match &request.existing {
            Existing::Nothing => {}
            Existing::Declared(asked) => {
                if declare(&self.connection, asked).is_err() {
                    return Given::NotAsked;
                }
            }
            Existing::ExclusiveElsewhere => {
                let connection = self.vhost.connect();
                let name = request.asked.name().to_vec();
                let exclusive = QueueRequest { name, passive: false, exclusive: true, ..QueueRequest::passive("") };
                connection.channel().unwrap().declare_queue(exclusive).unwrap();
                _elsewhere = Some(connection);
            }
        }
        let answer = match request.rights {
            None => declare(&self.connection, &request.asked),
            Some([configure, write, read]) => {
                self.vhost.user(LIMITED, configure, write, read);
                declare(&self.vhost.connect_as(LIMITED, LIMITED), &request.asked)
            }
        };
        match answer {
            Ok(given) => given,
            Err(Failure::Refused(close)) => Given::Refused {
                outcome: match close.scope {
                    Scope::Channel => "channel.close",
                    Scope::Connection => CONNECTION_CLOSE,
                },
                code: close.code,
                text: close.text,
            },
            Err(other) => panic!("{other} to {request:?}"),
        }
    }

    /// Exclusive queues of a closed connection may stay for a moment, and are locked until they go.
    fn clean_up(&self, asked: &Asked) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let channel = self.connection.channel().unwrap();
            let deleted = match asked {
                Asked::Queue(request) => channel.delete_queue(&request.name).map(drop),
                Asked::Exchange(request) => channel.delete_exchange(&request.name, false),
            };
            match deleted {
                Err(Failure::Refused(close)) if close.code == RESOURCE_LOCKED => assert!(Instant::now() < deadline),
                // Refused for names under which nothing can be deleted.
                Ok(()) | Err(Failure::Refused(_)) => break,
                Err(other) => panic!("{other} to deleting {asked:?}"),
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

fn declare(connection: &Connection, asked: &Asked) -> Result<Given, Failure> {
    let channel = connection.channel()?;
    match asked {
        Asked::Queue(request) => {
            let ok = channel.declare_queue(request.clone())?;
            let name = String::from_utf8_lossy(&ok.name).into_owned();
            let name = if name.starts_with("amq.gen-") { "amq.gen-...".to_owned() } else { name };
            Ok(Given::Ok { outcome: "queue.declare-ok", name: Some(name), messages: None })
        }
        Asked::Exchange(request) => {
            channel.declare_exchange(request.clone())?;
            Ok(Given::Ok { outcome: "exchange.declare-ok", name: None, messages: None })
        }
    }
}
