//! sar, all sections that say something of slowness: CPU, run queue, memory, swap, paging, disks, network, pressure.
//! Sections without such figures are read and passed over, so that their rows are not taken for damage.

use super::columns::{Column, Is};
use super::mpstat::CPU_COLUMNS;
use super::sysstat::{Kind, Section, Tables, header_of};
use super::{Tool, line::Line};
use whyslow_model::{Entity, Metric};

pub(super) static SAR: Tool = Tool { begins, row: |_| false, open: || Tables::open(&KIND) };

static KIND: Kind = Kind { tool, mend: |_, _| () };

fn begins(line: &Line<'_>) -> bool {
    header_of(&KIND, line).is_some()
}

const KB: f64 = 1024.0;
const SECTOR: f64 = 512.0;
const PERCENT: f64 = 0.01;
const MS: f64 = 1e6;
/// The page of all machines that sar's -W is met on; ARM's larger pages make it more.
const PAGE: f64 = 4096.0;

static COLUMNS: &[Column] = &[
    ("runq-sz", Is::Figure(Metric::Runnable, 1.0)),
    ("plist-sz", Is::Figure(Metric::Tasks, 1.0)),
    ("ldavg-1", Is::Figure(Metric::Load1, 1.0)),
    ("ldavg-5", Is::Figure(Metric::Load5, 1.0)),
    ("ldavg-15", Is::Figure(Metric::Load15, 1.0)),
    ("blocked", Is::Figure(Metric::Uninterruptible, 1.0)),
    ("proc/s", Is::Figure(Metric::Forks, 1.0)),
    ("cswch/s", Is::Figure(Metric::ContextSwitches, 1.0)),
    ("kbmemfree", Is::Size(Metric::MemFree, KB)),
    ("kbavail", Is::Size(Metric::MemAvailable, KB)),
    ("kbmemused", Is::Size(Metric::MemUsed, KB)),
    ("kbbuffers", Is::Size(Metric::MemBuffers, KB)),
    ("kbcached", Is::Size(Metric::MemCached, KB)),
    ("kbdirty", Is::Size(Metric::MemDirty, KB)),
    ("kbswpfree", Is::Size(Metric::SwapFree, KB)),
    ("kbswpused", Is::Size(Metric::Swapped, KB)),
    ("pswpin/s", Is::Figure(Metric::SwapIn, PAGE)),
    ("pswpout/s", Is::Figure(Metric::SwapOut, PAGE)),
    ("pgpgin/s", Is::Size(Metric::PageIn, KB)),
    ("pgpgout/s", Is::Size(Metric::PageOut, KB)),
    ("majflt/s", Is::Figure(Metric::MajorFaults, 1.0)),
    ("pgscank/s", Is::Figure(Metric::KswapdScans, 1.0)),
    ("pgscand/s", Is::Figure(Metric::DirectScans, 1.0)),
    ("tps", Is::Figure(Metric::Requests, 1.0)),
    ("rtps", Is::Figure(Metric::Reads, 1.0)),
    ("wtps", Is::Figure(Metric::Writes, 1.0)),
    ("bread/s", Is::Figure(Metric::ReadBytes, SECTOR)),
    ("bwrtn/s", Is::Figure(Metric::WriteBytes, SECTOR)),
    ("DEV", Is::Named(device)),
    ("rkB/s", Is::Size(Metric::ReadBytes, KB)),
    ("wkB/s", Is::Size(Metric::WriteBytes, KB)),
    ("rd_sec/s", Is::Figure(Metric::ReadBytes, SECTOR)),
    ("wr_sec/s", Is::Figure(Metric::WriteBytes, SECTOR)),
    ("areq-sz", Is::Size(Metric::RequestSize, KB)),
    ("avgrq-sz", Is::Figure(Metric::RequestSize, SECTOR)),
    ("aqu-sz", Is::Figure(Metric::QueueLength, 1.0)),
    ("avgqu-sz", Is::Figure(Metric::QueueLength, 1.0)),
    ("await", Is::Figure(Metric::Latency, MS)),
    ("%util", Is::Figure(Metric::Utilisation, PERCENT)),
    ("IFACE", Is::Named(Entity::Interface)),
    ("rxpck/s", Is::Figure(Metric::RxPackets, 1.0)),
    ("txpck/s", Is::Figure(Metric::TxPackets, 1.0)),
    ("rxkB/s", Is::Size(Metric::RxBytes, KB)),
    ("txkB/s", Is::Size(Metric::TxBytes, KB)),
    ("rxbyt/s", Is::Figure(Metric::RxBytes, 1.0)),
    ("txbyt/s", Is::Figure(Metric::TxBytes, 1.0)),
    ("%ifutil", Is::Figure(Metric::Utilisation, PERCENT)),
    ("rxerr/s", Is::Figure(Metric::NetErrors, 1.0)),
    ("rxdrop/s", Is::Figure(Metric::RxDrops, 1.0)),
    ("txdrop/s", Is::Figure(Metric::TxDrops, 1.0)),
    ("totsck", Is::Figure(Metric::Sockets, 1.0)),
    ("tcp-tw", Is::Figure(Metric::TcpTimeWait, 1.0)),
    ("active/s", Is::Figure(Metric::TcpActiveOpens, 1.0)),
    ("passive/s", Is::Figure(Metric::TcpPassiveOpens, 1.0)),
    ("oseg/s", Is::Figure(Metric::TcpSegmentsOut, 1.0)),
    ("atmptf/s", Is::Figure(Metric::TcpAttemptFails, 1.0)),
    ("retrans/s", Is::Figure(Metric::TcpRetransmits, 1.0)),
    ("retrseg/s", Is::Figure(Metric::TcpRetransmits, 1.0)),
    ("orsts/s", Is::Figure(Metric::TcpResetsSent, 1.0)),
    ("idgmerr/s", Is::Figure(Metric::UdpReceiveErrors, 1.0)),
    ("file-nr", Is::Figure(Metric::FilesOpen, 1.0)),
    ("%scpu", Is::Figure(Metric::PressureCpu, PERCENT)),
    ("%sio", Is::Figure(Metric::PressureIo, PERCENT)),
    ("%fio", Is::Figure(Metric::PressureIoFull, PERCENT)),
    ("%smem", Is::Figure(Metric::PressureMemory, PERCENT)),
    ("%fmem", Is::Figure(Metric::PressureMemoryFull, PERCENT)),
];

/// `dev8-17` is the device by its numbers; those of SCSI disks (8) lead to a name, 16 minors a disk.
fn device(name: Box<str>) -> Entity {
    let numbers = name.strip_prefix("dev8-").and_then(|minor| minor.parse::<u8>().ok());
    Entity::Device(match numbers {
        Some(minor) => {
            let letter = char::from(b'a' + minor / 16);
            match minor % 16 {
                0 => format!("sd{letter}").into(),
                part => format!("sd{letter}{part}").into(),
            }
        }
        None => name,
    })
}

/// Names that begin a section, and the option that shows it.
static SECTIONS: &[(&str, &str)] = &[
    ("%scpu", "sar -q CPU"),
    ("%sio", "sar -q IO"),
    ("%smem", "sar -q MEM"),
    ("runq-sz", "sar -q"),
    ("proc/s", "sar -w"),
    ("kbmemfree", "sar -r"),
    ("kbswpfree", "sar -S"),
    ("pswpin/s", "sar -W"),
    ("pgpgin/s", "sar -B"),
    ("rtps", "sar -b"),
    ("DEV", "sar -d"),
    ("rxpck/s", "sar -n DEV"),
    ("rxerr/s", "sar -n EDEV"),
    ("totsck", "sar -n SOCK"),
    ("active/s", "sar -n TCP"),
    ("atmptf/s", "sar -n ETCP"),
    ("idgm/s", "sar -n UDP"),
    ("file-nr", "sar -v"),
    ("cswch/s", "sar -w"),
];

/// Names in sections of which nothing is kept.
fn is_sars(name: &str) -> bool {
    name.ends_with("/s")
        || matches!(
            name,
            "TTY"
                | "BUS"
                | "FAN"
                | "TEMP"
                | "BAT"
                | "IN"
                | "INTR"
                | "MHz"
                | "FILESYSTEM"
                | "MOUNTPOINT"
                | "FCHOST"
                | "kbhugfree"
                | "tcp6sck"
                | "wghMHz"
        )
}

fn tool(names: &[&str]) -> Option<Section> {
    let has = |name: &str| names.contains(&name);
    // A task's row is pidstat's; calls of NFS have a `retrans/s` that is no segment of TCP.
    if has("PID") || has("Command") {
        return None;
    }
    if has("%idle") {
        return Some(("sar -u", CPU_COLUMNS));
    }
    let section = SECTIONS.iter().find(|(name, _)| has(name) && !has("call/s"));
    match section {
        Some((_, tool)) => Some((tool, COLUMNS)),
        None => names.iter().any(|name| is_sars(name)).then_some(("sar", &[])),
    }
}
