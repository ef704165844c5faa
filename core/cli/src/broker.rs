//! Which broker is meant, and running a plan session against it.

use crate::cli::BrokerArguments;
use crate::failure::Failure;
use crate::input;
use crate::live::Address;
use acemq_core::definitions::{self, Definitions, DefinitionsError, Overrides};
use acemq_core::embedded::EmbeddedBroker;
use acemq_core::plan::{BrokerKind, PlanSession, Settings};
use acemq_core::rabbitmq::{Broker, Conditions, Version};
use acemq_core::state::State;
use acemq_core::topology::{Tables, shown_name};

/// The forms that `--broker` takes.
const FORMS: &str = "amqp(s)://USER:PASSWORD@HOST:PORT/VHOST, definitions:FILE or memory:[FILE]";

/// A broker that can be planned against.
#[derive(Clone)]
pub enum Target {
    /// The embedded broker, with what it holds.
    Memory(Box<EmbeddedBroker>),
    /// A definitions file.
    Definitions(Box<State>),
    /// A real broker.
    Real(Box<Address>),
}

/// How the settings of a session differ from a plain plan's.
pub struct Wish<'a>(Box<dyn FnOnce(&mut Settings) + 'a>);

impl<'a> Wish<'a> {
    pub fn new(change: impl FnOnce(&mut Settings) + 'a) -> Self {
        Self(Box::new(change))
    }

    pub fn apply_to(self, settings: &mut Settings) {
        (self.0)(settings);
    }
}

impl Target {
    /// Reads `--broker`; `fallback` stands where nothing is said.
    pub fn resolve(arguments: &BrokerArguments, fallback: Option<&str>) -> Result<Self, Failure> {
        let given = arguments.broker.as_deref().filter(|broker| !broker.is_empty());
        if given.is_none() && arguments.has_management() {
            return Address::read(None, arguments).map(|address| Self::Real(Box::new(address)));
        }
        let Some(broker) = given.or(fallback) else {
            return Err(Failure::input(format!("which broker? give --broker or set ACEMQ_BROKER: {FORMS}")));
        };
        let is_amqp = broker.starts_with("amqp://") || broker.starts_with("amqps://");
        if !is_amqp && arguments.has_management() {
            return Err(Failure::input("--management goes with amqp://… or stands alone"));
        }
        if let Some(file) = broker.strip_prefix("memory:") {
            return memory(file, arguments.rabbitmq.unwrap_or(Version::NEWEST));
        }
        if let Some(reference) = broker.strip_prefix("definitions:") {
            let file = definitions_file(reference, arguments.rabbitmq)?;
            return file.state(file.vhost.as_deref()).map(|state| Self::Definitions(Box::new(state)));
        }
        if is_amqp {
            return Address::read(Some(broker), arguments).map(|address| Self::Real(Box::new(address)));
        }
        // What was given may hold a password, so only what cannot is shown.
        let scheme = broker.split(':').next().filter(|scheme| scheme.len() < broker.len() && scheme.len() < 20);
        Err(Failure::input(match scheme {
            Some(scheme) => format!("\"{}:\" is no kind of broker; --broker takes {FORMS}", shown_name(scheme)),
            None => format!("the broker has no kind; --broker takes {FORMS}"),
        }))
    }

    /// Everything that it holds.
    pub fn state(self) -> Result<State, Failure> {
        match self {
            Self::Memory(broker) => Ok(broker.state()),
            Self::Definitions(state) => Ok(*state),
            Self::Real(address) => address.state(),
        }
    }

    /// Whether anything can be declared on it.
    pub fn can_declare(&self) -> bool {
        match self {
            Self::Memory(_) => true,
            Self::Definitions(_) => false,
            Self::Real(address) => address.can_declare(),
        }
    }

    /// Whether policies can be set on it.
    pub fn can_set_policies(&self) -> bool {
        match self {
            Self::Memory(_) | Self::Definitions(_) => false,
            Self::Real(address) => address.can_set_policies(),
        }
    }
}

fn memory(file: &str, version: Version) -> Result<Target, Failure> {
    let mut broker = EmbeddedBroker::new(Conditions::new(version, "/"));
    if !file.is_empty() {
        let tables = input::tables(file, false)?;
        let owner = broker.connect();
        broker
            .declare_all(owner, &tables)
            .map_err(|refused| Failure::input(format!("memory:{}: {refused}", shown_name(file))))?;
    }
    Ok(Target::Memory(Box::new(broker)))
}

/// What stands behind `definitions:`: the file that was read, and what its query asks for.
pub struct DefinitionsFile {
    file: String,
    /// The file as it was read.
    pub definitions: Definitions,
    /// The vhost that the query chooses.
    pub vhost: Option<String>,
    overrides: Overrides,
}

impl DefinitionsFile {
    /// One of its vhosts.
    pub fn state(&self, vhost: Option<&str>) -> Result<State, Failure> {
        self.definitions.state(vhost, &self.overrides).map_err(|error| placed(&self.file, &error))
    }
}

fn placed(file: &str, error: &DefinitionsError) -> Failure {
    Failure::input(format!("{}: {error}", shown_name(file)))
}

/// Reads `FILE?vhost=NAME&version=VERSION&default_queue_type=TYPE`.
pub fn definitions_file(reference: &str, version: Option<Version>) -> Result<DefinitionsFile, Failure> {
    let (file, query) = reference.rsplit_once('?').unwrap_or((reference, ""));
    let mut vhost = None;
    let mut overrides = Overrides { version, default_queue_type: None };
    for (key, value) in form_urlencoded::parse(query.as_bytes()) {
        match &*key {
            "vhost" => vhost = Some(value.into_owned()),
            "version" => overrides.version = Some(value.parse().map_err(Failure::input)?),
            "default_queue_type" => overrides.default_queue_type = Some(value.into_owned()),
            other => {
                return Err(Failure::input(format!(
                    "definitions: takes ?vhost=, ?version= and ?default_queue_type=, not \"{}\"",
                    shown_name(other)
                )));
            }
        }
    }
    let definitions = definitions::read(&input::read(file)?).map_err(|error| placed(file, &error))?;
    Ok(DefinitionsFile { file: file.to_owned(), definitions, vhost, overrides })
}

/// Runs a session to its end.
pub fn run(target: Target, tables: Tables, wish: Wish<'_>) -> Result<PlanSession, Failure> {
    match target {
        Target::Definitions(state) => {
            let mut settings = Settings::known(BrokerKind::Definitions, *state);
            wish.apply_to(&mut settings);
            settings.apply = false;
            Ok(PlanSession::new(tables, settings))
        }
        Target::Memory(mut broker) => {
            let mut settings = Settings::amqp(Broker::rabbitmq(broker.conditions().version));
            settings.kind = BrokerKind::Memory;
            settings.vhost = Some(broker.conditions().vhost.clone());
            wish.apply_to(&mut settings);
            let mut session = PlanSession::new(tables, settings);
            broker.drive(&mut session);
            Ok(session)
        }
        Target::Real(address) => address.run(tables, wish),
    }
}
