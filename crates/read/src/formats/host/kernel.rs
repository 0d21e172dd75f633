//! Files of /proc and control groups as they are: of the network, memory, disks, CPUs (`cat /proc/net/snmp`), of groups
//! (`grep . /sys/fs/cgroup/x/*`) and of tasks (/proc/PID/io). Most are known by what stands in them; the others by their
//! path: the input's own, or that of a heading (`==> PATH <==`, a path alone, `cat PATH`, `PATH:` before each line).

use super::kernel_file::{Dumped, File, PAGE, Said, TICKS, last};
use super::line::{Line, number};
use super::{Block, Out, Step, Tool, dates, tasks};
use whyslow_counters::{Figures, cpu, disks, groups, interrupts, memory, network, text};
use whyslow_model::{Entity, FigureRow, Metric};

pub(super) static KERNEL: Tool = Tool {
    begins: |line| FILES.iter().any(|file| (file.begins)(line)),
    row: |_| false,
    open: || Box::<Dump>::default(),
};

/// Files that are known by their first line.
static FILES: &[&File] = &[
    &File {
        tool: "/proc/net/snmp",
        begins: |line| {
            names(line) && matches!(line.word(0), "Ip:" | "Tcp:" | "Udp:" | "TcpExt:" | "IpExt:" | "Icmp:")
        },
        row: |line| match names(line) || line.words.len() > 1 && counts(line, 1) {
            true => Step::Used,
            false if line.word(0).ends_with(':') && line.words.len() > 6 => {
                Step::Damaged("a line of names above one of numbers")
            }
            false => Step::Other,
        },
        read: |dump, said| said.of(Entity::Host, |figures| _ = network::by_column(dump.text, figures)),
    },
    &File {
        tool: "/proc/net/snmp6",
        begins: |line| line.word(0) == "Ip6InReceives" && pair(line),
        row: |line| named(line, "a counter and its number"),
        read: |dump, said| said.of(Entity::Host, |figures| network::by_name(dump.text, figures)),
    },
    &File {
        tool: "/proc/net/dev",
        begins: |line| line.word(0) == "Inter-|",
        row: |line| match line.text.split_once(':') {
            Some((name, rest)) if name.split_whitespace().count() == 1 => {
                match rest.split_whitespace().take_while(|word| number(word).is_some()).count() {
                    16.. => Step::Used,
                    1.. => Step::Damaged("an interface with 16 numbers"),
                    0 => Step::Other,
                }
            }
            _ if matches!(line.word(0), "Inter-|" | "face") => Step::Used,
            _ => Step::Other,
        },
        read: |dump, said| {
            each(
                dump,
                |figures, line| {
                    let name = network::interface(line, figures)?;
                    Some(Entity::Interface(name))
                },
                said,
            );
        },
    },
    &File {
        tool: "/proc/net/sockstat",
        begins: |line| line.starts(&["sockets:", "used"]) || line.starts(&["TCP6:", "inuse"]),
        row: |line| match line.word(0).ends_with(':') && matches!(line.word(1), "used" | "inuse") {
            true => Step::Used,
            false => Step::Other,
        },
        read: |dump, said| said.of(Entity::Host, |figures| network::sockets(dump.text, figures)),
    },
    &SOFTNET,
    &File {
        tool: "/proc/vmstat",
        begins: |line| memory::is_of_vmstat(line.word(0)) && pair(line),
        row: |line| named(line, "a counter and its number"),
        read: |dump, said| said.of(Entity::Host, |figures| _ = memory::vmstat(dump.text, PAGE, figures)),
    },
    &File {
        tool: "/proc/diskstats",
        begins: |line| disk(line) == Step::Used,
        row: disk,
        read: |dump, said| {
            each(
                dump,
                |figures, line| {
                    let (name, _, fields) = disks::parse(line)?;
                    disks::figures(&fields, figures);
                    (!disks::is_idle(&fields)).then_some(Entity::Device(name))
                },
                said,
            );
        },
    },
    &File {
        tool: "/proc/meminfo",
        begins: |line| line.word(0) == "MemTotal:" && line.word(2) == "kB",
        row: |line| match line.word(0).ends_with(':') && line.words.len() <= 3 {
            true if number(line.word(1)).is_some() => Step::Used,
            true if line.word(2) == "kB" => Step::Damaged("an amount of memory in kB"),
            _ => Step::Other,
        },
        read: |dump, said| said.of(Entity::Host, |figures| memory::meminfo(dump.text, figures)),
    },
    &File {
        tool: "/proc/stat",
        begins: |line| line.word(0) == "cpu" && line.words.len() >= 8 && counts(line, 1),
        row: |line| match line.word(0) {
            "intr" | "ctxt" | "btime" | "processes" | "softirq" | "procs_running" | "procs_blocked" => {
                Step::Used
            }
            name if name
                .strip_prefix("cpu")
                .is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit())) =>
            {
                match line.words.len() >= 8 && counts(line, 1) {
                    true => Step::Used,
                    false => Step::Damaged("CPU time by mode, in ticks"),
                }
            }
            _ => Step::Other,
        },
        read: |dump, said| said.things.extend(cpu::stat(dump.text).unwrap_or_default()),
    },
    &File {
        tool: "/proc/interrupts",
        begins: |line| line.words.iter().all(|word| is_cpu(word)) && !line.words.is_empty(),
        row: |line| match line.words.iter().all(|word| is_cpu(word))
            || line.word(0).ends_with(':') && number(line.word(1)).is_some()
        {
            true => Step::Used,
            false => Step::Other,
        },
        read: |dump, said| {
            for (name, counts) in interrupts::parse(dump.text).lines {
                let all = counts.iter().fold(0u64, |sum, count| sum.saturating_add(*count));
                if all > 0 {
                    said.of(Entity::Interrupt(name), |figures| {
                        figures.sum(Metric::Interrupts, Some(all), 1.0)
                    });
                }
            }
        },
    },
    &VMSTAT_DISKS,
    &tasks::STATUS,
    &tasks::IO,
    &tasks::STAT,
    &tasks::LIMITS,
];

/// `vmstat -d`: the kernel's counts of each disk since boot, as /proc/diskstats has them, but the time in which it was busy in
/// whole seconds and without the sum of the waits.
static VMSTAT_DISKS: File = File {
    tool: "vmstat -d",
    begins: |line| line.word(0) == "disk-" && line.text.contains("-reads-"),
    row: |line| match line.word(0) {
        "disk-" | "total" => Step::Used,
        _ if line.words.len() == 11 && counts(line, 1) => Step::Used,
        _ if line.words.len() == 11 && counts(line, 2) => Step::Damaged("a disk with its counts"),
        _ => Step::Other,
    },
    read: |dump, said| {
        each(
            dump,
            |figures, line| {
                let mut words = text::words(line);
                let name = words.next().filter(|name| !matches!(*name, b"disk-" | b"total"))?;
                let mut fields: disks::Fields = Default::default();
                for (at, word) in words.take(10).enumerate() {
                    fields[at] = text::number(word);
                }
                // Seconds; the kernel counts milliseconds.
                fields[9] = fields[9].and_then(|seconds| seconds.checked_mul(1000));
                disks::figures(&fields, figures);
                let name = whyslow_model::text::bounded(name).into();
                (!disks::is_idle(&fields)).then_some(Entity::Device(name))
            },
            said,
        );
    },
};

/// A CPU a line, in hexadecimal numbers (net/core/net-procfs.c).
static SOFTNET: File = File {
    tool: "/proc/net/softnet_stat",
    begins: |line| line.words.len() >= 9 && softnet(line) == Step::Used,
    row: softnet,
    read: |dump, said| {
        for (cpu, line) in text::lines(dump.text).enumerate().take(cpu::MOST_CPUS) {
            said.of(Entity::Cpu(cpu as u32), |figures| {
                figures.at_line(cpu as u32 + 1);
                figures.sum(Metric::RxDrops, network::softnet(line), 1.0);
            });
        }
    },
};

fn softnet(line: &Line<'_>) -> Step {
    let hexadecimal = |word: &&str| word.len() == 8 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    // 9 columns, and 15 since Linux 5.14.
    let fits = line.words.len() <= 16 && line.words.iter().all(hexadecimal);
    if fits { Step::Used } else { Step::Other }
}

/// A file of a control group, which only its path tells.
static GROUP: File = File {
    tool: "cgroup",
    begins: |_| false,
    row: |line| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:=-".contains(&byte);
        match line.words.iter().all(|word| word.bytes().all(plain)) {
            true => Step::Used,
            false => Step::Other,
        }
    },
    read: |dump, said| {
        let (Some(of), Some(item)) = (group_of(dump.path), item_of(dump)) else { return };
        said.of(of, |figures| (item.read)(dump.text, figures, TICKS));
    },
};

/// How a file of a control group is read: by its name, and by version where both have it.
fn item_of(dump: &Dumped<'_>) -> Option<&'static groups::Item> {
    let name = last(dump.path);
    let is_first = in_hierarchy(dump.path).is_some_and(|(controller, _)| !controller.is_empty())
        || memchr::memmem::find(dump.text, b"throttled_time").is_some();
    let of_name = |item: &&groups::Item| item.file == name;
    let of_version = |item: &&groups::Item| item.controller.is_empty() != is_first;
    groups::ITEMS.iter().filter(of_name).find(of_version).or_else(|| groups::ITEMS.iter().find(of_name))
}

/// The hierarchy of version 1 in which a path is (empty: version 2), and the rest of it.
fn in_hierarchy(path: &str) -> Option<(&str, &str)> {
    const KNOWN: [&str; 11] = [
        "cpu", "cpuacct", "memory", "blkio", "pids", "cpuset", "devices", "freezer", "net_cls", "unified",
        "systemd",
    ];
    let (_, below) = path.split_once("sys/fs/cgroup/")?;
    let (first, rest) = below.split_once('/').unwrap_or(("", below));
    let is_hierarchy = first.split(',').any(|name| KNOWN.contains(&name));
    Some(match (is_hierarchy, first) {
        (true, "unified") => ("", rest),
        (true, _) => (first, rest),
        (false, _) => ("", below),
    })
}

/// The control group of which a file is; `None` for a file of something else.
pub(super) fn group_of(path: &str) -> Option<Entity> {
    let of_group = |name: &str| {
        groups::ITEMS.iter().any(|item| item.file == name)
            || matches!(name, "cpu.pressure" | "memory.pressure" | "io.pressure")
    };
    of_group(last(path)).then_some(())?;
    let folder = match in_hierarchy(path) {
        Some((_, rest)) => rest.rsplit_once('/').map_or("", |(folder, _)| folder),
        // Of a directory of such files its name is all that is known of the group.
        None => path.rsplit('/').nth(1).filter(|folder| *folder != ".").unwrap_or(""),
    };
    Some(Entity::Cgroup(format!("/{folder}").into()))
}

/// A line for each thing.
fn each(dump: &Dumped<'_>, take: impl Fn(&mut Figures, &[u8]) -> Option<Entity>, said: &mut Said) {
    Figures::default().each_line(dump.text, |lines, line| {
        let mut figures = lines.of_same_line();
        if let Some(of) = take(&mut figures, line) {
            said.things.push((of, figures));
        }
    });
}

/// `CPU12`.
fn is_cpu(word: &str) -> bool {
    word.strip_prefix("CPU").is_some_and(|digits| digits.parse::<u32>().is_ok())
}

/// A head and names of columns: `Tcp: RtoAlgorithm RtoMin …`.
fn names(line: &Line<'_>) -> bool {
    line.words.len() > 1
        && line.word(0).ends_with(':')
        && line.words.iter().skip(1).all(|word| {
            word.starts_with(|first: char| first.is_ascii_uppercase())
                && word.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
}

/// Numbers from that word on.
fn counts(line: &Line<'_>, from: usize) -> bool {
    line.words.iter().skip(from).all(|word| number(word).is_some())
}

fn pair(line: &Line<'_>) -> bool {
    line.words.len() == 2 && number(line.word(1)).is_some()
}

/// A name and a number, and nothing else.
fn named(line: &Line<'_>, expected: &'static str) -> Step {
    let is_name = |word: &str| {
        word.starts_with(|first: char| first.is_ascii_alphabetic())
            && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    match (line.words.len(), is_name(line.word(0))) {
        (2, true) if pair(line) => Step::Used,
        (2, true) if line.word(0).contains('_') => Step::Damaged(expected),
        _ => Step::Other,
    }
}

/// `254 0 vda 198875 33551 …`
fn disk(line: &Line<'_>) -> Step {
    let small = |at: usize| line.word(at).parse::<u32>().is_ok_and(|number| number < 1 << 20);
    let starts = small(0) && small(1) && line.word(2).starts_with(|first: char| first.is_ascii_alphabetic());
    match starts && line.words.len() >= 14 {
        true if counts(line, 3) => Step::Used,
        true => Step::Damaged("a disk with its counts"),
        false => Step::Other,
    }
}

/// A line that tells of which file what follows is, and what stands behind it.
pub(super) struct Heading<'l> {
    pub(super) path: String,
    pub(super) rest: Option<&'l str>,
}

/// `==> PATH <==` of head and tail, `cat PATH` behind a prompt, a path alone, `PATH:` of grep before the text itself.
pub(super) fn heading<'l>(line: &Line<'l>) -> Option<Heading<'l>> {
    let is_kernel = |path: &str| path.starts_with("/proc/") || path.starts_with("/sys/");
    let alone = |path: &str| Some(Heading { path: path.to_string(), rest: None });
    match line.words[..] {
        ["==>", path, "<=="] => return alone(path),
        [path] if is_kernel(path) && file_at(path.trim_end_matches(':')).is_some() => {
            return alone(path.trim_end_matches(':'));
        }
        _ => {}
    }
    // A row of ps may be of a `cat` too: a command stands behind a prompt, or alone.
    let prompt = |at: usize| at == 0 || line.word(at - 1).ends_with(['$', '#', '>', '%']);
    let command = line.words.iter().take(4).position(|word| *word == "cat").filter(|at| prompt(*at));
    if let Some(path) = command.and_then(|at| line.words.get(at + 1)).filter(|path| is_kernel(path)) {
        return (line.words.len() <= 6).then(|| alone(path)).flatten();
    }
    let (path, rest) = line.text.trim_start().split_once(':')?;
    let named = is_kernel(path) || group_of(path).is_some();
    (named
        && !path.contains(char::is_whitespace)
        && !rest.is_empty()
        && (file_at(path).is_some() || group_of(path).is_some()))
    .then(|| Heading { path: path.to_string(), rest: Some(rest) })
}

/// The file that a path tells, where its text does not.
fn file_at(path: &str) -> Option<&'static File> {
    match last(path) {
        "softnet_stat" => Some(&SOFTNET),
        name if name.ends_with(".pressure") => None,
        _ if group_of(path).is_some() => Some(&GROUP),
        _ => tasks::file_at(path),
    }
}

/// Reads on as the file that a path tells.
pub(super) fn open(path: &str) -> Option<Box<dyn Block>> {
    let file = file_at(path)?;
    Some(Box::new(Dump { file: Some(file), ..Dump::default() }))
}

/// The command that a file's name tells, as sos names the output of commands: `nstat_-zas`.
pub(super) fn command_of(path: &str) -> Vec<String> {
    let words: Vec<String> = last(path).split('_').take(16).map(String::from).collect();
    if words.iter().skip(1).any(|word| word.starts_with('-')) { words } else { Vec::new() }
}

/// The lines of one dump.
#[derive(Default)]
struct Dump {
    file: Option<&'static File>,
    text: String,
    /// The line of the source before the first.
    above: u64,
    /// What the first line begins with: where it comes again, the dump does.
    first: String,
}

/// Bytes of one dump: /proc/interrupts of 512 CPUs is below, and 2,000 disks.
const MOST: usize = 4 << 20;

/// The words of a line that are no numbers.
fn identity(line: &Line<'_>) -> String {
    let words = line.words.iter().map(|word| word.split('=').next().unwrap_or(word));
    let words: Vec<&str> = words.filter(|word| number(word).is_none()).take(64).collect();
    words.join(" ")
}

impl Block for Dump {
    fn line(&mut self, line: &Line<'_>, out: &mut Out<'_>) -> Step {
        // A file of a group may hold any words, but no date. A number alone is rather a figure.
        if line.words.len() > 1 && dates::of_line(&line.words).is_some() {
            return Step::Other;
        }
        let begun = FILES.iter().find(|file| (file.begins)(line)).copied();
        let file = match (self.file, begun) {
            (Some(file), begun) if begun.is_none_or(|begun| std::ptr::eq(begun, file)) => file,
            // What a path tells is what it is; of the others the text says where one ends.
            (Some(file), _) if std::ptr::eq(file, &GROUP) => file,
            (_, Some(begun)) => {
                self.end(out);
                self.file = Some(begun);
                begun
            }
            (_, None) => return Step::Other,
        };
        let step = (file.row)(line);
        if step == Step::Other {
            self.end(out);
            return step;
        }
        let identity = identity(line);
        if !self.text.is_empty() && !identity.is_empty() && identity == self.first {
            self.end(out);
            self.file = Some(file);
        }
        if self.text.is_empty() {
            self.above = line.number - 1;
            self.first = identity;
        }
        // Blank lines between are not given, but counted.
        let lines = self.above + self.text.bytes().filter(|byte| *byte == b'\n').count() as u64;
        for _ in lines..line.number.saturating_sub(1).min(lines + 64) {
            self.text.push('\n');
        }
        if step == Step::Used && self.text.len() + line.text.len() < MOST {
            self.text.push_str(line.text);
        }
        self.text.push('\n');
        step
    }

    fn end(&mut self, out: &mut Out<'_>) {
        let Dump { file: Some(file), text, above, .. } = std::mem::take(self) else { return };
        if text.is_empty() {
            return;
        }
        let path = out.about.path.clone();
        let mut said = Said::default();
        // A limit that is not set, half of a quota: what it is, is known.
        *out.given += u64::from(file_at(&path).is_some());
        (file.read)(&Dumped { text: text.as_bytes(), path: &path }, &mut said);
        if std::ptr::eq(file, &GROUP) {
            // The quota and its period have a file each.
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            said.things.iter_mut().for_each(|(_, figures)| out.looks.join_quota(folder, figures));
        }
        let mut words = out.table(file.tool);
        for (of, what, text) in said.words {
            match words.rows.last_mut().filter(|row| row.of == of) {
                Some(row) => row.say(what, text),
                None => {
                    let mut row = FigureRow::new(of);
                    row.line = above + 1;
                    row.say(what, text);
                    words.rows.push(row);
                }
            }
        }
        out.push(words);
        said.things.retain(|(_, figures)| !figures.is_empty());
        let lines: Vec<&str> = text.lines().collect();
        out.look(file.tool, key(file, &path), above, &lines, said.things);
    }
}

/// Equal for dumps of the same counters: those of a group or task, of a network namespace, of the host.
fn key(file: &File, path: &str) -> String {
    let of_task = tasks::task_of(path);
    match (group_of(path), of_task) {
        (Some(group), _) => format!("{} {group} {}", file.tool, last(path)),
        (None, Some(task)) => format!("{} {task}", file.tool),
        // Both versions of a counter's file stand in one form.
        (None, None) => format!(
            "{} {}",
            file.tool,
            match last(path) {
                name @ ("netstat" | "softirqs") => name,
                _ => "",
            }
        ),
    }
}
