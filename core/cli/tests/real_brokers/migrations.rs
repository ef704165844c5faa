//! The life of a folder of migration files: what runs, what is refused, and what the history says of it.

use crate::{Ran, acemq};
use acemq_core::rabbitmq::{BindingDeclaration, ExchangeDeclaration, QueueDeclaration};
use acemq_tests::broker::{Generation, Node, Settings, Vhost, shared};
use acemq_tests::management::path_segment;
use acemq_tests::on_every_broker;
use serde_json::{Value as Json, json};
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Far longer than it takes; only a hang is longer.
const LIMIT: Duration = Duration::from_secs(120);

const FIRST: &str = "acemq_migration: 1\nchanges: [ { declare: { queue: { name: first } } } ]\n";
const REPLACE_A: &str = "acemq_migration: 1
replace: { queue: a, with: { name: a.v2, type: classic } }
options: { wait_for_consumers: 0, drain: { timeout: 1m, poll: 100ms, stable: 1 } }
";
const DECLARE: &str = "acemq_migration: 1
changes:
  - declare: { queue: { name: extra, type: classic } }
  - bind: { exchange: x, queue: extra, routing_key: extra }
";
/// Nobody consumes the new queue, so it waits before the switch.
const WAITS: &str = "acemq_migration: 1
replace: { queue: b, with: { name: b.v2, type: classic } }
options: { wait_for_consumers: 1, drain: { timeout: 1s, poll: 100ms, stable: 1 } }
";

/// A vhost, a folder of files, and where the history is.
struct Scene<'a> {
    vhost: Vhost<'a>,
    folder: PathBuf,
    history: String,
}

impl<'a> Scene<'a> {
    fn set(node: &'a Node, sqlite: bool) -> Self {
        let vhost = node.fresh_vhost();
        let channel = vhost.connect().channel().unwrap();
        channel.declare_exchange(&ExchangeDeclaration::durable("x", "topic")).unwrap();
        for queue in ["a", "b"] {
            channel.declare_queue(&QueueDeclaration::durable(queue).with("x-queue-type", "classic")).unwrap();
            channel.bind(&BindingDeclaration::queue("x", queue, format!("{queue}.*"))).unwrap();
        }
        let name = format!("acemq-{}-{}", std::process::id(), vhost.name().replace('/', "_"));
        let name = format!("{name}-{}", if sqlite { "sqlite" } else { "broker" });
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(folder.join("migrations")).unwrap();
        let history =
            if sqlite { format!("sqlite:{}", folder.join("history.db").display()) } else { "broker".to_owned() };
        Self { vhost, folder, history }
    }

    fn write(&self, file: &str, text: &str) {
        std::fs::write(self.folder.join("migrations").join(file), text).unwrap();
    }

    fn file(&self, file: &str) -> String {
        self.folder.join("migrations").join(file).display().to_string()
    }

    fn remove(&self, file: &str) {
        std::fs::remove_file(self.folder.join("migrations").join(file)).unwrap();
    }

    fn run(&self, command: &[&str]) -> Ran {
        let takes_files =
            !["verify", "baseline"].contains(&command[0]) && command.iter().all(|word| !word.ends_with(".yaml"));
        let files = self.folder.join("migrations").display().to_string();
        let files = if takes_files { vec![files.as_str()] } else { Vec::new() };
        let management = self.vhost.node().management_url();
        let mut arguments = [&["migrate"], command, &files, &["--management", &management]].concat();
        if !command.contains(&"--history") {
            arguments.extend(["--history", &self.history]);
        }
        acemq(&arguments, &self.vhost.amqp_url(), "")
    }

    /// Version, state and step of each migration.
    fn states(&self) -> Vec<String> {
        let ran = self.run(&["status", "--format", "json"]);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""));
        let status: Json = serde_json::from_str(&ran.out).unwrap();
        assert_eq!((&status["format"], &status["vhost"]), (&"acemq.migrations/1".into(), &self.vhost.name().into()));
        let shown =
            |entry: &Json| format!("{} {}", entry["version"].as_str().unwrap(), entry["state"].as_str().unwrap());
        status["migrations"].as_array().unwrap().iter().map(shown).collect()
    }

    fn becomes(&self, state: &str) {
        let deadline = Instant::now() + LIMIT;
        while !self.states().iter().any(|there| there == state) {
            assert!(Instant::now() < deadline, "{:?} never became {state}", self.states());
        }
    }

    fn ends(&self, command: &[&str], code: i32, says: &str) {
        let ran = self.run(command);
        assert_eq!(ran.code, code, "{command:?}\n{}{}", ran.err, ran.out);
        assert!(ran.err.contains(says) || ran.out.contains(says), "{command:?}\n{}{}", ran.err, ran.out);
    }
}

impl Drop for Scene<'_> {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn life(node: &Node, sqlite: bool) {
    let scene = Scene::set(node, sqlite);
    let start = scene.vhost.definitions();
    scene.write("V1__first.yaml", FIRST);
    scene.write("V2__replace_a.yaml", REPLACE_A);
    scene.write("V3__extra.yaml", DECLARE);
    assert_eq!(scene.states(), ["1 pending", "2 pending", "3 pending"]);
    assert_eq!(scene.vhost.definitions(), start, "looking creates nothing");

    // What a baseline covers is neither planned nor run.
    scene.ends(&["baseline", "1"], 0, "V1 and every older version count as done");
    scene.ends(&["baseline", "1"], 0, "V1 is the baseline already");
    let planned = scene.run(&["plan"]);
    assert_eq!(planned.code, 0, "{}{}", planned.err, planned.out);
    assert!(!planned.out.contains("V1__"), "{}", planned.out);
    assert!(planned.out.starts_with("V2__replace_a.yaml\nmigration of queue a to a.v2"), "{}", planned.out);
    assert!(planned.out.contains("V3__extra.yaml\n2 changes"), "{}", planned.out);

    scene.ends(&["run", "--one"], 0, "finished: every step is done");
    assert_eq!(scene.states(), ["1 baseline", "2 applied", "3 pending"]);
    scene.ends(&["baseline", "2"], 1, "V2 ran here, so V2 cannot be where the history begins");

    // Five at once: one runs, the others wait for it and find it done.
    let five: Vec<Ran> = std::thread::scope(|scope| {
        let started: Vec<_> = (0..5).map(|_| scope.spawn(|| scene.run(&["run"]))).collect();
        started.into_iter().map(|runner| runner.join().unwrap()).collect()
    });
    assert!(five.iter().all(|ran| ran.code == 0), "{:?}", five.iter().map(|ran| &ran.err).collect::<Vec<_>>());
    assert_eq!(five.iter().filter(|ran| ran.out.contains("declare queue extra")).count(), 1);
    assert_eq!(five.iter().filter(|ran| ran.out.contains("nothing to run")).count(), 4);
    assert_eq!(scene.states(), ["1 baseline", "2 applied", "3 applied"]);
    scene.ends(&["run"], 0, "nothing to run: every migration is done");
    scene.ends(&["verify"], 0, "what the history says is true");

    // Files that are not what ran.
    scene.write("V3__extra.yaml", &DECLARE.replace('\n', "\r\n"));
    assert_eq!(scene.states()[2], "3 applied", "line ends are no change");
    scene.write("V3__extra.yaml", &format!("{DECLARE}# one more line\n"));
    assert_eq!(scene.states()[2], "3 changed");
    scene.ends(&["plan"], 1, "\"V3__extra.yaml\" was changed after it ran");
    scene.ends(&["run"], 1, "\"V3__extra.yaml\" was changed after it ran");
    scene.ends(&["repair"], 0, "only records were changed");
    scene.ends(&["run"], 0, "nothing to run");
    scene.write("V2.1__late.yaml", DECLARE);
    assert_eq!(scene.states()[2], "2.1 out_of_order");
    scene.ends(&["run"], 1, "\"V2.1__late.yaml\" has not run and is older than V3, which has");
    scene.remove("V2.1__late.yaml");
    scene.write("V3.0__twice.yaml", DECLARE);
    scene.ends(&["run"], 1, "have the same version, 3");
    scene.remove("V3.0__twice.yaml");

    // Half-way, taken back, and repaired: the history stays true.
    let before = scene.vhost.definitions();
    scene.write("V4__replace_b.yaml", WAITS);
    scene.ends(&["run"], 6, "queue \"b.v2\" has 0 of 1 consumer;");
    assert_eq!(scene.states()[3], "4 waiting");
    scene.ends(&["run"], 6, "queue \"b.v2\" has 0 of 1 consumer;");
    scene.ends(&["undo"], 0, "undone: every step is taken back");
    assert_eq!(scene.states()[3], "4 undone");
    assert_eq!(scene.vhost.definitions(), before);
    scene.ends(&["repair"], 0, "nothing to mend");
    assert_eq!(scene.states()[3], "4 undone");
    // Plain changes are taken back as well, and can run again.
    scene.ends(&["undo"], 0, "undone: every step is taken back");
    assert_eq!(scene.states()[2], "3 undone");
    assert!(!scene.vhost.definitions().to_string().contains("extra"));
    scene.remove("V4__replace_b.yaml");
    scene.ends(&["run"], 0, "finished: every step is done");
    assert_eq!(scene.states()[2], "3 applied");

    // A client that was not changed brings the old queue and its binding back.
    let channel = scene.vhost.connect().channel().unwrap();
    channel.declare_queue(&QueueDeclaration::durable("a").with("x-queue-type", "classic")).unwrap();
    channel.bind(&BindingDeclaration::queue("x", "a", "a.*")).unwrap();
    let verified = scene.run(&["verify"]);
    assert_eq!(verified.code, 3, "{}{}", verified.err, verified.out);
    assert!(verified.out.contains("V2: queue a is back; a client declares it when it starts"), "{}", verified.out);
    assert!(verified.out.contains("V2: binding x -> a [a.*] is back"), "{}", verified.out);

    scene.remove("V2__replace_a.yaml");
    scene.ends(&["run"], 1, "V2 ran here and its file is not there");
    scene.ends(&["repair"], 0, "V2: its file is gone for good");
    scene.ends(&["run"], 0, "nothing to run");
}

on_every_broker! {
    fn a_folder_of_files_lives_with_its_history_in_the_broker(node) {
        life(node, false);
    }

    fn a_folder_of_files_lives_with_its_history_in_a_file(node) {
        life(node, true);
    }

    fn the_same_files_run_in_every_vhost_each_with_its_own_record(node) {
        let (first, second) = (Scene::set(node, false), Scene::set(node, false));
        first.write("V1__extra.yaml", DECLARE);
        first.write("V2__replace_a.yaml", REPLACE_A);
        let names = [first.vhost.name(), second.vhost.name()].join(",");
        // The first vhost is one step ahead.
        first.ends(&["run", "--one"], 0, "finished");
        let ran = first.run(&["run", "--vhosts", &names]);
        assert_eq!(ran.code, 0, "{}{}", ran.err, ran.out);
        let closing = ran.out.rsplit("\n\n").next().unwrap();
        assert!(closing.contains(&format!("  {}: V2 applied\n", first.vhost.name())), "{}", ran.out);
        assert!(closing.contains(&format!("  {}: V1 applied, V2 applied\n", second.vhost.name())), "{}", ran.out);
        let lines = first.run(&["run", "--vhosts", &names, "--format", "json"]);
        let report: Json = serde_json::from_str(lines.out.lines().last().unwrap()).unwrap();
        assert_eq!((lines.code, &report["vhosts"][0]["result"]["outcome"]), (0, &"nothing_to_run".into()));
        // What stands against it in one vhost keeps all of them as they are.
        first.write("V3__declare.yaml", FIRST);
        second.write("V3__other.yaml", &FIRST.replace("first", "other"));
        second.ends(&["run", &second.file("V3__other.yaml")], 0, "finished");
        let before = first.vhost.definitions();
        first.ends(&["run", "--vhosts", &names], 1, "nothing was changed, because something stands against it in one of the vhosts");
        assert_eq!(first.vhost.definitions(), before);
        first.remove("V3__declare.yaml");
        let status = first.run(&["status", "--vhosts", &names]);
        assert!(status.out.contains(&format!("  {}: 2 applied, 1 missing\n", second.vhost.name())), "{}", status.out);
    }

    fn a_runner_that_is_killed_has_failed_and_the_next_one_goes_on(node) {
        let scene = Scene::set(node, false);
        scene.write("V1__replace_b.yaml", &WAITS.replace("timeout: 1s", "timeout: 2m"));
        let mut runner = Command::new(env!("CARGO_BIN_EXE_acemq"))
            .args(["migrate", "run", &scene.folder.join("migrations").display().to_string()])
            .env_clear()
            .env("ACEMQ_BROKER", scene.vhost.amqp_url())
            .env("ACEMQ_MANAGEMENT", node.management_url())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        scene.becomes("1 running");
        // Until its last step before the wait for consumers.
        let deadline = Instant::now() + LIMIT;
        while !scene.run(&["status"]).out.contains("running after step 7 of 19") {
            assert!(Instant::now() < deadline);
        }
        runner.kill().unwrap();
        runner.wait().unwrap();
        scene.becomes("1 failed");
        let status = scene.run(&["status"]);
        assert!(status.out.contains("its runner ended without a word; run again to go on"), "{}", status.out);
        let channel = scene.vhost.connect().channel().unwrap();
        channel.consume(&acemq_tests::amqp::Consume::from("b.v2")).unwrap();
        let ran = scene.run(&["run", "--format", "json"]);
        assert_eq!(ran.code, 0, "{}{}", ran.err, ran.out);
        let lines: Vec<Json> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!((&lines[0]["step"], &lines[0]["file"]), (&9.into(), &"V1__replace_b.yaml".into()));
        let report = lines.last().unwrap();
        assert_eq!((&report["outcome"], &report["migrations"][0]["state"]), (&"finished".into(), &"applied".into()));
        scene.ends(&["verify"], 0, "what the history says is true");
        scene.ends(&["undo"], 1, "");
        assert_eq!(scene.states(), ["1 applied"], "what cannot be taken back stays written down as it is");
    }

    fn a_runner_that_is_told_to_stop_waits_until_it_is_run_again_or_taken_back(node) {
        let scene = Scene::set(node, false);
        let before = scene.vhost.definitions();
        scene.write("V1__replace_b.yaml", &WAITS.replace("timeout: 1s", "timeout: 2m"));
        let mut runner = Command::new(env!("CARGO_BIN_EXE_acemq"))
            .args(["migrate", "run", &scene.folder.join("migrations").display().to_string()])
            .env_clear()
            .env("ACEMQ_BROKER", scene.vhost.amqp_url())
            .env("ACEMQ_MANAGEMENT", node.management_url())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // What it waits for, and that it stops, is said on standard error.
        let mut said = BufReader::new(runner.stderr.take().unwrap()).lines();
        let waits = said.next().unwrap().unwrap();
        assert_eq!(waits, "note: wait until queue b.v2 has 1 consumer: start them; that is waited for up to 2 min");
        let stopped = Command::new("kill").args(["-TERM", &runner.id().to_string()]).status().unwrap();
        assert!(stopped.success());
        let said: Vec<String> = said.map(Result::unwrap).collect();
        assert_eq!(runner.wait().unwrap().code(), Some(6), "{said:?}");
        assert!(said.iter().any(|line| line.contains("it was told to stop")), "{said:?}");
        assert_eq!(scene.states(), ["1 waiting"]);
        scene.ends(&["undo"], 0, "every step is taken back");
        let mut after = scene.vhost.definitions();
        after["queues"].as_array_mut().unwrap().retain(|queue| queue["name"] != "acemq.history");
        assert_eq!(after["queues"].as_array().unwrap().len(), before["queues"].as_array().unwrap().len());
        assert_eq!((&after["bindings"], &after["exchanges"]), (&before["bindings"], &before["exchanges"]));
    }

    fn rights_that_are_missing_are_told_before_the_first_step(node) {
        let scene = Scene::set(node, true);
        scene.write("V1__replace_a.yaml", REPLACE_A);
        let management = node.management();
        let (vhost, user) = (path_segment(scene.vhost.name()), "narrow");
        management.put(&format!("/api/users/{user}"), &json!({ "password": "narrow", "tags": "" })).unwrap();
        let rights = json!({ "configure": "^(a|acemq).*", "write": "^a$", "read": ".*" });
        management.put(&format!("/api/permissions/{vhost}/{user}"), &rights).unwrap();
        let before = scene.vhost.definitions();
        let amqp = scene.vhost.amqp_url().replace("guest:guest", "narrow:narrow");
        let files = scene.folder.join("migrations").display().to_string();
        for (command, code) in [("plan", 3), ("run", 3)] {
            let arguments =
                ["migrate", command, &files, "--management", &node.management_url(), "--history", &scene.history];
            let ran = acemq(&arguments, &amqp, "");
            assert_eq!(ran.code, code, "{}{}", ran.err, ran.out);
            let said = format!("{}{}", ran.err, ran.out);
            let missing = "user \"narrow\" may not write exchange \"a.migration\", nor";
            assert!(said.contains(missing), "{said}");
        }
        assert_eq!(scene.vhost.definitions(), before);
        management.delete(&format!("/api/users/{user}")).unwrap();
    }

    fn without_the_right_to_the_lock_it_is_told_and_running_again_is_not_asked_for(node) {
        let scene = Scene::set(node, true);
        scene.write("V1__replace_a.yaml", REPLACE_A);
        let before = scene.vhost.definitions();
        scene.vhost.user("lockless", "^a([.].*)?$", ".*", ".*");
        let amqp = scene.vhost.amqp_url().replace("guest:guest", "lockless:lockless");
        let files = scene.folder.join("migrations").display().to_string();
        let arguments =
            ["migrate", "run", &files, "--management", &node.management_url(), "--history", &scene.history];
        let ran = acemq(&arguments, &amqp, "");
        assert_eq!(ran.code, 5, "{}{}", ran.err, ran.out);
        assert!(ran.err.ends_with("the user needs configure on acemq.migrate.lock\n"), "{}", ran.err);
        assert_eq!(scene.vhost.definitions(), before);
    }

    fn a_binding_that_a_client_brought_back_is_why_a_migration_cannot_be_taken_back(node) {
        let scene = Scene::set(node, true);
        scene.write("V1__replace_a.yaml", REPLACE_A);
        scene.ends(&["run"], 0, "finished");
        let channel = scene.vhost.connect().channel().unwrap();
        channel.declare_queue(&QueueDeclaration::durable("a").with("x-queue-type", "classic")).unwrap();
        channel.bind(&BindingDeclaration::queue("x", "a", "a.*")).unwrap();
        let before = scene.vhost.definitions();
        let says = "comes twice before any step: it reaches a, a.v2; a client may have brought a binding back";
        scene.ends(&["undo"], 3, says);
        assert_eq!(scene.vhost.definitions(), before);
    }

    fn what_follows_is_written_from_the_name_that_the_run_printed(node) {
        let scene = Scene::set(node, true);
        scene.write("V1__replace_a.yaml", &REPLACE_A.replace("drain:", "keep_name: true, drain:"));
        scene.ends(&["run"], 0, "acemq migrate new NAME --follow-up V1__replace_a.yaml writes the file");
        let folder = scene.folder.join("migrations").display().to_string();
        let arguments =
            ["migrate", "new", "name back", "--follow-up", "V1__replace_a.yaml", "--dir", &folder, "--management", &node.management_url()];
        let ran = acemq(&arguments, &scene.vhost.amqp_url(), "");
        assert_eq!(ran.code, 0, "{}{}", ran.err, ran.out);
        assert_eq!(scene.states(), ["1 applied", "2 pending"]);
    }

    fn a_step_that_cannot_be_written_down_is_not_made(node) {
        let mut scene = Scene::set(node, true);
        scene.write("V1__extra.yaml", DECLARE);
        let before = scene.vhost.definitions();
        scene.history = format!("sqlite:{}", scene.folder.join("nowhere").join("history.db").display());
        scene.ends(&["run"], 6, "cannot use the history in");
        assert_eq!(scene.vhost.definitions(), before);
    }

    fn the_history_of_another_cluster_is_refused_until_somebody_says_that_it_was_renamed(node) {
        let scene = Scene::set(node, true);
        scene.write("V1__extra.yaml", DECLARE);
        scene.ends(&["run"], 0, "finished");
        let file = rusqlite::Connection::open(scene.folder.join("history.db")).unwrap();
        let cluster: String = file.query_row("SELECT cluster FROM acemq_history LIMIT 1", [], |row| row.get(0)).unwrap();
        let renamed = format!("replace(record, '\"cluster\":\"{cluster}\"', '\"cluster\":\"elsewhere\"')");
        file.execute(&format!("UPDATE acemq_history SET record = {renamed}"), []).unwrap();
        for command in ["run", "plan"] {
            scene.ends(&[command], 1, "of cluster \"elsewhere\", and this is vhost");
        }
        scene.ends(&["repair"], 0, "nothing to mend");
        scene.ends(&["repair", "--cluster-renamed"], 0, "took the records of cluster \"elsewhere\" for this one's");
        scene.ends(&["run"], 0, "nothing to run");
        // A record that somebody broke by hand.
        file.execute("UPDATE acemq_history SET record = 'oops' WHERE rank = 2", []).unwrap();
        scene.ends(&["run"], 1, "record 2 of the history is damaged: it cannot be read");
        scene.ends(&["repair"], 0, "passed over what cannot be read: record 2");
        scene.ends(&["run"], 0, "nothing to run");
    }
}

#[test]
fn a_shovel_that_publishes_to_the_old_queue_is_led_elsewhere_first() {
    let Some(generation) = Generation::wanted().last().copied() else { return };
    let settings = Settings { plugins: vec!["rabbitmq_shovel".to_owned()], ..Settings::default() };
    let node = Node::start_with(generation, &settings).unwrap();
    let scene = Scene::set(&node, true);
    scene.write("V1__replace_a.yaml", REPLACE_A);
    let here = format!("amqp:///{}", path_segment(scene.vhost.name()));
    let shovel = |destination: &str| {
        let value = json!({ "src-uri": here, "src-queue": "b", "dest-uri": here, "dest-queue": destination });
        let path = format!("/api/parameters/shovel/{}/mover", path_segment(scene.vhost.name()));
        node.management().put(&path, &json!({ "value": value })).unwrap();
    };
    shovel("a");
    let refused = "shovel \"mover\" publishes to queue \"a\" by name; lead it to queue \"a.v2\" first";
    scene.ends(&["plan"], 3, refused);
    scene.ends(&["run"], 3, refused);
    assert_eq!(scene.states(), ["1 pending"]);
    shovel("elsewhere");
    scene.ends(&["run"], 0, "finished");
}

#[test]
fn where_a_broker_has_no_streams_nothing_is_done_before_another_place_for_the_history_is_named() {
    let Some(node) = shared(Generation::V3_8) else { return };
    let scene = Scene::set(node, false);
    scene.write("V1__extra.yaml", DECLARE);
    let before = scene.vhost.definitions();
    scene.ends(
        &["run"],
        6,
        "has no streams, in which the history is kept; keep the history in a file with --history sqlite:PATH",
    );
    assert_eq!(scene.vhost.definitions(), before);
    let file = format!("sqlite:{}", scene.folder.join("history.db").display());
    scene.ends(&["run", "--history", &file], 0, "finished");
}

#[test]
fn a_file_is_written_for_each_queue_that_the_topology_asks_for_otherwise() {
    let folder = std::env::temp_dir().join(format!("acemq-{}-new", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = |name: &str| folder.join(name).display().to_string();
    let document = |kind: &str| {
        format!(
            "acemq: 1\nexchanges: {{ x: {{ type: topic }} }}\nqueues:\n  orders: {{ {kind}, dead_letter: true }}\n  same: {{}}\n  limited: {{ type: classic, arguments: {{ x-max-length: {} }} }}\nbindings:\n  - {{ queue: orders, exchange: x, routing_key: \"order.*\" }}\n",
            kind.len()
        )
    };
    std::fs::write(path("there.yaml"), document("type: classic")).unwrap();
    std::fs::write(path("wanted.yaml"), document("type: quorum")).unwrap();
    let there = format!("memory:{}", path("there.yaml"));
    let (dir, wanted) = (path("migrations"), path("wanted.yaml"));
    let new =
        |arguments: &[&str]| acemq(&[&["migrate", "new", "to quorum", "--dir", &dir], arguments].concat(), &there, "");
    let written = new(&["--from-plan", &wanted]);
    assert_eq!((written.code, written.err.as_str()), (0, ""));
    let file = std::fs::read_to_string(folder.join("migrations/V1__to_quorum.yaml")).unwrap();
    for part in ["queue: orders\n", "name: orders.v2\n", "dead_letter: true\n", "take the declaration of orders"] {
        assert!(file.contains(part), "{part}\n{file}");
    }
    let planned = acemq(&["migrate", "plan", &dir], &there, "");
    assert_eq!(planned.code, 0, "{}{}", planned.err, planned.out);
    let before = file;
    assert_eq!(new(&[]).out, format!("{}\n", folder.join("migrations/V2__to_quorum.yaml").display()));
    assert_eq!(std::fs::read_to_string(folder.join("migrations/V1__to_quorum.yaml")).unwrap(), before);
    std::fs::remove_dir_all(folder).unwrap();
}
