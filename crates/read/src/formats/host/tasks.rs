//! Files of a process or thread: /proc/PID/{status,io,stat,schedstat,limits,wchan,cgroup}.

use super::Step;
use super::kernel_file::{Dumped, File, PAGE, Said, TICKS, last};
use super::line::{Line, number};
use crate::formats::fd_text;
use whyslow_counters::tasks::{Io, Schedule, Stat, TaskStatus, fd_limit};
use whyslow_counters::{Figures, text};
use whyslow_model::{Entity, Metric, Trait};

/// The process or thread of which a file is: `/proc/7/io`, `proc/7/task/9/stat`.
pub(super) fn task_of(path: &str) -> Option<Entity> {
    let mut parts = path.rsplit('/').skip(1);
    let number = |part: &str| fd_text::pid(part.as_bytes());
    let (own, above) = (parts.next()?, parts.next().unwrap_or(""));
    if above == "task" {
        return Some(Entity::Thread { pid: number(parts.next()?)?, tid: number(own)? });
    }
    // `proc/7/net/snmp` is of the network that 7 sees.
    let pid = if own == "net" { number(above)? } else { number(own)? };
    let below_proc = if own == "net" { parts.next() } else { Some(above) };
    (below_proc == Some("proc")).then_some(Entity::Process(pid))
}

/// The file of a task that a path tells.
pub(super) fn file_at(path: &str) -> Option<&'static File> {
    task_of(path)?;
    Some(match last(path) {
        "status" => &STATUS,
        "io" => &IO,
        "stat" => &STAT,
        "limits" => &LIMITS,
        "schedstat" => &SCHEDSTAT,
        "wchan" => &WCHAN,
        "cgroup" => &CGROUP,
        _ => return None,
    })
}

fn colon(line: &Line<'_>) -> Step {
    if line.word(0).ends_with(':') { Step::Used } else { Step::Other }
}

pub(super) static STATUS: File = File {
    tool: "/proc/PID/status",
    begins: |line| line.word(0) == "Name:" && line.words.len() >= 2,
    row: colon,
    read: status,
};

fn status(dump: &Dumped<'_>, said: &mut Said) {
    let value = |name: &[u8]| {
        let line = text::lines(dump.text).find_map(|line| line.strip_prefix(name)?.strip_prefix(b":"));
        line.map(|rest| rest.trim_ascii())
    };
    let first = |name: &[u8]| value(name).and_then(|rest| text::words(rest).next());
    let one = |name: &[u8]| first(name).and_then(text::number);
    let task = |name: &[u8]| first(name).and_then(fd_text::pid);
    let of = task_of(dump.path).or_else(|| match (task(b"Tgid"), task(b"Pid")) {
        (Some(pid), Some(tid)) if pid != tid => Some(Entity::Thread { pid, tid }),
        (_, pid) => pid.map(Entity::Process),
    });
    let Some(of) = of else { return };
    let status = TaskStatus::parse(dump.text);
    let word = |bytes: &[u8]| -> Box<str> { fd_text::bounded(bytes).into() };
    let mut say =
        |what: Trait, text: Option<Box<str>>| said.words.extend(text.map(|text| (of.clone(), what, text)));
    say(Trait::Name, value(b"Name").map(word));
    say(Trait::State, first(b"State").map(word));
    say(Trait::Parent, task(b"PPid").map(|pid| pid.to_string().into()));
    say(Trait::Tracer, status.tracer.map(|pid| pid.to_string().into()));
    say(Trait::Cpus, Some(status.cpus.clone()).filter(|cpus| !cpus.is_empty()));
    said.of(of, |figures| {
        let bytes = |name: &[u8]| one(name).and_then(|kib| kib.checked_mul(1024));
        figures.number(Metric::Threads, one(b"Threads"));
        figures.number(Metric::Rss, bytes(b"VmRSS"));
        figures.number(Metric::Vsz, bytes(b"VmSize"));
        figures.number(Metric::Swapped, status.swapped);
        figures.number(Metric::CpusAllowed, text::count_in_list(status.cpus.as_bytes()));
        // Of the first thread, which of a process with one thread is all.
        if one(b"Threads") == Some(1) {
            TaskStatus::COUNTS.into_iter().for_each(|(metric, of)| figures.sum(metric, of(&status), 1.0));
        }
    });
}

pub(super) static IO: File = File {
    tool: "/proc/PID/io",
    begins: |line| line.word(0) == "rchar:" && line.words.len() == 2,
    row: |line| match (colon(line), line.words.len(), number(line.word(1))) {
        (Step::Used, 2, Some(_)) => Step::Used,
        (Step::Used, 2, None) => Step::Damaged("a count of bytes"),
        _ => Step::Other,
    },
    read: |dump, said| {
        let Some(of) = task_of(dump.path) else { return };
        let io = Io::parse(dump.text);
        said.of(of, |figures| {
            Io::COUNTS.into_iter().for_each(|(metric, of)| figures.sum(metric, of(&io), 1.0));
        });
    },
};

pub(super) static STAT: File = File {
    tool: "/proc/PID/stat",
    begins: |line| {
        let named = number(line.word(0)).is_some() && line.word(1).starts_with('(');
        named && line.words.len() >= 40 && Stat::parse(line.text.as_bytes()).is_some()
    },
    row: |line| match Stat::parse(line.text.as_bytes()) {
        Some(_) => Step::Used,
        None if line.word(1).starts_with('(') && number(line.word(0)).is_some() => {
            Step::Damaged("a task with its state and its counts")
        }
        None => Step::Other,
    },
    read: |dump, said| {
        for line in text::lines(dump.text) {
            let (Some(pid), Some((name, stat))) =
                (text::words(line).next().and_then(fd_text::pid), Stat::parse(line))
            else {
                continue;
            };
            let of = task_of(dump.path).unwrap_or(Entity::Process(pid));
            said.words.push((of.clone(), Trait::Name, fd_text::bounded(name).into()));
            said.words.push((of.clone(), Trait::State, char::from(stat.state).to_string().into()));
            said.words.push((of.clone(), Trait::Parent, stat.parent.to_string().into()));
            said.of(of, |figures| stat.figures(TICKS, PAGE, figures));
        }
    },
};

pub(super) static LIMITS: File = File {
    tool: "/proc/PID/limits",
    begins: |line| line.starts(&["Limit", "Soft", "Limit", "Hard"]),
    row: |line| match line.word(0) {
        "Limit" | "Max" => Step::Used,
        _ => Step::Other,
    },
    read: |dump, said| {
        let Some(of) = task_of(dump.path) else { return };
        said.of(of, |figures| figures.number(Metric::FdLimit, fd_limit(dump.text)));
    },
};

static SCHEDSTAT: File = File {
    tool: "/proc/PID/schedstat",
    begins: |_| false,
    row: |line| match line.words.len() == 3 && line.words.iter().all(|word| number(word).is_some()) {
        true => Step::Used,
        false => Step::Damaged("time on a CPU, time waiting for one, and turns"),
    },
    read: |dump, said| {
        // That of a process is of its first thread alone.
        let (Some(Entity::Process(pid)), path) = (task_of(dump.path), dump.path) else {
            if let (Some(of), Some(schedule)) = (task_of(dump.path), Schedule::parse(dump.text)) {
                said.of(of, |figures| schedule_figures(&schedule, figures));
            }
            return;
        };
        if let Some(schedule) = Schedule::parse(dump.text).filter(|_| !path.contains("/task/")) {
            said.of(Entity::Thread { pid, tid: pid }, |figures| schedule_figures(&schedule, figures));
        }
    },
};

/// Time on a CPU and without one, in nanoseconds each.
fn schedule_figures(schedule: &Schedule, figures: &mut Figures) {
    figures.sum(Metric::TaskCpu, Some(schedule.ran), 1e-9);
    figures.sum(Metric::RunDelay, Some(schedule.waited), 1e-9);
}

static WCHAN: File = File {
    tool: "/proc/PID/wchan",
    begins: |_| false,
    row: |line| if line.words.len() == 1 { Step::Used } else { Step::Other },
    read: |dump, said| {
        let word = fd_text::bounded(dump.text.trim_ascii());
        // 0 stands where it does not wait, or where the kernel does not say.
        if let Some(of) = task_of(dump.path).filter(|_| word != "0") {
            said.words.push((of, Trait::Wchan, word.into()));
        }
    },
};

/// `0::/system.slice/redis.service`, and a line a hierarchy of version 1.
static CGROUP: File = File {
    tool: "/proc/PID/cgroup",
    begins: |_| false,
    row: |line| match line.text.splitn(3, ':').count() == 3 {
        true => Step::Used,
        false => Step::Damaged("a number, controllers and the path of a group"),
    },
    read: |dump, said| {
        let Some(of) = task_of(dump.path) else { return };
        let path = |line: &[u8]| {
            let mut parts = line.splitn(3, |byte| *byte == b':').skip(1);
            Some((parts.next()?.is_empty(), fd_text::bounded(parts.next()?.trim_ascii_end())))
        };
        // The unified hierarchy, where it is in use, else the deepest.
        let paths: Vec<(bool, String)> = text::lines(dump.text).filter_map(path).collect();
        let best = paths.into_iter().max_by_key(|(unified, path)| (path.len() > 1, *unified, path.len()));
        if let Some((_, path)) = best {
            said.words.push((of, Trait::Cgroup, path.into()));
        }
    },
};
