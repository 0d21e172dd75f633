//! Pressure: how long tasks waited for CPU, memory and disks (/proc/pressure and its like in control groups, since Linux
//! 4.20).

use crate::figures::Figures;
use crate::text;
use whyslow_model::Metric;

/// The files, and the metrics of their two lines. All tasks of a host never wait for a CPU at once: the kernel's `full` of
/// cpu is zero by definition.
pub const FILES: [(&str, Metric, Option<Metric>); 3] = [
    ("cpu", Metric::PressureCpu, None),
    ("memory", Metric::PressureMemory, Some(Metric::PressureMemoryFull)),
    ("io", Metric::PressureIo, Some(Metric::PressureIoFull)),
];

/// `some avg10=0.00 avg60=0.00 avg300=0.00 total=1234`, and the same with `full`, of the resource at that place in
/// [`FILES`]; the totals are microseconds. False where there is no line of the first kind.
pub fn stalls(text: &[u8], resource: usize, figures: &mut Figures) -> bool {
    let Some((_, some, full)) = FILES.get(resource) else { return false };
    let mut known = false;
    figures.each_line(text, |figures, line| {
        let mut words = text::words(line);
        let kind = words.next();
        let total = words.find_map(|word| text::number(word.strip_prefix(b"total=")?));
        // The sum is over a time that differs a little from ours: no more than all of it.
        match (kind, full) {
            (Some(b"some"), _) => {
                known |= total.is_some();
                figures.stall(*some, total, 1e-6);
            }
            (Some(b"full"), Some(full)) => figures.stall(*full, total, 1e-6),
            _ => {}
        }
    });
    known
}
