//! Disks and partitions: requests, bytes, latencies, queue (/proc/diskstats); what they are (/sys/block), the volumes and
//! mounts on them, and how full local file systems are.

use super::{HostSource, Look};
use crate::aside::Aside;
use crate::context::Context;
use crate::mounts::{self, Mount};
use crate::options::SamplerOptions;
use crate::out::{Out, Row};
use hashbrown::HashMap;
use std::path::PathBuf;
use std::time::Duration;
use whyslow_counters::{Figures, disks, text};
use whyslow_model::{Entity, Metric, Over, Trait};

pub(super) const SOURCE: HostSource = HostSource {
    name: "disks",
    reads: "/proc/diskstats, /sys/block, /proc/self/mountinfo, statvfs of local file systems",
    open: |_: &SamplerOptions| Box::new(Disks::default()),
};

/// Seconds between two looks at what is mounted and how full it is.
const MOUNTS_EVERY: f64 = 10.0;
/// How long local file systems may take to tell their size; they tell it next time then.
const PATIENCE: Duration = Duration::from_millis(50);
/// Most devices told apart.
const MOST: usize = 16_384;

#[derive(Default)]
struct Disks {
    before: HashMap<Box<str>, Figures>,
    /// What each device is; looked up once, anew with the mounts.
    kinds: HashMap<Box<str>, Kind>,
    mounts: Vec<Mount>,
    /// When the mounts were read, in seconds since boot.
    read_at: Option<f64>,
    sizes: Option<Sizes>,
    known_sizes: HashMap<Box<str>, Size>,
}

/// Asks for sizes: by mount point, as it is told and as it is asked.
type Sizes = Aside<(Box<str>, PathBuf), Option<Size>>;

/// How full a file system is.
struct Size {
    at: Box<str>,
    bytes: u64,
    free: u64,
    inodes: Option<u64>,
}

/// What a device is, by /sys.
#[derive(Default)]
struct Kind {
    rotational: Option<u64>,
    read_ahead: Option<u64>,
    scheduler: Box<str>,
    /// `254:0`.
    number: Box<str>,
    volume: Box<str>,
    on: Box<str>,
    mounted_at: Box<str>,
}

impl Look for Disks {
    fn look(&mut self, context: &mut Context<'_>, out: &mut Out) {
        if self.read_at.is_none_or(|read| context.uptime - read >= MOUNTS_EVERY) {
            self.read_mounts(context, out);
            self.read_at = Some(context.uptime);
        }
        self.devices(context, out);
        self.file_systems(context, out);
    }
}

impl Disks {
    fn devices(&mut self, context: &mut Context<'_>, out: &mut Out) {
        let mut now: HashMap<Box<str>, Figures> = HashMap::new();
        let mut numbers = Vec::new();
        match context.reader.proc("diskstats") {
            Ok(text) => {
                for line in text::lines(text) {
                    let Some((name, number, fields)) = disks::parse(line) else {
                        out.damaged(SOURCE.name, "a disk", "/proc/diskstats", "8 0 sda 1234 5 67890 …");
                        continue;
                    };
                    if now.len() < MOST && !disks::is_idle(&fields) {
                        let mut figures = Figures::default();
                        disks::figures(&fields, &mut figures);
                        numbers.push((name.clone(), number));
                        now.insert(name, figures);
                    }
                }
            }
            Err(why) => out.unread(SOURCE.name, "disks", "/proc/diskstats", why),
        }
        let mut rows = Vec::with_capacity(now.len());
        for (name, number) in numbers {
            if !self.kinds.contains_key(&name) {
                let kind = self.kind_of(context, &name, number);
                self.kinds.insert(name.clone(), kind);
            }
            let (Some(figures), Some(kind)) = (now.get(&name), self.kinds.get(&name)) else { continue };
            let mut row = Row::new(Entity::Device(name.clone()));
            row.take(figures, self.before.get(&name), &context.span);
            kind.tell(&mut row);
            rows.push(row);
        }
        self.kinds.retain(|name, _| now.contains_key(name));
        self.before = now;
        out.table(rows, Over::SinceBoot, true);
    }

    fn kind_of(&self, context: &mut Context<'_>, name: &str, number: (u32, u32)) -> Kind {
        let sys = format!("/sys/block/{}", name.replace('/', "!"));
        let disks = context.reader.names("/sys/block");
        let mut kind = Kind { number: format!("{}:{}", number.0, number.1).into(), ..Kind::default() };
        let is_whole = disks.iter().any(|disk| *disk == name);
        let parent =
            disks.iter().filter(|disk| name.starts_with(disk.as_str())).max_by_key(|disk| disk.len());
        let disk = match parent.filter(|_| !is_whole) {
            Some(disk) => {
                kind.on = disk.as_str().into();
                format!("/sys/block/{disk}")
            }
            None => sys.clone(),
        };
        kind.rotational =
            context.reader.file(format!("{disk}/queue/rotational")).ok().and_then(text::only_number);
        let kib = context.reader.file(format!("{disk}/queue/read_ahead_kb")).ok().and_then(text::only_number);
        kind.read_ahead = kib.and_then(|kib| kib.checked_mul(1024));
        let scheduler = context.reader.file(format!("{disk}/queue/scheduler")).ok();
        // `none` without brackets is the only choice of a device without a queue.
        kind.scheduler = scheduler
            .map(|text| {
                text::bracketed(text).unwrap_or_else(|| whyslow_model::text::bounded(text.trim_ascii()))
            })
            .unwrap_or_default()
            .into();
        if is_whole {
            let volume = context.reader.file(format!("{sys}/dm/name")).unwrap_or_default();
            kind.volume = whyslow_model::text::bounded(volume.trim_ascii()).into();
            kind.on = context.reader.names(format!("{sys}/slaves")).join(",").into();
        }
        // A file system over several devices has a number of its own, and names one of them.
        let holds = |mount: &&Mount| {
            mount.device == number
                || mount.source.strip_prefix("/dev/").is_some_and(|source| {
                    source == name
                        || source
                            .strip_prefix("mapper/")
                            .is_some_and(|volume| !volume.is_empty() && *volume == *kind.volume)
                })
        };
        let mut places: Vec<&str> = self.mounts.iter().filter(holds).map(|mount| &*mount.at).collect();
        // Bind mounts are many where there are containers.
        places.sort_by_key(|place| (place.len(), *place));
        places.truncate(MOST_PLACES);
        kind.mounted_at = places.join(",").into();
        kind
    }

    fn read_mounts(&mut self, context: &mut Context<'_>, out: &mut Out) {
        self.kinds.clear();
        match mounts::all(context.reader) {
            Ok(mounts) => self.mounts = mounts,
            Err(why) => out.unread(SOURCE.name, "mounts", "/proc/self/mountinfo", why),
        }
        self.known_sizes.retain(|at, _| self.mounts.iter().any(|mount| mount.at == *at));
        // Of a made-up tree the kernel knows no mounts.
        if !context.options.root.is_live() {
            return;
        }
        if self.sizes.as_ref().is_some_and(|sizes| sizes.behind().0 > 0) {
            return;
        }
        if self.sizes.is_none() {
            self.sizes = Aside::start(size_of);
        }
        let Some(sizes) = &mut self.sizes else {
            return out.gap(SOURCE.name, "how full file systems are", "no thread could be started", "");
        };
        for mount in mounts::askable(&self.mounts).take(MOST_SIZES) {
            sizes.ask((mount.at.clone(), PathBuf::from(&*mount.at)));
        }
        sizes.take(PATIENCE, &mut context.aside, |size| {
            if let Some(size) = size {
                self.known_sizes.insert(size.at.clone(), size);
            }
        });
    }

    fn file_systems(&mut self, context: &mut Context<'_>, out: &mut Out) {
        if let Some(sizes) = &mut self.sizes {
            sizes.take(Duration::ZERO, &mut context.aside, |size| {
                if let Some(size) = size {
                    self.known_sizes.insert(size.at.clone(), size);
                }
            });
            let (open, silent) = sizes.behind();
            if silent > Duration::from_secs(1) {
                out.gap(
                    SOURCE.name,
                    format!("how full {open} file systems are"),
                    format!("statvfs has not answered for {} s: a disk hangs", silent.as_secs()),
                    "look at dmesg, and at tasks in state D",
                );
            }
        }
        let mut rows = Vec::new();
        for mount in self.mounts.iter().filter(|mount| mount.is_local() || mount.is_foreign()) {
            let mut row = Row::new(Entity::Mount(mount.at.clone()));
            row.say(Trait::FsType, mount.kind.clone());
            row.say(Trait::OnDevice, mount.source.strip_prefix("/dev/").unwrap_or(&mount.source));
            if let Some(size) = self.known_sizes.get(&mount.at) {
                row.count(Metric::FsSize, Some(size.bytes));
                row.count(Metric::FsUsed, size.bytes.checked_sub(size.free));
                row.count(Metric::InodesFree, size.inodes);
            }
            rows.push(row);
        }
        out.table(rows, Over::SinceBoot, true);
    }
}

/// Places named of one device.
const MOST_PLACES: usize = 8;
/// File systems asked for their size at a time.
const MOST_SIZES: usize = 256;

fn size_of((at, path): (Box<str>, PathBuf)) -> Option<Size> {
    let stat = rustix::fs::statvfs(&path).ok()?;
    // A file system without a table of inodes tells none.
    let inodes = (stat.f_files > 0).then_some(stat.f_ffree);
    Some(Size {
        at,
        bytes: stat.f_blocks.checked_mul(stat.f_frsize)?,
        free: stat.f_bfree.checked_mul(stat.f_frsize)?,
        inodes,
    })
}

impl Kind {
    fn tell(&self, row: &mut Row) {
        row.count(Metric::Rotational, self.rotational);
        row.count(Metric::ReadAhead, self.read_ahead);
        row.say(Trait::Scheduler, self.scheduler.clone());
        row.say(Trait::Number, self.number.clone());
        row.say(Trait::Volume, self.volume.clone());
        row.say(Trait::OnDevice, self.on.clone());
        row.say(Trait::MountedAt, self.mounted_at.clone());
    }
}
