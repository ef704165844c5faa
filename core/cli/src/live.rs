//! A real broker: its addresses with credentials, and a session over them.

use crate::broker::Wish;
use crate::cli::BrokerArguments;
use crate::failure::{Failure, STOPPED};
use crate::input;
use crate::progress::Progress;
use acemq_core::migration::history::Place;
use acemq_core::plan::{BrokerKind, PlanSession, Settings};
use acemq_core::state::State;
use acemq_core::topology::Tables;
use acemq_live::{BrokerUrl, Client, Ending as DriveEnding, Limits, Management, ManagementUrl, Secret, Width, drive};
use acemq_migrate::history::{Author, Keeping, Session};
use acemq_migrate::{RunError, Runner, Stop, Stopper};
use std::future::Future;
use std::io::Write as _;
use std::sync::Arc;

/// Where a real broker is: AMQP, the management API, or both.
#[derive(Clone)]
pub struct Address {
    amqp: Option<BrokerUrl>,
    management: Option<ManagementUrl>,
    vhost: String,
}

impl Address {
    /// Reads the URLs, and user and password from their own places where a URL has none.
    pub fn read(amqp: Option<&str>, arguments: &BrokerArguments) -> Result<Self, Failure> {
        let password = password(arguments)?;
        let amqp = match amqp {
            Some(url) => {
                let url: BrokerUrl = url.parse().map_err(Failure::input)?;
                Some(url.with_default_credentials(arguments.username.clone(), password.clone()))
            }
            None => None,
        };
        let management = match arguments.management.as_deref().filter(|url| !url.is_empty()) {
            Some(url) => {
                let url: ManagementUrl = url.parse().map_err(Failure::input)?;
                Some(url.with_default_credentials(arguments.username.clone(), password))
            }
            None => None,
        };
        let vhost = match &amqp {
            Some(url) => url.vhost().to_owned(),
            None => arguments.vhost.clone().unwrap_or_else(|| "/".to_owned()),
        };
        Ok(Self { amqp, management, vhost })
    }

    /// The broker of these arguments, in another vhost.
    pub fn of_vhost(arguments: &BrokerArguments, vhost: &str) -> Result<Self, Failure> {
        let mut address = Self::read(arguments.broker.as_deref().filter(|url| !url.is_empty()), arguments)?;
        vhost.clone_into(&mut address.vhost);
        address.amqp = address.amqp.map(|url| url.with_vhost(vhost)).transpose().map_err(Failure::input)?;
        Ok(address)
    }

    /// The vhosts that the user may see, by the management API.
    pub fn vhosts(self) -> Result<Vec<String>, Failure> {
        let Some(url) = self.management else { return Err(Failure::input("only the management API lists vhosts")) };
        let management = Management::new(url, Limits::default()).map_err(Failure::broker)?;
        block_on(management.vhosts())?.map_err(Failure::broker)
    }

    /// The real broker of these arguments; nothing else can be migrated.
    pub fn of(arguments: &BrokerArguments) -> Result<Self, Failure> {
        let amqp = arguments.broker.as_deref().filter(|url| url.starts_with("amqp://") || url.starts_with("amqps://"));
        if amqp.is_none() || !arguments.has_management() {
            return Err(Failure::input(
                "a migration changes the broker over AMQP and reads it over the management API; give --broker amqp://… and --management http://…",
            ));
        }
        Self::read(amqp, arguments)
    }

    /// Whether there is what a migration needs: AMQP to change the vhost, the management API to read it.
    pub const fn can_migrate(&self) -> bool {
        self.amqp.is_some() && self.management.is_some()
    }

    /// Does something with the migrations of the vhost.
    pub fn migrating<T>(
        self,
        keeping: &Keeping,
        node_management: &[String],
        work: impl AsyncFnOnce(&Session<'_>) -> Result<T, RunError>,
    ) -> Result<T, Failure> {
        let (Some(amqp), Some(url)) = (self.amqp, self.management) else {
            return Err(Failure::input("give --broker amqp://… and --management http://…"));
        };
        let (user, name) = (url.clone(), amqp.user().to_owned());
        let nodes = node_management.iter().map(|node| {
            let node: ManagementUrl = node.parse().map_err(Failure::input)?;
            Ok(node.with_credentials_of(&user))
        });
        let nodes = nodes.collect::<Result<Vec<_>, Failure>>()?;
        block_on(async {
            let limits = Limits::default();
            let management = Management::new(url, limits).map_err(Failure::broker)?;
            let cluster = management.cluster_name().await.map_err(Failure::broker)?;
            let client = Client::connect(amqp, "acemq migrate", limits).await.map_err(Failure::broker)?;
            let author = Author {
                by: author(),
                tool: env!("CARGO_PKG_VERSION").to_owned(),
                broker: client.broker().to_string(),
            };
            let runner = Runner::new(&client, &management, &self.vhost)
                .with_node_apis(nodes)
                .with_user(name)
                .with_stop(stop_on_signals());
            let place = Place { cluster, vhost: self.vhost.clone() };
            let session = Session::new(runner, &client, keeping.clone(), place, author);
            let outcome = work(&session).await;
            drop(session);
            client.close().await;
            outcome.map_err(|error| match &error {
                RunError::Plan(_) | RunError::Script { .. } | RunError::History(_) | RunError::Apart { .. } => {
                    Failure::input(&error)
                }
                // Running again would meet the same refusal.
                RunError::Denied { .. } => Failure::broker(&error),
                RunError::Management(_) | RunError::Operation(_) | RunError::Locked { .. } | RunError::Journal(_) => {
                    Failure::with_code(&error, STOPPED)
                }
            })
        })?
    }

    /// The vhost as the management API tells it.
    pub fn state(self) -> Result<State, Failure> {
        let Some(url) = self.management else {
            return Err(Failure::input(
                "AMQP tells neither exchanges nor bindings; give --management, or a definitions export in place of the broker",
            ));
        };
        let management = Management::new(url, Limits::default()).map_err(Failure::broker)?;
        block_on(management.state(&self.vhost))?.map_err(Failure::broker)
    }

    /// Whether there is AMQP to declare by.
    pub const fn can_declare(&self) -> bool {
        self.amqp.is_some()
    }

    /// Whether policies can be set.
    pub const fn can_set_policies(&self) -> bool {
        self.management.is_some()
    }

    /// Runs a session to its end. Ctrl-C ends it early: nothing more is sent, and what was under way is waited for.
    pub fn run(self, tables: Tables, wish: Wish<'_>) -> Result<PlanSession, Failure> {
        block_on(self.drive(tables, wish))?
    }

    async fn drive(self, tables: Tables, wish: Wish<'_>) -> Result<PlanSession, Failure> {
        let limits = Limits::default();
        let management = match self.management {
            Some(url) => Some(Arc::new(Management::new(url, limits).map_err(Failure::broker)?)),
            None => None,
        };
        let state = match &management {
            Some(management) => Some(management.state(&self.vhost).await.map_err(Failure::broker)?),
            None => None,
        };
        let Some(url) = self.amqp else {
            let mut settings = match state {
                Some(state) => Settings::known(BrokerKind::Management, state),
                None => return Err(Failure::input("give the broker's amqp:// or management URL")),
            };
            wish.apply_to(&mut settings);
            return Ok(PlanSession::new(tables, settings));
        };
        let mut client = Client::connect(url, "acemq", limits).await.map_err(Failure::broker)?;
        let mut settings = Settings::amqp(client.broker().clone());
        settings.vhost = Some(self.vhost.clone());
        if let Some(management) = management {
            settings.kind = BrokerKind::Management;
            settings.can_set_policies = true;
            settings.state = state;
            client = client.with_management(management, self.vhost);
        }
        let client = Arc::new(client);
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
            DriveEnding::Finished => Ok(session),
            // What an apply has done so far is for its own report.
            DriveEnding::Interrupted if applies => Ok(session),
            DriveEnding::Interrupted => {
                Err(Failure::with_code("stopped before every question had its answer", STOPPED))
            }
        }
    }
}

/// Stops a migration between two changes on Ctrl-C and on what ends a pod; the second time at once.
fn stop_on_signals() -> Stop {
    let (stopper, stop) = Stopper::new();
    tokio::spawn(async move {
        for attempt in 1.. {
            // Without a handler there is nothing to wait for, and Ctrl-C ends the process as usual.
            if signal().await.is_err() {
                return;
            }
            if attempt > 1 {
                std::process::exit(i32::from(STOPPED));
            }
            let _ =
                writeln!(std::io::stderr(), "stopping behind the change that is under way; once more stops at once");
            stopper.stop();
        }
    });
    stop
}

/// Ctrl-C, or SIGTERM where there is one.
async fn signal() -> std::io::Result<()> {
    #[cfg(unix)]
    {
        let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
        tokio::select! {
            interrupt = tokio::signal::ctrl_c() => interrupt,
            _ = terminate.recv() => Ok(()),
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await
}

/// A vhost of the management API at `url`, with the credentials of `arguments` where the URL has none.
pub fn state_at(url: &str, vhost: &str, arguments: &BrokerArguments) -> Result<State, Failure> {
    let management = management_at(url, arguments)?;
    block_on(management.state(vhost))?.map_err(Failure::broker)
}

/// The vhosts of the management API at `url` that the user may see.
pub fn vhosts_at(url: &str, arguments: &BrokerArguments) -> Result<Vec<String>, Failure> {
    let management = management_at(url, arguments)?;
    block_on(management.vhosts())?.map_err(Failure::broker)
}

fn management_at(url: &str, arguments: &BrokerArguments) -> Result<Management, Failure> {
    let url: ManagementUrl = url.parse().map_err(Failure::input)?;
    let url = url.with_default_credentials(arguments.username.clone(), password(arguments)?);
    Management::new(url, Limits::default()).map_err(Failure::broker)
}

fn password(arguments: &BrokerArguments) -> Result<Option<Secret>, Failure> {
    let Some(file) = &arguments.password_file else {
        return Ok(std::env::var("ACEMQ_PASSWORD").ok().map(Secret::new));
    };
    let text = String::from_utf8(input::read(file)?).map_err(|_| Failure::input("the password file is not UTF-8"))?;
    Ok(Some(Secret::new(text.trim_end_matches(['\r', '\n']))))
}

/// Who works here, for the history: user and host.
fn author() -> String {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let user = variable("USER").or_else(|| variable("LOGNAME")).or_else(|| variable("USERNAME"));
    let host = variable("HOSTNAME").or_else(|| std::fs::read_to_string("/etc/hostname").ok());
    let host = host.or_else(|| variable("COMPUTERNAME")).map(|host| host.trim().to_owned());
    let known: Vec<String> = [user, host].into_iter().flatten().filter(|name| !name.is_empty()).collect();
    if known.is_empty() { "unknown".to_owned() } else { known.join("@") }
}

fn block_on<T>(future: impl Future<Output = T>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    Ok(runtime.map_err(|error| Failure::broker(format!("cannot start: {error}")))?.block_on(future))
}
