//! Page faults: 23 fresh pages touched, held against /proc/PID/task/TID/stat.

use super::{TIMES, only, record};

/// Faults without and with a read from disk (proc_pid_stat(5): minflt, majflt).
fn faults(tid: u32) -> (u64, u64) {
    let text = std::fs::read_to_string(format!("/proc/self/task/{tid}/stat")).unwrap();
    let behind = text.rsplit_once(')').unwrap().1;
    let fields: Vec<&str> = behind.split_ascii_whitespace().collect();
    (fields[7].parse().unwrap(), fields[9].parse().unwrap())
}

/// proc_pid_status(5): voluntary_ctxt_switches, nonvoluntary_ctxt_switches.
fn switches(tid: u32) -> (u64, u64) {
    let text = std::fs::read_to_string(format!("/proc/self/task/{tid}/status")).unwrap();
    let value = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim().parse().unwrap()
    };
    (value("voluntary_ctxt_switches:"), value("nonvoluntary_ctxt_switches:"))
}

fn touch_fresh_pages() {
    let page = rustix::param::page_size();
    // SAFETY: fresh memory of ours, written within its bounds and given back once.
    unsafe {
        let length = TIMES * page;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let memory =
            libc::mmap(std::ptr::null_mut(), length, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
        assert_ne!(memory, libc::MAP_FAILED);
        libc::madvise(memory, length, libc::MADV_NOHUGEPAGE);
        for number in 0..TIMES {
            memory.cast::<u8>().add(number * page).write_volatile(1);
        }
        libc::munmap(memory, length);
    }
}

#[test]
fn faults_and_switches_are_those_of_the_thread() {
    let options = only(|options| options.totals = true);
    let Some((seen, (), [before, after])) =
        record(options, touch_fresh_pages, |tid| (faults(tid), switches(tid)))
    else {
        return;
    };
    let of_ours: Vec<_> = seen.totals.iter().filter(|totals| totals.tid == seen.tid).collect();
    let [totals] = of_ours[..] else { panic!("one row: {of_ours:?}") };
    assert!(totals.page_faults.unwrap() >= TIMES as u64, "{totals:?}");
    let minor = after.0.0 - before.0.0;
    let major = after.0.1 - before.0.1;
    assert_eq!(totals.page_faults, Some(minor + major), "all of it stands in stat");
    assert_eq!(totals.major_faults, Some(major));
    assert_eq!(totals.voluntary_switches, Some(after.1.0 - before.1.0));
    assert_eq!(totals.involuntary_switches, Some(after.1.1 - before.1.1));
    seen.assert_whole("process_stats", seen.totals.len());
}
