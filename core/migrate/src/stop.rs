//! Being told to stop: by Ctrl-C, or by whatever ends a pod.
//!
//! A run stops between two changes, where every state is safe and the next run goes on, and says so in its history.

use std::time::Duration;
use tokio::sync::watch;

/// How a run that was told to stop ends.
pub(crate) const STOPPED: &str = "it was told to stop; nothing is lost or doubled as it is now; run again to go on";

/// The same while another runner is at work.
pub(crate) const STOPPED_AT_THE_LOCK: &str =
    "it was told to stop while another runner is at work; nothing was changed here; run again to see how that ended";

/// Where a run hears that it has to stop.
#[derive(Debug, Clone)]
pub struct Stop(Option<watch::Receiver<bool>>);

/// Whoever tells it.
#[derive(Debug)]
pub struct Stopper(watch::Sender<bool>);

impl Stopper {
    /// One that has not told anybody yet, and where it is heard.
    pub fn new() -> (Self, Stop) {
        let (sender, receiver) = watch::channel(false);
        (Self(sender), Stop(Some(receiver)))
    }

    /// Tells every run that listens.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl Stop {
    /// Nobody tells it.
    pub const fn never() -> Self {
        Self(None)
    }

    pub(crate) fn is_asked_for(&self) -> bool {
        self.0.as_ref().is_some_and(|told| *told.borrow())
    }

    /// Waits so long, or until it is asked for.
    pub(crate) async fn or_after(&self, time: Duration) {
        let asked_for = async {
            if let Some(told) = &self.0
                && told.clone().wait_for(|told| *told).await.is_ok()
            {
                return;
            }
            std::future::pending::<()>().await;
        };
        // Either way the wait is over.
        let _ = tokio::time::timeout(time, asked_for).await;
    }
}
