//! A group with a fifth of a CPU, and in it a program that wants a whole one: how long it was stopped, held against what
//! the kernel counts.

use crate::only;
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use whyslow_model::{Entity, Event, FigureTable, Metric, Over, SourceId, Trait};
use whyslow_record::{Options, Session};

/// A group of the hierarchy that shares out the CPU; gone when dropped.
struct Group(PathBuf);

impl Group {
    /// `None` where none can be made.
    fn with_quota() -> Option<Group> {
        let name = format!("whyslow-test-{}", std::process::id());
        let (one, two) =
            (PathBuf::from("/sys/fs/cgroup/cpu").join(&name), PathBuf::from("/sys/fs/cgroup").join(&name));
        let made = if one.parent()?.join("cpu.shares").exists() {
            fs::create_dir(&one)
                .ok()
                .and_then(|()| fs::write(one.join("cpu.cfs_quota_us"), "20000").ok())
                .map(|()| one)
        } else {
            fs::create_dir(&two)
                .ok()
                .and_then(|()| fs::write(two.join("cpu.max"), "20000 100000").ok())
                .map(|()| two)
        };
        made.map(Group)
    }

    /// Periods, of these stopped, ns stopped.
    fn counters(&self) -> [u64; 3] {
        let text = fs::read_to_string(self.0.join("cpu.stat")).unwrap();
        let value = |name: &str| {
            let mut lines = text.lines().filter_map(|line| line.split_once(' '));
            lines.find(|(key, _)| *key == name).and_then(|(_, value)| value.parse::<u64>().ok())
        };
        let stopped = value("throttled_time").or_else(|| value("throttled_usec").map(|us| us * 1_000));
        [value("nr_periods").unwrap(), value("nr_throttled").unwrap(), stopped.unwrap()]
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

/// Runs until it is told to end, and not for long.
struct Busy(Child);

impl Busy {
    fn begin() -> Busy {
        let mut command = Command::new("timeout");
        command.args(["20", "sh", "-c", "while :; do :; done"]).stdin(Stdio::null());
        Busy(command.spawn().unwrap())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        // `timeout` hands the signal on.
        let _ = Command::new("kill").arg(self.0.id().to_string()).status();
        let _ = self.0.wait();
    }
}

#[test]
fn stops_by_a_quota_are_counted_as_the_kernel_does() {
    let Some(group) = Group::with_quota() else {
        return println!("skipped: no control group can be made here");
    };
    let busy = Busy::begin();
    let pid = busy.0.id();
    fs::write(group.0.join("cgroup.procs"), pid.to_string()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let options = only(|options| options.follow = true);
    let before = group.counters();
    let session = Session::start(Options { pids: vec![pid], spool: folder.path().into(), ..options });
    let mut session = match session {
        Ok(session) => session,
        Err(error) => return println!("skipped: {error}"),
    };
    let began = group.counters();
    let until = Instant::now() + Duration::from_secs(1);
    while Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
        session.tick().unwrap();
    }
    let ended = group.counters();
    let recorded = session.stop().unwrap();
    let after = group.counters();
    let mut tables: Vec<FigureTable> = Vec::new();
    let mut sink = |event: Event<'_>| {
        if let Event::Figures(table) = event {
            tables.push(*table);
        }
    };
    recorded.replay("test", SourceId::default(), &mut sink).unwrap();
    let path = format!("/{}", group.0.file_name().unwrap().to_str().unwrap());
    let rows = || tables.iter().flat_map(|table| table.rows.iter().map(move |row| (table, row)));
    let told = |row: &whyslow_model::FigureRow| row.told(Trait::Cgroup) == Some(path.as_str());
    assert!(rows().any(|(_, row)| row.of == Entity::Process(pid) && told(row)), "{tables:?}");
    let own = Entity::Cgroup(path.as_str().into());
    let mut sums = [0.0; 3];
    for (table, row) in rows().filter(|(_, row)| row.of == own) {
        let Over::Interval(length) = table.over else { panic!("{table:?}") };
        assert_eq!(row.get(Metric::CpuQuota), Some(0.2));
        let seconds = length.as_secs_f64().unwrap();
        let metrics = [Metric::CpuPeriods, Metric::ThrottledPeriods, Metric::ThrottledTime];
        for (sum, metric) in sums.iter_mut().zip(metrics) {
            *sum += row.get(metric).unwrap() * seconds;
        }
    }
    sums[2] *= 1e9;
    println!("periods, stopped, ns: {sums:?}; the kernel: {before:?} {began:?} to {ended:?} {after:?}");
    for ((sum, (least, most)), name) in sums
        .into_iter()
        .zip((0..3).map(|at| (ended[at] - began[at], after[at] - before[at])))
        .zip(["periods", "stopped", "ns"])
    {
        // Rates are kept: what is multiplied again is a little off.
        assert!(
            sum >= least as f64 - 1.0 && sum <= most as f64 + 1.0,
            "{name}: {least} to {most}, told {sum}"
        );
    }
    assert!(sums[1] >= 1.0, "a fifth of a CPU is less than it wants");
}
