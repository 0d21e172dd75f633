//! Who had the CPU: a thread that wants one 23 times, where another thread of this process and programs of their own always want it, one of
//! them in a thread with a name of its own.

use super::{TIMES, only, record};
use rustix::thread::{CpuSet, sched_setaffinity};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use whyslow_model::{HadCpu, Nanos};

/// Wanted each time, of a CPU that two others want, too.
const WORK: Duration = Duration::from_millis(20);

fn bind(pid: Option<u32>) {
    let mut first = CpuSet::new();
    first.set(0);
    let pid = pid.map(|pid| rustix::process::Pid::from_raw(pid as i32).unwrap());
    sched_setaffinity(pid, &first).unwrap();
}

#[test]
fn own_threads_and_others_are_told_with_no_more_than_was_waited() {
    let options = only(|options| options.sched = true);
    let over = Arc::new(AtomicBool::new(false));
    let is_over = over.clone();
    let own = std::thread::Builder::new().name("own-hog-7".to_string()).spawn(move || {
        bind(None);
        while !is_over.load(Ordering::Relaxed) {}
    });
    let own = own.unwrap();
    let mut other = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
    bind(Some(other.id()));
    let script = "import threading, time, ctypes\n\
                  def spin():\n ctypes.CDLL(None).prctl(15, b'a-thread', 0, 0, 0)\n while True: pass\n\
                  threading.Thread(target=spin, daemon=True).start()\ntime.sleep(1000)";
    // Its threads inherit the CPU.
    let mut threaded = Command::new("taskset").args(["-c", "0", "python3", "-c", script]).spawn().unwrap();
    let name = format!("/proc/{}/task", threaded.id());
    let until = Instant::now() + Duration::from_secs(30);
    while std::fs::read_dir(&name).map_or(0, Iterator::count) < 2 && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(10));
    }
    let work = || {
        bind(None);
        for _ in 0..TIMES {
            let end = Instant::now() + WORK;
            while Instant::now() < end {}
            std::thread::sleep(Duration::from_millis(1));
        }
    };
    let seen = record(options, work, |_| ());
    over.store(true, Ordering::Relaxed);
    other.kill().unwrap();
    other.wait().unwrap();
    threaded.kill().unwrap();
    threaded.wait().unwrap();
    own.join().unwrap();
    let Some((seen, (), _)) = seen else { return };
    let rows: Vec<_> = seen.meanwhile.iter().filter(|one| one.tid == seen.tid).collect();
    let sum = |is_meant: &dyn Fn(&str) -> bool, of: u32| -> u64 {
        let rows = rows.iter().filter(|one| {
            // This process is the recorder, too.
            matches!(one.had, HadCpu::Thread | HadCpu::Recorder)
                && one.runner == Some(of)
                && one.comm.as_deref().is_some_and(is_meant)
        });
        rows.map(|one| one.total.or_zero()).sum()
    };
    let own = sum(&|comm| comm == "own-hog-7", std::process::id());
    let others = sum(&|comm| comm == "sh", other.id());
    // Another process is told by its own name, whatever its threads are called.
    let by_thread = sum(&|comm| comm == "python3", threaded.id());
    assert!(own > 0 && others > 0 && by_thread > 0, "{rows:?}");
    let stretches = seen.stretches.iter().filter(|stretch| stretch.tid == seen.tid);
    let waited: u64 = stretches.map(|stretch| stretch.runnable.or_zero()).sum();
    let told: u64 = rows.iter().map(|one| one.total.or_zero()).sum();
    assert!(waited >= Nanos::from_millis(50).or_zero(), "others want its CPU all the time: {waited}");
    // Both are taken from the same two times.
    assert_eq!(told, waited, "{rows:?}");
    let loss = seen.losses.iter().find(|loss| loss.table == "meanwhile").expect("it has a row of losses");
    // Here it is as the kernel's side counts: in turns.
    assert_eq!((loss.lost, loss.produced), (0, rows.iter().map(|one| one.turns).sum()));
}
