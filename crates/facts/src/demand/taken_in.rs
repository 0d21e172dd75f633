//! Callers that were taken into the recording because they were seen to wait for the target: when and how long they waited.

use super::waits_for_other;
use crate::folds::account::ObjectKind;
use crate::folds::graph::LongCall;
use crate::moments::Moments;
use crate::{Facts, ProcessId};
use hashbrown::HashMap;
use std::net::SocketAddr;
use whyslow_model::{DemandCaller, Followed, Nanos, Timestamp, Via};

/// How long a caller waited; what it adds to when the process that it waits for was waited for. `None` where it was not seen to wait.
pub(super) fn caller(
    facts: &Facts,
    apart: &Facts,
    row: &Followed,
    callers: &mut HashMap<ProcessId, Moments>,
) -> Option<DemandCaller> {
    let process = apart.world.threads.last_process(row.pid)?;
    let mut waits: Vec<(u64, u64)> = Vec::new();
    for call in apart.graph.calls().filter(|call| call.process == process) {
        let (from, to) = (call.from.max(row.ts), call.to);
        if is_for_target(facts, apart, row, call)
            && let (Some(from), Some(to)) = (from.get(), to.get())
            && from < to
        {
            waits.push((from, to));
        }
    }
    let longest = waits.iter().map(|(from, to)| to - from).max()?;
    if let Some(target) = facts.world.threads.last_process(row.waiter) {
        let moments = callers.entry(target).or_default();
        waits.iter().for_each(|(from, to)| moments.add(Timestamp::new(*from), Timestamp::new(*to)));
    }
    let known = apart.world.threads.known_process(process);
    let until = waits.iter().map(|(_, to)| *to).max().unwrap_or(0).max(facts.window.end.or_zero());
    Some(DemandCaller {
        pid: row.pid,
        name: known.and_then(|known| known.name()).unwrap_or(&row.comm).to_string(),
        of: row.waiter,
        at: row.via.to_string(),
        waits: waits.len() as u64,
        waited_ns: Nanos::new(together(waits)),
        seen_ns: Timestamp::new(until).since(row.ts),
        longest_ns: Nanos::new(longest),
    })
}

/// True for a wait for an answer, for room or for a lock, which a thread of the target ended or which was where the recorder saw it wait.
/// Of a TCP connection the recorder saw that an answer was outstanding, whatever its bytes say.
fn is_for_target(facts: &Facts, apart: &Facts, row: &Followed, call: &LongCall) -> bool {
    let object = apart.accounts.objects.get(call.object);
    let is_there = is_at(object.name(), row.via.place().filter(|place| is_named(place)).unwrap_or_default());
    let by_tcp = row.via.place().is_some_and(|place| place.parse::<SocketAddr>().is_ok());
    if by_tcp && is_there && call.waits.is_some() && object.kind == ObjectKind::Peer {
        return true;
    }
    let ended_by = |tid| facts.world.threads.thread_of(tid).is_some();
    let is_its = is_there || call.waker.is_some_and(|waker| ended_by(waker.tid));
    let is_unnamed_pipe = row.via == Via::Pipe && object.kind == ObjectKind::Pipe;
    waits_for_other(apart, call) && (is_its || is_unnamed_pipe)
}

/// True for a path or an address: other words name no place.
fn is_named(place: &str) -> bool {
    place.starts_with(['/', '@']) || place.parse::<SocketAddr>().is_ok()
}

/// True where a name has that place as a part that no digit continues.
fn is_at(name: &str, place: &str) -> bool {
    let is_whole = |at: usize| {
        let (before, behind) = (&name[..at], &name[at + place.len()..]);
        let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
        !is_digit(before.chars().next_back()) && !is_digit(behind.chars().next())
    };
    !place.is_empty() && name.match_indices(place).any(|(at, _)| is_whole(at))
}

/// How long at least one of these lasted, ns.
fn together(mut waits: Vec<(u64, u64)>) -> u64 {
    waits.sort_unstable();
    let (mut sum, mut end) = (0u64, 0u64);
    for (from, to) in waits {
        sum = sum.saturating_add(to.saturating_sub(from.max(end)));
        end = end.max(to);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demand::demand;
    use whyslow_model::{Call, DemandKind, Event, Ret, Sink};

    const SECOND: u64 = 1_000_000_000;

    fn call(facts: &mut Facts, pid: u32, (name, args): (&str, &str), (from_ms, ms): (u64, u64)) {
        let mut call = Call::new(name, args);
        (call.tid, call.pid, call.ret) = (pid, Some(pid), Ret::Value(1));
        (call.ts, call.dur) = (Timestamp::new(SECOND + from_ms * 1_000_000), Nanos::from_millis(ms));
        facts.push(Event::Call(&call));
    }

    /// A target, 7, for which process 8 was seen to wait at `via`, from one second on.
    fn with_caller(via: &str) -> Facts {
        let mut facts = Facts::of_target();
        call(&mut facts, 7, ("getpid", ""), (0, 0));
        facts.push(Event::Followed(Box::new(Followed {
            ts: Timestamp::new(2 * SECOND),
            pid: 8,
            comm: "client".into(),
            waiter: 7,
            via: Via::of_words(via),
            share: 0.9,
            hop: 0,
        })));
        facts
    }

    fn told(mut facts: Facts) -> Vec<(String, u64, u64)> {
        call(&mut facts, 7, ("getpid", ""), (5_000, 0));
        facts.finish();
        let demand = demand(&facts);
        let queues = demand.queues.iter().filter(|queue| queue.kind == DemandKind::Callers);
        let waited: u64 = queues.map(|queue| queue.waited).sum();
        let callers = demand.callers.iter();
        callers.map(|one| (one.words(), one.waits, waited)).collect()
    }

    #[test]
    fn a_caller_by_tcp_is_told_with_how_long_it_waited_whatever_it_asked() {
        let mut facts = with_caller("127.0.0.1:7491");
        for at in (0..4).map(|at| at * 1_000) {
            let receive = r#"3<TCP:[127.0.0.1:40000->127.0.0.1:7491]>, "x", 64, 0, NULL, NULL"#;
            call(&mut facts, 8, ("recvfrom", receive), (1_100 + at, 800));
            // Another server with the same first digits.
            let receive = r#"4<TCP:[127.0.0.1:40002->127.0.0.1:74915]>, "x", 64, 0, NULL, NULL"#;
            call(&mut facts, 8, ("recvfrom", receive), (1_910 + at, 80));
        }
        let expected =
            "client (8) waited 3.20 s of 4.00 s for it at 127.0.0.1:7491 (4 waits, longest 800 ms)";
        assert_eq!(told(facts), [(expected.to_string(), 4, 12)]);
    }

    #[test]
    fn who_only_listens_at_a_unix_socket_is_no_caller() {
        let mut facts = with_caller("/run/feed.sock");
        let receive = r#"3<UNIX-STREAM:[12->13,"/run/feed.sock"]>, "x", 64, 0, NULL, NULL"#;
        call(&mut facts, 8, ("recvfrom", receive), (1_100, 800));
        assert_eq!(told(facts), []);
    }

    #[test]
    fn a_writer_waits_for_room_in_the_pipe_where_it_was_seen_to() {
        let mut facts = with_caller("a pipe");
        call(&mut facts, 8, ("write", r#"1<pipe:[55]>, "x"..., 65536"#), (1_100, 900));
        call(&mut facts, 8, ("read", r#"0<pipe:[56]>, "x"..., 65536"#), (2_100, 900));
        let expected = "client (8) waited 900 ms of 4.00 s for it at a pipe (1 wait, longest 900 ms)";
        assert_eq!(told(facts), [(expected.to_string(), 1, 3)]);
    }

    #[test]
    fn waits_at_the_same_time_count_once() {
        assert_eq!(together(vec![(0, 10), (5, 12), (6, 7), (20, 21)]), 13);
    }
}
