//! Block devices: requests, bytes, latency, who was running when they were issued.

mod log2;
mod requests;
mod thread_reads;

pub use log2::{Heat, Log2};
pub use requests::{DiskRequests, Op};
pub use thread_reads::ThreadReads;

use crate::world::file_users::{User, WrittenBack};
use crate::world::ids::ProcessId;
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use whyslow_model::event::Tid;
use whyslow_model::{BlockIo, FileIo, FileOp, InodeId, Nanos, Timestamp};

/// Requests to one device, as the source names it: `253:0` by a recorder, `sda` by other tools.
#[derive(Debug, Default)]
pub struct DeviceFacts {
    groups: HashMap<(Op, Option<Tid>), DiskRequests>,
    /// Requests by the process that ran when they were issued: the first few.
    pub processes: Vec<(ProcessId, u64)>,
    /// The slowest.
    pub slowest: Option<SlowRequest>,
    /// Latency over time.
    pub heat: Heat,
    threads: HashMap<Tid, ThreadReads>,
    first: Timestamp,
    last: Timestamp,
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

    /// Threads whose reads are kept; those of further ones are left out.
    const MAX_THREADS: usize = 1_024;

    /// Operations and processes kept apart; requests of further processes are nobody's.
    const MAX_GROUPS: usize = 128;

    /// By operation and process, sorted. Nobody's are those of the kernel's idle task, and of processes past the bound.
    pub fn groups(&self) -> Vec<(Op, Option<Tid>, &DiskRequests)> {
        let mut groups: Vec<_> = self.groups.iter().map(|((op, pid), group)| (*op, *pid, group)).collect();
        groups.sort_by_key(|(op, pid, _)| (*op, *pid));
        groups
    }

    /// The requests that are wanted, together.
    pub fn sum(&self, wanted: impl Fn(Op) -> bool) -> DiskRequests {
        let mut sum = DiskRequests::default();
        self.groups.iter().filter(|((op, _), _)| wanted(*op)).for_each(|(_, group)| sum.merge(group));
        sum
    }

    /// All requests together.
    pub fn all(&self) -> DiskRequests {
        self.sum(|_| true)
    }

    /// What each thread waited for that it read, by its number. The thread is the one that ran as a request was issued.
    pub fn reads_by_thread(&self) -> Vec<(Tid, &ThreadReads)> {
        let mut threads: Vec<_> = self.threads.iter().map(|(tid, reads)| (*tid, reads)).collect();
        threads.sort_by_key(|(tid, _)| *tid);
        threads
    }

    /// From the first request to the end of the last one.
    pub fn length(&self) -> Nanos {
        self.last.since(self.first)
    }

    fn see(&mut self, io: &BlockIo, process: Option<ProcessId>) {
        let dur = io.completed.since(io.issued);
        let begin = if io.queued.is_known() { io.queued } else { io.issued };
        let earlier = begin.is_known() && (!self.first.is_known() || begin < self.first);
        self.first = if earlier { begin } else { self.first };
        let end = if io.completed.is_known() { io.completed } else { io.issued };
        let later = end.is_known() && (!self.last.is_known() || end > self.last);
        self.last = if later { end } else { self.last };
        self.heat.see(io.completed, dur);
        let mut key = (Op::of(&io.op), io.pid);
        if self.groups.len() >= Self::MAX_GROUPS && !self.groups.contains_key(&key) {
            key.1 = None;
        }
        self.groups.entry(key).or_default().see(io);
        if let Some(tid) = io.tid.filter(|_| key.0.reads())
            && (self.threads.len() < Self::MAX_THREADS || self.threads.contains_key(&tid))
        {
            self.threads.entry(tid).or_default().see(io, key.0);
        }
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

    /// What is known of the requests to that device.
    pub fn get(&self, name: &str) -> Option<&DeviceFacts> {
        self.by_name.get(name)
    }

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
        let time = |device: &DeviceFacts| {
            device.groups.values().map(|group| group.device.total_ns).fold(0, u64::saturating_add)
        };
        devices.sort_by_cached_key(|(name, device)| (std::cmp::Reverse(time(device)), *name));
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
                queued: Timestamp::UNKNOWN,
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
        let sum = all.iter().fold(DiskRequests::default(), |mut sum, (_, device)| {
            sum.merge(&device.all());
            sum
        });
        // The one that did not complete counts, without a time.
        assert_eq!((sum.device.count, sum.device.timed, sum.device.bytes), (1_000, 999, 4_096_000));
        let (name, first) = all[0];
        let total = first.all().device.total_ns;
        assert_eq!(first.all().mean_in_flight(Nanos::new(total * 2)), Some(0.5));
        assert_eq!(first.all().mean_in_flight(Nanos::UNKNOWN), None);
        assert!(devices.get(name).is_some() && first.length().is_known());
    }

    #[test]
    fn processes_past_the_bound_are_nobody_and_counted() {
        let mut devices = Devices::default();
        let many = 3 * DeviceFacts::MAX_GROUPS as u32;
        for pid in 0..many {
            let io = BlockIo {
                queued: Timestamp::UNKNOWN,
                issued: Timestamp::new(pid.into()),
                completed: Timestamp::new(u64::from(pid) + 9),
                device: "sda".to_string(),
                sector: pid.into(),
                bytes: 512,
                op: "read".to_string(),
                pid: Some(pid),
                tid: None,
                file: None,
            };
            devices.see(&io, None);
        }
        let device = devices.get("sda").expect("seen");
        assert_eq!(device.groups().len(), DeviceFacts::MAX_GROUPS + 1);
        assert_eq!(device.all().device.count, u64::from(many));
    }
}
