//! Converts captures to a recording and reads it back, for measuring: `convert OUT.whyslow FILE...` prints events a
//! second and bytes an event, by table and by column.

use parquet::file::reader::{FileReader, SerializedFileReader};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::time::Instant;
use whyslow_model::{Call, CaptureNote, Event, Nanos, Sink, SourceId, Timestamp};
use whyslow_read::{Input, ReadOptions};
use whyslow_store::{Meta, WriteOptions, Writer};

type Failure = Box<dyn std::error::Error>;

/// Events as memory holds them, so that the reader of text is not measured.
#[derive(Default)]
struct Held {
    calls: Vec<HeldCall>,
    others: Vec<CaptureNote>,
}

struct HeldCall {
    head: Call<'static>,
    name: Vec<u8>,
    args: Vec<u8>,
    note: Vec<u8>,
}

impl Sink for Held {
    fn push(&mut self, event: Event<'_>) {
        match event {
            Event::Call(call) => self.calls.push(HeldCall {
                head: Call { name: b"", args: b"", ret_note: b"", raw: b"", raw_end: b"", ..*call },
                name: call.name.to_vec(),
                args: call.args.to_vec(),
                note: call.ret_note.to_vec(),
            }),
            Event::Note(note) => self.others.push(note),
            _ => {}
        }
    }
}

impl Held {
    /// `times` copies, each later than the one before, with nanoseconds where the capture has microseconds: as a
    /// recorder would have measured it.
    fn replay(&self, times: u64, sink: &mut dyn Sink) {
        let known = |call: &HeldCall| call.head.ts.get();
        let (first, last) =
            (self.calls.iter().filter_map(known).min(), self.calls.iter().filter_map(known).max());
        let length = last.zip(first).map_or(0, |(last, first)| last - first) + 1_000_000;
        let mut random = 0x9E37_79B9_7F4A_7C15u64;
        for round in 0..times {
            for held in &self.calls {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                let finer = |ns: u64, by: u64| if ns.is_multiple_of(1000) { ns + by % 1000 } else { ns };
                let ts =
                    held.head.ts.get().map(|ns| Timestamp::new(finer(ns, random >> 20) + round * length));
                let dur = held.head.dur.get().map(|ns| Nanos::new(finer(ns, random >> 40)));
                sink.push(Event::Call(&Call {
                    ts: ts.unwrap_or(Timestamp::UNKNOWN),
                    dur: dur.unwrap_or(Nanos::UNKNOWN),
                    pid: Some(self.calls[0].head.tid),
                    cpu: Some((random >> 61) as u16 / 2),
                    name: &held.name,
                    args: &held.args,
                    ret_note: &held.note,
                    ..held.head
                }));
            }
        }
    }
}

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let out = arguments.next().ok_or("usage: convert OUT.whyslow [--times N] FILE...")?;
    let mut times = 1;
    let mut inputs = Vec::new();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--times" => times = arguments.next().and_then(|times| times.parse().ok()).unwrap_or(1),
            _ => inputs.push(Input::File(argument.into())),
        }
    }
    let mut held = Held::default();
    whyslow_read::read(&inputs, &ReadOptions::default(), &(), &mut held)?;

    let start = Instant::now();
    let mut writer = Writer::create(&out, Meta::new("convert"), WriteOptions::CONVERT)?;
    held.replay(times, &mut writer);
    let written = writer.finish()?;
    let seconds = start.elapsed().as_secs_f64();
    let rate = written.events as f64 / seconds / 1e6;
    let each = written.bytes as f64 / written.events.max(1) as f64;
    println!(
        "{} events, {} bytes, {each:.2} bytes an event; written in {seconds:.3} s, {rate:.2} M/s",
        written.events, written.bytes
    );

    let (start, mut sum) = (Instant::now(), 0usize);
    let mut sink = |event: Event<'_>| {
        if let Event::Call(call) = event {
            sum += call.args.len() + usize::from(call.syscall.0);
        }
    };
    let outcome = whyslow_store::read(Path::new(&out), SourceId(0), &mut sink, &mut |_, _| {})?;
    let seconds = start.elapsed().as_secs_f64();
    println!("read in {seconds:.3} s, {:.2} M/s ({sum:x})", outcome.rows as f64 / seconds / 1e6);
    for (name, table) in &outcome.meta.tables {
        columns(&Path::new(&out).join(name), name, table.rows)?;
    }
    Ok(())
}

/// Bytes a row of each column of a table.
fn columns(folder: &Path, name: &str, rows: u64) -> Result<(), Failure> {
    let (mut columns, mut files) = (BTreeMap::new(), 0u64);
    for entry in std::fs::read_dir(folder)? {
        let file = File::open(entry?.path())?;
        files += file.metadata()?.len();
        let reader = SerializedFileReader::new(file)?;
        for column in reader.metadata().row_groups().iter().flat_map(|group| group.columns()) {
            *columns.entry(column.column_path().string()).or_insert(0) += column.compressed_size();
        }
    }
    let rows = rows.max(1) as f64;
    print!("{name}: {rows} rows, {:.2} bytes a row:", files as f64 / rows);
    let mut columns: Vec<_> = columns.into_iter().collect();
    columns.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    for (column, bytes) in columns {
        print!(" {column} {:.2}", bytes as f64 / rows);
    }
    println!();
    Ok(())
}
