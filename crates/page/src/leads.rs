//! What stands behind the figures of a page: which calls, or requests, a row of the account or of a table is made of. Only what the
//! page can show is led to: a name that none of its calls has leads nowhere.

use crate::data::{PageLead, PageSlices, PageState, PageThread};
use crate::texts::Texts;
use crate::threads::Threads;
use hashbrown::{HashMap, HashSet};
use std::borrow::Cow;
use whyslow_facts::Facts;
use whyslow_facts::folds::account::ObjectKind;
use whyslow_facts::pattern::pattern_of;
use whyslow_facts::world::runners::without_number;
use whyslow_model::{AccountRow, Cell, Column, TimeAccount};

/// What things are called in the end. Of several that are alike the account names the pattern, and a peer of this host by its process;
/// calls that were seen before that was known have the first name.
pub(crate) struct ObjectNames {
    last: HashMap<Box<str>, Box<str>, foldhash::fast::RandomState>,
}

impl ObjectNames {
    pub(crate) fn of(facts: &Facts) -> ObjectNames {
        let mut last = HashMap::default();
        for of in [Some(facts), facts.followed.apart()].into_iter().flatten() {
            for object in of.accounts.objects.iter() {
                let name = match object.kind {
                    ObjectKind::Peer => of.peer_words(object.name()),
                    _ => Cow::Borrowed(object.name()),
                };
                for known in [object.first(), object.name()] {
                    if known != name && !known.is_empty() {
                        last.entry(Box::from(known)).or_insert_with(|| Box::from(&*name));
                    }
                }
            }
        }
        ObjectNames { last }
    }

    /// What the account calls it.
    pub(crate) fn last<'a>(&'a self, name: &'a str) -> &'a str {
        self.last.get(name).map_or(name, |name| name)
    }
}

/// What the calls of a page are of.
pub(crate) struct Leads<'a> {
    names: &'a ObjectNames,
    threads: &'a Threads,
    calls: HashSet<u32>,
    objects: HashSet<u32>,
}

impl<'a> Leads<'a> {
    pub(crate) fn new(names: &'a ObjectNames, threads: &'a Threads, slices: &PageSlices) -> Leads<'a> {
        let calls = slices.call.iter().copied().collect();
        let objects = slices.object.iter().flatten().copied().collect();
        Leads { names, threads, calls, objects }
    }

    /// Behind each row of an account.
    pub(crate) fn of_account(&self, account: &TimeAccount, texts: &Texts) -> Vec<Option<PageLead>> {
        account.rows.iter().map(|row| self.of_row(row, texts)).collect()
    }

    fn of_row(&self, row: &AccountRow, texts: &Texts) -> Option<PageLead> {
        let place = self.threads.place(row.tid?)?;
        let (thread, alike) = if row.threads == 1 { (Some(place), None) } else { (None, Some(place)) };
        let known = |name: &Option<String>, find: &dyn Fn(&str) -> Option<u32>| match name {
            Some(name) => Some(Some(find(name)?)),
            None => Some(None),
        };
        Some(PageLead {
            thread,
            alike,
            call: known(&row.call, &|call| self.call(call, texts))?,
            object: known(&row.object, &|object| self.object(object, texts))?,
            // A call is drawn in one state, though its time may be in several.
            state: row.call.is_none().then(|| PageState::of(row.state, false) as u8),
            ..PageLead::default()
        })
    }

    fn call(&self, name: &str, texts: &Texts) -> Option<u32> {
        texts.known(name).filter(|id| self.calls.contains(id))
    }

    fn object(&self, name: &str, texts: &Texts) -> Option<u32> {
        let known = |name: &str| texts.known(self.names.last(name)).filter(|id| self.objects.contains(id));
        known(name).or_else(|| known(&pattern_of(name)))
    }

    /// Behind a row of a view's table.
    pub(crate) fn of_cells(
        &self,
        view: &str,
        columns: &[Column],
        row: &[Cell],
        texts: &Texts,
    ) -> Option<PageLead> {
        let text = |key: &str| {
            let at = columns.iter().position(|column| column.key == key)?;
            match row.get(at) {
                Some(Cell::Text(text)) => Some(text.as_str()),
                _ => None,
            }
        };
        // `812 worker-3`, and not `2 x nginx`.
        let number = |key: &str| {
            let mut words = text(key)?.split(' ');
            let number = words.next()?.parse::<u32>().ok()?;
            (words.next() != Some("x")).then_some(number)
        };
        let thread = number("thread").and_then(|tid| self.threads.place(tid));
        let pid = number("process").filter(|pid| thread.is_none() && self.is_one_of_several(*pid));
        let mut lead = PageLead { thread, pid, ..PageLead::default() };
        match view {
            "files" => lead.object = Some(self.object(text("path")?, texts)?),
            "fds" => lead.object = Some(self.object(text("target")?, texts)?),
            // `10.0.0.7:5432 (db)`: its host's name is told behind it.
            "peers" => lead.object = Some(self.object(text("peer")?.split(" (").next()?, texts)?),
            "locks" => lead.object = Some(self.object(&format!("futex {}", text("lock")?), texts)?),
            "summary" => lead.call = Some(self.call(text("syscall")?, texts)?),
            "requests" => lead.endpoint = Some(texts.known(text("endpoint")?)?),
            "threads" if thread.is_some() => {}
            "threads" => {
                lead.pid = None;
                lead.alike = Some(self.named(text("thread")?, number("process"), texts)?);
            }
            _ => return None,
        }
        Some(lead)
    }

    /// One of the threads with that name, or with its pattern (`worker-{n}`).
    fn named(&self, name: &str, pid: Option<u32>, texts: &Texts) -> Option<u32> {
        let id = texts.known(name);
        let role = texts.known(without_number(&name.replace("{n}", "0")));
        let is_it = |thread: &PageThread| {
            pid.is_none_or(|pid| thread.pid == pid)
                && (id == Some(thread.name) || role.is_some() && role == thread.role)
        };
        Some(self.threads.threads.iter().position(is_it)? as u32)
    }

    /// True for a process that the page has threads of, beside those of others.
    fn is_one_of_several(&self, pid: u32) -> bool {
        let is_own = |thread: &PageThread| thread.pid == pid;
        self.threads.threads.iter().any(is_own) && !self.threads.threads.iter().all(is_own)
    }
}
