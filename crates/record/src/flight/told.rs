//! What is told once and needed by all that comes later: paths of files, frames of languages, control groups, who was taken in. It
//! outlives the segment in which it was told.

use crate::bpf::layout::{Header, kind};
use std::collections::{HashMap, VecDeque};

/// Bytes that are kept at most; then what was told first is forgotten, and counted.
const MOST_BYTES: usize = 8 << 20;

/// What a record tells of. What is told anew takes its place.
type Key = (usize, u8, u32, Vec<u8>);

/// The records that are kept.
#[derive(Default)]
pub(super) struct Told {
    records: HashMap<Key, Vec<u8>>,
    order: VecDeque<Key>,
    bytes: usize,
    /// So many were forgotten.
    pub(super) forgotten: u64,
}

/// `struct file_name`: what a path is known by.
const FILE_NAME_BYTES: usize = 32;

impl Told {
    /// Keeps the record of a stream where it is of that kind.
    pub(super) fn take(&mut self, stream: usize, header: Header, record: &[u8]) {
        let body = record.get(Header::SIZE..).unwrap_or_default();
        let key = match header.kind {
            kind::PATH => body.get(..FILE_NAME_BYTES),
            // Their number stands first.
            kind::FRAME => body.get(..4),
            kind::GROUP | kind::FOLLOWED => Some(&[][..]),
            _ => return,
        };
        let Some(key) = key else { return };
        let key = (stream, header.kind, header.tid, key.to_vec());
        self.bytes += record.len();
        match self.records.insert(key.clone(), record.to_vec()) {
            Some(before) => self.bytes -= before.len(),
            None => self.order.push_back(key),
        }
        while self.bytes > MOST_BYTES
            && let Some(oldest) = self.order.pop_front()
        {
            self.bytes -= self.records.remove(&oldest).map_or(0, |record| record.len());
            self.forgotten += 1;
        }
    }

    /// Bytes that they take, with what they are found by.
    pub(super) fn bytes(&self) -> u64 {
        (self.bytes + self.records.len() * 3 * size_of::<Key>()) as u64
    }

    /// Those that were told before `begin`, in the order in which they were.
    pub(super) fn before(&self, begin: u64) -> impl Iterator<Item = (usize, &[u8])> {
        let known = self.order.iter().filter_map(|key| Some((key.0, self.records.get(key)?.as_slice())));
        known.filter(move |(_, record)| Header::of(record).is_some_and(|header| header.ts < begin))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(told: &mut Told, kind: u8, ts: u64, body: &[u8]) {
        let record = Header::with(kind, 7, ts, body);
        told.take(3, Header::of(&record).expect("whole"), &record);
    }

    #[test]
    fn what_is_told_once_outlives_the_window_and_is_told_once() {
        let mut told = Told::default();
        take(&mut told, kind::PATH, 5, &[[1; 32].as_slice(), b"etc\0"].concat());
        take(&mut told, kind::GROUP, 6, b"/a");
        take(&mut told, kind::GROUP, 7, b"/b");
        take(&mut told, kind::CALL, 8, b"not kept");
        take(&mut told, kind::PATH, 9, b"short");
        take(&mut told, kind::FRAME, 30, &[0; 16]);
        let before: Vec<_> =
            told.before(20).map(|(stream, record)| (stream, record[2], record.len())).collect();
        assert_eq!(before, [(3, kind::PATH, 16 + 36), (3, kind::GROUP, 16 + 2)]);
    }

    #[test]
    fn it_is_bounded_and_what_is_forgotten_is_counted() {
        let mut told = Told::default();
        let body = vec![0; 60 << 10];
        for number in 0..400u32 {
            take(&mut told, kind::FRAME, 5, &[&number.to_ne_bytes()[..], &body].concat());
        }
        assert!(told.forgotten > 200 && told.bytes <= MOST_BYTES, "{} {}", told.forgotten, told.bytes);
        assert_eq!(told.records.len(), told.order.len());
    }
}
