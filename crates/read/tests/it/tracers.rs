//! Texts of bcc, bpftrace and perf-tools: each is known by its shape and says what was made of it. And texts of something else,
//! which are taken for none.

use crate::common::{bytes, own};
use whyslow_model::{Event, NoteKind};
use whyslow_read::{Input, ReadOptions, read};

/// What was made of each capture, in the words of its note.
const MADE: &[(&str, &str)] = &[
    ("bcc/argdist-counts.txt", "argdist: 2 values with their counts, which no rule judges"),
    (
        "bcc/argdist-histogram.txt",
        "histogram: 1 histogram of something other than time, which no rule judges",
    ),
    ("bcc/biolatency-json.txt", "histogram: 1 histogram of time"),
    ("bcc/biosnoop.txt", "biosnoop: "),
    ("bcc/bitesize.txt", "bitesize: 1 histogram of something other than time, which no rule judges"),
    ("bcc/compactsnoop.txt", "compactsnoop: 2 lines counted as `memory compaction` by process"),
    ("bcc/dbstat.txt", "dbstat: 1 histogram of time"),
    ("bcc/deadlock.txt", "deadlock: 1 line of locks that are taken in different orders"),
    ("bcc/filetop.txt", "filetop: "),
    ("bcc/funcgraph.txt", "funcgraph: 4 calls counted by function, each with what it calls in its time"),
    ("bcc/functrace.txt", "ftrace: 3 events counted by name and thread"),
    (
        "bcc/klockstat.txt",
        "klockstat: 2 callers with what they waited for locks; klockstat: 1 caller with what they held locks",
    ),
    ("bcc/opensnoop.txt", "opensnoop: "),
    ("bcc/pidpersec.txt", "pidpersec: 2 rates of new processes"),
    ("bcc/runqlat.txt", "runqlat: "),
    ("bcc/runqlen.txt", "runqlen: 1 histogram of something other than time, which no rule judges"),
    (
        "bcc/slabratetop.txt",
        "slabratetop: 2 lines of allocations of the kernel by cache, which no rule judges",
    ),
    ("bcc/tcpdrop.txt", "tcpdrop: 1 line counted as `dropped TCP segment` by process"),
    ("bcc/tpoint.txt", "ftrace: 2 events counted by name and thread"),
    ("bcc/ucalls.txt", "ucalls: 2 rows with counts"),
    ("bcc/ugc.txt", "ugc: 2 lines counted as `garbage collection` by process"),
    ("bcc/unknown-tool.txt", "table of a tracer: 2 lines of events by process, which no rule judges"),
    ("bcc/ustat.txt", "ustat: 1 line of events of runtimes by process, which no rule judges"),
    (
        "bcc/wakeup-map.txt",
        "bpftrace: 2 rows counted by call, program or process; bpftrace: 2 rows of maps by another key, which no rule judges",
    ),
    ("traced-stacks/biostacks.txt", "stacks of bcc or bpftrace: 1 stacks, each with its events"),
    (
        "traced-stacks/criticalstat.txt",
        "stacks of bcc or bpftrace: 1 stacks, each with its critical section (nanoseconds)",
    ),
    (
        "traced-stacks/memleak.txt",
        "stacks of bcc or bpftrace: 1 stacks, each with its inuse_objects and inuse_space (bytes)",
    ),
    ("traced-stacks/offcputime.txt", "stacks of bcc or bpftrace: "),
    ("traced-stacks/stackcount.txt", "stacks of bcc or bpftrace: 1 stacks, each with its events"),
    (
        "traced-stacks/wakeuptime.txt",
        "stacks of bcc or bpftrace: 1 stacks, each with its blocked (microseconds)",
    ),
];

fn made(input: Input) -> Option<String> {
    let mut said = Vec::new();
    let mut sink = |event: Event<'_>| match event {
        Event::Note(note) if note.kind == NoteKind::Read => said.push(note.text),
        _ => {}
    };
    read(&[input], &ReadOptions { threads: 1 }, &(), &mut sink).ok()?;
    Some(said.join("\n"))
}

#[test]
fn each_says_what_was_made_of_it() {
    for (file, wanted) in MADE {
        let said = made(Input::File(own().join(file)));
        let said = said.unwrap_or_else(|| panic!("{file} is not read"));
        assert!(said.contains(&format!(": read as {wanted}")), "{file}: {said}");
    }
}

/// Texts that have something in common with a tool's, and are none.
const OTHERS: &[&str] = &[
    "NAME                        READY   STATUS    RESTARTS   AGE\napi-5d4f8c7b9d-2xk7p        1/1     Running   0          3d\n",
    "CONTAINER ID   IMAGE   COMMAND   CREATED   STATUS   PORTS   NAMES\n4c01db0b339c   redis   bash   17 s   Up 16 s   6379/tcp   cache\n",
    "NAME                     CPU(cores)   MEMORY(bytes)\nworker-6c9f5d8b7-hjk2s   250m         512Mi\n",
    "  UNIT            LOAD   ACTIVE SUB     DESCRIPTION\n  cron.service    loaded active running Regular background program\n",
    "PID    OWNER   SINCE\n1201   anna    Monday\n",
    "NAME   COUNT\napples 12\npears  7\n",
    "TIME     PID    COMM\n08:12:03 room4  lunch break\n",
    "JOBID  USER   ST  TIME   NODES  NODELIST(REASON)\n1203   anna   R   1:02   4      n[1-4]\n",
    "TIMESTAMP,CPU0,CPU1,NOTE\n1700000000,0.5,0.7,ok\n",
    "date,region,count,bytes,total\n2026-01-01,north,12,4096,99.5\n",
    "| TASK | COUNT | TIME |\n|---|---|---|\n| lint | 3 | 12 |\n",
    "Menu\n    soup\n    bread\n    cheese\n        12\n",
    "backup finished\n  80 bytes in 5 files from disk sda\n",
    "grades\n  0 ->  9 : 3  ***\n 10 -> 19 : 7  *******\n",
    "age of visitors : count\n0-9     : 12\n",
    "@width: 10;\n@ratio: 2\n.box[data-x]: 3\n",
    "operation = read\ndisk = sda\npid = 77\n",
    "[server]\npid = 12\ncomm = web\n",
    "1) e4 e5\n2) Nf3 Nc6\n3) Bb5 a6 |  ruy();\n",
    " 0)   1.5 us  of rope\n 1)   3.0 us  of tape\n",
    "main() {\n  load() {\n    read();\n  }\n}\n",
    "anna-12 [001] wrote 3.5: fine\nbert-7 [002] wrote 4.5: good\n",
    "The Mutex M0 is acquired here while holding Mutex M1. This may lead to a deadlock.\n@ noon we met\n",
    "I ran ./opensnoop. Tracing do_nanosleep... Hit Ctrl-C to end. TIME(s) and PID were empty, COUNT too.\n",
    "y =  1\nx = 21\nlen(y) = 41\ny = OKAY!\nlen(z) = 17\nz = Aloha\n\nz = done\n",
    "/* quota */\nprogram RQUOTA {\n  version V {\n    int GET(args) = 1;\n    int SET(args) = 2;\n  } = 1;\n} = 100011;\nstruct a {\n  int b;\n};\n",
    "CPU(s):                                  2\nOn-line CPU(s) list:                     0,1\nVulnerability Spectre v2: Mitigation; Retpolines; STIBP disabled; RSB filling; PBRSB 4; BHI 512\n",
    "local;catalog.xml;/usr/share/xml/foo/catalog.xml\nsystem;http://www.foo.org/foo.dtd;/usr/share/xml/foo/catalog.xml\n",
    "8\n",
    "P4\n16 16\n\u{7f}\u{7f}\n",
    "#0  0x00007ffff7ecf08d in read () from /lib/libc.so.6\n#1  0x0000555555555193 in load (fd=3) at load.c:12\n",
    "Call Trace:\n <TASK>\n dump_stack_lvl+0x44/0x5c\n panic+0x118/0x2ed\n </TASK>\n",
    "Running 30s test @ http://127.0.0.1:8080/\n  2 threads and 10 connections\n  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency   635.91us    0.89ms  12.92ms   93.69%\n",
    "BenchmarkSort-8      \t   50000\t     31245 ns/op\t    8192 B/op\nPASS\n",
    "Traceback (most recent call last):\n  File \"/srv/app/main.py\", line 31, in <module>\n    main()\n",
];

#[test]
fn texts_of_something_else_are_taken_for_none() {
    for text in OTHERS {
        assert_eq!(made(bytes("notes.txt", text.as_bytes())), None, "{text}");
    }
}
