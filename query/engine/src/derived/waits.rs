//! Table `waits`: the long waits, one by one, with who ended them.

use super::{Cell, Computed, Derived, NS, NS_SINCE, Rows, flag, text, whole};
use whyslow_account::{WorkWaits, state_of_call};
use whyslow_facts::folds::account::CallKey;
use whyslow_model::{SampleKind, Tid};

pub(super) static TABLE: Derived = Derived {
    name: "waits",
    about: "A call that waited for a millisecond or longer, as far as they are kept one by one, and who ended the wait.",
    columns: &[
        whole("ts", NS_SINCE, "When it was entered."),
        whole("dur", NS, "How long it waited."),
        whole("pid", "", "The process; null where it is unknown."),
        whole("tid", "", "The thread."),
        text("comm", "The name of the thread, else of its process."),
        text("syscall", "Which call."),
        text("state", "For what: file, peer, client, lock, pipe, timer, child, poll, event, accept."),
        text("object", "On what: a path, an address, a lock."),
        whole("waker", "", "The thread that ended the wait; null where the capture does not show it."),
        text("waker_comm", "Its name."),
        flag("for_work", "True where the thread mostly waits so for work: for clients, requests, tasks."),
    ],
    fill,
};

fn fill(of: &Computed, rows: &mut Rows) {
    let work = WorkWaits::of(&of.facts);
    for facts in [Some(&of.facts), of.facts.followed.apart()].into_iter().flatten() {
        let name = |tid: Tid| {
            let thread = facts.world.threads.thread_of(tid)?;
            let process = || facts.world.threads.known_process(thread.process)?.name();
            thread.comm.as_deref().or_else(process).map(|name| of.shown(name))
        };
        for call in facts.graph.calls() {
            let object = facts.accounts.objects.get(call.object);
            let key = CallKey { syscall: call.syscall, waits: call.waits, object: call.object };
            let state = state_of_call(key, object.kind, call.dur());
            if state.sampled() != Some(SampleKind::OffCpu) {
                continue;
            }
            let pid = facts.world.threads.known_process(call.process).and_then(|process| process.pid);
            let waker = call.waker.map(|waker| waker.tid).filter(|tid| *tid != call.tid);
            rows.add([
                Cell::moment(call.from),
                Cell::nanos(call.dur()),
                Cell::whole(pid),
                Cell::whole(Some(call.tid)),
                Cell::text(name(call.tid)),
                Cell::text(Some(facts.name_of(call.syscall))),
                Cell::text(Some(state.word())),
                Cell::text(Some(object.name()).filter(|name| !name.is_empty()).map(|name| of.shown(name))),
                Cell::whole(waker),
                Cell::text(waker.and_then(name)),
                Cell::Flag(work.is_for_work(call.tid, state)),
            ]);
        }
    }
}
