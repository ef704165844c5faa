//! TLS: whom the client trusts, what it shows of itself, and a sentence for everything that does not match.

use crate::{LIMITS, run, url};
use acemq_core::rabbitmq::QueueDeclaration;
use acemq_live::{Client, ConnectError, ConnectFailure, Management};
use acemq_tests::broker::{Generation, Node, Settings, free_port};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ServerConfig, ServerConnection, Stream, crypto};

/// A certificate authority with a folder for what it signs.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    folder: PathBuf,
}

impl Authority {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("acemq-live-tls-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, format!("{name} authority"));
        fs::write(folder.join("ca.pem"), params.self_signed(&key).unwrap().pem()).unwrap();
        Self { issuer: Issuer::new(params, key), folder }
    }

    fn file(&self, name: &str) -> String {
        self.folder.join(name).to_string_lossy().into_owned()
    }

    /// Signs a certificate for `hosts` as `NAME.pem` and `NAME.key`.
    fn sign(&self, name: &str, hosts: &[&str], adapt: impl FnOnce(&mut CertificateParams)) {
        let key = KeyPair::generate().unwrap();
        let mut params =
            CertificateParams::new(hosts.iter().map(|host| (*host).to_owned()).collect::<Vec<_>>()).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        adapt(&mut params);
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        fs::write(self.file(&format!("{name}.pem")), certificate.pem()).unwrap();
        fs::write(self.file(&format!("{name}.key")), key.serialize_pem()).unwrap();
    }
}

impl Drop for Authority {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn failure(text: &str) -> ConnectError {
    match run(Client::connect(url(text), "acemq tls tests", LIMITS)) {
        Ok(_) => panic!("connected to {text}"),
        Err(error) => error,
    }
}

#[test]
fn a_broker_with_tls_gets_and_shows_certificates() {
    if !Generation::wanted().contains(&Generation::Distribution) {
        return;
    }
    let ours = Authority::new("ours");
    ours.sign("server", &["rabbit.test", "localhost"], |_| {});
    ours.sign("client", &["client"], |_| {});
    let theirs = Authority::new("theirs");
    theirs.sign("client", &["client"], |_| {});
    let (port, management_port) = (free_port().unwrap(), free_port().unwrap());
    let config = vec![
        "management.ssl.ip = 127.0.0.1".to_owned(),
        format!("management.ssl.port = {management_port}"),
        format!("management.ssl.cacertfile = {}", ours.file("ca.pem")),
        format!("management.ssl.certfile = {}", ours.file("server.pem")),
        format!("management.ssl.keyfile = {}", ours.file("server.key")),
        "management.ssl.verify = verify_peer".to_owned(),
        "management.ssl.fail_if_no_peer_cert = true".to_owned(),
        format!("listeners.ssl.1 = 127.0.0.1:{port}"),
        format!("ssl_options.cacertfile = {}", ours.file("ca.pem")),
        format!("ssl_options.certfile = {}", ours.file("server.pem")),
        format!("ssl_options.keyfile = {}", ours.file("server.key")),
        "ssl_options.verify = verify_peer".to_owned(),
        "ssl_options.fail_if_no_peer_cert = true".to_owned(),
    ];
    let node = Node::start_with(Generation::Distribution, &Settings { config, ..Settings::default() }).unwrap();

    let ca = ours.file("ca.pem");
    let (certificate, key) = (ours.file("client.pem"), ours.file("client.key"));
    let client = format!("certfile={certificate}&keyfile={key}");
    let good = format!("amqps://localhost:{port}/?cacertfile={ca}&{client}");
    run(async {
        for address in [
            good.clone(),
            format!("amqps://127.0.0.1:{port}/?cacertfile={ca}&{client}&server_name_indication=rabbit.test"),
            format!("amqps://127.0.0.1:{port}/?verify=verify_none&{client}"),
        ] {
            let client = Client::connect(url(&address), "acemq tls tests", LIMITS).await.unwrap();
            client.declare_queue(&QueueDeclaration::durable("secured")).await.unwrap();
            client.close().await;
        }
    });

    let untrusted = failure(&format!("amqps://guest:sesame99@localhost:{port}/?{client}"));
    assert_eq!(
        untrusted.to_string(),
        format!(
            "cannot connect to amqps://guest:***@localhost:{port}/: the broker's certificate is not trusted: no authority \
             that this machine trusts has signed it; name the one that did with ?cacertfile="
        )
    );
    let other_name = failure(&format!("amqps://127.0.0.1:{port}/?cacertfile={ca}&{client}"));
    assert!(other_name.to_string().contains("it was made out to another host"), "{other_name}");
    for address in [
        format!("amqps://localhost:{port}/?cacertfile={ca}"),
        format!(
            "amqps://localhost:{port}/?cacertfile={ca}&certfile={}&keyfile={}",
            theirs.file("client.pem"),
            theirs.file("client.key")
        ),
    ] {
        let error = failure(&address);
        assert!(
            error.to_string().contains("if the broker wants a client certificate, give one that it trusts"),
            "{error}"
        );
    }
    let mixed_up = failure(&format!(
        "amqps://localhost:{port}/?cacertfile={ca}&certfile={certificate}&keyfile={}",
        theirs.file("client.key")
    ));
    assert!(mixed_up.to_string().contains("it is not the key of the certificate in"), "{mixed_up}");
    let no_key =
        failure(&format!("amqps://localhost:{port}/?cacertfile={ca}&certfile={certificate}&keyfile={certificate}"));
    assert!(no_key.to_string().contains("it holds no private key in PEM form"), "{no_key}");
    let wrong_password = failure(&good.replace("localhost", "guest:sesame99@localhost"));
    assert_eq!(wrong_password.failure, ConnectFailure::LoginRefused { user: "guest".to_owned() });
    let plain = failure(&format!("amqp://localhost:{port}/"));
    assert!(plain.to_string().contains("that port speaks TLS; write amqps://"), "{plain}");

    let api = |address: &str| {
        let management = Management::new(address.parse().unwrap(), LIMITS).unwrap();
        run(async { management.broker().await })
    };
    let broker = api(&format!("https://localhost:{management_port}/?cacertfile={ca}&{client}")).unwrap();
    assert_eq!(broker.version, Some(node.version()));
    for (address, sentence) in [
        (
            format!("https://guest:sesame99@localhost:{management_port}/?{client}"),
            "no authority that this machine trusts has signed it; name the one that did with ?cacertfile=",
        ),
        (format!("https://127.0.0.1:{management_port}/?cacertfile={ca}&{client}"), "it was made out to another host"),
        (
            format!("https://localhost:{management_port}/?cacertfile={ca}"),
            "wants a client certificate, give one that it trusts with ?certfile= and ?keyfile=",
        ),
        (format!("http://guest:sesame99@localhost:{management_port}/"), "that port speaks TLS; write https://"),
    ] {
        let error = api(&address).unwrap_err();
        assert!(error.to_string().contains(sentence) && !error.to_string().contains("sesame99"), "{error}");
    }
    drop(node);
}

/// A TLS server that greets nobody.
fn tls_server(certificate: &Path, key: &Path) -> u16 {
    let chain = CertificateDer::pem_file_iter(certificate).unwrap().map(Result::unwrap).collect();
    let key = PrivateKeyDer::from_pem_file(key).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = stream.unwrap();
            let _ = std::io::Read::read(&mut Stream::new(&mut connection, &mut stream), &mut [0; 8]);
        }
    });
    port
}

#[test]
fn a_certificate_out_of_its_time_is_said_so() {
    let authority = Authority::new("time");
    authority.sign("expired", &["localhost"], |params| params.not_after = date_time_ymd(2020, 1, 1));
    authority.sign("early", &["localhost"], |params| params.not_before = date_time_ymd(2200, 1, 1));
    for (name, sentence) in [("expired", "it has expired"), ("early", "it is not valid yet")] {
        let port = tls_server(
            Path::new(&authority.file(&format!("{name}.pem"))),
            Path::new(&authority.file(&format!("{name}.key"))),
        );
        let error = failure(&format!("amqps://localhost:{port}/?cacertfile={}", authority.file("ca.pem")));
        assert!(error.to_string().contains(sentence), "{error}");
    }
}

#[test]
fn a_tls_server_that_is_no_broker_is_recognised() {
    let authority = Authority::new("other");
    authority.sign("server", &["localhost"], |_| {});
    let port = tls_server(Path::new(&authority.file("server.pem")), Path::new(&authority.file("server.key")));
    let error = failure(&format!("amqps://localhost:{port}/?cacertfile={}", authority.file("ca.pem")));
    assert!(error.to_string().contains("the connection was closed without a word"), "{error}");
}

#[test]
fn a_file_that_is_no_certificate_is_named() {
    let authority = Authority::new("files");
    let file = authority.file("notes.pem");
    fs::write(&file, "not a certificate").unwrap();
    let error = failure(&format!("amqps://localhost/?cacertfile={file}"));
    assert_eq!(
        error.to_string(),
        format!(
            "cannot connect to amqps://localhost:5671/: the file {file} cannot be used: it holds no certificate in PEM form \
             (a block that starts with -----BEGIN, not encrypted)"
        )
    );
}
