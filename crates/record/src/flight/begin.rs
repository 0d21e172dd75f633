//! A window of the ring as a recording that began with it: what reaches further back is cut there, and the threads that were there are told.

use super::mark::State;
use crate::bpf::layout::{COMM_LENGTH, Fields, Header, kind};
use crate::raw::RawFlags;

/// Changes the record so that it reaches back to `begin` at most, ns of the kernel's clock.
pub(super) fn cut(header: Header, record: &mut [u8], begin: u64) {
    match header.kind {
        kind::CALL => {
            // `struct call_record`: the lower half of the duration, the number, and the arguments with the upper bits of the duration.
            let mut fields = Fields(record.get(Header::SIZE..).unwrap_or_default());
            let (Some(low), Some(_), Some(args_dur)) = (fields.u32(), fields.u16(), fields.u16()) else {
                return;
            };
            let took = u64::from(args_dur >> 3) << 32 | u64::from(low);
            // It was under way as the recording began, and the replay takes it so.
            if header.ts.saturating_sub(took) < begin {
                record[Header::FLAGS] |= RawFlags::NO_ENTER.0;
            }
        }
        kind::STRETCH => {
            // On a CPU last, before that in its queue, and before that asleep.
            let mut room = header.ts.saturating_sub(begin);
            for number in 0..3 {
                let at = Header::SIZE + 8 * number;
                let Some(time) = record.get_mut(at..at + 8) else { return };
                let Ok(bytes) = (&*time).try_into() else { return };
                let ns = u64::from_ne_bytes(bytes);
                // All ones stand for unknown.
                if ns != u64::MAX {
                    time.copy_from_slice(&ns.min(room).to_ne_bytes());
                    room -= ns.min(room);
                }
            }
        }
        _ => {}
    }
}

/// The records that tell of the threads that were there at `begin`, and how many.
pub(super) fn threads(state: &State, begin: u64) -> (Vec<u8>, u64) {
    let (mut records, mut count) = (Vec::new(), 0);
    for info in &state.processes {
        let Some(tid) = info.tid else { continue };
        let mut comm = [0; COMM_LENGTH];
        let name = info.comm.as_deref().unwrap_or_default().as_bytes();
        let length = name.len().min(COMM_LENGTH - 1);
        comm[..length].copy_from_slice(&name[..length]);
        let mut body = Vec::with_capacity(16 + COMM_LENGTH);
        for word in [info.pid, info.parent.unwrap_or(0), 0, 0] {
            body.extend_from_slice(&word.to_ne_bytes());
        }
        body.extend_from_slice(&comm);
        records.extend(Header::with(kind::TASK, tid, begin, &body));
        count += 1;
    }
    (records, count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyslow_model::ProcessInfo;

    fn cut_at(begin: u64, mut record: Vec<u8>) -> Vec<u8> {
        cut(Header::of(&record).expect("whole"), &mut record, begin);
        record
    }

    #[test]
    fn a_call_that_was_under_way_has_no_entry_and_others_stay() {
        let call = |took: u32| [&took.to_ne_bytes()[..], &[0; 4], &[0; 8]].concat();
        for (begin, took, is_cut) in [(60, 40, false), (61, 40, true), (200, 0, true)] {
            let record = cut_at(begin, Header::with(kind::CALL, 7, 100, &call(took)));
            assert_eq!(record[Header::FLAGS] & RawFlags::NO_ENTER.0 != 0, is_cut, "{begin} {took}");
        }
        // The upper bits of a long one stand beside the number of its arguments.
        let long = [&0u32.to_ne_bytes()[..], &[0; 2], &(1u16 << 3).to_ne_bytes(), &[0; 8]].concat();
        let record = cut_at(4_000_000_000, Header::with(kind::CALL, 7, 5_000_000_000, &long));
        assert_eq!(record[Header::FLAGS], RawFlags::NO_ENTER.0);
        let short = Header::with(kind::CALL, 7, 100, &[1, 2]);
        assert_eq!(cut_at(99, short.clone()), short);
    }

    #[test]
    fn a_stretch_loses_what_was_before() {
        let stretch = |times: [u64; 3]| {
            let body: Vec<u8> = times.into_iter().flat_map(u64::to_ne_bytes).collect();
            Header::with(kind::STRETCH, 7, 100, &body)
        };
        for (begin, times, expected) in [
            (0, [10, 20, 30], [10, 20, 30]),
            (60, [10, 20, 30], [10, 20, 10]),
            (75, [10, 20, 30], [10, 15, 0]),
            (95, [10, 20, 30], [5, 0, 0]),
            (75, [10, u64::MAX, u64::MAX], [10, u64::MAX, u64::MAX]),
        ] {
            assert_eq!(cut_at(begin, stretch(times)), stretch(expected), "{begin}");
        }
    }

    #[test]
    fn threads_are_told_as_the_kernel_tells_them() {
        let one = ProcessInfo {
            pid: 7,
            tid: Some(8),
            comm: Some("a name that is too long".into()),
            ..Default::default()
        };
        let process = ProcessInfo { pid: 7, ..Default::default() };
        let state = State { processes: vec![process, one], descriptors: Vec::new() };
        let (records, count) = threads(&state, 40);
        let header = Header::of(&records).expect("whole");
        assert_eq!((count, header.kind, header.tid, header.ts), (1, kind::TASK, 8, 40));
        assert_eq!((records.len(), records[16], &records[32..]), (48, 7, &b"a name that is \0"[..]));
    }
}
