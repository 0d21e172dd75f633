//! The source articles' captures, diagnosed whole: what the report says, as people read it, and single conclusions of the
//! articles with their corrections. To accept a change: `INSTA_UPDATE=always cargo test -p whyslow --test it seeds`.

use crate::captures::OWN;
use insta::assert_snapshot;
use std::path::Path;
use std::process::Command;

/// The report on an article's captures, and on more made up here: on a screen, and in full.
fn report(article: &str, files: &[&str], more: &[(&str, &str)]) -> (String, String) {
    (written(article, files, more, &[]), written(article, files, more, &["--verbose"]))
}

fn written(article: &str, files: &[&str], more: &[(&str, &str)], options: &[&str]) -> String {
    let folder = Path::new(OWN).join("seeds");
    let place = tempfile::tempdir().expect("a folder for what is made up");
    let place = place.path();
    let mut command = Command::new(env!("CARGO_BIN_EXE_whyslow"));
    command.arg("diagnose").args(options);
    // Names without folders, so that reports do not depend on where they lie.
    command.current_dir(place);
    for file in files {
        std::fs::copy(folder.join(article).join(file), place.join(file)).expect("a capture");
        command.arg(file);
    }
    for (name, text) in more {
        std::fs::write(place.join(name), text).expect("a capture");
        command.arg(name);
    }
    let output = command.env_remove("COLUMNS").env("NO_COLOR", "1").output().expect("the binary runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Asserts that the report says it, however its lines are broken.
#[track_caller]
fn says(report: &str, expected: &[&str]) {
    let flat = report.split_whitespace().collect::<Vec<_>>().join(" ");
    for text in expected {
        assert!(flat.contains(text), "`{text}` is not in:\n{report}");
    }
}

#[test]
fn neither_cpu_nor_disk_is_full_and_the_program_asks_for_its_time_zone() {
    let files = ["top.txt", "iostat-x.txt", "strace-c.before.txt", "strace-T.stat.txt"];
    let (text, full) = report("000", &files, &[]);
    says(
        &full,
        &[
            "it is state D (waits that no signal ends, most often for a disk), not CPU",
            "CPU: 30.7 % idle",
            "disk dm-2: 61.7 % busy",
            "Look inside the traced process: 89.1 % of its system time is stat",
            "89.1 % of its system time is stat",
            "/etc/localtime is checked by each call shown, and 200,135 stat were counted: 99.65 % of calls, 382.7 per write, 40,027 per rename",
            "export TZ=:/etc/localtime",
            "disk dm-2 gets 200.0 MB/s in small writes: 48,829 per second of 4.1 kB each",
            "1.1 GB of swap is used, which says nothing without its traffic",
        ],
    );
    // dm-3's service time of 741 ms is a figure of nothing.
    assert!(!text.contains("741"), "{text}");
    assert_snapshot!("000", text);
}

/// The module's table, for one second, as the article's text gives it; 3 % of 96 CPUs are its system time.
const MODULE: &str = "\
Tracing syscalls for 1 seconds
NR  SYSCALL  COUNT  TIME(ns)  MIN(ns)  MAX(ns)
23  select   2046   41023456789  812  1000123456
6   lstat    124724 338769324    1432 18231
";
const SYSTEM: &str = "\
Linux 4.19.24 (host)  03/20/2019  _x86_64_  (96 CPU)

02:58:50 PM  CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle
02:58:51 PM  all   20.00    0.00    3.00    0.00    0.00    0.00    0.00    0.00    0.00   77.00
";
/// The article's own figure of the system time, 3.456 s of 96 CPUs, as sar would show it.
const CLAIM: &str = "\
Linux 4.19.24 (host)  03/20/2019  _x86_64_  (96 CPU)

02:58:50 PM     CPU     %user     %nice   %system   %iowait    %steal     %idle
02:58:51 PM     all     20.00      0.00      3.60      0.00      0.00     76.40
";

#[test]
fn an_agent_asks_for_one_path_all_the_time() {
    let files = ["perf-stat.txt", "syscount.txt", "vfscount.txt", "trace-vfs_fstatat.txt"];
    let made = [("ebcc.txt", MODULE), ("mpstat.txt", SYSTEM), ("sar.txt", CLAIM)];
    let (text, full) = report("002", &files, &made);
    says(&text, &["26 of 26 calls that were shown"]);
    says(
        &full,
        &[
            "Look inside logagent (91885): of the calls told by process most are its vfs_fstatat, all 26 by thread 121566, all 26 on /home/admin/",
            "2.72 us each: the number costs, not the single call",
            "9.8 % apart",
            "sources disagree",
            "3.0 % x 96 CPUs = 2.88 s per second, of which 339 ms in lstat are 11.8 %",
            "3.6 % x 96 CPUs = 3.46 s per second, of which 339 ms in lstat are 9.8 %",
            "Without lstat the kernel's time falls by",
        ],
    );
    assert_snapshot!("002", text);
}

#[test]
fn a_directory_of_four_pastes_names_the_storm_though_no_call_is_timed() {
    let folder = Path::new(OWN).join("seeds");
    let mut command = Command::new(env!("CARGO_BIN_EXE_whyslow"));
    command.args(["diagnose", "002"]).current_dir(folder).env_remove("COLUMNS").env("NO_COLOR", "1");
    let output = command.output().expect("the binary runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    says(
        &text,
        &[
            "logagent (91885), thread 121566, asks about /home/admin/",
            "again and again: 26 of 26 calls that were shown; 112,456 lstat per second on the whole host (perf stat)",
            "1,055,146 vfs_fstatat by vfscount, 1,052,795 lstat by syscount and 449,931 lstat in 4.00 s, 112,456 per second by perf stat",
            "002/trace-vfs_fstatat.txt: read as trace: 26 lines counted by call and process",
        ],
    );
    // No time is told, so none is made up.
    assert!(!text.contains(" us each"), "{text}");
}

/// What `strace -p` without `-f` shows of the server's main thread.
const MAIN_THREAD: &str = "\
stat(\"/usr/local/lib/python3.7/importlib/_bootstrap.py\", {st_mode=S_IFREG|0644, st_size=39278, ...}) = 0
stat(\"/usr/local/lib/python3.7/importlib/_bootstrap.py\", {st_mode=S_IFREG|0644, st_size=39278, ...}) = 0
select(0, NULL, NULL, NULL, {tv_sec=0, tv_usec=567000}) = 0 (Timeout)
stat(\"/app.py\", {st_mode=S_IFREG|0644, st_size=2158, ...}) = 0
getpid() = 12280
stat(\"/app.py\", {st_mode=S_IFREG|0644, st_size=2158, ...}) = 0
select(0, NULL, NULL, NULL, {tv_sec=0, tv_usec=567000}) = 0 (Timeout)
";

#[test]
fn a_server_writes_temporary_files_and_the_trace_does_not_see_it() {
    let files = [
        "top.txt",
        "iostat-d-x.txt",
        "pidstat-d.txt",
        "ps-aux.txt",
        "ps-efT.txt",
        "filetop.txt",
        "opensnoop.txt",
    ];
    let (text, full) = report("003", &files, &[]);
    says(
        &full,
        &[
            "Host disk sda is saturated: 98.4 % busy, 18.1 s per request, 241.9 queued; app.py (12280) writes 343.8 MB/s",
            "app.py (12280) writes 343.8 MB/s by pidstat -d, and sda writes 33.7 MB/s by iostat -x: the rest waits in memory",
            "iowait 60.5 %",
            "/tmp/{uuid}/{n}.txt: python writes temporary files",
            "app.py (514)",
        ],
    );
    assert_snapshot!("003", text);
    let (_, full) = report("003", &files, &[("main-thread.st", &MAIN_THREAD.repeat(20))]);
    says(
        &full,
        &[
            "the trace shows no write by app.py (12280), and pidstat -d says 343.8 MB/s: who writes was not traced",
            "strace -f",
        ],
    );
}
