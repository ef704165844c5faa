//! A runner that kills itself: nothing of it is cleaned up, as when its machine goes.

use acemq_migrate::{Change, Ending, Journal, JournalError};
use acemq_tests::running::{Addresses, migrate_recorded};
use async_trait::async_trait;
use std::process::{Command, ExitCode};

struct Dying {
    after: bool,
    step: usize,
}

impl Dying {
    fn die(&self, after: bool, number: usize) {
        if (self.after, self.step) == (after, number) {
            let _ = Command::new("kill").arg("-KILL").arg(std::process::id().to_string()).status();
            // The signal comes.
            loop {
                std::thread::park();
            }
        }
    }
}

#[async_trait]
impl Journal for Dying {
    async fn before(&mut self, change: Change<'_>) -> Result<(), JournalError> {
        self.die(false, change.number);
        Ok(())
    }

    async fn after(&mut self, change: Change<'_>) -> Result<(), JournalError> {
        self.die(true, change.number);
        Ok(())
    }
}

pub fn run(moment: &str, step: usize, addresses: &Addresses, file: &str) -> ExitCode {
    let mut journal = Dying { after: moment == "after", step };
    match migrate_recorded(addresses, file, &mut journal, |_| true) {
        Some(Ok(Ending::Finished)) => ExitCode::SUCCESS,
        Some(Ok(Ending::Waiting(why) | Ending::Stopped(why))) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
        Some(Err(error)) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
        None => ExitCode::FAILURE,
    }
}
