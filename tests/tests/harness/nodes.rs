use acemq_core::rabbitmq::{QueueDeclaration, Version};
use acemq_tests::amqp::{Failure, Login, QueueRequest};
use acemq_tests::broker::{Generation, Node};
use acemq_tests::on_every_broker;
use std::io::ErrorKind;
use std::net::TcpStream;
use std::time::{Duration, Instant};

on_every_broker! {
    fn a_node_tells_its_version(node) {
        let minimum = match node.generation() {
            Generation::Distribution | Generation::V3_8 => Version::new(3, 8, 0),
            Generation::V4_0 => Version::new(4, 0, 0),
            Generation::V4_3 => Version::new(4, 3, 0),
        };
        assert!(node.version() >= minimum, "{}", node.version());
    }

    fn rabbitmqctl_and_management_reach_the_same_node(node) {
        let vhost = node.vhost("with blank/slash");
        vhost.connect().channel().unwrap().declare_queue(&QueueDeclaration::durable("q")).unwrap();
        assert_eq!(vhost.definitions()["queues"][0]["name"], "q");
        let listed = node.rabbitmqctl(&["-q", "-p", vhost.name(), "list_queues", "name"]).unwrap();
        assert_eq!(listed.lines().last(), Some("q"));
    }

    fn a_vhost_has_its_default_queue_type(node) {
        let vhost = node.fresh_vhost_with_default_queue_type("quorum");
        vhost.connect().channel().unwrap().declare_queue(&QueueDeclaration::durable("q")).unwrap();
        assert_eq!(vhost.definitions()["queues"][0]["arguments"]["x-queue-type"], "quorum");
    }

    fn a_user_sees_only_what_it_may(node) {
        let vhost = node.fresh_vhost();
        vhost.user("reader", "^$", "^$", ".*");
        let close = vhost
            .connect_as("reader", "reader")
            .channel()
            .unwrap()
            .declare_queue(&QueueDeclaration::durable("q"))
            .unwrap_err()
            .refusal();
        assert_eq!(close.code, 403);
    }
}

/// Processes of this machine whose command line or environment names `folder`.
fn processes_that_name(folder: &str) -> Vec<String> {
    let (inside, at_end) = (format!("{folder}/"), format!("{folder}\0"));
    let names = |path: std::path::PathBuf| {
        std::fs::read(path).is_ok_and(|bytes| {
            let text = String::from_utf8_lossy(&bytes);
            text.contains(&inside) || text.contains(&at_end)
        })
    };
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        if names(entry.path().join("cmdline")) || names(entry.path().join("environ")) {
            found.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    found
}

#[test]
fn a_dropped_node_leaves_no_process_no_folder_and_no_port() {
    for generation in Generation::wanted() {
        let node = Node::start(generation).unwrap();
        let (folder, port) = (node.folder(), node.amqp_port());
        let inside = node.folder_seen_by_the_broker().to_owned();
        assert!(folder.exists());
        assert!(!processes_that_name(&inside).is_empty());
        drop(node);
        assert!(!folder.exists());
        // Helpers that the Erlang runtime put into sessions of their own end when they find their pipe closed.
        let deadline = Instant::now() + Duration::from_secs(10);
        while !processes_that_name(&inside).is_empty() {
            assert!(Instant::now() < deadline, "still there: {:?}", processes_that_name(&inside));
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(TcpStream::connect(("127.0.0.1", port)).unwrap_err().kind(), ErrorKind::ConnectionRefused);
    }
}

#[test]
fn a_killed_node_comes_back_with_its_durable_queues() {
    for generation in Generation::wanted() {
        let node = Node::start(generation).unwrap();
        let connection = node.try_connect(&Login::default()).unwrap();
        connection.channel().unwrap().declare_queue(&QueueDeclaration::durable("q")).unwrap();
        // Mnesia, up to 4.0, answers a moment before it writes, and a kill in between loses the queue. 4.3 has none, says so
        // here, and writes first.
        let _ = node.rabbitmqctl(&["eval", "mnesia:sync_log()."]);
        node.kill().unwrap();
        assert!(matches!(connection.channel(), Err(Failure::Io(_))));
        node.start_again().unwrap();
        let connection = node.try_connect(&Login::default()).unwrap();
        connection.channel().unwrap().declare_queue(QueueRequest::passive("q")).unwrap();

        let impatient = Login { timeout: Duration::from_millis(200), ..Login::default() };
        node.freeze().unwrap();
        assert!(matches!(node.try_connect(&impatient), Err(Failure::Io(_))));
        node.thaw().unwrap();
        connection.channel().unwrap().declare_queue(QueueRequest::passive("q")).unwrap();
    }
}
