//! TLS, for AMQP and the management API alike: verified against the system's authorities or a given file, with a client certificate if asked.

use crate::connect::{ConnectFailure, Speaks};
use crate::url::TlsOptions;
use std::path::Path;
use std::sync::Arc;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls;
use tokio_rustls::rustls::client::WebPkiServerVerifier;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::CryptoProvider;
use tokio_rustls::rustls::pki_types::pem::{Error as PemError, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use tokio_rustls::rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

/// A TLS connector and the name that the broker's certificate must carry.
#[derive(Clone)]
pub(crate) struct Tls {
    pub(crate) connector: TlsConnector,
    pub(crate) server_name: String,
}

impl Tls {
    /// Reads the files that the options name.
    pub(crate) fn new(host: &str, options: &TlsOptions) -> Result<Self, ConnectFailure> {
        let server_name = options.server_name.clone().unwrap_or_else(|| host.to_owned());
        if ServerName::try_from(server_name.as_str()).is_err() {
            return Err(ConnectFailure::Tls {
                why: format!(
                    "\"{}\" is no name that a certificate can carry; give the right one with ?server_name_indication=",
                    server_name.escape_debug()
                ),
            });
        }
        Ok(Self { connector: TlsConnector::from(Arc::new(client_config(options)?)), server_name })
    }
}

fn client_config(options: &TlsOptions) -> Result<ClientConfig, ConnectFailure> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let broken = |error: rustls::Error| ConnectFailure::Tls { why: error.to_string() };
    let builder = ClientConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions();
    let builder = builder.map_err(broken)?;
    let builder = if options.unverified {
        builder.dangerous().with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
    } else {
        let roots = Arc::new(roots(options.ca_file.as_deref())?);
        let verifier = WebPkiServerVerifier::builder_with_provider(roots, provider).build();
        let verifier = verifier.map_err(|error| ConnectFailure::Tls { why: error.to_string() })?;
        builder.with_webpki_verifier(verifier)
    };
    match &options.client {
        None => Ok(builder.with_no_client_auth()),
        Some(client) => {
            let chain = certificates(&client.certificate_file)?;
            let key = PrivateKeyDer::from_pem_file(&client.key_file)
                .map_err(|error| unusable(&client.key_file, &error, "private key"))?;
            builder.with_client_auth_cert(chain, key).map_err(|error| ConnectFailure::TlsFile {
                file: client.key_file.clone(),
                why: match error {
                    rustls::Error::InconsistentKeys(_) => {
                        format!("it is not the key of the certificate in {}", client.certificate_file.display())
                    }
                    other => other.to_string(),
                },
            })
        }
    }
}

fn roots(ca_file: Option<&Path>) -> Result<RootCertStore, ConnectFailure> {
    let mut store = RootCertStore::empty();
    if let Some(file) = ca_file {
        for certificate in certificates(file)? {
            store.add(certificate).map_err(|error| ConnectFailure::TlsFile {
                file: file.to_owned(),
                why: format!("it holds a certificate that is no authority's: {error}"),
            })?;
        }
        return Ok(store);
    }
    let system = rustls_native_certs::load_native_certs();
    store.add_parsable_certificates(system.certs);
    if store.is_empty() {
        return Err(ConnectFailure::Tls {
            why: "this system has no certificate authorities; install them (Debian: the package ca-certificates) or name a file with ?cacertfile=".to_owned(),
        });
    }
    Ok(store)
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, ConnectFailure> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_file_iter(file).and_then(|found| found.collect());
    match all {
        Ok(all) if all.is_empty() => Err(unusable(file, &PemError::NoItemsFound, "certificate")),
        Ok(all) => Ok(all),
        Err(error) => Err(unusable(file, &error, "certificate")),
    }
}

fn unusable(file: &Path, error: &PemError, what: &str) -> ConnectFailure {
    let why = match error {
        PemError::Io(error) => error.to_string(),
        PemError::NoItemsFound => {
            format!("it holds no {what} in PEM form (a block that starts with -----BEGIN, not encrypted)")
        }
        _ => format!("it is no PEM file with a {what}"),
    };
    ConnectFailure::TlsFile { file: file.to_owned(), why }
}

/// What a failed handshake means.
pub(crate) fn handshake_failure(error: &rustls::Error) -> ConnectFailure {
    match error {
        rustls::Error::InvalidCertificate(problem) => ConnectFailure::Certificate { why: certificate_problem(problem) },
        rustls::Error::InvalidMessage(_) => ConnectFailure::NotAmqp { speaks: Speaks::Plain },
        rustls::Error::AlertReceived(
            rustls::AlertDescription::CertificateRequired
            | rustls::AlertDescription::BadCertificate
            | rustls::AlertDescription::CertificateUnknown
            | rustls::AlertDescription::UnknownCA
            | rustls::AlertDescription::HandshakeFailure,
        ) => ConnectFailure::Tls {
            why: format!(
                "{error}; if the broker wants a client certificate, give one that it trusts with ?certfile= and ?keyfile="
            ),
        },
        other => ConnectFailure::Tls { why: other.to_string() },
    }
}

fn certificate_problem(problem: &CertificateError) -> String {
    match problem {
        CertificateError::UnknownIssuer => {
            "no authority that this machine trusts has signed it; name the one that did with ?cacertfile=".to_owned()
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => format!(
            "it was made out to another host ({problem}); connect by that name, or give it with ?server_name_indication="
        ),
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            format!("it has expired ({problem}); renew it on the broker")
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            format!("it is not valid yet ({problem}); check this machine's clock")
        }
        other => format!("{other}; check the broker's certificate, or name its authority with ?cacertfile="),
    }
}

/// Takes any certificate (`verify=verify_none`); the handshake's signatures are still checked.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
