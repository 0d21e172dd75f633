//! Processes and threads: what each takes (CPU, memory, disk) and waits for (a CPU, a disk), and who it is. A process that
//! did nothing costs one read of one file that is kept open; its threads are not listed.

mod delays;
mod identity;
mod threads;

use super::{HostSource, Look};
use crate::context::Context;
use crate::files::open_file;
use crate::options::SamplerOptions;
use crate::out::{Out, Row};
use delays::{Delays, TaskStats};
use hashbrown::HashMap;
use identity::{Commands, Identity};
use rustix::fs::AtFlags;
use rustix::io::Errno;
use std::fs::File;
use std::time::Duration;
use threads::{Room, Sums, Threads};
use whyslow_counters::Span;
use whyslow_counters::tasks::{Io, Schedule, Stat, TaskStatus, fd_limit};
use whyslow_counters::text;
use whyslow_model::text::bounded;
use whyslow_model::{Entity, Metric, Over, Trait};

pub(super) const SOURCE: HostSource = HostSource {
    name: "processes",
    reads: "/proc/PID/{stat,status,io,schedstat,cgroup,cmdline,limits,wchan}, /proc/PID/fd, /proc/PID/task, taskstats by netlink",
    open: |options: &SamplerOptions| Box::new(Processes::new(options)),
};

/// Looks between two at the details of a process that did nothing, which other processes may have changed.
const DETAILS_EVERY: u64 = 10;
/// Seconds for which the group of a new process is read in each sample: who starts it, or it itself, moves it into its own.
const MOVES_WITHIN: f64 = 10.0;
/// How long command lines may take; those that come later are told in the next sample.
const PATIENCE: Duration = Duration::from_millis(20);

struct Processes {
    known: HashMap<u32, Process>,
    users: Option<HashMap<u32, Box<str>>>,
    commands: Commands,
    /// `Some(None)` where there are none to be had.
    stats: Option<Option<TaskStats>>,
    /// Looks so far.
    look: u64,
    pids: Vec<u32>,
    tids: Vec<u32>,
    /// Files that may be kept open: half of what this process may have, the rest is for others.
    most_files: usize,
    files: usize,
}

/// What is read seldom, and when.
#[derive(Default)]
struct Details {
    at: f64,
    io: Io,
    status: TaskStatus,
    schedule: Option<Schedule>,
    fds: Option<u64>,
    fd_limit: Option<u64>,
    single: bool,
    delays: Option<Delays>,
}

/// One process.
struct Process {
    stat: Stat,
    file: Option<File>,
    identity: Identity,
    details: Option<Details>,
    threads: Threads,
    /// Seconds since boot at which it was seen last.
    at: f64,
    seen: u64,
}

impl Look for Processes {
    fn look(&mut self, context: &mut Context<'_>, out: &mut Out) {
        self.look += 1;
        if self.users.is_none() {
            self.users = Some(identity::users(context.reader));
        }
        if self.stats.is_none() {
            self.stats = Some(TaskStats::open(context, out));
        }
        if let Some(Some(stats)) = &self.stats {
            stats.tell_gap(out);
        }
        let mut pids = std::mem::take(&mut self.pids);
        let listed = rustix::io::fcntl_dupfd_cloexec(context.reader.proc_dir(), 0)
            .and_then(|proc| context.reader.numbers(&proc, &mut pids));
        if let Err(why) = listed {
            out.unread(SOURCE.name, "processes", "/proc", why);
        }
        if context.options.root.is_live() && !context.options.own {
            let own = std::process::id();
            pids.retain(|pid| *pid != own);
        }
        let (mut rows, mut threads) = (Vec::new(), Vec::new());
        let (mut zombies, mut there, mut damaged) = (0u64, 0u64, 0u64);
        for &pid in &pids {
            match self.process(pid, context, &mut rows, &mut threads) {
                Ok(state) => {
                    there += 1;
                    zombies += u64::from(state == b'Z');
                }
                Err(Errno::INVAL) => damaged += 1,
                // It ended since it was listed.
                Err(_) => {}
            }
        }
        self.pids = pids;
        let look = self.look;
        self.known.retain(|_, process| process.seen == look);
        self.files = self
            .known
            .values()
            .map(|process| usize::from(process.file.is_some()) + process.threads.kept())
            .sum();
        let known = &mut self.known;
        self.commands.fetch(PATIENCE, &mut context.aside, out, |life, command| {
            if let Some(process) = known.get_mut(&life.0).filter(|process| process.stat.start == life.1) {
                process.identity.command = command.into();
            }
        });
        for (pid, row) in &mut rows {
            if let Some(process) = self.known.get(pid) {
                process.identity.tell(row);
            }
        }
        let mut host = Row::new(Entity::Host);
        host.count(Metric::Tasks, (there > 0).then_some(there));
        host.count(Metric::Zombies, (there > 0).then_some(zombies));
        if damaged > 0 {
            out.gap(
                SOURCE.name,
                format!("{damaged} processes"),
                "/proc/PID/stat: not as expected (77 (name) S 1 …)",
                "",
            );
        }
        if context.options.root.is_live() {
            hidden(self.known.contains_key(&1), out);
        }
        out.table(vec![host], Over::SinceBoot, false);
        out.table(rows.into_iter().map(|(_, row)| row).collect(), Over::Lifetime, true);
        if context.options.threads {
            out.table(threads, Over::Lifetime, true);
        }
    }
}

impl Processes {
    fn new(options: &SamplerOptions) -> Processes {
        let soft = rustix::process::getrlimit(rustix::process::Resource::Nofile).current.unwrap_or(1 << 16);
        Processes {
            known: HashMap::new(),
            users: None,
            commands: Commands::new(&options.root),
            stats: (!options.root.is_live()).then_some(None),
            look: 0,
            pids: Vec::new(),
            tids: Vec::new(),
            most_files: (soft / 2).min(MOST_FILES) as usize,
            files: 0,
        }
    }

    /// Looks at one; its state. `EINVAL` stands for a damaged file.
    fn process(
        &mut self,
        pid: u32,
        context: &mut Context<'_>,
        rows: &mut Vec<(u32, Row)>,
        threads: &mut Vec<Row>,
    ) -> Result<u8, Errno> {
        let mut before = self.known.remove(&pid);
        // A file that was opened for a process that ended tells so, whoever has its number now.
        let kept = before.as_ref().and_then(|before| before.file.as_ref());
        let mut file = None;
        let text = match kept.map(|file| context.reader.kept(file).is_ok()) {
            Some(true) => context.reader.last(),
            _ => {
                let opened = open_file(context.reader.proc_dir(), format!("{pid}/stat"))?;
                context.reader.kept(&opened)?;
                file = Some(opened);
                context.reader.last()
            }
        };
        let (name, stat) = Stat::parse(text).ok_or(Errno::INVAL)?;
        before = before.filter(|before| before.stat.start == stat.start);
        let is_new = before.is_none();
        let name_changed = before.as_ref().is_none_or(|before| before.identity.name.as_bytes() != name);
        let fresh = name_changed.then(|| Identity::named(name));
        let moved = before.as_ref().is_none_or(|before| stat.moved_since(&before.stat));
        let due = (self.look + u64::from(pid)).is_multiple_of(DETAILS_EVERY);
        let was = before.as_ref().map(|before| (before.stat, before.at));
        let mut now = before.unwrap_or_else(|| Process {
            stat,
            file: None,
            identity: Identity::default(),
            details: None,
            threads: Threads::default(),
            at: context.uptime,
            seen: self.look,
        });
        now.stat = stat;
        now.at = context.uptime;
        now.seen = self.look;
        if let Some(file) = file {
            now.file = (self.files < self.most_files).then_some(file);
            self.files += usize::from(now.file.is_some() && is_new);
        }
        if let Some(identity) = fresh {
            // Another name is another program, with another command line.
            now.identity = identity;
            if !stat.is_kernel_thread() {
                self.commands.want((pid, stat.start));
            }
        }
        if (name_changed || due || age(context, stat.start) < MOVES_WITHIN)
            && let Ok(text) = context.reader.proc(&format!("{pid}/cgroup"))
        {
            now.identity.take_groups(text);
        }
        let mut row = Row::new(Entity::Process(pid));
        let sums = if moved || due {
            let mut room = Room { left: self.most_files.saturating_sub(self.files) };
            let before = room.left;
            let sums = (context.options.threads && stat.threads > 1 && !stat.is_kernel_thread())
                .then(|| now.threads.look(pid, self.look, &mut self.tids, &mut room, context, threads))
                .and_then(Result::ok);
            self.files += before - room.left;
            sums
        } else {
            None
        };
        self.tell(pid, &now, was, context, &mut row);
        if moved || due {
            self.details(pid, &mut now, sums, context, &mut row);
        }
        // Kernel threads are many, and most never do anything.
        if !stat.is_kernel_thread() || moved || stat.state == b'D' {
            rows.push((pid, row));
        }
        self.known.insert(pid, now);
        Ok(stat.state)
    }

    /// What `stat` tells.
    fn tell(
        &self,
        pid: u32,
        now: &Process,
        was: Option<(Stat, f64)>,
        context: &mut Context<'_>,
        row: &mut Row,
    ) {
        let stat = &now.stat;
        row.say(Trait::State, letter(stat.state));
        row.say(Trait::Parent, stat.parent.to_string());
        row.count(Metric::Threads, Some(stat.threads));
        row.level(Metric::Nice, Some(stat.nice as f64));
        if !stat.is_kernel_thread() {
            row.count(Metric::Vsz, Some(stat.vsize));
            row.count(Metric::Rss, stat.rss.and_then(|pages| pages.checked_mul(context.page)));
        }
        let age = age(context, stat.start);
        row.level(Metric::Age, (age >= 0.0).then_some(age * 1e9));
        if stat.state == b'D'
            && let Ok(text) = context.reader.proc(&format!("{pid}/wchan"))
            && text != b"0"
        {
            row.say(Trait::Wchan, bounded(text));
        }
        let Some(span) = span_of(context, stat.start, was.map(|(_, at)| at)) else { return };
        let was = was.map(|(stat, _)| stat);
        let rate = |of: fn(&Stat) -> u64| span.rate(Some(of(stat)), was.as_ref().map(of));
        for (metric, of, is_time) in Stat::COUNTS {
            row.rate(metric, rate(of).map(|rate| if is_time { rate / context.ticks } else { rate }));
        }
    }

    /// What the other files tell; rates are over the time since they were read last.
    fn details(
        &mut self,
        pid: u32,
        now: &mut Process,
        sums: Option<Sums>,
        context: &mut Context<'_>,
        row: &mut Row,
    ) {
        let status = context.reader.proc(&format!("{pid}/status")).map(TaskStatus::parse).unwrap_or_default();
        let is_single = now.stat.threads == 1;
        let mut details = Details { at: context.uptime, single: is_single, status, ..Details::default() };
        if !now.stat.is_kernel_thread() {
            details.io = context.reader.proc(&format!("{pid}/io")).map(Io::parse).unwrap_or_default();
        }
        if let Some(Some(stats)) = &mut self.stats {
            details.delays = stats.of(pid);
        }
        if is_single && details.delays.is_none() {
            details.schedule =
                context.reader.proc(&format!("{pid}/schedstat")).ok().and_then(Schedule::parse);
        }
        let before = now.details.take();
        if !now.stat.is_kernel_thread() {
            details.fds = fds(pid, context);
            // A limit changes seldom, and is only of interest beside many.
            let known = before.as_ref().and_then(|before| before.fd_limit);
            details.fd_limit =
                known.or_else(|| fd_limit(context.reader.proc(&format!("{pid}/limits")).ok()?));
        }
        row.count(Metric::Fds, details.fds);
        row.count(Metric::FdLimit, details.fd_limit);
        row.count(Metric::Swapped, details.status.swapped);
        affinity(row, &details.status);
        if let Some(tracer) = details.status.tracer.filter(|tracer| !is_own_thread(*tracer)) {
            row.say(Trait::Tracer, tracer.to_string());
        }
        if let (Some(uid), Some(users)) = (details.status.uid, &self.users) {
            now.identity.user = users.get(&uid).cloned().unwrap_or_else(|| uid.to_string().into());
        }
        if let Some(span) = span_of(context, now.stat.start, before.as_ref().map(|before| before.at)) {
            let was = before.as_ref().map(|before| before.io);
            let rate = |of: fn(&Io) -> Option<u64>| span.rate(of(&details.io), was.as_ref().and_then(of));
            Io::COUNTS.into_iter().for_each(|(metric, of)| row.rate(metric, rate(of)));
            // With a count before that is missing there is none of these, and no other source is taken in its place: it
            // would be over another time.
            if let Some(delays) = &details.delays {
                delays.tell(before.as_ref().and_then(|before| before.delays.as_ref()), &span, row);
            } else if is_single && before.as_ref().is_none_or(|before| before.single) {
                alone(&details, before.as_ref(), &span, row);
            }
        }
        if let Some(sums) = sums.filter(|_| !is_single && details.delays.is_none()) {
            row.rate(Metric::RunDelay, sums.run_delay);
            row.rate(Metric::VoluntarySwitches, sums.voluntary);
            row.rate(Metric::InvoluntarySwitches, sums.involuntary);
        }
        now.details = Some(details);
    }
}

/// Says which processes are not to be seen: the figures of the machine are those of all.
fn hidden(sees_first: bool, out: &mut Out) {
    /// The number of the namespace that the kernel starts with (`PROC_PID_INIT_INO`, linux/proc_ns.h).
    const INITIAL: u64 = 0xefff_fffc;
    let namespace = rustix::fs::stat("/proc/self/ns/pid").map(|stat| stat.st_ino);
    if namespace.is_ok_and(|namespace| namespace != INITIAL) {
        out.gap(
            SOURCE.name,
            "processes outside of this container",
            "the pid namespace is not the host's; CPU, memory and disks are those of the whole machine",
            "run on the host, or in its pid namespace (docker run --pid=host, hostPID: true)",
        );
    } else if !sees_first {
        out.gap(
            SOURCE.name,
            "processes of other users",
            "/proc does not show process 1: it is mounted with hidepid",
            "run as root",
        );
    }
}

/// What the files of the first thread tell, which of a process with one thread is all.
fn alone(now: &Details, before: Option<&Details>, span: &Span, row: &mut Row) {
    let was = before.and_then(|before| before.schedule).map(|was| was.waited);
    let delay = span.rate(now.schedule.map(|now| now.waited), was);
    row.rate(Metric::RunDelay, delay.map(|ns| ns / 1e9));
    let switches = |of: fn(&TaskStatus) -> Option<u64>| {
        span.rate(of(&now.status), before.and_then(|before| of(&before.status)))
    };
    TaskStatus::COUNTS.into_iter().for_each(|(metric, of)| row.rate(metric, switches(of)));
}

/// Files kept open at most.
const MOST_FILES: u64 = 16_384;

/// Seconds since a start that is told in ticks since boot.
fn age(context: &Context<'_>, start: u64) -> f64 {
    context.uptime - start as f64 / context.ticks
}

/// Seconds: CPU time is told in ticks (10 ms), so that the share of a shorter life would be mostly their roundness.
const SHORT_LIFE: f64 = 1.0;

/// What the rates of a task are over: since it was read last; of a new one since the sample before, if it began after that.
/// `None` where it was there and was not seen. In the first sample its life, unless it is a short one.
fn span_of(context: &Context<'_>, start: u64, before: Option<f64>) -> Option<Span> {
    let age = age(context, start).max(0.0);
    match (before, context.span.is_first()) {
        (Some(before), _) => Some(Span::since_last(context.uptime - before)),
        (None, true) => (age >= SHORT_LIFE).then(|| Span::since_boot(age)),
        (None, false) => {
            let seconds = context.span.seconds()?;
            // A tick of doubt about when it began.
            (age <= seconds + 1.0 / context.ticks).then(|| Span::of_new(seconds))
        }
    }
}

/// Open descriptors: since Linux 6.2 the directory has their number as its size.
fn fds(pid: u32, context: &mut Context<'_>) -> Option<u64> {
    let path = format!("{pid}/fd");
    let size = rustix::fs::statat(context.reader.proc_dir(), &path, AtFlags::empty()).ok()?.st_size;
    if size > 0 {
        return u64::try_from(size).ok();
    }
    if !context.options.fds {
        return None;
    }
    let dir = crate::files::open_dir(context.reader.proc_dir(), &path).ok()?;
    Some(context.reader.count(&dir))
}

/// The CPUs on which a task may run.
fn affinity(row: &mut Row, status: &TaskStatus) {
    if !status.cpus.is_empty() {
        row.count(Metric::CpusAllowed, text::count_in_list(status.cpus.as_bytes()));
        row.say(Trait::Cpus, status.cpus.clone());
    }
}

/// The letter of a state.
fn letter(state: u8) -> String {
    char::from(state).to_string()
}

/// Whoever records by ptrace traces for as long as it looks: nobody who is forgotten.
fn is_own_thread(tid: u32) -> bool {
    std::path::Path::new("/proc/self/task").join(tid.to_string()).exists()
}
