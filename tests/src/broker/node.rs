//! One node, or three in a cluster.

use super::generation::{Generation, Installation};
use super::process::{Supervised, free_ports, wait_for};
use super::vhost::Vhost;
use crate::amqp::{Connection, Login};
use crate::management::Management;
use acemq_core::rabbitmq::Version;
use serde_json::Value as Json;
use serde_json::json;
use std::fs;
use std::io;
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// A cold start takes 3–7 s on an idle machine with two cores.
const START_LIMIT: Duration = Duration::from_secs(120);
/// One more attempt with new ports each time: a port that was free may be taken before the broker listens on it.
const START_ATTEMPTS: u32 = 3;
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// How a node differs from a plain one.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Lines for `rabbitmq.conf`.
    pub config: Vec<String>,
    /// Plugins beside the management plugin.
    pub plugins: Vec<String>,
}

/// A running RabbitMQ node of this process's own.
pub struct Node {
    generation: Generation,
    version: Version,
    name: String,
    ports: Ports,
    /// What it prints and logs.
    folder: PathBuf,
    environment: Vec<(&'static str, String)>,
    // Dropped in this order: the server goes before the port mapper that it talks to.
    server: Supervised,
    site: Arc<Site>,
}

#[derive(Debug, Clone, Copy)]
struct Ports {
    amqp: u16,
    management: u16,
    distribution: u16,
}

/// What the nodes of one cluster share: a folder with the Erlang cookie, and a port mapper.
struct Site {
    installation: Installation,
    /// The folder as the broker sees it.
    inside: String,
    epmd_port: u16,
    _epmd: Supervised,
}

impl Node {
    /// Starts a node and waits until it takes AMQP connections and management requests.
    ///
    /// # Errors
    /// When this machine has no such generation, or the node does not start; the text holds the end of its log.
    pub fn start(generation: Generation) -> Result<Self, String> {
        Self::start_with(generation, &Settings::default())
    }

    /// [`start`](Self::start) with settings.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn start_with(generation: Generation, settings: &Settings) -> Result<Self, String> {
        let site = Arc::new(Site::open(generation.installation()?)?);
        Self::start_in(&site, generation, "node", settings)
    }

    fn start_in(site: &Arc<Site>, generation: Generation, name: &str, settings: &Settings) -> Result<Self, String> {
        let mut attempt = 1;
        loop {
            match Self::try_start(site, generation, name, settings) {
                Err(_) if attempt < START_ATTEMPTS => attempt += 1,
                result => return result,
            }
        }
    }

    fn try_start(site: &Arc<Site>, generation: Generation, name: &str, settings: &Settings) -> Result<Self, String> {
        let [amqp, management, distribution] = free_ports().map_err(|error| error.to_string())?;
        let ports = Ports { amqp, management, distribution };
        let inside = format!("{}/{name}", site.inside);
        let folder = site.installation.outside(&inside);
        write_files(&folder, ports, settings).map_err(|error| format!("{}: {error}", folder.display()))?;
        let environment = site.environment(name, &inside, ports);
        let command = site.installation.command("/usr/lib/rabbitmq/bin/rabbitmq-server");
        let command: Vec<&str> = command.iter().map(String::as_str).collect();
        let server = Supervised::start(&command, &environment, &folder, &folder.join("output"))
            .map_err(|error| error.to_string())?;
        let mut node = Self {
            generation,
            version: Version::new(0, 0, 0),
            name: name.to_owned(),
            ports,
            folder,
            environment,
            server,
            site: Arc::clone(site),
        };
        node.wait_until_ready()?;
        node.version = node.ask_version()?;
        Ok(node)
    }

    fn wait_until_ready(&self) -> Result<(), String> {
        let management = self.management();
        wait_for(START_LIMIT, || {
            if !self.server.is_running() {
                return Err("the server ended".to_owned());
            }
            // Another node's management API would answer as well.
            let is_ours = |overview: Json| overview["node"] == self.node_name();
            let answers =
                management.get("/api/overview").is_ok_and(is_ours) && self.try_connect(&Login::default()).is_ok();
            Ok(answers && self.has_booted())
        })
        .map_err(|why| format!("{why}\n{}", self.log_tail()))
    }

    /// Whether its last start is complete. It answers some 50 ms before; until then the others of its cluster leave it out of
    /// a vhost that is made, and nobody starts it there later (3.10: `rabbit_vhost_sup_sup:start_on_all_nodes/1`).
    fn has_booted(&self) -> bool {
        let log = self.log();
        log.rfind("Server startup complete").is_some_and(|complete| log.rfind("Starting RabbitMQ") < Some(complete))
    }

    fn ask_version(&self) -> Result<Version, String> {
        let connection = self.try_connect(&Login::default()).map_err(|error| error.to_string())?;
        let text = connection.server_property("version").unwrap_or_default();
        text.parse().map_err(|error| format!("{error}"))
    }

    /// Which generation it was started as.
    pub fn generation(&self) -> Generation {
        self.generation
    }

    /// The version that the broker says it is.
    pub fn version(&self) -> Version {
        self.version
    }

    /// `name@localhost`, as `rabbitmqctl` and cluster members call it.
    pub fn node_name(&self) -> String {
        format!("{}@localhost", self.name)
    }

    /// The port for AMQP on 127.0.0.1.
    pub fn amqp_port(&self) -> u16 {
        self.ports.amqp
    }

    /// The port of the management API on 127.0.0.1.
    pub fn management_port(&self) -> u16 {
        self.ports.management
    }

    /// `amqp://guest:guest@127.0.0.1:PORT`, without a path: the vhost `/`.
    pub fn amqp_url(&self) -> String {
        format!("amqp://guest:guest@127.0.0.1:{}", self.ports.amqp)
    }

    /// `http://guest:guest@127.0.0.1:PORT`.
    pub fn management_url(&self) -> String {
        format!("http://guest:guest@127.0.0.1:{}", self.ports.management)
    }

    /// The management API as `guest`.
    pub fn management(&self) -> Management {
        Management::new(self.ports.management, "guest", "guest")
    }

    /// A connection as `login` says.
    ///
    /// # Errors
    /// When the broker refuses it or does not answer.
    pub fn try_connect(&self, login: &Login) -> Result<Connection, crate::amqp::Failure> {
        Connection::open(self.ports.amqp, login)
    }

    /// A vhost that no other test uses, with full rights for `guest`. It stays until the node goes.
    ///
    /// # Panics
    /// When the broker refuses it.
    pub fn fresh_vhost(&self) -> Vhost<'_> {
        self.vhost(&fresh_name())
    }

    /// A fresh vhost with a default queue type (3.10.8 and later).
    ///
    /// # Panics
    /// When the broker refuses it.
    pub fn fresh_vhost_with_default_queue_type(&self, kind: &str) -> Vhost<'_> {
        self.vhost_with_default_queue_type(&fresh_name(), kind)
    }

    /// The vhost of that name, made when it is not there.
    ///
    /// # Panics
    /// When the broker refuses it.
    pub fn vhost(&self, name: &str) -> Vhost<'_> {
        Vhost::create(self, name, &json!({}))
    }

    /// The vhost of that name, made with a default queue type (3.10.8 and later).
    ///
    /// # Panics
    /// When the broker refuses it.
    pub fn vhost_with_default_queue_type(&self, name: &str, kind: &str) -> Vhost<'_> {
        // 3.10 spells the key without underscores; each version ignores the other's.
        let metadata = json!({"default_queue_type": kind, "defaultqueuetype": kind});
        Vhost::create(self, name, &metadata)
    }

    /// What `rabbitmqctl` prints, limited to a minute.
    ///
    /// # Errors
    /// When it fails; the text is what it printed.
    pub fn rabbitmqctl(&self, arguments: &[&str]) -> Result<String, String> {
        let output = Command::new("timeout")
            .arg("60")
            .args(self.site.installation.command("/usr/lib/rabbitmq/bin/rabbitmqctl"))
            .args(arguments)
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .output()
            .map_err(|error| error.to_string())?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if output.status.success() {
            return Ok(text(&output.stdout));
        }
        Err(format!("rabbitmqctl {arguments:?}: {}\n{}{}", output.status, text(&output.stdout), text(&output.stderr)))
    }

    /// Ends the node as a power failure would. Its data stays; [`start_again`](Self::start_again) brings it back.
    ///
    /// # Errors
    /// When its supervisor is gone.
    pub fn kill(&self) -> io::Result<()> {
        self.server.kill()
    }

    /// Shuts the node down in order; takes up to 7 s on 3.10.
    ///
    /// # Errors
    /// When its supervisor is gone.
    pub fn shut_down(&self) -> io::Result<()> {
        self.server.terminate()
    }

    /// Starts a stopped node again, on the same ports and data, and waits until it is ready.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn start_again(&self) -> Result<(), String> {
        self.server.start_again().map_err(|error| error.to_string())?;
        self.wait_until_ready()
    }

    /// Stops every process of the node without ending it: connections stay open and nothing answers.
    ///
    /// # Errors
    /// When its supervisor is gone.
    pub fn freeze(&self) -> io::Result<()> {
        self.server.freeze()
    }

    /// Lets a frozen node go on.
    ///
    /// # Errors
    /// When its supervisor is gone.
    pub fn thaw(&self) -> io::Result<()> {
        self.server.thaw()
    }

    /// The folder of the node's cluster: cookie, data, logs, settings.
    pub fn folder(&self) -> PathBuf {
        self.site.installation.outside(&self.site.inside)
    }

    /// The same folder as the broker's processes name it: an unpacked broker sees its own file tree as `/`.
    pub fn folder_seen_by_the_broker(&self) -> &str {
        &self.site.inside
    }

    /// The broker's own log.
    pub fn log(&self) -> String {
        let read = |path: PathBuf| fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        read(self.folder.join(format!("log/{}.log", self.node_name()))).unwrap_or_default()
    }

    /// The last lines that it printed or logged.
    pub fn log_tail(&self) -> String {
        let output = fs::read_to_string(self.folder.join("output")).unwrap_or_default() + &self.log();
        let lines: Vec<&str> = output.lines().collect();
        lines[lines.len().saturating_sub(30)..].join("\n")
    }
}

impl Site {
    fn open(installation: Installation) -> Result<Self, String> {
        let mut attempt = 1;
        loop {
            match Self::try_open(installation.clone()) {
                Err(_) if attempt < START_ATTEMPTS => attempt += 1,
                result => return result,
            }
        }
    }

    fn try_open(installation: Installation) -> Result<Self, String> {
        let inside = create_folder(&installation)?;
        let folder = installation.outside(&inside);
        let [epmd_port] = free_ports().map_err(|error| error.to_string())?;
        let command = installation.command("/usr/bin/epmd");
        let port = epmd_port.to_string();
        let mut command: Vec<&str> = command.iter().map(String::as_str).collect();
        command.extend(["-address", "127.0.0.1", "-port", &port]);
        let environment = [("PATH", PATH.to_owned()), ("HOME", inside.clone())];
        let epmd = Supervised::start(&command, &environment, &folder, &folder.join("epmd"))
            .map_err(|error| error.to_string())?;
        wait_for(START_LIMIT, || {
            if !epmd.is_running() {
                return Err("epmd ended".to_owned());
            }
            Ok(TcpStream::connect(("127.0.0.1", epmd_port)).is_ok())
        })?;
        Ok(Self { installation, inside, epmd_port, _epmd: epmd })
    }

    fn environment(&self, name: &str, inside: &str, ports: Ports) -> Vec<(&'static str, String)> {
        let loopback = "-kernel inet_dist_use_interface {127,0,0,1} -start_epmd false".to_owned();
        vec![
            ("PATH", PATH.to_owned()),
            ("LANG", "C.UTF-8".to_owned()),
            // Holds the cookie.
            ("HOME", self.inside.clone()),
            ("ERL_EPMD_ADDRESS", "127.0.0.1".to_owned()),
            ("ERL_EPMD_PORT", self.epmd_port.to_string()),
            ("RABBITMQ_NODENAME", format!("{name}@localhost")),
            ("RABBITMQ_NODE_IP_ADDRESS", "127.0.0.1".to_owned()),
            ("RABBITMQ_NODE_PORT", ports.amqp.to_string()),
            ("RABBITMQ_DIST_PORT", ports.distribution.to_string()),
            ("RABBITMQ_MNESIA_BASE", format!("{inside}/data")),
            ("RABBITMQ_LOG_BASE", format!("{inside}/log")),
            ("RABBITMQ_PID_FILE", format!("{inside}/pid")),
            ("RABBITMQ_CONF_ENV_FILE", "/dev/null".to_owned()),
            ("RABBITMQ_CONFIG_FILE", format!("{inside}/rabbitmq.conf")),
            ("RABBITMQ_CONFIG_FILES", format!("{inside}/conf.d")),
            ("RABBITMQ_ADVANCED_CONFIG_FILE", format!("{inside}/advanced.config")),
            ("RABBITMQ_ENABLED_PLUGINS_FILE", format!("{inside}/enabled_plugins")),
            ("RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS", loopback.clone()),
            ("RABBITMQ_CTL_ERL_ARGS", loopback),
        ]
    }
}

fn fresh_name() -> String {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    format!("test-{}", COUNTER.fetch_add(1, Ordering::Relaxed))
}

fn create_folder(installation: &Installation) -> Result<String, String> {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    for _ in 0..1000 {
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let inside = format!("{}/acemq-test-{}-{number}", installation.temporary(), std::process::id());
        let folder = installation.outside(&inside);
        match fs::create_dir(&folder) {
            Ok(()) => return Ok(inside),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(format!("{}: {error}", folder.display())),
        }
    }
    Err("no free name for a temporary folder".to_owned())
}

fn write_files(folder: &std::path::Path, ports: Ports, settings: &Settings) -> io::Result<()> {
    fs::create_dir_all(folder.join("conf.d"))?;
    fs::create_dir_all(folder.join("data"))?;
    fs::create_dir_all(folder.join("log"))?;
    let mut config = vec![
        "management.tcp.ip = 127.0.0.1".to_owned(),
        format!("management.tcp.port = {}", ports.management),
        // An unpacked file tree has no /proc to read the memory in use from.
        "vm_memory_calculation_strategy = erlang".to_owned(),
        "disk_free_limit.absolute = 1MB".to_owned(),
        "log.file.level = info".to_owned(),
    ];
    config.extend_from_slice(&settings.config);
    config.push(String::new());
    fs::write(folder.join("rabbitmq.conf"), config.join("\n"))?;
    fs::write(folder.join("advanced.config"), "[].\n")?;
    let mut plugins = vec!["rabbitmq_management".to_owned()];
    plugins.extend_from_slice(&settings.plugins);
    fs::write(folder.join("enabled_plugins"), format!("[{}].\n", plugins.join(",")))
}

/// Three nodes that share their metadata, ready when each sees the others running.
pub struct Cluster {
    nodes: Vec<Node>,
}

impl Cluster {
    /// Starts it; takes 10–20 s.
    ///
    /// # Errors
    /// As [`Node::start`].
    pub fn start(generation: Generation) -> Result<Self, String> {
        let site = Arc::new(Site::open(generation.installation()?)?);
        // The others join the first: all three at once would wait for each other's locks.
        let first = Node::start_in(&site, generation, "a", &Settings::default())?;
        let join = Settings {
            config: vec![
                "cluster_formation.peer_discovery_backend = classic_config".to_owned(),
                format!("cluster_formation.classic_config.nodes.1 = {}", first.node_name()),
            ],
            ..Settings::default()
        };
        let others = std::thread::scope(|scope| {
            ["b", "c"]
                .map(|name| scope.spawn(|| Node::start_in(&site, generation, name, &join)))
                .map(|starting| starting.join().unwrap_or_else(|_| Err("starting a node panicked".to_owned())))
        });
        let mut nodes = vec![first];
        for other in others {
            nodes.push(other?);
        }
        let cluster = Self { nodes };
        let management = cluster.nodes[0].management();
        wait_for(START_LIMIT, || {
            let nodes = management.get("/api/nodes").map_err(|error| error.to_string())?;
            let running = nodes.as_array().into_iter().flatten().filter(|node| node["running"] == true).count();
            Ok(running == cluster.nodes.len())
        })?;
        Ok(cluster)
    }

    /// The three nodes, in the order in which they were started.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }
}
