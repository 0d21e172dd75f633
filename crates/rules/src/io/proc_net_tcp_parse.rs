//! # proc-net-tcp-parse
//!
//! ## What it is
//! The program reads `/proc/net/tcp` (or `tcp6`) with thousands of connections in it, and takes the text apart.
//!
//! ## Why it is slow
//! The kernel walks its table of connections, locks bucket by bucket, and prints a line of 150 bytes for each; the program
//! splits each line into a dozen fields and throws most of them away. Both grow with the connections of the whole
//! network namespace, not with what is asked.
//!
//! ## Example
//! ```text
//! openat(AT_FDCWD, "/proc/net/tcp", O_RDONLY) = 6 <0.000020>
//! read(6, "  sl  local_address rem_address "..., 4096) = 4050 <0.000170>
//! read(6, " 27: 0100007F:1F90 0100007F:C350"..., 4096) = 4050 <0.000165>
//! ```
//!
//! ## What to do instead
//! Counts only: `/proc/net/sockstat` (one short file). A selection (a state, a port): netlink's sock_diag, as `ss` does, which
//! filters in the kernel and answers in binary form: 2.5 s became 0.04 s for collectd (its pull request 113). Else: less
//! often, a larger read buffer, and only the columns that are used, by position.
//!
//! ## When it is wrong
//! Below a thousand connections it costs a millisecond, and stays quiet. A tool that is run once to look at connections does
//! what it is for.

use super::streams::{how_often, subject, worst};
use crate::engine::{Findings, Need, Report, Rule};
use crate::gate::gated;
use crate::guards::{self, Share};
use crate::often::PASSES;
use crate::sampled::Sampled;
use whyslow_facts::{Facts, Stream};
use whyslow_model::{Measurement, SampleKind, Severity, Subject};
use whyslow_profile::kinds::CostKind;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "proc-net-tcp-parse",
    group: "io",
    summary: "a long table of connections is read as text",
    source: include_str!("proc_net_tcp_parse.rs"),
    needs: &[
        Need::Either(&[Need::AnyOf(&["read", "pread64", "readv", "preadv"]), Need::Scheduling]),
        Need::Either(&[Need::Descriptors, Need::Scheduling]),
    ],
    check,
};

/// Bytes of a line: `TMPSZ` in the kernel's net/ipv4/tcp_ipv4.c. Lines of tcp6 are a little longer.
const LINE: u64 = 150;
/// Connections below cost a millisecond or so.
const MIN_LINES: u64 = 1_000;
/// From here on the table itself is a warning: kernel and reader take microseconds for each line, so that one reading costs ten
/// milliseconds and more.
const MANY_LINES: u64 = 5_000;
/// Read once, it is a question, not a habit.
const MIN_PASSES: u64 = 2;
/// Of a CPU: a program that keeps less busy is not slow for what it computes.
const BUSY_CPUS: f64 = 0.50;
/// Of the CPU time, what taking text apart must take to be told.
const PARSING: f64 = 0.05;
/// What the kernel runs only to walk its table of connections and to print a line for each: net/ipv4/tcp_ipv4.c, net/ipv6/tcp_ipv6.c.
const PRINTING: &[&str] =
    &["tcp4_seq_show", "tcp6_seq_show", "tcp_seq_start", "tcp_seq_next", "tcp_seq_stop", "tcp_get_idx"];

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let tables = facts.streams.iter().filter(|stream| is_table(stream));
    let long = tables.filter(|stream| stream.opens >= MIN_PASSES && lines(stream) >= MIN_LINES);
    let found: Vec<(Share, &Stream)> = long
        .map(|stream| {
            let reads = &stream.reads;
            (guards::share_of_ns(facts, reads.only_thread(), reads.time(), reads.calls.count), stream)
        })
        .collect();
    let printed = printed(facts);
    if found.is_empty()
        && let Some(printed) = printed
    {
        report_printed(facts, out, &printed);
        return;
    }
    let found = worst(found);
    for (at, (share, stream)) in found.into_iter().enumerate() {
        let reads = &stream.reads;
        let lines = lines(stream);
        // What the kernel's printing takes of the CPU time, where that is the larger part.
        let share = match &printed {
            Some(printed) if at == 0 => printed.or_larger(facts, share),
            _ => share,
        };
        let connections = Measurement::count("connections", lines).at_least(MIN_LINES as f64);
        let passes = Measurement::count("passes", stream.opens).at_least(MIN_PASSES as f64);
        let bytes = Measurement::bytes("bytes", reads.calls.bytes);
        let each = Measurement::bytes("bytes_per_call", reads.calls.bytes / reads.calls.count.max(1));
        let often = how_often(facts, &PASSES, stream.opens);
        let title = format!(
            "{}: about {connections} connections are read as text, {passes} times over ({bytes}{})",
            stream.name,
            often.behind_comma()
        );
        let parsing = parsing(facts);
        let most = if lines >= MANY_LINES { Severity::Critical } else { Severity::Notice };
        advised(out.report(share, title))
            .at_most(most)
            .subject(subject(facts, stream, reads, "read"))
            .cause(format!(
                "The kernel prints a line for each connection of the network namespace, and the program takes each apart, at {each} a read.{}",
                parsing_words(&parsing),
            ))
            .measured_all([connections, passes, bytes, each])
            .measured_all(often.figures())
            .measured_all(parsing)
            .evidence_all(reads.exemplars.iter())
            .file();
    }
}

/// The process in whose CPU time the kernel's printing of the table is the largest part.
fn printed(facts: &Facts) -> Option<Sampled<'_>> {
    Sampled::most_in_kernel(facts, BUSY_CPUS, |function| PRINTING.contains(&function))
}

/// What to do instead is the same, however it was found.
fn advised<'f, 'a>(report: Report<'f, 'a>) -> Report<'f, 'a> {
    report
        .fix("counts only: /proc/net/sockstat")
        .fix("a selection: netlink sock_diag (as ss does): filtered in the kernel, in binary form")
        .fix("else read less often, with a large buffer, and take the needed columns by position")
        .verify("strace -f -e trace=openat,read -P /proc/net/tcp -p PID; wc -l /proc/net/tcp; ss -s")
}

/// Where no single reads were recorded, what the kernel did is told by the samples.
fn report_printed(facts: &Facts, out: &mut Findings<'_>, printed: &Sampled<'_>) {
    let who = facts.profiled(printed.profile);
    let process = facts.world.threads.process(printed.process);
    let is_of_six = |function: &str| function == "tcp6_seq_show";
    let six = facts.samples.in_kernel(SampleKind::OnCpu, printed.process, None, is_of_six);
    let four = facts
        .samples
        .in_kernel(SampleKind::OnCpu, printed.process, None, |function| function == "tcp4_seq_show");
    let table = if six.ns > four.ns { "/proc/net/tcp6" } else { "/proc/net/tcp" };
    let (share, cpus) = printed.figures(BUSY_CPUS);
    let parsing = parsing(facts);
    let text = format!("{} of CPU time below {}", share, PRINTING[usize::from(six.ns > four.ns)]);
    let title = format!(
        "{table} is read as text: its printing by the kernel alone takes {share} of the CPU time of {who}"
    );
    advised(out.report(printed.share(facts), title))
        .at_most(Severity::Critical)
        .subject(Subject { pid: process.pid, path: Some(table.to_string()), ..Subject::default() })
        .cause(format!(
            "The kernel prints a line for each connection of the network namespace, and the program takes each apart.{}",
            parsing_words(&parsing)
        ))
        .measured(share)
        .measured_all(cpus)
        .measured_all(parsing)
        .evidence_line(facts.profile_source(printed.profile), text)
        .file();
}

fn is_table(stream: &Stream) -> bool {
    stream.path.as_deref().is_some_and(|path| {
        path.starts_with("/proc/") && (path.ends_with("/net/tcp") || path.ends_with("/net/tcp6"))
    })
}

/// Lines of one pass.
fn lines(stream: &Stream) -> u64 {
    stream.reads.calls.bytes / stream.opens.max(1) / LINE
}

/// What a profile beside the trace says of the other half of the cost.
#[gated]
fn parsing(facts: &Facts) -> Option<Measurement> {
    let shares =
        facts.profiles.of_cpu().map(|profile| profile.step.account.asked_share(CostKind::TextParsing));
    let most = shares.max_by(f64::total_cmp).filter(|share| *share >= PARSING)?;
    Some(Measurement::share("share_of_cpu_time_parsing", most).at_least(PARSING))
}

fn parsing_words(part: &Option<Measurement>) -> String {
    part.as_ref().map_or(String::new(), |part| format!(" Of the CPU time {part} is text parsing."))
}
