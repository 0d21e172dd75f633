//! Where in the program's own code short calls are made, by the stacks of some of them.

use super::sites::own_of;
use super::{Samples, Site, SiteTime, Weight};
use crate::world::ids::{ObjectId, ProcessId};
use hashbrown::HashMap;
use std::collections::BTreeSet;
use whyslow_model::event::Tid;
use whyslow_model::{CallStack, StackId, Syscall};

/// By thread, call and stack.
#[derive(Debug, Default)]
pub(super) struct CallsMade(HashMap<(ProcessId, Tid, Syscall, StackId), Weight, foldhash::fast::RandomState>);

impl CallsMade {
    /// Rows told apart; a recorder takes a few hundred stacks a second and CPU.
    const MAX_ROWS: usize = 131_072;

    /// The calls of a process, or of one thread of it, with their stacks.
    pub(super) fn of(
        &self,
        process: ProcessId,
        tid: Option<Tid>,
    ) -> impl Iterator<Item = (Syscall, StackId, Weight)> {
        let is_of = move |of: ProcessId, by: Tid| of == process && tid.is_none_or(|tid| tid == by);
        self.0
            .iter()
            .filter(move |((of, by, ..), _)| is_of(*of, *by))
            .map(|((_, _, call, user), weight)| (*call, *user, *weight))
    }
}

impl Samples {
    pub(crate) fn call_stack(&mut self, process: ProcessId, made: &CallStack) {
        let key = (process, made.tid, made.call, made.user);
        let rows = &mut self.calls_made.0;
        if self.stacks.contains_key(&made.user)
            && (rows.len() < CallsMade::MAX_ROWS || rows.contains_key(&key))
        {
            rows.entry(key).or_default().add(made.took.or_zero());
        }
    }

    /// The function of the program's own code from which most of the time of these threads' short calls of one kind is spent, with its line; and
    /// its part of that. `None` where fewer than [`Samples::ENOUGH_CALLS`] have a place.
    pub fn own_site_of_calls(
        &self,
        threads: &BTreeSet<(ProcessId, Tid)>,
        call: Syscall,
    ) -> Option<(Site<'_>, f64)> {
        let of = |(process, tid): &(ProcessId, Tid)| self.sites_of_calls(*process, *tid, call);
        let all: Vec<SiteTime<'_>> = threads.iter().flat_map(of).collect();
        let with_site = all.iter().filter(|time| time.site.is_some());
        let count = with_site.map(|time| time.weight.count).fold(0, u64::saturating_add);
        if count < Self::ENOUGH_CALLS {
            return None;
        }
        own_of(all, |_| true)
    }

    /// Stacks of short calls that stand for the others.
    pub const ENOUGH_CALLS: u64 = 3;

    /// Where in the program's own code a thread makes short calls of one kind, as [`Samples::sites`] has it of samples.
    pub fn sites_of_calls(&self, process: ProcessId, tid: Tid, call: Syscall) -> Vec<SiteTime<'_>> {
        let mut times: HashMap<_, Weight> = HashMap::new();
        for (_, user, weight) in self.calls_made.of(process, Some(tid)).filter(|(of, ..)| *of == call) {
            times.entry(self.site_of(user)).or_default().join(weight);
        }
        let call = Some(call.info().name);
        let of = |(site, weight)| SiteTime {
            call,
            site,
            wait: None,
            object: ObjectId::NONE,
            is_whole: true,
            weight,
        };
        let mut all: Vec<SiteTime<'_>> = times.into_iter().map(of).collect();
        all.sort_by(|a, b| b.weight.ns.cmp(&a.weight.ns).then_with(|| a.site.cmp(&b.site)));
        all
    }
}
