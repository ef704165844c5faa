//! Steps as they are read, and what the embedded broker answers to them.

use super::Options;
use super::recording::Object;
use super::request::{Outcome, flag, name, parse, predeclared, table, user};
use crate::amqp::{Consume, ExchangeRequest, QueueRequest};
use crate::steps::{Ask, Step, Steps};
use acemq_core::embedded::{ChannelId, EmbeddedBroker, Publication, Subscription};
use acemq_core::rabbitmq::{
    BindingDeclaration, Conditions, DeleteQueue, DestinationType, ExchangeDeclaration, Limit, Permissions,
    QueueDeclaration, Refused, Version, login_refused, publish_immediate, short_string, vhost_not_found, vhost_refused,
};
use serde_json::value::RawValue;

const VHOST: &str = "probe";
const GUEST: &str = "guest";
const LIMITED: &str = "limited";

type Json<'a> = &'a [(String, Box<RawValue>)];

/// Reads a request whose steps are told.
pub(super) fn read(request: Json<'_>) -> Result<Steps, String> {
    let mut steps = Steps::default();
    for (key, value) in request {
        match key.as_str() {
            "vhost" => steps.vhost = Some(parse(value)?),
            "user" => {
                let text: String = parse(value)?;
                let (name, _) = user(&text)?;
                if name != LIMITED {
                    return Err(format!("user \"{name}\": steps are asked by \"{LIMITED}\" or \"{GUEST}\""));
                }
                steps.rights = Some(patterns(&text)?);
            }
            "vhost-limit" => {
                let text: String = parse(value)?;
                let most = text.strip_prefix("max-queues ").and_then(|most| most.parse().ok());
                steps.queue_limit = Some(most.ok_or_else(|| format!("\"{text}\" is no limit of queues"))?);
            }
            "steps" => {
                let written: Vec<Object<Box<RawValue>>> = parse(value)?;
                steps.steps = written.iter().map(|step| read_step(&step.0)).collect::<Result<_, _>>()?;
            }
            _ => return Err(format!("no steps for \"{key}\" beside steps")),
        }
    }
    if steps.steps.is_empty() {
        return Err("it has no step".to_owned());
    }
    Ok(steps)
}

fn patterns(user: &str) -> Result<[String; 3], String> {
    let untold = || format!("what user \"{user}\" may do is not told");
    let (_, rights) = user.split_once(", ").ok_or_else(untold)?;
    if let Some(pattern) = rights.strip_prefix("configure/write/read ") {
        return Ok([pattern.to_owned(), pattern.to_owned(), pattern.to_owned()]);
    }
    let rest = rights.strip_prefix("configure ").ok_or_else(untold)?;
    let (configure, rest) = rest.split_once(", write ").ok_or_else(untold)?;
    let (write, read) = rest.split_once(", read ").ok_or_else(untold)?;
    Ok([configure.to_owned(), write.to_owned(), read.to_owned()])
}

/// One step: a method and its properties.
pub(super) fn read_step(written: Json<'_>) -> Result<Step, String> {
    let mut step = StepKeys(written.iter().map(|(key, value)| (key.as_str(), &**value)).collect());
    let by_other = match step.take("by") {
        None => false,
        Some(by) if parse::<String>(by)? == "other" => true,
        Some(by) => return Err(format!("nobody is called {}", by.get())),
    };
    let (method, value) = step.method()?;
    let ask = match method {
        "queue.declare" => {
            let mut request = QueueRequest::passive(name(value)?);
            request.passive = step.flag("passive", false)?;
            request.durable = step.flag("durable", !request.passive)?;
            request.exclusive = step.flag("excl", false)?;
            request.auto_delete = step.flag("auto", false)?;
            request.arguments = step.arguments()?;
            Ask::Queue(request)
        }
        "exchange.declare" => {
            let name = name(value)?;
            let own = std::str::from_utf8(&name).ok().and_then(predeclared).map(|exchange| exchange.kind);
            let mut request = ExchangeRequest::passive(&name);
            if let Some(kind) = step.text("typ")?.or(own.map(String::into_bytes)) {
                request.kind = kind;
            }
            request.passive = step.flag("passive", false)?;
            request.durable = step.flag("durable", !request.passive)?;
            request.auto_delete = step.flag("auto", false)?;
            request.internal = step.flag("internal", false)?;
            request.arguments = step.arguments()?;
            Ask::Exchange(request)
        }
        "queue.bind" | "queue.unbind" | "exchange.bind" | "exchange.unbind" => {
            let [destination, source, key] = parse::<[Box<RawValue>; 3]>(value)?;
            Ask::Binding {
                bind: !method.ends_with("unbind"),
                to: if method.starts_with("queue") { DestinationType::Queue } else { DestinationType::Exchange },
                destination: name(&destination)?,
                source: name(&source)?,
                key: name(&key)?,
                arguments: step.arguments()?,
            }
        }
        "queue.delete" => Ask::DeleteQueue {
            name: name(value)?,
            unused: step.flag("if-unused", false)?,
            empty: step.flag("if-empty", false)?,
        },
        "exchange.delete" => Ask::DeleteExchange { name: name(value)?, unused: step.flag("if-unused", false)? },
        "queue.purge" => Ask::Purge(name(value)?),
        "basic.get" => Ask::Get(name(value)?),
        "basic.publish" => {
            // A recording that names the exchange only published without a routing key.
            let [exchange, key] = match parse::<[Box<RawValue>; 2]>(value) {
                Ok([exchange, key]) => [name(&exchange)?, name(&key)?],
                Err(_) => [name(value)?, Vec::new()],
            };
            Ask::Publish {
                exchange,
                key,
                mandatory: step.flag("mandatory", false)?,
                immediate: step.flag("immediate", false)?,
            }
        }
        "basic.consume" => {
            let mut consume = Consume::from(name(value)?);
            consume.tag = step.text("tag")?.unwrap_or_default();
            consume.exclusive = step.flag("excl", false)?;
            Ask::Consume(consume)
        }
        "basic.ack" => Ask::Ack(parse(value)?),
        "connect" => {
            let [user, password, vhost] = parse(value)?;
            Ask::Connect { user, password, vhost }
        }
        other => return Err(format!("no steps for \"{other}\"")),
    };
    match step.0.first() {
        None => Ok(Step { by_other, ask }),
        Some((key, _)) => Err(format!("no steps for \"{key}\" of {method}")),
    }
}

/// The keys of a step that are still to be read.
struct StepKeys<'a>(Vec<(&'a str, &'a RawValue)>);

impl<'a> StepKeys<'a> {
    fn take(&mut self, key: &str) -> Option<&'a RawValue> {
        let at = self.0.iter().position(|(known, _)| *known == key)?;
        Some(self.0.remove(at).1)
    }

    /// The one key that is no property.
    fn method(&mut self) -> Result<(&'a str, &'a RawValue), String> {
        let is_method = |key: &str| key.contains('.') || key == "connect";
        let at = self.0.iter().position(|(key, _)| is_method(key)).ok_or("it names no method")?;
        Ok(self.0.remove(at))
    }

    fn flag(&mut self, key: &str, default: bool) -> Result<bool, String> {
        self.take(key).map_or(Ok(default), flag)
    }

    fn text(&mut self, key: &str) -> Result<Option<Vec<u8>>, String> {
        self.take(key).map(name).transpose()
    }

    fn arguments(&mut self) -> Result<acemq_core::value::Table, String> {
        self.take("args").map_or_else(|| Ok(acemq_core::value::Table::new()), table)
    }
}

/// Takes all steps on an embedded broker of `version`; the answer to the last one.
pub(super) fn predict(steps: &Steps, version: Version, options: &Options) -> Outcome {
    let vhost = steps.vhost.as_deref().unwrap_or(VHOST);
    let mut conditions = Conditions::new(version, vhost);
    conditions.transient_nonexclusive = !options.deny_transient;
    conditions.queue_limit = steps.queue_limit.map(|most| Limit { maximum: most.into(), declared: 0 });
    let mut broker = EmbeddedBroker::new(conditions);
    let asker = match &steps.rights {
        None => broker.connect(),
        Some([configure, write, read]) => {
            let permissions = Permissions::new(configure, write, read).expect("they were read");
            broker.set_permissions(LIMITED, permissions);
            broker.connect_as(LIMITED).expect("the user was added")
        }
    };
    let other = broker.connect();
    let [asker, other] = [asker, other].map(|connection| broker.open_channel(connection).expect("it is open"));
    let Some((last, before)) = steps.steps.split_last() else { unreachable!("steps are never empty") };
    for step in before {
        if let Err(refused) = take(&mut broker, if step.by_other { other } else { asker }, &step.ask) {
            return Outcome::SetUpRefused(refused);
        }
    }
    take(&mut broker, if last.by_other { other } else { asker }, &last.ask).unwrap_or_else(Outcome::Refused)
}

fn take(broker: &mut EmbeddedBroker, channel: ChannelId, ask: &Ask) -> Result<Outcome, Refused> {
    let method = ask.method();
    let ok = Outcome::Ok { method, name: None, messages: None };
    Ok(match ask {
        Ask::Queue(request) => {
            let name = short_string(&request.name)?;
            let status = if request.passive {
                broker.declare_queue_passively(channel, name)?
            } else {
                let declaration = QueueDeclaration {
                    name: name.to_owned(),
                    durable: request.durable,
                    exclusive: request.exclusive,
                    auto_delete: request.auto_delete,
                    arguments: request.arguments.clone(),
                };
                broker.declare_queue(channel, &declaration)?
            };
            Outcome::Ok { method, name: Some(status.name), messages: Some(status.messages) }
        }
        Ask::Exchange(request) => {
            let name = short_string(&request.name)?;
            if request.passive {
                broker.declare_exchange_passively(channel, name)?;
            } else {
                let declaration = ExchangeDeclaration {
                    name: name.to_owned(),
                    kind: short_string(&request.kind)?.to_owned(),
                    durable: request.durable,
                    auto_delete: request.auto_delete,
                    internal: request.internal,
                    arguments: request.arguments.clone(),
                };
                broker.declare_exchange(channel, &declaration)?;
            }
            ok
        }
        Ask::Binding { bind, to, destination, source, key, arguments } => {
            let binding = BindingDeclaration {
                source: short_string(source)?.to_owned(),
                destination: short_string(destination)?.to_owned(),
                destination_type: *to,
                routing_key: short_string(key)?.to_owned(),
                arguments: arguments.clone(),
            };
            if *bind {
                broker.bind(channel, &binding)?
            } else {
                broker.unbind(channel, &binding)?
            }
            ok
        }
        Ask::DeleteQueue { name, unused, empty } => {
            let condition = DeleteQueue { if_unused: *unused, if_empty: *empty };
            let messages = broker.delete_queue(channel, short_string(name)?, condition)?;
            Outcome::Ok { method, name: None, messages: Some(messages) }
        }
        Ask::DeleteExchange { name, unused } => {
            broker.delete_exchange(channel, short_string(name)?, *unused)?;
            ok
        }
        Ask::Purge(queue) => {
            let messages = broker.purge(channel, short_string(queue)?)?;
            Outcome::Ok { method, name: None, messages: Some(messages) }
        }
        Ask::Publish { immediate: true, .. } => return Err(publish_immediate(broker.conditions())),
        Ask::Publish { exchange, key, mandatory, .. } => {
            let mut publication = Publication::new(short_string(exchange)?, short_string(key)?, "");
            publication.mandatory = *mandatory;
            if broker.publish(channel, publication)?.returned { Outcome::Returned } else { Outcome::Published }
        }
        Ask::Get(queue) => match broker.get(channel, short_string(queue)?, false)? {
            Some(_) => ok,
            None => Outcome::Nothing,
        },
        Ask::Consume(consume) => {
            let subscription = Subscription {
                queue: short_string(&consume.queue)?.to_owned(),
                tag: short_string(&consume.tag)?.to_owned(),
                no_ack: consume.no_ack,
                exclusive: consume.exclusive,
                arguments: consume.arguments.clone(),
            };
            broker.consume(channel, &subscription)?;
            ok
        }
        Ask::Ack(tag) => {
            broker.ack(channel, *tag, false)?;
            ok
        }
        Ask::Connect { user, password, vhost } => {
            let conditions = broker.conditions();
            if ![GUEST, LIMITED].contains(&user.as_str()) || password != user {
                return Err(login_refused("PLAIN"));
            }
            if *vhost != conditions.vhost {
                return Err(vhost_not_found(conditions.version, vhost));
            }
            if user == LIMITED {
                return Err(vhost_refused(conditions, user));
            }
            Outcome::Ok { method: "connection.open", name: None, messages: None }
        }
    })
}
