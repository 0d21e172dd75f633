//! Visits every text of a diagnosis, a table or a comparison. The patterns name each field, so that a new one
//! in the model does not compile until it is decided here.

use whyslow_model::capture::{CaptureNote, SourceInfo};
use whyslow_model::diagnosis::TargetProcess;
use whyslow_model::walk::{Amount, HostResource, Taker, Walk};
use whyslow_model::{
    AccountRow, Also, Cell, ChainLink, CpuRunner, Culprit, DemandCaller, DemandQueue, Diagnosis, Diff,
    Evidence, FigureChange, Finding, FindingChange, FindingCode, Followed, Hop, NotJudged, ParkedAt,
    RequestPart, RequestTimes, RequestsTime, RowDevice, Saving, ShareOf, Subject, Table, Target, ThreadTime,
    TimeAccount, WhatIf, WorkedOnContent,
};

/// How a text is laid out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Text {
    /// One line: a title, a line of a capture, a name.
    Line,
    /// May hold several lines: a cause, a step of a fix, a command.
    Block,
}

type Visit<'a> = &'a mut dyn FnMut(&mut String, Text);

fn lines<'t>(texts: impl IntoIterator<Item = &'t mut String>, visit: Visit<'_>) {
    texts.into_iter().for_each(|text| visit(text, Text::Line));
}

fn blocks<'t>(texts: impl IntoIterator<Item = &'t mut String>, visit: Visit<'_>) {
    texts.into_iter().for_each(|text| visit(text, Text::Block));
}

/// Visits all texts of a diagnosis.
pub(crate) fn diagnosis(diagnosis: &mut Diagnosis, visit: Visit<'_>) {
    let Diagnosis {
        schema: _,
        verdict,
        context,
        target: about,
        walk,
        account,
        time,
        findings,
        not_judged,
        remaining,
    } = diagnosis;
    lines([verdict, context], visit);
    target(about, visit);
    if let Some(walk) = walk {
        host(walk, visit);
    }
    if let Some(account) = account {
        time_account(account, visit);
    }
    for thread in time {
        let ThreadTime {
            pid: _,
            tid: _,
            comm,
            wall_ns: _,
            on_cpu_ns: _,
            runnable_ns: _,
            throttled_ns: _,
            blocked_ns: _,
            working_ns: _,
            between_calls_ns: _,
            waits: _,
        } = thread;
        lines(comm, visit);
    }
    findings.iter_mut().for_each(|one| finding(one, visit));
    for rule in not_judged {
        let NotJudged { id: _, missing, supply } = rule;
        lines([missing], visit);
        blocks([supply], visit);
    }
    blocks(remaining, visit);
}

fn time_account(account: &mut TimeAccount, visit: Visit<'_>) {
    let TimeAccount {
        target,
        of: _,
        count: _,
        ns: _,
        idle_ns: _,
        unknown_ns: _,
        claimed_ns: _,
        demand,
        requests,
        rows,
    } = account;
    lines([target], visit);
    for RequestTimes { endpoint, all, slowest } in requests {
        lines([endpoint], visit);
        for RequestsTime { count: _, from_ns: _, ns: _, mean_ns: _, parts } in
            std::iter::once(all).chain(slowest)
        {
            for RequestPart { state: _, object, ns: _, share: _ } in parts {
                lines(object.as_mut(), visit);
            }
        }
    }
    for queue in &mut demand.queues {
        let DemandQueue { kind: _, of, pid: _, most: _, waited: _, samples: _ } = queue;
        lines([of], visit);
    }
    for caller in &mut demand.callers {
        let DemandCaller { pid: _, name, of: _, at, waits: _, waited_ns: _, seen_ns: _, longest_ns: _ } =
            caller;
        lines([name, at], visit);
    }
    for row in rows {
        let AccountRow {
            who,
            threads: _,
            pids: _,
            tid: _,
            state: _,
            call,
            object,
            function,
            place,
            ns: _,
            share: _,
            count: _,
            mean_ns: _,
            p99_ns: _,
            longest_ns: _,
            known: _,
            meanwhile,
            goroutines,
            works_on,
            device,
            claimed_by: _,
            evidence: shown,
        } = row;
        lines([who], visit);
        for CpuRunner { who, pid: _, is_own: _, ns: _, share: _ } in meanwhile {
            lines([who], visit);
        }
        if let Some(RowDevice { name, await_ns: _ }) = device {
            lines([name], visit);
        }
        for WorkedOnContent { of: _, object, ns: _, share: _, rounds: _, reads: _, bytes: _ } in works_on {
            lines([object], visit);
        }
        for ParkedAt { waits: _, call, function, place, mean: _ } in goroutines {
            lines([call, function].into_iter().chain(place), visit);
        }
        lines([call, object, function, place].into_iter().flatten(), visit);
        evidence(shown.as_mut_slice(), visit);
    }
}

fn host(walk: &mut Walk, visit: Visit<'_>) {
    let Walk { resources, load, processes, threads, calls, saving, next } = walk;
    for resource in resources {
        let HostResource { name, state: _, reason, evidence: shown, supply } = resource;
        lines([name, reason], visit);
        evidence(shown, visit);
        blocks([supply], visit);
    }
    for taker in processes.iter_mut().chain(threads).chain(calls) {
        let Taker { pid: _, tid: _, comm, takes, waits, victim_of, evidence: shown } = taker;
        lines(comm.iter_mut().chain(victim_of), visit);
        for amount in takes.iter_mut().chain(waits) {
            let Amount { what: _, value: _, text } = amount;
            lines([text], visit);
        }
        evidence(shown, visit);
    }
    lines(load.iter_mut().chain(saving), visit);
    blocks([next], visit);
}

fn evidence(shown: &mut [Evidence], visit: Visit<'_>) {
    for line in shown {
        let Evidence { source, text } = line;
        lines([source, text], visit);
    }
}

fn target(target: &mut Target, visit: Visit<'_>) {
    let Target {
        kind: _,
        processes,
        start,
        duration_ns: _,
        events: _,
        lost_events: _,
        cost: _,
        followed,
        sources,
        notes,
    } = target;
    for process in processes {
        let TargetProcess { pid: _, comm, threads: _ } = process;
        lines(comm, visit);
    }
    for one in followed {
        let Followed { ts: _, pid: _, comm, waiter: _, via, share: _, hop: _ } = one;
        lines([comm], visit);
        if let Some(place) = via.place_mut() {
            lines([place], visit);
        }
    }
    lines(start, visit);
    for source in sources {
        let SourceInfo { name, .. } = source;
        lines([name], visit);
    }
    for note in notes {
        let CaptureNote { kind: _, source: _, line: _, text, tid: _ } = note;
        lines([text], visit);
    }
}

fn finding(finding: &mut Finding, visit: Visit<'_>) {
    let Finding {
        id: _,
        title,
        severity: _,
        disagreement: _,
        confidence: _,
        sure_at_most: _,
        share: _,
        share_of,
        share_whole: _,
        follows_from: _,
        saving: Saving { ns_per_s: _, text: saved, without },
        subject,
        also,
        at_most: _,
        cause,
        fix,
        chain,
        culprit,
        code,
        evidence: shown,
        verify,
        // Figures print as numbers only.
        measurements: _,
    } = finding;
    lines([title, saved], visit);
    if let ShareOf::Named(words) = share_of {
        lines([words], visit);
    }
    if let Some(WhatIf { what, count: _, p50_ns: _, p50_then_ns: _, p99_ns: _, p99_then_ns: _ }) = without {
        lines(what, visit);
    }
    blocks([cause, verify], visit);
    blocks(fix, visit);
    if let Some(FindingCode { function, place, caller, caller_place, within, within_place, is_its_own: _ }) =
        code
    {
        let of_callers = caller.iter_mut().chain(caller_place).chain(within).chain(within_place);
        lines(std::iter::once(function).chain(place).chain(of_callers), visit);
    }
    for link in chain {
        let ChainLink { who, waits_for, ns: _, evidence } = link;
        lines([who, waits_for, evidence], visit);
    }
    if let Some(Culprit { pid: _, name, does, function, place, caller, caller_place, hops, id: _, title }) =
        culprit
    {
        let code = function.iter_mut().chain(place).chain(caller).chain(caller_place);
        lines([name, does].into_iter().chain(code).chain(title), visit);
        for hop in hops {
            let Hop {
                pid: _,
                name,
                tid: _,
                thread,
                threads: _,
                state: _,
                call,
                object,
                function,
                place,
                ns: _,
                count: _,
                mean_ns: _,
                share: _,
            } = hop;
            lines(
                std::iter::once(name).chain([thread, call, object, function, place].into_iter().flatten()),
                visit,
            );
        }
    }
    evidence(shown, visit);
    about(subject, visit);
    for Also { title, share: _, subject } in also {
        lines([title], visit);
        about(subject, visit);
    }
}

fn about(subject: &mut Subject, visit: Visit<'_>) {
    let Subject {
        pid: _,
        tid: _,
        comm,
        syscall,
        path,
        fd: _,
        peer,
        lock,
        function,
        endpoint,
        protocol,
        device,
        host,
        errno: _,
    } = subject;
    let texts = [comm, syscall, path, peer, lock, function, endpoint, protocol, device, host];
    lines(texts.into_iter().flatten(), visit);
}

/// Visits all texts of a table.
pub(crate) fn table(table: &mut Table, visit: Visit<'_>) {
    let Table { name: _, question, columns: _, rows, total, notes } = table;
    lines([question], visit);
    for cell in rows.iter_mut().chain(total).flatten() {
        if let Cell::Text(text) = cell {
            visit(text, Text::Line);
        }
    }
    blocks(notes, visit);
}

/// Visits all texts of a comparison.
pub(crate) fn diff(diff: &mut Diff, visit: Visit<'_>) {
    let Diff {
        schema: _,
        outcome: _,
        verdict,
        before_ns: _,
        after_ns: _,
        gone,
        new,
        kept,
        unknown,
        figures,
        refusals,
    } = diff;
    lines([verdict], visit);
    for change in gone.iter_mut().chain(new).chain(kept).chain(unknown) {
        let FindingChange {
            id: _,
            title,
            before: _,
            after: _,
            share_before: _,
            share_after: _,
            measurements: _,
            change,
        } = change;
        lines([title, change], visit);
    }
    for figure in figures {
        let FigureChange { name, unit: _, before: _, after: _, ratio: _, beyond_noise: _, change } = figure;
        lines([name, change], visit);
    }
    blocks(refusals, visit);
}
