//! Where in the program's own code some calls are made, or some function runs, and who calls that function.

use super::kernel::call_of;
use super::{Key, Samples, Site, Weight};
use crate::world::ids::ProcessId;
use hashbrown::HashMap;
use std::hash::Hash;
use whyslow_model::SampleKind;
use whyslow_model::event::Tid;

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
        let mut known = 0u64;
        let mut functions: HashMap<&str, Weight> = HashMap::new();
        let mut ways: HashMap<(Site<'_>, Option<Site<'_>>), u64> = HashMap::new();
        for kind in [SampleKind::OnCpu, SampleKind::OffCpu] {
            for (key, weight) in self.rows_of(kind, process, tid) {
                let Some((site, caller)) = self.way(key) else { continue };
                if !wanted(kind, call_of(self, key), site) {
                    continue;
                }
                known = known.saturating_add(weight.ns);
                functions.entry(site.function).or_default().join(*weight);
                let ns = ways.entry((site, caller)).or_default();
                *ns = ns.saturating_add(weight.ns);
            }
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

    /// The innermost function of the program's own code in a sample, and the next other one above it.
    fn way(&self, key: &Key) -> Option<(Site<'_>, Option<Site<'_>>)> {
        let user = key.user?;
        let stack = self.stacks.get(&user)?;
        let lines = self.lines.get(&user);
        let mut own = stack.iter().enumerate().filter(|(_, at)| self.is_own(**at)).map(|(level, at)| Site {
            function: &self.functions[*at as usize].name,
            place: lines.and_then(|lines| self.places.get(*lines.get(level)?)),
        });
        let site = own.next().filter(Site::has_name)?;
        // A function that calls itself is no caller to name.
        Some((site, own.find(|above| above.function != site.function).filter(Site::has_name)))
    }
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
        Event, Nanos, SampleKind, SampledStack, Sink, Stack, StackFrame, StackId, Timestamp,
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
