//! A window of the ring as a recording that began with it: the threads that were there are told.

use crate::bpf::layout::{COMM_LENGTH, Header, kind};
use crate::state::State;

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
