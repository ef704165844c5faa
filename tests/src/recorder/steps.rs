//! Takes steps on a real broker.

use super::Given;
use super::request::{LIMITED, VHOST};
use crate::amqp::{Channel, Connection, ExchangeRequest, Failure, Login, Publish, Scope};
use crate::broker::{Node, Vhost};
use crate::management::path_segment;
use crate::steps::{Ask, Steps};
use acemq_core::rabbitmq::{BindingDeclaration, DestinationType};

/// Takes all steps, in `probe` unless they name another vhost; the answer to the last one. Whatever was declared is taken away
/// again.
pub(super) fn take(probe: &Vhost<'_>, steps: &Steps) -> Given {
    let own = steps.vhost.as_ref().map(|name| probe.node().vhost(name));
    let vhost = own.as_ref().unwrap_or(probe);
    if let Some(most) = steps.queue_limit {
        vhost.set_limit("max-queues", most.into());
    }
    let asker = match &steps.rights {
        None => vhost.connect(),
        Some([configure, write, read]) => {
            vhost.user(LIMITED, configure, write, read);
            vhost.connect_as(LIMITED, LIMITED)
        }
    };
    let other = steps.steps.iter().any(|step| step.by_other).then(|| vhost.connect());
    let given = take_all(vhost.node(), steps, &asker, other.as_ref().unwrap_or(&asker));
    // Exclusive queues go with their connections, which may be closed already.
    drop(asker);
    drop(other);
    clean_up(vhost, steps);
    given
}

fn take_all(node: &Node, steps: &Steps, asker: &Connection, other: &Connection) -> Given {
    let channels = [asker, other].map(|connection| connection.channel().unwrap());
    let (last, before) = steps.steps.split_last().expect("steps are never empty");
    for step in before {
        if ask(node, &channels[usize::from(step.by_other)], &step.ask).is_err() {
            return Given::NotAsked;
        }
    }
    match ask(node, &channels[usize::from(last.by_other)], &last.ask) {
        Ok(given) => given,
        Err(Failure::Refused(close)) => Given::Refused {
            outcome: match close.scope {
                Scope::Channel => "channel.close",
                Scope::Connection => "connection.close",
            },
            code: close.code,
            text: close.text,
        },
        Err(other) => panic!("{other} to {last:?}"),
    }
}

fn ask(node: &Node, channel: &Channel, ask: &Ask) -> Result<Given, Failure> {
    let ok = |outcome| Given::Ok { outcome, name: None, messages: None };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(match ask {
        Ask::Queue(request) => {
            let declared = channel.declare_queue(request.clone())?;
            let (name, messages) = (Some(text(&declared.name)), Some(declared.messages));
            Given::Ok { outcome: "queue.declare-ok", name, messages }
        }
        Ask::Exchange(request) => {
            channel.declare_exchange(request.clone())?;
            ok("exchange.declare-ok")
        }
        Ask::Binding { bind, to, destination, source, key, arguments } => {
            channel.bind_bytes(*bind, *to, [destination, source, key], arguments)?;
            ok(match (bind, to) {
                (true, DestinationType::Queue) => "queue.bind-ok",
                (false, DestinationType::Queue) => "queue.unbind-ok",
                (true, DestinationType::Exchange) => "exchange.bind-ok",
                (false, DestinationType::Exchange) => "exchange.unbind-ok",
            })
        }
        Ask::DeleteQueue { name, unused, empty } => {
            let messages = channel.delete_queue_if(name, *unused, *empty)?;
            Given::Ok { outcome: "queue.delete-ok", name: None, messages: Some(messages) }
        }
        Ask::DeleteExchange { name, unused } => {
            channel.delete_exchange(name, *unused)?;
            ok("exchange.delete-ok")
        }
        Ask::Purge(queue) => Given::Ok { outcome: "queue.purge-ok", name: None, messages: Some(channel.purge(queue)?) },
        Ask::Publish { exchange, key, mandatory, immediate } => {
            channel.confirm_select()?;
            let message = Publish { mandatory: *mandatory, immediate: *immediate, ..Publish::to(exchange, key) };
            match channel.publish_confirmed(&message)?.returned {
                Some(returned) => Given::Refused { outcome: "basic.return", code: returned.code, text: returned.text },
                None => ok("basic.ack"),
            }
        }
        Ask::Get(queue) => match channel.get(queue, false)? {
            Some(_) => ok("basic.get-ok"),
            None => ok("basic.get-empty"),
        },
        Ask::Consume(consume) => {
            channel.consume(consume)?;
            ok("basic.consume-ok")
        }
        Ask::Ack(tag) => {
            channel.ack(*tag, false)?;
            // Acknowledgements are not answered; a refusal comes with the next request.
            channel.declare_exchange(ExchangeRequest::passive("amq.direct"))?;
            ok("basic.ack-ok")
        }
        Ask::Connect { user, password, vhost } => {
            // The user is there and may nothing, whatever an earlier request let it do.
            node.vhost(VHOST).user(LIMITED, "", "", "");
            let path = format!("/api/permissions/{}/{}", path_segment(VHOST), path_segment(LIMITED));
            node.management().delete(&path).unwrap();
            let login =
                Login { user: user.clone(), password: password.clone(), vhost: vhost.clone(), ..Login::default() };
            node.try_connect(&login)?;
            ok("connection.open-ok")
        }
    })
}

fn clean_up(vhost: &Vhost<'_>, steps: &Steps) {
    if steps.queue_limit.is_some() {
        vhost.set_limit("max-queues", -1);
    }
    let connection = vhost.connect();
    for step in &steps.steps {
        // Refused for what cannot be deleted: predeclared exchanges, names that are no UTF-8.
        let channel = connection.channel().unwrap();
        let _ = match &step.ask {
            Ask::Queue(request) if !request.passive => channel.delete_queue(&request.name).map(drop),
            Ask::Exchange(request) if !request.name.starts_with(b"amq.") => {
                channel.delete_exchange(&request.name, false)
            }
            _ => Ok(()),
        };
    }
}

/// A binding of names that may be no UTF-8.
impl Channel {
    fn bind_bytes(
        &self,
        bind: bool,
        to: DestinationType,
        [destination, source, key]: [&Vec<u8>; 3],
        arguments: &acemq_core::value::Table,
    ) -> Result<(), Failure> {
        let texts = [destination, source, key].map(|bytes| String::from_utf8(bytes.clone()));
        if let [Ok(destination), Ok(source), Ok(routing_key)] = texts {
            let binding = BindingDeclaration {
                source,
                destination,
                destination_type: to,
                routing_key,
                arguments: arguments.clone(),
            };
            return if bind { self.bind(&binding) } else { self.unbind(&binding) };
        }
        let method = match (to, bind) {
            (DestinationType::Queue, true) => (50, 20),
            (DestinationType::Queue, false) => (50, 50),
            (DestinationType::Exchange, true) => (40, 30),
            (DestinationType::Exchange, false) => (40, 40),
        };
        let writer = crate::amqp::Writer::new().u16(0).short(destination).short(source).short(key);
        // unbind of a queue has no bit for "do not answer".
        let writer = if method == (50, 50) { writer } else { writer.u8(0) };
        self.call(method, writer.table(arguments)).map(drop)
    }
}
