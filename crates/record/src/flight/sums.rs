//! What the kernel adds up, of a window alone: what its tables hold at the end, and what had to make place meanwhile, without what
//! they held at the beginning.

use super::mark::KernelSums;
use crate::bpf::layout::{CountRow, Fields, Header, bytes_of, kind};
use crate::counts::{self, Counted};
use crate::programs::{FileName, FileRow, MeanwhileKey, MeanwhileRow};
use std::collections::HashMap;

/// Rows of all CPUs, added up.
#[derive(Default)]
pub(super) struct WindowSums {
    counted: Counted,
    files: HashMap<(u32, u32, FileName), FileRow>,
    meanwhile: HashMap<MeanwhileKey, MeanwhileRow>,
}

impl WindowSums {
    /// Takes the record of a row that had to make place. True where it is one, which then is in the sums.
    pub(super) fn take(&mut self, header: Header, record: &[u8]) -> bool {
        let mut fields = Fields(record.get(Header::SIZE..).unwrap_or_default());
        match header.kind {
            kind::COUNTS => drop(CountRow::read(&mut fields).map(|row| counts::add(&mut self.counted, &row))),
            kind::FILE => drop(FileRow::read(&mut fields).map(|row| self.file(&row))),
            kind::MEANWHILE => drop(MeanwhileRow::read(&mut fields).map(|row| self.had_cpu(&row))),
            _ => return false,
        }
        true
    }

    fn file(&mut self, row: &FileRow) {
        match self.files.get_mut(&row.key()) {
            Some(known) => known.add(row),
            None => drop(self.files.insert(row.key(), *row)),
        }
    }

    fn had_cpu(&mut self, row: &MeanwhileRow) {
        match self.meanwhile.get_mut(&row.key()) {
            Some(known) => known.add(row),
            None => drop(self.meanwhile.insert(row.key(), *row)),
        }
    }

    /// The records that tell all of the window, which began at `begin` with `before` in the tables and ended at `end` with `after`. True
    /// with them where calls were counted.
    pub(super) fn records(
        mut self,
        (begin, before): (u64, &KernelSums),
        (end, after): (u64, &KernelSums),
    ) -> (Vec<u8>, bool) {
        for (key, row) in &after.counted {
            counts::add_to(&mut self.counted, *key, row);
        }
        after.files.iter().for_each(|row| self.file(row));
        after.meanwhile.iter().for_each(|row| self.had_cpu(row));
        for (key, row) in &before.counted {
            if let Some(sum) = self.counted.get_mut(key) {
                take_away(sum, row);
            }
        }
        for row in &before.files {
            if let Some(sum) = self.files.get_mut(&row.key()) {
                sum.take_away(row, begin);
            }
        }
        for row in &before.meanwhile {
            if let Some(sum) = self.meanwhile.get_mut(&row.key()) {
                sum.take_away(row);
            }
        }
        let mut records = Vec::new();
        let mut are_counted = false;
        for ((tid, nr), row) in self.counted.iter().filter(|(_, row)| row.calls > 0) {
            are_counted = true;
            let row = CountRow { key: u64::from(*tid) << 32 | (u64::from(*nr) + 1), ..*row };
            records.extend(Header::with(kind::COUNTS, *tid, end, bytes_of(&row)));
        }
        for row in self.files.values().filter(|row| row.calls > 0) {
            records.extend(Header::with(kind::FILE, row.tid, end, &row.bytes()));
        }
        for row in self.meanwhile.values().filter(|row| !row.is_empty()) {
            records.extend(Header::with(kind::MEANWHILE, row.tid(), end, &row.bytes()));
        }
        (records, are_counted)
    }
}

/// Takes away from a sum what was in it before. The longest and the shortest of all may have been among that: those of the rest lie
/// within what is left in the buckets.
fn take_away(sum: &mut CountRow, before: &CountRow) {
    sum.calls = sum.calls.saturating_sub(before.calls);
    sum.errors = sum.errors.saturating_sub(before.errors);
    sum.total = sum.total.saturating_sub(before.total);
    for (bucket, less) in sum.buckets.iter_mut().zip(before.buckets) {
        *bucket = bucket.saturating_sub(less);
    }
    let mut filled = (0..sum.buckets.len()).filter(|power| sum.buckets[*power] > 0);
    let Some(lowest) = filled.next() else { return };
    let highest = filled.next_back().unwrap_or(lowest);
    sum.shortest = sum.shortest.max(1 << lowest);
    // The last bucket has no upper end.
    if highest + 1 < sum.buckets.len() {
        sum.longest = sum.longest.min((2 << highest) - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(calls: &[(u32, u64)]) -> Counted {
        let mut all = Counted::new();
        for (tid, took) in calls {
            counts::add(&mut all, &CountRow::of_call(*tid, 0, Some(*took), 0));
        }
        all
    }

    fn rows(records: &[u8]) -> Vec<CountRow> {
        let mut rest = records;
        let mut rows = Vec::new();
        while let Some(header) = Header::of(rest) {
            rows.extend(CountRow::read(&mut Fields(&rest[Header::SIZE..header.length])));
            rest = &rest[header.length..];
        }
        rows
    }

    #[test]
    fn a_window_has_what_came_in_it_alone() {
        let before = KernelSums { counted: counted(&[(7, 1_000_000), (7, 3), (8, 5)]), ..Default::default() };
        // Thread 7's row had to make place with one more call in it, and began anew; thread 8 made none.
        let mut sums = WindowSums::default();
        let evicted = counted(&[(7, 1_000_000), (7, 3), (7, 100)]);
        let record = Header::with(kind::COUNTS, 7, 15, bytes_of(evicted.values().next().expect("one")));
        assert!(sums.take(Header::of(&record).expect("whole"), &record));
        let after = KernelSums { counted: counted(&[(7, 40), (8, 5)]), ..Default::default() };
        let (records, are_counted) = sums.records((10, &before), (20, &after));
        let rows = rows(&records);
        assert!(are_counted && rows.len() == 1, "{rows:?}");
        let row = rows[0];
        assert_eq!((row.key >> 32, row.calls, row.total), (7, 2, 140));
        // 32 to 63, and 64 to 127.
        assert_eq!((row.shortest, row.longest), (32, 127));
    }

    #[test]
    fn another_kind_is_left_where_it_is_and_a_cut_row_is_none() {
        let mut sums = WindowSums::default();
        let record = Header::with(kind::CALL, 7, 15, &[0; 32]);
        assert!(!sums.take(Header::of(&record).expect("whole"), &record));
        let record = Header::with(kind::FILE, 7, 15, &[0; 8]);
        assert!(sums.take(Header::of(&record).expect("whole"), &record));
        let none = KernelSums::default();
        assert_eq!(sums.records((1, &none), (2, &none)), (Vec::new(), false));
    }

    #[test]
    fn rows_of_files_are_written_as_they_are_read() {
        let mut bytes: Vec<u8> = (1..=104).collect();
        bytes[28..32].fill(0);
        let row = FileRow::read(&mut Fields(&bytes)).expect("whole");
        assert_eq!(FileRow::read(&mut Fields(&row.bytes())), Some(row));
        assert_eq!(row.bytes().len(), bytes.len());
        let row = MeanwhileRow::read(&mut Fields(&bytes[..48])).expect("whole");
        assert_eq!(row.bytes(), bytes[..48]);
    }
}
