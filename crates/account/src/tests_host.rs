//! What the host takes: stolen time, and the device behind a file.

use super::*;
use whyslow_model::{
    AccountRow, BlockIo, Call, Entity, Event, FigureRow, FigureTable, Known, LeftAs, Metric, Nanos, Over,
    ProcessInfo, Ret, Sink, SourceId, Stretch, TimeState, Timestamp, Trait,
};

const MS: u64 = 1_000_000;

fn stretch(facts: &mut Facts, from_ms: u64, on_cpu_ms: u64, runnable_ms: u64) {
    facts.push(Event::Stretch(Stretch {
        ts: Timestamp::new(from_ms * MS),
        cpu: 0,
        pid: 1,
        tid: 1,
        left_as: LeftAs::Sleeping,
        on_cpu: Nanos::new(on_cpu_ms * MS),
        runnable: Nanos::new(runnable_ms * MS),
        blocked: Nanos::ZERO,
    }));
}

fn figures(facts: &mut Facts, of: Entity, set: &[(Metric, f64)], say: &[(Trait, &str)]) {
    let mut row = FigureRow::new(of);
    set.iter().for_each(|(metric, value)| row.set(*metric, *value));
    say.iter().for_each(|(of, text)| row.say(*of, *text));
    let mut table = FigureTable::new(SourceId::default(), "/proc");
    (table.at, table.over) = (Timestamp::new(1_300 * MS), Over::Interval(Nanos::new(300 * MS)));
    table.rows.push(row);
    facts.push(Event::Figures(Box::new(table)));
}

fn host(facts: &mut Facts, steal: f64, idle: f64) {
    let set = [(Metric::CpuSteal, steal), (Metric::CpuIdle, idle), (Metric::CpuUser, 1.0 - steal - idle)];
    figures(facts, Entity::Host, &set, &[]);
}

fn rows(facts: &Facts) -> Vec<(TimeState, u64, Known)> {
    let account = account(facts).expect("an account");
    assert_eq!(account.rows.iter().map(|row| row.ns).sum::<u64>(), account.ns);
    account.rows.iter().map(|row| (row.state, row.ns / MS, row.known)).collect()
}

#[test]
fn what_the_hypervisor_took_is_cut_from_the_run_queue_in_proportion() {
    let told = |steal: f64, idle: f64, runnable_ms: u64| {
        let mut facts = Facts::default();
        stretch(&mut facts, 1_000 + runnable_ms, 300 - runnable_ms, runnable_ms);
        host(&mut facts, steal, idle);
        facts.finish();
        rows(&facts)
    };
    let (exact, part) = (Known::Exact, Known::InProportion);
    // A quarter of the 80 % that programs wanted.
    let wanted =
        [(TimeState::User, 200, exact), (TimeState::RunQueue, 75, part), (TimeState::Stolen, 25, part)];
    assert_eq!(told(0.2, 0.2, 100), wanted);
    assert_eq!(told(0.0, 0.2, 100), [(TimeState::User, 200, exact), (TimeState::RunQueue, 100, exact)]);
    // Without time in the run queue nobody knows whose time was stolen.
    assert_eq!(told(0.2, 0.2, 0), [(TimeState::User, 300, exact)]);
}

/// The row of waits for an fsync of `/srv/orders.db`.
fn fsync(tell: impl FnOnce(&mut Facts)) -> AccountRow {
    let mut facts = Facts::default();
    facts.push(Event::Process(ProcessInfo {
        pid: 1,
        tid: Some(1),
        comm: Some("app".to_string()),
        ..ProcessInfo::default()
    }));
    for at in 0..3 {
        let mut call = Call::new("fsync", "3</srv/orders.db>");
        (call.tid, call.pid, call.ret) = (1, Some(1), Ret::Value(0));
        (call.ts, call.dur) = (Timestamp::new((1_000 + at * 100) * MS), Nanos::new(80 * MS));
        facts.push(Event::Call(&call));
    }
    tell(&mut facts);
    facts.finish();
    let rows = account(&facts).expect("an account").rows;
    rows.into_iter().find(|row| row.state == TimeState::File).expect("a row that waits for the file")
}

fn device(facts: &mut Facts, name: &str, mount: &str, latency_ms: f64) {
    let latency = latency_ms * MS as f64;
    let set = [(Metric::Writes, 10.0), (Metric::WriteLatency, latency)];
    figures(facts, Entity::Device(name.into()), &set, &[(Trait::MountedAt, mount)]);
}

#[test]
fn the_device_behind_a_file_is_the_one_that_is_mounted_above_it() {
    let row = fsync(|facts| {
        device(facts, "vda", "/", 1.0);
        device(facts, "vdb", "/srv", 70.0);
        device(facts, "vdc", "/sr", 9.0);
    });
    let device = row.device.clone().expect("a device");
    assert_eq!((device.name.as_str(), device.await_ns), ("vdb (/srv)", Nanos::new(70 * MS)));
    assert!(row.words().contains("in fsync on device vdb (/srv) (await 70.0 ms)"), "{}", row.words());
}

#[test]
fn else_the_one_that_the_process_asks_or_the_only_one() {
    let asked = fsync(|facts| {
        for (name, pid) in [("253:0", 2), ("253:16", 1)] {
            let at = |ms: u64| Timestamp::new((1_000 + ms) * MS);
            facts.push(Event::BlockIo(Box::new(BlockIo {
                queued: Timestamp::UNKNOWN,
                issued: at(10),
                completed: at(70),
                device: name.to_string(),
                sector: 8,
                bytes: 4_096,
                op: "write+sync".to_string(),
                pid: Some(pid),
                tid: Some(pid),
                file: None,
            })));
        }
    });
    let asked = asked.device.expect("a device");
    assert_eq!((asked.name.as_str(), asked.await_ns), ("253:16", Nanos::new(60 * MS)));
    let figures_of = |names: &[&str]| {
        fsync(|facts| {
            for name in names {
                let set = [(Metric::Writes, 10.0), (Metric::WriteLatency, 5e6)];
                figures(facts, Entity::Device((*name).into()), &set, &[]);
            }
        })
    };
    assert_eq!(figures_of(&["sda"]).device.expect("a device").words(), "on device sda (await 5.00 ms)");
    // Of two nobody knows which.
    assert_eq!(figures_of(&["sda", "sdb"]).device, None);
}
