//! The consumer's side of tables of rows, one a CPU, that programs add to: read once these are detached, or emptied as a window of a
//! lasting recording is cut.

use crate::bpf::layout::Fields;
use crate::bpf::ring::Mapping;
use crate::error::RecordError;
use libbpf_rs::MapHandle;

/// The mapped tables: `ROWS` a CPU, of `BYTES` each.
pub(crate) struct RowTables<const ROWS: usize, const BYTES: usize> {
    mapping: Mapping,
    cpus: usize,
}

impl<const ROWS: usize, const BYTES: usize> RowTables<ROWS, BYTES> {
    pub(crate) fn new(map: &MapHandle, cpus: u32) -> Result<Self, RecordError> {
        let cpus = cpus as usize;
        let mapping = Mapping::of(map, cpus * ROWS * BYTES, true)?;
        Ok(RowTables { mapping, cpus })
    }

    /// All rows that `read` makes something of. The programs are detached by then.
    pub(crate) fn take<T>(&self, read: impl Fn(&mut Fields<'_>) -> Option<T>) -> Vec<T> {
        let places = (0..self.cpus * ROWS).map(|row| self.mapping.at(row * BYTES));
        let rows = places.filter_map(|place| {
            // SAFETY: a whole row within the mapping, and any bytes are a value of the type.
            let bytes = unsafe { place.cast::<[u8; BYTES]>().read_volatile() };
            read(&mut Fields(&bytes))
        });
        rows.collect()
    }
    /// The bytes of all rows in use, which are empty then. The programs go on: of a row that is added to meanwhile one call may be lost, since
    /// a row whose key is gone is begun anew.
    pub(crate) fn empty(&self, is_used: impl Fn(&mut Fields<'_>) -> bool) -> Vec<[u8; BYTES]> {
        let places = (0..self.cpus * ROWS).map(|row| self.mapping.at(row * BYTES));
        let rows = places.filter_map(|place| {
            // SAFETY: as above.
            let bytes = unsafe { place.cast::<[u8; BYTES]>().read_volatile() };
            if !is_used(&mut Fields(&bytes)) {
                return None;
            }
            // SAFETY: as above; the mapping is writable.
            unsafe { place.cast::<[u8; BYTES]>().write_volatile([0; BYTES]) };
            Some(bytes)
        });
        rows.collect()
    }
}
