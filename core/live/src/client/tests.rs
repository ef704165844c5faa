//! The client against a scripted broker, which does to a connection what real ones do.
//!
//! A queue's name says what happens when it is looked up: `absent` closes the channel, `fatal` the connection, `cut` ends the
//! connection without a word, `restart` closes it the first time, `silent` is never answered; everything else is there.

use super::*;
use crate::transport;
use acemq_core::rabbitmq::{Scope, Version};
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::watch;
use tokio::task::JoinSet;

const ANSWERED_AFTER: Duration = Duration::from_millis(10);

#[derive(Default)]
struct Counts {
    connections: AtomicUsize,
    channels: AtomicUsize,
    asked: AtomicUsize,
    restarts: AtomicUsize,
    /// Connections that can be had; 0 for any number.
    at_most: usize,
}

struct Scripted(Arc<Counts>);

struct ScriptedConnection {
    counts: Arc<Counts>,
    broker: rabbitmq::Broker,
    ended: Arc<watch::Sender<Option<Ended>>>,
}

struct ScriptedChannel {
    counts: Arc<Counts>,
    ended: Arc<watch::Sender<Option<Ended>>>,
}

impl transport::Broker for Scripted {
    type Connection = ScriptedConnection;

    async fn connect(&self, _: Duration) -> Result<ScriptedConnection, ConnectError> {
        let number = self.0.connections.fetch_add(1, Ordering::SeqCst) + 1;
        if self.0.at_most > 0 && number > self.0.at_most {
            let failure = crate::ConnectFailure::NotListening { port: 5672 };
            return Err(ConnectError { url: "amqp://scripted/".to_owned(), failure });
        }
        Ok(ScriptedConnection {
            counts: Arc::clone(&self.0),
            broker: rabbitmq::Broker::rabbitmq(Version::NEWEST),
            ended: Arc::new(watch::Sender::new(None)),
        })
    }
}

impl transport::Connection for ScriptedConnection {
    type Channel = ScriptedChannel;

    fn broker(&self) -> &rabbitmq::Broker {
        &self.broker
    }

    fn is_open(&self) -> bool {
        self.ended.borrow().is_none()
    }

    fn channels_to_lose(&self) -> usize {
        3
    }

    async fn open_channel(&self, _: Duration) -> Result<ScriptedChannel, Ended> {
        self.counts.channels.fetch_add(1, Ordering::SeqCst);
        Ok(ScriptedChannel { counts: Arc::clone(&self.counts), ended: Arc::clone(&self.ended) })
    }

    async fn close(self, _: Duration) {}
}

impl transport::Channel for ScriptedChannel {
    async fn perform(&mut self, operation: &Operation, limit: Duration) -> Result<crate::Done, Ended> {
        self.counts.asked.fetch_add(1, Ordering::SeqCst);
        let Operation::LookUpQueue(name) = operation else { panic!("only look-ups are scripted") };
        let ends_it = matches!(name.as_str(), "fatal" | "cut" | "restart");
        let pause = if ends_it { ANSWERED_AFTER / 2 } else { ANSWERED_AFTER };
        let mut ended = self.ended.subscribe();
        tokio::select! {
            biased;
            now = ended.wait_for(Option::is_some) => {
                return Err(now.ok().and_then(|why| why.clone()).expect("the sender is held"));
            }
            () = tokio::time::sleep(pause) => {}
        }
        let end = match name.as_str() {
            "absent" => return Err(Ended::ChannelClosed(refused(404, Scope::Channel))),
            "silent" => {
                tokio::time::sleep(limit).await;
                return Err(Ended::Silence { after: limit });
            }
            "fatal" => Ended::ConnectionClosed(refused(541, Scope::Connection)),
            "cut" => Ended::ConnectionLost("end of file".to_owned()),
            "restart" if self.counts.restarts.fetch_add(1, Ordering::SeqCst) == 0 => {
                Ended::ConnectionClosed(refused(320, Scope::Connection))
            }
            _ => return Ok(crate::Done::Ok),
        };
        self.ended.send_replace(Some(end.clone()));
        Err(end)
    }
}

fn refused(code: u16, scope: Scope) -> Refused {
    Refused { code, text: format!("REASON {code}"), scope }
}

async fn client(at_most: usize) -> (Arc<Client<Scripted>>, Arc<Counts>) {
    let counts = Arc::new(Counts { at_most, ..Counts::default() });
    let client = Client::over(Scripted(Arc::clone(&counts)), Limits::default()).await.expect("the first one works");
    (Arc::new(client), counts)
}

fn look_up(name: &str) -> Operation {
    Operation::LookUpQueue(name.to_owned())
}

/// Asks all at the same time; the answers come in the order of the names.
async fn all(client: &Arc<Client<Scripted>>, names: &[&str]) -> Vec<Answer> {
    let mut tasks = JoinSet::new();
    for (at, name) in names.iter().enumerate() {
        let (client, operation) = (Arc::clone(client), look_up(name));
        tasks.spawn(async move { (at, client.ask(&operation).await) });
    }
    let mut answers = tasks.join_all().await;
    answers.sort_by_key(|(at, _)| *at);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

const DONE: Answer = Answer::Done(crate::Done::Ok);

#[tokio::test(start_paused = true)]
async fn channels_that_answered_are_used_again() {
    let (client, counts) = client(0).await;
    for _ in 0..20 {
        assert_eq!(client.ask(&look_up("q")).await, DONE);
    }
    assert_eq!(counts.channels.load(Ordering::SeqCst), 1);
    all(&client, &["q"; 8]).await;
    all(&client, &["q"; 8]).await;
    assert_eq!(counts.channels.load(Ordering::SeqCst), 8);
    assert_eq!(counts.connections.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn a_connection_is_replaced_before_its_channel_numbers_run_out() {
    let (client, counts) = client(0).await;
    for _ in 0..10 {
        assert_eq!(client.ask(&look_up("absent")).await, Answer::Refused(refused(404, Scope::Channel)));
    }
    // Three channels may go on each: 3 + 3 + 3 + 1.
    assert_eq!(counts.connections.load(Ordering::SeqCst), 4);
    assert_eq!(counts.asked.load(Ordering::SeqCst), 10);
}

#[tokio::test(start_paused = true)]
async fn only_the_question_that_closes_the_connection_is_refused() {
    let (client, _) = client(0).await;
    let answers = all(&client, &["q", "q", "q", "fatal", "q", "q", "q", "q"]).await;
    for (at, answer) in answers.into_iter().enumerate() {
        let expected = if at == 3 { Answer::Refused(refused(541, Scope::Connection)) } else { DONE };
        assert_eq!(answer, expected, "question {at}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_that_had_the_connection_to_itself_is_not_asked_again() {
    let (client, counts) = client(0).await;
    assert_eq!(client.ask(&look_up("fatal")).await, Answer::Refused(refused(541, Scope::Connection)));
    assert_eq!((counts.asked.load(Ordering::SeqCst), counts.connections.load(Ordering::SeqCst)), (1, 1));
    assert_eq!(client.ask(&look_up("q")).await, DONE);
}

#[tokio::test(start_paused = true)]
async fn a_question_that_ends_every_connection_without_a_word_is_lost() {
    let (client, counts) = client(0).await;
    let lost = Answer::Failed(Failure::ConnectionLost { why: "end of file".to_owned() });
    assert_eq!(client.ask(&look_up("cut")).await, lost);
    assert_eq!(counts.asked.load(Ordering::SeqCst), 2);
    assert_eq!(client.ask(&look_up("q")).await, DONE);
}

#[tokio::test(start_paused = true)]
async fn questions_survive_a_restart_of_the_broker() {
    let (client, _) = client(0).await;
    assert_eq!(all(&client, &["q", "restart", "q"]).await, [DONE, DONE, DONE]);
}

#[tokio::test(start_paused = true)]
async fn a_broker_that_stays_away_is_given_up_once_for_all() {
    let (client, counts) = client(1).await;
    let started = Instant::now();
    let answers = all(&client, &["q", "cut", "q"]).await;
    let gone = Answer::Failed(Failure::Unavailable {
        why: "nothing listens on port 5672; start the broker, or check host and port (RabbitMQ's are 5672, and 5671 for amqps)".to_owned(),
    });
    assert_eq!(answers, [gone.clone(), gone.clone(), gone.clone()]);
    let limit = Limits::default().reconnect;
    assert!(started.elapsed() <= limit + Duration::from_secs(2), "{:?}", started.elapsed());
    let (attempts, when) = (counts.connections.load(Ordering::SeqCst), Instant::now());
    for _ in 0..1000 {
        assert_eq!(client.ask(&look_up("q")).await, gone);
    }
    assert_eq!(counts.connections.load(Ordering::SeqCst), attempts);
    assert_eq!(when.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_silent_broker_costs_one_limit_and_nobody_elses_answer() {
    let (client, counts) = client(0).await;
    let started = Instant::now();
    let answers = all(&client, &["q", "silent", "q"]).await;
    let after = Limits::default().question;
    assert_eq!(answers, [DONE, Answer::Failed(Failure::Timeout { after }), DONE]);
    assert_eq!(started.elapsed(), after + ANSWERED_AFTER);
    assert_eq!(client.ask(&look_up("q")).await, DONE);
    assert_eq!(counts.connections.load(Ordering::SeqCst), 2);
}

#[tokio::test(start_paused = true)]
async fn whoever_stops_waiting_harms_nobody() {
    let (client, _) = client(0).await;
    let operation = look_up("silent");
    assert!(tokio::time::timeout(Duration::from_millis(50), client.ask(&operation)).await.is_err());
    assert_eq!(client.ask(&look_up("q")).await, DONE);
    assert_eq!(client.ask(&look_up("fatal")).await, Answer::Refused(refused(541, Scope::Connection)));
}
