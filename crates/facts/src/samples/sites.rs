//! Where in the program's own code a thread ran or waited: the innermost frame of that code, with its line.

use super::kernel::call_of;
use super::{Function, Key, Samples, StackWait, Weight};
use crate::world::ids::{ObjectId, ProcessId};
use hashbrown::HashMap;
use std::collections::BTreeSet;
use whyslow_model::event::Tid;
use whyslow_model::{SampleKind, StackFrame, StackId};
use whyslow_profile::kinds::Roles;

/// A place in the program's own code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Site<'a> {
    /// The function.
    pub function: &'a str,
    /// Source file and line, where debug information or the runtime tells.
    pub place: Option<&'a str>,
}

impl<'a> Site<'a> {
    /// `store.py:88`: where the file is, whose code it is knows.
    pub fn line(&self) -> Option<&'a str> {
        self.place.map(|place| place.rsplit('/').next().unwrap_or(place))
    }

    /// `store.py:88 save_row`, or the function alone: as lists have it.
    pub fn listed(&self) -> String {
        match self.line() {
            Some(line) => format!("{line} {}", self.function),
            None => self.function.to_string(),
        }
    }

    /// `save_row (store.py:88)`, or the function alone.
    pub fn words(&self) -> String {
        match self.line() {
            Some(line) => format!("{} ({line})", self.function),
            None => self.function.to_string(),
        }
    }
}

/// Samples of one place, in one system call or in none.
#[derive(Clone, Copy, Debug)]
pub struct SiteTime<'a> {
    /// The system call; `None` where the kernel was not in one that its functions tell.
    pub call: Option<&'a str>,
    /// The place; `None` where no frame of the program's own code is known.
    pub site: Option<Site<'a>>,
    /// What the stacks say that was waited for.
    pub wait: Option<StackWait>,
    /// What the call waited for; none where no call is known for the stack.
    pub object: ObjectId,
    /// True where the stacks reach the first frame of the thread.
    pub is_whole: bool,
    /// How much.
    pub weight: Weight,
}

/// Lines of source, each once.
#[derive(Debug, Default)]
pub(super) struct Places {
    places: Vec<Box<str>>,
    by_text: HashMap<Box<str>, u32, foldhash::fast::RandomState>,
}

impl Places {
    /// Lines told apart; frames on further ones have none.
    const MAX: usize = 65_536;
    /// No line.
    const NONE: u32 = u32::MAX;

    /// The lines of frames; empty where none is known.
    pub(super) fn of(&mut self, frames: &[StackFrame]) -> Box<[u32]> {
        match frames.iter().any(|frame| frame.place.is_some()) {
            true => frames.iter().map(|frame| self.place(frame.place.as_deref())).collect(),
            false => Box::default(),
        }
    }

    fn place(&mut self, place: Option<&str>) -> u32 {
        let Some(place) = place else { return Places::NONE };
        if let Some(&known) = self.by_text.get(place) {
            return known;
        }
        if self.places.len() >= Places::MAX {
            return Places::NONE;
        }
        let at = self.places.len() as u32;
        self.places.push(place.into());
        self.by_text.insert(place.into(), at);
        at
    }

    pub(super) fn get(&self, at: u32) -> Option<&str> {
        self.places.get(at as usize).map(|place| &**place)
    }

    /// The number of a line: the 12 of `store.py:12` and of `/srv/app.js:12:3`; 0 where there is none.
    pub(super) fn line(&self, at: u32) -> u32 {
        let number = |text: &str| text.parse::<u32>().ok();
        let Some((before, last)) = self.get(at).and_then(|place| place.rsplit_once(':')) else { return 0 };
        let line = before.rsplit_once(':').and_then(|(_, line)| number(line));
        number(last).map_or(0, |last| line.unwrap_or(last))
    }
}

impl Samples {
    /// What each function is.
    pub(super) fn roles(&self) -> &Roles {
        self.roles.get_or_init(|| Roles::of(self.functions.iter().map(Function::as_ref)))
    }

    /// True for a function of the program's own code.
    pub(super) fn is_own(&self, at: u32) -> bool {
        self.roles().is_own(at as usize)
    }

    /// Where in the program's own code a thread ran or waited, and in which system calls.
    pub fn sites(&self, kind: SampleKind, process: ProcessId, tid: Option<Tid>) -> Vec<SiteTime<'_>> {
        self.sites_in(self.rows_of(kind, process, tid))
    }

    /// Where in the program's own code a stack is.
    pub fn site_of(&self, user: StackId) -> Option<Site<'_>> {
        let stack = self.stacks.get(&user)?;
        let level = stack.iter().position(|at| self.is_own(*at))?;
        let place = self.lines.get(&user).and_then(|lines| self.places.get(*lines.get(level)?));
        let function = &*self.functions[stack[level] as usize].name;
        Some(Site { function, place }).filter(|_| !function.starts_with('['))
    }

    fn sites_in<'a>(&'a self, rows: impl Iterator<Item = (&'a Key, &'a Weight)>) -> Vec<SiteTime<'a>> {
        let mut times: HashMap<_, Weight> = HashMap::new();
        for (key, weight) in rows {
            let site = key.user.and_then(|user| self.site_of(user));
            let way = (call_of(self, key), site, self.stack_wait(key), self.is_whole(key), key.object);
            times.entry(way).or_default().join(*weight);
        }
        let mut all: Vec<SiteTime<'_>> = times
            .into_iter()
            .map(|((call, site, wait, is_whole, object), weight)| SiteTime {
                call,
                site,
                wait,
                object,
                is_whole,
                weight,
            })
            .collect();
        let order = |time: &SiteTime<'a>| (time.call, time.site, time.wait, time.is_whole, time.object);
        all.sort_by(|a, b| b.weight.ns.cmp(&a.weight.ns).then_with(|| order(a).cmp(&order(b))));
        all
    }

    /// The function of the program's own code in which most of the `wanted` time was spent, with its line that has most of
    /// that; and the function's part of the time whose stack is known. Code without a symbol is none.
    pub fn own_site(
        &self,
        kind: SampleKind,
        process: ProcessId,
        tid: Option<Tid>,
        wanted: impl Fn(&SiteTime<'_>) -> bool,
    ) -> Option<(Site<'_>, f64)> {
        own_of(self.sites(kind, process, tid), wanted)
    }

    /// The same, of several threads.
    pub fn own_site_of(
        &self,
        kind: SampleKind,
        threads: &BTreeSet<(ProcessId, Tid)>,
        wanted: impl Fn(&SiteTime<'_>) -> bool,
    ) -> Option<(Site<'_>, f64)> {
        let is_of = |key: &Key| key.kind == kind && threads.contains(&(key.process, key.tid));
        own_of(self.sites_in(self.rows.iter().filter(|(key, _)| is_of(key))), wanted)
    }
}

/// The part of the time whose stack has a place from which on these stacks stand for all.
const LEAST_KNOWN: f64 = 0.05;

pub(super) fn own_of<'a>(
    mut all: Vec<SiteTime<'a>>,
    wanted: impl Fn(&SiteTime<'_>) -> bool,
) -> Option<(Site<'a>, f64)> {
    all.retain(|time| wanted(time));
    let mut functions: HashMap<&str, u64> = HashMap::new();
    let mut sites: HashMap<Site<'a>, u64> = HashMap::new();
    for time in &all {
        if let Some(site) = time.site {
            for sum in [functions.entry(site.function).or_default(), sites.entry(site).or_default()] {
                *sum = sum.saturating_add(time.weight.ns);
            }
        }
    }
    let known = functions.values().fold(0u64, |sum, ns| sum.saturating_add(*ns));
    let sum = all.iter().fold(0u64, |sum, time| sum.saturating_add(time.weight.ns));
    // The few stacks that lead to the program's own code may be of other work than all that do not.
    if (known as f64) < LEAST_KNOWN * sum as f64 {
        return None;
    }
    let (function, ns) = functions.into_iter().max_by(|a, b| (a.1, b.0).cmp(&(b.1, a.0)))?;
    let of_function = sites.into_iter().filter(|(site, _)| site.function == function);
    let (site, _) = of_function.max_by(|a, b| (a.1, b.0).cmp(&(b.1, a.0)))?;
    Some((site, ns as f64 / known.max(1) as f64))
}

#[cfg(test)]
mod tests {
    use super::{Site, SiteTime, Weight};
    use crate::Facts;
    use crate::world::ids::ObjectId;
    use whyslow_model::{
        Event, Nanos, SampleKind, SampledStack, Sink, Stack, StackFrame, StackId, Timestamp,
    };

    #[test]
    fn the_innermost_frame_of_the_program_has_the_time() {
        let mut facts = Facts::default();
        let frame = |function: &str, module: &str, place: Option<&str>| StackFrame {
            function: Some(function.to_string()),
            module: Some(module.to_string()),
            place: place.map(str::to_string),
            ..StackFrame::default()
        };
        let user = vec![
            frame("fsync", "/usr/lib/x86_64-linux-gnu/libc.so.6", None),
            frame("save_row", "/srv/app", Some("store.c:88")),
            frame("main", "/srv/app", Some("main.c:9")),
        ];
        let kernel = ["schedule", "__x64_sys_fsync", "do_syscall_64"];
        let kernel = kernel.map(|name| frame(name, "[kernel]", None)).to_vec();
        facts.push(Event::Stack(Stack { id: StackId(1), frames: user, cut: false }));
        facts.push(Event::Stack(Stack { id: StackId(2), frames: kernel, cut: false }));
        for (user, kernel) in [(Some(1), Some(2)), (None, None)] {
            facts.push(Event::Sample(SampledStack {
                kind: SampleKind::OffCpu,
                ts: Timestamp::new(1),
                cpu: 0,
                pid: 1,
                tid: 1,
                weight: Nanos::new(10),
                user: user.map(StackId),
                kernel: kernel.map(StackId),
            }));
        }
        let process = facts.world.threads.find_process(1).unwrap();
        let sites = facts.samples.sites(SampleKind::OffCpu, process, Some(1));
        let told: Vec<_> = sites
            .iter()
            .map(|time| (time.call, time.site.map(|site| site.words()), time.weight.ns))
            .collect();
        assert_eq!(told, [(None, None, 10), (Some("fsync"), Some("save_row (store.c:88)".to_string()), 10)]);
    }

    #[test]
    fn few_stacks_of_the_program_do_not_stand_for_many_of_no_place() {
        let of = |known: u64, unknown: u64| {
            let site = Site { function: "count", place: None };
            let time = |site, ns| SiteTime {
                call: None,
                site,
                wait: None,
                object: ObjectId::NONE,
                is_whole: true,
                weight: Weight { count: 1, ns },
            };
            super::own_of(vec![time(Some(site), known), time(None, unknown)], |_| true)
                .map(|(site, _)| site.function)
        };
        assert_eq!((of(10, 90), of(1, 99)), (Some("count"), None));
    }
}
