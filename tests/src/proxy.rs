//! Loopback ports in front of a broker's own: connections that are cut, and a management API that fails, is slow, or tells what
//! was true some time ago.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Accepts connections on a port of its own until the process ends.
fn listen(serve: impl Fn(TcpStream) -> io::Result<()> + Send + Sync + 'static) -> io::Result<u16> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let port = listener.local_addr()?.port();
    let serve = Arc::new(serve);
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let serve = Arc::clone(&serve);
            // A connection that fails is the client's to complain about.
            thread::spawn(move || serve(client));
        }
    });
    Ok(port)
}

/// A port whose connections can be cut.
pub struct Wire {
    /// The port.
    pub port: u16,
    open: Arc<Mutex<Vec<TcpStream>>>,
}

impl Wire {
    /// Leads to another port.
    ///
    /// # Errors
    /// When no port can be had.
    pub fn start(to: u16) -> io::Result<Self> {
        let open = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&open);
        let port = listen(move |mut client| {
            let mut broker = TcpStream::connect(("127.0.0.1", to))?;
            lock(&kept).extend([client.try_clone()?, broker.try_clone()?]);
            let (mut upwards, mut from_client) = (broker.try_clone()?, client.try_clone()?);
            let copying = thread::spawn(move || {
                let _ = io::copy(&mut from_client, &mut upwards);
                let _ = upwards.shutdown(Shutdown::Both);
            });
            let _ = io::copy(&mut broker, &mut client);
            let _ = client.shutdown(Shutdown::Both);
            let _ = copying.join();
            Ok(())
        })?;
        Ok(Self { port, open })
    }

    /// Cuts every connection; new ones are possible.
    pub fn cut(&self) {
        for stream in lock(&self.open).drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

/// What becomes of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is answered.
    Pass,
    /// It is refused with this status.
    Fail(u16),
    /// It is answered after some time.
    Late(Duration),
    /// It is answered as it would have been so long ago, as far as the same was asked then.
    Stale(Duration),
}

/// What was answered when, by path.
type Past = Mutex<HashMap<String, Vec<(Instant, Vec<u8>)>>>;

/// Puts a proxy in front of the management API on a port; `fate` decides by the path of each request.
///
/// # Errors
/// When no port can be had.
pub fn management(to: u16, fate: impl Fn(&str) -> Fate + Send + Sync + 'static) -> io::Result<u16> {
    let past = Past::default();
    listen(move |client| {
        let mut client = BufReader::new(client);
        while let Some((path, request)) = read_request(&mut client)? {
            let fate = fate(&path);
            if let Fate::Late(by) = fate {
                thread::sleep(by);
            }
            let answer = match fate {
                Fate::Fail(status) => {
                    let body = r#"{"error":"Internal Server Error","reason":"as the test wants it"}"#;
                    let head = format!("HTTP/1.1 {status} Failed\r\ncontent-type: application/json\r\n");
                    format!("{head}content-length: {}\r\n\r\n{body}", body.len()).into_bytes()
                }
                _ => ask(to, &request)?,
            };
            let answer = match fate {
                Fate::Stale(by) => before(&past, path, answer, by),
                _ => answer,
            };
            client.get_mut().write_all(&answer)?;
        }
        Ok(())
    })
}

/// The newest answer that is as old as that, or the oldest.
fn before(past: &Past, path: String, answer: Vec<u8>, by: Duration) -> Vec<u8> {
    let mut past = lock(past);
    let answers = past.entry(path).or_default();
    answers.push((Instant::now(), answer));
    let old_enough = answers.iter().rev().find(|(at, _)| at.elapsed() >= by);
    old_enough.unwrap_or(&answers[0]).1.clone()
}

/// Path and bytes of the next request, with which its connection to the broker ends; `None` at the end.
fn read_request(client: &mut BufReader<TcpStream>) -> io::Result<Option<(String, Vec<u8>)>> {
    let (mut head, mut length, mut path) = (String::new(), 0, String::new());
    loop {
        let mut line = String::new();
        if client.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        if path.is_empty() {
            path = line.split(' ').nth(1).unwrap_or_default().to_owned();
        }
        if let Some((_, value)) = line.split_once(':').filter(|(name, _)| name.eq_ignore_ascii_case("content-length")) {
            length = value.trim().parse().map_err(io::Error::other)?;
        }
        if line == "\r\n" {
            head.push_str("connection: close\r\n\r\n");
            break;
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    client.read_exact(&mut body)?;
    Ok(Some((path, [head.into_bytes(), body].concat())))
}

/// The whole answer, as the client may read it on a connection that stays.
fn ask(to: u16, request: &[u8]) -> io::Result<Vec<u8>> {
    let mut broker = TcpStream::connect(("127.0.0.1", to))?;
    broker.write_all(request)?;
    let mut answer = Vec::new();
    broker.read_to_end(&mut answer)?;
    let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").ok_or(io::ErrorKind::UnexpectedEof)?;
    let head = String::from_utf8_lossy(&answer[..end]).into_owned();
    let lines = head.split("\r\n").filter(|line| !line.to_ascii_lowercase().starts_with("connection:"));
    let mut kept = lines.collect::<Vec<_>>().join("\r\n").into_bytes();
    kept.extend_from_slice(&answer[end..]);
    Ok(kept)
}
