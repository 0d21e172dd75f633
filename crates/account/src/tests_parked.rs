//! Where goroutines wait, in the rows of threads that none of them runs on.

use super::*;
use whyslow_model::{Call, Event, Nanos, Parked, ParkedFor, Ret, Sink, TimeState, Timestamp};

const MS: u64 = 1_000_000;

/// What a thread is told to do that waits in one call for half a second, and goroutines: for what, at which function, how many in ten counts.
fn told(call: (&str, &str), goroutines: &[(ParkedFor, &str, u64)]) -> (TimeState, String) {
    let mut facts = Facts::default();
    for at in 0..10 {
        let mut one = Call::new(call.0, call.1);
        (one.tid, one.pid) = (7, Some(7));
        (one.ts, one.dur, one.ret) = (Timestamp::new(1 + at * 51 * MS), Nanos::new(50 * MS), Ret::Value(0));
        facts.push(Event::Call(&one));
    }
    for (waits, function, goroutines) in goroutines {
        facts.push(Event::Parked(Box::new(Parked {
            pid: 7,
            waits: *waits,
            call: format!("{waits:?}"),
            function: function.to_string(),
            place: Some("/srv/stock.go:42".to_string()),
            goroutines: *goroutines,
            looks: 10,
        })));
    }
    facts.finish();
    let row = account(&facts).unwrap().rows.swap_remove(0);
    let by_line = account_by(&facts, By::Line).unwrap().rows.swap_remove(0);
    // Where the row has a place, the account by line has the same.
    if let Some(site) = row.site() {
        assert_eq!(by_line.function, Some(site));
        assert_eq!(by_line.known, whyslow_model::Known::InProportion);
    } else {
        assert_eq!(by_line.function, None);
    }
    (row.state, row.words())
}

const FUTEX: (&str, &str) = ("futex", "0x7f00, FUTEX_WAIT_PRIVATE, 0, NULL");

#[test]
fn a_futex_that_threads_wait_at_has_the_place_where_goroutines_wait() {
    use ParkedFor::{Accept, Group, Io, Lock, Receive};
    let of_group = (Group, "main.main", 10);
    let (state, words) = told(FUTEX, &[of_group, (Receive, "main.work", 80), (Lock, "main.reserve", 150)]);
    assert_eq!(state, TimeState::Lock);
    assert!(words.contains("while 15 goroutines wait in Lock at main.reserve (stock.go:42)"), "{words}");
    let (_, words) = told(FUTEX, &[of_group, (Receive, "main.work", 80)]);
    assert!(words.contains("while 8 goroutines wait in Receive at main.work"), "{words}");
    // Clients that ask nothing, a server that waits for them, and what was seen once.
    let idle = [(Accept, "main.main", 10), (Io, "main.serve", 200), (Lock, "main.reserve", 4)];
    let (_, words) = told(FUTEX, &idle);
    assert!(!words.contains("goroutine"), "{words}");
    assert!(!told(FUTEX, &[]).1.contains("goroutine"));
}

#[test]
fn a_sleep_has_the_place_that_sleeps() {
    let sleep = ("nanosleep", "{tv_sec=0, tv_nsec=50000000}");
    let (state, words) =
        told(sleep, &[(ParkedFor::Send, "main.send", 150), (ParkedFor::Sleep, "main.store", 9)]);
    assert_eq!(state, TimeState::Timer);
    assert!(words.contains("while 0.90 goroutines wait in Sleep at main.store"), "{words}");
}
