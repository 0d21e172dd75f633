//! # ca-bundle-reload
//!
//! ## What it is
//! A program reads and parses the list of trusted certificates again for each connection that it makes.
//!
//! ## Why it is slow
//! The list has some 140 certificates in 220 kB of text. Decoding them takes 10 to 50 ms of CPU time, more than the handshake that they are for.
//!
//! ## Example
//! ```text
//! openat(AT_FDCWD, "/etc/ssl/certs/ca-certificates.crt", O_RDONLY) = 6
//! read(6, "-----BEGIN CERTIFICATE-----\nMIIH"..., 4096) = 4096
//! close(6) = 0
//! ```
//!
//! ## What to do instead
//! Make one TLS context for the process and use it for all connections: the list is read once. Most HTTP clients do so if the client, session or
//! agent itself is kept.
//!
//! ## When it is wrong
//! Once per process, and again when the list was changed, is how it should be: a few reads are quiet. Where each process reads it once and there is a
//! new process for each item, it is the processes that cost.

use super::rounds::Reopened;
use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::guards::{self, Share};
use crate::often::{Often, REPEATS};
use crate::sampled;
use whyslow_facts::{Facts, names};
use whyslow_model::{Measurement, Nanos, SampleKind, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "ca-bundle-reload",
    group: "files",
    summary: "the list of trusted certificates is read and parsed for each connection",
    source: include_str!("ca_bundle_reload.rs"),
    needs: &[Need::Either(&[Need::AnyOf(&["open", "openat", "openat2"]), Need::Table("files")])],
    check,
};

/// Rounds from which on it is a habit: a few processes, or a few contexts at the start, are fewer.
const MIN_ROUNDS: u64 = 5;
/// A file of another name with certificates is a list from this size on: one certificate has 1 to 2 kB, a list of a company's own some hundred.
const LIST_BYTES: u64 = 100_000;
/// Rounds a second below which it is reloaded from time to time, and no cost.
const MIN_PER_S: f64 = 0.2;

/// Functions in which libraries read lists of certificates, by how their names begin: OpenSSL and what is made of it, GnuTLS, mbed TLS, Go, rustls, the JDK.
const PARSES: &[&str] = &[
    "X509_load_cert",
    "X509_STORE_load",
    "X509_STORE_add_cert",
    "X509_LOOKUP_",
    "PEM_X509_INFO_read",
    "PEM_read_bio_X509",
    "SSL_CTX_load_verify",
    "SSL_CTX_set_default_verify",
    "gnutls_certificate_set_x509_trust",
    "gnutls_x509_trust_list_add",
    "mbedtls_x509_crt_parse",
    "crypto/x509.(*CertPool).AppendCertsFromPEM",
    "crypto/x509.loadSystemRoots",
    "rustls_native_certs::",
    "sun.security.provider.JavaKeyStore",
    "node::crypto::NewRootCertStore",
];

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let files = facts.world.files.iter().filter(|(_, file)| names::is_certificates(&file.path));
    let mut reread: Vec<Reopened<'_>> = files
        .map(|(id, file)| Reopened::of(facts, id, file))
        .filter(|again| is_habit(facts, again))
        .collect();
    reread.sort_by_key(|again| std::cmp::Reverse((again.time.or_zero(), again.times)));
    for again in &reread {
        report(facts, out, again);
    }
}

#[gated]
fn is_habit(facts: &Facts, again: &Reopened<'_>) -> bool {
    let bytes = again.bytes_each.or(again.mean_bytes).or(again.file.size).unwrap_or(0);
    let is_list = names::is_certificate_list(&again.file.path) || bytes >= LIST_BYTES;
    let rate = facts.pace.untraced(again.per_s);
    is_list && again.times >= MIN_ROUNDS && rate.is_none_or(|rate| rate >= MIN_PER_S)
}

/// The time in reading and decoding it, where samples tell that it is more than the calls show: the part of the CPU time.
#[gated]
fn decoding(facts: &Facts, again: &Reopened<'_>) -> Option<(Share, Nanos)> {
    let process = facts.process_of_thread(again.file.tid)?;
    let is_parse = |name: &str| PARSES.iter().any(|known| name.starts_with(known));
    let ns = sampled::in_functions(facts, SampleKind::OnCpu, process, &is_parse).ns;
    (ns > again.time.or_zero()).then_some(())?;
    let time = Nanos::new(ns);
    let tid = Some(again.file.tid).filter(|_| !again.file.shared);
    Some((guards::share_of_ns(facts, tid, time, again.times), time))
}

fn report(facts: &Facts, out: &mut Findings<'_>, again: &Reopened<'_>) {
    let file = again.file;
    let (share, time) = decoding(facts, again).unwrap_or_else(|| (again.share(facts), again.time));
    let repeats = Measurement::count("repeats", again.times).at_least(MIN_ROUNDS as f64);
    let often = Often::of(&REPEATS, again.times, again.per_s, &facts.work).per_second_from(facts, MIN_PER_S);
    let took = Measurement::time("time", time);
    let cost = if time.is_known() { format!("; {took} with its decoding") } else { String::new() };
    out.report(
        share,
        format!("{} read {repeats} times more{}{}{cost}", file.path, often.in_brackets(), again.what_each()),
    )
    .measured(repeats)
    .measured_all(often.figures())
    .measured_all(again.bytes_each())
    .measured_all(again.mean_bytes())
    .measured(took)
    .subject(Subject { path: Some(file.path.to_string()), ..Subjects::thread(facts, file.tid) })
    .cause("A new TLS context is made for each connection, and each context reads and decodes all certificates that it trusts; decoding costs more than the calls.")
    .fix("code: one TLS context for the process: Python ssl.create_default_context() once, one requests.Session (or aiohttp.TCPConnector(ssl=context)); Ruby one OpenSSL::X509::Store (cert_store); PHP one curl share or multi handle, and CURLOPT_CA_CACHE_TIMEOUT of libcurl 7.87 and later; Node one https.Agent with `ca` given once; C one SSL_CTX")
    .fix("keep connections open: then few contexts are made, and few handshakes")
    .fix("trust what is needed alone: a file with the one authority that signed the server's certificate instead of all of them")
    .verify(format!("strace -f -e trace=openat -P '{}' -p PID   (once, at the start)", file.path))
    .saving(time)
    .evidence_all(file.exemplars.iter())
    .file();
}
