use super::*;
use crate::formats::collect::{Captures, Collected, assert_accounted, collect, own, published, sniffs};
use proptest::prelude::*;
use whyslow_model::{FdKind, SocketEnds};

fn table(data: &str) -> Collected {
    let got = collect(&LSOF, "x", data.as_bytes());
    assert_accounted(&got, data.as_bytes());
    got
}

fn ends(local: &str, peer: Option<&str>) -> Option<SocketEnds> {
    Some(SocketEnds { local: Some(local.into()), peer: peer.map(Into::into) })
}

/// lsof 4.95 on a program that opens one of each.
const ONE_OF_EACH: &str = r"COMMAND  PID USER   FD      TYPE             DEVICE SIZE/OFF    NODE NAME
python3 5705 root  cwd       DIR              254,0     4096 9977974 /srv/b
python3 5705 root  txt       REG              254,0    17584   18500 /usr/bin/python3.11
python3 5705 root  DEL       REG                0,1             1024 /SYSV00000000
python3 5705 root    0r     FIFO               0,15      0t0   10095 pipe
python3 5705 root    3u     IPv4              10109      0t0     TCP 127.0.0.1:8715 (LISTEN)
python3 5705 root    4u     IPv4              10110      0t0     TCP 127.0.0.1:39820->127.0.0.1:8715 (ESTABLISHED)
python3 5705 root    7u     IPv6              10113      0t0     TCP [::1]:55666->[::1]:8716 (ESTABLISHED)
python3 5705 root    8u     unix 0x00000000517de5a3      0t0   10114 /srv/b/u.sock type=STREAM (LISTEN)
python3 5705 root    9u     unix 0x0000000085fecd70      0t0   10115 type=STREAM ->INO=10116 5705,python3,11u (CONNECTED)
python3 5705 root   10r      CHR                1,3      0t0       3 /dev/null
python3 5705 root   12u     IPv4              10117      0t0     UDP *:5555 
python3 5705 root   13u     sock                0,9      0t0   10118 protocol: NETLINK
python3 5705 root   14u  a_inode               0,16        0    1038 [eventpoll]
python3 5705 root   15u  a_inode               0,16        0    1038 [eventfd:1]
python3 5705 root   16u  a_inode               0,16        0    1038 [timerfd]
python3 5705 root   17r  a_inode               0,16        0    1038 inotify
python3 5705 root   18uW     REG              254,0       12    1024 /srv/b/del eted (deleted)
python3 5705 root   19u      REG               0,40        0    9985 /home/me/x (nas1:/export/home)
python3 5705 root   22w      REG              254,0        0 9977986 /srv/b/n\nl
python3 5705 root   23u     sock                0,9      0t0   10120 can't identify protocol
python3 5705 root   24u     pack              10121      0t0     768 type=SOCK_RAW
python3 5705 root   25u  netlink                          0t0   13770 KOBJECT_UEVENT
python3 5705 root   26u      CHR              136,0      0t0       3 /dev/pts/0
python3 5705 root   27r      REG                0,4        0 4026531 mnt
";

#[test]
fn one_of_each() {
    let got = table(ONE_OF_EACH);
    assert_eq!((got.fds.len(), got.info.rejects, got.info.foreign), (24, 0, 0));
    let kinds = [
        (0, FdKind::Pipe),
        (3, FdKind::Tcp),
        (8, FdKind::Unix),
        (10, FdKind::DevNull),
        (12, FdKind::Udp),
        (13, FdKind::Netlink),
        (14, FdKind::Epoll),
        (15, FdKind::Event),
        (16, FdKind::Timer),
        (17, FdKind::Inotify),
        (18, FdKind::File),
        (23, FdKind::Socket),
        (24, FdKind::Socket),
        (25, FdKind::Netlink),
        (26, FdKind::Terminal),
        (27, FdKind::Anonymous),
    ];
    for (fd, kind) in kinds {
        assert_eq!(got.fd(fd).kind, kind, "descriptor {fd}");
    }
    let listen = got.fd(3);
    assert_eq!(
        (listen.ends.clone(), listen.state.as_deref(), listen.inode, &listen.device),
        (ends("127.0.0.1:8715", None), Some("LISTEN"), Some(10109), &None)
    );
    assert_eq!(
        (listen.pid, listen.comm.as_deref(), listen.user.as_deref(), listen.line),
        (Some(5705), Some("python3"), Some("root"), 6)
    );
    assert_eq!(got.fd(7).ends, ends("[::1]:55666", Some("[::1]:8716")));
    assert_eq!((got.fd(12).ends.clone(), got.fd(12).state.clone()), (ends("*:5555", None), None));
    assert_eq!(
        (got.fd(8).ends.clone(), got.fd(8).state.as_deref(), got.fd(8).inode),
        (ends("/srv/b/u.sock", None), Some("LISTEN"), Some(10114))
    );
    assert_eq!(got.fd(9).ends, Some(SocketEnds { local: None, peer: Some("5705,python3,11u".into()) }));
    let locked = got.fd(18);
    assert_eq!(
        (locked.name.as_deref(), locked.deleted, locked.size),
        (Some("/srv/b/del eted"), true, Some(12))
    );
    assert_eq!((locked.readable, locked.writable, locked.inode), (Some(true), Some(true), Some(1024)));
    assert_eq!(
        (got.fd(19).name.as_deref(), got.fd(19).mount.as_deref()),
        (Some("/home/me/x"), Some("nas1:/export/home"))
    );
    assert_eq!(got.fd(22).name.as_deref(), Some("/srv/b/n\nl"));
    assert_eq!((got.fd(22).readable, got.fd(22).writable), (Some(false), Some(true)));
    assert_eq!((got.fd(24).inode, got.fd(25).inode, got.fd(25).offset), (Some(10121), Some(13770), Some(0)));
    assert_eq!(
        (got.fds[0].role.as_deref(), got.fds[0].kind, got.fds[0].fd),
        (Some("cwd"), FdKind::Directory, None)
    );
    assert!(got.fds[2].deleted && got.fds[2].size.is_none() && got.fds[2].inode == Some(1024));
    assert_eq!(got.processes.len(), 1);
    assert!(sniffs(&LSOF, "x", ONE_OF_EACH.as_bytes()) && !sniffs(&LSOF_FIELDS, "x", ONE_OF_EACH.as_bytes()));
}

#[test]
fn squeezed_and_headerless_rows_give_the_same() {
    let whole = table(ONE_OF_EACH);
    let squeezed: String = ONE_OF_EACH
        .lines()
        .map(|line| line.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ") + "\n")
        .collect();
    let headerless = squeezed.split_once('\n').unwrap().1.to_string();
    for (data, first_line) in [(squeezed, 2), (headerless, 1)] {
        let got = table(&data);
        assert_eq!(got.fds.len(), whole.fds.len());
        for (row, expected) in got.fds.iter().zip(&whole.fds) {
            let mut expected = expected.clone();
            expected.line = expected.line - 2 + first_line;
            assert_eq!(format!("{row:?}"), format!("{expected:?}"));
        }
        assert!(sniffs(&LSOF, "x", data.as_bytes()));
    }
    let got = table("java 14985 root 42u IPv4 426991408 0t0 TCP *:8715 (LISTEN)\n");
    assert_eq!((got.fd(42).ends.clone(), got.fd(42).pid), (ends("*:8715", None), Some(14985)));
}

#[test]
fn threads_and_missing_permissions() {
    let got = table(
        r"lsof: WARNING: can't stat() sysfs file system /sys
      Output information may be incomplete.
COMMAND    PID  TID TASKCMD   USER   FD      TYPE             DEVICE SIZE/OFF    NODE NAME
process_a    1                root NOFD                                          /proc/1/fd (opendir: Permission denied)
process_a    1   59 vsock-con root  cwd   unknown                                     /proc/1/task/59/cwd (readlink: Permission denied)
process_a    1   59 vsock-con root   55   unknown                                     /proc/1/task/59/fd/55 (readlink: Permission denied)
Web\x20Co    7                root    1w      REG              254,0        5 9977970 /tmp/x
",
    );
    assert_eq!((got.fds.len(), got.info.rejects, got.info.foreign, got.notes.len()), (4, 0, 0, 2));
    assert_eq!((got.fds[0].role.as_deref(), got.fds[0].kind), (Some("NOFD"), FdKind::Unknown));
    assert_eq!(got.fds[0].name.as_deref(), Some("/proc/1/fd (opendir: Permission denied)"));
    assert_eq!((got.fd(55).tid, got.fd(55).readable, got.fd(55).kind), (Some(59), None, FdKind::Unknown));
    assert_eq!(got.fd(1).comm.as_deref(), Some("Web Co"));
    let processes: Vec<_> =
        got.processes.iter().map(|process| (process.pid, process.tid, process.comm.as_deref())).collect();
    assert_eq!(
        processes,
        [(1, None, Some("process_a")), (1, Some(59), Some("vsock-con")), (7, None, Some("Web Co"))]
    );
}

#[test]
fn more_columns_and_queues() {
    let got = table(
        "\
COMMAND  PID PPID PGID USER   FD   TYPE DEVICE SIZE/OFF NLINK NODE NAME
python3 5705 5700 5699 root    4u  IPv4  10110      0t0        TCP 127.0.0.1:39820->127.0.0.1:8715 (ESTABLISHED QR=3 QS=40)
python3 5705 5700 5699 root    5u  IPv4  10117      0t0        UDP *:5555 (QR=0 QS=0)
python3 5705 5700 5699 root    6r   REG  254,0     4096     2  123 /x y
",
    );
    assert_eq!((got.fd(4).queues, got.fd(4).state.as_deref()), (Some((40, 3)), Some("ESTABLISHED")));
    assert_eq!((got.fd(5).queues, got.fd(5).state.as_deref()), (Some((0, 0)), None));
    assert_eq!(
        (got.fd(6).inode, got.fd(6).size, got.fd(6).name.as_deref()),
        (Some(123), Some(4096), Some("/x y"))
    );
    assert_eq!(got.processes[0].parent, Some(5700));
}

#[test]
fn rounds_and_concatenated_outputs() {
    let got = table(&format!("{ONE_OF_EACH}=======\n{ONE_OF_EACH}\n{ONE_OF_EACH}"));
    assert_eq!((got.fds.len(), got.processes.len(), got.info.foreign), (72, 1, 0));
}

#[test]
fn blanks_in_a_command_that_old_versions_do_not_escape() {
    let data = "\
COMMAND     PID USER   FD   TYPE DEVICE SIZE/OFF NODE NAME
Web Cont  14985 root   42u  IPv4  12345      0t0  TCP *:8715 (LISTEN)
a 7 b     14985 root   43u  IPv4  12345      0t0  TCP *:8715 (LISTEN)
";
    let got = table(data);
    assert_eq!((got.fd(42).comm.as_deref(), got.fd(42).pid), (Some("Web Cont"), Some(14985)));
    assert_eq!((got.fd(43).comm.as_deref(), got.fd(43).pid), (Some("a 7 b"), Some(14985)));
}

#[test]
fn an_old_unix() {
    let got = table(
        "\
$ lsof -p15616
COMMAND     PID     USER   FD   TYPE     DEVICE   SIZE/OFF      INODE NAME
...
telnetd   15616     root    0u  inet 0x05a93400     0t5641        TCP cloud.cc.purdue.edu:telnet->lsof.itap.purdue.edu:3369
telnetd   15616     root    3u  VCHR    25,   0     0t5493        103 /dev/ptc/0
",
    );
    assert_eq!((got.info.foreign, got.info.rejects), (2, 0));
    assert_eq!(got.fd(0).ends, ends("cloud.cc.purdue.edu:telnet", Some("lsof.itap.purdue.edu:3369")));
    assert_eq!(
        (got.fd(3).device.as_deref(), got.fd(3).inode, got.fd(3).offset),
        (Some("25,   0"), Some(103), Some(5493))
    );
}

const FIELDS: &str = "p5705\ng5700\nR5700\ncpython3\nu0\nLroot\nfcwd\na \nl \ntDIR\nD0xfe00\ns4096\ni9977974\nk2\nn/srv/b\n\
f5\nau\nlW\ntIPv4\nG0x80002;0x0\nd10111\no0t0\nPTCP\nn127.0.0.1:8715->127.0.0.1:39820\nTST=ESTABLISHED\nTQR=1\nTQS=2\n\
p7\ncsh\nf0\nar\nl \ntCHR\nD0x103\nr0x103\ni3\nn/dev/null\n";

#[test]
fn fields() {
    let got = collect(&LSOF_FIELDS, "x", FIELDS.as_bytes());
    assert_accounted(&got, FIELDS.as_bytes());
    assert_eq!((got.fds.len(), got.info.rejects, got.info.foreign), (3, 0, 0));
    assert_eq!(
        (got.fds[0].role.as_deref(), got.fds[0].device.as_deref(), got.fds[0].name.as_deref()),
        (Some("cwd"), Some("254,0"), Some("/srv/b"))
    );
    let socket = got.fd(5);
    assert_eq!(
        (socket.ends.clone(), socket.queues, socket.state.as_deref()),
        (ends("127.0.0.1:8715", Some("127.0.0.1:39820")), Some((2, 1)), Some("ESTABLISHED"))
    );
    assert_eq!(
        (socket.kind, socket.inode, socket.line, socket.readable),
        (FdKind::Tcp, Some(10111), 16, Some(true))
    );
    assert_eq!(
        (got.fd(0).kind, got.fd(0).writable, got.fd(0).comm.as_deref()),
        (FdKind::DevNull, Some(false), Some("sh"))
    );
    assert_eq!(
        (got.processes.len(), got.processes[0].parent, got.processes[0].user.as_deref()),
        (2, Some(5700), Some("root"))
    );
    assert!(sniffs(&LSOF_FIELDS, "x", FIELDS.as_bytes()) && !sniffs(&LSOF, "x", FIELDS.as_bytes()));
}

#[test]
fn fields_separated_by_nul() {
    let whole = collect(&LSOF_FIELDS, "x", FIELDS.as_bytes());
    let data = FIELDS.replace('\n', "\0").replace("\0f", "\0\nf").replace("\0p", "\0\np") + "\n";
    let got = collect(&LSOF_FIELDS, "x", data.as_bytes());
    assert_accounted(&got, data.as_bytes());
    assert!(sniffs(&LSOF_FIELDS, "x", data.as_bytes()));
    assert_eq!(got.fds.len(), whole.fds.len());
    for (row, expected) in got.fds.iter().zip(&whole.fds) {
        assert_eq!(
            (&row.ends, row.fd, &row.name, row.inode),
            (&expected.ends, expected.fd, &expected.name, expected.inode)
        );
    }
}

#[test]
fn fields_without_descriptors() {
    let got = collect(&LSOF_FIELDS, "x", b"p5\ncsh\nn/tmp\nn/bin/sh\np6\nclost\n!\nn/x\n");
    let names: Vec<_> = got.fds.iter().map(|entry| (entry.pid, entry.name.as_deref())).collect();
    assert_eq!(names, [(Some(5), Some("/tmp")), (Some(5), Some("/bin/sh")), (Some(6), Some("/x"))]);
    assert_eq!(got.info.rejects, 1);
}

#[test]
fn damaged_rows_are_rejected_and_text_is_foreign() {
    let data = format!("{ONE_OF_EACH}python3 5705 root  3\nsome words of a shell\n");
    let got = table(&data);
    assert_eq!((got.fds.len(), got.info.rejects, got.info.foreign), (24, 1, 1));
    let long = format!("{}{}\n", ONE_OF_EACH.trim_end(), "x".repeat(100_000));
    assert!(table(&long).fds.iter().all(|entry| entry.name.as_ref().is_none_or(|name| name.len() <= 4096)));
    assert!(!sniffs(&LSOF, "x", b"The server was slow.\nWe looked:\njava 14985 root 42u IPv4 426991408 0t0 TCP *:8715 (LISTEN)\nand so on.\n"));
    assert!(!sniffs(&LSOF_FIELDS, "x", b"p50\np90\np99\n"));
}

#[test]
fn our_captures_have_no_damaged_rows() {
    let rows = assert_no_damaged_rows(own());
    assert!(rows > 20, "{rows}");
}

#[test]
fn published_captures_have_no_damaged_rows() {
    if let Some(captures) = published() {
        let rows = assert_no_damaged_rows(captures);
        assert!(rows > 15_000, "{rows}");
    }
}

/// How many rows there are.
fn assert_no_damaged_rows(captures: Captures) -> usize {
    let mut rows = 0;
    for (folder, path) in captures {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if folder != "lsof" && !name.ends_with(".lsof") {
            continue;
        }
        let data = std::fs::read(&path).unwrap();
        assert!(sniffs(&LSOF, &name, &data), "{name}");
        let got = collect(&LSOF, &name, &data);
        assert_accounted(&got, &data);
        assert_eq!(got.info.rejects, 0, "{name}: {:?}", got.notes);
        // A shell prompt and `...` for rows left out.
        let foreign = if name.starts_with("lsof-org__lsof__tutorial") { 3 } else { 0 };
        assert_eq!(got.info.foreign, foreign, "{name}");
        let mut unknown = got.fds.iter().filter(|entry| entry.kind == FdKind::Unknown);
        let unreadable = |role: Option<&str>| matches!(role, Some("cwd" | "rtd" | "txt" | "NOFD"));
        let other = unknown.find(|entry| !unreadable(entry.role.as_deref()));
        assert!(other.is_none(), "{name}: {other:?}");
        assert!(
            got.fds
                .iter()
                .all(|entry| entry.kind != FdKind::Tcp || entry.ends.is_some() || entry.name.is_some())
        );
        rows += got.fds.len();
    }
    rows
}

proptest! {
    #[test]
    fn any_damage_is_survived_and_accounted(at in 0usize..2600, bytes in prop::collection::vec(any::<u8>(), 0..60), removed in 0usize..60) {
        for (format, text) in [(&LSOF, ONE_OF_EACH), (&LSOF_FIELDS, FIELDS)] {
            let mut data = text.as_bytes().to_vec();
            let from = at.min(data.len());
            data.splice(from..(from + removed).min(data.len()), bytes.clone());
            assert_accounted(&collect(format, "x", &data), &data);
            sniffs(format, "x", &data);
        }
    }

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        for format in [&LSOF, &LSOF_FIELDS] {
            assert_accounted(&collect(format, "x", &bytes), &bytes);
            sniffs(format, "x", &bytes);
        }
    }
}
