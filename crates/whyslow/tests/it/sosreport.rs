//! A small dump of a machine (`tests/sosreport`, made of a busy one with a program that listens): all of it is read, the walk
//! over it is right, and a second one ten seconds later gives rates.

use std::path::{Path, PathBuf};
use whyslow_diagnose::diagnose;
use whyslow_facts::Facts;
use whyslow_model::walk::State;
use whyslow_model::{Cell, Entity, Event, FdKind, Metric, Sink, SourceInfo};
use whyslow_read::{Input, ReadOptions, read};
use whyslow_views::{Ask, VIEWS};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sosreport")
}

#[derive(Default)]
struct Seen {
    facts: Facts,
    sources: Vec<SourceInfo>,
    notes: Vec<String>,
}

impl Sink for Seen {
    fn push(&mut self, event: Event<'_>) {
        match &event {
            Event::Source(info) => self.sources.push(info.clone()),
            Event::Note(note) => self.notes.push(note.text.clone()),
            _ => {}
        }
        self.facts.push(event);
    }
}

fn see(folders: &[&Path]) -> Seen {
    let inputs: Vec<Input> = folders.iter().map(|folder| Input::File(folder.to_path_buf())).collect();
    let mut seen = Seen::default();
    read(&inputs, &ReadOptions { threads: 1 }, &(), &mut seen).expect("a directory of dumps");
    seen.facts.finish();
    seen
}

#[test]
fn all_of_it_is_read_and_what_is_full_is_told() {
    let seen = see(&[&folder()]);
    let rejects: Vec<_> = seen.sources.iter().filter(|info| info.rejects > 0).collect();
    assert!(rejects.is_empty(), "{rejects:?} {:?}", seen.notes);
    for file in [
        "nstat_-zas",
        "netstat_-s",
        "ip_-s_-d_link",
        "proc/net/snmp",
        "proc/vmstat",
        "api.service/cpu.stat",
        "proc/339/io",
    ] {
        assert!(
            seen.sources.iter().any(|info| info.name.ends_with(file) && info.events > 0),
            "{file}: {:?}",
            seen.notes
        );
    }
    let walk = diagnose(&seen.facts).walk.expect("figures of the host");
    // Others worked on that machine: vmstat and PSI say so.
    let state = |name: &str| walk.resources.iter().find(|one| one.name == name).map(|one| one.state);
    assert_eq!((state("CPU"), state("memory")), (Some(State::Saturated), Some(State::Not)));
}

#[test]
fn sockets_have_their_owners() {
    let seen = see(&[&folder()]);
    let facts = &seen.facts;
    let of_program: Vec<_> =
        facts.world.fds.open().filter(|(_, life)| life.ends.is_some()).map(|(_, life)| life).collect();
    let local = |kind: FdKind| {
        let mut ends = of_program
            .iter()
            .filter(|life| life.kind == kind)
            .filter_map(|life| life.ends.as_ref()?.local.as_deref());
        ends.next().map(str::to_string)
    };
    assert_eq!(local(FdKind::Udp).as_deref(), Some("127.0.0.1:18125"));
    assert_eq!(local(FdKind::Unix).as_deref(), Some("/srv/api/api.sock"));
    let listener = facts.host.thing(&Entity::Listener("127.0.0.1:18080".into())).expect("it listens");
    assert_eq!(listener.mean(Metric::BacklogLimit), Some(8.0));
    let table = VIEWS.iter().find(|view| view.name == "fds").map(|view| (view.table)(facts, &Ask::default()));
    let table = table.expect("the view").expect("a table");
    let listens = |cell: &Cell| format!("{cell:?}").contains("127.0.0.1:18080");
    assert!(table.rows.iter().any(|row| row.iter().any(listens)), "{table:?}");
}

#[test]
fn a_second_one_gives_rates() {
    let later = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        let path = later.path().join(name);
        std::fs::create_dir_all(path.parent().expect("below")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    };
    let first = |name: &str| std::fs::read_to_string(folder().join(name)).expect("it is there");
    let date = first("sos_commands/date/date");
    // The same clock, ten minutes on.
    let clock = date.split_whitespace().find(|word| word.matches(':').count() == 2).expect("a time");
    let (hour, rest) = clock.split_once(':').expect("hours");
    let minutes: u32 = rest[..2].parse().expect("minutes");
    assert!(minutes < 50, "made so that ten minutes later is the same hour");
    write(
        "sos_commands/date/date",
        &date.replace(clock, &format!("{hour}:{:02}{}", minutes + 10, &rest[2..])),
    );
    write("proc/vmstat", &first("proc/vmstat").replace("oom_kill 0\n", "oom_kill 6\n"));
    let seen = see(&[&folder(), later.path()]);
    let host = seen.facts.host.host().expect("the host");
    let kills = host.reading(Metric::OomKills).expect("two looks");
    assert_eq!((kills.seconds, kills.mean()), (600.0, 0.01));
    let findings = diagnose(&seen.facts).findings;
    assert!(findings.iter().any(|finding| finding.id == "oom-restart-loop"), "{:?} {findings:?}", seen.notes);
}
