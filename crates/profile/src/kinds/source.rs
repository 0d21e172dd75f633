//! What can be told by kind: stacks (a profile, a recording's samples), or tables of functions without stacks.

use super::FunctionRef;
use whyslow_model::profile::{CallStackId, LocationId, Profile};

/// A frame of a stack.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Frame {
    /// The function: an index of [`Stacks::function`]; `u32::MAX`: none known.
    pub function: u32,
    /// The line; 0: unknown.
    pub line: u32,
}

/// Stacks with values.
pub trait Stacks {
    /// How many functions there are.
    fn function_count(&self) -> usize;
    /// One of them.
    fn function(&self, index: usize) -> FunctionRef<'_>;
    /// Gives each different stack, leaf first, with its value.
    fn each(&self, take: &mut dyn FnMut(&[Frame], i64));
}

/// One value of a profile.
#[derive(Debug)]
pub struct ProfileStacks<'a> {
    profile: &'a Profile,
    sample_type: usize,
    /// The mapping's file of each function, by one of its locations.
    modules: Vec<&'a str>,
    /// Functions that are names of threads.
    threads: Vec<bool>,
}

impl<'a> ProfileStacks<'a> {
    /// Of the value `sample_type` (an index of [`Profile::sample_types`]).
    pub fn new(profile: &'a Profile, sample_type: usize) -> ProfileStacks<'a> {
        let mut modules = vec![""; profile.functions.len()];
        for (index, location) in profile.locations.iter().enumerate() {
            let mapping = location.mapping.and_then(|mapping| profile.mappings.get(mapping.0 as usize));
            let Some(mapping) = mapping else { continue };
            for line in profile.lines_of(LocationId(index as u32)) {
                if let Some(module) = line.function.and_then(|function| modules.get_mut(function.0 as usize))
                {
                    *module = profile.str(mapping.file);
                }
            }
        }
        let threads = thread_names(profile, &modules);
        ProfileStacks { profile, sample_type, modules, threads }
    }
}

/// Which functions are none: stackcollapse-perf puts the thread's name before each stack. Its profiles are told by perf's
/// word for a frame that it cannot name, or by the mark of the kernel, and have no files.
fn thread_names(profile: &Profile, modules: &[&str]) -> Vec<bool> {
    /// The kernel's names of threads are no longer (TASK_COMM_LEN without the last zero).
    const LONGEST: usize = 15;
    let name = |index: usize| profile.functions.get(index).map_or("", |function| profile.str(function.name));
    let is_of_perf = |index: usize| name(index) == "[unknown]" || modules[index].starts_with("[kernel");
    let is_folded = modules.iter().all(|module| module.is_empty() || module.starts_with('['));
    if !is_folded || !(0..modules.len()).any(is_of_perf) {
        return Vec::new();
    }
    // Where it may stand: at the root, and nowhere else.
    let (mut is_root, mut is_inner) = (vec![false; modules.len()], vec![false; modules.len()]);
    for stack in (0..profile.stack_count()).map(|index| profile.stack(CallStackId(index as u32))) {
        for (depth, location) in stack.iter().rev().enumerate() {
            for function in profile.lines_of(*location).iter().filter_map(|line| line.function) {
                let seen = if depth == 0 && stack.len() > 1 { &mut is_root } else { &mut is_inner };
                if let Some(seen) = seen.get_mut(function.0 as usize) {
                    *seen = true;
                }
            }
        }
    }
    let can_be =
        |name: &str| name.len() <= LONGEST && !name.contains("::") && !name.contains(['(', '[', '<']);
    (0..modules.len()).map(|index| is_root[index] && !is_inner[index] && can_be(name(index))).collect()
}

impl Stacks for ProfileStacks<'_> {
    fn function_count(&self) -> usize {
        self.profile.functions.len()
    }

    fn function(&self, index: usize) -> FunctionRef<'_> {
        let Some(function) = self.profile.functions.get(index) else { return FunctionRef::default() };
        FunctionRef {
            name: self.profile.str(function.name),
            file: self.profile.str(function.file),
            module: self.modules.get(index).copied().unwrap_or(""),
            is_thread: self.threads.get(index).copied().unwrap_or(false),
        }
    }

    fn each(&self, take: &mut dyn FnMut(&[Frame], i64)) {
        // A stack is looked at once, however many samples have it.
        let mut values = vec![0i64; self.profile.stack_count()];
        for sample in self.profile.samples() {
            let value = sample.values.get(self.sample_type).copied().unwrap_or(0);
            if let Some(sum) = values.get_mut(sample.stack_id.0 as usize) {
                *sum = sum.saturating_add(value);
            }
        }
        let mut frames = Vec::new();
        for (index, value) in values.into_iter().enumerate().filter(|(_, value)| *value != 0) {
            frames.clear();
            for location in self.profile.stack(CallStackId(index as u32)) {
                let lines = self.profile.lines_of(*location);
                if lines.is_empty() {
                    frames.push(Frame { function: u32::MAX, line: 0 });
                }
                frames.extend(lines.iter().map(|line| Frame {
                    function: line.function.map_or(u32::MAX, |function| function.0),
                    line: u32::try_from(line.line).unwrap_or(0),
                }));
            }
            take(&frames, value);
        }
    }
}

/// A row of a table of functions, as `go tool pprof -top` prints it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlatRow<'a> {
    /// The function.
    pub name: &'a str,
    /// Its own value.
    pub flat: f64,
    /// With what it calls.
    pub cum: f64,
}

/// A table of functions without stacks: the part that is not shown stays unknown.
#[derive(Clone, Debug)]
pub struct TableRows<'a> {
    /// The rows.
    pub rows: Vec<FlatRow<'a>>,
    /// The whole, of which the rows are a part.
    pub total: f64,
}
