//! Demand: which work waited for the recorded processes. Queues tell by samples of the recorder, else by those of the host; requests
//! and callers tell by their calls, those too that were taken into the recording because they wait.

mod taken_in;

use crate::folds::account::ObjectKind;
use crate::folds::graph::{LongCall, NameId};
use crate::host::Thing;
use crate::moments::{Count, Moments};
use crate::{Facts, ProcessId};
use hashbrown::{HashMap, HashSet};
use whyslow_model::{Demand, DemandKind, DemandQueue, Entity, Metric, Trait};

/// The metrics of a listener that are demand, with what waits.
const OF_LISTENERS: [(Metric, DemandKind); 3] = [
    (Metric::Backlog, DemandKind::AcceptQueue),
    (Metric::ReceiveQueue, DemandKind::UnreadBytes),
    (Metric::UdpReceiveQueue, DemandKind::UnreadDatagrams),
];

/// What is told of the queues of those processes that were seen to call or to run, and of who waited for these processes. A queue
/// whose owner is not known is nobody's.
pub fn demand(facts: &Facts) -> Demand {
    let mut queues = sampled(facts);
    let (from, to) = (facts.window.start, facts.window.end);
    let mut add = |kind: DemandKind, process: ProcessId, moments: &Moments| {
        let Count { moments, with, most } = moments.count(from, to);
        // That none was seen says nothing of those that are not decoded or recorded.
        if with > 0
            && let Some(known) = facts.world.threads.known_process(process)
        {
            let name = known.name().unwrap_or("the process");
            let of = known.pid.map_or_else(|| name.to_string(), |pid| format!("{name} ({pid})"));
            queues.push(DemandQueue { kind, of, pid: known.pid, most, waited: with, samples: moments });
        }
    };
    for (process, moments) in facts.requests.waiting() {
        add(DemandKind::OpenRequests, process, moments);
    }
    let (mut callers, mut told) = (callers(facts), Vec::new());
    if let Some(apart) = facts.followed.apart() {
        for row in facts.followed.rows().iter().filter(|row| row.is_caller()) {
            told.extend(taken_in::caller(facts, apart, row, &mut callers));
        }
    }
    told.sort_by_key(|caller| (std::cmp::Reverse(caller.waited_ns), caller.pid));
    for (process, moments) in &callers {
        add(DemandKind::Callers, *process, moments);
    }
    let part = |queue: &DemandQueue| queue.waited as f64 / queue.samples.max(1) as f64;
    queues.sort_by(|a, b| {
        let connections = |queue: &DemandQueue| queue.kind == DemandKind::AcceptQueue;
        let rank = |queue: &DemandQueue| (queue.lasts(), queue.waited > 0, queue.kind.is_backlog());
        (rank(b).cmp(&rank(a)))
            .then(part(b).total_cmp(&part(a)))
            .then(connections(b).cmp(&connections(a)))
            .then(b.samples.cmp(&a.samples))
            .then(a.of.cmp(&b.of))
    });
    queues.truncate(Demand::MOST);
    Demand { queues, callers: told }
}

fn sampled(facts: &Facts) -> Vec<DemandQueue> {
    let mut queues: Vec<DemandQueue> = Vec::new();
    let mut known: HashSet<(u32, DemandKind)> = HashSet::new();
    for (of, thing) in facts.host.things_that(|of| matches!(of, Entity::Queue { .. })) {
        let Entity::Queue { pid, name } = of else { continue };
        let Some((kind, of)) = name.split_once(' ') else { continue };
        let Some(kind) = DemandKind::of_word(kind).filter(|kind| kind.is_sampled()) else { continue };
        let reading = |metric: Metric| thing.current_reading(metric);
        let (Some(samples), Some(waited), Some(most)) =
            (reading(Metric::QueueSamples), reading(Metric::QueueWaited), reading(Metric::QueueMost))
        else {
            continue;
        };
        if !is_active(facts, *pid) {
            continue;
        }
        known.insert((*pid, kind));
        let count = |value: f64| value.max(0.0) as u64;
        let samples = count(samples.sum());
        queues.push(DemandQueue {
            kind,
            of: of.to_string(),
            pid: Some(*pid),
            most: count(most.max),
            waited: count(waited.sum()).min(samples),
            samples,
        });
    }
    for (of, thing) in facts.host.things_that(|of| matches!(of, Entity::Listener(_))) {
        let Some(pid) = owner(facts, thing) else { continue };
        for (metric, kind) in OF_LISTENERS {
            // The recorder looks more often, and knows what is stale: of whose listeners it tells, it has looked at the connections.
            let asked = if kind == DemandKind::UnreadBytes { DemandKind::AcceptQueue } else { kind };
            if known.contains(&(pid, kind)) || known.contains(&(pid, asked)) {
                continue;
            }
            let Some(reading) = thing.current_reading(metric) else { continue };
            queues.push(DemandQueue {
                kind,
                of: of.name().to_string(),
                pid: Some(pid),
                most: reading.max.max(0.0) as u64,
                waited: reading.above_zero,
                samples: reading.tables,
            });
        }
    }
    queues
}

/// The recorded process that has the socket open.
fn owner(facts: &Facts, thing: &Thing) -> Option<u32> {
    thing.told(Trait::Owner)?.parse().ok().filter(|pid| is_active(facts, *pid))
}

/// True for a process that was seen to call or to run.
fn is_active(facts: &Facts, pid: u32) -> bool {
    let threads = &facts.world.threads;
    let process = threads.last_process(pid);
    process.is_some_and(|process| {
        threads.iter().any(|(_, thread)| thread.process == process && thread.is_active())
    })
}

/// When recorded threads of other processes waited for each process: for the answer to what they had asked, or for room.
fn callers(facts: &Facts) -> HashMap<ProcessId, Moments> {
    let mut callers: HashMap<ProcessId, Moments> = HashMap::new();
    for call in facts.graph.calls().filter(|call| waits_for_other(facts, call)) {
        let ender = call.waker.and_then(|waker| facts.world.threads.thread_of(waker.tid));
        if let Some(process) = ender.map(|ender| ender.process).filter(|process| *process != call.process) {
            callers.entry(process).or_default().add(call.from, call.to);
        }
    }
    callers
}

/// True for a wait that nobody makes who has nothing to ask: who waits for what others may send is idle.
fn waits_for_other(facts: &Facts, call: &LongCall) -> bool {
    let is_answer =
        call.asked != NameId::NONE && facts.accounts.objects.get(call.object).kind == ObjectKind::Peer;
    call.waits.is_some() && (is_answer || call.is_never_idle())
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyslow_model::{Call, Event, FigureRow, FigureTable, Nanos, Over, Ret, Sink, SourceId, Timestamp};

    const SECOND: u64 = 1_000_000_000;

    fn call(facts: &mut Facts, pid: u32, (name, args): (&str, &str), from_ms: u64, ms: u64, ret: i64) {
        let mut call = Call::new(name, args);
        (call.tid, call.pid) = (pid, Some(pid));
        (call.ts, call.dur) = (Timestamp::new(SECOND + from_ms * 1_000_000), Nanos::from_millis(ms));
        call.ret = Ret::Value(ret);
        facts.push(Event::Call(&call));
    }

    fn figures(facts: &mut Facts, row: FigureRow, second: u64) {
        let mut table = FigureTable::new(SourceId::default(), "queues");
        table.at = Timestamp::new(second * SECOND);
        table.over = Over::Interval(Nanos::from_secs(1));
        table.rows.push(row);
        facts.push(Event::Figures(Box::new(table)));
    }

    fn queue(facts: &mut Facts, name: &str, second: u64, (samples, waited, most): (u64, u64, u64)) {
        let mut row = FigureRow::new(Entity::Queue { pid: 7, name: name.into() });
        row.set(Metric::QueueSamples, samples as f64);
        row.set(Metric::QueueWaited, waited as f64);
        row.set(Metric::QueueMost, most as f64);
        figures(facts, row, second);
    }

    /// What the account says of demand, and each queue: `waited of samples`.
    fn told(facts: &mut Facts) -> (Option<String>, Vec<(DemandKind, u64, u64)>) {
        facts.finish();
        let demand = demand(facts);
        let queues = demand.queues.iter().map(|queue| (queue.kind, queue.waited, queue.samples)).collect();
        (demand.words(), queues)
    }

    #[test]
    fn samples_of_the_recorder_are_added_up_and_come_before_those_of_the_host() {
        let mut facts = Facts::default();
        call(&mut facts, 7, ("read", "0, \"x\"..., 64"), 0, 1, 64);
        queue(&mut facts, "accept_queue 127.0.0.1:80", 2, (4, 3, 9));
        queue(&mut facts, "accept_queue 127.0.0.1:80", 3, (4, 4, 340));
        queue(&mut facts, "pipe_bytes the standard input", 3, (4, 0, 0));
        queue(&mut facts, "of a later version", 3, (4, 4, 1));
        let mut listener = FigureRow::new(Entity::Listener("127.0.0.1:80".into()));
        listener.set(Metric::Backlog, 2.0);
        listener.set(Metric::ReceiveQueue, 35.0);
        listener.say(Trait::Owner, "7");
        figures(&mut facts, listener, 3);
        let (words, queues) = told(&mut facts);
        use DemandKind::{AcceptQueue, PipeBytes};
        assert_eq!(queues, [(AcceptQueue, 7, 8), (PipeBytes, 0, 4)]);
        let expected = "up to 340 connections waited in the accept queue of 127.0.0.1:80 (7 of 8 samples)";
        assert_eq!(words.as_deref(), Some(expected));
    }

    #[test]
    fn queues_of_who_was_not_seen_to_do_anything_are_nobodys() {
        let mut facts = Facts::default();
        call(&mut facts, 8, ("getpid", ""), 0, 1, 8);
        queue(&mut facts, "accept_queue 127.0.0.1:80", 2, (4, 4, 9));
        assert_eq!(told(&mut facts), (None, Vec::new()));
    }

    /// A server that has one request open from 100 to 900 ms of each second.
    fn serves(seconds: u64) -> Facts {
        let mut facts = Facts::default();
        let accept = r#"3, {sa_family=AF_INET, sin_port=htons(40000), sin_addr=inet_addr("10.0.0.9")}, [16]"#;
        call(&mut facts, 7, ("accept", accept), 0, 0, 4);
        for at in (0..seconds).map(|second| second * 1_000) {
            call(&mut facts, 7, ("read", r#"4, "GET /a HTTP/1.1\r\nHost: x\r\n\r\n", 4096"#), at, 100, 30);
            let answer = r#"4, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 38"#;
            call(&mut facts, 7, ("write", answer), at + 900, 0, 38);
        }
        facts
    }

    #[test]
    fn open_requests_are_demand_and_their_absence_alone_is_unknown() {
        let (words, queues) = told(&mut serves(4));
        // At 250, 500 and 750 ms of each second.
        assert_eq!(queues.len(), 1);
        assert_eq!((queues[0].0, queues[0].1), (DemandKind::OpenRequests, 12));
        assert!(words.unwrap().starts_with("up to 1 request of "));
        let mut idle = Facts::default();
        call(&mut idle, 7, ("getpid", ""), 0, 1, 7);
        assert_eq!(told(&mut idle).0, None);
        let mut sampled = serves(0);
        queue(&mut sampled, "accept_queue 127.0.0.1:80", 2, (4, 0, 0));
        assert_eq!(told(&mut sampled).0.as_deref(), Some("no work waited in its queues: sampled 4 times"));
    }

    #[test]
    fn who_waits_for_room_in_a_pipe_waits_for_its_reader() {
        let mut facts = Facts::default();
        for at in (0..4).map(|second| second * 1_000) {
            call(&mut facts, 7, ("read", r#"0<pipe:[55]>, "x"..., 65536"#), at + 895, 0, 65_536);
            call(&mut facts, 8, ("write", r#"1<pipe:[55]>, "x"..., 65536"#), at + 100, 800, 65_536);
            call(&mut facts, 7, ("nanosleep", "{tv_sec=0, tv_nsec=900000000}, NULL"), at + 910, 80, 0);
        }
        let (words, queues) = told(&mut facts);
        assert_eq!(
            queues.iter().map(|queue| (queue.0, queue.1)).collect::<Vec<_>>(),
            [(DemandKind::Callers, 12)]
        );
        assert!(words.unwrap().starts_with("up to 1 recorded thread waited for "));
    }

    #[test]
    fn who_waits_for_what_others_may_send_waits_for_nobody() {
        let mut facts = Facts::default();
        for at in (0..4).map(|second| second * 1_000) {
            call(&mut facts, 7, ("write", r#"1<pipe:[55]>, "x"..., 64"#), at + 895, 0, 64);
            call(&mut facts, 8, ("read", r#"0<pipe:[55]>, "x"..., 64"#), at + 100, 800, 64);
        }
        assert_eq!(told(&mut facts), (None, Vec::new()));
    }
}
