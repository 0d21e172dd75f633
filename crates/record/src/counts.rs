//! Calls counted in the kernel: the tables of all CPUs read and added up.

use crate::bpf::layout::{COUNT_ROWS, CountRow};
use crate::bpf::ring::Mapping;
use crate::error::RecordError;
use libbpf_rs::MapHandle;
use std::collections::HashMap;

/// The mapped tables.
pub(crate) struct CountTables {
    mapping: Mapping,
    cpus: usize,
}

/// Calls by thread and number of the call.
pub(crate) type Counted = HashMap<(u32, u16), CountRow>;

impl CountTables {
    pub(crate) fn new(map: &MapHandle, cpus: u32) -> Result<CountTables, RecordError> {
        let length = cpus as usize * COUNT_ROWS * size_of::<CountRow>();
        Ok(CountTables { mapping: Mapping::of(map, length, true)?, cpus: cpus as usize })
    }

    fn rows(&self) -> impl Iterator<Item = *mut CountRow> {
        (0..self.cpus * COUNT_ROWS).map(|row| self.mapping.at(row * size_of::<CountRow>()).cast::<CountRow>())
    }

    /// Calls in the tables now.
    pub(crate) fn calls(&self) -> u64 {
        // SAFETY: aligned rows within the mapping; a count read while it changes is the one before or after.
        self.rows().map(|row| unsafe { std::ptr::read_volatile(&raw const (*row).calls) }).sum()
    }

    /// Empties the tables; nobody may be counting.
    pub(crate) fn clear(&self) {
        for row in self.rows() {
            // SAFETY: as above; the kernel's side does not write now.
            unsafe { std::ptr::write_bytes(row, 0, 1) };
        }
    }
}

/// All rows in use of all CPUs, which are empty then. The programs go on: see [`crate::bpf::row_tables::RowTables::empty`].
pub(crate) fn empty(tables: &CountTables) -> Vec<CountRow> {
    let rows = tables.rows().filter_map(|place| {
        // SAFETY: an aligned row within the mapping.
        let row = unsafe { std::ptr::read_volatile(place) };
        if row.key == 0 {
            return None;
        }
        // SAFETY: as above.
        unsafe { std::ptr::write_volatile(place, CountRow { buckets: [0; 32], ..CountRow::default() }) };
        Some(row)
    });
    rows.collect()
}

/// Adds a row to what is known.
pub(crate) fn add(counted: &mut Counted, row: &CountRow) {
    let Some(nr) = (row.key as u32).checked_sub(1) else {
        return;
    };
    add_to(counted, ((row.key >> 32) as u32, nr as u16), row);
}

/// Adds a row to what is known under a key.
pub(crate) fn add_to(counted: &mut Counted, key: (u32, u16), row: &CountRow) {
    let known = counted.entry(key).or_insert(CountRow {
        key: row.key,
        calls: 0,
        errors: 0,
        total: 0,
        shortest: u64::MAX,
        longest: 0,
        buckets: [0; 32],
    });
    known.calls += row.calls;
    known.errors += row.errors;
    known.total += row.total;
    known.shortest = known.shortest.min(row.shortest);
    known.longest = known.longest.max(row.longest);
    for (sum, more) in known.buckets.iter_mut().zip(row.buckets) {
        *sum = sum.saturating_add(more);
    }
}

/// All rows of all CPUs. The programs are detached by then.
pub(crate) fn take(tables: &CountTables) -> Counted {
    let mut counted = Counted::new();
    for row in tables.rows() {
        // SAFETY: as above.
        let row = unsafe { std::ptr::read_volatile(row) };
        if row.key != 0 {
            add(&mut counted, &row);
        }
    }
    counted
}
