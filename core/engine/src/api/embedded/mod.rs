//! The embedded broker in JSON: [`BrokerHandle`], which a binding holds, and the operation `embedded.run`, which plays a list
//! of commands on a broker of its own.

mod command;
mod question;
mod reply;

pub use command::{
    Ack, Advance, Base64Body, Body, Cancel, Command, Connect, Consume, DeleteExchangeForm, DeleteQueueForm, Get, Nack,
    Nothing, OneName, OneQueue, PolicyForm, PropertiesForm, Publish, Qos, Reject, UserPermissions,
};
pub use reply::{ContentsReply, DeliveryReply, EventReply, HappeningReply, PublishedReply, Reply, StoredReply};

use super::declared::{Document, VERSION_CODES, VersionText};
use super::request::{read, write};
use super::source::{DEFINITIONS_CODES, DefinitionsSource, SOURCE_CODES, StateSource, state_document};
use super::topology::{TOPOLOGY_CODES, TopologySource};
use super::{Failure, PredictedRefusal, Request};
use crate::definitions;
use crate::embedded::{Caller, ChannelId, ConnectionId, EmbeddedBroker, Publication, Subscription};
use crate::rabbitmq::{Conditions, DeleteQueue, Permissions, Refused, Version};
use command::Action;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What an embedded broker is made of.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BrokerSettings {
    /// The RabbitMQ version to answer by; that of the definitions, else the newest known one, unless said.
    pub rabbitmq: Option<VersionText>,
    /// The vhost's name; `/` unless said. With definitions: which of their vhosts.
    pub vhost: Option<String>,
    /// The vhost's default queue type.
    pub default_queue_type: Option<String>,
    /// A topology that is declared at the start.
    pub topology: Option<TopologySource>,
    /// Or definitions that are held from the start, whatever the rules say about them.
    pub definitions: Option<DefinitionsSource>,
    /// The user of connections that name none; `guest` unless said.
    pub user: Option<String>,
    /// What users may do, the one above included; without an entry it may do everything.
    pub permissions: Vec<UserPermissions>,
    /// Deny queues that are transient and not exclusive (3.13 and later).
    pub deny_transient_queues: bool,
    /// Compare fewer properties when a quorum queue is declared again (`relaxed_checks_on_redeclaration`).
    pub relaxed_quorum_redeclare: bool,
    /// How many queues the vhost may hold.
    pub max_queues: Option<u64>,
    /// Exchange types that plugins add.
    pub plugin_exchange_types: Vec<String>,
    /// Where the virtual clock starts: milliseconds since 1970.
    pub start_ms: u64,
    /// Keep what happens to messages, for the command `history`.
    pub history: bool,
}

/// The codes of settings that cannot be used.
const SETTINGS_CODES: &[&str] = &["permission_invalid", "topology_refused"];
/// The codes of commands that cannot be carried out.
const COMMAND_CODES: &[&str] = &["command_not_one", "caller_not_given", "body_not_base64", "question_invalid"];

impl BrokerSettings {
    fn broker(self) -> Result<EmbeddedBroker, Failure> {
        let version = self.rabbitmq.as_ref().map(|text| VersionText::read(Some(text))).transpose()?;
        let state = self.definitions.map(|definitions| {
            let definitions = Some(definitions);
            let (vhost, rabbitmq) = (self.vhost.clone(), self.rabbitmq.clone());
            let default_queue_type = self.default_queue_type.clone();
            StateSource { topology: None, definitions, vhost, rabbitmq, default_queue_type }.state()
        });
        let state = state.transpose()?;
        let held = state.as_ref();
        let version = version.or(held.and_then(|state| state.broker.version)).unwrap_or(Version::NEWEST);
        let vhost = held.map(|state| state.vhost.clone()).or(self.vhost).unwrap_or_else(|| "/".to_owned());
        let mut conditions = Conditions::new(version, vhost);
        conditions.default_queue_type =
            held.and_then(|state| state.default_queue_type.clone()).or(self.default_queue_type);
        conditions.transient_nonexclusive = !self.deny_transient_queues;
        conditions.relaxed_quorum_redeclare = self.relaxed_quorum_redeclare;
        conditions.plugin_exchange_types = self.plugin_exchange_types;
        let limit = self.max_queues.or(held.and_then(|state| state.queue_limit));
        conditions.queue_limit = limit.map(|maximum| crate::rabbitmq::Limit { maximum, declared: 0 });
        if let Some(user) = self.user {
            conditions.user = user;
        }
        let broker = match held {
            Some(state) => EmbeddedBroker::with_state(conditions, state),
            None => EmbeddedBroker::new(conditions),
        };
        let mut broker = broker.starting_at(self.start_ms);
        if self.history {
            broker.keep_history();
        }
        if let Some(topology) = self.topology {
            let tables = topology.tables()?;
            let service = broker.connect();
            let declared = broker.declare_all(service, &tables);
            broker.disconnect(service);
            declared.map_err(|error| {
                let refused = Document::of(&PredictedRefusal::from(error.refused.clone()));
                let help = "take it out of the topology, or choose another version";
                Failure::one("topology_refused", error.to_string(), help).with("refused", refused)
            })?;
            for policy in tables.policies {
                broker.set_policy(policy);
            }
        }
        for permissions in self.permissions {
            set_permissions(&mut broker, permissions)?;
        }
        Ok(broker)
    }
}

fn set_permissions(broker: &mut EmbeddedBroker, permissions: UserPermissions) -> Result<(), Failure> {
    let UserPermissions { user, configure, write, read } = permissions;
    let compiled = Permissions::new(&configure, &write, &read).map_err(|error| {
        Failure::one("permission_invalid", error.to_string(), "write it as rabbitmqctl set_permissions takes it")
            .with("user", user.as_str())
    })?;
    broker.set_permissions(user, compiled);
    Ok(())
}

/// An embedded broker that is kept: the coarse form of [`EmbeddedBroker`] that bindings hold.
///
/// A refusal by the broker is a reply like any other, `{"refused": {"code", "text", "scope"}}`: a client has to live with it.
/// An error is an input that no client could send.
///
/// ```
/// use acemq_core::api::BrokerHandle;
///
/// let mut broker = BrokerHandle::new(r#"{"rabbitmq": "4.0.5"}"#).unwrap();
/// assert_eq!(broker.call(r#"{"connect": {}}"#).unwrap(), r#"{"connection":1}"#);
/// assert_eq!(broker.call(r#"{"connection": 1, "open_channel": {}}"#).unwrap(), r#"{"channel":2}"#);
/// let refused = broker.call(r#"{"channel": 2, "get": {"queue": "nobody"}}"#).unwrap();
/// assert!(refused.contains("NOT_FOUND - no queue 'nobody' in vhost '/'"));
/// assert_eq!(broker.call(r#"{"channel": 2, "is_open": {}}"#).unwrap(), r#"{"open":false}"#);
/// ```
#[derive(Debug, Clone)]
pub struct BrokerHandle(EmbeddedBroker);

impl BrokerHandle {
    const NAME: &'static str = "embedded broker";

    /// A broker from JSON: [`BrokerSettings`], `{}` for an empty one of the newest known version.
    ///
    /// # Errors
    /// When the JSON is no such thing, when topology or definitions cannot be used, when a permission is no regular expression.
    pub fn new(settings: &str) -> Result<Self, Failure> {
        let settings: BrokerSettings = read(Self::NAME, settings)?;
        settings.broker().map(Self)
    }

    /// Carries out a [`Command`] and gives its [`Reply`].
    ///
    /// # Errors
    /// When the JSON is no command. What the broker refuses is no error.
    pub fn call(&mut self, command: &str) -> Result<String, Failure> {
        write(Self::NAME, &self.run(read(Self::NAME, command)?)?)
    }

    /// The broker itself.
    pub fn broker(&mut self) -> &mut EmbeddedBroker {
        &mut self.0
    }

    fn run(&mut self, command: Command) -> Result<Reply, Failure> {
        let asking = Asking { channel: command.channel, connection: command.connection };
        let mut actions = command.actions();
        let names: Vec<&str> = actions.iter().map(|(name, _)| *name).collect();
        let (Some((name, action)), true) = (actions.pop(), names.len() == 1) else {
            let message = match names.len() {
                0 => "the command says nothing to do".to_owned(),
                _ => format!("the command says {} at once", names.join(" and ")),
            };
            let help = format!("give exactly one of {}", Command::ACTIONS.join(", "));
            return Err(Failure::one("command_not_one", message, help));
        };
        match self.perform(name, asking, action)? {
            Ok(reply) => Ok(reply),
            Err(refused) => Ok(Reply::Refused { refused: refused.into() }),
        }
    }

    fn perform(&mut self, name: &str, asking: Asking, action: Action) -> Result<Result<Reply, Refused>, Failure> {
        let caller = || asking.either(name);
        let channel = || asking.channel(name);
        let connection = || asking.connection(name);
        let done = |answer: Result<(), Refused>| answer.map(|()| Reply::Done {});
        let broker = &mut self.0;
        Ok(match action {
            Action::Connect(form) => {
                let connected = match form.user {
                    Some(user) => broker.connect_as(&user),
                    None => Ok(broker.connect()),
                };
                connected.map(|connection| Reply::Connected { connection: connection.number() })
            }
            Action::Disconnect(_) => {
                broker.disconnect(connection()?);
                Ok(Reply::Done {})
            }
            Action::OpenChannel(_) => {
                broker.open_channel(connection()?).map(|channel| Reply::Opened { channel: channel.number() })
            }
            Action::CloseChannel(_) => {
                broker.close_channel(channel()?);
                Ok(Reply::Done {})
            }
            Action::IsOpen(_) => Ok(Reply::Open { open: broker.is_open(caller()?) }),
            Action::DeclareQueue(queue) => broker.declare_queue(caller()?, &queue.into()).map(Reply::from),
            Action::DeclareQueuePassively(form) => {
                broker.declare_queue_passively(caller()?, &form.name).map(Reply::from)
            }
            Action::DeclareExchange(exchange) => done(broker.declare_exchange(caller()?, &exchange.into())),
            Action::DeclareExchangePassively(form) => done(broker.declare_exchange_passively(caller()?, &form.name)),
            Action::Bind(binding) => done(broker.bind(caller()?, &binding.into())),
            Action::Unbind(binding) => done(broker.unbind(caller()?, &binding.into())),
            Action::DeleteQueue(form) => {
                let condition = DeleteQueue { if_unused: form.if_unused, if_empty: form.if_empty };
                broker.delete_queue(caller()?, &form.name, condition).map(|messages| Reply::Gone { messages })
            }
            Action::DeleteExchange(form) => done(broker.delete_exchange(caller()?, &form.name, form.if_unused)),
            Action::Purge(form) => broker.purge(caller()?, &form.queue).map(|messages| Reply::Gone { messages }),
            Action::Publish(form) => {
                let publication = publication(*form)?;
                broker.publish(caller()?, publication).map(|published| Reply::Published(published.into()))
            }
            Action::Get(form) => broker
                .get(channel()?, &form.queue, form.no_ack)
                .map(|delivery| Reply::Got { delivery: delivery.map(|delivery| Box::new(delivery.into())) }),
            Action::Consume(form) => {
                let Consume { queue, consumer_tag: tag, no_ack, exclusive, arguments } = form;
                let subscription = Subscription { queue, tag, no_ack, exclusive, arguments };
                broker.consume(channel()?, &subscription).map(|consumer_tag| Reply::Consuming { consumer_tag })
            }
            Action::Cancel(form) => done(broker.cancel(channel()?, &form.consumer_tag)),
            Action::Qos(form) => done(broker.qos(channel()?, form.prefetch, form.global)),
            Action::Ack(form) => done(broker.ack(channel()?, form.delivery_tag, form.multiple)),
            Action::Nack(form) => done(broker.nack(channel()?, form.delivery_tag, form.multiple, form.requeue)),
            Action::Reject(form) => done(broker.reject(channel()?, form.delivery_tag, form.requeue)),
            Action::Recover(_) => done(broker.recover(channel()?)),
            Action::TakeEvents(_) => {
                Ok(Reply::Events { events: broker.take_events(channel()?).into_iter().map(EventReply::from).collect() })
            }
            Action::Advance(form) => {
                broker.advance(form.ms);
                Ok(Reply::Time { now_ms: broker.now() })
            }
            Action::SetPermissions(form) => {
                set_permissions(broker, form)?;
                Ok(Reply::Done {})
            }
            Action::SetPolicy(form) => {
                broker.set_policy(form.into());
                Ok(Reply::Done {})
            }
            Action::SetOperatorPolicy(form) => {
                broker.set_operator_policy(form.into());
                Ok(Reply::Done {})
            }
            Action::ClearPolicy(form) => Ok(Reply::Cleared { cleared: broker.clear_policy(&form.name) }),
            Action::ClearOperatorPolicy(form) => {
                Ok(Reply::Cleared { cleared: broker.clear_operator_policy(&form.name) })
            }
            Action::Contents(form) => {
                Ok(Reply::Contents { contents: broker.contents(&form.queue).map(ContentsReply::from) })
            }
            Action::State(_) => {
                Ok(Reply::State { state: state_document(&broker.state()), uncertain: broker.uncertainties() })
            }
            Action::Definitions(_) => {
                let text = definitions::write(&[&broker.state()]);
                Ok(Reply::Definitions { definitions: Document::read(&text) })
            }
            Action::Route(message) => Ok(Reply::Route { route: message.route(broker.router()) }),
            Action::AnswerQuestion(question) => {
                let question = question::read(question)?;
                let answer = broker.answer_question(connection()?, &question.ask);
                Ok(Reply::Answer { answer: question::written(question.id, &answer) })
            }
            Action::History(_) => Ok(Reply::History {
                history: (broker.history().iter())
                    .map(|happening| HappeningReply {
                        at_ms: happening.at,
                        message: happening.message.map(|message| message.0),
                        what: happening.to_string(),
                    })
                    .collect(),
            }),
        })
    }
}

fn publication(form: Publish) -> Result<Publication, Failure> {
    let Publish { exchange, routing_key, mandatory, properties, body } = form;
    let body = body.bytes().ok_or_else(|| {
        let help = "encode it with the standard alphabet and padding, or give a text";
        Failure::one("body_not_base64", "the body is no base64", help)
    })?;
    Ok(Publication { exchange, routing_key, mandatory, properties: properties.into(), body })
}

/// Who a command says is asking.
#[derive(Debug, Clone, Copy)]
struct Asking {
    channel: Option<u64>,
    connection: Option<u64>,
}

impl Asking {
    fn channel(self, action: &str) -> Result<ChannelId, Failure> {
        match (self.channel, self.connection) {
            (Some(channel), None) => Ok(ChannelId::from_number(channel)),
            _ => Err(nobody(action, "\"channel\"")),
        }
    }

    fn connection(self, action: &str) -> Result<ConnectionId, Failure> {
        match (self.channel, self.connection) {
            (None, Some(connection)) => Ok(ConnectionId::from_number(connection)),
            _ => Err(nobody(action, "\"connection\"")),
        }
    }

    fn either(self, action: &str) -> Result<Caller, Failure> {
        match (self.channel, self.connection) {
            (Some(channel), None) => Ok(ChannelId::from_number(channel).into()),
            (None, Some(connection)) => Ok(ConnectionId::from_number(connection).into()),
            _ => Err(nobody(action, "either \"channel\" or \"connection\"")),
        }
    }
}

fn nobody(action: &str, wanted: &str) -> Failure {
    let help = format!("give {wanted} beside it, with a number that open_channel or connect replied");
    Failure::one("caller_not_given", format!("{action} does not say who asks"), help).with("action", action)
}

/// `embedded.run`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunBroker {
    /// The broker.
    #[serde(default)]
    pub broker: BrokerSettings,
    /// What is asked of it, in order.
    pub commands: Vec<Command>,
}

/// The replies.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Replies {
    /// One for each command.
    pub replies: Vec<Reply>,
}

impl Request for RunBroker {
    type Answer = Replies;
    const NAME: &'static str = "embedded.run";
    const ABOUT: &'static str = "Commands carried out by an embedded broker, with its replies and refusals.";
    const CODES: &'static [&'static [&'static str]] =
        &[COMMAND_CODES, SETTINGS_CODES, VERSION_CODES, SOURCE_CODES, DEFINITIONS_CODES, TOPOLOGY_CODES];

    fn answer(self) -> Result<Replies, Failure> {
        let mut broker = BrokerHandle(self.broker.broker()?);
        let replies = (self.commands.into_iter().enumerate())
            .map(|(index, command)| broker.run(command).map_err(|failure| failure.with("index", index)))
            .collect::<Result<_, _>>()?;
        Ok(Replies { replies })
    }
}
