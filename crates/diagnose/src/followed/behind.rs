//! What the process at the end of the target's waits does.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use whyslow_facts::samples::{Site, SiteTime};
use whyslow_facts::{Facts, ProcessId};
use whyslow_model::figures as words;
use whyslow_model::ids::tid_there;
use whyslow_model::{
    AccountRow, Culprit, Finding, Followed, Hop, Nanos, SampleKind, TimeAccount, TimeState, Timestamp,
};

/// Calls in which a process waits for one that it started (arch/x86/entry/syscalls/syscall_64.tbl).
const WAITS_FOR_CHILD: &[&str] = &["wait4", "waitid", "vfork", "clone", "clone3"];

/// The process, and where its time goes.
pub(super) struct Behind<'a> {
    pub(super) row: &'a Followed,
    pub(super) facts: &'a Facts,
    pub(super) process: ProcessId,
    /// The part of its time in which it did not wait for work.
    pub(super) busy: f64,
    /// How long it was seen, ns.
    whole: u64,
    account: TimeAccount,
    /// Commands that it starts, where they take more than all else that it does.
    commands: Option<AccountRow>,
}

impl<'a> Behind<'a> {
    /// `None` where nothing is known of it.
    pub(super) fn of(facts: &'a Facts, row: &'a Followed) -> Option<Behind<'a>> {
        let process = facts.world.threads.last_process(row.pid)?;
        let account = account_of(facts, process)?;
        // However many threads it has: one that is busy all the time holds up its waiter.
        let whole = life_ns(facts, process).max(1);
        account.rows.first()?;
        let commands = commands(facts, process, row, (&account, whole));
        let mut behind = Behind { row, facts, process, busy: 0.0, whole, account, commands: None };
        // Their end may be waited for as work is: in a poll of all that may happen.
        behind.commands = commands.filter(|commands| commands.ns > behind.largest().ns);
        let commands_ns = behind.commands.as_ref().map_or(0, |commands| commands.ns);
        behind.busy = (behind.account.ns.max(commands_ns) as f64 / whole as f64).min(1.0);
        Some(behind)
    }

    /// What it does most, what others take from it aside: it holds up its waiter by the rest.
    pub(super) fn largest(&self) -> &AccountRow {
        let is_own = |row: &&AccountRow| {
            !matches!(row.state, TimeState::RunQueue | TimeState::Throttled | TimeState::Stolen)
        };
        let own = || self.account.rows.iter().find(is_own).unwrap_or(&self.account.rows[0]);
        self.commands.as_ref().unwrap_or_else(own)
    }

    /// The function and line of that: of the row, else of all samples of its kind.
    pub(super) fn site(&self) -> (Option<String>, Option<String>) {
        let largest = self.largest();
        if largest.function.is_some() {
            return (largest.function.clone(), largest.place.clone());
        }
        let computes = matches!(largest.state, TimeState::User | TimeState::Kernel | TimeState::InCall);
        let kind = if computes { SampleKind::OnCpu } else { SampleKind::OffCpu };
        let sampled = self.facts.samples.own_site(kind, self.process, None, |_| true);
        let site = sampled.map(|(site, _)| site);
        (site.map(|site| site.function.to_string()), site.and_then(|site| site.line()).map(str::to_string))
    }

    pub(super) fn culprit(&self, cause: Option<&Finding>, hops: Vec<Hop>) -> Culprit {
        let largest = self.largest();
        let part = (largest.ns as f64 / self.whole as f64).min(1.0);
        let does = format!("{}, {} of its time", largest.predicate(), words::percent(part));
        let (function, place) = self.site();
        let code = function.as_deref().and_then(|function| {
            self.facts.samples.code_of(self.process, None, |_, _, site| site.function == function)
        });
        // What the whole program is called says nothing.
        let is_outermost =
            |caller: &Site<'_>| matches!(caller.function, "main" | "main.main" | "<module>" | "<main>");
        let caller = code.and_then(|code| code.caller).filter(|caller| !is_outermost(caller));
        Culprit {
            pid: tid_there(self.row.pid),
            name: self.row.comm.clone(),
            does,
            function,
            place,
            caller: caller.map(|caller| caller.function.to_string()),
            caller_place: caller.and_then(|caller| caller.line()).map(str::to_string),
            hops,
            id: cause.map(|cause| cause.id),
            title: cause.map(|cause| cause.title.clone()),
        }
    }
}

/// The account of a process, with those that it has made of itself: a server may have a child for each request.
pub(super) fn account_of(facts: &Facts, process: ProcessId) -> Option<TimeAccount> {
    let threads = &facts.world.threads;
    let name = threads.process(process).name();
    let children = threads.processes().filter(|(_, one)| one.parent == Some(process) && one.name() == name);
    let all: Vec<ProcessId> = std::iter::once(process).chain(children.map(|(id, _)| id)).collect();
    whyslow_account::account_of(facts, &all)
}

/// From the first to the last that was seen of a process, ns.
fn life_ns(facts: &Facts, process: ProcessId) -> u64 {
    let threads = facts.world.threads.iter().filter(|(_, thread)| thread.process == process);
    let lives = threads.map(|(_, thread)| facts.accounts.counted(thread.first, thread.last));
    let life = lives.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    life.map_or(0, |(first, last)| last.since(first).or_zero())
}

/// The commands of one name that a process started and that have most time, as a wait for their end.
fn commands(
    facts: &Facts,
    process: ProcessId,
    row: &Followed,
    (account, whole): (&TimeAccount, u64),
) -> Option<AccountRow> {
    let threads = &facts.world.threads;
    let own = threads.process(process).name();
    let mut lives: HashMap<ProcessId, (Timestamp, Timestamp)> = HashMap::new();
    for (_, thread) in threads.iter() {
        let life = lives.entry(thread.process).or_insert((thread.first, thread.last));
        *life = (life.0.min(thread.first), life.1.max(thread.last));
    }
    let mut sums: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    let started = threads.processes().filter(|(_, one)| one.parent == Some(process) && one.name() != own);
    for (id, one) in started {
        let (Some(name), Some((first, last))) = (one.name(), lives.get(&id)) else { continue };
        let (first, last) = facts.accounts.counted(*first, *last);
        let sum = sums.entry(name).or_default();
        *sum = (sum.0.saturating_add(last.since(first).or_zero()), sum.1 + 1);
    }
    let (name, (ns, count)) = sums.into_iter().max_by_key(|(_, sum)| *sum)?;
    // Several at a time take no longer than one.
    let ns = ns.min(whole);
    let (function, place) = site_of_commands(facts, process, account, row.via.place()).unzip();
    Some(AccountRow {
        pids: vec![row.pid],
        tid: Some(row.pid),
        object: Some(name.to_string()),
        function,
        place: place.flatten(),
        share: ns as f64 / whole as f64,
        count: Some(count),
        mean_ns: Nanos::new(ns / count.max(1)),
        ..AccountRow::new(format!("{} ({})", row.comm, tid_there(row.pid)), TimeState::Child, ns)
    })
}

/// Function and line where a process waits for commands, or starts them. Some wait in a poll, as for the next question: a call that it
/// makes on `via`, where it is asked, does not count.
fn site_of_commands(
    facts: &Facts,
    process: ProcessId,
    account: &TimeAccount,
    via: Option<&str>,
) -> Option<(String, Option<String>)> {
    let waits = |is_meant: &dyn Fn(&str) -> bool| {
        let is_in = |time: &SiteTime<'_>| time.call.is_some_and(is_meant);
        let (site, _) = facts.samples.own_site(SampleKind::OffCpu, process, None, is_in)?;
        Some((site.function.to_string(), site.line().map(str::to_string)))
    };
    let starts = || {
        let is_start =
            |row: &&AccountRow| row.call.as_deref().is_some_and(|call| WAITS_FOR_CHILD.contains(&call));
        let rows = account.rows.iter().filter(is_start).filter(|row| row.function.is_some());
        let most = rows.max_by_key(|row| row.ns)?;
        Some((most.function.clone()?, most.place.clone()))
    };
    let of_waiter = account.rows.iter().filter(|row| via.is_some() && row.object.as_deref() == via);
    let asked: BTreeSet<&str> = of_waiter.filter_map(|row| row.call.as_deref()).collect();
    waits(&|call| WAITS_FOR_CHILD.contains(&call))
        .or_else(starts)
        .or_else(|| waits(&|call| !asked.contains(call)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{account, row};
    use whyslow_model::{Event, SampledStack, Sink, Stack, StackFrame, StackId};

    /// A server that waits longer for the next question than for its command, each in that call and that function.
    fn server(waits: &[(&str, &str, u64)]) -> Facts {
        let mut facts = Facts::default();
        let frame = |function: &str, module: &str| StackFrame {
            function: Some(function.to_string()),
            module: Some(module.to_string()),
            ..StackFrame::default()
        };
        for (id, (call, function, ns)) in (1u32..).zip(waits) {
            let (user, kernel) = (StackId(2 * id), StackId(2 * id + 1));
            let frames =
                vec![frame(&format!("__x64_sys_{call}"), "[kernel]"), frame("do_syscall_64", "[kernel]")];
            facts.push(Event::Stack(Stack {
                id: user,
                frames: vec![frame(function, "/srv/app")],
                cut: false,
            }));
            facts.push(Event::Stack(Stack { id: kernel, frames, cut: false }));
            facts.push(Event::Sample(SampledStack {
                kind: SampleKind::OffCpu,
                ts: Timestamp::new(1),
                cpu: 0,
                pid: 1,
                tid: 1,
                weight: Nanos::new(*ns),
                user: Some(user),
                kernel: Some(kernel),
            }));
        }
        facts
    }

    fn site(waits: &[(&str, &str, u64)], rows: Vec<AccountRow>) -> Option<String> {
        let facts = server(waits);
        let process = facts.world.threads.find_process(1).expect("the server");
        site_of_commands(&facts, process, &account(rows), Some("127.0.0.1:80")).map(|(function, _)| function)
    }

    #[test]
    fn a_wait_for_the_next_question_is_no_wait_for_a_command() {
        let asked = || row(TimeState::Kernel, Some("poll"), Some("127.0.0.1:80"), 5);
        let polls = [("poll", "next_page", 900), ("ppoll", "compress_page", 800)];
        assert_eq!(site(&polls, vec![asked()]).as_deref(), Some("compress_page"));
        assert_eq!(site(&polls[..1], vec![asked()]), None);
        let starts = AccountRow {
            function: Some("start_gzip".to_string()),
            ..row(TimeState::Kernel, Some("clone"), None, 20)
        };
        assert_eq!(site(&polls, vec![asked(), starts.clone()]).as_deref(), Some("start_gzip"));
        let ended = [polls[0], ("wait4", "end_of_gzip", 10)];
        assert_eq!(site(&ended, vec![asked(), starts]).as_deref(), Some("end_of_gzip"));
    }
}
