//! Diagnoses, tables and comparisons built by hand, and a helper that renders them.

#![allow(dead_code, unreachable_pub, reason = "each test binary uses its part of the fixtures")]

use crate::filled;
use whyslow_model::account::Claim;
use whyslow_model::diagnosis::TargetProcess;
use whyslow_model::walk::{Amount, HostResource, State, Taker, Walk};
use whyslow_model::{
    AccountRow, Also, CaptureKind, CaptureNote, ChainLink, ClockKind, CpuRunner, Culprit, Diagnosis, Diff,
    Evidence, Finding, FindingCode, Followed, Hop, Known, Nanos, NotJudged, NoteKind, ParkedAt, ParkedFor,
    Saving, Severity, ShareOf, ShareWhole, SourceId, SourceInfo, Subject, Table, Target, ThreadTime,
    TimeAccount, TimeOf, TimeState, Timestamp, WaitShare,
};
use whyslow_report::{Exporter, Style};

pub fn style(width: usize) -> Style {
    Style { width, ..Style::default() }
}

pub fn diagnosis_text(exporter: &Exporter, diagnosis: &Diagnosis, style: &Style) -> String {
    let mut out = Vec::new();
    exporter.diagnosis(diagnosis, style, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

pub fn table_text(exporter: &Exporter, table: &Table, style: &Style) -> String {
    let mut out = Vec::new();
    exporter.table(table, style, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

pub fn diff_text(exporter: &Exporter, diff: &Diff, style: &Style) -> String {
    let mut out = Vec::new();
    exporter.diff(diff, style, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn line(source: &str, text: &str) -> Evidence {
    Evidence { source: source.into(), text: text.into() }
}

fn finding(id: &'static str, severity: Severity, title: &str) -> Finding {
    Finding {
        id,
        title: title.into(),
        severity,
        disagreement: false,
        confidence: Some(0.9),
        sure_at_most: 1.0,
        share: None,
        share_of: ShareOf::default(),
        share_whole: ShareWhole::Time,
        measurements: Vec::new(),
        follows_from: None,
        saving: Saving::default(),
        subject: Subject::default(),
        also: Vec::new(),
        at_most: Severity::Critical,
        cause: String::new(),
        fix: Vec::new(),
        chain: Vec::new(),
        culprit: None,
        code: None,
        evidence: Vec::new(),
        verify: String::new(),
    }
}

/// The time of a service that waits for Redis.
fn account() -> TimeAccount {
    let row = |state, call: Option<&str>, object: Option<&str>, ns: u64| AccountRow {
        threads: 4,
        pids: vec![21120],
        call: call.map(str::to_string),
        object: object.map(str::to_string),
        share: ns as f64 / 1_961_000_000.0,
        count: call.map(|_| 2),
        mean_ns: call.map_or(Nanos::UNKNOWN, |_| Nanos::new(ns / 2)),
        ..AccountRow::new("4 x worker of java (21120)".into(), state, ns)
    };
    let claimed = Claim { id: "slow-peer", ns: 1_779_000_000 };
    let rows = vec![
        AccountRow {
            claimed_by: vec![claimed],
            ..row(TimeState::Peer, Some("recvfrom"), Some("10.3.0.7:6379"), 1_780_000_000)
        },
        row(TimeState::User, None, None, 121_000_000),
        AccountRow {
            known: Known::AtLeast,
            ..row(TimeState::File, Some("fsync"), Some("/var/log/app.log"), 50_000_000)
        },
        row(TimeState::RunQueue, None, None, 10_000_000),
    ];
    TimeAccount {
        target: "21120 java".into(),
        of: TimeOf::Requests,
        count: 3,
        ns: 1_961_000_000,
        idle_ns: 0,
        unknown_ns: 0,
        claimed_ns: claimed.ns,
        requests: Vec::new(),
        demand: whyslow_model::Demand::default(),
        rows,
    }
}

/// A service that waits for Redis: one cause with a chain, one less sure, a notice, a remark on the capture.
pub fn slow_service() -> Diagnosis {
    let mut trace = SourceInfo::new(SourceId(0), "redis-epipe.st", CaptureKind::Strace);
    trace.clock = ClockKind::TimeOfDay;
    (trace.lines, trace.events, trace.rejects, trace.starts_not_seen) = (1_204, 1_200, 3, 1);
    let lsof = SourceInfo::new(SourceId(1), "redis-epipe.lsof", CaptureKind::Lsof);
    Diagnosis {
        schema: Diagnosis::SCHEMA,
        context: "2 causes more. Host CPU is saturated: 0.1 % idle.".into(),
        walk: None,
        account: Some(account()),
        verdict: "HMGET to Redis 10.3.0.7:6379 took 1.78 s, and the client had gone (1 more cause).".into(),
        target: Target {
            kind: "capture",
            processes: vec![TargetProcess { pid: Some(21_120), comm: Some("java".into()), threads: 214 }],
            start: Some("10:34:34.289915".into()),
            duration_ns: Nanos::new(1_961_000_000),
            events: 1_200,
            lost_events: 4,
            cost: None,
            followed: Vec::new(),
            sources: vec![trace, lsof],
            notes: vec![CaptureNote {
                kind: NoteKind::Reject,
                source: SourceId(0),
                line: Some(17),
                text: "expected `NAME(`, found `21124 10:34:3`: cut".into(),
                tid: None,
            }],
        },
        time: vec![
            ThreadTime {
                pid: Some(21_120),
                tid: 21_124,
                comm: Some("http-nio-8080-exec-7".into()),
                wall_ns: Nanos::new(1_961_000_000),
                on_cpu_ns: Nanos::UNKNOWN,
                runnable_ns: Nanos::UNKNOWN,
                throttled_ns: Nanos::UNKNOWN,
                blocked_ns: Nanos::new(1_779_099_000),
                working_ns: Nanos::new(1_100_000),
                between_calls_ns: Nanos::new(180_000_000),
                waits: vec![WaitShare { kind: "network", ns: Nanos::new(1_779_099_000) }],
            },
            ThreadTime {
                pid: Some(21_120),
                tid: 21_190,
                comm: None,
                wall_ns: Nanos::new(1_200_000_000),
                on_cpu_ns: Nanos::UNKNOWN,
                runnable_ns: Nanos::UNKNOWN,
                throttled_ns: Nanos::UNKNOWN,
                blocked_ns: Nanos::new(900_000_000),
                working_ns: Nanos::UNKNOWN,
                between_calls_ns: Nanos::UNKNOWN,
                waits: vec![
                    WaitShare { kind: "lock", ns: Nanos::new(800_000_000) },
                    WaitShare { kind: "timer", ns: Nanos::new(100_000_000) },
                ],
            },
        ],
        findings: vec![
            Finding {
                share: Some(0.907),
                share_of: "wall time of thread 21124".into(),
                saving: Saving { ns_per_s: Some(907_000_000), text: "1.78 s in a window of 1.96 s".into(), without: None },
                cause: "The thread sends HMGET and sleeps in poll until Redis answers. By then the client has \
                        closed its connection, so the answer ends in EPIPE."
                    .into(),
                chain: vec![
                    ChainLink {
                        who: "21120/21190 worker".into(),
                        waits_for: "futex 0x7f004c01e354, woken by 21124".into(),
                        ns: Nanos::new(1_700_000_000),
                        evidence: "redis-epipe.st:3".into(),
                    },
                    ChainLink {
                        who: "21120/21124 http-nio-8080-exec-7".into(),
                        waits_for: "Redis 10.3.0.7:6379 (HMGET)".into(),
                        ns: Nanos::new(1_779_099_000),
                        evidence: "redis-epipe.st:2,4".into(),
                    },
                ],
                evidence: vec![
                    line(
                        "redis-epipe.st:1",
                        r#"21124 10:34:34.289915 sendto(669, "*4\r\n$5\r\nHMGET\r\n$27\r\nrelation:series:1234:check\r\n", 89, 0, NULL, 0) = 89 <0.000051>"#,
                    ),
                    line(
                        "redis-epipe.st:2,4",
                        "21124 10:34:34.290015 poll([{fd=669, events=POLLIN|POLLERR}], 1, 2000 <unfinished ...>",
                    ),
                    line("redis-epipe.st:9", r#"21124 write(42, "GET / HTTP/1.1\r\nCookie: sid=hunter2\r\n\r\n", 36) = -1 EPIPE"#),
                ],
                fix: vec![
                    "find what holds Redis: `redis-cli -h 10.3.0.7 slowlog get 10`; a slow command blocks all others".into(),
                    "give this traffic a Redis of its own, and lower `hz`".into(),
                ],
                verify: "strace -f -ttT -e trace=network -p 21120   (HMGET answers in under 10 ms)".into(),
                ..finding("slow-peer", Severity::Critical, "HMGET to Redis 10.3.0.7:6379 took 1.78 s, and the client had gone")
            },
            Finding {
                share: Some(0.22),
                share_of: "calls".into(),
                confidence: Some(0.65),
                cause: "The same 512 bytes are read from /srv/app/lib/springfox-swagger-ui-2.9.2.jar again and again.".into(),
                fix: vec!["take the jar out of the class path, or unpack it:\n    unzip -d /srv/app/classes /srv/app/lib/springfox-swagger-ui-2.9.2.jar".into()],
                evidence: vec![line("redis-epipe.st:77", r#"read(5, "PK\3\4\n\0\0\10\0\0", 512) = 512 <0.000020>"#)],
                ..finding("archive-reread", Severity::Warning, "/srv/app/lib/springfox-swagger-ui-2.9.2.jar is read 264 times over")
            },
            Finding {
                cause: "The process runs as root.".into(),
                fix: vec!["systemd: User=app in the unit".into()],
                ..finding("runs-as-root", Severity::Notice, "pid 21120 runs as root")
            },
            Finding {
                cause: "Calls without a start were seen.".into(),
                fix: vec!["start strace before the load, or attach longer".into()],
                ..finding("mid-connection", Severity::Capture, "the capture begins in the middle of 3 connections")
            },
        ],
        not_judged: vec![
            NotJudged {
                id: "sleep-polling",
                missing: "single calls of every thread".into(),
                supply: "strace -f -ttT -y -s 256 -o trace.st -p PID".into(),
            },
            NotJudged {
                id: "close-wait-leak",
                missing: "what descriptors lead to".into(),
                supply: "lsof -nP -p PID > trace.lsof   (or strace with -yy)".into(),
            },
            NotJudged {
                id: "fd-exhaustion",
                missing: "what descriptors lead to".into(),
                supply: "lsof -nP -p PID > trace.lsof   (or strace with -yy)".into(),
            },
        ],
        remaining: Some("Largest remaining cost among working calls: read, 48.0 ms in 2,112 calls (61.0 % of their time).".into()),
    }
}

/// A healthy program in a capture without durations.
pub fn nothing_found() -> Diagnosis {
    Diagnosis {
        schema: Diagnosis::SCHEMA,
        context: String::new(),
        walk: None,
        account: None,
        verdict: "No cause of slowness among the system calls: 812 calls looked at.".into(),
        target: Target {
            kind: "capture",
            processes: vec![TargetProcess { pid: None, comm: None, threads: 1 }],
            start: None,
            duration_ns: Nanos::UNKNOWN,
            events: 812,
            lost_events: 0,
            cost: None,
            followed: Vec::new(),
            sources: vec![SourceInfo::new(SourceId(0), "-", CaptureKind::Strace)],
            notes: Vec::new(),
        },
        time: vec![ThreadTime {
            pid: None,
            tid: 0,
            comm: None,
            wall_ns: Nanos::UNKNOWN,
            on_cpu_ns: Nanos::UNKNOWN,
            runnable_ns: Nanos::UNKNOWN,
            throttled_ns: Nanos::UNKNOWN,
            blocked_ns: Nanos::UNKNOWN,
            working_ns: Nanos::UNKNOWN,
            between_calls_ns: Nanos::UNKNOWN,
            waits: Vec::new(),
        }],
        findings: Vec::new(),
        not_judged: Vec::new(),
        remaining: None,
    }
}

/// A diagnosis whose every text is `text`, and whose figures are `figure` and `share`.
pub fn filled_with(text: &str, figure: u64, share: f64) -> Diagnosis {
    let mut diagnosis = slow_service();
    let text = || text.to_string();
    let ns = Nanos::new(figure);
    diagnosis.verdict = text();
    diagnosis.context = text();
    diagnosis.remaining = Some(text());
    let row = AccountRow {
        who: text(),
        threads: figure,
        pids: vec![figure as u32],
        tid: None,
        state: TimeState::User,
        call: Some(text()),
        object: Some(text()),
        function: Some(text()),
        place: None,
        ns: figure,
        share,
        count: Some(figure),
        mean_ns: ns,
        p99_ns: ns,
        longest_ns: ns,
        known: Known::AtMost,
        goroutines: vec![ParkedAt {
            waits: ParkedFor::Lock,
            call: text(),
            function: text(),
            place: Some(text()),
            mean: figure as f64,
        }],
        device: filled::device(&text(), figure),
        works_on: filled::works_on(&text(), figure, share),
        meanwhile: vec![CpuRunner { who: text(), pid: None, is_own: false, ns: figure, share }],
        claimed_by: vec![Claim { id: "slow-downstream", ns: figure }],
        evidence: Some(line(&text(), &text())),
    };
    diagnosis.account = Some(TimeAccount {
        target: text(),
        of: TimeOf::Command,
        count: figure,
        ns: figure,
        idle_ns: figure,
        unknown_ns: figure,
        claimed_ns: figure,
        requests: filled::requests(&text(), figure, share),
        demand: crate::demands::full(text, figure),
        rows: vec![row],
    });
    let taker = Taker {
        pid: Some(figure as u32),
        tid: Some(0),
        comm: Some(text()),
        takes: vec![Amount { what: "task_user", value: share, text: text() }],
        waits: vec![Amount { what: "run_delay", value: share, text: text() }],
        victim_of: Some(text()),
        evidence: vec![line(&text(), &text())],
    };
    let resource = HostResource {
        name: text(),
        state: State::Unknown,
        reason: text(),
        evidence: vec![line(&text(), &text())],
        supply: text(),
    };
    diagnosis.walk = Some(Walk {
        resources: vec![HostResource { state: State::Saturated, ..resource.clone() }, resource],
        load: Some(text()),
        processes: vec![taker.clone()],
        threads: vec![taker.clone()],
        calls: vec![taker],
        saving: Some(text()),
        next: text(),
    });
    let target = &mut diagnosis.target;
    (target.start, target.duration_ns, target.events, target.lost_events) =
        (Some(text()), ns, figure, figure);
    for process in &mut target.processes {
        process.comm = Some(text());
        process.threads = figure as usize / 2;
    }
    target.followed = vec![Followed {
        ts: Timestamp::new(figure),
        pid: 7,
        comm: text(),
        waiter: 8,
        via: whyslow_model::Via::Peer(text()),
        share,
        hop: 1,
    }];
    for source in &mut target.sources {
        source.name = text();
        (source.rejects, source.lines, source.ends_not_seen) = (figure, figure, figure);
    }
    target.notes.iter_mut().for_each(|note| note.text = text());
    for time in &mut diagnosis.time {
        time.comm = Some(text());
        (time.wall_ns, time.on_cpu_ns, time.blocked_ns) = (ns, ns, ns);
        time.waits.iter_mut().for_each(|wait| wait.ns = ns);
    }
    for rule in &mut diagnosis.not_judged {
        (rule.missing, rule.supply) = (text(), text());
    }
    for finding in &mut diagnosis.findings {
        *finding = Finding {
            id: finding.id,
            severity: finding.severity,
            disagreement: finding.disagreement,
            title: text(),
            confidence: Some(share),
            sure_at_most: 1.0,
            share: Some(share),
            share_of: text().into(),
            share_whole: finding.share_whole,
            measurements: finding.measurements.clone(),
            follows_from: finding.follows_from,
            saving: Saving { ns_per_s: Some(figure), text: text(), without: None },
            subject: Subject {
                pid: None,
                tid: None,
                comm: Some(text()),
                syscall: Some(text()),
                path: Some(text()),
                fd: None,
                peer: Some(text()),
                lock: Some(text()),
                function: Some(text()),
                endpoint: Some(text()),
                protocol: Some(text()),
                device: Some(text()),
                host: Some(text()),
                errno: None,
            },
            also: vec![Also { title: text(), share: Some(share), subject: Subject::default() }; 2],
            at_most: Severity::Critical,
            cause: text(),
            code: Some(FindingCode {
                function: text(),
                place: Some(text()),
                caller: Some(text()),
                caller_place: Some(text()),
                within: Some(text()),
                within_place: Some(text()),
                is_its_own: true,
            }),
            fix: vec![text(), text()],
            chain: vec![ChainLink { who: text(), waits_for: text(), ns, evidence: text() }; 9],
            culprit: Some(Culprit {
                pid: 7,
                name: text(),
                does: text(),
                function: Some(text()),
                place: Some(text()),
                caller: Some(text()),
                caller_place: Some(text()),
                hops: vec![
                    Hop {
                        pid: 7,
                        name: text(),
                        tid: Some(8),
                        thread: Some(text()),
                        threads: Some(4),
                        state: Some(TimeState::Peer),
                        call: Some(text()),
                        object: Some(text()),
                        function: Some(text()),
                        place: Some(text()),
                        ns,
                        count: Some(3),
                        mean_ns: ns,
                        share,
                    };
                    9
                ],
                id: None,
                title: Some(text()),
            }),
            evidence: vec![line(&text(), &text())],
            verify: text(),
        };
    }
    diagnosis
}

/// A slow service on a host with a full disk: a culprit, its victims, and calls that cost by their number.
pub fn full_disk() -> Diagnosis {
    let amount = |what, value, text: &str| Amount { what, value, text: text.into() };
    let task = |pid, tid, comm: &str| Taker {
        pid: Some(pid),
        tid,
        comm: Some(comm.into()),
        takes: Vec::new(),
        waits: Vec::new(),
        victim_of: None,
        evidence: Vec::new(),
    };
    let resource = |name: &str, state, reason: &str, evidence: Vec<Evidence>, supply: &str| HostResource {
        name: name.into(),
        state,
        reason: reason.into(),
        evidence,
        supply: supply.into(),
    };
    let writes = amount("write_bytes", 343_773_184.0, "writes 343.8 MB/s");
    let blocked = amount("block_delay", 0.9, "waits for a disk 90.0 % of the time");
    let mut lstat = task(0, None, "lstat");
    (lstat.pid, lstat.takes) = (
        None,
        vec![
            amount("call_time", 0.338_769_324, "339 ms per second"),
            amount("calls", 124_724.0, "124,724 calls/s"),
        ],
    );
    let mut diagnosis = slow_service();
    diagnosis.walk = Some(Walk {
        resources: vec![
            resource(
                "disk sda",
                State::Saturated,
                "98.4 % busy; 18.1 s a request; 241.9 queued",
                vec![line("iostat.txt:3", "sda 0.00 71.00 0.00 32912.00 18118.31 241.89 98.40")],
                "",
            ),
            resource("CPU", State::Not, "35.2 % idle; run queue 0 on 2 CPUs", Vec::new(), ""),
            resource("network", State::Unknown, "no source tells of links, drops or retransmits", Vec::new(), "sar -n DEV 1 5"),
        ],
        load: Some("Load 1.82: 1 running or ready to run; below its 2 CPUs.".into()),
        processes: vec![
            Taker { takes: vec![writes], evidence: vec![line("pidstat.txt:2", "12280 335716.00 <python>")], ..task(12280, None, "python") },
            Taker { waits: vec![blocked.clone()], victim_of: Some("disk sda".into()), ..task(77, None, "df") },
        ],
        threads: vec![Taker { waits: vec![blocked], ..task(12280, Some(514), "python") }],
        calls: vec![lstat],
        saving: Some("Without lstat the kernel's time falls by 11.8 %: 339 ms of 2.88 s of system time per second.".into()),
        next: "Host disk sda is saturated; top consumer: python (12280), it writes 343.8 MB/s. `whyslow diagnose -p 12280`".into(),
    });
    diagnosis
}
