//! Records of calls, and what is seen in them.

use crate::bpf::layout::{Header, kind};
use crate::bpf::spool::SpoolRecord;
use crate::clock::Clock;
use crate::flight::sight::{Eyes, SeenEnd, SeenSide, Sight, SightsWanted};
use crate::raw::{MemoryPiece, pad, push_piece};
use std::time::Duration;
use whyslow_model::{Errno, FdEntry, FdKind};

const CLOCK: Clock = Clock { offset: 0 };
const MS: u64 = 1_000_000;

/// A call of thread 7 that returned at `at` ms and took `took` ms.
fn call(nr: i64, at: u64, took: u64, ret: i64, args: [u64; 2], payload: Option<&[u8]>) -> Vec<u8> {
    let took = took * MS;
    let mut body = (took as u32).to_ne_bytes().to_vec();
    body.extend((nr as u16).to_ne_bytes());
    body.extend((2 | ((took >> 32) as u16) << 3).to_ne_bytes());
    body.extend(ret.to_ne_bytes());
    args.iter().for_each(|arg| body.extend(arg.to_ne_bytes()));
    if let Some(bytes) = payload {
        push_piece(
            &mut body,
            MemoryPiece { arg: 1, part: 0, bytes, cut: false, fault: false, reduced: false },
        );
        pad(&mut body);
    }
    Header::with(kind::CALL, 7, at * MS, &body)
}

fn task(kind: u8, tid: u32, pid: u32, code: u32) -> Vec<u8> {
    let words = [pid, 1, code, 0].into_iter().flat_map(u32::to_ne_bytes);
    let body: Vec<u8> = words.chain(*b"shop\0\0\0\0\0\0\0\0\0\0\0\0").collect();
    Header::with(kind, tid, MS, &body)
}

fn eyes() -> Eyes {
    Eyes::new(SightsWanted {
        requests: true,
        calls_from: Some(Duration::from_secs(1)),
        errors: vec![Errno::EPIPE],
    })
}

/// What is seen, in words.
fn seen(eyes: &mut Eyes, records: &[Vec<u8>]) -> Vec<String> {
    let mut all = Vec::new();
    for bytes in records {
        let header = Header::of(bytes).expect("whole");
        eyes.see(&SpoolRecord { header, cpu: 0, bytes }, CLOCK, &mut |sight| all.push(words(&sight)));
    }
    all
}

fn words(sight: &Sight<'_>) -> String {
    match sight {
        Sight::Request(of) => format!(
            "{}{} {} {:?} {} ms{}",
            if of.side == SeenSide::Server { "serves " } else { "asks " },
            of.protocol,
            of.endpoint,
            of.status,
            of.took.or_zero() / MS,
            match (of.failed, of.open) {
                (true, _) => " failed",
                (_, true) => " open",
                _ => "",
            }
        ),
        Sight::Call(of) => {
            let error = of.error.map(|error| format!(" {error}")).unwrap_or_default();
            format!("{}{error}{}", of.name, if of.is_idle { " idle" } else { "" })
        }
        Sight::Signal { name, .. } => name.clone(),
        Sight::End { pid, name, end, .. } => match end {
            SeenEnd::Status(status) => format!("{pid} {name} exits {status}"),
            SeenEnd::Signal(signal) => format!("{pid} {name} dies of {signal}"),
        },
    }
}

const ASKED: &[u8] = b"GET /cart/77 HTTP/1.1\r\nHost: shop\r\n\r\n";
const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
const FAILED: &[u8] = b"HTTP/1.1 503 Unavailable\r\nContent-Length: 0\r\n\r\n";
const MISSING: &[u8] = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";

fn read(at: u64, took: u64, fd: u64, bytes: &[u8]) -> Vec<u8> {
    call(libc::SYS_read, at, took, bytes.len() as i64, [fd, 0], Some(bytes))
}

fn write(at: u64, took: u64, fd: u64, bytes: &[u8]) -> Vec<u8> {
    call(libc::SYS_write, at, took, bytes.len() as i64, [fd, 0], Some(bytes))
}

#[test]
fn a_request_is_timed_from_its_bytes_to_its_answer() {
    let mut eyes = eyes();
    let accepted = call(libc::SYS_accept4, 10, 5, 9, [3, 0], None);
    let served = [accepted, read(20, 1, 9, ASKED), write(832, 1, 9, OK), read(900, 60, 9, ASKED)];
    assert_eq!(seen(&mut eyes, &served), ["serves HTTP/1.1 GET /cart/{id} Some(\"200\") 812 ms"]);
    let failures = [write(901, 0, 9, FAILED), read(902, 0, 9, ASKED), write(905, 0, 9, MISSING)];
    assert_eq!(
        seen(&mut eyes, &failures),
        [
            "serves HTTP/1.1 GET /cart/{id} Some(\"503\") 1 ms failed",
            "serves HTTP/1.1 GET /cart/{id} Some(\"404\") 3 ms"
        ]
    );
}

#[test]
fn whom_it_asks_is_timed_from_the_write_on_and_a_lost_connection_fails() {
    let mut eyes = eyes();
    let asked = [
        call(libc::SYS_connect, 10, 5, 0, [4, 0], None),
        write(20, 10, 4, ASKED),
        read(60, 40, 4, OK),
        write(70, 0, 4, ASKED),
        call(libc::SYS_read, 90, 20, -i64::from(libc::ECONNRESET), [4, 0], None),
    ];
    assert_eq!(
        seen(&mut eyes, &asked),
        [
            "asks HTTP/1.1 GET /cart/{id} Some(\"200\") 50 ms",
            "asks HTTP/1.1 GET /cart/{id} None 20 ms failed"
        ]
    );
}

#[test]
fn a_connection_from_before_is_known_by_its_bytes_and_a_file_is_none() {
    let mut eyes = eyes();
    let entry = |fd, kind| FdEntry { pid: Some(7), fd: Some(fd), kind, ..FdEntry::default() };
    eyes.descriptors(&[entry(9, FdKind::Tcp), entry(5, FdKind::File)]);
    let records = [read(20, 1, 9, ASKED), read(21, 1, 5, ASKED), write(22, 0, 5, OK), write(30, 1, 9, OK)];
    assert_eq!(seen(&mut eyes, &records), ["serves HTTP/1.1 GET /cart/{id} Some(\"200\") 10 ms"]);
}

#[test]
fn an_open_request_is_told_once() {
    let mut eyes = eyes();
    let accepted = call(libc::SYS_accept4, 10, 5, 9, [3, 0], None);
    seen(&mut eyes, &[accepted, read(20, 1, 9, ASKED), write(21, 1, 9, OK), read(30, 1, 9, ASKED)]);
    let mut all = Vec::new();
    for now in [40, 530, 540] {
        eyes.open(now * MS, Duration::from_millis(500), CLOCK, &mut |sight| all.push(words(&sight)));
    }
    assert_eq!(all, ["serves HTTP/1.1 GET /cart/{id} None 500 ms open"]);
}

#[test]
fn long_calls_and_errors_are_told_and_a_wait_for_work_is_said_to_be_one() {
    let mut eyes = eyes();
    let entry = |fd, kind| FdEntry { pid: Some(7), fd: Some(fd), kind, ..FdEntry::default() };
    eyes.descriptors(&[entry(5, FdKind::File), entry(6, FdKind::Pipe)]);
    let records = [
        call(libc::SYS_fsync, 9_000, 1_000, 0, [5, 0], None),
        call(libc::SYS_fsync, 9_000, 999, 0, [5, 0], None),
        call(libc::SYS_epoll_wait, 9_000, 4_500, 0, [8, 0], None),
        call(libc::SYS_read, 9_000, 4_500, 1, [6, 0], None),
        call(libc::SYS_read, 9_000, 4_500, 1, [5, 0], None),
        call(libc::SYS_write, 9_000, 0, -i64::from(libc::EPIPE), [6, 0], None),
        call(libc::SYS_write, 9_000, 0, -i64::from(libc::EAGAIN), [6, 0], None),
    ];
    assert_eq!(seen(&mut eyes, &records), ["fsync", "epoll_wait idle", "read idle", "read", "write EPIPE"]);
}

#[test]
fn a_process_ends_with_its_last_thread() {
    let mut eyes = eyes();
    let begins = [task(kind::TASK, 7, 7, 0), task(kind::FORK, 8, 7, 0)];
    assert!(seen(&mut eyes, &begins).is_empty());
    assert_eq!(eyes.processes(), [7]);
    assert!(seen(&mut eyes, &[task(kind::EXIT, 7, 7, 3 << 8)]).is_empty());
    assert_eq!(seen(&mut eyes, &[task(kind::EXIT, 8, 7, 3 << 8)]), ["7 shop exits 3"]);
    let other = [task(kind::TASK, 9, 9, 0), task(kind::EXIT, 9, 9, 11)];
    assert_eq!(seen(&mut eyes, &other), ["9 shop dies of SIGSEGV"]);
    assert!(eyes.processes().is_empty());
    let signal = Header { flags: 0, ..Header::of(&Header::with(kind::SIGNAL, 7, 5, &[])).expect("whole") };
    let mut all = Vec::new();
    let mut bytes = Header::with(kind::SIGNAL, 7, 5, &[]);
    bytes[Header::FLAGS] = 10;
    let header = Header { flags: 10, ..signal };
    eyes.see(&SpoolRecord { header, cpu: 0, bytes: &bytes }, CLOCK, &mut |sight| all.push(words(&sight)));
    assert_eq!(all, ["SIGUSR1"]);
}

#[test]
fn any_bytes_are_survived() {
    let mut eyes = eyes();
    let mut random = fastrand::Rng::with_seed(20);
    for _ in 0..20_000 {
        let kinds = [kind::CALL, kind::EXIT, kind::TASK, kind::SIGNAL, kind::FORK];
        let body: Vec<u8> = (0..random.usize(..96)).map(|_| random.u8(..4)).collect();
        let bytes = Header::with(kinds[random.usize(..kinds.len())], random.u32(..9), random.u64(..), &body);
        seen(&mut eyes, &[bytes]);
    }
}
