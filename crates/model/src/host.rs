//! The host as figures: what a sampler or a pasted table states of a thing (the machine, a CPU, a disk, a process, a
//! control group) over a time. Live samples, recordings and pasted tables of any tool come in this one form.

use crate::ids::{SourceId, Tid};
use crate::metric::Metric;
use crate::time::{Nanos, Timestamp};
use std::fmt;

/// A thing that figures are of.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Entity {
    /// The whole machine.
    Host,
    /// One CPU, by number.
    Cpu(u32),
    /// A block device or partition, by its kernel name: `vda`, `sda1`, `dm-3`, `nvme0n1`.
    Device(Box<str>),
    /// A mounted file system, by its mount point.
    Mount(Box<str>),
    /// A network interface.
    Interface(Box<str>),
    /// A control group, by its path below the root of the hierarchy: `/system.slice/redis.service`.
    Cgroup(Box<str>),
    /// An interrupt line or softirq, by name: `virtio0-input.0`, `NET_RX`.
    Interrupt(Box<str>),
    /// A listening socket, by its address: `0.0.0.0:8080`; a UDP socket that anybody may send to: `udp 0.0.0.0:514`.
    Listener(Box<str>),
    /// A peer of TCP connections, by its address.
    Peer(Box<str>),
    /// What work may wait in for a process: pipes, accept queues, connections.
    Queue {
        /// The process that has it open.
        pid: Tid,
        /// What waits, as [`crate::DemandKind::word`] has it, and where: `pipe_bytes the standard input`.
        name: Box<str>,
    },
    /// A process.
    Process(Tid),
    /// A thread of a process.
    Thread {
        /// The process; 0 where the tool shows threads only.
        pid: Tid,
        /// The thread.
        tid: Tid,
    },
    /// A process or command known by name alone, where a tool shows no number.
    Command(Box<str>),
    /// A file, as opened, by path or by what the tool shows of it.
    File {
        /// Who uses it, where the tool says: a process, or one of its threads where the tool shows these (filetop).
        pid: Option<Tid>,
        /// Its path or name.
        path: Box<str>,
    },
    /// A system call or kernel function.
    Function {
        /// Who calls it, where the tool says.
        pid: Option<Tid>,
        /// Its name.
        name: Box<str>,
    },
}

impl Entity {
    /// The process that it is or belongs to.
    pub fn pid(&self) -> Option<Tid> {
        match self {
            Entity::Process(pid) => Some(*pid),
            Entity::Thread { pid, .. } => Some(*pid).filter(|pid| *pid != 0),
            Entity::Queue { pid, .. } => Some(*pid),
            Entity::File { pid, .. } | Entity::Function { pid, .. } => *pid,
            _ => None,
        }
    }

    /// Which kind of thing, as the table `host` names it.
    pub fn kind(&self) -> &'static str {
        match self {
            Entity::Host => "host",
            Entity::Cpu(_) => "cpu",
            Entity::Device(_) => "device",
            Entity::Mount(_) => "mount",
            Entity::Interface(_) => "interface",
            Entity::Cgroup(_) => "cgroup",
            Entity::Interrupt(_) => "interrupt",
            Entity::Listener(_) => "listener",
            Entity::Peer(_) => "peer",
            Entity::Queue { .. } => "queue",
            Entity::Process(_) => "process",
            Entity::Thread { .. } => "thread",
            Entity::Command(_) => "command",
            Entity::File { .. } => "file",
            Entity::Function { .. } => "function",
        }
    }

    /// Its name among its kind; empty for the host, processes and threads, which have numbers.
    pub fn name(&self) -> &str {
        match self {
            Entity::Device(name)
            | Entity::Mount(name)
            | Entity::Interface(name)
            | Entity::Cgroup(name)
            | Entity::Interrupt(name)
            | Entity::Listener(name)
            | Entity::Peer(name)
            | Entity::Command(name)
            | Entity::Queue { name, .. }
            | Entity::File { path: name, .. }
            | Entity::Function { name, .. } => name,
            Entity::Host | Entity::Cpu(_) | Entity::Process(_) | Entity::Thread { .. } => "",
        }
    }
}

impl fmt::Display for Entity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Entity::Host => f.write_str("the host"),
            Entity::Cpu(number) => write!(f, "CPU {number}"),
            Entity::Process(pid) => write!(f, "process {pid}"),
            Entity::Thread { pid, tid } => write!(f, "thread {tid} of process {pid}"),
            other => f.write_str(other.name()),
        }
    }
}

/// What a source says of a thing in words.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Trait {
    /// The short name of a task (`comm`).
    Name,
    /// Its whole command line.
    Command,
    /// Its state, a letter as in /proc/PID/stat: `R`, `S`, `D`, `Z`, `T`, `t`, `I`.
    State,
    /// The kernel function in which it waits.
    Wchan,
    /// Its user.
    User,
    /// Its parent's number.
    Parent,
    /// The number of the process that has a socket open; the least where several do.
    Owner,
    /// Its control group.
    Cgroup,
    /// The control group that its memory is charged to, where that is another one (version 1).
    MemoryCgroup,
    /// Its systemd unit.
    Unit,
    /// Its container.
    Container,
    /// Its pod.
    Pod,
    /// The number of who traces it.
    Tracer,
    /// The number of the process that holds the lock on a file for which it waits.
    LockHolder,
    /// The CPUs on which it may run: `0-3,8`.
    Cpus,
    /// The number of a device, `major:minor`, by which recorded requests name it.
    Number,
    /// The volume that a dm device is: `vg-data`.
    Volume,
    /// Where a device is mounted; several are joined by commas.
    MountedAt,
    /// The device that a mount or a partition is on; several are joined by commas.
    OnDevice,
    /// The kind of a file system: `ext4`, `nfs4`.
    FsType,
    /// The I/O scheduler of a device.
    Scheduler,
    /// The kernel's setting of transparent huge pages.
    HugePages,
    /// Virtualisation or container that the machine tells of itself.
    Machine,
    /// By which ways the kernel comes to a function: `CALLS vfs_statx < __do_sys_newlstat < do_syscall_64`, the most frequent
    /// first, one a line.
    Callers,
    /// How long its calls took: `NS:CALLS` by powers of two, NS the least of each, separated by spaces.
    Times,
}

impl Trait {
    /// All of them.
    pub const ALL: &'static [Trait] = &[
        Trait::Name,
        Trait::Command,
        Trait::State,
        Trait::Wchan,
        Trait::User,
        Trait::Parent,
        Trait::Owner,
        Trait::Cgroup,
        Trait::MemoryCgroup,
        Trait::Unit,
        Trait::Container,
        Trait::Pod,
        Trait::Tracer,
        Trait::LockHolder,
        Trait::Cpus,
        Trait::Number,
        Trait::Volume,
        Trait::MountedAt,
        Trait::OnDevice,
        Trait::FsType,
        Trait::Scheduler,
        Trait::HugePages,
        Trait::Machine,
        Trait::Callers,
        Trait::Times,
    ];

    /// The name in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Trait::Name => "name",
            Trait::Command => "command",
            Trait::State => "state",
            Trait::Wchan => "wchan",
            Trait::User => "user",
            Trait::Parent => "parent",
            Trait::Owner => "owner",
            Trait::Cgroup => "cgroup",
            Trait::MemoryCgroup => "memory_cgroup",
            Trait::Unit => "unit",
            Trait::Container => "container",
            Trait::Pod => "pod",
            Trait::Tracer => "tracer",
            Trait::LockHolder => "lock_holder",
            Trait::Cpus => "cpus",
            Trait::Number => "number",
            Trait::Volume => "volume",
            Trait::MountedAt => "mounted_at",
            Trait::OnDevice => "on_device",
            Trait::FsType => "fs_type",
            Trait::Scheduler => "scheduler",
            Trait::HugePages => "huge_pages",
            Trait::Machine => "machine",
            Trait::Callers => "callers",
            Trait::Times => "times",
        }
    }

    /// The one of that name.
    pub fn named(name: &str) -> Option<Trait> {
        Trait::ALL.iter().copied().find(|of| of.name() == name)
    }
}

/// What one table says of one thing.
#[derive(Clone, PartialEq, Debug)]
pub struct FigureRow {
    /// The thing.
    pub of: Entity,
    /// The line in the source, from 1; 0 where it is no text.
    pub line: u64,
    /// The line as captured, cut at [`FigureRow::RAW_LEN`]; empty where the source is no text.
    pub raw: Box<str>,
    /// Its figures, each metric at most once; what is unknown is left out.
    pub figures: Vec<(Metric, f64)>,
    /// What is said of it in words, each trait at most once.
    pub traits: Vec<(Trait, Box<str>)>,
}

impl FigureRow {
    /// Bytes of a line that are kept as evidence.
    pub const RAW_LEN: usize = 240;

    /// A row of which nothing is known yet.
    pub fn new(of: Entity) -> FigureRow {
        FigureRow { of, line: 0, raw: "".into(), figures: Vec::new(), traits: Vec::new() }
    }

    /// Takes a figure, unless it is no number.
    pub fn set(&mut self, metric: Metric, value: f64) {
        if value.is_finite() {
            self.figures.push((metric, value));
        }
    }

    /// Takes a trait, unless it is empty.
    pub fn say(&mut self, of: Trait, text: impl Into<Box<str>>) {
        let text = text.into();
        if !text.is_empty() {
            self.traits.push((of, text));
        }
    }

    /// The figure.
    pub fn get(&self, metric: Metric) -> Option<f64> {
        self.figures.iter().find(|(of, _)| *of == metric).map(|(_, value)| *value)
    }

    /// The trait.
    pub fn told(&self, of: Trait) -> Option<&str> {
        self.traits.iter().find(|(is, _)| *is == of).map(|(_, text)| &**text)
    }
}

/// What rates of a table are over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Over {
    /// A stretch of time of that length, which ends at the table's time; unknown where the tool does not say how long.
    Interval(Nanos),
    /// All the time since the machine came up: the first table of vmstat, iostat and others.
    SinceBoot,
    /// The life of each thing: `ps`' %CPU.
    Lifetime,
    /// Counted since the machine came up, or since the thing began, nobody says how long ago: what would be a rate is a
    /// number of times, of bytes or of seconds. A single dump of the kernel's counters.
    Total,
    /// Counted between two dumps of the kernel's counters, nobody says how long that was: a number of times, of bytes or of
    /// seconds, and no rate.
    Growth,
    /// No time: levels only.
    Moment,
}

/// One look of a tool, or of our sampler, at the host.
#[derive(Clone, PartialEq, Debug)]
pub struct FigureTable {
    /// Where it was read.
    pub source: SourceId,
    /// Who tells: `iostat -x`, `pidstat -d`, `/proc` for our own sampler.
    pub tool: &'static str,
    /// The end of its time; unknown where the source shows none.
    pub at: Timestamp,
    /// What its rates are over.
    pub over: Over,
    /// True where every task, disk or the like was listed, so that one that is missing was not there (or did
    /// nothing); false for a choice, such as the first lines of top.
    pub complete: bool,
    /// What it says.
    pub rows: Vec<FigureRow>,
}

impl FigureTable {
    /// An empty one.
    pub fn new(source: SourceId, tool: &'static str) -> FigureTable {
        FigureTable {
            source,
            tool,
            at: Timestamp::UNKNOWN,
            over: Over::Moment,
            complete: false,
            rows: Vec::new(),
        }
    }

    /// The row of that thing, made where it is missing. Seeks from the end: for the few things that are added to twice.
    pub fn row(&mut self, of: Entity) -> &mut FigureRow {
        let at = self.rows.iter().rposition(|row| row.of == of).unwrap_or_else(|| {
            self.rows.push(FigureRow::new(of));
            self.rows.len() - 1
        });
        &mut self.rows[at]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_lead_back() {
        for of in Trait::ALL {
            assert_eq!(Trait::named(of.name()), Some(*of), "{}", of.name());
        }
    }

    #[test]
    fn what_is_no_number_is_not_kept() {
        let mut row = FigureRow::new(Entity::Host);
        row.set(Metric::Load1, f64::NAN);
        row.set(Metric::Load5, 2.5);
        row.say(Trait::Machine, "");
        assert_eq!((row.get(Metric::Load1), row.get(Metric::Load5)), (None, Some(2.5)));
        assert_eq!(row.told(Trait::Machine), None);
    }
}
