//! Block devices: requests, bytes, latency, who was running when they were issued.

use super::file_users::{User, WrittenBack};
use super::threads::ProcessId;
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use whyslow_model::event::Tid;
use whyslow_model::{BlockIo, CallStats, FileIo, FileOp, InodeId, Nanos, Timestamp};

/// Requests to one device. A duration is from the request's issue to its completion.
#[derive(Debug, Default)]
pub struct DeviceFacts {
    /// Reads.
    pub reads: CallStats,
    /// Writes.
    pub writes: CallStats,
    /// Flushes of its cache, discards and the like.
    pub others: CallStats,
    /// Requests by the process that ran when they were issued: the first few.
    pub processes: Vec<(ProcessId, u64)>,
    /// The slowest.
    pub slowest: Option<SlowRequest>,
}

/// One request, kept as evidence.
#[derive(Clone, Debug)]
pub struct SlowRequest {
    /// When it was issued.
    pub ts: Timestamp,
    /// How long it took.
    pub dur: Nanos,
    /// What it did: `read`, `write+sync`.
    pub op: Box<str>,
    /// Its size, bytes.
    pub bytes: u64,
    /// The thread that ran then.
    pub tid: Option<Tid>,
}

impl DeviceFacts {
    /// Processes kept apart.
    const MAX_PROCESSES: usize = 64;

    /// All requests together.
    pub fn all(&self) -> CallStats {
        let mut all = self.reads.clone();
        all.merge(&self.writes);
        all.merge(&self.others);
        all
    }

    /// How many were under way at a time on average over `window` (Little's law); `None` without either time.
    pub fn mean_in_flight(&self, window: Nanos) -> Option<f64> {
        let (total, window) = (self.all().total().get()?, window.get().filter(|window| *window > 0)?);
        Some(total as f64 / window as f64)
    }

    fn see(&mut self, io: &BlockIo, process: Option<ProcessId>) {
        let dur = io.completed.since(io.issued);
        let stats = match io.op.split('+').next() {
            Some("read") => &mut self.reads,
            Some("write") => &mut self.writes,
            _ => &mut self.others,
        };
        stats.record(dur, false, io.bytes);
        if let Some(process) = process {
            match self.processes.iter().position(|(known, _)| *known == process) {
                Some(at) => self.processes[at].1 += 1,
                None if self.processes.len() < Self::MAX_PROCESSES => self.processes.push((process, 1)),
                None => {}
            }
        }
        let slowest = self.slowest.as_ref().map_or(0, |slowest| slowest.dur.or_zero());
        if dur.is_known() && (self.slowest.is_none() || dur.or_zero() > slowest) {
            self.slowest = Some(SlowRequest {
                ts: io.issued,
                dur,
                op: io.op.as_str().into(),
                bytes: io.bytes,
                tid: io.tid,
            });
        }
    }
}

/// All devices. Bounded: further ones share a row.
#[derive(Debug, Default)]
pub struct Devices {
    by_name: HashMap<Box<str>, DeviceFacts>,
    /// What of which file was written to a disk, and who wrote it: the kernel's threads that write back do it for them.
    files: HashMap<InodeId, WrittenBack>,
    /// Bytes written to disks of files for which there was no room.
    pub other_files: u64,
}

impl Devices {
    /// Devices told apart.
    const MAX_DEVICES: usize = 256;
    /// Files told apart.
    const MAX_FILES: usize = 16_384;

    pub(crate) fn see(&mut self, io: &BlockIo, process: Option<ProcessId>) {
        let known = self.by_name.contains_key(io.device.as_str());
        let full = self.by_name.len() >= Self::MAX_DEVICES;
        let name = if known || !full { io.device.as_str() } else { "(other devices)" };
        self.by_name.entry_ref(name).or_default().see(io, process);
        if let Some(file) = io.file.filter(|_| io.op.starts_with("write")) {
            match self.file(file) {
                Some(file) => file.back(io.bytes, io.issued, io.completed),
                None => self.other_files = self.other_files.saturating_add(io.bytes),
            }
        }
    }

    /// Takes in who wrote to a file.
    pub(crate) fn written(&mut self, user: User, io: &FileIo) {
        if io.op == FileOp::Write
            && let Some(file) = io.file.and_then(|file| self.file(file))
        {
            file.written(user, io);
        }
    }

    fn file(&mut self, file: InodeId) -> Option<&mut WrittenBack> {
        let room = self.files.len() < Self::MAX_FILES;
        match self.files.entry(file) {
            Entry::Occupied(known) => Some(known.into_mut()),
            Entry::Vacant(free) => room.then(|| free.insert(WrittenBack::default())),
        }
    }

    /// What was written to disks, file by file, the most first.
    pub fn written_back(&self) -> Vec<&WrittenBack> {
        let mut files: Vec<_> = self.files.iter().filter(|(_, file)| file.requests > 0).collect();
        files.sort_by_key(|(id, file)| (std::cmp::Reverse(file.bytes), **id));
        files.into_iter().map(|(_, file)| file).collect()
    }

    /// Each device by name, the one with the most time first.
    pub fn iter(&self) -> Vec<(&str, &DeviceFacts)> {
        let mut devices: Vec<_> = self.by_name.iter().map(|(name, device)| (&**name, device)).collect();
        devices.sort_by_key(|(name, device)| (std::cmp::Reverse(device.all().total_ns), *name));
        devices
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_add_up_by_device() {
        let mut devices = Devices::default();
        for i in 0..1_000u64 {
            let io = BlockIo {
                issued: Timestamp::new(i * 1_000),
                completed: if i == 999 { Timestamp::UNKNOWN } else { Timestamp::new(i * 1_000 + 500 + i) },
                device: format!("253:{}", i % 400),
                sector: 0,
                bytes: 4_096,
                op: ["read", "write+sync", "flush"][i as usize % 3].to_string(),
                pid: None,
                tid: Some(7),
                file: None,
            };
            devices.see(&io, None);
        }
        let all = devices.iter();
        assert!(all.len() <= Devices::MAX_DEVICES + 1);
        let sum = all.iter().fold(CallStats::default(), |mut sum, (_, device)| {
            sum.merge(&device.all());
            sum
        });
        // The one that did not complete counts, without a time.
        assert_eq!((sum.count, sum.timed, sum.bytes), (1_000, 999, 4_096_000));
        let (_, first) = all[0];
        assert_eq!(first.mean_in_flight(Nanos::new(first.all().total_ns * 2)), Some(0.5));
        assert_eq!(first.mean_in_flight(Nanos::UNKNOWN), None);
    }
}
