//! What a killed recorder leaves: the bytes as one of its streams, or as the head beside them.

use crate::{checks, room};
use std::cell::RefCell;
use std::rc::Rc;
use whyslow_facts::Facts;
use whyslow_model::SourceId;
use whyslow_record::symbols::Symbolizer;
use whyslow_record::{Recorded, can_recover};

/// The file with the head.
const HEAD: &str = "head.json";

/// Reads `data` as one stream of a spool. With the names of descriptors where its length is odd.
pub(crate) fn read_stream(stream: &str, data: &[u8]) {
    read(head(data.len() % 2 == 1).as_bytes(), stream, data);
}

/// Reads `data` as the head of a spool with a few records.
pub(crate) fn read_head(data: &[u8]) {
    read(data, "rare", &a_thread(7, 1_000));
}

fn read(head: &[u8], stream: &str, data: &[u8]) {
    thread_local! {
        // What an input does must not depend on who runs here; and the kernel's symbols take seconds to read.
        static SYMBOLS: Rc<RefCell<Symbolizer>> = Rc::new(RefCell::new(Symbolizer::blind()));
    }
    let folder = room::folder();
    room::write(&folder.path().join(HEAD), head);
    room::write(&folder.path().join(stream), data);
    assert!(can_recover(folder.path()));
    let mut facts = Facts::default();
    let recorded = Recorded::recover(folder.path()).expect("the files can be read");
    let recorded = recorded.with_symbols(SYMBOLS.with(Rc::clone));
    recorded.replay("fuzz", SourceId(0), &mut facts).expect("the files can be read");
    facts.finish();
    checks::judge(&facts);
}

/// A head with a process, its descriptors and a clock.
fn head(fd_names: bool) -> String {
    let entry = |fd: u32, kind: &str, name: &str| {
        format!(r#"{{"pid":7,"fd":{fd},"kind":"{kind}","name":"{name}","readable":true,"writable":true}}"#)
    };
    let descriptors =
        [entry(0, "DevNull", "/dev/null"), entry(3, "File", "/tmp/log"), entry(4, "Tcp", "*:80")];
    format!(
        r#"{{"clock_offset":1700000000000000000,"began":1000,"options":{{"pids":[7],"fd_names":{fd_names}}},
"processes":[{{"pid":7,"tid":7,"comm":"slow","cmdline":"slow --now","start":1700000000000000000}}],"descriptors":[{}]}}"#,
        descriptors.join(",")
    )
}

/// The record of a thread (`struct task_record`).
fn a_thread(tid: u32, at: u64) -> Vec<u8> {
    const TASK: u8 = 4;
    let words = [tid, 1, 0, 0].map(u32::to_ne_bytes).concat();
    record(TASK, tid, at, &[&words[..], b"slow\0\0\0\0\0\0\0\0\0\0\0\0"].concat())
}

/// A record: a header (`struct record`) and what is behind it.
fn record(kind: u8, tid: u32, at: u64, body: &[u8]) -> Vec<u8> {
    let length = (16 + body.len()) as u16;
    let head = [&length.to_ne_bytes()[..], &[kind, 0], &tid.to_ne_bytes(), &at.to_ne_bytes()];
    [&head.concat(), body].concat()
}

/// Heads to begin with.
pub(crate) fn heads() -> Vec<Vec<u8>> {
    [head(false), head(true), "{}".to_string()].map(String::into_bytes).into()
}

/// Records to begin with, of every kind: what the recorder itself wrote is kept below `corpus/`.
pub(crate) fn records() -> Vec<Vec<u8>> {
    let body: Vec<u8> = (0..20u64).flat_map(u64::to_ne_bytes).collect();
    let of = |kind: u8| [a_thread(7, 1_000), record(kind, 7, 2_000, &body)].concat();
    (1..=20).chain([64, 65]).map(of).collect()
}
