//! What one run took: the figure of each limit, or why it is not known. Nothing that is missing is taken for zero.

use crate::file::{Budget, WorkUnit};
use crate::limit::{BudgetLimit, LimitSubject};
use whyslow_facts::Facts;
use whyslow_facts::folds::requests::{EndpointFacts, LOGGED, Side};
use whyslow_model::{CallStats, Finding, Nanos, NotJudged, SaturatingSum, Severity};

/// Titles of findings quoted at most.
const QUOTED: usize = 3;
/// Requests below which the highest percentiles are the slowest request: said, as it is one request that breaks the limit then.
const FEW_REQUESTS: u64 = 100;

/// What is known of a figure.
#[derive(Clone, PartialEq, Debug)]
pub enum Gauge {
    /// Measured.
    Known {
        /// How much: a count, bytes, ns, per unit of work.
        value: f64,
        /// What is worth saying of it.
        note: Option<String>,
    },
    /// At least so much: some of it is missing.
    AtLeast {
        /// How much.
        value: f64,
        /// What is missing.
        why: String,
    },
    /// Not known.
    Unknown {
        /// Why.
        why: String,
        /// How to have it measured.
        next: String,
    },
}

impl Gauge {
    fn known(value: f64) -> Gauge {
        Gauge::Known { value, note: None }
    }

    fn unknown(why: impl Into<String>, next: &str) -> Gauge {
        Gauge::Unknown { why: why.into(), next: next.to_string() }
    }
}

/// How requests are had.
const FOR_REQUESTS: &str = "record while requests are served (whyslow record -p PID, or whyslow check -p PID); or set the limit per run";
/// How times are had.
const FOR_TIMES: &str =
    "record with BPF (whyslow doctor says what is missing), or limit counts, which a tracer does not change";
/// How all calls are had.
const FOR_CALLS: &str = "record again with --mode full, or a larger --buffer";

/// The figures of one run, in the order of the limits.
#[derive(Clone, PartialEq, Debug)]
pub struct RunFigures(pub Vec<Gauge>);

impl RunFigures {
    /// What the run of `facts` took of each of `limits`. `told` is what its diagnosis has: findings, and what rules
    /// could not judge.
    pub fn of(
        facts: &Facts,
        told: (&[Finding], &[NotJudged]),
        limits: &[&BudgetLimit],
        budget: &Budget,
    ) -> RunFigures {
        let run = Run { facts, findings: told.0, not_judged: told.1, budget };
        RunFigures(limits.iter().map(|limit| run.gauge(limit)).collect())
    }
}

struct Run<'f> {
    facts: &'f Facts,
    findings: &'f [Finding],
    not_judged: &'f [NotJudged],
    budget: &'f Budget,
}

impl Run<'_> {
    fn gauge(&self, limit: &BudgetLimit) -> Gauge {
        let work = limit.key.work.as_deref().unwrap_or("run");
        let whole = match &limit.subject {
            LimitSubject::Finding(rule) => {
                return self.findings(*rule, limit.above.unwrap_or(Severity::Capture));
            }
            LimitSubject::Percentile(part) => {
                return self.of_requests(work, Some(*part), |stats| stats.percentile(*part));
            }
            LimitSubject::Longest => return self.of_requests(work, None, CallStats::max),
            LimitSubject::Mean => return self.of_requests(work, None, CallStats::mean),
            LimitSubject::Calls(names) => self.calls(names),
            LimitSubject::BytesWritten => self.bytes_written(),
            LimitSubject::Queries => self.queries(),
            LimitSubject::Requests => match self.served(None) {
                Ok(served) => Gauge::known(served as f64),
                Err(unknown) => unknown,
            },
            LimitSubject::Wall => self.time(self.facts.window.whole()),
            LimitSubject::Cpu => self.time(self.cpu()),
        };
        self.per(whole, work)
    }

    /// An amount of the whole run, by the work that was done.
    fn per(&self, whole: Gauge, work: &str) -> Gauge {
        if work == "run" || matches!(whole, Gauge::Unknown { .. }) {
            return whole;
        }
        let done = match self.work(work) {
            Ok(done) => done,
            Err(unknown) => return unknown,
        };
        let each = |value: f64| value / done;
        match whole {
            Gauge::Known { value, note } => Gauge::Known { value: each(value), note },
            Gauge::AtLeast { value, why } => Gauge::AtLeast { value: each(value), why },
            unknown => unknown,
        }
    }

    /// How much of that work was done: more than nothing.
    fn work(&self, work: &str) -> Result<f64, Gauge> {
        match work {
            "second" => {
                let Gauge::Known { value, .. } = self.time(self.facts.window.length()) else {
                    return Err(self.time(self.facts.window.length()));
                };
                match value > 0.0 {
                    true => Ok(value / 1e9),
                    false => Err(Gauge::unknown("the recording has no length", FOR_TIMES)),
                }
            }
            "request" => self.served(None).map(|served| served as f64),
            _ => match self.budget.units.iter().find(|(name, _)| name == work).map(|(_, unit)| unit) {
                Some(WorkUnit::Count(count)) => Ok(*count),
                Some(WorkUnit::Requests(pattern)) => self.served(Some(pattern)).map(|served| served as f64),
                Some(WorkUnit::Calls(names)) => match self.calls(names) {
                    Gauge::Known { value, .. } if value > 0.0 => Ok(value),
                    Gauge::Known { .. } => Err(Gauge::unknown(
                        format!("the run has no call that counts as the unit `{work}`"),
                        "name another call in the unit",
                    )),
                    // A part of the divisor would make too much of each.
                    Gauge::AtLeast { why, .. } => Err(Gauge::unknown(why, FOR_CALLS)),
                    unknown => Err(unknown),
                },
                None => Err(Gauge::unknown(
                    format!("the unit `{work}` is not defined"),
                    "define it in the budget: [units.NAME]",
                )),
            },
        }
    }

    fn endpoints<'s>(&'s self, pattern: Option<&'s str>) -> impl Iterator<Item = &'s EndpointFacts> {
        let requests = &self.facts.requests;
        // What a log tells beside a trace of the same server is told twice.
        let only_logs = requests.count() == requests.of_logs().count;
        requests.endpoints().iter().filter(move |row| {
            row.side == Side::Server
                && row.stats.count > 0
                && (only_logs || row.protocol != Some(LOGGED))
                && pattern.is_none_or(|pattern| matches(pattern, &row.name))
        })
    }

    /// Requests served, more than none.
    fn served(&self, pattern: Option<&str>) -> Result<u64, Gauge> {
        let count = self.endpoints(pattern).map(|row| row.stats.count).saturating_sum();
        match (count, pattern) {
            (0, None) => {
                Err(Gauge::unknown("no served request was recognised in the recording", FOR_REQUESTS))
            }
            (0, Some(pattern)) => Err(Gauge::unknown(
                format!("no served request matches `{pattern}`"),
                "`whyslow requests FILE` lists the endpoints that were recognised",
            )),
            _ if self.facts.requests.not_followed > 0 => Err(Gauge::unknown(
                "not all requests were followed: too many were open at once",
                FOR_REQUESTS,
            )),
            (count, _) => Ok(count),
        }
    }

    fn of_requests(&self, work: &str, part: Option<f64>, of: impl Fn(&CallStats) -> Nanos) -> Gauge {
        let pattern =
            self.budget.units.iter().find(|(name, _)| name == work).and_then(|(_, unit)| match unit {
                WorkUnit::Requests(pattern) => Some(pattern.as_str()),
                _ => None,
            });
        if let Err(unknown) = self.served(pattern) {
            return unknown;
        }
        let mut all = CallStats::default();
        self.endpoints(pattern).for_each(|row| all.merge(&row.stats));
        let few = part.is_some_and(|part| part > 0.9) && all.count < FEW_REQUESTS;
        match self.time(of(&all)) {
            Gauge::Known { value, .. } if few => {
                Gauge::Known { value, note: Some(format!("of {} requests only", all.count)) }
            }
            gauge => gauge,
        }
    }

    /// Why counts of calls are not whole, where they are not.
    fn missing(&self) -> Option<String> {
        let facts = self.facts;
        if facts.recording.gave_up_calls() {
            return Some("for a part of the time calls were not counted, to keep the cost low".to_string());
        }
        match facts.lost_calls() {
            0 => None,
            1 => Some("1 call is missing".to_string()),
            lost => Some(format!("{} calls are missing", whyslow_model::figures::count(lost))),
        }
    }

    fn calls(&self, names: &[String]) -> Gauge {
        let facts = self.facts;
        let asked: Vec<&str> = names.iter().map(String::as_str).collect();
        if facts.total_calls() == 0 {
            return Gauge::unknown("the recording has no calls", FOR_CALLS);
        }
        if !asked.is_empty() && facts.hides(&asked) || asked.is_empty() && facts.seems_filtered() {
            return Gauge::unknown(
                "the capture seems filtered, so that it may hide these calls",
                "strace without -e trace=",
            );
        }
        let count = if asked.is_empty() { facts.total_calls() } else { facts.calls_of(&asked) };
        self.whole(count as f64, self.missing())
    }

    fn whole(&self, value: f64, missing: Option<String>) -> Gauge {
        match missing {
            Some(why) => Gauge::AtLeast { value, why },
            None => Gauge::known(value),
        }
    }

    fn bytes_written(&self) -> Gauge {
        let facts = self.facts;
        if facts.world.calls == 0 {
            return Gauge::unknown("calls were only counted, without their bytes", FOR_CALLS);
        }
        let partly = || "for a part of the time calls were only counted, without their bytes".to_string();
        let missing = self.missing().or_else(|| facts.recording.is_partial().then(partly));
        self.whole(facts.work_done().bytes_written as f64, missing)
    }

    fn queries(&self) -> Gauge {
        let requests = &self.facts.requests;
        if requests.count() == 0 {
            return Gauge::unknown("no request was recognised in the recording", FOR_REQUESTS);
        }
        let asked = requests.endpoints().iter().filter(|row| row.side == Side::Client);
        let asked = asked.map(|row| row.stats.count.saturating_add(row.open)).saturating_sum();
        let more = (requests.not_followed > 0).then(|| "not all requests were followed".to_string());
        self.whole(asked as f64, more.or_else(|| self.missing()))
    }

    fn cpu(&self) -> Nanos {
        let threads = self.facts.world.threads.iter();
        let on_cpu = threads.filter_map(|(_, thread)| thread.sched.as_deref()).map(|time| time.on_cpu_ns);
        Nanos::new(on_cpu.saturating_sum())
    }

    /// A time, where times are those of the program.
    fn time(&self, time: Nanos) -> Gauge {
        let facts = self.facts;
        let by_the_server = facts.world.calls == 0 && facts.requests.of_logs().count > 0;
        if !by_the_server && facts.capture.is_recording() && !facts.sched.is_known() {
            return Gauge::unknown(
                "times are not the program's own: it was recorded by ptrace, or without the scheduler",
                FOR_TIMES,
            );
        }
        if !by_the_server && !facts.capture.is_recording() {
            return Gauge::unknown(
                "times are not the program's own: its tracer stopped it at each call",
                FOR_TIMES,
            );
        }
        match time.get() {
            Some(ns) => Gauge::known(ns as f64),
            None => Gauge::unknown("the recording has no times of it", FOR_TIMES),
        }
    }

    /// How many findings are above a severity, with their titles.
    fn findings(&self, rule: Option<&'static str>, above: Severity) -> Gauge {
        let is_asked = |id: &str| rule.is_none_or(|rule| rule == id);
        let found: Vec<&str> = (self.findings.iter())
            .filter(|finding| is_asked(finding.id) && finding.severity > above)
            .map(|finding| finding.title.as_str())
            .collect();
        let unjudged = self.not_judged.iter().find(|one| rule == Some(one.id));
        match (found.len(), unjudged) {
            (0, Some(one)) => {
                Gauge::unknown(format!("the rule could not judge: {} missing", one.missing), &one.supply)
            }
            (0, None) if self.facts.total_calls() == 0 && self.facts.requests.count() == 0 => {
                Gauge::unknown("the recording has no calls", FOR_CALLS)
            }
            (0, None) => Gauge::known(0.0),
            (count, _) => {
                let more =
                    if count > QUOTED { format!("; and {} more", count - QUOTED) } else { String::new() };
                Gauge::Known {
                    value: count as f64,
                    note: Some(found[..count.min(QUOTED)].join("; ") + &more),
                }
            }
        }
    }
}

/// Whether `text` is `pattern`, in which `*` stands for anything.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, text, same) in [
            ("GET /a", "GET /a", true),
            ("GET /a", "GET /ab", false),
            ("GET /*", "GET /ab", true),
            ("*/ab", "GET /ab", true),
            ("G*T */a*", "GET /ab", true),
            ("*ab*ab", "ab", false),
        ] {
            assert_eq!(matches(pattern, text), same, "{pattern} {text}");
        }
    }

    #[test]
    fn nothing_recorded_is_nothing_judged() {
        let facts = Facts::default();
        let budget = Budget::default();
        let texts = [
            "stat <= 1",
            "calls <= 1/request",
            "bytes_written <= 1 B",
            "p99 <= 1 s",
            "cpu <= 1 s",
            "queries <= 1",
        ];
        for text in texts {
            let limit = BudgetLimit::parse(text).unwrap();
            let figures = RunFigures::of(&facts, (&[], &[]), &[&limit], &budget);
            assert!(matches!(figures.0[0], Gauge::Unknown { .. }), "{text}: {figures:?}");
        }
    }
}
