//! A real broker under another name: a proxy that changes what `connection.start` says the broker is.
//!
//! RabbitMQ is the only broker that tests can start. What a client does with another product's name, or an older version, is
//! tried all the same: behind the proxy a real broker answers, so whatever is done by mistake is seen there.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;

/// A loopback port behind which a broker calls itself something else. The port stays until the process ends.
pub struct Impostor {
    port: u16,
}

impl Impostor {
    /// Starts it in front of the broker that listens on `broker_port`.
    ///
    /// # Errors
    /// When no port can be had.
    pub fn start(broker_port: u16, product: &str, version: &str) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let port = listener.local_addr()?.port();
        let names = [("product", product.to_owned()), ("version", version.to_owned())];
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let names = names.clone();
                // A connection that fails is the client's to complain about.
                thread::spawn(move || serve(client, broker_port, &names));
            }
        });
        Ok(Self { port })
    }

    /// `amqp://guest:guest@127.0.0.1:PORT`, without a path.
    pub fn amqp_url(&self) -> String {
        format!("amqp://guest:guest@127.0.0.1:{}", self.port)
    }
}

fn serve(mut client: TcpStream, broker_port: u16, names: &[(&str, String)]) -> io::Result<()> {
    let mut broker = TcpStream::connect(("127.0.0.1", broker_port))?;
    client.set_nodelay(true)?;
    broker.set_nodelay(true)?;
    let mut protocol = [0; 8];
    client.read_exact(&mut protocol)?;
    broker.write_all(&protocol)?;
    let start = read_frame(&mut broker)?;
    client.write_all(&renamed(&start, names))?;
    let (mut to_broker, mut from_client) = (broker.try_clone()?, client.try_clone()?);
    let upwards = thread::spawn(move || {
        let _ = io::copy(&mut from_client, &mut to_broker);
        let _ = to_broker.shutdown(Shutdown::Write);
    });
    let _ = io::copy(&mut broker, &mut client);
    let _ = client.shutdown(Shutdown::Both);
    let _ = upwards.join();
    Ok(())
}

/// Type, channel, size, payload and end mark of one frame.
fn read_frame(from: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut frame = vec![0; 7];
    from.read_exact(&mut frame)?;
    let size = u32::from_be_bytes([frame[3], frame[4], frame[5], frame[6]]);
    let start = frame.len();
    frame.resize(start + size as usize + 1, 0);
    from.read_exact(&mut frame[start..])?;
    Ok(frame)
}

/// The frame of a `connection.start` with other texts in its table of server properties.
fn renamed(frame: &[u8], names: &[(&str, String)]) -> Vec<u8> {
    // Frame header, class, method and the two bytes of the protocol's version; then the table's length.
    const TABLE: usize = 7 + 4 + 2;
    let mut out = frame.to_vec();
    for (name, value) in names {
        let mut key = vec![u8::try_from(name.len()).expect("a short name")];
        key.extend_from_slice(name.as_bytes());
        key.push(b'S');
        let at = out.windows(key.len()).position(|bytes| bytes == key).expect("every RabbitMQ says it") + key.len();
        let old = 4 + number_at(&out, at) as usize;
        let mut new = u32::try_from(value.len()).expect("a short text").to_be_bytes().to_vec();
        new.extend_from_slice(value.as_bytes());
        for length in [3, TABLE] {
            let changed = number_at(&out, length) as usize + new.len() - old;
            out[length..length + 4].copy_from_slice(&u32::try_from(changed).expect("it is small").to_be_bytes());
        }
        out.splice(at..at + old, new);
    }
    out
}

fn number_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}
