//! Where in the program's own code some calls are made, or some function runs, and who calls that function.

use super::kernel::call_of;
use super::{Samples, Site, Weight};
use crate::world::ids::{ObjectId, ProcessId};
use hashbrown::HashMap;
use std::hash::Hash;
use whyslow_model::event::Tid;
use whyslow_model::{SampleKind, StackId};

/// A function of the program's own code, and the one that calls it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CodeTime<'a> {
    /// The function in which most of the time was spent, with its line that has most of that.
    pub site: Site<'a>,
    /// The function of the program's own code that called it most of that time, with the line of the call; `None` where no caller has
    /// [`CodeTime::MOSTLY`] of it.
    pub caller: Option<Site<'a>>,
    /// The function's part of the time whose stack is known, 0 to 1.
    pub part: f64,
    /// The samples of the function.
    pub weight: Weight,
}

impl CodeTime<'_> {
    /// A caller with less of its callee's time does not stand for the others: a function that many call is nobody's.
    pub const MOSTLY: f64 = 0.5;
    /// A function further out has to enclose this part of all that is spent alike.
    pub const NEARLY_ALL: f64 = 2.0 / 3.0;
}

impl Samples {
    /// The place of the program's own code that takes most of the samples of that call (`None`: outside of calls) and place for which
    /// `wanted` is true, on a CPU and in waits alike.
    pub fn code_of(
        &self,
        process: ProcessId,
        tid: Option<Tid>,
        wanted: impl Fn(SampleKind, Option<&str>, Site<'_>) -> bool,
    ) -> Option<CodeTime<'_>> {
        let kinds = [SampleKind::OnCpu, SampleKind::OffCpu].into_iter();
        let rows = kinds.flat_map(|kind| self.rows_of(kind, process, tid).map(move |row| (kind, row)));
        most_of(rows.filter_map(|(kind, (key, weight))| {
            let way = self.way(key.user?)?;
            wanted(kind, call_of(self, key), way.0).then_some((way, *weight))
        }))
    }

    /// The same of waits for these things alone.
    pub fn code_of_waits(
        &self,
        process: ProcessId,
        tid: Option<Tid>,
        is_for: impl Fn(ObjectId) -> bool,
    ) -> Option<CodeTime<'_>> {
        let rows = self.rows_of(SampleKind::OffCpu, process, tid).filter(|(key, _)| is_for(key.object));
        most_of(rows.filter_map(|(key, weight)| Some((self.way(key.user?)?, *weight))))
    }

    /// The place of the program's own code from which most of the time of these calls was spent, by the stacks of short ones.
    pub fn code_of_calls(
        &self,
        process: ProcessId,
        tid: Option<Tid>,
        wanted: impl Fn(&str) -> bool,
    ) -> Option<CodeTime<'_>> {
        let rows = self.calls_made.of(process, tid).filter(|(call, ..)| wanted(call.info().name));
        most_of(rows.filter_map(|(_, user, weight)| Some((self.way(user)?, weight))))
    }

    /// The innermost function further out than `of` and its caller in which most of the samples are for which `is_alike` is true; `None` where
    /// that is the outermost one.
    pub fn enclosing(
        &self,
        process: ProcessId,
        tid: Option<Tid>,
        of: &CodeTime<'_>,
        is_alike: impl Fn(SampleKind, Option<&str>) -> bool,
    ) -> Option<Site<'_>> {
        let kinds = [SampleKind::OnCpu, SampleKind::OffCpu].into_iter();
        let rows = kinds.flat_map(|kind| self.rows_of(kind, process, tid).map(move |row| (kind, row)));
        let alike = rows.filter(|(kind, (key, _))| is_alike(*kind, call_of(self, key)));
        self.around(of, alike.filter_map(|(_, (key, weight))| Some((key.user?, weight.ns))))
    }

    /// The same of waits for these things.
    pub fn enclosing_waits(
        &self,
        process: ProcessId,
        tid: Option<Tid>,
        of: &CodeTime<'_>,
        is_for: impl Fn(ObjectId) -> bool,
    ) -> Option<Site<'_>> {
        let rows = self.rows_of(SampleKind::OffCpu, process, tid).filter(|(key, _)| is_for(key.object));
        self.around(of, rows.filter_map(|(key, weight)| Some((key.user?, weight.ns))))
    }

    /// The same of calls, by the stacks of short ones.
    pub fn enclosing_calls(
        &self,
        process: ProcessId,
        tid: Option<Tid>,
        of: &CodeTime<'_>,
        is_alike: impl Fn(&str) -> bool,
    ) -> Option<Site<'_>> {
        let rows = self.calls_made.of(process, tid).filter(|(call, ..)| is_alike(call.info().name));
        self.around(of, rows.map(|(_, user, weight)| (user, weight.ns)))
    }

    fn around(&self, of: &CodeTime<'_>, rows: impl Iterator<Item = (StackId, u64)>) -> Option<Site<'_>> {
        let mut known = 0u64;
        // By function: its time, how far it is from the outermost function in all, and its lines.
        let mut functions: HashMap<&str, Around<'_>> = HashMap::new();
        for (user, ns) in rows {
            let own = self.own_sites(user);
            if own.is_empty() {
                continue;
            }
            known = known.saturating_add(ns);
            let has_it = own.iter().any(|site| site.function == of.site.function);
            for (level, site) in own.iter().rev().enumerate() {
                let of = functions.entry(site.function).or_default();
                of.is_above |= has_it;
                // One that calls itself has it once.
                if of.last != Some(known) {
                    of.last = Some(known);
                    of.ns = of.ns.saturating_add(ns);
                    of.depth += level as f64 * ns as f64;
                    *of.lines.entry(*site).or_default() += ns;
                }
            }
        }
        let most =
            |of: &Around<'_>| of.is_above && of.ns as f64 >= CodeTime::NEARLY_ALL * known as f64 && of.ns > 0;
        let level = |of: &Around<'_>| of.depth / of.ns as f64;
        let mut around: Vec<(&str, Around<'_>)> = functions.into_iter().filter(|(_, of)| most(of)).collect();
        around.sort_by(|a, b| level(&b.1).total_cmp(&level(&a.1)).then_with(|| a.0.cmp(b.0)));
        let is_told =
            |name: &str| of.site.function == name || of.caller.is_some_and(|caller| caller.function == name);
        // Further out than what is told, and not the outermost functions, which are the program.
        let told = around.iter().rposition(|(name, _)| is_told(name)).map_or(0, |at| at + 1);
        let (_, innermost) = around.into_iter().nth(told).filter(|(_, of)| level(of) >= 0.5)?;
        let line = innermost.lines.into_iter().max_by(|a, b| a.1.cmp(&b.1).then_with(|| b.0.cmp(&a.0)));
        line.map(|(site, _)| site).filter(Site::has_name)
    }

    /// The functions of the program's own code on a stack, innermost first.
    fn own_sites(&self, user: StackId) -> Vec<Site<'_>> {
        let Some(stack) = self.stacks.get(&user) else { return Vec::new() };
        let lines = self.lines.get(&user);
        let own = stack.iter().enumerate().filter(|(_, at)| self.is_own(**at));
        own.map(|(level, at)| Site {
            function: &self.functions[*at as usize].name,
            place: lines.and_then(|lines| self.places.get(*lines.get(level)?)),
        })
        .collect()
    }

    /// The innermost function of the program's own code on a stack, and the next other one above it.
    fn way(&self, user: StackId) -> Option<Way<'_>> {
        let mut own = self.own_sites(user).into_iter();
        let site = own.next().filter(Site::has_name)?;
        // A function that calls itself is no caller to name.
        Some((site, own.find(|above| above.function != site.function).filter(Site::has_name)))
    }
}

/// What is spent in a function and in all that it calls.
#[derive(Default)]
struct Around<'a> {
    ns: u64,
    depth: f64,
    lines: HashMap<Site<'a>, u64>,
    /// It stands on a stack of the function that it is to enclose.
    is_above: bool,
    last: Option<u64>,
}

/// A place, and the one that calls it.
type Way<'a> = (Site<'a>, Option<Site<'a>>);

/// The function that has most of the time, where in it, and who calls it.
fn most_of<'a>(rows: impl Iterator<Item = (Way<'a>, Weight)>) -> Option<CodeTime<'a>> {
    let mut known = 0u64;
    let mut functions: HashMap<&str, Weight> = HashMap::new();
    let mut ways: HashMap<Way<'a>, u64> = HashMap::new();
    for (way, weight) in rows {
        known = known.saturating_add(weight.ns);
        functions.entry(way.0.function).or_default().join(weight);
        let ns = ways.entry(way).or_default();
        *ns = ns.saturating_add(weight.ns);
    }
    let (function, weight) = functions.into_iter().max_by(|a, b| (a.1.ns, b.0).cmp(&(b.1.ns, a.0)))?;
    ways.retain(|(site, _), _| site.function == function);
    let (site, _) = most(ways.iter().map(|((site, _), ns)| (*site, *ns)))?;
    // By function first: a caller may call from several lines.
    let of_callers =
        |(way, ns): (&(Site<'_>, Option<Site<'_>>), &u64)| Some((way.1?.function.to_string(), *ns));
    let caller = most(ways.iter().filter_map(of_callers));
    let caller = caller.filter(|(_, ns)| *ns as f64 >= CodeTime::MOSTLY * weight.ns as f64);
    let caller = caller.and_then(|(name, _)| {
        let its = ways.iter().filter_map(|((_, caller), ns)| Some(((*caller)?, *ns)));
        most(its.filter(|(caller, _)| *caller.function == *name)).map(|(caller, _)| caller)
    });
    Some(CodeTime { site, caller, part: weight.ns as f64 / known.max(1) as f64, weight })
}

impl Site<'_> {
    /// False for code without a symbol.
    fn has_name(&self) -> bool {
        !self.function.starts_with('[')
    }
}

/// The key with most of the time; of equal ones the first.
fn most<K: Hash + Eq + Ord + Clone>(times: impl Iterator<Item = (K, u64)>) -> Option<(K, u64)> {
    let mut sums: HashMap<K, u64> = HashMap::new();
    for (key, ns) in times {
        let sum = sums.entry(key).or_default();
        *sum = sum.saturating_add(ns);
    }
    sums.into_iter().max_by(|a, b| a.1.cmp(&b.1).then_with(|| b.0.cmp(&a.0)))
}

#[cfg(test)]
mod tests {
    use crate::Facts;
    use whyslow_model::{
        CallStack, Event, Nanos, SampleKind, SampledStack, Sink, Stack, StackFrame, StackId, Syscall,
        Timestamp,
    };

    /// Facts of process 1 with stacks of `function@line` of its own program, innermost first, in that call, with their time in ns.
    fn facts(samples: &[(&str, &[&str], u64)]) -> Facts {
        let mut facts = Facts::default();
        for (id, (call, frames, ns)) in samples.iter().enumerate() {
            let frame = |function: &str, module: &str, place: Option<String>| StackFrame {
                function: Some(function.to_string()),
                module: Some(module.to_string()),
                place,
                ..StackFrame::default()
            };
            let user = frames.iter().map(|text| {
                let (function, line) = text.split_once('@').unwrap();
                frame(function, "/srv/app", Some(format!("app.c:{line}")))
            });
            let call = format!("__x64_sys_{call}");
            let kernel = ["schedule", &call, "do_syscall_64"].map(|name| frame(name, "[kernel]", None));
            let (user_id, kernel_id) = (StackId(2 * id as u32 + 1), StackId(2 * id as u32 + 2));
            facts.push(Event::Stack(Stack { id: user_id, frames: user.collect(), cut: false }));
            facts.push(Event::Stack(Stack { id: kernel_id, frames: kernel.to_vec(), cut: false }));
            facts.push(Event::Sample(SampledStack {
                kind: SampleKind::OffCpu,
                ts: Timestamp::new(1),
                cpu: 0,
                pid: 1,
                tid: 1,
                weight: Nanos::new(*ns),
                user: Some(user_id),
                kernel: Some(kernel_id),
            }));
        }
        facts
    }

    fn told(facts: &Facts, call: &str) -> Option<(String, Option<String>)> {
        let process = facts.world.threads.find_process(1).unwrap();
        let code = facts.samples.code_of(process, None, |_, of, _| of == Some(call))?;
        Some((code.site.words(), code.caller.map(|caller| caller.words())))
    }

    #[test]
    fn a_helper_is_within_the_function_that_most_of_it_is_done_for() {
        let within = |samples: &[(&str, &[&str], u64)]| {
            let facts = facts(samples);
            let process = facts.world.threads.find_process(1).unwrap();
            let code = facts.samples.code_of(process, None, |_, _, _| true).unwrap();
            let around = facts.samples.enclosing(process, None, &code, |_, _| true);
            around.map(|site| (site.function.to_string(), site.place.map(str::to_string)))
        };
        // Two helpers, for one month.
        let month = within(&[
            ("read", &["put@1", "shelve@2", "close_month@7", "serve@8", "main@9"], 60),
            ("read", &["sum@3", "close_month@6", "serve@8", "main@9"], 30),
            ("read", &["greet@4", "serve@8", "main@9"], 20),
        ]);
        assert_eq!(month, Some(("close_month".to_string(), Some("app.c:7".to_string()))));
        // What is called from the outermost function alone has none, nor has one that calls itself.
        assert_eq!(within(&[("read", &["put@1", "main@9"], 60)]), None);
        assert_eq!(within(&[("read", &["put@1", "put@1", "main@9"], 60)]), None);
    }

    #[test]
    fn short_calls_have_stacks_of_their_own() {
        let mut facts = facts(&[("futex", &["wait@3", "main@9"], 50)]);
        let of = |name: &str| Syscall::lookup(name.as_bytes()).unwrap();
        for (call, user, took) in [("openat", 1, 700), ("openat", 1, 900), ("read", 1, 5), ("openat", 77, 5)]
        {
            facts.push(Event::CallStack(CallStack {
                ts: Timestamp::new(1),
                cpu: 0,
                pid: 1,
                tid: 1,
                call: of(call),
                took: Nanos::new(took),
                user: StackId(user),
            }));
        }
        facts.finish();
        let process = facts.world.threads.find_process(1).unwrap();
        let opened = |tid| facts.samples.code_of_calls(process, tid, |call| call == "openat");
        let code = opened(Some(1)).unwrap();
        assert_eq!((code.site.function, code.caller.unwrap().function), ("wait", "main"));
        // One has no stack that is known.
        assert_eq!((code.weight.count, code.weight.ns), (2, 1_600));
        assert_eq!((opened(None), opened(Some(2))), (Some(code), None));
        let sites = facts.samples.sites_of_calls(process, 1, of("read"));
        assert_eq!((sites.len(), sites[0].weight.ns, sites[0].call), (1, 5, Some("read")));
        // They are no samples.
        assert!(facts.samples.code_of(process, None, |_, call, _| call == Some("openat")).is_none());
    }

    #[test]
    fn a_call_is_made_where_its_own_stacks_are_and_not_where_the_thread_waits_most() {
        let facts = facts(&[
            ("munmap", &["put_away@60", "serve@87", "main@9"], 10),
            ("munmap", &["put_away@60", "serve@88", "main@9"], 5),
            ("munmap", &["put_away@60", "tidy@30"], 3),
            ("read", &["wait@12", "main@9"], 900),
        ]);
        let place = (String::from("put_away (app.c:60)"), Some(String::from("serve (app.c:87)")));
        assert_eq!(told(&facts, "munmap"), Some(place));
        assert_eq!(told(&facts, "mmap"), None);
    }

    #[test]
    fn a_function_that_many_call_is_nobodys_and_one_that_calls_itself_has_the_caller_above() {
        let many = facts(&[
            ("write", &["put@5", "a@1"], 4),
            ("write", &["put@5", "b@2"], 4),
            ("write", &["put@5", "c@3"], 4),
        ]);
        assert_eq!(told(&many, "write"), Some(("put (app.c:5)".to_string(), None)));
        let recursive = facts(&[("write", &["walk@5", "walk@6", "walk@6", "scan@2"], 4)]);
        let scan = Some("scan (app.c:2)".to_string());
        assert_eq!(told(&recursive, "write"), Some(("walk (app.c:5)".to_string(), scan)));
    }
}
