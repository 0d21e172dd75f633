//! Disks and partitions: requests, bytes, latencies, queue (/proc/diskstats).

use crate::figures::Figures;
use crate::text;
use whyslow_model::Metric;

/// Bytes of a sector in /proc/diskstats, whatever the disk's own are (Documentation/admin-guide/iostats.rst).
const SECTOR: f64 = 512.0;

/// A line of /proc/diskstats behind the name, in its order. Times are in ms, as 32 bits.
pub type Fields = [Option<u64>; 17];
const READS: usize = 0;
const READS_MERGED: usize = 1;
const SECTORS_READ: usize = 2;
const READ_TIME: usize = 3;
const WRITES: usize = 4;
const WRITES_MERGED: usize = 5;
const SECTORS_WRITTEN: usize = 6;
const WRITE_TIME: usize = 7;
const BUSY: usize = 9;
const WEIGHTED: usize = 10;
const FLUSHES: usize = 15;
const FLUSH_TIME: usize = 16;

/// `254 0 vda 198875 33551 …`: its name, its number, its counts; old kernels have fewer fields.
pub fn parse(line: &[u8]) -> Option<(Box<str>, (u32, u32), Fields)> {
    let mut words = text::words(line);
    let mut half = || u32::try_from(text::number(words.next()?)?).ok();
    let number = (half()?, half()?);
    let name = words.next()?;
    let fields: Fields = std::array::from_fn(|_| words.next().and_then(text::number));
    fields[WRITE_TIME]?;
    Some((whyslow_model::text::bounded(name).into(), number, fields))
}

/// True for a loop device without a file, a RAM disk: nothing was ever asked of it.
pub fn is_idle(fields: &Fields) -> bool {
    (fields[READS], fields[WRITES]) == (Some(0), Some(0))
}

/// Rates and means. Times are sums over requests that ended: a mean is known where there was one.
pub fn figures(fields: &Fields, figures: &mut Figures) {
    let of = |at: usize| fields[at];
    figures.sum(Metric::Reads, of(READS), 1.0);
    figures.sum(Metric::Writes, of(WRITES), 1.0);
    figures.sum(Metric::ReadsMerged, of(READS_MERGED), 1.0);
    figures.sum(Metric::WritesMerged, of(WRITES_MERGED), 1.0);
    figures.sum(Metric::ReadBytes, of(SECTORS_READ), SECTOR);
    figures.sum(Metric::WriteBytes, of(SECTORS_WRITTEN), SECTOR);
    figures.sum(Metric::Flushes, of(FLUSHES), 1.0);
    const NONE: Option<u64> = Some(0);
    let mut mean = |metric, time, count| figures.mean(metric, [of(time), NONE], [of(count), NONE], 1e6, true);
    mean(Metric::ReadLatency, READ_TIME, READS);
    mean(Metric::WriteLatency, WRITE_TIME, WRITES);
    mean(Metric::FlushLatency, FLUSH_TIME, FLUSHES);
    let requests = [of(READS), of(WRITES)];
    figures.mean(Metric::Latency, [of(READ_TIME), of(WRITE_TIME)], requests, 1e6, true);
    let sectors = [of(SECTORS_READ), of(SECTORS_WRITTEN)];
    figures.mean(Metric::RequestSize, sectors, requests, SECTOR, false);
    figures.time_32(Metric::QueueLength, of(WEIGHTED), 1e-3, f64::INFINITY);
    // The kernel counts whole ticks: up to one more than there was time.
    figures.time_32(Metric::Utilisation, of(BUSY), 1e-3, 1.0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_any_kernel() {
        let (name, number, fields) =
            parse(b" 254       0 vda 10 1 80 5 20 2 160 40 0 30 45 1 2 3 4 7 9").expect("a disk");
        assert_eq!(
            (&*name, number, fields[FLUSHES], fields[FLUSH_TIME]),
            ("vda", (254, 0), Some(7), Some(9))
        );
        let (_, _, old) = parse(b"8 0 sda 10 1 80 5 20 2 160 40 0 30 45").expect("a disk");
        assert_eq!((old[WEIGHTED], old[FLUSHES]), (Some(45), None));
        assert!(parse(b"8 0 sda 1 2 3").is_none() && parse(b"8 x sda").is_none() && parse(b"").is_none());
    }
}
