//! Whom a recording watches at a moment, as another recording of the same is to be told: numbers that are of living processes now.

use super::process::{Stat, Status};
use super::root::ProcRoot;
use std::collections::BTreeMap;

/// Whom a recording watches now.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WatchedNow {
    /// All processes; the lists are empty then.
    pub all: bool,
    /// These, with all their threads.
    pub pids: Vec<u32>,
    /// These threads alone.
    pub tids: Vec<u32>,
    /// And their children.
    pub children: bool,
}

impl WatchedNow {
    /// True where nobody is watched.
    pub fn is_empty(&self) -> bool {
        !self.all && self.pids.is_empty() && self.tids.is_empty()
    }

    /// The same without those that have ended.
    pub fn of_the_living(self, root: &ProcRoot) -> WatchedNow {
        let tids = self.tids.iter().copied().filter(|tid| is_thread(root, *tid)).collect();
        let living: BTreeMap<u32, u32> = self
            .pids
            .iter()
            .filter_map(|pid| {
                let stat = Stat::read(root, *pid).ok()?;
                (!stat.is_zombie() && !stat.is_kernel_thread()).then_some((*pid, stat.parent))
            })
            .collect();
        // Where children are watched, those whose parent is named need no mention: they may end before they are looked up.
        let is_named = |parent: &u32| self.children && living.contains_key(parent);
        let pids = living.iter().filter(|(_, parent)| !is_named(parent)).map(|(pid, _)| *pid).collect();
        WatchedNow { pids, tids, ..self }
    }
}

fn is_thread(root: &ProcRoot, tid: u32) -> bool {
    Status::read(root, tid).is_ok_and(|status| status.process.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_ended_are_left_out_and_children_go_without_saying() {
        let place = tempfile::tempdir().expect("a folder");
        let process = |pid: u32, state: char, parent: u32| {
            let folder = place.path().join(format!("proc/{pid}"));
            std::fs::create_dir_all(&folder).expect("made");
            let stat =
                format!("{pid} (a) {state} {parent} 1 1 0 -1 4194560 0 0 0 0 5 7 0 0 20 0 1 0 100 0 0\n");
            std::fs::write(folder.join("stat"), stat).expect("written");
            std::fs::write(folder.join("status"), format!("Name:\ta\nTgid:\t{pid}\n")).expect("written");
        };
        process(10, 'S', 1);
        process(11, 'S', 10);
        process(12, 'R', 11);
        process(20, 'Z', 1);
        process(30, 'S', 1);
        let root = ProcRoot::at(place.path());
        let of = |children| WatchedNow {
            pids: vec![10, 11, 12, 20, 30, 40],
            tids: vec![12, 41],
            children,
            ..WatchedNow::default()
        };
        let living = of(true).of_the_living(&root);
        assert_eq!((living.pids.as_slice(), living.tids.as_slice()), ([10, 30].as_slice(), [12].as_slice()));
        assert_eq!(of(false).of_the_living(&root).pids, [10, 11, 12, 30]);
        let gone = WatchedNow { pids: vec![20, 40], ..WatchedNow::default() };
        assert!(!gone.is_empty() && gone.of_the_living(&root).is_empty());
        assert!(!WatchedNow { all: true, ..WatchedNow::default() }.of_the_living(&root).is_empty());
    }
}
