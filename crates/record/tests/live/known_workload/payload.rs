//! Payload: what may be a secret never reaches the disk, unless payload is to be kept.

use super::{TIMES, only, record};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use whyslow_record::Options;

const SECRET: &str = "hunter2hunter2";

/// All that stands in the spool after a thread sent and received a secret, as often as ever; `None` where nothing can be
/// recorded.
fn spooled(keep_payload: bool) -> Option<Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    let options = only(|_| ());
    let options = Options { keep_payload, spool: folder.path().into(), ..options };
    let work = || {
        let (mut one, mut other) = UnixStream::pair().unwrap();
        let request = format!("GET /feed?token={SECRET} HTTP/1.1\r\nCookie: {SECRET}\r\n\r\n");
        let mut buffer = vec![0; request.len()];
        for _ in 0..TIMES {
            one.write_all(request.as_bytes()).unwrap();
            other.read_exact(&mut buffer).unwrap();
        }
    };
    let look = |_| {
        let mut all = Vec::new();
        for entry in std::fs::read_dir(folder.path()).unwrap() {
            all.extend(std::fs::read(entry.unwrap().path()).unwrap());
        }
        all
    };
    record(options, work, look).map(|(_, (), [_, after])| after)
}

fn times(bytes: &[u8], word: &str) -> usize {
    bytes.windows(word.len()).filter(|window| *window == word.as_bytes()).count()
}

#[test]
fn the_spool_holds_no_secret() {
    let Some(bytes) = spooled(false) else { return };
    assert_eq!(times(&bytes, "GET /feed?token=* HTTP/1.1"), 2 * TIMES);
    assert_eq!(times(&bytes, SECRET), 0);
}

#[test]
fn payload_is_kept_where_that_is_asked_for() {
    let Some(bytes) = spooled(true) else { return };
    assert_eq!(times(&bytes, SECRET), 2 * 2 * TIMES);
}
