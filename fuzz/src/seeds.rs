//! Inputs to begin with: small pieces of the repository's captures, as each reader recognises them, and connections.

use flate2::read::GzDecoder;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use whyslow_profile::formats::ProfileFormat;
use whyslow_read::formats::{Format, SniffInput};

/// Bytes of a seed: small pieces are found through sooner.
const MOST: usize = 4096;

/// The folders with captures: our own, and the dump of a machine that the tests of the commands read.
const ROOTS: [&str; 2] = ["/../captures", "/../crates/whyslow/tests/sosreport"];

/// The captures that a reader takes for its own.
pub(crate) fn of_reader(format: &Format) -> Vec<Vec<u8>> {
    let is_its = |(path, data): &(PathBuf, Vec<u8>)| {
        let (name, path) = (path.file_name().unwrap_or_default().to_string_lossy(), path.to_string_lossy());
        (format.sniff)(&SniffInput { file_name: &name, path: &path, head: &data[..data.len().min(64 << 10)] })
    };
    cut(captures().into_iter().filter(is_its))
}

/// The captures that a reader of profiles takes for its own.
pub(crate) fn of_profile(format: &ProfileFormat) -> Vec<Vec<u8>> {
    cut(captures().into_iter().filter(|(_, data)| (format.sniff)(data)))
}

/// All captures.
pub(crate) fn of_chain() -> Vec<Vec<u8>> {
    cut(captures().into_iter())
}

/// The inputs below `corpus/` of a target, in the order of their names.
pub(crate) fn kept(target: &str) -> Vec<Vec<u8>> {
    let mut paths = Vec::new();
    files_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target), &mut paths);
    paths.sort();
    paths.into_iter().filter_map(|path| std::fs::read(path).ok()).collect()
}

/// A question and its answer in each of some protocols: written as the target takes its chunks.
pub(crate) fn of_wire() -> Vec<Vec<u8>> {
    let exchanges: [(&[u8], &[u8]); 10] = [
        (b"GET /items/7?q=1 HTTP/1.1\r\nHost: a\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
        (
            b"POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n",
            b"HTTP/1.1 503 Busy\r\n\r\n",
        ),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0", b"\0\0\x01\x01\x04\0\0\0\x01\x88"),
        (b"*2\r\n$3\r\nGET\r\n$1\r\na\r\n", b"$5\r\nvalue\r\n"),
        (b"*1\r\n$4\r\nPING\r\n", b"+PONG\r\n"),
        (b"get a b\r\n", b"VALUE a 0 2\r\nok\r\nEND\r\n"),
        (b"Q\0\0\0\x0dSELECT 1\0", b"C\0\0\0\x0dSELECT 1\0Z\0\0\0\x05I"),
        (b"\x09\0\0\0\x03SELECT 1", b"\x07\0\0\x01\0\0\0\x02\0\0\0"),
        (
            b"\x12\x34\x01\0\0\x01\0\0\0\0\0\0\x01a\x02de\0\0\x01\0\x01",
            b"\x12\x34\x81\x83\0\x01\0\0\0\0\0\0\x01a\x02de\0\0\x01\0\x01",
        ),
        (b"\x16\x03\x01\0\x2e\x01\0\0\x2a\x03\x03", b"\x16\x03\x03\0\x02\x02\0"),
    ];
    let chunk = |data: &[u8], direction: u8| -> Vec<u8> {
        let pieces = data.chunks(127);
        pieces.flat_map(|piece| [&[(piece.len() as u8) << 1 | direction, 0], piece].concat()).collect()
    };
    exchanges
        .iter()
        .map(|(asked, answered)| [chunk(asked, 0), chunk(answered, 1)].concat().repeat(2))
        .collect()
}

fn cut(captures: impl Iterator<Item = (PathBuf, Vec<u8>)>) -> Vec<Vec<u8>> {
    captures.map(|(_, data)| data[..data.len().min(MOST)].to_vec()).collect()
}

/// All files below the roots in an order that does not depend on the machine, decompressed.
fn captures() -> Vec<(PathBuf, Vec<u8>)> {
    let mut paths = Vec::new();
    for root in ROOTS {
        files_below(Path::new(&format!("{}{root}", env!("CARGO_MANIFEST_DIR"))), &mut paths);
    }
    paths.sort();
    paths.into_iter().filter_map(|path| Some((path.clone(), plain(std::fs::read(path).ok()?)))).collect()
}

fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for path in std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        match path.is_dir() {
            true => files_below(&path, found),
            false if path.extension().is_some_and(|ending| ending == "md") => {}
            false => found.push(path),
        }
    }
}

fn plain(data: Vec<u8>) -> Vec<u8> {
    let mut out = Vec::new();
    match data.starts_with(&[0x1f, 0x8b]) && GzDecoder::new(data.as_slice()).read_to_end(&mut out).is_ok() {
        true => out,
        false => data,
    }
}
