use super::*;
use std::path::Path;
use std::process::{Child, Command, Stdio};

const ID: &str = "3f4e5d6c7b8a99887766554433221100ffeeddccbbaa00112233445566778899";
const OTHER: &str = "3f4eaaaa7b8a99887766554433221100ffeeddccbbaa00112233445566778899";

/// A made-up system.
struct Tree {
    directory: tempfile::TempDir,
}

/// One of its processes.
struct Made<'a> {
    pid: Tid,
    comm: &'a str,
    parent: Tid,
    state: char,
    flags: u64,
    exe: Option<&'a str>,
    cgroup: &'a str,
    inside: Option<Tid>,
}

impl Default for Made<'_> {
    fn default() -> Self {
        Made {
            pid: 1,
            comm: "init",
            parent: 0,
            state: 'S',
            flags: 0x400000,
            exe: None,
            cgroup: "0::/\n",
            inside: None,
        }
    }
}

impl Tree {
    fn new() -> Tree {
        let tree = Tree { directory: tempfile::tempdir().expect("a directory") };
        tree.write("proc/mounts", "cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\ncgroup /sys/fs/cgroup/cpu cgroup rw,relatime,cpu,cpuacct 0 0\ntmpfs /tmp tmpfs rw 0 0\n");
        tree
    }

    fn root(&self) -> ProcRoot {
        ProcRoot::at(self.directory.path()).with_own_pid(99)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.directory.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        std::fs::write(path, text).expect("a file");
    }

    fn link(&self, path: &str, target: &str) {
        let path = self.directory.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        std::os::unix::fs::symlink(target, path).expect("a link");
    }

    fn group(&self, path: &str) {
        std::fs::create_dir_all(self.directory.path().join("sys/fs/cgroup").join(path)).expect("a directory");
    }

    fn process(&self, made: Made<'_>) {
        let Made { pid, comm, parent, state, flags, .. } = made;
        let stat =
            format!("{pid} ({comm}) {state} {parent} 1 1 0 -1 {flags} 0 0 0 0 0 0 0 0 20 0 1 0 4000 0 0\n");
        let numbers = made.inside.map_or(pid.to_string(), |inside| format!("{pid}\t{inside}"));
        self.write(&format!("proc/{pid}/stat"), &stat);
        self.write(&format!("proc/{pid}/task/{pid}/stat"), &stat);
        self.write(
            &format!("proc/{pid}/status"),
            &format!("Tgid:\t{pid}\nUid:\t0\t0\t0\t0\nNSpid:\t{numbers}\n"),
        );
        self.write(&format!("proc/{pid}/cgroup"), made.cgroup);
        if let Some(exe) = made.exe {
            self.link(&format!("proc/{pid}/exe"), exe);
        }
    }
}

fn host() -> Tree {
    let tree = Tree::new();
    tree.group("unified/system.slice/nginx.service");
    tree.group(&format!("cpu/docker/{ID}"));
    let container = format!("0::/\n2:cpu,cpuacct:/docker/{ID}\n");
    let second = format!("0::/\n2:cpu,cpuacct:/docker/{OTHER}\n");
    let nginx = "0::/system.slice/nginx.service\n2:cpu,cpuacct:/\n";
    tree.process(Made::default());
    tree.process(Made { pid: 2, comm: "kthreadd", flags: 0x0020_8040, ..Made::default() });
    tree.process(Made {
        pid: 10,
        comm: "nginx",
        parent: 1,
        exe: Some("/usr/sbin/nginx"),
        cgroup: nginx,
        ..Made::default()
    });
    tree.process(Made {
        pid: 11,
        comm: "nginx",
        parent: 10,
        exe: Some("/usr/sbin/nginx"),
        cgroup: nginx,
        ..Made::default()
    });
    tree.process(Made { pid: 12, comm: "gone", parent: 10, state: 'Z', ..Made::default() });
    tree.process(Made {
        pid: 20,
        comm: "python3",
        parent: 1,
        exe: Some("/usr/bin/python3.11 (deleted)"),
        cgroup: &container,
        inside: Some(7),
        ..Made::default()
    });
    tree.process(Made { pid: 21, comm: "a) S 1 (\n", parent: 20, cgroup: &second, ..Made::default() });
    tree.process(Made { pid: 99, comm: "whyslow", parent: 1, ..Made::default() });
    tree.write("proc/20/task/25/stat", "25 (worker) S 1 1 1 0 -1 64 0 0 0 0 0 0 0 0 20 0 1 0 4000 0 0\n");
    tree
}

fn pids(selection: &Selection) -> Vec<Tid> {
    selection.resolve(&host().root()).expect("a target").pids()
}

fn refusal(selection: &Selection) -> String {
    selection.resolve(&host().root()).expect_err("no target").to_string()
}

fn strings(values: &[&str]) -> Vec<String> {
    values.iter().map(|value| value.to_string()).collect()
}

#[test]
fn processes_and_threads() {
    let found =
        Selection { pids: vec![20], ..Selection::default() }.resolve(&host().root()).expect("a target");
    assert_eq!(
        found.processes,
        [TargetProcess { pid: 20, comm: "python3".into(), tids: vec![20, 25], whole: true }]
    );
    assert_eq!(found.later, Later::default());
    assert!(refusal(&Selection::default()).contains("-p PID"));
    assert!(refusal(&Selection { pids: vec![2], ..Selection::default() }).contains("kernel thread"));
    assert!(refusal(&Selection { pids: vec![12], ..Selection::default() }).contains("parent 10"));
    assert!(refusal(&Selection { pids: vec![99], ..Selection::default() }).contains("itself"));
    assert!(refusal(&Selection { pids: vec![77], ..Selection::default() }).starts_with("no process 77 here"));
    let inside = refusal(&Selection { pids: vec![7], ..Selection::default() });
    assert!(inside.contains("20 (python3)"), "{inside}");
    assert!(refusal(&Selection { tids: vec![25], ..Selection::default() }).contains("no thread 25"));
    let one = Selection { tids: vec![20], ..Selection::default() }.resolve(&host().root()).expect("a target");
    assert_eq!((one.processes[0].tids.as_slice(), one.processes[0].whole), (&[20][..], false));
}

#[test]
fn names() {
    let found = Selection { names: strings(&["nginx"]), ..Selection::default() };
    let found = found.resolve(&host().root()).expect("a target");
    assert_eq!(found.pids(), [10, 11]);
    assert_eq!(found.remarks, ["2 processes are named \"nginx\": all are recorded (10, 11)"]);
    assert_eq!(found.later.comms, [*b"nginx\0\0\0\0\0\0\0\0\0\0\0"]);
    assert_eq!(pids(&Selection { names: strings(&["python3.11"]), ..Selection::default() }), [20]);
    let wrong = refusal(&Selection { names: strings(&["ngnix"]), ..Selection::default() });
    assert!(wrong.contains("did you mean nginx?"), "{wrong}");
    assert!(!refusal(&Selection { names: strings(&["zzz"]), ..Selection::default() }).contains("mean"));
    // Ourselves and kernel threads are not found.
    refusal(&Selection { names: strings(&["whyslow"]), ..Selection::default() });
    refusal(&Selection { names: strings(&["kthreadd"]), ..Selection::default() });
}

#[test]
fn descendants_and_everything() {
    assert_eq!(pids(&Selection { pids: vec![10], children: true, ..Selection::default() }), [10, 11]);
    assert_eq!(
        pids(&Selection { pids: vec![1], children: true, ..Selection::default() }),
        [1, 10, 11, 20, 21]
    );
    let all = Selection { all: true, ..Selection::default() }.resolve(&host().root()).expect("a target");
    assert_eq!((all.pids(), all.later.all), (vec![1, 10, 11, 20, 21], true));
}

#[test]
fn groups_containers_and_units() {
    for path in ["/system.slice", "/sys/fs/cgroup/unified/system.slice/nginx.service"] {
        let found = Selection { cgroups: strings(&[path]), ..Selection::default() }.resolve(&host().root());
        let found = found.expect("a target");
        assert_eq!((found.pids(), found.later.cgroups.len()), (vec![10, 11], 1), "{path}");
        assert_eq!(found.later.cgroups[0].controller, None);
        assert!(found.later.cgroups[0].id > 0);
    }
    assert!(
        refusal(&Selection { cgroups: strings(&["/nowhere"]), ..Selection::default() })
            .contains("no control group")
    );
    assert!(
        refusal(&Selection { cgroups: strings(&["/../.."]), ..Selection::default() })
            .contains("control group")
    );
    let found =
        Selection { containers: strings(&["3f4e5d6c7b8a"]), ..Selection::default() }.resolve(&host().root());
    let found = found.expect("a target");
    assert_eq!(found.pids(), [20]);
    assert_eq!(found.later.cgroups[0].controller.as_deref(), Some("cpu"));
    assert_eq!(pids(&Selection { containers: vec![format!("/docker/{ID}")], ..Selection::default() }), [20]);
    assert!(
        refusal(&Selection { containers: strings(&["3f4e"]), ..Selection::default() })
            .contains("more digits")
    );
    let wrong = refusal(&Selection { containers: strings(&["dead"]), ..Selection::default() });
    assert!(wrong.contains("there are 3f4e5d6c7b8a, 3f4eaaaa7b8a"), "{wrong}");
    for unit in ["nginx", "nginx.service", "system.slice"] {
        assert_eq!(pids(&Selection { units: strings(&[unit]), ..Selection::default() }), [10, 11]);
    }
    let wrong = refusal(&Selection { units: strings(&["ngnix.service"]), ..Selection::default() });
    assert!(wrong.contains("did you mean nginx.service?"), "{wrong}");
}

#[test]
fn ports() {
    let tree = host();
    tree.write("proc/10/net/tcp", "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   0: 00000000:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0 100 0 0 10 0\n");
    tree.link("proc/10/fd/6", "socket:[4711]");
    tree.link("proc/11/fd/6", "socket:[4711]");
    tree.link("proc/20/fd/6", "socket:[4712]");
    let at = |port| Selection { ports: vec![port], ..Selection::default() }.resolve(&tree.root());
    let found = at(80).expect("a target");
    assert_eq!((found.pids(), found.remarks.len()), (vec![10, 11], 1));
    assert!(at(81).expect_err("none").to_string().contains("port 81"));
}

#[test]
fn damaged_trees_are_survived() {
    let tree = Tree::new();
    assert!(Selection { pids: vec![5], ..Selection::default() }.resolve(&tree.root()).is_err());
    tree.write("proc/5/stat", "5 (");
    tree.write("proc/6/stat", "");
    assert!(Selection { pids: vec![5], ..Selection::default() }.resolve(&tree.root()).is_err());
    assert!(Selection { all: true, ..Selection::default() }.resolve(&tree.root()).is_err());
    let nothing = ProcRoot::at(Path::new("/nonexistent"));
    let error = Selection { all: true, ..Selection::default() }.resolve(&nothing).expect_err("no /proc");
    assert!(error.to_string().contains("must be mounted"), "{error}");
    // Parents in a circle.
    tree.process(Made { pid: 7, parent: 8, ..Made::default() });
    tree.process(Made { pid: 8, parent: 7, ..Made::default() });
    let circle = Selection { pids: vec![7], children: true, ..Selection::default() };
    assert_eq!(circle.resolve(&tree.root()).expect("a target").pids(), [7, 8]);
}

/// A process that is ended with the test.
struct Live(Child);

impl Drop for Live {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_live_shell_and_its_child() {
    let shell = Command::new("sh").args(["-c", "sleep 60 & echo; wait"]).stdout(Stdio::piped()).spawn();
    let mut shell = Live(shell.expect("a shell"));
    let mut line = [0];
    std::io::Read::read_exact(shell.0.stdout.as_mut().expect("its output"), &mut line).expect("a line");
    let pid = shell.0.id();
    let found =
        Selection { pids: vec![pid], children: true, ..Selection::default() }.resolve(&ProcRoot::live());
    let found = found.expect("a target");
    assert_eq!(found.processes.len(), 2, "{found:?}");
    let child = found.pids().into_iter().find(|found| *found != pid).expect("a child");
    let _ = rustix::process::kill_process(
        rustix::process::Pid::from_raw(child as i32).expect("a pid"),
        rustix::process::Signal::KILL,
    );
    let own = Selection { pids: vec![std::process::id()], ..Selection::default() };
    assert!(matches!(own.resolve(&ProcRoot::live()), Err(TargetError::Ourselves { .. })));
}

#[test]
fn a_live_listener_by_its_port() {
    // The test's own process stands for a server: the root here does not take it for ourselves.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a listener");
    let port = listener.local_addr().expect("an address").port();
    let found =
        Selection { ports: vec![port], ..Selection::default() }.resolve(&ProcRoot::live().with_own_pid(1));
    assert!(found.expect("a target").pids().contains(&std::process::id()));
}
