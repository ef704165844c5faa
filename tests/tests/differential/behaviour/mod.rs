//! Random lives of messages: published, got, put back, rejected, expired, dropped, dead-lettered, on the embedded broker and
//! on a real one. After each step both must hold the same, and at the end every message must be in the same queue, in the
//! same order, with the same headers.
//!
//! `ACEMQ_DIFFERENTIAL=10` multiplies the number of lives, and `ACEMQ_SEED=7` draws others.

mod life;
mod model;
mod real;

use acemq_core::rabbitmq::Version;
use acemq_tests::broker::Vhost;
use acemq_tests::draw::{Draw, scale};
use acemq_tests::on_every_broker;
use life::{Life, Step};
use model::Model;
use real::Real;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Lives in which no time passes, on each generation.
const TIMELESS: usize = 80;
/// Lives in which it does.
const TIMED: usize = 24;
const STEPS: usize = 24;
/// Waiting is most of what they do.
const THREADS: usize = 8;

on_every_broker! {
    fn messages_live_and_die_alike_while_no_time_passes(node) {
        let vhost = node.fresh_vhost();
        compare(&vhost, node.version(), TIMELESS * scale(), |draw, name| Life::timeless(draw, name, STEPS));
    }

    fn messages_live_and_die_alike_while_time_passes(node) {
        let vhost = node.fresh_vhost();
        compare(&vhost, node.version(), TIMED * scale(), Life::timed);
    }
}

fn compare(vhost: &Vhost<'_>, version: Version, lives: usize, life: impl Fn(&mut Draw, &str) -> Life + Sync) {
    let disagreements = Mutex::new(Vec::new());
    let dead = Mutex::new(0);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (disagreements, dead, life) = (&disagreements, &dead, &life);
            scope.spawn(move || {
                for number in (thread..lives).step_by(THREADS) {
                    let name = format!("l{number}");
                    let life = life(&mut Draw::new(number), &name);
                    match live(vhost, version, &life) {
                        Ok(deaths) => *dead.lock().unwrap() += deaths,
                        Err(why) => disagreements.lock().unwrap().push(format!("life {number}: {why}\n{life}")),
                    }
                }
            });
        }
    });
    let mut disagreements = disagreements.into_inner().unwrap();
    let count = disagreements.len();
    disagreements.truncate(5);
    assert!(count == 0, "{count} of {lives} lives disagree on {version}:\n{}", disagreements.join("\n"));
    let dead = dead.into_inner().unwrap();
    assert!(dead > lives / 2, "only {dead} messages were dead-lettered");
}

/// Lives one life on both; how many dead letters there were, or the first disagreement.
///
/// The engine's clock follows the real one. Both are never at the very same instant, so a life in which messages expire is
/// believed to disagree only when it does so each time.
fn live(vhost: &Vhost<'_>, version: Version, life: &Life) -> Result<usize, String> {
    let attempts = if life.timed { 3 } else { 1 };
    let mut answer = live_once(vhost, version, life);
    for _ in 1..attempts {
        if answer.is_err() {
            answer = live_once(vhost, version, life);
        }
    }
    answer
}

fn live_once(vhost: &Vhost<'_>, version: Version, life: &Life) -> Result<usize, String> {
    let mut real = Real::new(vhost, life);
    let mut model = Model::new(version, vhost.name(), life);
    for (index, step) in life.steps.iter().enumerate() {
        if step.is_about_all() && model.holds_from_several_queues() {
            // What comes back to two queues at once may overflow in both, and then the dead letters race.
            continue;
        }
        let place = |why: String| format!("step {index}, {step:?}: {why}");
        if let Step::Wait(milliseconds) = step {
            std::thread::sleep(Duration::from_millis(*milliseconds));
        }
        follow(&mut model, &real, life);
        let deaths = model.dead_letters();
        let (expected, actual) = (model.act(step), real.act(step));
        if expected != actual {
            return Err(place(format!("the broker says {actual:?}, the engine {expected:?}")));
        }
        if model.dead_letters() > deaths {
            // Dead letters take a moment, and where queues are full their number does not show it.
            std::thread::sleep(Duration::from_millis(150));
        }
        settle(&mut model, &real, life).map_err(place)?;
    }
    for queue in life.queues.iter().map(|queue| queue.name.as_str()) {
        let (expected, actual) = (model.drain(queue, life.timed), real.drain(queue, life.timed));
        if expected != actual {
            let at = expected.iter().zip(&actual).take_while(|(one, other)| one == other).count();
            let (expected, actual) = (expected.get(at), actual.get(at));
            return Err(format!(
                "at the end message {at} of {queue}: on the broker {actual:?}, in the engine {expected:?}"
            ));
        }
    }
    real.clean_up(life);
    Ok(model.dead_letters())
}

/// The engine's clock is set to the real one.
fn follow(model: &mut Model, real: &Real, life: &Life) {
    if life.timed {
        model.advance_to(real.elapsed());
    }
}

/// Waits until the queues hold equally many messages on both.
fn settle(model: &mut Model, real: &Real, life: &Life) -> Result<(), String> {
    let deadline = Instant::now() + Duration::from_secs(3);
    loop {
        let counts = real.counts(life);
        follow(model, real, life);
        let expected = model.counts();
        if counts == expected {
            return Ok(());
        }
        if Instant::now() > deadline {
            return Err(format!("queues hold {counts:?} on the broker, {expected:?} in the engine"));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}
