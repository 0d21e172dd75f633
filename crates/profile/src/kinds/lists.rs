//! Lists of functions by role: how a name is looked up.

use super::Role;
use std::collections::HashMap;

/// Names that share a role. A name is matched in full; `name*` at its start; `*name*` anywhere; `*name` at its end.
pub(crate) type Group = (Role, &'static [&'static str]);

/// Groups made ready for looking up. A name in full comes first, then the longest start, then what stands anywhere, in
/// the lists' order.
#[derive(Debug)]
pub(crate) struct Names {
    full: HashMap<&'static str, Role>,
    /// By length, the longest first.
    starts: Vec<(usize, HashMap<&'static str, Role>)>,
    ends: Vec<(&'static str, Role)>,
    within: Vec<(&'static str, Role)>,
}

impl Names {
    /// Of several lists; the earlier wins.
    pub(crate) fn of(lists: &[&[Group]]) -> Names {
        let mut names =
            Names { full: HashMap::new(), starts: Vec::new(), ends: Vec::new(), within: Vec::new() };
        for (role, patterns) in lists.iter().flat_map(|list| list.iter()) {
            for pattern in patterns.iter() {
                names.add(pattern, *role);
            }
        }
        names.starts.sort_by_key(|(length, _)| std::cmp::Reverse(*length));
        names
    }

    fn add(&mut self, pattern: &'static str, role: Role) {
        let bare = pattern.trim_matches('*');
        match (pattern.starts_with('*'), pattern.ends_with('*')) {
            (true, true) => self.within.push((bare, role)),
            (true, false) => self.ends.push((bare, role)),
            (false, false) => {
                self.full.entry(bare).or_insert(role);
            }
            (false, true) => {
                let of_length = match self.starts.iter().position(|(length, _)| *length == bare.len()) {
                    Some(at) => &mut self.starts[at].1,
                    None => {
                        self.starts.push((bare.len(), HashMap::new()));
                        &mut self.starts.last_mut().expect("just pushed").1
                    }
                };
                of_length.entry(bare).or_insert(role);
            }
        }
    }

    /// The role of a function by its name.
    pub(crate) fn role(&self, name: &str) -> Option<Role> {
        if let Some(role) = self.full.get(name) {
            return Some(*role);
        }
        let by_start = self.starts.iter().find_map(|(length, names)| {
            // The length may fall into a character of a name that is not in the lists anyway.
            names.get(name.get(..*length)?).copied()
        });
        by_start
            .or_else(|| self.ends.iter().find(|(end, _)| name.ends_with(end)).map(|(_, role)| *role))
            .or_else(|| self.within.iter().find(|(part, _)| name.contains(part)).map(|(_, role)| *role))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::CostKind;

    #[test]
    fn full_names_beat_starts_and_the_longest_start_wins() {
        let list: &[Group] = &[
            (Role::Plumbing, &["runtime.*"]),
            (Role::Mechanism(CostKind::Allocation), &["runtime.malloc*"]),
            (Role::Overrides(CostKind::GarbageCollection), &["runtime.mallocgcAssist"]),
            (Role::Purpose(CostKind::Sorting), &["*::sort::*", "*_qsort"]),
        ];
        let names = Names::of(&[list]);
        assert_eq!(names.role("runtime.mallocgc"), Some(Role::Mechanism(CostKind::Allocation)));
        let assist = Role::Overrides(CostKind::GarbageCollection);
        assert_eq!(names.role("runtime.mallocgcAssist"), Some(assist));
        assert_eq!(names.role("runtime.goexit"), Some(Role::Plumbing));
        assert_eq!(names.role("core::slice::sort::merge"), Some(Role::Purpose(CostKind::Sorting)));
        assert_eq!(names.role("my_qsort"), Some(Role::Purpose(CostKind::Sorting)));
        assert_eq!((names.role("rünt"), names.role("")), (None, None));
    }
}
