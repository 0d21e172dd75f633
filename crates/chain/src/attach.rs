//! Chains for findings whose rule gives none: where a finding is about a wait, the longest such wait of its thread is followed.

use super::Explainer;
use whyslow_facts::Facts;
use whyslow_facts::folds::graph::{LongCall, Resource};
use whyslow_model::{Finding, Severity, Subject};

/// Gives each finding about a wait the chain of the longest wait that it can mean. One link alone says no more than the
/// finding does, and is left out.
pub fn attach(facts: &Facts, findings: &mut [Finding]) {
    let lacks = |finding: &&mut Finding| {
        let subject = &finding.subject;
        let waits = subject.lock.is_some() || subject.peer.is_some() || subject.syscall.is_some();
        finding.chain.is_empty() && finding.severity > Severity::Notice && subject.tid.is_some() && waits
    };
    let mut found = findings.iter_mut().filter(lacks).peekable();
    if found.peek().is_none() || !facts.graph.calls().any(|call| call.waker.is_some()) {
        return;
    }
    let explainer = Explainer::new(facts);
    for finding in found {
        let Some(timeline) = finding.subject.tid.and_then(|tid| facts.graph.timeline(tid)) else { continue };
        let waits = timeline.calls.iter().filter(|call| call.waker.is_some());
        let longest = waits
            .filter(|call| is_meant(&explainer, &finding.subject, call))
            .max_by_key(|call| (call.dur(), std::cmp::Reverse(call.from)));
        let Some(call) = longest else { continue };
        let chain = explainer.chain(&explainer.path(call.tid, call.from, call.to));
        if chain.len() > 1 {
            finding.chain = chain;
        }
    }
}

/// True where a wait is for what the finding is about: all that the finding names must fit.
fn is_meant(explainer: &Explainer<'_>, subject: &Subject, call: &LongCall) -> bool {
    let what = explainer.resource(call);
    let lock = subject.lock.as_ref().is_none_or(|lock| what.contains(lock.as_str()));
    let peer = subject.peer.as_ref().is_none_or(|peer| what.contains(peer.as_str()));
    let name = explainer.facts().name_of(call.syscall);
    let by_name =
        subject.syscall.as_ref().is_none_or(|syscall| syscall.split(['/', ',', ' ']).any(|one| one == name));
    // A wait at a pipe or a connection is none for a file.
    let elsewhere = matches!(call.what, Resource::Pipe(_) | Resource::Event(_) | Resource::Peer(_));
    let path = subject.path.is_none() || !elsewhere;
    call.waits.is_some() && lock && peer && path && by_name
}
