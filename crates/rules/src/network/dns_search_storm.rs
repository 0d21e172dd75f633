//! # dns-search-storm
//!
//! ## What it is
//! A name is looked up with each search domain behind it first, and the name server says each time that there is no such
//! name, before the name itself is asked for.
//!
//! ## Why it is slow
//! With `options ndots:5` (the default of Kubernetes) any name with fewer than five dots is tried with all search domains
//! first, for IPv4 and for IPv6: four domains are eight answers for nothing. Each costs a way to the name server and
//! back, and a server under load drops some, which costs five seconds.
//!
//! ## Example
//! ```text
//! sendmmsg(3, [... "api.example.com.shop.svc.cluster.local" ...]) = 2
//! recvfrom(3, ... NXDOMAIN ...)
//! ```
//!
//! ## What to do instead
//! Write the name with a dot at its end where it is complete (`api.example.com.`). `ndots:1` or `2` in the pod's dnsConfig
//! or resolv.conf. A cache on the host (NodeLocal DNSCache, systemd-resolved). Keep connections instead of
//! looking names up for each.
//!
//! ## When it is wrong
//! Of names that the capture cuts off (strace without `-s`) the lengths of the queries tell that they are several.
//! A short name inside the cluster (`redis`) needs the search list: its first domain finds it. One name at the start of a
//! program is no storm.

use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::{guards, words};
use whyslow_facts::folds::dns_names::Name;
use whyslow_facts::{Exemplar, Facts};
use whyslow_model::syscall::Class;
use whyslow_model::{Measurement, Nanos, SaturatingSum, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "dns-search-storm",
    group: "network",
    summary: "names are tried with each search domain before they are asked for as they are",
    source: include_str!("dns_search_storm.rs"),
    needs: &[Need::Calls, Need::Class(Class::Network), Need::Descriptors],
    check,
};

/// Fewer answers for nothing are a start.
const MIN_MISSES: u64 = 20;
/// Answers for nothing for each that helps: two search domains, asked for both kinds of addresses, are two.
const MISSES_PER_ANSWER: f64 = 1.5;

struct Searched<'a> {
    base: &'a str,
    misses: u64,
    ns: u64,
    found: u64,
    suffixes: Vec<&'a str>,
    server: &'a str,
    line: &'a Exemplar,
    tid: u32,
}

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let names = &facts.dns_names.names;
    let mut missing: Vec<(&str, &Name)> =
        names.iter().filter(|(_, name)| name.missing > 0).map(|(text, name)| (&**text, name)).collect();
    missing.sort_unstable_by_key(|(text, _)| *text);
    let found = names.iter().filter(|(_, name)| name.found > 0);
    let mut searched: Vec<Searched<'_>> = found
        .filter_map(|(base, name)| if name.is_cut { cut(base, name) } else { searched(base, name, &missing) })
        .collect();
    searched.sort_by_key(|one| (std::cmp::Reverse(one.misses), one.base));
    let misses: u64 = searched.iter().map(|one| one.misses).sum();
    let helped: u64 = searched.iter().map(|one| one.found).sum();
    let Some(worst) = searched.first().filter(|_| misses >= MIN_MISSES) else { return };
    if (misses as f64) < MISSES_PER_ANSWER * helped as f64 {
        return;
    }
    let time = Nanos::new(searched.iter().map(|one| one.ns).saturating_sum());
    let tid = Some(worst.tid).filter(|tid| searched.iter().all(|one| one.tid == *tid));
    let time = if time.or_zero() > 0 { time } else { Nanos::UNKNOWN };
    let share = guards::share_of_ns(facts, tid, time, misses);
    let others = match searched.len() {
        1 => String::new(),
        more => format!(" and {}", words::plural(more as u64 - 1, "other name")),
    };
    let server = match worst.server {
        "" => "the name server".to_string(),
        server => format!("the name server {server}"),
    };
    let behind = match worst.suffixes[..] {
        [] => "something".to_string(),
        _ => worst.suffixes.join(", "),
    };
    let cut = match worst.suffixes[..] {
        [] => " The capture cuts the names off (-s 256 shows them); the lengths of the queries tell.",
        _ => "",
    };
    let cost = if time.is_known() { format!(", {time} in waiting") } else { String::new() };
    out.report(
        share,
        format!(
            "{}{others}: {} of {server} that there is no such name, before {} that help{cost}",
            worst.base,
            words::plural(misses, "answer"),
            words::count(helped)
        ),
    )
    .at_most(Severity::Warning)
    .measured(Measurement::count("nxdomain_answers", misses).at_least(MIN_MISSES as f64))
    .measured(Measurement::count("answers_that_help", helped))
    .measured(Measurement::number("nxdomain_per_answer", misses as f64 / helped as f64).at_least(MISSES_PER_ANSWER))
    .measured_all((searched.len() > 1).then(|| Measurement::count("other_names", searched.len() as u64 - 1)))
    .measured(Measurement::time("time", time))
    .subject(Subject { peer: Some(worst.base.to_string()), ..Subjects::thread(facts, worst.tid) })
    .cause(format!(
        "{} is tried with {behind} behind it first: the name has fewer dots than resolv.conf's ndots asks for, so that the search list comes first.{cut}",
        worst.base,
    ))
    .fix(match worst.suffixes[..] {
        [] => "settings: write complete names with a dot at their end".to_string(),
        _ => format!("settings: write the complete name with a dot at its end: {}.", worst.base),
    })
    .fix("Kubernetes: spec.dnsConfig.options: [{name: ndots, value: \"1\"}]; elsewhere `options ndots:1` in /etc/resolv.conf, and no search domain that is not needed")
    .fix("a cache on the host (NodeLocal DNSCache, systemd-resolved, dnsmasq), which remembers what does not exist too")
    .fix("code: keep connections open, so that names are not looked up for each request")
    .verify("tcpdump -ni any udp port 53 | grep -c NXDomain   (before and after)")
    .saving(time)
    .evidence(Some(worst.line))
    .file();
}

/// What was asked with something behind `base`, in vain.
#[gated]
fn searched<'a>(base: &'a str, name: &'a Name, missing: &[(&'a str, &'a Name)]) -> Option<Searched<'a>> {
    let from = missing.partition_point(|(text, _)| *text < base);
    let behind = missing[from..].iter().take_while(|(text, _)| text.starts_with(base));
    let mut one = Searched {
        base,
        misses: 0,
        ns: 0,
        found: name.found,
        suffixes: Vec::new(),
        server: &name.server,
        line: &name.line,
        tid: name.tid,
    };
    for (text, missed) in behind {
        let Some(suffix) = text[base.len()..].strip_prefix('.') else { continue };
        if one.misses == 0 {
            one.line = &missed.line;
        }
        one.misses += missed.missing;
        one.ns = one.ns.saturating_add(missed.missing_ns);
        one.suffixes.push(suffix);
    }
    (one.misses > 0).then_some(one)
}

/// What was asked with something behind a name that the capture cuts off: in vain with longer queries, at several lengths, than the one
/// that helped.
#[gated]
fn cut<'a>(base: &'a str, name: &'a Name) -> Option<Searched<'a>> {
    /// Search domains, at least: one longer name may be one that is simply not there.
    const LENGTHS: usize = 2;
    let shortest = name.found_lengths.iter().min()?;
    let longer = name.missing_lengths.iter().filter(|length| *length > shortest).count();
    (longer >= LENGTHS).then(|| Searched {
        base,
        misses: name.missing,
        ns: name.missing_ns,
        found: name.found,
        suffixes: Vec::new(),
        server: &name.server,
        line: &name.line,
        tid: name.tid,
    })
}
