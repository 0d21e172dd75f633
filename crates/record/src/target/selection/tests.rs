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
        [SelectedProcess {
            pid: 20,
            comm: "python3".into(),
            name: "python3".into(),
            tids: vec![20, 25],
            whole: true
        }]
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
    assert_eq!(
        found.remarks,
        ["2 processes of the name \"nginx\", of one service: all are recorded (10, 11)"]
    );
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
    assert_eq!(found.pids(), [10, 11]);
    assert_eq!(found.remarks[0], "port 80 is tcp 0.0.0.0:80");
    assert!(at(81).expect_err("none").to_string().contains("port 81"));
}

/// A host with services that are named by what they run.
fn services() -> Tree {
    let tree = Tree::new();
    tree.write("proc/uptime", "1000.00 2000.00\n");
    tree.process(Made::default());
    let run = |pid, parent, comm, exe, words: &[&str], cgroup| {
        tree.process(Made { pid, parent, comm, exe: Some(exe), cgroup, ..Made::default() });
        tree.write(&format!("proc/{pid}/cmdline"), &(words.join("\0") + "\0"));
    };
    let python = "/usr/bin/python3.11";
    let none = "0::/\n";
    run(30, 1, "bash", "/usr/bin/bash", &["bash"], none);
    // A server with two workers, and two others of the same interpreter.
    for (pid, parent) in [(31, 30), (32, 31), (33, 31)] {
        run(pid, parent, "gunicorn", python, &["python3", "/usr/bin/gunicorn", "shop:app"], none);
    }
    run(34, 1, "python3", python, &["python3", "/srv/billing/app.py", "8080"], none);
    run(35, 30, "python3", python, &["python3", "-m", "acme.orders"], none);
    run(36, 30, "vim", "/usr/bin/vim", &["vim", "/srv/billing/app.py"], none);
    run(37, 1, "java", "/usr/bin/java", &["java", "-Xmx1g", "-jar", "/opt/shop.jar"], none);
    // Equal children of a supervisor, and two of one unit that init adopted.
    for pid in [41, 42] {
        run(pid, 30, "node", "/usr/bin/node", &["node", "/srv/server.js"], none);
    }
    for pid in [43, 44] {
        run(
            pid,
            1,
            "worker",
            "/opt/worker",
            &["worker", &pid.to_string()],
            "0::/system.slice/work.service\n",
        );
    }
    // Ourselves and the wrapper that started us have the name in our arguments.
    run(
        98,
        30,
        "timeout",
        "/usr/bin/timeout",
        &["timeout", "10", "whyslow", "diagnose", "--name", "app.py"],
        none,
    );
    run(99, 98, "whyslow", "/usr/bin/whyslow", &["whyslow", "diagnose", "--name", "app.py"], none);
    tree
}

#[test]
fn names_as_people_say_them() {
    let tree = services();
    let by = |name: &str| Selection { names: strings(&[name]), ..Selection::default() }.resolve(&tree.root());
    for (name, expected) in [
        ("app.py", &[34][..]),
        ("/srv/billing/app.py", &[34]),
        ("billing", &[34]),
        ("acme.orders", &[35]),
        ("orders", &[35]),
        ("shop.jar", &[37]),
        ("gunicorn", &[31, 32, 33]),
        ("shop:app", &[31, 32, 33]),
        ("server.js", &[41, 42]),
        ("server", &[41, 42]),
        ("worker", &[43, 44]),
        ("Xmx1g", &[37]),
    ] {
        match by(name) {
            Ok(found) => assert_eq!(found.pids(), expected, "{name}"),
            Err(error) => panic!("{name}: {error}"),
        }
    }
    let found = by("app.py").expect("a target");
    assert_eq!((found.processes[0].name.as_str(), found.processes[0].comm.as_str()), ("app.py", "python3"));
    assert!(by("billing").expect("a target").remarks[0].contains("app.py is taken for it"));
}

#[test]
fn several_services_are_a_list_to_choose_from() {
    let tree = services();
    let by = |name: &str| Selection { names: strings(&[name]), ..Selection::default() };
    let refused = by("python3").resolve(&tree.root()).expect_err("two programs").to_string();
    assert_eq!(
        refused,
        "2 services of the name \"python3\": nothing is recorded\n      PID       AGE     CPU  WHAT\n       34    16 min     0 %  app.py: python3 /srv/billing/app.py 8080\n       35    16 min     0 %  acme.orders: python3 -m acme.orders\nnext: name one by its number, with its children (-p 34), or all of them (-p 34,35)"
    );
    // The shop that is a jar, and the one that is an application.
    assert!(
        by("shop")
            .resolve(&tree.root())
            .expect_err("two")
            .to_string()
            .contains("(and 2 more processes of it)")
    );
    // Who joins later is not refused; and only a whole name counts then.
    assert_eq!(by("python3").resolve_again(&tree.root()).expect("both").pids(), [34, 35]);
    assert!(by("billing").resolve_again(&tree.root()).is_err());
}

#[test]
fn patterns_of_groups_and_units() {
    let tree = host();
    tree.group("unified/system.slice/redis.service");
    tree.process(Made {
        pid: 50,
        comm: "redis",
        cgroup: "0::/system.slice/redis.service\n",
        ..Made::default()
    });
    let found = |selection: Selection| selection.resolve(&tree.root()).map(|found| found.pids());
    let cgroup = |path: &str| found(Selection { cgroups: strings(&[path]), ..Selection::default() });
    let unit = |name: &str| found(Selection { units: strings(&[name]), ..Selection::default() });
    assert_eq!(cgroup("/system.slice/*").expect("both"), [10, 11, 50]);
    assert_eq!(cgroup("/system.slice/r?dis*").expect("one"), [50]);
    assert_eq!(cgroup("/sys/fs/cgroup/unified/*/nginx.service").expect("one"), [10, 11]);
    assert_eq!(cgroup("/docker/*").expect("both"), [20, 21]);
    assert!(cgroup("/nothing/*").expect_err("none").to_string().contains("no control group"));
    assert_eq!(unit("*.service").expect("both"), [10, 11, 50]);
    assert_eq!(unit("ng*").expect("one"), [10, 11]);
}

#[test]
fn containers_by_name_pod_and_host_name() {
    let tree = host();
    tree.write(&format!("var/lib/docker/containers/{ID}/config.v2.json"), r#"{"Name":"/web"}"#);
    let logs = [
        format!("var/log/containers/web-7d9f_shop_main-{OTHER}.log"),
        format!("var/log/containers/web-7d9f_shop_side-{ID}.log"),
    ];
    let by =
        |name: &str| Selection { containers: strings(&[name]), ..Selection::default() }.resolve(&tree.root());
    assert_eq!(by("web").expect("a container").pids(), [20]);
    for log in logs {
        tree.write(&log, "");
    }
    assert_eq!(by("main").expect("a container").pids(), [21]);
    assert_eq!(by("web-7d9f/main").expect("a container").pids(), [21]);
    let pod = by("web-7d9f").expect("a pod");
    assert_eq!(pod.pids(), [20, 21]);
    assert!(pod.remarks[0].contains("3f4e5d6c7b8a (web)"), "{:?}", pod.remarks);
    tree.write("proc/21/environ", "PATH=/bin\0HOSTNAME=cart-0\0");
    assert_eq!(by("cart-0").expect("a container").pids(), [21]);
    let wrong = by("nobody").expect_err("none").to_string();
    assert!(wrong.contains("there are 3f4e5d6c7b8a (web), 3f4eaaaa7b8a (main)"), "{wrong}");
}

#[test]
fn damaged_trees_are_survived() {
    let tree = Tree::new();
    assert!(Selection { pids: vec![5], ..Selection::default() }.resolve(&tree.root()).is_err());
    tree.write("proc/5/stat", "5 (");
    tree.write("proc/6/stat", "");
    assert!(Selection { pids: vec![5], ..Selection::default() }.resolve(&tree.root()).is_err());
    let nothing = ProcRoot::at(Path::new("/nonexistent"));
    let error = Selection { all: true, ..Selection::default() }.resolve(&nothing).expect_err("no /proc");
    assert!(error.to_string().contains("must be mounted"), "{error}");
    // A host that shows nobody but us is the host all the same.
    tree.process(Made { pid: 99, ..Made::default() });
    for pid in [5, 6] {
        std::fs::remove_file(tree.directory.path().join(format!("proc/{pid}/stat"))).expect("gone");
    }
    let all = Selection { all: true, ..Selection::default() };
    assert_eq!(all.resolve(&tree.root()).expect("nobody").pids(), [0; 0]);
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

#[test]
fn live_scripts_by_their_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let stem = format!("orders{}", std::process::id());
    let by =
        |name: &str| Selection { names: strings(&[name]), ..Selection::default() }.resolve(&ProcRoot::live());
    let programs: [(&str, &str, &str); 3] = [
        ("python3", "py", "import time\nprint(1, flush=True)\ntime.sleep(60)\n"),
        ("sh", "sh", "echo 1\nread line\n"),
        ("perl", "pl", "$| = 1; print 1; sleep 60;\n"),
    ];
    for (interpreter, ending, text) in programs {
        let name = format!("{stem}.{ending}");
        let script = folder.path().join(&name);
        std::fs::write(&script, text).expect("a script");
        let start = |more: &[&str]| {
            let mut command = Command::new(interpreter);
            let child = command.arg(&script).args(more).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
            let mut child = Live(child.ok()?);
            std::io::Read::read_exact(child.0.stdout.as_mut()?, &mut [0]).ok()?;
            Some(child)
        };
        let Some(first) = start(&[]) else {
            println!("skipped: no {interpreter} here");
            continue;
        };
        let found = by(&name).expect("a target");
        assert_eq!(found.processes.len(), 1, "{found:?}");
        assert_eq!((found.processes[0].pid, found.processes[0].name.as_str()), (first.0.id(), name.as_str()));
        assert_eq!(by(&stem).expect("by its stem").pids(), [first.0.id()]);
        // Equal children of one parent are one service; one with other arguments is another.
        let second = start(&[]).expect("another");
        let mut both = [first.0.id(), second.0.id()];
        both.sort_unstable();
        assert_eq!(by(&name).expect("both").pids(), both);
        let third = start(&["--other"]).expect("a third");
        let refused = by(&name).expect_err("two services").to_string();
        assert!(
            refused.contains("2 services") && refused.contains(&format!("{}", third.0.id())),
            "{refused}"
        );
        drop((first, second, third));
    }
}
