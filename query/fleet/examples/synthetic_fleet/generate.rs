//! A synthetic fleet: parts as agents and compaction leave them, of many hosts over some hours, with faults that are known.
//!
//! Each host runs the services of [`SEEDS`] with its own speed and load, each minute with its own noise, and the load goes with the hour of
//! the day. Placed in it are: a fault of one service on some hosts for some time, a new version of another service on some hosts that costs
//! more, hosts that fall silent, a host that loses events, and findings that mean little. All of it stands in `truth.json` beside the tables.

#[path = "seeds.rs"]
mod seeds;
#[path = "uses.rs"]
mod uses;

use arrow_array::RecordBatch;
use seeds::{FIGURES, SEEDS, Seed};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use uses::Uses;
use whyslow_parts::{
    AccountRow, AgentRow, CallRow, Claims, FindingRow, HostRow, MinuteRows, Observed, PartAbout, PartHost,
    PartHour, PartMinutes, PartName, PartRow, PartTable, PartWriter, RequestRow, StackRow, UseRow, UtcTime,
    encode, part_table,
};

pub(crate) const MINUTE: i64 = 60_000_000;
pub(crate) const HOUR: i64 = 60 * MINUTE;
/// What the parts say wrote them.
const AGENT: &str = "synthetic";

/// What is made.
#[derive(Clone, Debug)]
pub(crate) struct FleetPlan {
    pub(crate) hosts: usize,
    pub(crate) hours: i64,
    /// The end: the begin of an hour, microseconds of UTC.
    pub(crate) until: i64,
    /// Hours at the end that are not compacted: a part a minute.
    pub(crate) loose: i64,
    pub(crate) seed: u64,
}

/// What is known of it.
#[derive(Clone, Debug, serde::Serialize)]
pub(crate) struct FleetTruth {
    pub(crate) hosts: usize,
    pub(crate) from: i64,
    pub(crate) until: i64,
    /// A fault: on these hosts, from and until when, of this service and this kind of time, so many times as long.
    pub(crate) fault: PlacedFault,
    /// A version that costs more, from its time to the end.
    pub(crate) canary: PlacedFault,
    pub(crate) old_version: &'static str,
    pub(crate) new_version: &'static str,
    /// They tell nothing from `silent_from` on.
    pub(crate) silent: Vec<String>,
    pub(crate) silent_from: i64,
    /// It loses one event of ten.
    pub(crate) lossy: String,
}

/// A fault that was placed.
#[derive(Clone, Debug, serde::Serialize)]
pub(crate) struct PlacedFault {
    pub(crate) rule: &'static str,
    pub(crate) service: &'static str,
    pub(crate) hosts: Vec<String>,
    pub(crate) from: i64,
    pub(crate) until: i64,
    pub(crate) state: &'static str,
    pub(crate) object: &'static str,
    pub(crate) factor: f64,
}

/// Numbers that look drawn (splitmix64): the same ones for the same seed.
struct Draw(u64);

impl Draw {
    fn of(parts: &[u64]) -> Draw {
        let mut draw = Draw(0x9E37_79B9_7F4A_7C15);
        for part in parts {
            draw.0 ^= part.wrapping_mul(0xBF58_476D_1CE4_E5B9);
            draw.next();
        }
        draw
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// From 0 to 1.
    fn part(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A factor around 1: the logarithm of a sum of uniform numbers, near to normal.
    fn noise(&mut self, scatter: f64) -> f64 {
        let sum: f64 = (0..4).map(|_| self.part()).sum::<f64>() - 2.0;
        (sum * scatter * 1.732).exp()
    }
}

impl FleetPlan {
    fn from(&self) -> i64 {
        self.until - self.hours * HOUR
    }

    pub(crate) fn host(&self, at: usize) -> String {
        format!("web-{at:05}")
    }

    fn some_hosts(&self, from: usize, step: usize, least: usize) -> Vec<String> {
        let all: Vec<String> = (from..self.hosts).step_by(step).map(|at| self.host(at)).collect();
        if all.len() >= least { all } else { (0..least.min(self.hosts)).map(|at| self.host(at)).collect() }
    }

    /// What is placed.
    pub(crate) fn truth(&self) -> FleetTruth {
        // Three quarters through, at five past: for most of a short fleet all is well.
        let fault_from = self.from() + (self.hours * 3 / 4).min(self.hours - 1) * HOUR + 5 * MINUTE;
        FleetTruth {
            hosts: self.hosts,
            from: self.from(),
            until: self.until,
            fault: PlacedFault {
                rule: "fsync-per-write",
                service: "ledger",
                hosts: self.some_hosts(3, 33, 2),
                from: fault_from,
                until: fault_from + 40 * MINUTE,
                state: "file",
                object: "/var/lib/postgresql/pg_wal/{n}",
                factor: 9.0,
            },
            canary: PlacedFault {
                rule: "n-plus-one-queries",
                service: "checkout",
                hosts: self.some_hosts(5, 20, 4),
                from: self.from() + self.hours / 2 * HOUR,
                until: self.until,
                state: "peer",
                object: "ledger (10.0.0.7:5432)",
                factor: 1.6,
            },
            old_version: "v1.8",
            new_version: "v1.9",
            silent: (self.hosts > 4).then(|| self.host(self.hosts - 1)).into_iter().collect(),
            silent_from: self.until - 25 * MINUTE,
            lossy: self.host(self.hosts / 2),
        }
    }
}

/// The rows of one host over some minutes, of each table.
#[derive(Default)]
struct HostRows {
    accounts: MinuteRows<AccountRow>,
    calls: MinuteRows<CallRow>,
    uses: MinuteRows<UseRow>,
    requests: MinuteRows<RequestRow>,
    stacks: MinuteRows<StackRow>,
    hosts: MinuteRows<HostRow>,
    findings: MinuteRows<FindingRow>,
    agents: MinuteRows<AgentRow>,
}

impl HostRows {
    /// Table by table.
    fn finish(self) -> Vec<(&'static PartTable, RecordBatch)> {
        fn one<R: PartRow>(rows: MinuteRows<R>) -> (&'static PartTable, RecordBatch) {
            (R::table(), rows.finish().expect("rows of a table"))
        }
        let all = vec![
            one(self.accounts),
            one(self.calls),
            one(self.uses),
            one(self.requests),
            one(self.stacks),
            one(self.hosts),
            one(self.findings),
            one(self.agents),
        ];
        all.into_iter().filter(|(_, batch)| batch.num_rows() > 0).collect()
    }
}

/// Requests a second go with the hour of the day.
fn load(start: i64) -> f64 {
    let hour = start.rem_euclid(24 * HOUR) as f64 / HOUR as f64;
    0.65 + 0.35 * ((hour - 9.0) / 24.0 * std::f64::consts::TAU).sin()
}

fn minute(plan: &FleetPlan, truth: &FleetTruth, at: usize, start: i64, to: &mut HostRows) {
    let host = plan.host(at);
    let mut own = Draw::of(&[plan.seed, at as u64]);
    let mut draw = Draw::of(&[plan.seed, at as u64, start as u64]);
    let observed = Observed { host: host.clone(), start: UtcTime(start), seconds: 60.0 };
    let has = |fault: &PlacedFault| (fault.from..fault.until).contains(&start) && fault.hosts.contains(&host);
    let (faulty, is_canary) = (has(&truth.fault), has(&truth.canary));
    for seed in SEEDS {
        let (speed, share) = (own.noise(0.10), own.noise(0.20));
        let traffic = load(start) * share * draw.noise(0.06);
        let fault = [(faulty, &truth.fault), (is_canary, &truth.canary)];
        let fault = fault
            .into_iter()
            .find(|(is, fault)| *is && fault.service == seed.service)
            .map(|(_, fault)| fault);
        let version = match seed.service == truth.canary.service && is_canary {
            true => truth.new_version,
            false => truth.old_version,
        };
        let of = ServiceMinute { seed, version, fault, speed, traffic };
        service(&of, &observed, &mut draw, to);
    }
    for (resource, metric, unit, usual) in FIGURES {
        let value = usual * own.noise(0.15) * draw.noise(0.10);
        let row =
            HostRow { resource: (*resource).into(), metric: (*metric).into(), value, unit: (*unit).into() };
        to.hosts.push(&observed, &row);
    }
    findings(plan, truth, at, &observed, to);
    let events = (1.1e6 * draw.noise(0.2)) as u64;
    to.agents.push(
        &observed,
        &AgentRow {
            version: "0.1.0".into(),
            kernel: if at.is_multiple_of(3) { "6.1.0-38-amd64" } else { "6.12.0-5-amd64" }.into(),
            mode: "counts".into(),
            cpu_share: Some(0.006 * draw.noise(0.2)),
            memory_bytes: Some((38e6 * draw.noise(0.1)) as u64),
            events: Some(events),
            lost: Some(if host == truth.lossy { events / 9 } else { 0 }),
            shed: (host == truth.lossy).then(|| "stacks".into()),
            clock_skew_ns: Some((own.part() * 4e6) as i64),
            parts_waiting: Some(0),
        },
    );
}

/// A service in a minute of a host: how slow the host is for it, and how many times the usual requests it gets.
struct ServiceMinute<'s> {
    seed: &'s Seed,
    version: &'s str,
    fault: Option<&'s PlacedFault>,
    speed: f64,
    traffic: f64,
}

fn service(of: &ServiceMinute<'_>, observed: &Observed, draw: &mut Draw, to: &mut HostRows) {
    let ServiceMinute { seed, version, fault, speed, traffic } = *of;
    let text = |text: &Option<&'static str>| text.map(str::to_string);
    let mut longer = 0.0;
    let mut of_objects = Uses::default();
    for row in seed.rows {
        let is_hit = fault.is_some_and(|fault| fault.state == row.state && row.object == Some(fault.object));
        let factor = if is_hit { fault.map_or(1.0, |fault| fault.factor) } else { 1.0 };
        let by_load = if row.by_load { traffic } else { 1.0 };
        let usual = row.ns * by_load * speed * draw.noise(0.12) * 60.0;
        longer += usual * (factor - 1.0);
        to.accounts.push(
            observed,
            &AccountRow {
                service: seed.service.into(),
                version: Some(version.into()),
                process: seed.process.into(),
                role: "worker".into(),
                state: row.state.into(),
                call: text(&row.call),
                object: text(&row.object),
                line: text(&row.line),
                ns: (usual * factor) as u64,
                threads: row.threads,
            },
        );
        if let (Some(call), Some(object)) = (row.call, row.object) {
            of_objects.add((call, object), row.state != "kernel", usual * factor, draw.noise(0.1));
        }
        let Some(call) = row.call.filter(|_| row.state != "kernel") else { continue };
        let calls = (usual / 1e6).max(1.0) as u64;
        to.calls.push(
            observed,
            &CallRow {
                service: seed.service.into(),
                version: Some(version.into()),
                process: seed.process.into(),
                role: "worker".into(),
                call: call.into(),
                object: None,
                calls,
                errors: Some(0),
                ns: Some((usual * factor) as u64),
                longest_ns: Some((usual * factor / calls as f64 * (6.0 + 9.0 * draw.part())) as u64),
                buckets: Some(buckets(calls, usual * factor / calls as f64, draw)),
            },
        );
        if row.line.is_some() {
            let kind = if matches!(row.state, "user" | "kernel") { "cpu" } else { "wait" };
            to.stacks.push(
                observed,
                &StackRow {
                    service: seed.service.into(),
                    version: Some(version.into()),
                    process: seed.process.into(),
                    kind: kind.into(),
                    line: text(&row.line),
                    stack: format!("main;serve;handle;{};{call}", row.line.unwrap_or_default()),
                    samples: (usual * factor / 52.6e6) as u64,
                    ns: Some((usual * factor) as u64),
                },
            );
        }
    }
    for row in of_objects.rows(seed.service, version, seed.process) {
        to.uses.push(observed, &row);
    }
    let all: f64 = seed.endpoints.iter().map(|(_, rate)| rate).sum::<f64>() * traffic * 60.0;
    for (endpoint, rate) in seed.endpoints {
        let count = (rate * traffic * 60.0 * draw.noise(0.05)).max(1.0) as u64;
        let mean = seed.duration_ns * speed * draw.noise(0.08) + longer / all.max(1.0);
        to.requests.push(
            observed,
            &RequestRow {
                service: seed.service.into(),
                version: Some(version.into()),
                side: "served".into(),
                protocol: seed.protocol.into(),
                endpoint: (*endpoint).into(),
                peer: None,
                requests: count,
                failed: Some(u64::from(draw.part() < 0.02)),
                ns: Some((mean * count as f64) as u64),
                p50_ns: Some((mean * 0.8) as u64),
                p90_ns: Some((mean * 1.7) as u64),
                p99_ns: Some((mean * 4.0 * draw.noise(0.1)) as u64),
                longest_ns: Some((mean * 11.0 * draw.noise(0.3)) as u64),
                buckets: Some(buckets(count, mean, draw)),
            },
        );
    }
}

/// So many durations around a mean, by powers of two.
fn buckets(count: u64, mean: f64, draw: &mut Draw) -> Vec<u64> {
    const PARTS: [f64; 6] = [0.06, 0.22, 0.40, 0.22, 0.08, 0.02];
    let middle = mean.max(1.0).log2() as usize;
    let first = middle.saturating_sub(2);
    let mut buckets = vec![0; first];
    buckets.extend(PARTS.map(|part| (count as f64 * part * draw.noise(0.1)) as u64));
    buckets
}

/// A finding of a host, from when until when it is told.
struct ToldFinding<'f> {
    rule: &'f str,
    service: &'f str,
    version: &'f str,
    severity: &'f str,
    from: i64,
    until: i64,
    share: f64,
    line: &'f str,
    title: String,
}

impl ToldFinding<'_> {
    fn tell(self, observed: &Observed, to: &mut HostRows) {
        let (start, from, until) = (observed.start.0, self.from, self.until);
        if start < from || start > until {
            return;
        }
        let state = match start {
            _ if start == until => "closed",
            _ if start == from => "open",
            _ => "continues",
        };
        let process =
            SEEDS.iter().find(|seed| seed.service == self.service).map(|seed| seed.process.to_string());
        let row = FindingRow {
            finding: format!("{}:{}:{:x}", self.rule, self.service, from / MINUTE),
            rule: self.rule.into(),
            severity: self.severity.into(),
            confidence: Some(0.9),
            service: self.service.into(),
            version: Some(self.version.into()),
            process,
            culprit: None,
            line: (!self.line.is_empty()).then(|| self.line.into()),
            title: self.title,
            share: Some(self.share),
            state: state.into(),
            opened: UtcTime(from),
            last_seen: UtcTime(start.min(until - MINUTE)),
            evidence: format!("{{\"minute\":{}}}", start / MINUTE),
            dump: None,
        };
        to.findings.push(observed, &row);
    }
}

fn findings(plan: &FleetPlan, truth: &FleetTruth, at: usize, observed: &Observed, to: &mut HostRows) {
    let (host, start) = (&observed.host, observed.start.0);
    let (fault, canary) = (&truth.fault, &truth.canary);
    let mut draw = Draw::of(&[plan.seed, at as u64, start as u64, 7]);
    let placed = |of: &'static str, fault: &PlacedFault| (of, fault.from, fault.until);
    if fault.hosts.contains(host) {
        let (severity, from, until) = placed("critical", fault);
        let each = draw.noise(0.1) * 11.7;
        let title = format!("{}: 583 fsyncs for 583 writes, {each:.2} ms each", fault.object);
        let (share, version) = (0.55 * draw.noise(0.1), truth.old_version);
        let (rule, service, line) = (fault.rule, fault.service, "XLogFlush");
        ToldFinding { rule, service, version, severity, from, until, share, line, title }.tell(observed, to);
    }
    if canary.hosts.contains(host) {
        // It continues: the end is never reached.
        let (severity, from, until) = placed("warning", canary);
        let until = until + HOUR;
        let queries = (draw.noise(0.2) * 40.0) as u64;
        let title = format!("POST /order: {queries} queries of one kind to {}", canary.object);
        let (share, version) = (0.4 * draw.noise(0.1), truth.new_version);
        let (rule, service, line) = (canary.rule, canary.service, "checkout.php:88");
        ToldFinding { rule, service, version, severity, from, until, share, line, title }.tell(observed, to);
    }
    let small = |rule, service, from, until, share, title| ToldFinding {
        rule,
        service,
        version: truth.old_version,
        severity: "notice",
        from,
        until,
        share,
        line: "",
        title,
    };
    if at % 10 < 3 {
        let title = "gunicorn listens on 0.0.0.0:8025 as root".to_string();
        small("runs-as-root", "mailer", plan.from() - 3 * HOUR, plan.until + HOUR, 0.0, title)
            .tell(observed, to);
    }
    // Small ones come and go: about one a host in six hours, for some minutes.
    let hour = start.div_euclid(HOUR);
    let mut draw = Draw::of(&[plan.seed, at as u64, hour as u64, 11]);
    if draw.part() < 0.16 {
        let from = hour * HOUR + (draw.part() * 40.0) as i64 * MINUTE;
        let until = from + (3 + (draw.part() * 12.0) as i64) * MINUTE;
        let title = format!("storefront waits {:.0} ms for a CPU", 30.0 + 60.0 * draw.part());
        small("run-queue-delay", "storefront", from, until, 0.08, title).tell(observed, to);
    }
}

fn hour_of(start: i64) -> PartHour {
    PartHour::of(UtcTime(start)).expect("a time of ours").0
}

fn run_id(at: usize) -> String {
    format!("run{at:05}")
}

fn write(root: &Path, name: &PartName, bytes: &[u8], written: &AtomicU64) -> std::io::Result<()> {
    let path = root.join(name.path());
    std::fs::create_dir_all(path.parent().expect("a folder"))?;
    written.fetch_add(bytes.len() as u64, Ordering::Relaxed);
    std::fs::write(path, bytes)
}

/// Writes the fleet and its truth. How many bytes that is.
pub(crate) fn generate(plan: &FleetPlan, root: &Path) -> std::io::Result<u64> {
    let truth = plan.truth();
    let written = AtomicU64::new(0);
    std::fs::create_dir_all(root)?;
    std::fs::write(root.join("truth.json"), serde_json::to_vec_pretty(&truth)?)?;
    let next = AtomicI64::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let work = || -> std::io::Result<()> {
            loop {
                let hour = next.fetch_add(1, Ordering::Relaxed);
                if hour >= plan.hours {
                    return Ok(());
                }
                let start = plan.from() + hour * HOUR;
                match hour >= plan.hours - plan.loose {
                    true => loose_hour(plan, &truth, start, root, &written)?,
                    false => compacted_hour(plan, &truth, start, root, &written)?,
                }
            }
        };
        let all: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        all.into_iter().try_for_each(|thread| thread.join().expect("a thread of ours"))
    })?;
    Ok(written.into_inner())
}

fn is_silent(truth: &FleetTruth, host: &str, start: i64) -> bool {
    start >= truth.silent_from && truth.silent.iter().any(|silent| silent == host)
}

/// An hour as agents left it: a part a minute.
fn loose_hour(
    plan: &FleetPlan,
    truth: &FleetTruth,
    start: i64,
    root: &Path,
    written: &AtomicU64,
) -> std::io::Result<()> {
    for at in 0..plan.hosts {
        let host = plan.host(at);
        for minute_start in (start..start + HOUR).step_by(MINUTE as usize) {
            if is_silent(truth, &host, minute_start) {
                continue;
            }
            let mut rows = HostRows::default();
            minute(plan, truth, at, minute_start, &mut rows);
            for (table, batch) in rows.finish() {
                let name =
                    PartName::of_minute(table, &host, UtcTime(minute_start), &run_id(at)).expect("a name");
                let bytes = encode(table, &[batch], &PartAbout::new(AGENT)).expect("a part");
                write(root, &name, &bytes, written)?;
            }
        }
    }
    Ok(())
}

/// An hour that was compacted: a part a host, and of small tables one of all hosts.
fn compacted_hour(
    plan: &FleetPlan,
    truth: &FleetTruth,
    start: i64,
    root: &Path,
    written: &AtomicU64,
) -> std::io::Result<()> {
    let hour = hour_of(start);
    let mut many: BTreeMap<&'static str, (Claims, Vec<RecordBatch>)> = BTreeMap::new();
    for at in 0..plan.hosts {
        let host = plan.host(at);
        let mut rows = HostRows::default();
        let mut minutes = PartMinutes::default();
        for number in 0..60 {
            let minute_start = start + i64::from(number) * MINUTE;
            if !is_silent(truth, &host, minute_start) {
                minute(plan, truth, at, minute_start, &mut rows);
                minutes = minutes.with(PartMinutes::range(number, number + 1).expect("a minute"));
            }
        }
        for (table, batch) in rows.finish() {
            let own = PartName {
                table: table.name,
                hour,
                host: PartHost::One(host.clone()),
                minutes,
                level: 1,
                id: run_id(at),
            };
            if table.over_hosts {
                let (claims, batches) = many.entry(table.name).or_default();
                claims.add(&Claims::of(&own).expect("the claims of one host"));
                batches.push(batch);
            } else {
                let bytes = encode(table, &[batch], &PartAbout::new(AGENT)).expect("a part");
                write(root, &own, &bytes, written)?;
            }
        }
    }
    for (table, (claims, batches)) in many {
        let table = part_table(table).expect("a table");
        let id = format!("many{:016x}", Draw::of(&[plan.seed, start as u64]).next());
        let name = PartName {
            table: table.name,
            hour,
            host: PartHost::Many,
            minutes: claims.minutes(),
            level: 2,
            id,
        };
        let about = PartAbout { claims: Some(claims), ..PartAbout::new(AGENT) };
        let mut writer = PartWriter::new(table, Vec::new(), &about).expect("a part");
        batches.iter().for_each(|batch| writer.write(batch).expect("rows of the table"));
        write(root, &name, &writer.finish().expect("a part"), written)?;
    }
    Ok(())
}
