//! The culprit of a finding: the file, peer, function or holder that the first sentence names where the title does not.

use whyslow_facts::Facts;
use whyslow_model::{AccountRow, Finding, SampleKind, Subject, TimeAccount};

/// What the sentence adds to a title: ` (/srv/orders.db)`, `; blocked by backup`, `; it waits most in save_row`. Empty where the title
/// names all that is known.
pub(super) fn beside(facts: &Facts, account: Option<&TimeAccount>, finding: &Finding) -> Vec<String> {
    let rows = claimed(account, finding);
    let object = object(finding, &rows).map(|object| format!(" ({object})"));
    let holder = holder(finding).map(|who| format!("; blocked by {who}"));
    let function = Some(function(facts, finding, &rows)).filter(|text| !text.is_empty());
    // Of threads that are alike, which one has the lock says less than where it is taken.
    let (second, third) = if is_held_by_its_like(finding) { (function, holder) } else { (holder, function) };
    [object, second, third, caller(finding)].into_iter().flatten().collect()
}

/// The names of a finding's culprits that its title holds, the longest first: those of its subject, and what looks like a path or an
/// address, as what the last one of a chain waits for.
pub(super) fn names(finding: &Finding) -> Vec<String> {
    let Subject { path, peer, device, endpoint, function, lock, comm, .. } = &finding.subject;
    let all = [path, peer, device, endpoint, function, lock, comm].into_iter().flatten();
    let all = all.filter(|name| !name.is_empty() && finding.title.contains(name.as_str()));
    let words = finding.title.split([' ', '(', ')']).map(|word| word.trim_end_matches([',', ':', ';', '.']));
    let mut names: Vec<String> =
        all.cloned().chain(words.filter(|word| is_place(word)).map(str::to_string)).collect();
    names.sort_by_key(|name| std::cmp::Reverse(name.len()));
    names.dedup();
    names
}

/// `/srv/a.db`, `10.0.0.7:6379`.
fn is_place(word: &str) -> bool {
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let is_address = |(host, port): (&str, &str)| !host.is_empty() && is_port(port);
    word.strip_prefix('/').is_some_and(|rest| rest.contains('/'))
        || word.rsplit_once(':').is_some_and(is_address)
}

/// The rows of the account that a finding explains, the largest part first.
fn claimed<'a>(account: Option<&'a TimeAccount>, finding: &Finding) -> Vec<&'a AccountRow> {
    let rows = account.map_or(&[][..], |account| &account.rows);
    let part =
        |row: &AccountRow| row.claimed_by.iter().find(|claim| claim.id == finding.id).map(|one| one.ns);
    let mut found: Vec<(u64, &AccountRow)> = rows.iter().filter_map(|row| Some((part(row)?, row))).collect();
    found.sort_by_key(|(ns, _)| std::cmp::Reverse(*ns));
    found.into_iter().map(|(_, row)| row).collect()
}

/// The file, peer, device or endpoint, where the title names none of those known: the subject's own, else that of the largest row.
/// The address of a lock tells a reader nothing that its functions do not.
fn object<'a>(finding: &'a Finding, rows: &[&'a AccountRow]) -> Option<&'a str> {
    let Subject { path, peer, device, endpoint, .. } = &finding.subject;
    let own: Vec<&str> = [path, peer, device, endpoint]
        .into_iter()
        .flatten()
        .map(String::as_str)
        .filter(|name| !name.is_empty())
        .collect();
    // A row of another call may be explained in part only, and its object be another's.
    let calls = finding.subject.syscall.as_deref().unwrap_or_default();
    let is_its = |row: &&&AccountRow| {
        row.call.as_deref().is_some_and(|call| calls.split(['/', ',', ' ']).any(|one| one == call))
    };
    let largest = rows.iter().find(is_its).and_then(|row| row.object.as_deref());
    match own.iter().any(|name| is_named(&finding.title, name)) {
        true => None,
        false => own.first().copied().or(largest.filter(|name| !is_named(&finding.title, name))),
    }
}

/// True where a title names it, in full, by the last part of its path, or by the address of a lock alone.
fn is_named(title: &str, name: &str) -> bool {
    let name = name.strip_prefix("futex ").unwrap_or(name);
    let last = name.trim_end_matches('/').rsplit('/').next().unwrap_or(name);
    title.contains(name) || (name.starts_with('/') && !last.is_empty() && title.contains(last))
}

/// Who holds up the finding's thread, at the end of the chain of waits. Its own process is no holder to name.
fn holder(finding: &Finding) -> Option<&str> {
    let [first, .., last] = &finding.chain[..] else { return None };
    let comm = last.who.split_once(' ').map_or(&*last.who, |(_, comm)| comm);
    let is_own = finding.subject.tid.is_some_and(|tid| last.who.ends_with(&format!("/{tid}")));
    let is_known = is_own || !comm.is_empty() && finding.title.contains(comm);
    (first.who != last.who && !is_known).then_some(&*last.who)
}

/// The name behind a number: `thread 4023 exports.py`, `4196/4206 digest`.
fn name_of(who: &str) -> &str {
    let who = who.strip_prefix("thread ").unwrap_or(who);
    who.split_once(' ').map_or("", |(_, name)| name)
}

/// True where the thread at the end of the chain of waits has the name of the first one.
fn is_held_by_its_like(finding: &Finding) -> bool {
    let [first, .., last] = &finding.chain[..] else { return false };
    !name_of(&first.who).is_empty() && name_of(&first.who) == name_of(&last.who)
}

/// Within which function further out the one is that is named, else who calls it: of a helper, that is where the work is asked for.
fn caller(finding: &Finding) -> Option<String> {
    let code = finding.code.as_ref()?;
    let is_new = |name: &Option<String>| !finding.title.contains(name.as_deref().unwrap_or(""));
    // Its line would leave no room for its name.
    let within =
        code.within.as_ref().filter(|_| is_new(&code.within)).map(|within| format!(", within {within}"));
    let caller =
        code.calling().filter(|_| is_new(&code.caller)).map(|caller| format!(", called by {caller}"));
    within.or(caller)
}

/// The function of the program in which its thread computes or waits most, where the title names none: by the largest row that the
/// finding explains, else by samples of the subject's process.
fn function(facts: &Facts, finding: &Finding, rows: &[&AccountRow]) -> String {
    let Subject { pid, tid, function, .. } = &finding.subject;
    // Where its own calls are made is where it is to be mended.
    if let Some(code) = finding.code.as_ref().filter(|code| code.is_its_own) {
        let is_new = !finding.title.contains(code.function.as_str());
        return if is_new { format!(", in {}", code.site()) } else { String::new() };
    }
    let of_row = rows.iter().find(|row| row.function.is_some());
    if let Some(function) = function {
        let is_new = !finding.title.contains(function.as_str());
        let place = of_row.filter(|row| row.function.as_ref() == Some(function)).and_then(|row| row.site());
        return if is_new { format!(", in {}", place.as_ref().unwrap_or(function)) } else { String::new() };
    }
    let told =
        of_row.filter(|row| !row.function.as_ref().is_some_and(|name| finding.title.contains(name.as_str())));
    if let Some((row, site)) = told.and_then(|row| Some((row, row.site()?))) {
        let does = if row.state.sampled() == Some(SampleKind::OnCpu) { "computes" } else { "waits" };
        return format!("; it {does} most in {site}");
    }
    let in_wait = finding.subject.lock.is_some() || finding.subject.peer.is_some();
    let sampled = pid.and_then(|pid| facts.world.threads.last_process(pid)).and_then(|process| {
        let most = |kind, tid| {
            facts
                .samples
                .own_site(kind, process, tid, |_| true)
                .map(|(site, _)| (site.function, site.words()))
        };
        // Samples of a thread may be too few to name a function of its own; those of its process do.
        let of = |kind| most(kind, *tid).or_else(|| most(kind, None));
        let waits = of(SampleKind::OffCpu).map(|site| ("waits", site));
        let computes = of(SampleKind::OnCpu).map(|site| ("computes", site));
        if in_wait { waits.or(computes) } else { computes.or(waits) }
    });
    match sampled {
        Some((does, (name, site))) if !finding.title.contains(name) => format!("; it {does} most in {site}"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{account, finding, row};
    use whyslow_model::account::Claim;
    use whyslow_model::{ChainLink, Nanos, TimeState};

    fn said(of: impl Fn(&mut Finding), object: Option<&str>) -> String {
        let mut finding = finding("slow-file-io", Some(1), Some(0.5));
        finding.title = "12 slow reads".to_string();
        of(&mut finding);
        let mut largest = row(TimeState::File, Some("read"), object, 700);
        largest.claimed_by.push(Claim { id: "slow-file-io", ns: 500 });
        beside(&Facts::default(), Some(&account(vec![largest])), &finding).concat()
    }

    #[test]
    fn a_subject_that_the_title_does_not_name_is_added() {
        assert_eq!(said(|one| one.subject.path = Some("/srv/a.db".into()), None), " (/srv/a.db)");
        assert_eq!(said(|one| one.subject.peer = Some("10.0.0.7:80".into()), Some("/x")), " (10.0.0.7:80)");
        assert_eq!(said(|one| one.subject.function = Some("save_row".into()), None), ", in save_row");
    }

    #[test]
    fn what_the_title_names_is_not_said_again() {
        let named = |one: &mut Finding| {
            one.title = "12 slow reads of a.db".to_string();
            one.subject.path = Some("/srv/a.db".into());
        };
        assert_eq!(said(named, Some("/srv/a.db")), "");
        assert_eq!(said(|_| {}, None), "");
    }

    #[test]
    fn a_lock_that_the_title_names_by_its_address_is_not_said_again() {
        let waits = |one: &mut Finding| {
            one.title = "10 threads wait 15.8 s for the lock 0x563b71b58860".to_string();
            one.subject.syscall = Some("read".into());
        };
        assert_eq!(said(waits, Some("futex 0x563b71b58860")), "");
        assert_eq!(said(waits, Some("futex 0x563b71b58870")), " (futex 0x563b71b58870)");
    }

    #[test]
    fn a_subject_without_a_name_has_that_of_the_largest_row_that_it_explains() {
        let reads = |one: &mut Finding| one.subject.syscall = Some("pread64, read".into());
        assert_eq!(said(reads, Some("/srv/orders.db")), " (/srv/orders.db)");
        assert_eq!(said(|_| {}, Some("/srv/orders.db")), "");
        let other = finding("file-reread", Some(1), Some(0.5));
        assert!(beside(&Facts::default(), None, &other).is_empty());
    }

    #[test]
    fn who_stands_at_the_end_of_the_waits_is_named() {
        let link = |who: &str| ChainLink {
            who: who.to_string(),
            waits_for: String::new(),
            ns: Nanos::UNKNOWN,
            evidence: String::new(),
        };
        let held = |one: &mut Finding| one.chain = vec![link("1/1 app"), link("9/9 backup")];
        assert_eq!(said(held, None), "; blocked by 9/9 backup");
        assert_eq!(said(|one| one.chain = vec![link("1/1 app")], None), "");
        // Of workers of one program the function comes first.
        let workers = |one: &mut Finding| {
            one.chain = vec![link("thread 1 app.py"), link("thread 2 app.py")];
            one.subject.function = Some("take_seat".into());
        };
        assert_eq!(said(workers, None), ", in take_seat; blocked by thread 2 app.py");
    }
}
