//! The verdict: the first sentence of a report, about what was asked about, and what belongs beside it: how many causes more, what
//! the capture lacks, and the host where it is saturated.

mod culprit;
mod fit;
mod idle;

use crate::asker::Asker;
use fit::Sentence;
use whyslow_facts::Facts;
use whyslow_facts::folds::requests::Side;
use whyslow_model::figures as words;
use whyslow_model::{
    AccountRow, CallStats, Culprit, Diagnosis, Finding, Hop, Known, NoteKind, Severity, TimeAccount, TimeOf,
    TimeState, Walk,
};
use whyslow_rules::guards::WARNING_SHARE;

/// A part of the account is worth a word from here on.
const MIN_SHARE: f64 = 0.01;

/// The sentence, and what belongs beside it.
pub(crate) fn verdict(
    facts: &Facts,
    findings: &[Finding],
    walk: Option<&Walk>,
    account: Option<&TimeAccount>,
) -> (String, String) {
    let causes = || findings.iter().filter(|finding| is_cause(finding, findings));
    let full = walk.filter(|walk| whyslow_hostcheck::is_full(walk));
    let host = || walk.and_then(whyslow_hostcheck::verdict);
    let is_asked = whyslow_hostcheck::is_about_one(facts);
    let mut beside = Vec::new();
    let sentence = match causes().next() {
        Some(cause) => {
            let more = causes().count() - 1;
            beside.extend((more > 0).then(|| format!("{} more.", words::plural(more as u64, "cause"))));
            let is_hosts = cause.subject.device.is_some() || cause.subject.host.is_some();
            beside.extend(full.filter(|_| !is_hosts).and_then(|_| host()).map(|host| host + "."));
            named(facts, cause, account).fit()
        }
        // Of several programs, or of none, the host is what was asked about.
        None if walk.is_some() && (facts.total_calls() == 0 || !is_asked && full.is_some()) => {
            let Some(walk) = walk else { return Default::default() };
            let text = whyslow_hostcheck::verdict(walk);
            beside.extend((full.is_none() && text.is_some()).then(|| walk.next.clone()));
            let (text, more) =
                text.map_or_else(|| whyslow_hostcheck::without_resources(walk), |text| (text, String::new()));
            beside.push(more);
            told(text).fit()
        }
        None => {
            let (sentence, more) = without_cause(facts, findings, account);
            beside.extend(more);
            beside.extend(full.and_then(|_| host()).map(|host| host + "."));
            sentence.fit()
        }
    };
    if let Some(first) = findings.iter().find(|finding| finding.disagreement) {
        beside.push(told(format!("The sources disagree: {}", first.title)).within(BESIDE));
    }
    // Who looks at what a flight recorder kept asks first why it did.
    let kept = facts.capture.notes.iter().filter(|note| note.kind == NoteKind::Kept);
    beside.splice(0..0, kept.map(|note| note.text.clone()));
    beside.retain(|text| !text.is_empty());
    (sentence, beside.join(" "))
}

/// Characters of a sentence beside the first one, at most: what it quotes stands in full among the findings.
const BESIDE: usize = 160;

/// True for what is worth a warning by itself, or follows from what is not.
fn is_cause(finding: &Finding, findings: &[Finding]) -> bool {
    let is_serious = |one: &Finding| one.severity >= Severity::Warning && !one.disagreement;
    let behind_serious = |cause: &str| findings.iter().any(|one| one.id == cause && is_serious(one));
    is_serious(finding) && !finding.follows_from.is_some_and(|from| behind_serious(from.id))
}

/// A title in the middle of a sentence: `The capture is incomplete` without its capital letter.
fn in_sentence(title: &str) -> String {
    let mut letters = title.chars();
    match (letters.next(), letters.clone().next()) {
        (Some(first), Some(second)) if first.is_uppercase() && second.is_lowercase() => {
            first.to_lowercase().chain(letters).collect()
        }
        _ => title.to_string(),
    }
}

/// A text as a sentence.
fn told(what: impl Into<String>) -> Sentence {
    Sentence { what: what.into(), ..Sentence::default() }
}

/// What is said where no rule warns, and what belongs beside it.
fn without_cause(
    facts: &Facts,
    findings: &[Finding],
    account: Option<&TimeAccount>,
) -> (Sentence, Vec<String>) {
    if facts.total_calls() == 0 {
        let (text, more) = without_calls(facts);
        return (told(text), vec![more]);
    }
    let mut beside = Vec::new();
    // That it did nothing else all the while is more than where most time went.
    let stuck = findings.iter().find(|finding| finding.id == "stuck-call");
    let general = stuck.or_else(|| most_telling(findings.iter().filter(|finding| is_general(finding))));
    let of_general = |general: &Finding| Sentence {
        aside: match general.culprit {
            Some(_) => String::new(),
            None => "; no rule names a cause".to_string(),
        },
        ..named(facts, general, account)
    };
    let idle = idle::of(facts, account);
    let asker = Asker { facts, account };
    let particular = particular(findings, general, asker).filter(|_| idle.is_none());
    let sentence = match (idle, particular, general) {
        (Some(idle), ..) => idle,
        (None, Some(particular), _) => named(facts, particular, account),
        (None, None, Some(general)) => of_general(general),
        (None, None, None) => {
            let calls = words::plural(facts.total_calls(), "system call");
            let unknown = unknown(account).filter(|share| *share >= WARNING_SHARE);
            let unknown = unknown.map_or(String::new(), |share| {
                format!("; nothing tells what it did in {} of its time", words::percent(share))
            });
            match program(facts) {
                Some(name) => Sentence {
                    who: format!("{name}: "),
                    ..told(format!("no cause of slowness found in {calls}{unknown}"))
                },
                None => told(format!("No cause of slowness found in {calls}{unknown}")),
            }
        }
    };
    match (particular, general) {
        (Some(_), Some(general)) => beside.push(named(facts, general, account).within(BESIDE)),
        (Some(_), None) => {}
        (None, _) => beside.extend(notice(facts, findings, account)),
    }
    if facts.world.calls == 0 && facts.world.counted > 0 {
        beside.push(
            "Calls were only counted, and most causes show in single calls: record with --mode full."
                .to_string(),
        );
    }
    // What the capture lacks may well be the cause: saying only "none" would be a wrong answer.
    let gap = findings.iter().find(|finding| finding.severity == Severity::Capture && !finding.disagreement);
    beside.extend(gap.map(|gap| told(format!("But {}", in_sentence(&gap.title))).within(BESIDE)));
    (sentence, beside)
}

/// The part of the time of which nothing tells what it was.
fn unknown(account: Option<&TimeAccount>) -> Option<f64> {
    let account = account.filter(|account| account.ns > 0)?;
    let unknown = account.rows.iter().filter(|row| row.state == TimeState::Unknown).map(|row| row.ns);
    Some(unknown.fold(0, u64::saturating_add) as f64 / account.ns as f64)
}

/// Of general findings the first; rather one that tells who is behind it, where that is at least half as much.
fn most_telling<'a>(mut general: impl Iterator<Item = &'a Finding>) -> Option<&'a Finding> {
    let first = general.next()?;
    let least = first.share.unwrap_or(0.0) / 2.0;
    let tells = |finding: &&Finding| finding.culprit.is_some() && finding.share.unwrap_or(0.0) >= least;
    Some(if first.culprit.is_some() { first } else { general.find(tells).unwrap_or(first) })
}

/// The first notice that names a cause, where it explains much of the time, and at least half as much as the general finding does where that
/// names who is waited for.
fn particular<'a>(
    findings: &'a [Finding],
    general: Option<&Finding>,
    asker: Asker<'_>,
) -> Option<&'a Finding> {
    let part = |finding: &Finding| claimed(asker.account, finding).unwrap_or(0.0).max(asker.share(finding));
    let named = general.filter(|general| general.culprit.is_some());
    let least = named.map_or(0.0, part) / 2.0;
    let is_meant = |finding: &&Finding| {
        finding.severity == Severity::Notice
            && !is_general(finding)
            && part(finding) >= WARNING_SHARE.max(least)
    };
    findings.iter().find(is_meant)
}

/// What the input tells that holds no calls, and what to do with it.
fn without_calls(facts: &Facts) -> (String, String) {
    if facts.requests.of_logs().count > 0 {
        return of_log(facts);
    }
    if !facts.percentiles.is_empty() {
        let next = "Compare two with whyslow diff.".to_string();
        return ("A table of percentiles tells how long, not why".to_string(), next);
    }
    if let Some(told) = of_profiles(facts) {
        return told;
    }
    let text = match facts.world.snapshot_rows {
        0 => "The input holds no calls: nothing to judge".to_string(),
        rows => format!("{} and no calls: nothing shows time", words::plural(rows, "open descriptor")),
    };
    (text, String::new())
}

/// The first notice that costs something, where nothing is worth a warning: it may be all that there is.
fn notice(facts: &Facts, findings: &[Finding], account: Option<&TimeAccount>) -> Option<String> {
    let is_notice = |finding: &&Finding| finding.severity == Severity::Notice && !is_general(finding);
    let first = findings.iter().filter(is_notice).find(|finding| finding.share.is_some())?;
    let mut sentence = named(facts, first, account);
    sentence.who = format!("Largest notice: {}", sentence.who);
    Some(sentence.within(BESIDE))
}

/// A finding as a sentence: whose it is, what, and of which file, peer, function or holder.
fn named(facts: &Facts, finding: &Finding, account: Option<&TimeAccount>) -> Sentence {
    if let (Some(culprit), Some(share)) = (&finding.culprit, finding.share) {
        return at_the_end(facts, finding, culprit, share);
    }
    Sentence {
        who: whose(facts, finding),
        what: finding.title.clone(),
        names: culprit::names(finding),
        culprits: culprit::beside(facts, account, finding),
        aside: part_of(account, finding),
    }
}

/// Whom the target waits for in the end, and what that does meanwhile: `waits 97.2 % of its time, in the end for backup.py (9), which
/// computes, in check_copy`.
fn at_the_end(facts: &Facts, finding: &Finding, culprit: &Culprit, share: f64) -> Sentence {
    let Culprit { pid, name, does, .. } = culprit;
    // Without how often and how long.
    let does = does.split(" (").next().unwrap_or_default().split(", ").next().unwrap_or_default();
    let address = address(&culprit.hops);
    let bare = format!("{name} ({pid})");
    let named = address.as_ref().map_or_else(|| bare.clone(), |address| format!("{name} ({pid}, {address})"));
    let own = Finding { title: String::new(), ..finding.clone() };
    let who = whose(facts, &own);
    let who = if who.is_empty() { whose(facts, finding) } else { who };
    let site = culprit.site().map_or(String::new(), |site| format!(", in {site}"));
    let briefly = culprit.hops.last().map_or_else(|| does.to_string(), |last| briefly(does, last));
    let share = words::percent(share);
    let says = |end: &str, named: &str, does: &str| format!("waits {share}{end} for {named}, which {does}");
    let mut said = vec![says(" of its time, in the end", &named, does), says(", in the end", &named, does)];
    // What it works on is more telling than where it is asked.
    said.extend(culprit.hops.last().is_some_and(works).then(|| says(", in the end", &bare, does)));
    said.push(says(", in the end", &named, &briefly));
    // Nobody is between the two.
    said.extend((culprit.hops.len() == 2).then(|| says("", &named, &briefly)));
    said.push(says(", in the end", &bare, &briefly));
    // What the last one does says more than how much that is: the finding below has the share.
    said.push(format!("waits in the end for {bare}, which {briefly}"));
    let fits = |site: &str| {
        let fits = |what: &&String| format!("{who}{what}{site}").chars().count() < Diagnosis::MAX_VERDICT;
        said.iter().find(fits)
    };
    // A function tells where to look also without its line.
    let bare_site = culprit.function.as_ref().map_or(String::new(), |function| format!(", in {function}"));
    let (what, site) = match (fits(&site), fits(&bare_site)) {
        (Some(what), _) => (what.clone(), site),
        (None, Some(what)) => (what.clone(), bare_site),
        (None, None) => (said.pop().unwrap_or_default(), site),
    };
    // Of a helper it matters who calls it, where there is room.
    let called = culprit.caller.as_ref().map(|caller| format!("{site}, called by {caller}"));
    let has_room = |site: &String| format!("{who}{what}{site}").chars().count() < Diagnosis::MAX_VERDICT;
    let site = called.filter(has_room).unwrap_or(site);
    let address = address.filter(|address| what.contains(address.as_str()));
    Sentence {
        who,
        what,
        names: address.into_iter().chain([format!("{name} ({pid}")]).collect(),
        culprits: if site.is_empty() { Vec::new() } else { vec![site] },
        aside: String::new(),
    }
}

/// Where the last process is asked: what the one before it waits for, as far as that is an address or a path.
fn address(hops: &[Hop]) -> Option<String> {
    /// Of a path so many characters leave room for what is said of it.
    const LONG: usize = 24;
    let [.., waits, last] = hops else { return None };
    let object = waits.object.as_deref()?;
    // `catalog.py (3122, 127.0.0.1:80)` names the process as well.
    let inner = object.rsplit_once(", ").map_or(object, |(_, rest)| rest.trim_end_matches(')'));
    let port = inner.rsplit_once(':').map(|(_, port)| port);
    let is_port = port.is_some_and(|port| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()));
    let is_its = !object.contains(" (") || object.contains(&format!("({}, ", last.pid));
    match inner.strip_prefix('/') {
        // The last part names a socket well enough.
        Some(path) if is_its && inner.chars().count() > LONG => {
            path.rsplit_once('/').map(|(_, last)| format!("…/{last}"))
        }
        _ => (is_its && (is_port || inner.starts_with('/'))).then(|| inner.to_string()),
    }
}

/// True where it works in a call.
fn works(hop: &Hop) -> bool {
    use TimeState::{File, InCall, Kernel, KernelWait};
    matches!(hop.state, Some(File | InCall | Kernel | KernelWait))
}

/// What a process does, without what its chain tells too: of what works in a call its object, of what waits the call.
fn briefly(does: &str, last: &Hop) -> String {
    if last.state == Some(TimeState::Child) {
        return does.replace("waits for the end of ", "runs ");
    }
    let (before, left_out) = match works(last) {
        // A file that has no name is called so.
        true => (" for ", last.object.as_deref().or(last.call.as_ref().map(|_| "a file"))),
        false => (" in ", last.call.as_deref()),
    };
    // The address of a lock says nothing at a glance.
    let lock = last.object.as_deref().filter(|object| object.starts_with("futex 0x"));
    let does = &lock.map_or_else(|| does.to_string(), |lock| does.replace(lock, "a lock"));
    let left_out = left_out.filter(|word| !word.is_empty());
    let told = left_out.map_or_else(|| does.to_string(), |word| does.replace(&format!("{before}{word}"), ""));
    // Which device a file is on.
    told.split(" on device ").next().unwrap_or_default().to_string()
}

/// Of which program it is, where the title does not tell.
fn whose(facts: &Facts, finding: &Finding) -> String {
    let threads = &facts.world.threads;
    let process = match finding.subject.pid {
        Some(pid) => threads.last_process(pid).and_then(|process| threads.known_process(process)),
        None => return program(facts).map_or(String::new(), |name| prefix(finding, &name)),
    };
    match process.and_then(|process| Some((process.name()?, process.pid?))) {
        Some((name, pid)) => prefix(finding, &format!("{name} (pid {pid})")),
        None => String::new(),
    }
}

/// `app (pid 7): `, where the title does not name it.
fn prefix(finding: &Finding, name: &str) -> String {
    let bare = name.split(" (pid ").next().unwrap_or(name);
    if finding.title.contains(bare) { String::new() } else { format!("{name}: ") }
}

/// The program, where the facts are of one process: `app (pid 7)`.
fn program(facts: &Facts) -> Option<String> {
    let mut processes = facts.world.threads.processes();
    let (Some((_, process)), None) = (processes.next(), processes.next()) else { return None };
    Some(format!("{} (pid {})", process.name()?, process.pid?))
}

/// Which part of the time it explains, where the title tells no part: `; 82.6 % of its time`.
fn part_of(account: Option<&TimeAccount>, finding: &Finding) -> String {
    let Some(account) = account.filter(|_| !finding.title.contains(" %")) else { return String::new() };
    let share = claimed(Some(account), finding).unwrap_or(0.0);
    let of = match account.of {
        TimeOf::Requests => "the requests' time",
        TimeOf::Command => "the command's time",
        TimeOf::Threads => "its time",
    };
    // Of calls that are not timed the time is that up to the next one.
    let is_most = |row: &AccountRow| {
        row.known == Known::AtMost && row.claimed_by.iter().any(|claim| claim.id == finding.id)
    };
    let up_to = if account.rows.iter().any(is_most) { "up to " } else { "" };
    if share < MIN_SHARE { String::new() } else { format!("; {up_to}{} of {of}", words::percent(share)) }
}

/// The part of the account that findings of the rule explain.
fn claimed(account: Option<&TimeAccount>, finding: &Finding) -> Option<f64> {
    let account = account?;
    let claims = account.rows.iter().flat_map(|row| &row.claimed_by).filter(|claim| claim.id == finding.id);
    let claimed = claims.fold(0u64, |sum, claim| sum.saturating_add(claim.ns));
    Some(claimed as f64 / account.ns.max(1) as f64)
}

/// True for what only says where time went.
fn is_general(finding: &Finding) -> bool {
    whyslow_rules::is_general(finding.id)
}

/// What profiles by themselves tell, of several the first; and what to do with them.
fn of_profiles(facts: &Facts) -> Option<(String, String)> {
    let profiles = facts.profiles.all();
    let Some(first) = profiles.first() else {
        let broken = facts.profiles.empty().first()?;
        return Some((format!("{} tells nothing: {}", broken.name, broken.what), String::new()));
    };
    let told = whyslow_profile::kinds::sentence(&first.step.account, &first.step.measured);
    // The first sentence is the verdict, what follows it is beside.
    let (first_sentence, rest) = told.split_once(". ").unwrap_or((&told, ""));
    Some(match profiles.len() {
        1 => (first_sentence.to_string(), rest.to_string()),
        count => (
            format!("{}: {first_sentence}", facts.profiled(first)),
            format!("{} in all: whyslow diff compares them. {rest}", words::plural(count as u64, "profile")),
        ),
    })
}

/// What an access log by itself tells: who takes the time, not why.
fn of_log(facts: &Facts) -> (String, String) {
    let served = || facts.requests.endpoints().iter().filter(|row| row.side == Side::Server);
    let sum = |of: fn(&CallStats) -> u64| served().map(|row| of(&row.stats)).fold(0, u64::saturating_add);
    let (count, errors, all_ns) =
        (sum(|stats| stats.count), sum(|stats| stats.errors), sum(|stats| stats.total_ns));
    let requests = format!("{} logged, {} failed", words::plural(count, "request"), words::count(errors));
    match served().max_by_key(|row| row.stats.total_ns).filter(|_| all_ns > 0) {
        Some(row) => (
            format!(
                "{} takes {} of the time of all requests: {}, p50 {}, max {}",
                row.name,
                words::percent(row.stats.total_ns as f64 / all_ns as f64),
                words::plural(row.stats.timed, "request"),
                words::duration(row.stats.percentile(0.5)),
                words::duration(row.stats.max()),
            ),
            format!("{requests}. A log tells how long and not why: record the server meanwhile."),
        ),
        None => (format!("{requests}. The log tells no durations: nothing shows time"), String::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{account, finding, row};
    use whyslow_model::{Call, Event, Exit, Nanos, ProcessInfo, Ret, Sink, SourceId, Timestamp};

    fn facts() -> Facts {
        let mut facts = Facts::default();
        let call = Call { tid: 7, ret: Ret::Value(0), ..Call::new("getpid", "") };
        facts.push(Event::Call(&call));
        facts.finish();
        facts
    }

    #[test]
    fn a_program_that_waits_for_work_is_said_to_do_so() {
        let idle =
            |idle_ns| TimeAccount { idle_ns, ..account(vec![row(TimeState::User, None, None, 10_000_000)]) };
        let (sentence, _) = verdict(&facts(), &[], None, Some(&idle(990_000_000)));
        assert!(
            sentence.ends_with("waits for work 99.0 % of the time; nothing slows it down."),
            "{sentence}"
        );
        let (sentence, _) = verdict(&facts(), &[], None, Some(&idle(40_000_000)));
        assert_eq!(sentence, "No cause of slowness found in 1 system call.");
        // A hundred threads that wait for work beside one that does not.
        let mut facts = Facts::default();
        for (tid, ts) in [(7, 1), (8, 10_000_000)] {
            let call = Call { tid, ts: Timestamp::new(ts), ret: Ret::Value(0), ..Call::new("getpid", "") };
            facts.push(Event::Call(&call));
        }
        facts.finish();
        let (sentence, _) = verdict(&facts, &[], None, Some(&idle(990_000_000)));
        assert!(!sentence.contains("waits for work"), "{sentence}");
    }

    #[test]
    fn the_program_is_named_though_its_process_has_ended() {
        let mut facts = Facts::default();
        let info = ProcessInfo { pid: 7, comm: Some("audits".to_string()), ..ProcessInfo::default() };
        facts.push(Event::Process(info));
        facts.push(Event::Call(&Call { tid: 7, ret: Ret::Value(0), ..Call::new("getpid", "") }));
        let (source, ts) = (SourceId(0), Timestamp::new(1));
        facts.push(Event::Exit(Exit { source, line: 2, tid: 7, ts, status: Some(0), signal: None }));
        facts.finish();
        let told = whyslow_model::Finding {
            title: "378.9 kB mapped and unmapped 11,028 times".to_string(),
            ..finding("mmap-churn", Some(7), Some(0.5))
        };
        let (sentence, _) = verdict(&facts, &[told], None, None);
        assert_eq!(sentence, "audits (pid 7): 378.9 kB mapped and unmapped 11,028 times.");
    }

    fn last(state: TimeState, call: Option<&str>, object: Option<&str>) -> Hop {
        Hop {
            pid: 9,
            name: "store".to_string(),
            tid: Some(9),
            thread: None,
            threads: Some(1),
            state: Some(state),
            call: call.map(str::to_string),
            object: object.map(str::to_string),
            function: None,
            place: None,
            ns: Nanos::new(1),
            count: None,
            mean_ns: Nanos::UNKNOWN,
            share: 1.0,
        }
    }

    /// The first sentence about a client whose waits end at a store that syncs in that function.
    fn of_a_client_of_a_store(function: &str, line: u32) -> String {
        let mut facts = Facts::default();
        let info = ProcessInfo {
            pid: 26_686,
            comm: Some("checkout-client.py".to_string()),
            ..ProcessInfo::default()
        };
        facts.push(Event::Process(info));
        facts.push(Event::Call(&Call { tid: 26_686, ret: Ret::Value(0), ..Call::new("getpid", "") }));
        facts.finish();
        let file = last(TimeState::File, Some("fsync"), None);
        let culprit = Culprit {
            pid: 26_610,
            name: "store".to_string(),
            does: "waits for a file in fsync (20 times), 61 % of its time".to_string(),
            function: Some(function.to_string()),
            place: Some(format!("store.c:{line}")),
            caller: None,
            caller_place: None,
            hops: vec![file.clone(), file.clone(), file],
            id: None,
            title: None,
        };
        let told = whyslow_model::Finding {
            culprit: Some(culprit),
            ..finding("slow-downstream", Some(26_686), Some(0.291))
        };
        verdict(&facts, &[told], None, None).0
    }

    #[test]
    fn what_the_last_process_does_stays_where_room_is_short() {
        let told = of_a_client_of_a_store("save_rows", 17);
        assert_eq!(
            told,
            "checkout-client.py (pid 26686): waits in the end for store (26610), which waits in fsync, in save_rows (store.c:17)."
        );
        let told = of_a_client_of_a_store("save_rows_of_all_shops", 11_712);
        assert_eq!(
            told,
            "checkout-client.py (pid 26686): waits in the end for store (26610), which waits in fsync, in save_rows_of_all_shops."
        );
    }

    #[test]
    fn what_a_process_does_is_told_briefly_where_room_is_short() {
        let file = last(TimeState::File, Some("fsync"), Some("/srv/journal"));
        assert_eq!(briefly("waits for /srv/journal in fsync", &file), "waits in fsync");
        let unnamed = last(TimeState::File, Some("fsync"), None);
        assert_eq!(briefly("waits for a file in fsync", &unnamed), "waits in fsync");
        assert_eq!(briefly("waits for /srv/journal in fsync on device vda", &file), "waits in fsync");
        let lock = last(TimeState::Lock, Some("futex"), Some("futex 0x7fbf2c16397c"));
        assert_eq!(briefly("waits for futex 0x7fbf2c16397c in futex", &lock), "waits for a lock");
        let timer = last(TimeState::Timer, Some("clock_nanosleep"), None);
        assert_eq!(briefly("sleeps in clock_nanosleep", &timer), "sleeps");
        let child = last(TimeState::Child, None, Some("gzip"));
        assert_eq!(briefly("waits for the end of gzip", &child), "runs gzip");
        assert_eq!(briefly("computes", &last(TimeState::User, None, None)), "computes");
    }

    #[test]
    fn one_cause_is_the_sentence_and_the_others_stand_beside() {
        let causes = ["slow-file-io", "small-reads", "file-reread"].map(|id| whyslow_model::Finding {
            title: format!("{id} of /srv/a.db"),
            ..finding(id, None, Some(0.5))
        });
        let (sentence, beside) = verdict(&facts(), &causes, None, None);
        assert_eq!((sentence.as_str(), beside.as_str()), ("slow-file-io of /srv/a.db.", "2 causes more."));
    }
}
