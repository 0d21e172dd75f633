//! What a killed recorder leaves, and a window of a lasting recording: the spool, and beside it the head that tells how to read it.

use crate::bpf::spool::SpoolReader;
use crate::bpf::unwinding;
use crate::clock::Clock;
use crate::error::RecordError;
use crate::options::Options;
use crate::replay::Recorded;
use crate::state::State;
use crate::symbols::Symbolizer;
use crate::window_end::WindowEnd;
use crate::within::WindowBegin;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::io::Read;
use std::path::Path;
use std::rc::Rc;
use whyslow_model::{Coverage, Event, FdEntry, ProcessInfo, RecordedSpan, visible};
use whyslow_privacy::files;
use whyslow_unwind::inside;

/// The file beside the streams.
const FILE: &str = "head.json";
/// A longer one is none of ours.
const MOST_BYTES: u64 = 256 << 20;

/// All that is known at the start and needed for reading the spool.
#[derive(Serialize, Deserialize)]
pub(crate) struct Head {
    clock_offset: u64,
    began: u64,
    /// The recorder's own process; 0 where an older one did not write it.
    #[serde(default)]
    recorder: u32,
    options: Options,
    processes: Vec<ProcessInfo>,
    descriptors: Vec<FdEntry>,
}

impl Head {
    pub(crate) fn new(clock: Clock, began: u64, options: &Options, state: State) -> Head {
        Head {
            clock_offset: clock.offset,
            began,
            recorder: std::process::id(),
            options: options.clone(),
            processes: state.processes,
            descriptors: state.descriptors,
        }
    }

    /// Where the head cannot be read.
    fn unknown() -> Head {
        Head::new(Clock { offset: 0 }, 0, &Options::default(), State::default())
    }

    pub(crate) fn write(&self, spool: &Path) -> Result<(), RecordError> {
        let path = spool.join(FILE);
        let text = serde_json::to_vec(self).map_err(|error| RecordError::Internal(error.to_string()))?;
        files::write(&path, &text).map_err(|source| RecordError::Spool { path, source })
    }

    pub(crate) fn remove(spool: &Path) {
        // Where it stays, the recording is found twice at worst.
        let _ = std::fs::remove_file(spool.join(FILE));
    }
}

/// True where `spool` is what a killed recorder left: a folder of its own, no link to another, with a head however damaged.
pub fn can_recover(spool: &Path) -> bool {
    let is_folder = std::fs::symlink_metadata(spool).is_ok_and(|about| about.is_dir());
    is_folder && std::fs::symlink_metadata(spool.join(FILE)).is_ok()
}

/// The head in `spool`, or what is wrong with it.
fn read_head(spool: &Path) -> Result<Head, String> {
    let file = inside::open(spool, Path::new(FILE)).map_err(|error| error.to_string())?;
    let mut text = Vec::new();
    file.take(MOST_BYTES + 1).read_to_end(&mut text).map_err(|error| error.to_string())?;
    if text.len() as u64 > MOST_BYTES {
        return Err(format!("it is longer than {} MiB", MOST_BYTES >> 20));
    }
    serde_json::from_slice(&text).map_err(|error| format!("it is damaged: {error}"))
}

impl Recorded {
    /// What a killed recorder left in `spool`. When it was killed is when its last record was written. Without the head its
    /// records are read all the same.
    ///
    /// # Errors
    /// Where the streams cannot be read.
    pub fn recover(spool: &Path) -> Result<Recorded, RecordError> {
        let end = WindowEnd::read(spool);
        let mut notes = end.as_ref().map(|end| end.notes.clone()).unwrap_or_default();
        let head = read_head(spool).unwrap_or_else(|reason| {
            notes.push(format!(
                "{}: {reason}; its times count from the start of the machine, and which processes and files were there \
                 before is unknown",
                visible::path(&spool.join(FILE))
            ));
            Head::unknown()
        });
        if end.is_none() {
            let killed = "the recorder was killed: this is what it had written by then; what was lost, what it cost, \
                          and in part who had the CPUs meanwhile, is unknown";
            notes.insert(0, killed.to_string());
        }
        let parked = unwinding::kept_parked(spool).unwrap_or_else(|reason| {
            notes.push(format!("where goroutines waited is unknown: parked.json: {reason}"));
            Vec::new()
        });
        let clock = Clock { offset: head.clock_offset };
        let options = Options { spool: spool.into(), ..head.options };
        let processes = head.processes.into_iter().map(Event::Process);
        let descriptors = head.descriptors.into_iter().map(|entry| Event::Fd(Box::new(entry)));
        let state: Vec<Event<'static>> = processes.chain(descriptors).collect();
        // A window that ended says when, and is not read through for that.
        let (first, last) = match &end {
            Some(end) if head.began != 0 => (head.began, end.ended),
            _ => times(&options, &mut notes)?.unwrap_or((head.began, head.began)),
        };
        let began = clock.epoch(if head.began == 0 { first } else { head.began });
        let ended = clock.epoch(end.as_ref().map_or(last, |end| end.ended));
        let spans = match &end {
            Some(end) => end.spans(clock),
            None => vec![RecordedSpan { from: began, to: ended, calls: Coverage::Full }],
        };
        let losses = end.as_ref().map(|end| end.losses(clock, (began, ended))).unwrap_or_default();
        let only_counted = end.as_ref().is_some_and(|end| end.only_counted);
        let cost = end.as_ref().and_then(WindowEnd::cost);
        let within = end.is_some().then(|| WindowBegin(began.get().unwrap_or(0)));
        Ok(Recorded {
            clock,
            // What ran may still run: then its code can be looked at.
            symbols: Rc::new(RefCell::new(Symbolizer::with_debug_dirs(&options.debug_dirs))),
            options,
            counted: Default::default(),
            files: Vec::new(),
            meanwhile: Vec::new(),
            recorder: head.recorder,
            probed: Vec::new(),
            state,
            // The head is of the start.
            late: Default::default(),
            late_told: 0,
            following: None,
            began,
            ended,
            spans,
            losses,
            only_counted,
            within,
            cost,
            cost_of_parts: Vec::new(),
            notes,
            parked,
            trouble: None,
        })
    }
}

/// When the first and the last record were written, on the kernel's clock. Notes what is no stream.
fn times(options: &Options, notes: &mut Vec<String>) -> Result<Option<(u64, u64)>, RecordError> {
    let mut times = None;
    let mut reader = SpoolReader::new(&options.spool, false);
    reader.read(u64::MAX, |record| {
        let ts = record.header.ts;
        times = Some(times.map_or((ts, ts), |(first, _)| (first, ts)));
    })?;
    notes.extend(reader.passed_over);
    Ok(times)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bpf::layout::{Header, kind};
    use whyslow_model::SourceId;

    /// A spool without a record, whose head is `head`.
    fn spool(head: &[u8]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join(FILE), head).expect("written");
        std::fs::write(folder.path().join("rare"), []).expect("written");
        folder
    }

    fn notes(spool: &Path) -> Vec<String> {
        assert!(can_recover(spool));
        let recorded = Recorded::recover(spool).expect("recovered");
        recorded.replay("x", SourceId(0), &mut |_: Event<'_>| {}).expect("read");
        recorded.notes
    }

    #[test]
    fn a_damaged_head_costs_the_head_alone() {
        let head = Head::new(Clock { offset: 7 }, 5, &Options::default(), State::default());
        let whole = serde_json::to_vec(&head).expect("encoded");
        assert_eq!(notes(spool(&whole).path()).len(), 1);
        let mut damaged = whole.clone();
        damaged[10..18].fill(0xff);
        for head in [&damaged, &whole[..20], &b""[..], b"[]"] {
            let folder = spool(head);
            let notes = notes(folder.path());
            assert!(notes.len() == 2 && notes[1].contains("head.json: it is damaged"), "{notes:?}");
        }
    }

    #[test]
    fn a_window_that_ended_was_not_killed() {
        let head = Head::new(Clock { offset: 7 }, 5, &Options::default(), State::default());
        let folder = spool(&serde_json::to_vec(&head).expect("encoded"));
        assert_eq!(Recorded::recover(folder.path()).expect("recovered").notes.len(), 1);
        let end = WindowEnd { ended: 30, notes: vec!["kept".into()], ..WindowEnd::default() };
        end.write(folder.path()).expect("written");
        let recorded = Recorded::recover(folder.path()).expect("recovered");
        assert_eq!((recorded.notes.as_slice(), recorded.ended.get()), (&["kept".to_string()][..], Some(37)));
    }

    #[test]
    fn what_is_behind_a_damaged_record_is_told_and_not_read() {
        let folder = spool(b"{}");
        // A whole record, then one of no length: it was taken for one that is not whole yet, and the file read to its end for it.
        let mut bytes = [0; 48];
        (bytes[0], bytes[2]) = (32, 200);
        std::fs::write(folder.path().join("calls-0"), bytes).expect("written");
        let notes = notes(folder.path());
        assert!(notes[2].contains("calls-0: it is damaged at byte 32;"), "{notes:?}");
    }

    /// A record: a header (`struct record`), and numbers behind it.
    fn record(kind: u8, body: &[u64]) -> Vec<u8> {
        let length = (Header::SIZE + 8 * body.len()) as u16;
        let head = [&length.to_ne_bytes()[..], &[kind, 0], &7u32.to_ne_bytes(), &5u64.to_ne_bytes()].concat();
        head.into_iter().chain(body.iter().flat_map(|number| number.to_ne_bytes())).collect()
    }

    /// How many events the recording has, and how many of its records are none.
    fn replayed(stream: &str, bytes: &[u8]) -> (u64, u64) {
        let folder = spool(b"{}");
        std::fs::write(folder.path().join(stream), bytes).expect("written");
        let recorded = Recorded::recover(folder.path()).expect("recovered");
        let (mut events, mut rejects) = (0, 0);
        let mut sink = |event: Event<'_>| match event {
            Event::Source(info) => rejects = info.rejects,
            Event::Note(_) | Event::Span(_) => {}
            _ => events += 1,
        };
        recorded.replay("x", SourceId(0), &mut sink).expect("read");
        (events, rejects)
    }

    #[test]
    fn records_that_claim_to_stand_for_many_events_are_bounded_together() {
        // Drops of a listening socket: how many stands in the fourth number.
        let drops = record(kind::NET, &[7, u64::MAX, u64::MAX, u64::MAX, 0, 0, 0, 0, 2]);
        let (events, rejects) = replayed("rare", &drops.repeat(50));
        assert!((1 << 20..=(1 << 20) + 50).contains(&events) && rejects == 0, "{events} {rejects}");
    }

    #[test]
    fn a_quota_over_no_time_is_no_rate() {
        assert_eq!(replayed("quota", &record(kind::QUOTA, &[9, 0, 1, 1, 1])), (1, 0));
        assert_eq!(replayed("quota", &record(kind::QUOTA, &[0, 0, 1, 1, 1])), (0, 1));
    }

    #[test]
    fn samples_of_queues_over_no_time_or_cut_off_are_no_samples() {
        let numbers = [9, 4 | 2 << 32, 64];
        assert_eq!(replayed("queues", &record(kind::QUEUE, &numbers)), (1, 0));
        assert_eq!(replayed("queues", &record(kind::QUEUE, &[0, 4, 64])), (0, 1));
        assert_eq!(replayed("queues", &record(kind::QUEUE, &numbers[..2])), (0, 1));
    }

    #[test]
    fn the_last_moments_of_a_thread_are_its_processes() {
        let at = |ts: u64, mut record: Vec<u8>| {
            record[8..16].copy_from_slice(&ts.to_ne_bytes());
            record
        };
        let folder = spool(b"{}");
        // Of thread 7 of process 3: it begins, it ends, and leaves the CPU for the last time.
        let task = [3 | 1 << 32, 0, 0, 0];
        let rare = [at(10, record(kind::TASK, &task)), at(20, record(kind::EXIT, &task))].concat();
        std::fs::write(folder.path().join("rare"), rare).expect("written");
        std::fs::write(folder.path().join("sched"), at(30, record(kind::STRETCH, &[2, 0, 0])))
            .expect("written");
        let recorded = Recorded::recover(folder.path()).expect("recovered");
        let mut pids = Vec::new();
        let mut sink = |event: Event<'_>| {
            if let Event::Stretch(stretch) = event {
                pids.push((stretch.pid, stretch.tid));
            }
        };
        recorded.replay("x", SourceId(0), &mut sink).expect("read");
        assert_eq!(pids, [(3, 7)]);
    }

    #[test]
    fn goroutines_that_were_counted_are_told_and_a_damaged_file_of_them_is_noted() {
        let folder = spool(b"{}");
        let row = br#"[{"pid":7,"waits":"lock","call":"sync.Mutex.Lock","function":"main.take",
            "place":"/srv/order.go:88","goroutines":50,"looks":10}]"#;
        for (text, rows, notes) in [(&row[..], 1, 2), (&row[..40], 0, 3)] {
            std::fs::write(folder.path().join("parked.json"), text).expect("written");
            let recorded = Recorded::recover(folder.path()).expect("recovered");
            assert_eq!((recorded.parked.len(), recorded.notes.len()), (rows, notes), "{:?}", recorded.notes);
        }
    }

    #[test]
    fn no_link_and_no_fifo_is_followed() {
        let folder = spool(b"{}");
        let head = folder.path().join(FILE);
        std::fs::remove_file(&head).expect("removed");
        let outside = tempfile::NamedTempFile::new().expect("a file");
        std::os::unix::fs::symlink(outside.path(), &head).expect("linked");
        let fifo = folder.path().join("calls-0");
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, mode, 0).expect("made");
        let notes = notes(folder.path());
        assert!(notes[1].contains("head.json: it is a link"), "{notes:?}");
        assert!(notes[2].contains("calls-0: it is not a regular file"), "{notes:?}");
        let link = outside.path().with_extension("spool");
        std::os::unix::fs::symlink(folder.path(), &link).expect("linked");
        let is_followed = can_recover(&link);
        std::fs::remove_file(&link).expect("removed");
        assert!(!is_followed);
    }
}
