//! Who had the CPU that threads waited for: rows of all CPUs and of all times, added up.

use crate::bpf::layout::{COMM_LENGTH, Fields, MEANWHILE_ROW_BYTES, MEANWHILE_ROWS};
use crate::bpf::row_tables::RowTables;
use crate::bpf::spool::SpoolRecord;
use std::collections::HashMap;
use whyslow_model::{Event, HadCpu, Meanwhile, Nanos, Sink};

/// Whose turns a thread waited for (`struct meanwhile_row`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MeanwhileRow {
    key: MeanwhileKey,
    turns: u64,
    total: u64,
}

/// What is added up under.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct MeanwhileKey {
    tid: u32,
    pid: u32,
    /// `HAD_THREAD` and the others of meanwhile.bpf.h.
    had: u32,
    runner: u32,
    comm: [u8; COMM_LENGTH],
}

impl MeanwhileRow {
    pub(crate) fn read(fields: &mut Fields<'_>) -> Option<MeanwhileRow> {
        let key = MeanwhileKey {
            tid: fields.u32()?,
            pid: fields.u32()?,
            had: fields.u32()?,
            runner: fields.u32()?,
            comm: fields.bytes(COMM_LENGTH)?.try_into().ok()?,
        };
        Some(MeanwhileRow { key, turns: fields.u64()?, total: fields.u64()? })
    }
}

/// The tables of rows, one a CPU.
pub(crate) type MeanwhileTables = RowTables<MEANWHILE_ROWS, MEANWHILE_ROW_BYTES>;

impl MeanwhileTables {
    /// The bytes of all rows in use, which are empty then.
    pub(crate) fn empty_rows(&self) -> Vec<[u8; MEANWHILE_ROW_BYTES]> {
        self.empty(|fields| MeanwhileRow::read(fields).is_some_and(|row| row.turns > 0))
    }

    /// All rows in use.
    pub(crate) fn rows(&self) -> Vec<MeanwhileRow> {
        self.take(|fields| MeanwhileRow::read(fields).filter(|row| row.turns > 0))
    }
}

/// Rows so far. Bounded: where there are too many they are told, and begin anew.
pub(crate) struct MeanwhileSums {
    rows: HashMap<MeanwhileKey, (u64, u64)>,
    /// The recorder's own process: it is nobody's rival.
    pub(crate) recorder: u32,
    /// Rows told so far, and the turns in them.
    pub(crate) told: Told,
}

/// The kernel's side counts turns, a table has rows: with both a loss of turns is told in rows.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Told {
    pub(crate) rows: u64,
    pub(crate) turns: u64,
}

impl Default for MeanwhileSums {
    fn default() -> MeanwhileSums {
        MeanwhileSums { rows: HashMap::new(), recorder: std::process::id(), told: Told::default() }
    }
}

impl MeanwhileSums {
    /// About 10 MiB.
    const MOST_ROWS: usize = 1 << 17;

    /// Takes a row that had to make place (`struct meanwhile_record`).
    pub(crate) fn evicted(&mut self, record: &SpoolRecord<'_>, sink: &mut dyn Sink) -> Option<()> {
        let row = MeanwhileRow::read(&mut Fields(record.body()))?;
        self.add(&row, sink);
        Some(())
    }

    fn add(&mut self, row: &MeanwhileRow, sink: &mut dyn Sink) {
        if self.rows.len() >= Self::MOST_ROWS && !self.rows.contains_key(&row.key) {
            self.tell(sink);
        }
        let (turns, total) = self.rows.entry(row.key).or_default();
        // A damaged recording may claim any figures.
        *turns = turns.saturating_add(row.turns);
        *total = total.saturating_add(row.total);
    }

    /// Adds the rows that are left at the end, and tells all.
    pub(crate) fn finish(&mut self, left: &[MeanwhileRow], sink: &mut dyn Sink) {
        left.iter().for_each(|row| self.add(row, sink));
        self.tell(sink);
    }

    /// Tells the rows, the longest first.
    fn tell(&mut self, sink: &mut dyn Sink) {
        let mut rows: Vec<_> = self.rows.drain().collect();
        rows.sort_by_key(|(key, (_, total))| (std::cmp::Reverse(*total), *key));
        for (key, (turns, total)) in rows {
            self.told.rows += 1;
            self.told.turns = self.told.turns.saturating_add(turns);
            let had = match key.had {
                0 if key.runner == self.recorder => HadCpu::Recorder,
                0 => HadCpu::Thread,
                1 => HadCpu::Idle,
                2 => HadCpu::Quota,
                _ => HadCpu::Untold,
            };
            let is_thread = matches!(had, HadCpu::Thread | HadCpu::Recorder);
            let comm = key.comm.split(|byte| *byte == 0).next().unwrap_or_default();
            sink.push(Event::Meanwhile(Box::new(Meanwhile {
                pid: key.pid,
                tid: key.tid,
                had,
                runner: is_thread.then_some(key.runner),
                comm: is_thread.then(|| String::from_utf8_lossy(comm).into_owned()),
                turns,
                total: Nanos::new(total),
            })));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bpf::layout::{Header, kind};

    fn row(tid: u32, had: u32, runner: u32, comm: &[u8], total: u64) -> MeanwhileRow {
        let mut name = [0; COMM_LENGTH];
        name[..comm.len()].copy_from_slice(comm);
        MeanwhileRow { key: MeanwhileKey { tid, pid: 40, had, runner, comm: name }, turns: 1, total }
    }

    fn bytes(row: &MeanwhileRow) -> Vec<u8> {
        let mut body = Vec::new();
        for word in [row.key.tid, row.key.pid, row.key.had, row.key.runner] {
            body.extend(word.to_ne_bytes());
        }
        body.extend(row.key.comm);
        body.extend(row.turns.to_ne_bytes());
        body.extend(row.total.to_ne_bytes());
        Header::with(kind::MEANWHILE, row.key.tid, 5, &body)
    }

    fn told(evicted: &[MeanwhileRow], left: &[MeanwhileRow]) -> Vec<Meanwhile> {
        let (mut sums, mut told) = (MeanwhileSums::default(), Vec::new());
        let mut sink = |event: Event<'_>| {
            if let Event::Meanwhile(one) = event {
                told.push(*one);
            }
        };
        for row in evicted {
            let bytes = bytes(row);
            let header = Header::of(&bytes).expect("whole");
            sums.evicted(&SpoolRecord { header, cpu: 0, bytes: &bytes }, &mut sink).expect("whole");
        }
        sums.finish(left, &mut sink);
        let turns = told.iter().fold(0, |sum: u64, one| sum.saturating_add(one.turns));
        assert_eq!(sums.told, Told { rows: told.len() as u64, turns });
        told
    }

    #[test]
    fn rows_of_several_cpus_and_evicted_ones_add_up() {
        let told = told(
            &[row(41, 0, 71, b"ffmpeg", 10), row(41, 1, 0, b"", 3)],
            &[row(41, 0, 71, b"ffmpeg", 30), row(42, 3, 0, b"", 7), row(41, 2, 0, b"", 5)],
        );
        let seen: Vec<_> =
            told.iter().map(|one| (one.tid, one.had, one.comm.as_deref(), one.turns, one.total)).collect();
        let ns = Nanos::new;
        assert_eq!(
            seen,
            [
                (41, HadCpu::Thread, Some("ffmpeg"), 2, ns(40)),
                (42, HadCpu::Untold, None, 1, ns(7)),
                (41, HadCpu::Quota, None, 1, ns(5)),
                (41, HadCpu::Idle, None, 1, ns(3)),
            ]
        );
        assert_eq!((told[0].runner, told[1].runner), (Some(71), None));
    }

    #[test]
    fn the_recorder_is_nobodys_rival() {
        let told = told(&[], &[row(41, 0, std::process::id(), b"whyslow-drain", 10)]);
        assert_eq!((told[0].had, told[0].runner), (HadCpu::Recorder, Some(std::process::id())));
    }

    #[test]
    fn what_is_past_the_bound_is_told_at_once_and_damaged_figures_stay_in_bounds() {
        let many = MeanwhileSums::MOST_ROWS as u32 + 10;
        let rows: Vec<_> = (0..many).map(|tid| row(tid, 0, 71, b"ffmpeg", 2)).collect();
        let all = told(&[], &rows);
        assert_eq!(all.iter().map(|one| one.total.or_zero()).sum::<u64>(), u64::from(many) * 2);
        let most = MeanwhileRow { turns: u64::MAX, total: u64::MAX - 1, ..row(41, 0, 71, b"x", 0) };
        assert_eq!(told(&[most], &[most])[0].turns, u64::MAX);
        let whole = bytes(&most);
        for length in Header::SIZE..whole.len() {
            let header = Header { length, ..Header::of(&whole).expect("whole") };
            let record = SpoolRecord { header, cpu: 0, bytes: &whole[..length] };
            assert!(MeanwhileSums::default().evicted(&record, &mut |_: Event<'_>| {}).is_none(), "{length}");
        }
    }
}
