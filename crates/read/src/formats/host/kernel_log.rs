//! The kernel's log (dmesg, also -T and -x; journalctl -k; kern.log, messages): processes that were killed for want of
//! memory, tasks that were stuck, limits that were hit. Of programs in the same log, who was refused a descriptor.
//!
//! ```text
//! [ 812.1] oom-kill:constraint=CONSTRAINT_MEMCG,…,task_memcg=/docker/4f1c,task=java,pid=812,uid=0
//! [Sun Nov 22 19:51:11 2026] INFO: task postgres:812 blocked for more than 120 seconds.
//! Nov 22 19:51:11 web kernel: [812.3] nf_conntrack: nf_conntrack: table full, dropping packet
//! ```
//!
//! A log says what happened since boot, so it tells totals. Of what comes often the kernel prints few lines (a flood of
//! SYNs once a listener): it happened at least so many times.

use super::columns::task_number;
use super::line::{Line, number};
use super::{Block, Out, Step, Tool};
use crate::formats::SniffInput;
use whyslow_model::{Entity, FigureRow, FigureTable, Metric, Over, Trait};

pub(super) static KERNEL_LOG: Tool =
    Tool { begins: |_| false, row: |line| what(line.text).is_some(), open: || Box::<Log>::default() };

/// What a line of the log says: of what it is, what happened once more.
struct What<'l> {
    of: Entity,
    metric: Metric,
    /// The name of a task.
    name: &'l str,
    /// The limit that was hit.
    limit: Option<f64>,
}

impl<'l> What<'l> {
    fn new(of: Entity, metric: Metric) -> Option<What<'l>> {
        Some(What { of, metric, name: "", limit: None })
    }
}

/// What a message says, of the text before and behind its mark.
type Read = for<'l> fn(&'l str, &'l str) -> Option<What<'l>>;

/// The messages that are told, each by what no other line has.
static MESSAGES: &[(&str, Read)] = &[
    // mm/oom_kill.c. Who was killed stands here since Linux 5.1: with the group.
    ("oom-kill:constraint=", |_, rest| {
        let group = rest.split(',').find_map(|part| part.strip_prefix("task_memcg="))?;
        What::new(Entity::Cgroup(group.into()), Metric::OomKills)
    }),
    // Before that of the group alone (mm/memcontrol.c).
    (" killed as a result of limit of ", |before, _| {
        let (_, group) = before.rsplit_once("Task in ")?;
        What::new(Entity::Cgroup(group.into()), Metric::OomKills)
    }),
    // `Kill process` until Linux 5.0.
    ("ut of memory: Kill", |_, rest| {
        let is_one = rest.trim_start_matches("ed").trim_start().starts_with("process ");
        What::new(Entity::Host, Metric::OomKills).filter(|_| is_one)
    }),
    // oomkill of bcc and bpftrace.
    (", OOM kill of PID ", |before, rest| {
        (before.contains("Triggered by PID ") && rest.contains(" pages")).then_some(())?;
        What::new(Entity::Host, Metric::OomKills)
    }),
    // kernel/hung_task.c
    ("INFO: task ", |_, rest| {
        let (who, how) = rest.split_once(" blocked ")?;
        let (name, tid) = who.rsplit_once(':')?;
        how.contains("for more than ").then_some(())?;
        let of = Entity::Thread { pid: 0, tid: task_number(tid)? };
        Some(What { name, ..What::new(of, Metric::HungReports)? })
    }),
    // net/ipv4/tcp_input.c: the port alone until Linux 6.1.
    ("ossible SYN flooding on port ", |_, rest| {
        let at = rest.split(". ").next()?.trim_end_matches('.');
        let (address, port) = at.rsplit_once(':').unwrap_or(("*", at));
        let port: u16 = port.parse().ok()?;
        What::new(Entity::Listener(format!("{address}:{port}").into()), Metric::SynQueueOverflows)
    }),
    // net/netfilter/nf_conntrack_core.c; ip_conntrack of old kernels.
    ("_conntrack: table full", |_, _| What::new(Entity::Host, Metric::ConntrackDrops)),
    // net/ipv4/tcp.c
    ("TCP: out of memory", |_, _| What::new(Entity::Host, Metric::TcpMemoryAborts)),
    // fs/file_table.c
    ("VFS: file-max limit ", |_, rest| {
        let limit = number(rest.strip_suffix(" reached")?);
        Some(What { limit, ..What::new(Entity::Host, Metric::FileLimitHits)? })
    }),
    // ENFILE of any program, EMFILE of one that the log names: `nginx[812]: … (24: Too many open files)`.
    ("Too many open files", |before, rest| {
        if rest.starts_with(" in system") {
            return What::new(Entity::Host, Metric::FileLimitHits);
        }
        let (name, pid) = before.split_once("]: ")?.0.rsplit_once('[')?;
        let name = name.rsplit_once(' ').map_or(name, |(_, name)| name);
        Some(What { name, ..What::new(Entity::Process(task_number(pid)?), Metric::FileLimitHits)? })
    }),
];

fn what(text: &str) -> Option<What<'_>> {
    MESSAGES.iter().find_map(|(mark, read)| {
        let (before, rest) = text.split_once(mark)?;
        read(before, rest.trim_end())
    })
}

/// True for a log of which most of the first lines are the kernel's: what matters may come late.
pub(super) fn is_log(sample: &SniffInput<'_>) -> bool {
    /// Of fewer, chance.
    const FEW: usize = 5;
    let lines: Vec<&[u8]> = sample.lines(100).filter(|line| !line.trim_ascii().is_empty()).collect();
    let own = lines.iter().filter(|line| is_kernels(&String::from_utf8_lossy(line))).count();
    lines.len() >= FEW && own * 10 >= lines.len() * 9
}

/// `[  812.100000] text`, `[Sun Nov 22 19:51:11 2026] text`, `kern  :info  : [  812.1] text`, `Nov 22 19:51:11 web kernel: text`.
fn is_kernels(text: &str) -> bool {
    if text.contains(" kernel: ") {
        return true;
    }
    let Some((before, rest)) = text.split_once('[') else { return false };
    let Some((stamp, _)) = rest.split_once("] ") else { return false };
    let fraction = |stamp: &str| stamp.split_once('.').is_some_and(|(_, fraction)| fraction.len() == 6);
    let is_stamp = number(stamp.trim()).is_some_and(|_| fraction(stamp))
        || super::dates::of_line(&stamp.split_ascii_whitespace().collect::<Vec<_>>()).is_some();
    is_stamp && (before.is_empty() || before.trim_end().ends_with(':'))
}

#[derive(Default)]
struct Log {
    /// How often each happened so far, by what it is of.
    rows: Vec<FigureRow>,
    limits: Option<FigureTable>,
}

/// Things told apart.
const MOST: usize = 512;

impl Block for Log {
    fn line(&mut self, line: &Line<'_>, out: &mut Out<'_>) -> Step {
        let Some(What { of, metric, name, limit }) = what(line.text) else { return Step::Other };
        let same = |row: &FigureRow| row.of == of && row.get(metric).is_some();
        let at = self.rows.iter().position(same);
        if at.is_some() || self.rows.len() < MOST {
            let before = at.map(|at| self.rows.swap_remove(at)).and_then(|row| row.get(metric));
            let mut row = FigureRow::new(of);
            row.set(metric, before.unwrap_or(0.0) + 1.0);
            row.say(Trait::Name, name);
            line.sign(&mut row);
            self.rows.push(row);
        }
        if let Some(limit) = limit {
            let mut table = out.table("dmesg");
            let row = table.row(Entity::Host);
            row.set(Metric::FilesLimit, limit);
            line.sign(row);
            self.limits = Some(table);
        }
        Step::Used
    }

    fn end(&mut self, out: &mut Out<'_>) {
        let mut table = out.table("dmesg");
        table.over = Over::Total;
        table.rows.append(&mut self.rows);
        out.push(table);
        if let Some(limits) = self.limits.take() {
            out.push(limits);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::host::tests::{Read, of};

    fn count(read: &Read, of: &Entity, metric: Metric) -> Option<f64> {
        read.figure("dmesg", of, metric)
    }

    #[test]
    fn limits_and_stuck_tasks_in_every_form_of_the_log() {
        let read = of(b"[  100.000001] Linux version 6.1.0\n\
            [  812.300000] nf_conntrack: nf_conntrack: table full, dropping packet\n\
            [Sun Nov 22 19:51:11 2026] nf_conntrack: nf_conntrack: table full, dropping packet\n\
            Nov 22 19:51:12 web kernel: [ 814.1] ip_conntrack: table full, dropping packet.\n\
            2026-11-22T19:51:13.123456+01:00 web kernel: TCP: out of memory -- consider tuning tcp_mem\n\
            kern  :info  : [  815.000000] VFS: file-max limit 65536 reached\n\
            Nov 22 19:51:14 db kernel: INFO: task jbd2/sda1-8:412 blocked for more than 120 seconds.\n\
            [  999.000001][  T55] INFO: task jbd2/sda1-8:412 blocked for more than 241 seconds.\n\
            [  999.100000] INFO: task a name: b:77 blocked in I/O wait for more than 122 seconds.\n\
            <4>[1000.000000] INFO: task held by nobody\n");
        assert_eq!(count(&read, &Entity::Host, Metric::ConntrackDrops), Some(3.0));
        assert_eq!(count(&read, &Entity::Host, Metric::TcpMemoryAborts), Some(1.0));
        assert_eq!(count(&read, &Entity::Host, Metric::FileLimitHits), Some(1.0));
        assert_eq!(count(&read, &Entity::Host, Metric::FilesLimit), Some(65_536.0));
        let stuck = |tid| Entity::Thread { pid: 0, tid };
        assert_eq!(count(&read, &stuck(412), Metric::HungReports), Some(2.0));
        assert_eq!(count(&read, &stuck(77), Metric::HungReports), Some(1.0));
        let names: Vec<_> = read.rows().filter_map(|row| row.told(Trait::Name)).collect();
        assert_eq!(names, ["jbd2/sda1-8", "a name: b"]);
        assert_eq!((read.info.rejects, read.info.foreign), (0, 2));
    }

    #[test]
    fn floods_name_their_listener() {
        let read = of(b"[1.000000] TCP: request_sock_TCP: Possible SYN flooding on port 8080. Sending cookies.  Check SNMP counters.\n\
            [2.000000] TCP: request_sock_TCP: Possible SYN flooding on port 0.0.0.0:443. Dropping request.\n\
            [3.000000] TCP: request_sock_TCPv6: Possible SYN flooding on port [::]:443. Sending cookies.\n\
            [4.000000] possible SYN flooding on port 99999. Sending cookies.\n");
        for at in ["*:8080", "0.0.0.0:443", "[::]:443"] {
            let listener = Entity::Listener(at.into());
            assert_eq!(count(&read, &listener, Metric::SynQueueOverflows), Some(1.0), "{at}");
        }
        assert_eq!((read.rows().count(), read.info.foreign), (3, 1));
    }

    #[test]
    fn a_program_that_the_log_names_was_refused_a_descriptor() {
        let read = of(b"Nov 22 19:51:14 web nginx[812]: accept4() failed (24: Too many open files)\n\
            Nov 22 19:51:15 web nginx[812]: accept4() failed (24: Too many open files)\n\
            Nov 22 19:51:16 web sshd[9]: error: accept: Too many open files in system\n\
            somebody wrote: Too many open files\n");
        assert_eq!(count(&read, &Entity::Process(812), Metric::FileLimitHits), Some(2.0));
        assert_eq!(count(&read, &Entity::Host, Metric::FileLimitHits), Some(1.0));
        assert_eq!((read.rows().count(), read.info.foreign), (2, 1));
    }

    #[test]
    fn groups_of_old_and_new_kernels() {
        let read = of(b"[1.000000] Task in /docker/4f1c killed as a result of limit of /docker/4f1c\n\
            [2.000000] oom-kill:constraint=CONSTRAINT_NONE,task_memcg=/a.slice,task=java,pid=8\n\
            [2.100000] Memory cgroup out of memory: Killed process 8 (java)\n");
        for (of, kills) in [("/docker/4f1c", 1.0), ("/a.slice", 1.0)] {
            assert_eq!(count(&read, &Entity::Cgroup(of.into()), Metric::OomKills), Some(kills), "{of}");
        }
        assert_eq!(count(&read, &Entity::Host, Metric::OomKills), Some(1.0));
    }

    #[test]
    fn a_log_is_known_by_its_lines_though_what_matters_comes_late() {
        let line = |number: u32| format!("[{number:>5}.000000] usb 1-1: new device number {number}\n");
        let boot: String = (0..500).map(line).collect();
        let is = |text: &str| {
            let sample = SniffInput { file_name: "dmesg", path: "dmesg", head: text.as_bytes() };
            is_log(&sample)
        };
        assert!(is(&boot));
        assert!(is(&boot.replace('[', "kern  :info  : [")));
        assert!(is(&"[Sun Nov 22 19:51:11 2026] usb 1-1: new device\n".repeat(9)));
        assert!(is(&"Nov 22 19:51:14 web kernel: usb 1-1: new device\n".repeat(9)));
        assert!(!is(&line(1)));
        assert!(!is(&"7 read(3, [1.000000] \"x\", 1) = 1\n".repeat(9)));
        assert!(!is(&"[14:58:52] something else\n".repeat(9)));
    }
}
