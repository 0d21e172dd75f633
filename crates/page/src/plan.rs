//! How much of each thing a page has room for.

/// Numbers of things, at most.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) threads: usize,
    pub(crate) tiles: usize,
    pub(crate) slices: usize,
    /// Slices with their line.
    pub(crate) lines: usize,
    pub(crate) wakes: usize,
    pub(crate) requests: usize,
    pub(crate) waits: usize,
    pub(crate) frames: usize,
    /// Rows of each table.
    pub(crate) rows: usize,
}

impl Plan {
    /// What is tried first.
    pub(crate) const FULL: Plan = Plan {
        threads: 1_000,
        tiles: 50_000,
        slices: 50_000,
        lines: 12_000,
        wakes: 6_000,
        requests: 5_000,
        waits: 1_000,
        frames: 12_000,
        rows: 300,
    };

    /// A part of it.
    pub(crate) fn scaled(&self, by: f64) -> Plan {
        let part = |number: usize| ((number as f64 * by) as usize).max(1);
        Plan {
            threads: part(self.threads).max(16),
            tiles: part(self.tiles),
            slices: part(self.slices),
            lines: part(self.lines),
            wakes: part(self.wakes),
            requests: part(self.requests),
            waits: part(self.waits),
            frames: part(self.frames),
            rows: part(self.rows).max(10),
        }
    }
}
