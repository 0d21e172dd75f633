//! What no other finding explains of the asker's time, of the states that a rule is about.

use super::held::Held;
use crate::engine::{Findings, Report};
use crate::gate::gated;
use crate::guards::{Share, passed};
use crate::words;
use whyslow_facts::Facts;
use whyslow_model::{
    AccountRow, ContentOf, Demand, DemandKind, DemandQueue, Measurement, Nanos, Severity, Subject,
    TimeAccount, TimeOf, TimeState,
};

/// From this part of the asker's time on, what nothing explains is worth a word: docs/ARCHITECTURE.md, the account of time.
const MIN_PART: f64 = 0.15;
/// Of the whole time: who waits for work nearly all of the time is not slow for what it does in between.
const MIN_OF_WHOLE: f64 = 0.05;
/// Who has something to do for this part of the time does not idle: a part of that is worth a word by itself.
const BUSY: f64 = 0.1;

/// The rows of some states, with what no finding explains of each.
pub(super) struct Unclaimed<'a> {
    account: &'a TimeAccount,
    /// The row with the largest rest.
    largest: &'a AccountRow,
    /// Other rows that have some.
    others: u64,
    /// In all rows, ns.
    ns: u64,
    /// The whole time, with that in which there was nothing to do, ns: many threads that wait for work make it no longer.
    whole: u64,
    /// Who holds what the largest row waits for, where the rule asked for it.
    held: Option<Held>,
}

impl<'a> Unclaimed<'a> {
    /// `None` where it is too little for a word.
    #[gated]
    pub(super) fn of(out: &Findings<'a>) -> Option<Unclaimed<'a>> {
        let (account, states) = (out.account()?, out.states()?);
        let rest = |row: &AccountRow| {
            row.ns.saturating_sub(row.claimed_by.iter().map(|claim| claim.ns).fold(0, u64::saturating_add))
        };
        let rows = || account.rows.iter().filter(|row| states.contains(&row.state) && rest(row) > 0);
        let ns = rows().map(rest).fold(0, u64::saturating_add);
        let life = account.ns.saturating_add(account.idle_ns);
        let whole = out.facts().window.whole().get().map_or(life, |window| life.min(window));
        let is_felt = ns as f64 >= MIN_OF_WHOLE * whole as f64 || account.ns as f64 >= BUSY * whole as f64;
        let is_enough = ns as f64 >= MIN_PART * account.ns as f64 && is_felt;
        let largest = rows().max_by_key(|row| rest(row)).filter(|_| is_enough)?;
        Some(Unclaimed { account, largest, others: rows().count() as u64 - 1, ns, whole, held: None })
    }

    /// With the one who holds what is waited for.
    pub(super) fn held_by(self, facts: &Facts) -> Unclaimed<'a> {
        Unclaimed { held: Held::of(facts, self.largest), ..self }
    }

    /// When it goes on, and what the holder does meanwhile.
    pub(super) fn cause_by_holder(&self) -> Option<String> {
        let held = self.held.as_ref()?;
        Some(format!("{} {}", held.holder.until(), held.doing))
    }

    /// How the holder is looked at.
    pub(super) fn look_at_holder(&self) -> Option<String> {
        let Held { holder, is_thread, .. } = self.held.as_ref()?;
        Some(match holder.one_of_several {
            _ if *is_thread => {
                format!("see what it does meanwhile: whyslow path --thread {} RECORDING", holder.pid)
            }
            true => format!("see which of them it is and what it does: whyslow diagnose -p {}", holder.pid),
            false => format!("see what it does: whyslow diagnose -p {}", holder.pid),
        })
    }

    /// Starts the finding.
    pub(super) fn report<'f>(&self, out: &'f mut Findings<'a>) -> Report<'f, 'a> {
        let row = self.largest;
        let share = self.ns as f64 / self.account.ns.max(1) as f64;
        let part = Measurement::share("share_of_time", share).at_least(MIN_PART);
        let others = match self.others {
            0 => String::new(),
            others => format!(", and {} like it", words::plural(others, "row")),
        };
        let whose = self.whose();
        let time = Nanos::new(self.account.ns);
        let of = match (self.account.of, self.account.main_endpoint()) {
            (TimeOf::Threads, _) => time.to_string(),
            (TimeOf::Requests, Some(endpoint)) => format!("{whose} for {endpoint}"),
            _ => whose.clone(),
        };
        let what = row.words();
        let mark = if what.starts_with("in ") || what.starts_with("on ") { "" } else { ":" };
        let held = self.held.as_ref().map_or(String::new(), |held| format!(", {}", held.holder.clause()));
        let title = format!("{}: {part} of {of}{mark} {what}{held}{others}", row.who);
        // Of several processes only the queues of those whose time it is count.
        let demand = self.account.demand.of(&row.pids);
        // Without work that waits, where the time goes is no fault.
        let waits = |queue: &DemandQueue| queue.lasts() && queue.kind.is_backlog();
        let most = if demand.queues.iter().any(waits) { Severity::Warning } else { Severity::Notice };
        let title = match demand.words() {
            Some(words) => format!("{title}; {words}"),
            None => title,
        };
        out.report(Share::of_time(share, format!("{whose} ({time})")), title)
            .at_most(most)
            .measured(part)
            .measured_all(self.figures(&demand))
            .subject(self.subject())
            .evidence_lines(row.evidence.clone())
    }

    /// The figures beside the part: of the largest row, of all of them, and of the queues.
    fn figures(&self, demand: &Demand) -> Vec<Measurement> {
        let row = self.largest;
        let whole = self.whole.max(1) as f64;
        let (of_whole, busy) = ((self.ns as f64 / whole).min(1.0), (self.account.ns as f64 / whole).min(1.0));
        let mut figures = vec![
            Measurement::time("time", Nanos::new(self.ns)),
            Measurement::time("time_of_all_rows", Nanos::new(self.account.ns)),
            passed(Measurement::share("share_of_whole_time", of_whole), MIN_OF_WHOLE),
            Measurement::time("time_of_largest_row", Nanos::new(row.ns)),
        ];
        figures
            .extend((of_whole < MIN_OF_WHOLE).then(|| Measurement::share("busy_share", busy).at_least(BUSY)));
        figures.extend(row.count.map(|calls| Measurement::count("calls", calls)));
        if row.mean_ns.is_known() {
            figures.push(Measurement::time("time_per_call", row.mean_ns));
        }
        if let Some(on) = row.works_mostly_on() {
            figures.push(Measurement::share("share_following_reads", on.ns as f64 / row.ns.max(1) as f64));
            figures.push(Measurement::count("times_read", on.rounds));
            figures.push(match on.rounds {
                0 | 1 => Measurement::bytes("bytes_read", on.bytes),
                rounds => Measurement::bytes("bytes_per_time", on.bytes / rounds),
            });
            figures.push(Measurement::count("reads", on.reads));
        }
        if let Some(device) = row.device.as_ref().filter(|device| device.await_ns.is_known()) {
            figures.push(Measurement::time("device_await", device.await_ns));
        }
        if self.others > 0 {
            figures.push(Measurement::count("other_rows", self.others));
        }
        figures.extend(self.count());
        figures.extend(row.goroutines.first().map(|at| Measurement::number("goroutines", at.mean)));
        if let Some(queue) = demand.told() {
            figures.push(match queue.kind {
                DemandKind::AcceptQueue => Measurement::count("queued_connections", queue.most),
                DemandKind::UnreadBytes | DemandKind::UnreadDatagrams | DemandKind::PipeBytes => {
                    Measurement::bytes("unread_bytes", queue.most)
                }
                DemandKind::OpenRequests => Measurement::count("open_requests", queue.most),
                DemandKind::Callers => Measurement::count("waiting_callers", queue.most),
            });
            figures.push(Measurement::count("samples_with_queue", queue.waited));
            figures.push(Measurement::count("samples", queue.samples));
        }
        figures
    }

    /// Whose time it is, and how much of it is unclaimed.
    pub(super) fn part(&self) -> (Share, String) {
        let share = self.ns as f64 / self.account.ns.max(1) as f64;
        let whose = self.whose();
        let time = Nanos::new(self.account.ns);
        (Share::of_time(share, format!("{whose} ({time})")), whose)
    }

    /// Its part of the time that is not in a state.
    #[gated]
    pub(super) fn part_beside(&self, state: TimeState) -> f64 {
        let rows = self.account.rows.iter().filter(|row| row.state == state).map(|row| row.ns);
        let rest = self.account.ns.saturating_sub(rows.fold(0, u64::saturating_add));
        self.ns as f64 / rest.max(1) as f64
    }

    /// How many requests or threads it is the time of.
    pub(super) fn count(&self) -> Option<Measurement> {
        let whose = match self.account.of {
            TimeOf::Requests => Some("requests"),
            TimeOf::Threads => Some("threads"),
            TimeOf::Command => None,
        };
        whose.map(|name| Measurement::count(name, self.account.count))
    }

    /// The row with the largest part.
    pub(super) fn largest(&self) -> &'a AccountRow {
        self.largest
    }

    /// How long a request waits in these rows, or a call of the largest one.
    #[gated]
    pub(super) fn each(&self) -> Nanos {
        match self.account.of {
            TimeOf::Requests if self.account.count > 0 => Nanos::new(self.ns / self.account.count),
            _ => self.largest.mean_ns,
        }
    }

    /// All of it.
    pub(super) fn time(&self) -> Nanos {
        Nanos::new(self.ns)
    }

    /// True where the time is that of requests: nobody waits for work within one.
    pub(super) fn is_of_requests(&self) -> bool {
        self.account.of == TimeOf::Requests
    }

    /// The object of the largest part, in a sentence.
    pub(super) fn object(&self) -> Option<&'a str> {
        self.largest.object.as_deref()
    }

    /// The function of the largest part, where samples name one.
    pub(super) fn function(&self) -> Option<&'a str> {
        self.largest.function.as_deref()
    }

    /// The call of the largest part.
    pub(super) fn call(&self) -> Option<&'a str> {
        self.largest.call.as_deref()
    }

    #[gated]
    fn whose(&self) -> String {
        let count = self.account.count;
        match self.account.of {
            TimeOf::Requests => format!("the time of {}", words::plural(count, "request")),
            TimeOf::Command => "the command's time".to_string(),
            TimeOf::Threads if self.account.idle_ns > 0 => {
                format!("the time of {}, idle time aside", words::plural(count, "thread"))
            }
            TimeOf::Threads => format!("the time of {}", words::plural(count, "thread")),
        }
    }

    pub(super) fn subject(&self) -> Subject {
        use TimeState::{Client, File, Lock, PageFault, Peer, Pipe};
        let row = self.largest;
        let content =
            |of: ContentOf| row.works_mostly_on().filter(|on| on.of == of).map(|on| on.object.clone());
        let object = |states: &[TimeState]| row.object.clone().filter(|_| states.contains(&row.state));
        Subject {
            pid: row.pids.first().copied().filter(|_| row.pids.len() == 1),
            syscall: row.call.clone(),
            function: row.function.clone().or_else(|| row.goroutines.first().map(|at| at.function.clone())),
            path: object(&[File, PageFault, Pipe]).or_else(|| content(ContentOf::File)),
            peer: object(&[Peer, Client]).or_else(|| content(ContentOf::Peer)),
            lock: object(&[Lock]),
            ..Subject::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyslow_model::Finding;

    fn of_demand(queues: Vec<DemandQueue>) -> (Severity, String) {
        let finding = finding(queues);
        (finding.severity, finding.title)
    }

    fn finding(queues: Vec<DemandQueue>) -> Finding {
        let who = "main of app (1)".to_string();
        let row =
            AccountRow { pids: vec![1], share: 1.0, ..AccountRow::new(who, TimeState::User, 1_000_000_000) };
        let account = TimeAccount {
            target: "app (1)".to_string(),
            of: TimeOf::Threads,
            count: 1,
            ns: row.ns,
            idle_ns: 0,
            unknown_ns: 0,
            claimed_ns: 0,
            requests: Vec::new(),
            demand: Demand { queues, ..Demand::default() },
            rows: vec![row],
        };
        let facts = Facts::default();
        let (mut findings, _) = Findings::beside(crate::find("computes").unwrap(), &facts, Some(&account));
        findings.pop().unwrap()
    }

    fn queue(waited: u64) -> Vec<DemandQueue> {
        let (kind, of) = (DemandKind::AcceptQueue, "127.0.0.1:80".to_string());
        vec![DemandQueue { kind, of, pid: Some(1), most: 40, waited, samples: 10 }]
    }

    #[test]
    fn what_waited_is_a_figure_as_the_title_prints_it() {
        for (kind, name) in
            [(DemandKind::AcceptQueue, "queued_connections"), (DemandKind::UnreadBytes, "unread_bytes")]
        {
            let queues = queue(10).into_iter().map(|queue| DemandQueue { kind, most: 4_000, ..queue });
            let finding = finding(queues.collect());
            let figure = finding.measurements.iter().find(|figure| figure.name == name).unwrap();
            assert_eq!(figure.value, Some(4_000.0));
            let spelled = |spelling: &String| finding.title.contains(&format!("up to {spelling} "));
            assert!(figure.spellings().iter().any(spelled), "{}", finding.title);
        }
        assert!(!finding(Vec::new()).measurements.iter().any(|figure| figure.name == "samples"));
    }

    #[test]
    fn a_warning_only_where_work_waits() {
        let (severity, title) = of_demand(queue(10));
        assert!(severity >= Severity::Warning, "{severity:?}");
        assert!(
            title.ends_with(
                "; up to 40 connections waited in the accept queue of 127.0.0.1:80 (10 of 10 samples)"
            ),
            "{title}"
        );
        assert_eq!(of_demand(queue(2)).0, Severity::Notice);
        // The neighbour's, and what a healthy server under full load shows.
        let neighbours = queue(10).into_iter().map(|queue| DemandQueue { pid: Some(2), ..queue }).collect();
        let (severity, title) = of_demand(neighbours);
        assert!(severity == Severity::Notice && !title.contains("waited"), "{title}");
        let kind = DemandKind::UnreadBytes;
        let unread = queue(10).into_iter().map(|queue| DemandQueue { kind, ..queue }).collect();
        assert_eq!(of_demand(unread).0, Severity::Notice);
        let (severity, title) = of_demand(queue(0));
        assert_eq!(severity, Severity::Notice);
        assert!(title.ends_with("; no work waited in its queues: sampled 10 times"), "{title}");
        let (severity, title) = of_demand(Vec::new());
        assert!(severity == Severity::Notice && !title.contains("waited"), "{title}");
    }
}
