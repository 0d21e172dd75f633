//! The states that a screen has to tell apart, as screens: a busy CPU, waiting for a peer, locks, a disk, idle with demand, idle,
//! what is lost, the first look, a held picture, hostile names. Each at the sizes that people have; a change is to be looked at
//! (`cargo insta review`).

use super::action::Action;
use super::app::{App, usual_order};
use super::look::Look;
use super::tests::{gap, keys, row, sample, shown, table};
use insta::assert_snapshot;
use std::time::Duration;
use whyslow_host::{Sample, SampleCost};
use whyslow_model::{Entity, FigureRow, Metric, Metric::*, Nanos, Timestamp, Trait};

/// When the first of the looks was taken: 2026-11-18, 10:26:40 UTC.
const BEGAN: u64 = 1_795_000_000_000_000_000 / 1_000_000_000;
/// 80 x 24 as a terminal begins, 120 x 40 and 200 x 60 as people make it.
const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 60)];

/// A process and its figures: user and system time, time ready to run, time waiting for a disk, memory.
struct Process<'a> {
    pid: u32,
    name: &'a str,
    state: &'a str,
    command: &'a str,
    cpu: f64,
    ready: f64,
    disk: f64,
    rss: f64,
}

impl Default for Process<'_> {
    fn default() -> Self {
        Process { pid: 1, name: "x", state: "S", command: "", cpu: 0.0, ready: 0.0, disk: 0.0, rss: 12e6 }
    }
}

impl Process<'_> {
    fn row(&self) -> FigureRow {
        let figures = [
            (TaskUser, self.cpu * 0.9),
            (TaskSystem, self.cpu * 0.1),
            (RunDelay, self.ready),
            (BlockDelay, self.disk),
            (ReadBytes, 0.0),
            (WriteBytes, 0.0),
            (Rss, self.rss),
            (Threads, 1.0),
        ];
        let told = [
            (Trait::Name, self.name),
            (Trait::State, self.state),
            (Trait::Parent, "1"),
            (Trait::Command, self.command),
        ];
        row(Entity::Process(self.pid), &figures, &told)
    }
}

/// A look so many seconds after the first, at a host that is that busy.
fn at(second: u64, busy: f64, tasks: Vec<FigureRow>, more: Vec<FigureRow>) -> Sample {
    let run_delay: f64 = tasks.iter().filter_map(|task| task.get(RunDelay)).sum();
    let host = row(
        Entity::Host,
        &[
            (CpuIdle, 1.0 - busy),
            (CpuIowait, 0.0),
            (CpuUser, busy * 0.9),
            (CpuSystem, busy * 0.1),
            (CpuCount, 4.0),
            (PressureCpu, run_delay.min(1.0)),
            (PressureIo, 0.0),
            (PressureMemory, 0.0),
            (MemTotal, 16e9),
            (MemAvailable, 11.2e9),
            (SwapIn, 0.0),
            (Refaults, 0.0),
        ],
        &[],
    );
    let network = row(
        Entity::Interface("eth0".into()),
        &[(RxBytes, 1e6 * (second as f64 + 1.0)), (TxBytes, 0.4e6), (LinkSpeed, 125e6)],
        &[],
    );
    let files = row(Entity::Host, &[(FilesOpen, 2_144.0), (FilesLimit, 1_048_576.0)], &[]);
    let disk = row(
        Entity::Device("vda".into()),
        &[(Utilisation, 0.012), (QueueLength, 0.02), (Latency, 0.4e6), (WriteBytes, 0.2e6), (ReadBytes, 0.0)],
        &[(Trait::MountedAt, "/")],
    );
    let mut about = vec![host, network, disk, files];
    about.extend(more);
    let mut sample = Sample {
        at: Timestamp::new((BEGAN + second) * 1_000_000_000),
        over: Nanos::new(1_000_000_000),
        tables: vec![table(about), table(tasks)],
        gaps: Vec::new(),
        cost: SampleCost::default(),
    };
    sample.tables.iter_mut().for_each(|table| table.at = sample.at);
    sample
}

fn look(sample: Sample) -> Look {
    Look::of(sample, Nanos::new(4_300_000))
}

fn shell() -> FigureRow {
    Process { pid: 700, name: "bash", command: "-bash", rss: 5.2e6, ..Process::default() }.row()
}

/// Two programs that compute, and one that gets no CPU between them.
fn busy_cpu(second: u64) -> Sample {
    let grows = (second as f64 / 8.0).min(1.0);
    let tasks = vec![
        shell(),
        Process {
            pid: 901,
            name: "python3",
            state: "R",
            command: "python3 /srv/reports/monthly.py --all",
            cpu: 2.4 + grows,
            ready: 0.8 * grows,
            rss: 410e6,
            ..Process::default()
        }
        .row(),
        Process {
            pid: 944,
            name: "java",
            state: "S",
            command: "java -Xmx2g -cp /opt/shop/lib/a.jar:/opt/shop/lib/b.jar com.acme.shop.Catalog 8080",
            cpu: 0.42,
            ready: 0.91 * grows,
            rss: 1.9e9,
            ..Process::default()
        }
        .row(),
        Process {
            pid: 950,
            name: "node",
            command: "node /srv/web/server.js",
            cpu: 0.04,
            ready: 0.3 * grows,
            rss: 96e6,
            ..Process::default()
        }
        .row(),
    ];
    at(second, (0.7 + 0.3 * grows).min(0.998), tasks, Vec::new())
}

/// All of these looks, one after the other.
fn app_of(looks: impl IntoIterator<Item = Look>) -> App {
    let mut app = App::new(usual_order(), &[]);
    for look in looks {
        app.see(look);
    }
    app
}

fn all_sizes(name: &str, app: &App) {
    for (columns, rows) in SIZES {
        assert_snapshot!(format!("{name}_at_{columns}_by_{rows}"), shown(app, columns, rows));
    }
}

#[test]
fn a_busy_cpu() {
    all_sizes("a_busy_cpu", &app_of((0..20).map(|second| look(busy_cpu(second)))));
}

/// A worker that reads from a socket, and its peer, which sleeps on a timer.
#[test]
fn waiting_for_a_peer() {
    let of = |second: u64| {
        let worker = Process {
            pid: 911,
            name: "python3",
            command: "python3 shop.py 7411",
            cpu: 0.02,
            rss: 31e6,
            ..Process::default()
        };
        let peer = Process { pid: 910, name: "scorer", command: "/opt/scorer :7410", ..Process::default() };
        let mut look = look(at(second, 0.02, vec![shell(), peer.row(), worker.row()], Vec::new()));
        for (pid, word) in [(911, "socket"), (910, "timer"), (700, "child")] {
            let task = look.processes.iter_mut().find(|task| task.pid == pid).expect("it is there");
            task.asleep = Some(word);
        }
        look
    };
    all_sizes("waiting_for_a_peer", &app_of((0..5).map(of)));
}

/// Two jobs that want the lock of a third.
#[test]
fn locks() {
    let of = |second: u64| {
        let job = |pid: u32, script: &str| {
            let command = format!("python3 {script}");
            Process { pid, name: "python3", command: &command, ..Process::default() }.row()
        };
        let mut tasks = vec![shell(), job(40, "holder.py"), job(41, "nightly.py"), job(42, "backup.py")];
        tasks[2].say(Trait::LockHolder, "40");
        tasks[3].say(Trait::LockHolder, "40");
        let mut look = look(at(second, 0.01, tasks, Vec::new()));
        look.processes.iter_mut().find(|task| task.pid == 40).expect("it is there").asleep = Some("timer");
        look
    };
    all_sizes("locks", &app_of((0..5).map(of)));
}

/// A machine whose disk is full of one writer, while a database waits for it.
#[test]
fn a_full_disk() {
    all_sizes("a_full_disk", &app_of((0..5).map(|_| look(sample()))));
}

/// A server that sleeps while connections wait until it accepts them.
#[test]
fn idle_with_demand() {
    let of = |second: u64| {
        let server = Process {
            pid: 812,
            name: "gunicorn",
            command: "gunicorn: worker [shop:app]",
            rss: 64e6,
            ..Process::default()
        };
        let mut listener = row(Entity::Listener("0.0.0.0:8080".into()), &[(Backlog, 17.0)], &[]);
        listener.set(BacklogLimit, 128.0);
        listener.say(Trait::Owner, "812");
        let mut look = look(at(second, 0.01, vec![shell(), server.row()], vec![listener]));
        look.processes.iter_mut().find(|task| task.pid == 812).expect("it is there").asleep = Some("futex");
        look
    };
    all_sizes("idle_with_demand", &app_of((0..5).map(of)));
}

#[test]
fn idle() {
    all_sizes("idle", &app_of((0..5).map(|second| look(at(second, 0.0, vec![shell()], Vec::new())))));
}

/// Looks come late, and some processes are not seen.
#[test]
fn what_is_lost_is_told() {
    let of = |second: u64| {
        let mut sample = busy_cpu(second);
        sample.gaps.push(gap());
        sample.over = Nanos::new(3_420_000_000);
        Look { late: Duration::from_millis(2_420), ..look(sample) }
    };
    all_sizes("what_is_lost", &app_of((0..5).map(of)));
}

/// Before the first look, and the first: what is not measured yet is no zero.
#[test]
fn the_first_second() {
    all_sizes("before_the_first_look", &App::new(usual_order(), &[]));
    let mut task = FigureRow::new(Entity::Process(901));
    task.say(Trait::Name, "new");
    task.say(Trait::State, "S");
    task.set(Metric::Rss, 3.4e6);
    let mut sample = at(0, 0.2, vec![shell(), task], Vec::new());
    sample.over = Nanos::new(300_000_000);
    all_sizes("the_first_look", &app_of([Look { is_first: true, ..look(sample) }]));
}

#[test]
fn held_and_gone_back() {
    let mut app = app_of((0..20).map(|second| look(busy_cpu(second))));
    keys(&mut app, &[Action::Step(-10), Action::Step(-1)]);
    all_sizes("held_and_gone_back", &app);
}

/// Names that act upon a terminal, that are long, that are wide.
#[test]
fn hostile_names() {
    let of = |second: u64| {
        let named = |pid: u32, name: &str, command: &str, cpu: f64| {
            Process { pid, name, command, cpu, state: "R", ready: 0.06, ..Process::default() }.row()
        };
        let long = format!("python3 /srv/{}.py", "a-very-long-name-".repeat(20));
        let tasks = vec![
            named(61, "evil\x1b[2J\n\u{202e}x", "evil\x1b]0;owned\x07 \u{202e}gpj.exe", 0.9),
            named(62, "python3", &long, 0.5),
            named(63, "日本語サーバー", "/opt/日本語/サーバー --port 80 --token=hunter2secret", 0.3),
            named(64, "", "", 0.1),
            named(65, "(sd-pam)", "(sd-pam)", 0.05),
        ];
        look(at(second, 0.46, tasks, Vec::new()))
    };
    all_sizes("hostile_names", &app_of((0..5).map(of)));
}

/// The smallest screen, and one that is too small.
#[test]
fn small_screens() {
    let app = app_of((0..20).map(|second| look(busy_cpu(second))));
    assert_snapshot!("busy_at_40_by_10", shown(&app, 40, 10));
    assert_snapshot!("busy_at_60_by_16", shown(&app, 60, 16));
    let too_small = shown(&app, 39, 10);
    assert!(too_small.trim_end() == "too small: 39 x 10; 40 x 10 are needed", "{too_small}");
}

/// No word and no number of a verdict is cut, at any width.
#[test]
fn no_word_is_cut_at_any_width() {
    let mut app = app_of((0..20).map(|second| look(busy_cpu(second))));
    let whole: Vec<String> = words(&shown(&app, 300, 60));
    for columns in 40..300 {
        let screen = shown(&app, columns, 24);
        let above = screen.split("processes").next().unwrap_or_default();
        // What was made shorter has words of its own; what stands in the widest screen is never cut.
        for word in words(above) {
            let cut = whole.iter().find(|known| known.starts_with(&word) && known.len() > word.len());
            assert!(cut.is_none() || whole.contains(&word), "{word} of {cut:?} at {columns}:\n{screen}");
        }
    }
    keys(&mut app, &[Action::Pause]);
}

fn words(text: &str) -> Vec<String> {
    let is_word = |word: &&str| word.contains(char::is_alphanumeric);
    text.split_whitespace()
        .filter(is_word)
        .map(|word| word.trim_end_matches([',', ';', ':']).to_string())
        .collect()
}
