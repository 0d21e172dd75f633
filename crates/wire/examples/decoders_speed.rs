//! How fast decoders go through plain streams of requests and answers, beside `memchr` over the same bytes, and how long
//! the reduction of a chunk takes:
//! `cargo run --release -p whyslow-wire --example decoders_speed`. `-- NAME MB` takes only the streams whose name begins so, and so many megabytes of
//! each, as for counting instructions.

use std::hint::black_box;
use std::time::Instant;
use whyslow_wire::{Chunk, Connection, Direction};

/// Bytes of each stream, about, unless told.
const STREAM: usize = 256 << 20;
/// Bytes of each chunk that a recorder keeps.
const HEAD: usize = 256;
/// Bytes of a large body.
const BODY: usize = 16_000;

/// What is said once at the beginning, and then again and again.
struct Stream {
    name: &'static str,
    first: Vec<(Direction, Vec<u8>)>,
    again: Vec<(Direction, Vec<u8>)>,
}

fn streams() -> Vec<Stream> {
    let ask = |bytes: &[u8]| (Direction::Request, bytes.to_vec());
    let answer = |bytes: &[u8]| (Direction::Response, bytes.to_vec());
    let with_body = |head: String, body: usize, tail: &[u8]| {
        (Direction::Response, [head.as_bytes(), &vec![b'x'; body], tail].concat())
    };
    let get = ask(b"GET /users/12?full=1 HTTP/1.1\r\nHost: api.example.com\r\nAccept: */*\r\n\r\n");
    let found = |body| {
        with_body(format!("HTTP/1.1 200 OK\r\nServer: a\r\nContent-Length: {body}\r\n\r\n"), body, b"")
    };
    let redis = ask(b"*2\r\n$3\r\nGET\r\n$11\r\nuser:123456\r\n");
    let bulk = |body| with_body(format!("${body}\r\n"), body, b"\r\n");
    let memcached = ask(b"get user:123456\r\n");
    let item = |body| with_body(format!("VALUE user:123456 0 {body}\r\n"), body, b"\r\nEND\r\n");
    let query = ask(b"Q\0\0\0\x2cSELECT name FROM users WHERE id = 12345\0");
    let rows = |count: usize| {
        let row = b"D\0\0\0\x2a\0\x01\0\0\0\x20xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\0";
        let mut all =
            b"T\0\0\0\x1d\0\x01name\0\0\0\x40\0\0\x01\0\0\0\x19\xff\xff\xff\xff\xff\xff\0\0".to_vec();
        (0..count).for_each(|_| all.extend_from_slice(&row[..row.len() - 1]));
        all.extend_from_slice(b"C\0\0\0\x0dSELECT 1\0Z\0\0\0\x05I");
        (Direction::Response, all)
    };
    vec![
        Stream { name: "HTTP/1.1, small", first: vec![], again: vec![get.clone(), found(100)] },
        Stream { name: "HTTP/1.1, bodies", first: vec![], again: vec![get, found(BODY)] },
        Stream {
            name: "HTTP/2, bodies",
            first: vec![ask(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), answer(&frame(4, 0, 0, b""))],
            again: vec![
                (Direction::Request, frame(1, 5, 1, b"\x82\x86\x04\x09/users/12")),
                (Direction::Response, [frame(1, 4, 1, b"\x88"), frame(0, 1, 1, &vec![b'x'; BODY])].concat()),
            ],
        },
        Stream { name: "Redis, small", first: vec![], again: vec![redis.clone(), bulk(100)] },
        Stream { name: "Redis, bodies", first: vec![], again: vec![redis, bulk(BODY)] },
        Stream {
            name: "memcached, bodies",
            first: vec![answer(b"STORED\r\n")],
            again: vec![memcached, item(BODY)],
        },
        Stream { name: "PostgreSQL, rows", first: vec![], again: vec![query, rows(400)] },
    ]
}

/// A frame of HTTP/2.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let [_, a, b, c] = (payload.len() as u32).to_be_bytes();
    [&[a, b, c, kind, flags], &stream.to_be_bytes()[..], payload].concat()
}

fn main() {
    println!("{:<20} {:>10} {:>10} {:>12} {:>14}", "stream", "GB/s", "memchr", "ns a step", "ns to reduce");
    // cargo adds an option of its own.
    let mut words = std::env::args().skip(1).filter(|word| !word.starts_with("--"));
    let name = words.next().unwrap_or_default();
    let size = words.next().and_then(|megabytes| megabytes.parse().ok()).map_or(STREAM, |mb: usize| mb << 20);
    for stream in streams().into_iter().filter(|stream| stream.name.starts_with(&name)) {
        let bytes: usize = stream.again.iter().map(|(_, bytes)| bytes.len()).sum();
        let rounds = (size / bytes).max(1);
        let total = (bytes * rounds) as f64;
        let mut connection = Connection::new(None);
        let mut steps = 0u64;
        let mut take = |said: &[(Direction, Vec<u8>)]| {
            for (direction, bytes) in said {
                let chunk = Chunk { head: bytes, len: bytes.len() as u64 };
                connection.take(*direction, chunk, &mut |step| {
                    black_box(step);
                    steps += 1;
                });
            }
        };
        take(&stream.first);
        let start = Instant::now();
        (0..rounds).for_each(|_| take(&stream.again));
        let decoding = start.elapsed().as_secs_f64();
        let start = Instant::now();
        for _ in 0..rounds {
            for (_, bytes) in &stream.again {
                black_box(memchr::memchr(0xfe, black_box(bytes)));
            }
        }
        let searching = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let mut kept = Vec::new();
        for (_, bytes) in (0..rounds).flat_map(|_| &stream.again) {
            kept.clear();
            // As a recorder has it: the first bytes, of a connection whose protocol is known, either way.
            let head = &bytes[..bytes.len().min(HEAD)];
            if let Some(protocol) = connection.protocol() {
                black_box(whyslow_wire::reduce_as(protocol, black_box(head), None, &mut kept));
            }
        }
        let reducing = start.elapsed().as_secs_f64();
        let speed = |seconds: f64| total / seconds / 1e9;
        println!(
            "{:<20} {:>10.2} {:>10.2} {:>12.0} {:>14.0}",
            stream.name,
            speed(decoding),
            speed(searching),
            decoding * 1e9 / steps.max(1) as f64,
            reducing * 1e9 / (rounds * stream.again.len()) as f64
        );
    }
}
