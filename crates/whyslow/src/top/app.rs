//! What the screen is about: the page, the chosen row, the order, the filter. Knows no terminal.

use super::columns::{self, COLUMNS};
use super::look::{Look, Task};
use std::collections::{BTreeMap, HashSet};
use whyslow_model::{Table, Tid};

/// What is looked at.
#[derive(Clone, Debug)]
pub(crate) enum Page {
    /// All processes.
    Processes,
    /// The threads of one.
    Threads {
        /// The process.
        pid: Tid,
        /// Its name when the page was opened: it may end while it is looked at.
        name: String,
    },
    /// A table about one process: its calls, descriptors, files, peers.
    About {
        /// The process.
        pid: Tid,
        /// Its name, as for its threads.
        name: String,
        /// Which view.
        view: &'static str,
        /// The table, or why there is none; `None` until it comes.
        table: Option<Result<Table, String>>,
    },
    /// The keys.
    Help,
}

/// What a key, the mouse or a child process asks for.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Action {
    /// End.
    Quit,
    /// Move the chosen row.
    Move(i64),
    /// To the first row.
    First,
    /// To the last row.
    Last,
    /// Choose the row that stands at this line of the list.
    Choose(usize),
    /// Look into the chosen row.
    Into,
    /// Back to where one came from.
    Back,
    /// Sort by the next column (1) or the one before (-1).
    SortNext(i64),
    /// Smallest first, or largest first again.
    Reverse,
    /// Children below their parents.
    Tree,
    /// Hold the picture.
    Pause,
    /// Begin to type a filter.
    Filter,
    /// A letter of the filter.
    Type(char),
    /// Take the last letter back.
    Erase,
    /// Keep the filter and go on.
    Accept,
    /// Show a table about the chosen process.
    About(&'static str),
    /// Record the chosen process.
    Record,
    /// Show the keys.
    Help,
    /// Look twice as often (-1) or half as often (1).
    Interval(i64),
    /// Stop, until the shell continues us.
    Suspend,
    /// Draw all anew: something else wrote to the screen.
    Redraw,
}

/// One line of a list.
pub(crate) struct Line<'a> {
    /// The task.
    pub(crate) task: &'a Task,
    /// How deep it stands in the tree.
    pub(crate) depth: usize,
}

/// The state of the screen.
pub(crate) struct App {
    /// The last look that is shown.
    pub(crate) look: Option<Look>,
    /// Newer than what is shown, while paused.
    newer: Option<Look>,
    /// From the outermost to what is shown.
    pages: Vec<Page>,
    /// The chosen task, by process and thread: it stays chosen where it moves.
    chosen: Option<(Tid, Option<Tid>)>,
    /// The chosen line of a table.
    pub(crate) chosen_line: usize,
    /// Sorted by this column.
    pub(crate) sort: usize,
    /// Smallest first.
    pub(crate) reverse: bool,
    /// Children below their parents.
    pub(crate) tree: bool,
    /// The picture is held.
    pub(crate) paused: bool,
    /// Only tasks whose name, command or number contains this.
    pub(crate) filter: String,
    /// The filter is being typed.
    pub(crate) typing: bool,
    /// A remark for the last line.
    pub(crate) remark: String,
}

impl App {
    /// A screen that has seen nothing yet.
    pub(crate) fn new(sort: usize) -> App {
        App {
            look: None,
            newer: None,
            pages: vec![Page::Processes],
            chosen: None,
            chosen_line: 0,
            sort,
            reverse: false,
            tree: false,
            paused: false,
            filter: String::new(),
            typing: false,
            remark: String::new(),
        }
    }

    /// What is looked at.
    pub(crate) fn page(&self) -> &Page {
        self.pages.last().unwrap_or(&Page::Processes)
    }

    /// Takes a new look: shown at once (true), or when the pause ends.
    pub(crate) fn see(&mut self, look: Look) -> bool {
        let into = if self.paused { &mut self.newer } else { &mut self.look };
        *into = Some(look);
        !self.paused
    }

    /// The process that is chosen, or that the page is about, with its name.
    pub(crate) fn process(&self) -> Option<(Tid, String)> {
        match self.page() {
            Page::Processes => {
                self.lines().get(self.place()).map(|line| (line.task.pid, line.task.name().to_string()))
            }
            Page::Threads { pid, name } | Page::About { pid, name, .. } => Some((*pid, name.clone())),
            Page::Help => None,
        }
    }

    /// True while the last look has this process; a look that is missing proves no end.
    pub(crate) fn is_there(&self, pid: Tid) -> bool {
        self.look.as_ref().is_none_or(|look| look.processes.iter().any(|task| task.pid == pid))
    }

    /// The tasks of the page in their order; empty where it shows none.
    pub(crate) fn lines(&self) -> Vec<Line<'_>> {
        let Some(look) = &self.look else { return Vec::new() };
        let tasks = match self.page() {
            Page::Processes => look.processes.as_slice(),
            Page::Threads { pid, .. } => look.threads_of(*pid),
            Page::About { .. } | Page::Help => return Vec::new(),
        };
        let mut tasks: Vec<&Task> = tasks.iter().filter(|task| self.is_wanted(task)).collect();
        self.put_in_order(&mut tasks);
        if self.tree && matches!(self.page(), Page::Processes) {
            return tree(&tasks);
        }
        tasks.into_iter().map(|task| Line { task, depth: 0 }).collect()
    }

    fn is_wanted(&self, task: &Task) -> bool {
        let filter = self.filter.to_lowercase();
        filter.is_empty()
            || task.name().to_lowercase().contains(&filter)
            || task.command().to_lowercase().contains(&filter)
            || task.tid.unwrap_or(task.pid).to_string() == filter
    }

    fn put_in_order(&self, tasks: &mut [&Task]) {
        let Some(column) = COLUMNS.get(self.sort) else { return };
        tasks.sort_by(|a, b| {
            let order = match column.figure {
                // Unknown goes last, whichever way round.
                Some(figure) => match (figure(a), figure(b)) {
                    (Some(a), Some(b)) if self.reverse => a.total_cmp(&b),
                    (Some(a), Some(b)) => b.total_cmp(&a),
                    (a, b) => b.is_some().cmp(&a.is_some()),
                },
                None if self.reverse => (column.text)(b).cmp(&(column.text)(a)),
                None => (column.text)(a).cmp(&(column.text)(b)),
            };
            order.then(a.pid.cmp(&b.pid)).then(a.tid.cmp(&b.tid))
        });
    }

    /// The line of the chosen task, the first where it is gone; of a table, its chosen line.
    pub(crate) fn place(&self) -> usize {
        if matches!(self.page(), Page::About { .. } | Page::Help) {
            return self.chosen_line;
        }
        let is_chosen = |line: &Line<'_>| self.chosen == Some((line.task.pid, line.task.tid));
        self.lines().iter().position(is_chosen).unwrap_or(0)
    }

    /// How many lines the page has.
    pub(crate) fn length(&self) -> usize {
        match self.page() {
            Page::About { table: Some(Ok(table)), .. } => table.rows.len(),
            Page::About { .. } => 0,
            Page::Help => super::keys::KEYS.len(),
            Page::Processes | Page::Threads { .. } => self.lines().len(),
        }
    }

    fn choose(&mut self, place: usize) {
        let place = place.min(self.length().saturating_sub(1));
        self.chosen_line = place;
        if let Some(line) = self.lines().get(place) {
            self.chosen = Some((line.task.pid, line.task.tid));
        }
    }

    /// Opens a page above the one that is shown.
    pub(crate) fn open(&mut self, page: Page) {
        self.pages.push(page);
        self.chosen_line = 0;
    }

    /// Opens a page for a table about `pid`, in place of another such page; false where it is waited for already.
    pub(crate) fn ask(&mut self, pid: Tid, name: String, view: &'static str) -> bool {
        if let Page::About { view: shown, table: None, .. } = self.page()
            && *shown == view
        {
            return false;
        }
        if matches!(self.page(), Page::About { .. }) {
            self.pages.pop();
        }
        self.open(Page::About { pid, name, view, table: None });
        true
    }

    /// Puts the table into the page that waits for it; passed over if that is not shown any more.
    pub(crate) fn fill(&mut self, about: Tid, of: &str, came: Result<Table, String>) {
        for page in &mut self.pages {
            if let Page::About { pid, view, table, .. } = page
                && *pid == about
                && *view == of
            {
                *table = Some(came);
                return;
            }
        }
    }

    /// Carries an action out, as far as it is about the screen alone.
    pub(crate) fn act(&mut self, action: &Action) {
        self.remark.clear();
        match action {
            Action::Move(by) => {
                let place = self.place() as i64;
                self.choose(place.saturating_add(*by).max(0) as usize);
            }
            Action::First => self.choose(0),
            Action::Last => self.choose(usize::MAX),
            Action::Choose(place) => self.choose(*place),
            Action::Into => {
                if let (Page::Processes, Some((pid, name))) = (self.page(), self.process()) {
                    self.chosen = Some((pid, None));
                    self.open(Page::Threads { pid, name });
                }
            }
            Action::Back => {
                if self.pages.len() > 1 {
                    self.pages.pop();
                } else {
                    self.filter.clear();
                }
            }
            Action::SortNext(by) => {
                let count = COLUMNS.len() as i64;
                self.sort = (self.sort as i64 + by).rem_euclid(count) as usize;
            }
            Action::Reverse => self.reverse = !self.reverse,
            Action::Tree => self.tree = !self.tree,
            Action::Pause => {
                // The chosen task is pinned before the picture changes below it.
                self.choose(self.place());
                self.paused = !self.paused;
                if !self.paused
                    && let Some(newer) = self.newer.take()
                {
                    self.look = Some(newer);
                }
            }
            Action::Filter => self.typing = true,
            Action::Type(letter) => self.filter.push(*letter),
            Action::Erase => {
                self.filter.pop();
            }
            Action::Accept => self.typing = false,
            Action::Help if matches!(self.page(), Page::Help) => {
                self.pages.pop();
            }
            Action::Help => self.open(Page::Help),
            Action::Quit
            | Action::About(_)
            | Action::Record
            | Action::Interval(_)
            | Action::Suspend
            | Action::Redraw => {}
        }
    }
}

/// Children below their parents, each level in the order of `tasks`. Who started nobody of them, and whose parent is
/// not among them, stands at the top.
fn tree<'a>(tasks: &[&'a Task]) -> Vec<Line<'a>> {
    let known: HashSet<Tid> = tasks.iter().map(|task| task.pid).collect();
    let mut children: BTreeMap<Option<Tid>, Vec<&'a Task>> = BTreeMap::new();
    for task in tasks {
        let parent = task.parent.filter(|parent| known.contains(parent) && *parent != task.pid);
        children.entry(parent).or_default().push(task);
    }
    let mut lines = Vec::with_capacity(tasks.len());
    // A stack, for a chain of processes may be long; a task is taken once, so a circle ends.
    let mut left: Vec<(&'a Task, usize)> =
        children.remove(&None).unwrap_or_default().into_iter().rev().map(|task| (task, 0)).collect();
    while let Some((task, depth)) = left.pop() {
        lines.push(Line { task, depth });
        let below = children.remove(&Some(task.pid)).unwrap_or_default();
        left.extend(below.into_iter().rev().map(|task| (task, depth + 1)));
    }
    // Circles, of numbers that were given anew between two reads, hang on nothing.
    lines.extend(children.into_values().flatten().map(|task| Line { task, depth: 0 }));
    lines
}

/// The column that is sorted by where none is asked for.
pub(crate) fn usual_order() -> usize {
    columns::named("cpu").unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::top::look::tests::task;
    use std::collections::HashMap;
    use whyslow_model::{Metric, Nanos, Timestamp};

    fn look(processes: Vec<Task>) -> Look {
        Look {
            at: Timestamp::UNKNOWN,
            over: Nanos::UNKNOWN,
            resources: Vec::new(),
            load: None,
            processes,
            threads: HashMap::new(),
            gaps: Vec::new(),
            cost: None,
        }
    }

    fn app() -> App {
        let mut app = App::new(usual_order());
        app.see(look(vec![
            task(1, 0, "init", &[(Metric::TaskUser, 0.0)]),
            task(20, 1, "java", &[(Metric::TaskUser, 0.9)]),
            task(30, 20, "sh", &[]),
            task(40, 1, "redis-server", &[(Metric::TaskUser, 0.1)]),
        ]));
        app
    }

    fn process(app: &App) -> Option<Tid> {
        app.process().map(|(pid, _)| pid)
    }

    fn pids(app: &App) -> Vec<Tid> {
        app.lines().iter().map(|line| line.task.pid).collect()
    }

    #[test]
    fn the_busiest_is_first_and_what_is_unknown_last() {
        let mut app = app();
        assert_eq!(pids(&app), [20, 40, 1, 30]);
        app.act(&Action::Reverse);
        assert_eq!(pids(&app), [1, 40, 20, 30]);
    }

    #[test]
    fn the_chosen_one_stays_chosen_when_the_order_changes() {
        let mut app = app();
        app.act(&Action::Move(1));
        assert_eq!(process(&app), Some(40));
        app.see(look(vec![
            task(20, 1, "java", &[(Metric::TaskUser, 0.1)]),
            task(40, 1, "redis-server", &[(Metric::TaskUser, 0.8)]),
        ]));
        assert_eq!((app.place(), process(&app)), (0, Some(40)));
    }

    #[test]
    fn a_pause_holds_the_picture_and_the_choice() {
        let mut app = app();
        app.act(&Action::Pause);
        app.see(look(vec![task(99, 1, "new", &[])]));
        assert_eq!(process(&app), Some(20));
        app.act(&Action::Pause);
        assert_eq!(pids(&app), [99]);
    }

    #[test]
    fn filters_and_trees() {
        let mut app = app();
        app.act(&Action::Filter);
        "JAV".chars().for_each(|letter| app.act(&Action::Type(letter)));
        assert_eq!(pids(&app), [20]);
        app.act(&Action::Back);
        app.act(&Action::Tree);
        let lines: Vec<(Tid, usize)> = app.lines().iter().map(|line| (line.task.pid, line.depth)).collect();
        assert_eq!(lines, [(1, 0), (20, 1), (30, 2), (40, 1)]);
    }

    #[test]
    fn a_circle_of_parents_ends() {
        let (a, b) = (task(1, 2, "a", &[]), task(2, 1, "b", &[]));
        assert_eq!(tree(&[&a, &b]).len(), 2);
    }

    #[test]
    fn moves_stay_within_the_list() {
        let mut app = app();
        app.act(&Action::Move(-5));
        assert_eq!(app.place(), 0);
        app.act(&Action::Move(i64::MAX));
        assert_eq!(app.place(), 3);
        app.act(&Action::Into);
        app.act(&Action::Last);
        assert_eq!((app.length(), app.place()), (0, 0));
    }
}
