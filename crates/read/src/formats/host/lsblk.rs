//! lsblk in all its forms (tree, -l, -r, -P, -J; any columns): which device is which number and volume, what it lies on,
//! where it is mounted.
//!
//! ```text
//! NAME          MAJ:MIN RM   SIZE RO TYPE MOUNTPOINTS
//! nvme0n1       259:0    0 931.5G  0 disk
//! └─nvme0n1p2   259:2    0   930G  0 part
//!   └─vg-data   253:0    0   400G  0 lvm  /var/lib
//! ```

use super::line::{Line, number};
use super::{Block, Out, Step, Tool};
use serde_json::Value;
use whyslow_model::{Entity, FigureRow, FigureTable, Metric, Trait};

pub(super) static LSBLK: Tool =
    Tool { begins: |line| Form::of(line).is_some(), row: |_| false, open: || Box::<Lsblk>::default() };

/// How the rows stand.
enum Form {
    /// Columns with their names, each from one character to the next one's.
    Columns(Vec<(String, usize, usize)>),
    /// `NAME="vda" TYPE="disk"`.
    Pairs,
    Json,
}

/// True for columns that lsblk alone shows. `zfs list`, `swapon` and `kubectl` have names, types and mount points too.
fn is_known<'n>(names: impl Iterator<Item = &'n str> + Clone) -> bool {
    let has = |wanted: &[&str]| names.clone().any(|name| wanted.contains(&name));
    has(&["MAJ:MIN", "MAJ_MIN", "FSTYPE", "ROTA", "PKNAME", "KNAME", "SCHED"])
        || (has(&["MOUNTPOINT", "MOUNTPOINTS"]) && has(&["TYPE", "SIZE"]))
}

fn are_known(cells: &[(String, String)]) -> bool {
    is_known(cells.iter().map(|(name, _)| name.as_str()))
}

impl Form {
    fn of(line: &Line<'_>) -> Option<Form> {
        let text = line.text.trim();
        if text.starts_with("\"blockdevices\"") || text.starts_with("{\"blockdevices\"") {
            return Some(Form::Json);
        }
        let first = line.word(0).split_once("=\"").map(|(name, _)| name);
        if matches!(first, Some("NAME" | "KNAME")) && pairs(text).is_some_and(|cells| are_known(&cells)) {
            return Some(Form::Pairs);
        }
        let upper =
            |word: &&str| word.bytes().all(|byte| byte.is_ascii_uppercase() || b":-_%".contains(&byte));
        // With all columns (-O) the name is not the first.
        let named = line.word(0) == "NAME" || line.has("KNAME");
        let is_header = named
            && line.words.len() <= MOST_COLUMNS
            && line.words.iter().all(upper)
            && is_known(line.words.iter().copied());
        is_header.then(|| {
            let column = |(at, text): (usize, &str)| (text.to_string(), at, at + text.chars().count());
            Form::Columns(words_at(line.text).map(column).collect())
        })
    }
}

/// Words with the character at which each begins: the branches of the tree are not of one byte.
fn words_at(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = text;
    let mut at = 0;
    std::iter::from_fn(move || {
        let word = rest.trim_start();
        at += rest.get(..rest.len() - word.len()).map_or(0, |blanks| blanks.chars().count());
        let end = word.find(char::is_whitespace).unwrap_or(word.len());
        let (word, behind) = word.split_at(end);
        let begin = at;
        at += word.chars().count();
        rest = behind;
        (!word.is_empty()).then_some((begin, word))
    })
}

/// `NAME="vda" MOUNTPOINT="/a\x20b"`, each a column and its cell; `None` where it is no such line.
fn pairs(text: &str) -> Option<Vec<(String, String)>> {
    let mut cells = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (name, behind) = rest.split_once("=\"")?;
        let (cell, behind) = behind.split_once('"')?;
        cells.push((name.to_string(), unescaped(cell)));
        rest = behind.trim_start();
    }
    (!cells.is_empty()).then_some(cells)
}

/// Without `\x20` and its like.
fn unescaped(cell: &str) -> String {
    let mut parts = cell.split("\\x");
    let mut text = parts.next().unwrap_or_default().to_string();
    for part in parts {
        match part.get(..2).and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(code) if code.is_ascii() => {
                text.push(char::from(code));
                text.push_str(&part[2..]);
            }
            _ => {
                text.push_str("\\x");
                text.push_str(part);
            }
        }
    }
    text
}

/// One device, as far as a form tells it.
#[derive(Clone, Debug, Default)]
struct Device {
    /// The kernel's name.
    name: String,
    /// How far it stands from the margin of the tree.
    depth: usize,
    number: String,
    kind: String,
    volume: String,
    parent: String,
    mounts: Vec<String>,
    file_system: String,
    scheduler: String,
    rotational: Option<f64>,
    read_ahead: Option<f64>,
    line: u64,
    raw: Box<str>,
}

/// Kinds that device-mapper makes: the kernel calls them by their minor number, dm-0.
const MAPPED: [&str; 5] = ["lvm", "crypt", "dm", "mpath", "vdo"];

impl Device {
    fn of(cells: &[(String, String)], depth: usize) -> Option<Device> {
        let cell = |names: &[&str]| {
            let named = cells.iter().find(|(is, _)| names.iter().any(|name| is.eq_ignore_ascii_case(name)));
            named.map_or("", |(_, cell)| cell.trim())
        };
        let shown = strip(cell(&["NAME", "KNAME"]).trim_start_matches(is_branch));
        let (number, kind) = (cell(&["MAJ:MIN", "MAJ_MIN"]), cell(&["TYPE"]));
        let minor = number.split_once(':').filter(|_| MAPPED.contains(&kind));
        let name = match (strip(cell(&["KNAME"])), minor) {
            ("", Some((_, minor))) => format!("dm-{}", minor.trim()),
            ("", None) => shown.to_string(),
            (name, _) => name.to_string(),
        };
        let figure = |name: &str| match cell(&[name]) {
            "true" => Some(1.0),
            "false" => Some(0.0),
            text => number_of(text),
        };
        let mounts = cell(&["MOUNTPOINTS", "MOUNTPOINT"]).split('\n').map(str::trim);
        (!name.is_empty() && name.len() <= 128).then(|| Device {
            depth,
            volume: if shown == name { String::new() } else { shown.to_string() },
            number: number.to_string(),
            kind: kind.to_string(),
            parent: strip(cell(&["PKNAME"])).to_string(),
            mounts: mounts.filter(|at| !at.is_empty()).map(str::to_string).collect(),
            file_system: cell(&["FSTYPE"]).to_string(),
            scheduler: cell(&["SCHED"]).to_string(),
            rotational: figure("ROTA"),
            // KiB (lsblk(8) shows queue/read_ahead_kb).
            read_ahead: figure("RA").map(|kib| kib * 1024.0),
            name,
            ..Device::default()
        })
    }

    /// The same device, shown below another one as well.
    fn join(&mut self, other: Device) {
        if !other.parent.is_empty() && !self.parent.split(',').any(|known| known == other.parent) {
            self.parent = [&*self.parent, ",", &*other.parent].concat().trim_matches(',').to_string();
        }
        for mount in other.mounts {
            if !self.mounts.contains(&mount) {
                self.mounts.push(mount);
            }
        }
    }

    fn row(self) -> FigureRow {
        let mut row = FigureRow::new(Entity::Device(self.name.into()));
        (row.line, row.raw) = (self.line, self.raw);
        row.say(Trait::Number, self.number);
        row.say(Trait::Volume, self.volume);
        row.say(Trait::OnDevice, self.parent);
        row.say(Trait::MountedAt, self.mounts.join(","));
        row.say(Trait::FsType, self.file_system);
        row.say(Trait::Scheduler, self.scheduler);
        for (metric, value) in [(Metric::Rotational, self.rotational), (Metric::ReadAhead, self.read_ahead)] {
            if let Some(value) = value {
                row.set(metric, value);
            }
        }
        row
    }
}

/// What stands in front of a name in a tree.
fn is_branch(one: char) -> bool {
    one.is_whitespace() || "├└│─|`-".contains(one)
}

fn number_of(text: &str) -> Option<f64> {
    number(text).filter(|value| *value >= 0.0)
}

/// Without the folder of devices (`-p`).
fn strip(name: &str) -> &str {
    let name = name.strip_prefix("/dev/mapper/").unwrap_or(name);
    name.strip_prefix("/dev/").unwrap_or(name)
}

#[derive(Default)]
struct Lsblk {
    form: Option<Form>,
    devices: Vec<Device>,
    /// `-s`: what stands below a device is what it lies on.
    inverse: bool,
    json: String,
    /// The line on which the listing begins.
    above: u64,
}

/// Columns of one listing; -O shows some seventy.
const MOST_COLUMNS: usize = 256;
/// Devices of one listing.
const MOST: usize = 4096;
/// Bytes of JSON of one listing: about one and a half thousand a device with all columns.
const MOST_JSON: usize = 8 << 20;

impl Lsblk {
    fn push(&mut self, device: Option<Device>, line: &Line<'_>) -> Step {
        let Some(mut device) = device else {
            return Step::Damaged("a block device with its name");
        };
        let mut signed = FigureRow::new(Entity::Host);
        line.sign(&mut signed);
        (device.line, device.raw) = (signed.line, signed.raw);
        if self.devices.len() < MOST {
            self.devices.push(device);
        }
        Step::Used
    }

    /// Cells of a row under a header, and how deep in the tree it stands.
    fn cells(columns: &[(String, usize, usize)], text: &str) -> (Vec<(String, String)>, usize) {
        let is_tree = columns.first().is_some_and(|(name, ..)| name == "NAME");
        let name = if is_tree { text.trim_start_matches(is_branch) } else { text };
        let depth = text.chars().count() - name.chars().count();
        let raw: Vec<&str> = text.trim_end_matches(['\r', '\n']).split(' ').collect();
        let single = columns.windows(2).all(|pair| pair[1].1 == pair[0].2 + 1);
        let named = |cells: Vec<String>| columns.iter().map(|(name, ..)| name.clone()).zip(cells).collect();
        if single && raw.len() == columns.len() && depth == 0 {
            return (named(raw.iter().map(|cell| unescaped(cell)).collect()), 0);
        }
        let mut cells = vec![String::new(); columns.len()];
        // The branches in front of the name are not its text.
        let padded = " ".repeat(depth);
        let text = padded + name;
        for (at, word) in words_at(&text) {
            let end = at + word.chars().count();
            let under = columns.iter().position(|(_, from, to)| at < *to && *from < end);
            let behind = || columns.iter().rposition(|(_, from, _)| *from <= at);
            let Some(cell) = cells.get_mut(under.or_else(behind).unwrap_or(0)) else { continue };
            if !cell.is_empty() {
                cell.push(' ');
            }
            cell.push_str(word);
        }
        (named(cells), depth)
    }

    fn column_line(&mut self, line: &Line<'_>) -> Step {
        let Some(Form::Columns(columns)) = &self.form else { return Step::Other };
        let (cells, depth) = Self::cells(columns, line.text);
        let number = cells.iter().find(|(name, _)| matches!(name.as_str(), "MAJ:MIN" | "MAJ_MIN"));
        let whole = |text: &str| number_of(text.trim()).is_some();
        let is_number = |cell: &str| cell.split_once(':').is_some_and(|(a, b)| whole(a) && whole(b));
        let begins =
            cells.iter().any(|(name, cell)| matches!(name.as_str(), "NAME" | "KNAME") && !cell.is_empty());
        if begins {
            return match number {
                Some((_, cell)) if !is_number(cell) => Step::Other,
                _ => self.push(Device::of(&cells, depth), line),
            };
        }
        // One more place where the device above is mounted.
        let mount = line.text.trim_start_matches(is_branch);
        match self.devices.last_mut() {
            Some(device) if mount.starts_with('/') && line.text.starts_with(is_branch) => {
                device.mounts.push(mount.trim_end().to_string());
                Step::Used
            }
            _ => Step::Other,
        }
    }

    fn json_line(&mut self, line: &Line<'_>) -> Step {
        if self.json.len() + line.text.len() < MOST_JSON {
            self.json.push_str(line.text);
            self.json.push('\n');
        }
        let is_last = line.text.starts_with('}') || (line.text.starts_with('{') && line.text.ends_with('}'));
        if !is_last {
            return Step::Used;
        }
        self.form = None;
        if self.take_json() { Step::Used } else { Step::Damaged("the block devices of lsblk as JSON") }
    }

    /// Takes the devices out of what was gathered; false where it is no JSON of lsblk.
    fn take_json(&mut self) -> bool {
        let text = std::mem::take(&mut self.json);
        let text = text.trim();
        let whole = if text.starts_with('{') { text.to_string() } else { format!("{{{text}") };
        let Ok(value) = serde_json::from_str::<Value>(&whole) else { return false };
        let Some(devices) = value.get("blockdevices").and_then(Value::as_array) else { return false };
        self.take_devices(devices, 0);
        true
    }

    fn take_devices(&mut self, devices: &[Value], depth: usize) {
        for device in devices.iter().filter_map(Value::as_object) {
            let cells: Vec<(String, String)> =
                device.iter().map(|(name, value)| (name.clone(), text_of(value))).collect();
            if let Some(device) = Device::of(&cells, depth).filter(|_| self.devices.len() < MOST) {
                self.devices.push(device);
            }
            if let Some(children) = device.get("children").and_then(Value::as_array) {
                self.take_devices(children, depth + 1);
            }
        }
    }

    /// Says what each lies on, by its place in the tree.
    fn set_parents(&mut self) {
        // A disk lies on nothing.
        let inverse =
            self.inverse || self.devices.iter().any(|device| device.depth > 0 && device.kind == "disk");
        // Those from the root to here.
        let mut above: Vec<usize> = Vec::new();
        for at in 0..self.devices.len() {
            let depth = self.devices[at].depth;
            above.retain(|up| self.devices[*up].depth < depth);
            if let Some(up) = above.last().copied() {
                let (on, upper) = if inverse { (at, up) } else { (up, at) };
                let on = self.devices[on].name.clone();
                let parent = &mut self.devices[upper].parent;
                if !parent.split(',').any(|known| known == on) {
                    *parent = [&**parent, ",", &*on].concat().trim_matches(',').to_string();
                }
            }
            above.push(at);
        }
    }

    fn flush(&mut self, out: &mut Out<'_>) {
        self.set_parents();
        let mut joined: Vec<Device> = Vec::new();
        for device in self.devices.drain(..) {
            match joined.iter().position(|known| known.name == device.name) {
                Some(at) => joined[at].join(device),
                None => joined.push(device),
            }
        }
        let mut table: FigureTable = out.table("lsblk");
        table.rows = joined.into_iter().map(Device::row).collect();
        out.push(table);
    }
}

/// A cell: null is none, several places are a line each.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Array(all) => all.iter().map(text_of).collect::<Vec<_>>().join("\n"),
        Value::Null | Value::Object(_) => String::new(),
    }
}

impl Block for Lsblk {
    fn line(&mut self, line: &Line<'_>, out: &mut Out<'_>) -> Step {
        // Each pair has its names, and is no new listing.
        let form = Form::of(line)
            .filter(|form| !(matches!(form, Form::Pairs) && matches!(self.form, Some(Form::Pairs))));
        if let Some(form) = form {
            self.end(out);
            let is_inverse = |word: &String| match word.strip_prefix('-') {
                Some(letters) => word == "--inverse" || (!letters.starts_with('-') && letters.contains('s')),
                None => false,
            };
            self.inverse = out.arguments("lsblk").iter().any(is_inverse);
            let is_columns = matches!(form, Form::Columns(_));
            self.form = Some(form);
            self.above = line.number;
            if is_columns {
                return Step::Used;
            }
        }
        match &self.form {
            Some(Form::Columns(_)) => self.column_line(line),
            Some(Form::Pairs) => match pairs(line.text) {
                Some(cells) if are_known(&cells) => self.push(Device::of(&cells, 0), line),
                _ => Step::Other,
            },
            Some(Form::Json) => self.json_line(line),
            None => Step::Other,
        }
    }

    fn end(&mut self, out: &mut Out<'_>) {
        if !self.json.is_empty() && !self.take_json() {
            out.assume(self.above, "the JSON of lsblk is cut off, and says nothing");
        }
        self.flush(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::host::tests::{Read, of};

    fn told(read: &Read, name: &str, what: Trait) -> String {
        let device = Entity::Device(name.into());
        let row = read.rows().find(|row| row.of == device).unwrap_or_else(|| panic!("no {name}"));
        row.told(what).unwrap_or("").to_string()
    }

    const TREE: &str = "\
NAME                MAJ:MIN RM   SIZE RO TYPE  MOUNTPOINTS
sda                   8:0    0 931.5G  0 disk
├─sda1                8:1    0   512M  0 part  /boot/efi
└─sda2                8:2    0   930G  0 part
  └─luks-4f1c       253:0    0   930G  0 crypt
    ├─vg-root       253:1    0    50G  0 lvm   /
    │                                          /home
    └─vg-my data    253:2    0   400G  0 lvm   /var/lib/my data
sdb                   8:16   0     2G  0 disk  [SWAP]
";

    #[test]
    fn a_tree_maps_volumes_and_partitions() {
        let read = of(TREE.as_bytes());
        assert_eq!((read.info.rejects, read.info.foreign), (0, 0));
        for (name, what, wanted) in [
            ("sda", Trait::Number, "8:0"),
            ("sda", Trait::OnDevice, ""),
            ("sda1", Trait::OnDevice, "sda"),
            ("sda1", Trait::MountedAt, "/boot/efi"),
            ("dm-0", Trait::OnDevice, "sda2"),
            ("dm-1", Trait::Volume, "vg-root"),
            ("dm-1", Trait::OnDevice, "dm-0"),
            ("dm-1", Trait::MountedAt, "/,/home"),
            ("dm-2", Trait::MountedAt, "/var/lib/my data"),
            ("sdb", Trait::MountedAt, "[SWAP]"),
        ] {
            assert_eq!(told(&read, name, what), wanted, "{name} {what:?}");
        }
    }

    #[test]
    fn a_mirror_lies_on_both_its_disks_and_an_inverse_tree_says_the_same() {
        let tree = "NAME    MAJ:MIN RM SIZE RO TYPE  MOUNTPOINT\n\
            sda       8:0    0   1T  0 disk\n`-md0     9:0    0   1T  0 raid1 /srv\n\
            sdb       8:16   0   1T  0 disk\n`-md0     9:0    0   1T  0 raid1 /srv\n";
        let inverse = "NAME    MAJ:MIN RM SIZE RO TYPE  MOUNTPOINT\n\
            md0       9:0    0   1T  0 raid1 /srv\n|-sda     8:0    0   1T  0 disk\n`-sdb     8:16   0   1T  0 disk\n";
        for text in [tree, inverse] {
            let read = of(text.as_bytes());
            assert_eq!(told(&read, "md0", Trait::OnDevice), "sda,sdb");
            assert_eq!(told(&read, "md0", Trait::MountedAt), "/srv");
            assert_eq!(read.rows().count(), 3);
        }
    }

    #[test]
    fn columns_pairs_raw_and_json_say_the_same() {
        let forms = [
            "ROTA MAJ:MIN KNAME PKNAME   RA FSTYPE MOUNTPOINT NAME\n   1 254:0   vda          8192                   vda\n   1 254:1   vda1  vda    8192 ext4   /a b       `-vda1\n",
            "KNAME PKNAME TYPE MAJ:MIN ROTA   RA MOUNTPOINT FSTYPE\n\
             vda          disk 254:0      1 8192\nvda1  vda    part 254:1      1 8192 /a b       ext4\n",
            "KNAME PKNAME TYPE MAJ:MIN ROTA RA MOUNTPOINT FSTYPE\n\
             vda  disk 254:0 1 8192  \nvda1 vda part 254:1 1 8192 /a\\x20b ext4\n",
            "KNAME=\"vda\" PKNAME=\"\" TYPE=\"disk\" MAJ:MIN=\"254:0\" ROTA=\"1\" RA=\"8192\" MOUNTPOINT=\"\" FSTYPE=\"\"\n\
             KNAME=\"vda1\" PKNAME=\"vda\" TYPE=\"part\" MAJ:MIN=\"254:1\" ROTA=\"1\" RA=\"8192\" MOUNTPOINT=\"/a\\x20b\" FSTYPE=\"ext4\"\n",
            "{\n   \"blockdevices\": [\n      {\n         \"name\": \"vda\", \"maj:min\": \"254:0\", \"rota\": true, \"ra\": 8192,\n\
             \"type\": \"disk\", \"mountpoints\": [\n null\n ],\n \"children\": [\n {\"name\": \"vda1\", \"maj:min\": \"254:1\",\n\
             \"rota\": \"1\", \"ra\": \"8192\", \"type\": \"part\", \"fstype\": \"ext4\", \"mountpoint\": \"/a b\"}]}\n   ]\n}\n",
        ];
        for text in forms {
            let read = of(text.as_bytes());
            assert_eq!(read.info.rejects, 0, "{text}: {:?}", read.notes);
            let part = Entity::Device("vda1".into());
            assert_eq!(read.figure("lsblk", &part, Metric::Rotational), Some(1.0), "{text}");
            assert_eq!(read.figure("lsblk", &part, Metric::ReadAhead), Some(8_388_608.0), "{text}");
            for (name, what, wanted) in [
                ("vda1", Trait::OnDevice, "vda"),
                ("vda1", Trait::MountedAt, "/a b"),
                ("vda1", Trait::FsType, "ext4"),
                ("vda1", Trait::Number, "254:1"),
                ("vda", Trait::OnDevice, ""),
                ("vda", Trait::MountedAt, ""),
            ] {
                assert_eq!(told(&read, name, what), wanted, "{name} {what:?} of {text}");
            }
        }
    }

    #[test]
    fn tables_of_others_and_damaged_ones() {
        for other in [
            "NAME   USED  AVAIL  REFER  MOUNTPOINT\ntank   10G   5G     96K    /tank\n",
            "NAME      TYPE      SIZE USED PRIO\n/dev/vda2 partition   8G   0B   -2\n",
            "NAME          TYPE     DATA   AGE\nmy-secret     Opaque   1      2d\n",
        ] {
            assert_eq!(of(other.as_bytes()).tables.len(), 0, "{other}");
        }
        let cut = of(b"{\n   \"blockdevices\": [\n      {\n \"name\": \"vda\",\n");
        assert!(cut.notes.iter().any(|note| note.text.contains("cut off")), "{:?}", cut.notes);
        let wrong = of(b"{\n   \"blockdevices\": [ x\n}\n");
        assert_eq!((wrong.tables.len(), wrong.info.rejects), (0, 1));
        // A line of very many words is read in time.
        let long = format!("NAME MAJ:MIN TYPE\n{}\n", "a ".repeat(15_000)).repeat(200);
        assert_eq!(of(long.as_bytes()).tables.len(), 0);
        let deep = format!("{{\"blockdevices\": {}\n}}\n", "[{\"children\":".repeat(2_000));
        assert_eq!(of(deep.as_bytes()).tables.len(), 0);
    }
}
