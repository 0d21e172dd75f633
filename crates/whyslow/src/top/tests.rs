//! The screens, drawn from fixed data: as text, at the sizes that people have. A change is to be looked at (`cargo insta review`).

use super::action::Action;
use super::app::{App, usual_order};
use super::draw::{Looks, draw};
use super::happening::Answer;
use super::look::Look;
use insta::assert_snapshot;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use whyslow_host::{Gap, Sample, SampleCost};
use whyslow_model::{Entity, FigureRow, FigureTable, Metric, Nanos, Over, SourceId, Timestamp, Trait};

const LOOKS: Looks = Looks { colour: true, show_secrets: false };
const SECOND: Nanos = Nanos::new(1_000_000_000);

pub(super) fn row(of: Entity, figures: &[(Metric, f64)], traits: &[(Trait, &str)]) -> FigureRow {
    let mut row = FigureRow::new(of);
    figures.iter().for_each(|(metric, value)| row.set(*metric, *value));
    traits.iter().for_each(|(of, text)| row.say(*of, *text));
    row
}

pub(super) fn table(rows: Vec<FigureRow>) -> FigureTable {
    let over = Over::Interval(SECOND);
    FigureTable {
        at: Timestamp::new(1_795_000_000_000_000_000),
        over,
        complete: true,
        rows,
        ..FigureTable::new(SourceId(0), "/proc")
    }
}

/// A machine whose disk is full of one writer, while a database waits for it.
pub(super) fn sample() -> Sample {
    use Metric::*;
    use Trait::{Command, MountedAt, Name, Parent, State, Wchan};
    let host = row(
        Entity::Host,
        &[
            (CpuIdle, 0.31),
            (CpuIowait, 0.52),
            (CpuUser, 0.06),
            (CpuSystem, 0.11),
            (CpuCount, 4.0),
            (PressureCpu, 0.01),
            (PressureIo, 0.93),
            (PressureMemory, 0.0),
            (Load1, 6.21),
            (Runnable, 1.0),
            (Uninterruptible, 5.0),
            (MemTotal, 16e9),
            (MemAvailable, 11.2e9),
            (SwapIn, 0.0),
            (Refaults, 0.0),
        ],
        &[],
    );
    let disk = row(
        Entity::Device("vda".into()),
        &[
            (Utilisation, 0.998),
            (QueueLength, 41.7),
            (Latency, 38e6),
            (WriteBytes, 212e6),
            (ReadBytes, 1.5e6),
        ],
        &[(MountedAt, "/")],
    );
    let network = row(Entity::Interface("eth0".into()), &[(RxBytes, 2.1e6), (TxBytes, 0.4e6)], &[]);
    let task = |pid: u32, parent: &str, name: &str, state: &str, command: &str, figures: &[(Metric, f64)]| {
        row(
            Entity::Process(pid),
            figures,
            &[(Name, name), (State, state), (Parent, parent), (Command, command)],
        )
    };
    let mut tasks = vec![
        task(
            1,
            "0",
            "systemd",
            "S",
            "/sbin/init splash",
            &[(TaskUser, 0.0), (TaskSystem, 0.0), (Rss, 12.6e6), (Threads, 1.0)],
        ),
        task(
            811,
            "1",
            "postgres",
            "D",
            "postgres: writer",
            &[
                (TaskUser, 0.02),
                (TaskSystem, 0.01),
                (BlockDelay, 0.81),
                (ReadBytes, 1.5e6),
                (WriteBytes, 0.0),
                (Rss, 1.9e9),
                (Threads, 1.0),
                (RunDelay, 0.0),
            ],
        ),
        task(
            4711,
            "1",
            "bash",
            "S",
            "bash /srv/backup.sh --password=hunter2",
            &[(TaskUser, 0.0), (TaskSystem, 0.0), (RunDelay, 0.0), (Rss, 3.4e6), (Threads, 1.0)],
        ),
        task(
            4720,
            "4711",
            "dd",
            "D",
            "dd if=/dev/zero of=/var/backup.img bs=1M",
            &[
                (TaskUser, 0.01),
                (TaskSystem, 0.38),
                (BlockDelay, 0.44),
                (RunDelay, 0.01),
                (WriteBytes, 211e6),
                (ReadBytes, 0.0),
                (Rss, 2.9e6),
                (Threads, 1.0),
            ],
        ),
        task(
            5002,
            "1",
            "日本語サーバー",
            "S",
            "/opt/日本語/サーバー --port 80",
            &[(TaskUser, 0.05), (TaskSystem, 0.0), (RunDelay, 0.002), (Rss, 88e6), (Threads, 12.0)],
        ),
        task(
            5100,
            "1",
            "evil\x1b[2J\n\u{202e}x",
            "R",
            "evil\x1b]0;owned\x07 \u{202e}gpj.exe",
            &[(TaskUser, 0.03), (TaskSystem, 0.0), (RunDelay, 0.0)],
        ),
    ];
    tasks[3].say(Wchan, "balance_dirty_pages");
    let threads = [(5002, "main", 0.01), (5003, "worker-1", 0.04)].map(|(tid, name, cpu)| {
        row(
            Entity::Thread { pid: 5002, tid },
            &[(TaskUser, cpu), (TaskSystem, 0.0), (RunDelay, 0.002)],
            &[(Name, name), (State, "S")],
        )
    });
    Sample {
        at: Timestamp::new(1_795_000_000_000_000_000),
        over: SECOND,
        tables: vec![table(vec![host, disk, network]), table(tasks), table(threads.to_vec())],
        gaps: vec![gap()],
        cost: SampleCost::default(),
    }
}

/// Something that cannot be seen.
pub(super) fn gap() -> Gap {
    Gap {
        source: "processes",
        missing: "processes of other users".into(),
        why: "/proc does not show process 1: it is mounted with hidepid".into(),
        remedy: "run as root".into(),
    }
}

fn app() -> App {
    let mut app = App::new(usual_order(), &[]);
    app.see(Look::of(sample(), Nanos::new(4_300_000)));
    app
}

/// The screen as text, without what ends lines.
pub(super) fn shown(app: &App, columns: u16, rows: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).expect("a screen");
    terminal.draw(|frame| drop(draw(frame, app, "1 s", LOOKS))).expect("it draws");
    let buffer = terminal.backend().buffer();
    let line = |row| {
        // A wide letter stands in two cells, of which the second is skipped.
        let mut line = String::new();
        let mut skip = 0;
        for column in 0..columns {
            let symbol = buffer[(column, row)].symbol();
            if skip == 0 {
                line.push_str(symbol);
                skip = unicode_width::UnicodeWidthStr::width(symbol).max(1);
            }
            skip -= 1;
        }
        line.trim_end().to_string()
    };
    (0..rows).map(line).collect::<Vec<_>>().join("\n")
}

pub(super) fn keys(app: &mut App, actions: &[Action]) {
    actions.iter().for_each(|action| app.act(action));
}

#[test]
fn the_processes_at_80_by_24() {
    assert_snapshot!(shown(&app(), 80, 24));
}

#[test]
fn the_processes_at_120_by_40() {
    assert_snapshot!(shown(&app(), 120, 40));
}

#[test]
fn a_tree_at_80_by_24() {
    let mut app = app();
    keys(&mut app, &[Action::Tree, Action::SortBy("waits")]);
    assert_snapshot!(shown(&app, 80, 24));
}

#[test]
fn who_takes_of_a_disk_at_80_by_24() {
    let mut app = app();
    keys(&mut app, &[Action::Verdicts, Action::Into]);
    assert_snapshot!(shown(&app, 80, 24));
}

#[test]
fn the_threads_of_one_at_80_by_24() {
    let mut app = app();
    keys(&mut app, &[Action::Filter, Action::Type('8'), Action::Type('0'), Action::Accept, Action::Into]);
    assert_snapshot!(shown(&app, 80, 24));
}

#[test]
fn the_help_at_120_by_40_and_all_of_it() {
    let mut app = app();
    keys(&mut app, &[Action::Help]);
    assert_snapshot!(shown(&app, 120, 80));
}

#[test]
fn a_page_that_waits_and_one_that_failed() {
    let mut app = app();
    assert!(app.ask(4720, "dd".to_string(), "files"));
    assert!(shown(&app, 80, 24).contains("measuring …"));
    // Asked again it waits on; another table takes its place, and what comes late for the first is passed over.
    assert!(!app.ask(4720, "dd".to_string(), "files"));
    assert!(app.ask(4720, "dd".to_string(), "peers"));
    let late = Answer::Table { pid: 4720, view: "files", table: Err("late".to_string()) };
    if let Answer::Table { pid, view, table } = late {
        app.fill(pid, view, table);
    }
    app.fill(4720, "peers", Err("there is no process 4720\x1b[2J".to_string()));
    let screen = shown(&app, 80, 24);
    assert!(screen.contains("there is no process 4720") && !screen.contains("late"), "{screen}");
    keys(&mut app, &[Action::Back]);
    assert!(shown(&app, 80, 24).contains(" 6 processes "));
}

/// No size and no page makes it panic, and nothing that a terminal acts upon is drawn.
#[test]
fn every_page_fits_every_size() {
    let about = |app: &mut App| assert!(app.ask(4720, "dd".to_string(), "files"));
    type Opens<'a> = &'a dyn Fn(&mut App);
    let pages: [(&str, Opens<'_>); 6] = [
        ("processes", &|_| {}),
        ("verdict", &|app| keys(app, &[Action::Verdicts])),
        ("resource", &|app| keys(app, &[Action::Verdicts, Action::Into])),
        ("threads", &|app| keys(app, &[Action::Into])),
        ("help", &|app| keys(app, &[Action::Help, Action::Last])),
        ("about", &about),
    ];
    for (name, open) in pages {
        let mut app = app();
        open(&mut app);
        for columns in [1, 2, 7, 20, 39, 79, 80, 81, 100, 300] {
            for rows in [1, 2, 3, 4, 5, 7, 10, 24, 60] {
                let screen = shown(&app, columns, rows);
                let bad = screen.chars().find(|c| *c != '\n' && whyslow_model::visible::acts(*c));
                assert_eq!(bad, None, "{name} at {columns} x {rows}");
            }
        }
    }
}

#[test]
fn a_press_does_what_stands_there() {
    use ratatui::crossterm::event::{Event, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
    let app = app();
    let mut place = None;
    let mut terminal = Terminal::new(TestBackend::new(80, 24)).expect("a screen");
    terminal.draw(|frame| place = Some(draw(frame, &app, "1 s", LOOKS))).expect("it draws");
    let screen = shown(&app, 80, 24);
    let line_of =
        |text: &str| screen.lines().position(|line| line.contains(text)).expect("it stands there") as u16;
    let press = |column: u16, row: u16| {
        let kind = MouseEventKind::Down(MouseButton::Left);
        let event = Event::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE });
        super::keys::action(&event, false, place.as_ref().expect("drawn"))
    };
    assert_eq!(press(3, 0), Some(Action::ChooseVerdict(0)));
    assert_eq!(press(1, line_of("PID")), Some(Action::SortBy("pid")));
    let read = screen
        .lines()
        .nth(usize::from(line_of("PID")))
        .and_then(|line| line.find("WAITS"))
        .expect("a heading");
    assert_eq!(press(read as u16 + 1, line_of("PID")), Some(Action::SortBy("waits")));
    assert_eq!(
        press(20, line_of("811 ")),
        Some(Action::Choose(usize::from(line_of("811 ") - line_of("PID") - 1)))
    );
    assert_eq!(press(20, line_of("CPU %") - 1), None);
}
