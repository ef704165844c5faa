//! A real broker: its address with credentials, and a session over it.

use crate::broker::Wish;
use crate::cli::BrokerArguments;
use crate::failure::{Failure, STOPPED};
use crate::input;
use crate::progress::Progress;
use acemq_core::plan::{PlanSession, Settings};
use acemq_core::topology::Tables;
use acemq_live::{BrokerUrl, Client, Ending, Limits, Secret, Width, drive};
use std::sync::Arc;

/// Where a real broker is.
pub struct Address {
    url: BrokerUrl,
}

impl Address {
    /// Reads the URL, and user and password from their own places where the URL has none.
    pub fn read(url: &str, arguments: &BrokerArguments) -> Result<Self, Failure> {
        let url: BrokerUrl = url.parse().map_err(Failure::input)?;
        let password = match &arguments.password_file {
            Some(file) => {
                let bytes = input::read(file)?;
                let text = String::from_utf8(bytes)
                    .map_err(|_| Failure::input("the password file is not UTF-8".to_owned()))?;
                Some(Secret::new(text.trim_end_matches(['\r', '\n'])))
            }
            None => std::env::var("ACEMQ_PASSWORD").ok().map(Secret::new),
        };
        Ok(Self { url: url.with_default_credentials(arguments.username.clone(), password) })
    }

    /// Runs a session to its end. Ctrl-C ends it early: nothing more is sent, and what was under way is waited for.
    pub fn run(self, tables: Tables, wish: Wish<'_>) -> Result<PlanSession, Failure> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .map_err(|error| Failure::broker(format!("cannot start: {error}")))?;
        runtime.block_on(self.drive(tables, wish))
    }

    async fn drive(self, tables: Tables, wish: Wish<'_>) -> Result<PlanSession, Failure> {
        let vhost = self.url.vhost().to_owned();
        let client = Client::connect(self.url, "acemq", Limits::default()).await.map_err(Failure::broker)?;
        let client = Arc::new(client);
        let mut settings = Settings::amqp(client.broker().clone());
        settings.vhost = Some(vhost);
        wish.apply_to(&mut settings);
        let applies = settings.apply;
        let mut session = PlanSession::new(tables, settings);
        let mut line = Progress::new();
        let stop = async {
            // Without a handler there is nothing to wait for, and Ctrl-C ends the process as usual.
            if tokio::signal::ctrl_c().await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        let ending = drive(&mut session, &client, Width::default(), stop, |at| line.show(at.answered, at.open)).await;
        drop(line);
        client.close().await;
        match ending {
            Ending::Finished => Ok(session),
            // What an apply has done so far is for its own report.
            Ending::Interrupted if applies => Ok(session),
            Ending::Interrupted => Err(Failure::with_code("stopped before every question had its answer", STOPPED)),
        }
    }
}
