//! `acemq graph --format html` in a real browser, where the machine has one: its script runs, the search finds, no name
//! breaks out, nothing is fetched.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const BROWSERS: [&str; 5] =
    ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// Queues of ten teams, and two whose names are markup.
fn export() -> String {
    let queue = |name: &str, arguments: &str| {
        let name = serde_json::to_string(name).unwrap();
        format!(r#"{{"name":{name},"vhost":"/","durable":true,"auto_delete":false,"arguments":{arguments}}}"#)
    };
    let mut queues: Vec<String> =
        (0..500).map(|number| queue(&format!("team-{}.service-{number}", number % 10), "{}")).collect();
    queues.push(queue("</script><script>document.title = 'broken'</script>", r#"{"x-dead-letter-exchange":"gone"}"#));
    queues.push(queue("' onmouseover='document.title=1' <img src=x onerror=alert(1)>", "{}"));
    let bindings: Vec<String> = (0..500)
        .map(|number| {
            let name = format!("team-{}.service-{number}", number % 10);
            format!(r#"{{"source":"events","vhost":"/","destination":"{name}","destination_type":"queue","routing_key":"k{number}","arguments":{{}}}}"#)
        })
        .collect();
    format!(
        r#"{{"rabbitmq_version":"4.0.5","vhosts":[{{"name":"/"}}],"policies":[],"exchanges":[{{"name":"events","vhost":"/","type":"topic","durable":true,"auto_delete":false,"internal":false,"arguments":{{}}}}],"queues":[{}],"bindings":[{}]}}"#,
        queues.join(","),
        bindings.join(",")
    )
}

/// The page after its script has run.
fn opened(browser: &str, profile: &Path, page: &Path, hash: &str) -> String {
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=3000", "--timeout=20000"])
        .args(["--enable-logging=stderr", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("file://{}{hash}", page.display()))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let log = String::from_utf8_lossy(&output.stderr);
    for complaint in ["CONSOLE", "Uncaught", "Refused to"] {
        assert!(!log.contains(complaint), "{log}");
    }
    String::from_utf8(output.stdout).unwrap()
}

/// The start tags of nodes with that class.
fn nodes(page: &str, class: &str) -> usize {
    page.split("<g class=\"")
        .skip(1)
        .filter_map(|rest| rest.split_once('"'))
        .filter(|(classes, _)| {
            classes.split(' ').any(|one| one == "node") && classes.split(' ').any(|one| one == class)
        })
        .count()
}

#[test]
fn the_page_searches_in_a_real_browser_and_no_name_breaks_out() {
    let there = |name: &&&str| Command::new(name).arg("--version").stdout(Stdio::null()).status().is_ok();
    let Some(browser) = BROWSERS.iter().find(there) else {
        eprintln!("left out: the page was not opened, because there is no Chromium or Chrome here");
        return;
    };
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("page");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("export.json"), export()).unwrap();
    let drawn = Command::new(env!("CARGO_BIN_EXE_acemq"))
        .args(["graph", "export.json", "--format", "html", "--all"])
        .current_dir(&folder)
        .output()
        .unwrap();
    assert!(drawn.status.success());
    let file = folder.join("page.html");
    fs::write(&file, drawn.stdout).unwrap();

    let whole = opened(browser, &folder.join("profile"), &file, "");
    assert!(whole.contains("<title>vhost / on RabbitMQ 4.0.5</title>"));
    assert!(whole.contains("<body class=\"script\">"), "the script did not run");
    assert_eq!(nodes(&whole, "queue"), 502);
    assert_eq!(nodes(&whole, "faded"), 0);
    assert_eq!(whole.matches("<script").count(), 1);
    assert_eq!(whole.matches("<img").count(), 0);

    let found = opened(browser, &folder.join("profile"), &file, "#q=SERVICE-499");
    assert!(found.contains(">1 found<"), "the search does not say what it found");
    assert_eq!(nodes(&found, "found"), 1);
    // It and its exchange stay, everything else fades.
    assert_eq!(nodes(&found, "faded"), nodes(&found, "node") - 2);
    let seen = |page: &str| page.split_once("<svg ").and_then(|(_, svg)| svg.split_once('>')).unwrap().0.to_owned();
    assert!(seen(&whole).contains("viewBox=\"0 0 "), "not everything is seen at first");
    assert!(!seen(&found).contains("viewBox=\"0 0 "), "the picture was not brought there");
    let nothing = opened(browser, &folder.join("profile"), &file, "#q=%3Cb%3Enobody");
    assert!(nothing.contains(">0 found<") && nodes(&nothing, "faded") == 0);
}
