//! Which frames and stacks are shown (google/pprof, `profile/filter.go` and `profile/prune.go`). All that is asked about
//! names depends on the stack alone, so that each stack is decided once.

use super::{FrameFilter, SelectError, regex};
use crate::names;
use regex::Regex;
use whyslow_model::profile::{CallStackId, Location, LocationId, Profile, SourceLine};

/// The stacks of a profile, some of them changed or left out.
pub(super) struct Stacks<'p> {
    profile: &'p Profile,
    /// The locations of each stack, leaf first; `None`: its samples are left out.
    pub(super) stacks: Vec<Option<Vec<LocationId>>>,
    /// The lines of locations that lost some.
    pub(super) lines: Vec<Option<Vec<SourceLine>>>,
}

/// What a regular expression matches in a profile.
struct Matches {
    functions: Vec<bool>,
    mappings: Vec<bool>,
}

impl Matches {
    fn new(profile: &Profile, pattern: &Regex) -> Matches {
        let function = |function: &whyslow_model::profile::Function| {
            pattern.is_match(&names::shown(profile, function.name, function.system_name))
                || pattern.is_match(profile.str(function.file))
        };
        Matches {
            functions: profile.functions.iter().map(function).collect(),
            mappings: profile
                .mappings
                .iter()
                .map(|mapping| pattern.is_match(profile.str(mapping.file)))
                .collect(),
        }
    }

    /// Whether a line's function matches; `None` where the line has none.
    fn line(&self, line: &SourceLine) -> Option<bool> {
        let function = line.function?;
        Some(self.functions.get(function.0 as usize).copied().unwrap_or(false))
    }

    fn mapping(&self, location: &Location) -> bool {
        location.mapping.and_then(|mapping| self.mappings.get(mapping.0 as usize)).copied().unwrap_or(false)
    }

    fn location(&self, location: &Location, lines: &[SourceLine]) -> bool {
        lines.iter().any(|line| self.line(line) == Some(true)) || self.mapping(location)
    }
}

impl<'p> Stacks<'p> {
    pub(super) fn new(profile: &'p Profile) -> Stacks<'p> {
        let stacks =
            (0..profile.stack_count()).map(|id| Some(profile.stack(CallStackId(id as u32)).to_vec()));
        Stacks { profile, stacks: stacks.collect(), lines: vec![None; profile.locations.len()] }
    }

    fn lines(&self, id: usize) -> &[SourceLine] {
        let own = self.lines.get(id).and_then(Option::as_deref);
        own.unwrap_or_else(|| self.profile.lines_of(LocationId(id as u32)))
    }

    /// Leaves out what `filter` asks to; what matched nothing goes to `remarks`.
    pub(super) fn filter(
        &mut self,
        filter: &FrameFilter,
        remarks: &mut Vec<String>,
    ) -> Result<(), SelectError> {
        let focus = regex("focus", &filter.focus)?;
        let ignore = regex("ignore", &filter.ignore)?;
        let hide = regex("hide", &filter.hide)?;
        let show = regex("show", &filter.show)?;
        let show_from = regex("show_from", &filter.show_from)?;
        let prune_from = regex("prune_from", &filter.prune_from)?;
        if focus.is_some() || ignore.is_some() || hide.is_some() || show.is_some() {
            self.by_name([focus, ignore, hide, show], remarks);
        }
        if let Some(pattern) = show_from {
            self.show_from(&pattern, remarks);
        }
        if let Some(pattern) = prune_from {
            self.prune_from(&pattern);
        }
        Ok(())
    }

    /// focus, ignore, hide and show.
    fn by_name(&mut self, patterns: [Option<Regex>; 4], remarks: &mut Vec<String>) {
        let profile = self.profile;
        let [focus, ignore, hide, show] =
            patterns.map(|pattern| pattern.map(|pattern| Matches::new(profile, &pattern)));
        let mut wanted = vec![None; profile.locations.len()];
        let mut hidden = vec![false; profile.locations.len()];
        let mut matched = [false; 4];
        for (id, location) in profile.locations.iter().enumerate() {
            let lines = self.lines(id).to_vec();
            if ignore.as_ref().is_some_and(|ignore| ignore.location(location, &lines)) {
                matched[1] = true;
                wanted[id] = Some(false);
            } else if focus.as_ref().is_none_or(|focus| focus.location(location, &lines)) {
                matched[0] = true;
                wanted[id] = Some(true);
            }
            let mut left = lines;
            if let Some(hide) = hide.as_ref().filter(|hide| hide.location(location, &left)) {
                matched[2] = true;
                let all = hide.mapping(location);
                left.retain(|line| !all && hide.line(line) != Some(true));
                hidden[id] |= left.is_empty();
                self.lines[id] = Some(left.clone());
            }
            if let Some(show) = &show {
                if !show.mapping(location) {
                    left.retain(|line| show.line(line) != Some(false));
                }
                hidden[id] |= left.is_empty();
                matched[3] |= !left.is_empty();
                self.lines[id] = Some(left);
            }
        }
        let asked = [focus.is_some(), ignore.is_some(), hide.is_some(), show.is_some()];
        for ((name, asked), matched) in ["focus", "ignore", "hide", "show"].iter().zip(asked).zip(matched) {
            if asked && !matched {
                remarks.push(format!("{name} matched no samples"));
            }
        }
        let any_hidden = hidden.contains(&true);
        for stack in &mut self.stacks {
            let Some(locations) = stack else { continue };
            let of = |id: &LocationId| wanted.get(id.0 as usize).copied().flatten();
            let kept = locations.iter().any(|id| of(id) == Some(true))
                && !locations.iter().any(|id| of(id) == Some(false));
            if !kept {
                *stack = None;
            } else if any_hidden {
                locations.retain(|id| !hidden.get(id.0 as usize).copied().unwrap_or(false));
                if locations.is_empty() {
                    *stack = None;
                }
            }
        }
    }

    /// Leaves out what stands above the highest match.
    fn show_from(&mut self, pattern: &Regex, remarks: &mut Vec<String>) {
        let matches = Matches::new(self.profile, pattern);
        let mut found = vec![false; self.profile.locations.len()];
        for (id, location) in self.profile.locations.iter().enumerate() {
            if matches.mapping(location) {
                found[id] = true;
            } else if let Some(last) =
                self.lines(id).iter().rposition(|line| matches.line(line) == Some(true))
            {
                found[id] = true;
                self.lines[id] = Some(self.lines(id)[..=last].to_vec());
            }
        }
        if !found.contains(&true) {
            remarks.push("show_from matched no samples".to_string());
        }
        for stack in &mut self.stacks {
            let Some(locations) = stack else { continue };
            match locations.iter().rposition(|id| found.get(id.0 as usize).copied().unwrap_or(false)) {
                Some(last) => locations.truncate(last + 1),
                None => *stack = None,
            }
        }
    }

    /// Leaves out what stands below the lowest match.
    fn prune_from(&mut self, pattern: &Regex) {
        let pruned = self.functions_like(|name| pattern.is_match(name));
        let mut found = vec![false; self.profile.locations.len()];
        for (id, found) in found.iter_mut().enumerate() {
            if let Some(first) = self.lines(id).iter().position(|line| is_in(&pruned, line)) {
                *found = true;
                self.lines[id] = Some(self.lines(id)[first..].to_vec());
            }
        }
        for locations in self.stacks.iter_mut().flatten() {
            let first = locations.iter().position(|id| found.get(id.0 as usize).copied().unwrap_or(false));
            locations.drain(..first.unwrap_or(0));
        }
    }

    /// Leaves out the frames that the profile itself calls uninteresting, with what they call.
    pub(super) fn drop_uninteresting(&mut self) {
        let pattern = |id| {
            let text = self.profile.str(id);
            // One that is no regular expression is passed over, as in pprof.
            (!text.is_empty()).then(|| Regex::new(&format!("^({text})$")).ok()).flatten()
        };
        let Some(drop) = pattern(self.profile.drop_frames) else { return };
        let keep = pattern(self.profile.keep_frames);
        let pruned = self.functions_like(|name| {
            drop.is_match(name) && keep.as_ref().is_none_or(|keep| !keep.is_match(name))
        });
        let count = self.profile.locations.len();
        let (mut whole, mut beneath) = (vec![false; count], vec![false; count]);
        for id in 0..count {
            let lines = self.lines(id);
            let Some(at) = lines.iter().rposition(|line| is_in(&pruned, line)) else { continue };
            if at + 1 == lines.len() {
                whole[id] = true;
            } else {
                beneath[id] = true;
                self.lines[id] = Some(lines[at + 1..].to_vec());
            }
        }
        for locations in self.stacks.iter_mut().flatten() {
            let marked = |id: &LocationId, marks: &[bool]| marks.get(id.0 as usize).copied().unwrap_or(false);
            // Frames above the first that the program's author would know stay: else nothing might be left.
            let mut known = false;
            let cut = locations.iter().rposition(|id| {
                let is_pruned = marked(id, &whole) || marked(id, &beneath);
                known |= !is_pruned;
                known && is_pruned
            });
            if let Some(at) = cut {
                let first = if marked(&locations[at], &whole) { at + 1 } else { at };
                locations.drain(..first);
            }
        }
    }

    /// Which functions have a name that `is_like` takes; parameters are not part of it.
    fn functions_like(&self, is_like: impl Fn(&str) -> bool) -> Vec<bool> {
        let profile = self.profile;
        let functions = profile.functions.iter().map(|function| {
            let name = names::shown(profile, function.name, function.system_name);
            !name.is_empty() && is_like(without_parameters(&name))
        });
        functions.collect()
    }
}

fn is_in(functions: &[bool], line: &SourceLine) -> bool {
    let known = line.function.and_then(|function| functions.get(function.0 as usize));
    known.copied().unwrap_or(false)
}

/// A name up to its parameters; `(anonymous namespace)` and `operator()` are parts of names.
fn without_parameters(name: &str) -> &str {
    const RESERVED: [&str; 2] = ["(anonymous namespace)", "operator()"];
    let name = name.strip_prefix('.').unwrap_or(name);
    let mut from = 0;
    while let Some(at) = name[from..].find('(').map(|at| from + at) {
        let reserved = RESERVED.iter().find_map(|reserved| {
            let start = at.checked_sub(reserved.find('(')?)?;
            name.get(start..)?.starts_with(reserved).then_some(start + reserved.len())
        });
        match reserved {
            Some(end) => from = end,
            None => return &name[..at],
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_no_part_of_a_name() {
        assert_eq!(without_parameters("foo(int)"), "foo");
        assert_eq!(without_parameters("(anonymous namespace)::foo(int)"), "(anonymous namespace)::foo");
        assert_eq!(without_parameters("A::operator()(int)"), "A::operator()");
        assert_eq!(without_parameters(".foo"), "foo");
    }
}
