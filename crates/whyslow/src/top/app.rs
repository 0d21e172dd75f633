//! What the screen is about: the page, the chosen row, the order, the filter. Knows no terminal.

use super::action::Action;
use super::columns::{self, COLUMNS, Key};
use super::help;
use super::history::History;
use super::look::{Kind, Look, Task};
use super::tree::tree;
use std::rc::Rc;
use whyslow_model::walk::HostResource;
use whyslow_model::{Table, Tid};

/// What is looked at.
#[derive(Clone, Debug)]
pub(crate) enum Page {
    /// All processes.
    Processes,
    /// Who takes of a resource, by its name.
    Resource(String),
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

/// One line of a list.
pub(crate) struct Line<'a> {
    /// The task.
    pub(crate) task: &'a Task,
    /// How deep it stands in the tree.
    pub(crate) depth: usize,
}

/// The state of the screen.
pub(crate) struct App {
    /// The look that is shown.
    pub(crate) look: Option<Rc<Look>>,
    /// Its number.
    number: u64,
    /// The looks before it, and behind it while the picture is held.
    history: History,
    /// Processes that stand first, whatever the order.
    pub(crate) pins: Vec<Tid>,
    /// From the outermost to what is shown.
    pages: Vec<Page>,
    /// The filters of the pages below, which wait there.
    filters: Vec<String>,
    /// The tasks of the page in their order, as places in the look, and how deep each stands in the tree.
    order: Vec<(usize, usize)>,
    /// The chosen verdict, where one is: its resource's name.
    verdict: Option<String>,
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
    /// A screen that has seen nothing yet; `pins` stand first, whatever the order.
    pub(crate) fn new(sort: usize, pins: &[Tid]) -> App {
        App {
            look: None,
            number: 0,
            history: History::default(),
            pins: pins.to_vec(),
            pages: vec![Page::Processes],
            filters: Vec::new(),
            order: Vec::new(),
            verdict: None,
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
        let look = Rc::new(look);
        let number = self.history.keep(Rc::clone(&look));
        if self.paused && self.look.is_some() {
            return false;
        }
        (self.look, self.number) = (Some(look), number);
        self.arrange();
        true
    }

    /// How full a resource was in the looks up to the one that is shown, as bars.
    pub(crate) fn chart_of_resource(&self, name: &str, width: usize) -> String {
        self.history.of_resource(name, self.number, width)
    }

    /// The same of the CPU time of a task.
    pub(crate) fn chart_of_task(&self, task: &Task, width: usize) -> String {
        self.history.of_task(task, self.number, width)
    }

    /// Shows the look so many before or behind the one that is shown, and holds it.
    fn step(&mut self, by: i64) {
        self.hold();
        let to = self.history.step(self.number, by);
        if to == self.number {
            let which = if by < 0 { "oldest look that is kept" } else { "newest look: Space goes on" };
            self.remark = format!("this is the {which}");
        }
        if let Some(look) = self.history.get(to) {
            (self.look, self.number) = (Some(Rc::clone(look)), to);
        }
    }

    /// Holds the picture; the chosen task is pinned before the picture changes below it.
    fn hold(&mut self) {
        if !self.paused && self.verdict.is_none() {
            self.choose(self.place());
        }
        self.paused = true;
    }

    /// The verdicts, the worst first.
    pub(crate) fn resources(&self) -> &[HostResource] {
        self.look.as_ref().map_or(&[], |look| &look.resources)
    }

    /// The place of the chosen verdict, on the page where one may be chosen.
    pub(crate) fn verdict(&self) -> Option<usize> {
        let name = self.verdict.as_ref().filter(|_| matches!(self.page(), Page::Processes))?;
        self.resources().iter().position(|resource| resource.name == *name)
    }

    fn choose_verdict(&mut self, place: Option<usize>) {
        let name = place.and_then(|place| self.resources().get(place)).map(|resource| resource.name.clone());
        self.verdict = name;
    }

    /// The process that is chosen, or that the page is about, with its name.
    pub(crate) fn process(&self) -> Option<(Tid, String)> {
        match self.page() {
            Page::Processes if self.verdict().is_some() => None,
            Page::Processes | Page::Resource(_) => {
                self.line(self.place()).map(|line| (line.task.pid, line.task.name().to_string()))
            }
            Page::Threads { pid, name } | Page::About { pid, name, .. } => Some((*pid, name.clone())),
            Page::Help => None,
        }
    }

    /// True while the last look has this process; a look that is missing proves no end.
    pub(crate) fn is_there(&self, pid: Tid) -> bool {
        self.look.as_ref().is_none_or(|look| look.process(pid).is_some())
    }

    /// The tasks of the page, in no order; empty where it shows none.
    fn tasks(&self) -> &[Task] {
        let Some(look) = &self.look else { return &[] };
        match self.page() {
            Page::Processes | Page::Resource(_) => &look.processes,
            Page::Threads { pid, .. } => look.threads_of(*pid),
            Page::About { .. } | Page::Help => &[],
        }
    }

    /// Line `place` of the list.
    pub(crate) fn line(&self, place: usize) -> Option<Line<'_>> {
        let &(at, depth) = self.order.get(place)?;
        Some(Line { task: self.tasks().get(at)?, depth })
    }

    /// The list, from that line on.
    pub(crate) fn lines(&self, from: usize) -> impl Iterator<Item = Line<'_>> {
        (from..self.order.len()).filter_map(|place| self.line(place))
    }

    /// Puts the tasks of the page in order: after whatever may have changed it, and once for all who ask.
    fn arrange(&mut self) {
        let measure = match self.page() {
            Page::Resource(name) => Kind::named(name).and_then(Kind::measure),
            _ => None,
        };
        let filter = self.filter.to_lowercase();
        let tasks = self.tasks();
        let key = |task: &Task| match measure {
            Some(measure) => Key::Figure(measure(task)),
            None => COLUMNS.get(self.sort).map_or(Key::Figure(None), |column| column.key(task)),
        };
        // Who takes nothing of a resource does not stand there.
        let is_taker = |task: &Task| measure.is_none_or(|of| of(task).is_some_and(|value| value > 0.0));
        let mut keyed: Vec<(Key, usize)> = tasks
            .iter()
            .enumerate()
            .filter(|(_, task)| is_wanted(task, &filter) && is_taker(task))
            .map(|(at, task)| (key(task), at))
            .collect();
        // Stable: those that are alike stay in the order of their numbers.
        let is_pinned = |at: usize| tasks.get(at).is_some_and(|task| self.pins.contains(&task.pid));
        keyed.sort_by(|a, b| {
            is_pinned(b.1).cmp(&is_pinned(a.1)).then_with(|| a.0.compare(&b.0, self.reverse))
        });
        let order: Vec<usize> = keyed.into_iter().map(|(_, at)| at).collect();
        self.order = match self.tree && matches!(self.page(), Page::Processes) {
            true => tree(tasks, &order),
            false => order.into_iter().map(|at| (at, 0)).collect(),
        };
    }

    /// The line of the chosen task, the first where it is gone; of a table, its chosen line.
    pub(crate) fn place(&self) -> usize {
        if matches!(self.page(), Page::About { .. } | Page::Help) {
            return self.chosen_line;
        }
        let is_chosen = |line: Line<'_>| self.chosen == Some((line.task.pid, line.task.tid));
        self.lines(0).position(is_chosen).unwrap_or(0)
    }

    /// How many lines the page has.
    pub(crate) fn length(&self) -> usize {
        match self.page() {
            Page::About { table: Some(Ok(table)), .. } => table.rows.len(),
            Page::About { .. } => 0,
            Page::Help => help::lines(self.look.as_deref()).len(),
            Page::Processes | Page::Resource(_) | Page::Threads { .. } => self.order.len(),
        }
    }

    fn choose(&mut self, place: usize) {
        let place = place.min(self.length().saturating_sub(1));
        self.chosen_line = place;
        self.verdict = None;
        if let Some(chosen) = self.line(place).map(|line| (line.task.pid, line.task.tid)) {
            self.chosen = Some(chosen);
        }
    }

    /// Opens a page above the one that is shown.
    pub(crate) fn open(&mut self, page: Page) {
        self.pages.push(page);
        self.filters.push(std::mem::take(&mut self.filter));
        self.chosen_line = 0;
        self.arrange();
    }

    /// Back to the page below, where there is one.
    fn close(&mut self) {
        if let Some(filter) = self.filters.pop() {
            self.pages.pop();
            self.filter = filter;
        }
    }

    /// Opens a page for a table about `pid`, in place of another such page; false where it is waited for already.
    pub(crate) fn ask(&mut self, pid: Tid, name: String, view: &'static str) -> bool {
        if let Page::About { view: shown, table: None, .. } = self.page()
            && *shown == view
        {
            return false;
        }
        if matches!(self.page(), Page::About { .. }) {
            self.close();
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
            Action::Move(by) => self.go(*by),
            Action::First => self.choose(0),
            Action::Last => self.choose(usize::MAX),
            Action::Choose(place) if self.verdict().is_none() && *place == self.place() => self.look_into(),
            Action::Choose(place) => self.choose(*place),
            Action::ChooseVerdict(place) if self.verdict() == Some(*place) => self.look_into(),
            Action::ChooseVerdict(place) => self.choose_verdict(Some(*place)),
            Action::Verdicts => self.choose_verdict(match self.verdict() {
                None => Some(0),
                Some(_) => None,
            }),
            Action::Into => self.look_into(),
            Action::Back => {
                if self.pages.len() > 1 {
                    self.close();
                } else {
                    self.filter.clear();
                    self.verdict = None;
                }
            }
            Action::SortBy(name) => {
                if let Some(at) = columns::named(name) {
                    self.reverse = at == self.sort && !self.reverse;
                    self.sort = at;
                }
            }
            Action::SortNext(by) => {
                let count = COLUMNS.len() as i64;
                self.sort = (self.sort as i64 + by).rem_euclid(count) as usize;
            }
            Action::Reverse => self.reverse = !self.reverse,
            Action::Tree => self.tree = !self.tree,
            Action::Pause => {
                if self.paused {
                    self.paused = false;
                    self.number = self.history.newest();
                    self.look = self.history.get(self.number).map(Rc::clone);
                } else {
                    self.hold();
                }
            }
            Action::Step(by) => self.step(*by),
            Action::Filter => self.typing = true,
            Action::Type(letter) => self.filter.push(*letter),
            Action::Erase => {
                self.filter.pop();
            }
            Action::Accept => self.typing = false,
            Action::Help if matches!(self.page(), Page::Help) => self.close(),
            Action::Help => self.open(Page::Help),
            Action::Quit
            | Action::About(_)
            | Action::Record
            | Action::Interval(_)
            | Action::Suspend
            | Action::Redraw => {}
        }
        self.arrange();
    }

    /// Moves the choice: above the first line of the processes are the verdicts.
    fn go(&mut self, by: i64) {
        let place = self.place();
        let is_above = by < 0 && place == 0 && matches!(self.page(), Page::Processes);
        match self.verdict() {
            Some(verdict) => {
                let to = (verdict as i64).saturating_add(by).max(0) as usize;
                self.choose_verdict(Some(to));
                if self.verdict.is_none() {
                    self.choose(0);
                }
            }
            None if is_above && !self.resources().is_empty() => {
                self.choose_verdict(Some(self.resources().len() - 1));
            }
            None => self.choose((place as i64).saturating_add(by).max(0) as usize),
        }
    }

    /// From a verdict to who takes of the resource, from a process to its threads.
    fn look_into(&mut self) {
        if let Some(resource) = self.verdict().and_then(|at| self.resources().get(at)) {
            let page = Page::Resource(resource.name.clone());
            self.chosen = None;
            self.open(page);
        } else if let (Page::Processes | Page::Resource(_), Some((pid, name))) = (self.page(), self.process())
        {
            self.chosen = Some((pid, None));
            self.open(Page::Threads { pid, name });
        }
    }
}

fn is_wanted(task: &Task, filter: &str) -> bool {
    filter.is_empty()
        || task.name().to_lowercase().contains(filter)
        || task.comm().to_lowercase().contains(filter)
        || task.command().to_lowercase().contains(filter)
        || task.tid.unwrap_or(task.pid).to_string() == filter
}

/// The column that is sorted by where none is asked for.
pub(crate) fn usual_order() -> usize {
    columns::named("waits").unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::top::look::tests::{look, resource, task};
    use whyslow_model::Metric;
    use whyslow_model::walk::State;

    fn app() -> App {
        let mut app = App::new(usual_order(), &[]);
        app.see(look(
            Vec::new(),
            vec![
                task(1, 0, "init", &[(Metric::TaskUser, 0.0)]),
                task(20, 1, "java", &[(Metric::TaskUser, 0.9)]),
                task(30, 20, "sh", &[]),
                task(40, 1, "redis-server", &[(Metric::TaskUser, 0.1)]),
            ],
        ));
        app
    }

    fn process(app: &App) -> Option<Tid> {
        app.process().map(|(pid, _)| pid)
    }

    fn pids(app: &App) -> Vec<Tid> {
        app.lines(0).map(|line| line.task.pid).collect()
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
        app.see(look(
            Vec::new(),
            vec![
                task(20, 1, "java", &[(Metric::TaskUser, 0.1)]),
                task(40, 1, "redis-server", &[(Metric::TaskUser, 0.8)]),
            ],
        ));
        assert_eq!((app.place(), process(&app)), (0, Some(40)));
    }

    #[test]
    fn a_pause_holds_the_picture_and_the_choice() {
        let mut app = app();
        app.act(&Action::Pause);
        app.see(look(Vec::new(), vec![task(99, 1, "new", &[])]));
        assert_eq!(process(&app), Some(20));
        app.act(&Action::Pause);
        assert_eq!(pids(&app), [99]);
    }

    #[test]
    fn a_held_picture_goes_back_and_forward() {
        let mut app = app();
        for pid in [50, 51, 52] {
            app.see(look(Vec::new(), vec![task(pid, 1, "new", &[])]));
        }
        app.act(&Action::Step(-1));
        assert_eq!((pids(&app), app.paused), (vec![51], true));
        // What comes meanwhile is kept, and not shown.
        assert!(!app.see(look(Vec::new(), vec![task(53, 1, "new", &[])])));
        app.act(&Action::Step(1));
        assert_eq!(pids(&app), [52]);
        app.act(&Action::Step(-10));
        assert_eq!(pids(&app).len(), 4);
        app.act(&Action::Step(-1));
        assert!(app.remark.contains("oldest"), "{}", app.remark);
        app.act(&Action::Step(10));
        app.act(&Action::Step(1));
        assert!(app.remark.contains("newest"), "{}", app.remark);
        assert_eq!(pids(&app), [53]);
        app.act(&Action::Step(-2));
        app.act(&Action::Pause);
        assert_eq!((pids(&app), app.paused), (vec![53], false));
        // Nothing to go back to, and nothing to hold.
        let mut empty = App::new(usual_order(), &[]);
        empty.act(&Action::Step(-1));
        assert!(empty.see(look(Vec::new(), Vec::new())));
    }

    #[test]
    fn pinned_processes_stand_first_in_any_order() {
        let mut app = app();
        app.pins = vec![30];
        app.act(&Action::SortBy("cpu"));
        assert_eq!(pids(&app), [30, 20, 40, 1]);
        app.act(&Action::Reverse);
        assert_eq!(pids(&app), [30, 1, 40, 20]);
    }

    #[test]
    fn filters_and_trees() {
        let mut app = app();
        app.act(&Action::Filter);
        "JAV".chars().for_each(|letter| app.act(&Action::Type(letter)));
        assert_eq!(pids(&app), [20]);
        app.act(&Action::Back);
        app.act(&Action::Tree);
        let lines: Vec<(Tid, usize)> = app.lines(0).map(|line| (line.task.pid, line.depth)).collect();
        assert_eq!(lines, [(1, 0), (20, 1), (30, 2), (40, 1)]);
    }

    #[test]
    fn a_verdict_leads_to_its_takers_and_back() {
        let mut app = App::new(usual_order(), &[]);
        let resources = vec![
            resource("disk vda", State::Saturated, "100.0 % busy"),
            resource("CPU", State::Not, "90.0 % idle"),
        ];
        let processes = vec![
            task(7, 1, "java", &[(Metric::TaskUser, 0.9)]),
            task(8, 1, "dd", &[(Metric::WriteBytes, 9e6)]),
            task(9, 1, "cp", &[(Metric::ReadBytes, 1e7)]),
        ];
        app.see(look(resources, processes));
        // Up from the first process are the verdicts; down again is the list.
        app.act(&Action::Move(-1));
        assert_eq!((app.verdict(), process(&app)), (Some(1), None));
        app.act(&Action::Move(1));
        assert_eq!((app.verdict(), process(&app)), (None, Some(7)));
        app.act(&Action::Verdicts);
        app.act(&Action::Into);
        assert!(matches!(app.page(), Page::Resource(name) if name == "disk vda"));
        assert_eq!(pids(&app), [9, 8]);
        // On into the first of them, and all the way back to the verdict.
        app.act(&Action::Into);
        assert!(matches!(app.page(), Page::Threads { pid: 9, .. }));
        app.act(&Action::Back);
        assert_eq!(process(&app), Some(9));
        app.act(&Action::Back);
        assert_eq!(app.verdict(), Some(0));
        app.act(&Action::Back);
        assert_eq!((app.verdict(), app.length()), (None, 3));
    }

    #[test]
    fn a_page_stays_when_its_process_ends() {
        let mut app = app();
        app.act(&Action::Into);
        app.see(look(Vec::new(), vec![task(1, 0, "init", &[])]));
        assert_eq!((process(&app), app.length(), app.is_there(20)), (Some(20), 0, false));
        app.act(&Action::Into);
        app.act(&Action::Last);
        app.act(&Action::Back);
        assert_eq!(process(&app), Some(1));
    }

    #[test]
    fn moves_stay_within_the_list() {
        let mut app = app();
        app.act(&Action::Move(-5));
        assert_eq!((app.place(), app.verdict()), (0, None));
        app.act(&Action::Move(i64::MAX));
        assert_eq!(app.place(), 3);
        app.act(&Action::Into);
        app.act(&Action::Last);
        assert_eq!((app.length(), app.place()), (0, 0));
    }
}
