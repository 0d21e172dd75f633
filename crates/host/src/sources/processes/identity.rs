//! Who a process is: its command line, control group, unit, container, pod, user. Looked up when it is first seen, and
//! now and then.

use crate::aside::Aside;
use crate::files::{Reader, open_dir, open_file};
use crate::options::Root;
use crate::out::{Out, Row};
use hashbrown::HashMap;
use std::time::Duration;
use whyslow_counters::text;
use whyslow_model::Trait;
use whyslow_model::cgroup::{container_of, pod_of, unit_of};
use whyslow_model::text::bounded;
use whyslow_privacy::command_line::without_secrets;

/// What is said of a process in each sample.
#[derive(Clone, Default, Debug)]
pub(super) struct Identity {
    pub(super) name: Box<str>,
    pub(super) command: Box<str>,
    pub(super) user: Box<str>,
    cgroup: Box<str>,
    memory: Box<str>,
    unit: Box<str>,
    container: Box<str>,
    pod: Box<str>,
}

impl Identity {
    pub(super) fn named(name: &[u8]) -> Identity {
        Identity { name: bounded(name).into(), ..Identity::default() }
    }

    /// Takes what `cgroup` of the process says (cgroups(7)): the group of the unified hierarchy, unless that is its root and
    /// another says more.
    pub(super) fn take_groups(&mut self, file: &[u8]) {
        let mut paths: Vec<(&[u8], &[u8])> = Vec::new();
        for line in text::lines(file) {
            let mut parts = line.splitn(3, |byte| *byte == b':').skip(1);
            if let (Some(controllers), Some(path)) = (parts.next(), parts.next()) {
                paths.push((controllers, path));
            }
        }
        let rank = |controllers: &[u8]| match controllers {
            b"" => 0,
            _ if controllers.split(|byte| *byte == b',').any(|name| name == b"cpu") => 1,
            _ => 2,
        };
        paths.sort_by_key(|(controllers, path)| (*path == b"/", rank(controllers)));
        let path = paths.first().map(|(_, path)| bounded(path)).unwrap_or_default();
        let is_memory =
            |controllers: &[u8]| controllers.split(|byte| *byte == b',').any(|name| name == b"memory");
        let memory = paths.iter().find(|(controllers, path)| *path != b"/" && is_memory(controllers));
        let memory = memory.map(|(_, path)| bounded(path)).filter(|memory| *memory != path);
        self.memory = memory.unwrap_or_default().into();
        let all = || paths.iter().map(|(_, path)| bounded(path));
        self.unit = all().find_map(|path| unit_of(&path).map(Box::from)).unwrap_or_default();
        self.container = all().find_map(|path| container_of(&path).map(Box::from)).unwrap_or_default();
        self.pod = all().find_map(|path| pod_of(&path)).unwrap_or_default().into();
        self.cgroup = path.into();
    }

    pub(super) fn tell(&self, row: &mut Row) {
        let traits = [
            (Trait::Name, &self.name),
            (Trait::Command, &self.command),
            (Trait::User, &self.user),
            (Trait::Cgroup, &self.cgroup),
            (Trait::MemoryCgroup, &self.memory),
            (Trait::Unit, &self.unit),
            (Trait::Container, &self.container),
            (Trait::Pod, &self.pod),
        ];
        for (of, text) in traits {
            if !text.is_empty() {
                row.say(of, text.clone());
            }
        }
    }
}

/// A process at one start: its number may be given again.
pub(super) type Life = (u32, u64);

/// Command lines of those that have one.
type Answer = Vec<(Life, String)>;

/// Command lines are read by a thread of their own: that of a process whose memory is locked may take any time.
pub(super) struct Commands {
    aside: Option<Aside<Vec<Life>, Answer>>,
    wanted: Vec<Life>,
}

/// Read of one command line; it is cut at 4 KiB once secrets are gone, which need their surroundings.
const MOST_COMMAND: u64 = 64 << 10;
/// Command lines asked for at a time, so that one that hangs holds few others up.
const AT_A_TIME: usize = 64;

impl Commands {
    pub(super) fn new(root: &Root) -> Commands {
        // Else the first look would wait in vain for its command lines.
        whyslow_privacy::prepare();
        let proc = open_dir(rustix::fs::CWD, root.path("/proc"));
        let aside = proc.ok().and_then(|proc| {
            Aside::start(move |lives: Vec<Life>| {
                use std::io::Read;
                let read = |pid: u32| {
                    let mut raw = Vec::new();
                    let file = open_file(&proc, format!("{pid}/cmdline")).ok()?;
                    file.take(MOST_COMMAND).read_to_end(&mut raw).ok()?;
                    without_secrets(&raw)
                };
                lives.into_iter().filter_map(|life| Some((life, read(life.0)?))).collect()
            })
        });
        Commands { aside, wanted: Vec::new() }
    }

    /// Asks for one, at the end of this look.
    pub(super) fn want(&mut self, life: Life) {
        self.wanted.push(life);
    }

    /// Asks for what is wanted, and takes what is there within `patience`.
    pub(super) fn fetch(
        &mut self,
        patience: Duration,
        cpu: &mut u64,
        out: &mut Out,
        mut each: impl FnMut(Life, String),
    ) {
        let Some(aside) = &mut self.aside else {
            self.wanted.clear();
            return out.gap(super::SOURCE.name, "command lines", "no thread could be started", "");
        };
        for lives in self.wanted.chunks(AT_A_TIME) {
            aside.ask(lives.to_vec());
        }
        self.wanted.clear();
        aside.take(patience, cpu, |commands| {
            commands.into_iter().for_each(|(life, command)| each(life, command))
        });
        let (_, silent) = aside.behind();
        if silent > Duration::from_secs(2) {
            out.gap(
                super::SOURCE.name,
                "command lines of new processes",
                format!(
                    "one has not been given for {} s: the memory of a process is locked",
                    silent.as_secs()
                ),
                "look for tasks in state D",
            );
        }
    }
}

/// Users by number, from /etc/passwd alone: a directory server is another machine.
pub(super) fn users(reader: &mut Reader) -> HashMap<u32, Box<str>> {
    let mut users = HashMap::new();
    for line in text::lines(reader.file("/etc/passwd").unwrap_or_default()) {
        let mut fields = line.split(|byte| *byte == b':');
        let (Some(name), Some(uid)) = (fields.next(), fields.nth(1).and_then(text::number)) else { continue };
        if let Ok(uid) = u32::try_from(uid) {
            users.entry(uid).or_insert_with(|| bounded(name).into());
        }
    }
    users
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_group_that_says_most_is_shown() {
        let mut identity = Identity::default();
        identity.take_groups(b"4:memory:/m\n1:cpu:/system.slice/redis.service\n0::/\nrubbish\n");
        assert_eq!((&*identity.cgroup, &*identity.unit), ("/system.slice/redis.service", "redis.service"));
        assert_eq!(&*identity.memory, "/m");
        identity.take_groups(b"4:memory:/m\n1:cpu:/\n0::/\n");
        assert_eq!((&*identity.cgroup, &*identity.memory), ("/m", ""));
        identity.take_groups(b"");
        assert_eq!(&*identity.cgroup, "");
    }
}
