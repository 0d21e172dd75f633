//! The checks on machines that are made up of files.

use super::*;
use std::path::Path;

/// All capabilities.
const ALL: &str = "000001ffffffffff";

struct Made {
    root: tempfile::TempDir,
}

impl Made {
    fn new() -> Made {
        Made { root: tempfile::tempdir().unwrap() }
    }

    /// A machine on which everything is as it should be.
    fn healthy() -> Made {
        Made::new()
            .with("/proc/sys/kernel/osrelease", "6.1.0-18-amd64\n")
            .with("/sys/kernel/btf/vmlinux", "")
            .with("/sys/kernel/security/lockdown", "[none] integrity confidentiality\n")
            .with("/sys/kernel/tracing/events/enable", "0\n")
            .with("/sys/bus/event_source/devices/kprobe/type", "8\n")
            .with("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n")
            .status("000001ffffffffff", "0", "0", ALL)
            .with("/proc/self/uid_map", "         0          0 4294967295\n")
            .with("/proc/sys/kernel/unprivileged_bpf_disabled", "2\n")
            .with("/proc/sys/kernel/perf_event_paranoid", "2\n")
            .with("/proc/sys/kernel/kptr_restrict", "0\n")
            .with("/proc/kallsyms", "ffffffff81000000 T _stext\n")
            .with("/proc/sys/kernel/yama/ptrace_scope", "0\n")
            .with("/proc/1/cgroup", "0::/init.scope\n")
            .with("/proc/self/mountinfo", "29 22 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw\n")
            .with("/proc/sys/kernel/task_delayacct", "1\n")
            .with("/proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n")
            .with("/proc/meminfo", "MemTotal: 24 kB\nMemAvailable:   16000000 kB\n")
            .with("/proc/self/limits", "Max open files            1024                 4096     files\n")
    }

    fn status(self, capabilities: &str, no_new_privileges: &str, seccomp: &str, bounding: &str) -> Made {
        let text = format!(
            "Name:\twhyslow\nCapEff:\t{capabilities}\nCapBnd:\t{bounding}\nNoNewPrivs:\t{no_new_privileges}\n\
             Seccomp:\t{seccomp}\n"
        );
        self.with("/proc/self/status", &text)
    }

    fn with(self, path: &str, text: &str) -> Made {
        let path = self.root.path().join(path.trim_start_matches('/'));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    fn without(self, path: &str) -> Made {
        std::fs::remove_file(self.root.path().join(path.trim_start_matches('/'))).unwrap();
        self
    }

    fn examine(&self, trials: Trials) -> Examination {
        examine(&Machine::at(self.root.path(), trials))
    }

    fn answer(&self, name: &str) -> Answer {
        let examination = self.examine(refused());
        examination.checks.into_iter().find(|line| line.name == name).expect(name).answer
    }
}

fn works() -> Trials {
    let works = || Trial::Works("it works".into());
    Trials { bpf: works(), bpf_extras: works(), fentry: works(), ptrace: works(), reading: works() }
}

fn refused() -> Trials {
    let fails = || Trial::Fails("EPERM".into());
    Trials { bpf: fails(), bpf_extras: fails(), fentry: fails(), ptrace: fails(), reading: fails() }
}

#[test]
fn a_healthy_machine_misses_nothing() {
    let examination = Made::healthy().examine(works());
    assert_eq!(examination.ability, Ability::Bpf);
    for line in &examination.checks {
        assert_eq!((line.answer.state, &line.answer.remedy), (CheckState::Ok, &None), "{line:?}");
    }
}

#[test]
fn of_an_empty_root_nothing_is_claimed() {
    let examination = Made::new().examine(refused());
    assert_eq!(examination.ability, Ability::CapturesOnly);
    let state = |name: &str| examination.checks.iter().find(|line| line.name == name).unwrap().answer.state;
    for name in ["version", "BTF", "lockdown", "CAP_BPF", "user namespace", "seccomp", "memory", "open files"]
    {
        assert_eq!(state(name), CheckState::Unknown, "{name}");
    }
}

#[test]
fn damaged_files_are_unknown_not_a_crash() {
    let mut made = Made::healthy();
    let files = walk(made.root.path());
    assert!(files.len() > 15);
    for file in files {
        std::fs::write(&file, b"\xff\xfe[:\x00 - \n9999999999999999999999").unwrap();
    }
    made = made.with("/proc/sys/kernel/osrelease", "Linux");
    let examination = made.examine(works());
    assert_eq!(examination.checks.len(), CHECKS.len());
    assert_eq!(made.answer("version").state, CheckState::Unknown);
    assert_eq!(made.answer("CAP_BPF").state, CheckState::Unknown);
}

fn walk(directory: &Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files.extend(walk(&path)) } else { files.push(path) }
    }
    files
}

#[test]
fn what_is_possible_is_told_by_trial() {
    let made = Made::healthy();
    let only_ptrace = Trials { ptrace: Trial::Works("7 us".into()), ..refused() };
    assert_eq!(made.examine(only_ptrace).ability, Ability::Ptrace);
    assert_eq!(made.examine(refused()).ability, Ability::CapturesOnly);
    let without_bpf = Trials { bpf: Trial::NotTried("built without".into()), ..works() };
    assert_eq!(made.examine(without_bpf).ability, Ability::Ptrace);
}

#[test]
fn versions() {
    let state =
        |release: &str| Made::new().with("/proc/sys/kernel/osrelease", release).answer("version").state;
    assert_eq!(state("6.18.44-fc-v595"), CheckState::Ok);
    assert_eq!(state("5.15-rc1"), CheckState::Ok);
    assert_eq!(state("5.14.21"), CheckState::Missing);
    assert_eq!(state("5.4.0-150-generic"), CheckState::Missing);
    assert_eq!(state("4.18.0-513.el8"), CheckState::Missing);
    assert_eq!(state("7"), CheckState::Unknown);
}

#[test]
fn without_rights_the_way_to_them_is_told() {
    let remedy = |made: &Made| made.answer("CAP_BPF").remedy.unwrap();
    let user = Made::healthy().status("0000000000000000", "0", "0", ALL);
    assert!(remedy(&user).contains("setcap cap_bpf,cap_perfmon,cap_sys_ptrace+ep"));
    assert_eq!(user.answer("CAP_SYS_RESOURCE").remedy, None, "it is not needed");
    assert!(user.answer("perf events").found.contains("no CAP_PERFMON"));
    let contained =
        Made::healthy().status("0000000000000000", "0", "2", "00000000a80425fb").with("/.dockerenv", "");
    assert!(remedy(&contained).contains("--cap-add BPF"));
    let unit = Made::healthy().status("0000000000000000", "0", "0", "00000000a80425fb");
    assert!(remedy(&unit).contains("CapabilityBoundingSet"));
    assert_eq!(contained.answer("seccomp").state, CheckState::Missing);
    let bound = Made::healthy().status("0000000000000000", "1", "0", ALL);
    assert!(remedy(&bound).contains("no_new_privs"));
    assert_eq!(bound.answer("no_new_privs").state, CheckState::Missing);
    // CAP_BPF and CAP_PERFMON alone; CAP_SYS_ADMIN alone.
    let two = Made::healthy().status("000000c000000000", "0", "0", ALL);
    assert_eq!(
        (two.answer("CAP_BPF").state, two.answer("CAP_PERFMON").state),
        (CheckState::Ok, CheckState::Ok)
    );
    assert_eq!(
        (two.answer("CAP_SYS_PTRACE").state, two.answer("perf events").state),
        (CheckState::Missing, CheckState::Ok)
    );
    let admin = Made::healthy().status("0000000000200000", "0", "0", ALL);
    assert!(admin.answer("CAP_BPF").found.contains("CAP_SYS_ADMIN"));
}

#[test]
fn locks_of_the_kernel() {
    let file = "/sys/kernel/security/lockdown";
    let state = |text: &str| Made::healthy().with(file, text).answer("lockdown").state;
    assert_eq!(state("none [integrity] confidentiality"), CheckState::Ok);
    assert_eq!(state("none integrity [confidentiality]"), CheckState::Missing);
    let unseen = Made::healthy().without(file).answer("lockdown");
    assert_eq!(unseen.state, CheckState::Unknown);
    let loads = Made::healthy().without(file).examine(works());
    let line = loads.checks.iter().find(|line| line.name == "lockdown").unwrap();
    assert_eq!(line.answer.state, CheckState::Ok);
    assert!(unseen.remedy.unwrap().contains("mount -t securityfs"));
    assert_eq!(Made::healthy().without("/sys/kernel/btf/vmlinux").answer("BTF").state, CheckState::Missing);
}

#[test]
fn scopes_of_ptrace() {
    let file = "/proc/sys/kernel/yama/ptrace_scope";
    for (scope, capabilities, state) in [
        ("1", "0000000000000000", CheckState::Missing),
        ("2", "0000000000080000", CheckState::Ok),
        ("3", "000001ffffffffff", CheckState::Missing),
    ] {
        let made = Made::healthy().with(file, scope).status(capabilities, "0", "0", ALL);
        assert_eq!(made.answer("ptrace scope").state, state, "{scope}");
    }
    assert_eq!(Made::healthy().without(file).answer("ptrace scope").state, CheckState::Ok);
}

#[test]
fn containers_and_groups() {
    let found = |made: Made| made.answer("container").found;
    assert!(found(Made::healthy().with("/.dockerenv", "")).starts_with("docker"));
    assert!(
        found(Made::healthy().with("/proc/1/cgroup", "0::/kubepods/burstable/pod1/abc"))
            .contains("/kubepods")
    );
    assert_eq!(found(Made::healthy()), "no sign of one");
    let namespace = |inode: &str| {
        let made = Made::healthy().with("/proc/self/ns/user", "");
        std::os::unix::fs::symlink(inode, made.root.path().join("proc/self/ns/pid")).unwrap();
        made
    };
    assert!(found(namespace("pid:[4026532281]")).contains("of its own"));
    assert_eq!(found(namespace("pid:[4026531836]")), "no sign of one");
    let shared = namespace("pid:[4026531836]").with("/.dockerenv", "");
    assert_eq!(found(shared), "docker (/.dockerenv), with the host's processes");
    let nested = Made::healthy().with("/proc/self/uid_map", "0 100000 65536\n").answer("user namespace");
    assert_eq!((nested.state, nested.found.as_str()), (CheckState::Missing, "a nested one (0 100000 65536)"));
    let groups = |mounts: &str| Made::healthy().with("/proc/self/mountinfo", mounts).answer("control groups");
    let v1 = "33 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n";
    let v2 = "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
    assert_eq!(groups(v1).found, "v1");
    assert_eq!(groups(&format!("{v1}{v2}")).found, "v1 and v2");
    assert_eq!(groups("22 1 0:21 / /proc rw - proc proc rw\n").state, CheckState::Missing);
}

#[test]
fn the_host_in_figures() {
    let made = Made::healthy()
        .with("/proc/meminfo", "MemAvailable: 100000 kB\n")
        .with(
            "/proc/self/limits",
            "Max open files            256                  4096                 files\n",
        )
        .with("/proc/sys/kernel/task_delayacct", "0\n")
        .with("/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n")
        .with("/proc/kallsyms", "0000000000000000 T _stext\n")
        .without("/proc/pressure/cpu");
    for name in ["memory", "open files", "delay accounting", "clock source", "kernel symbols", "pressure"] {
        let answer = made.answer(name);
        assert_eq!(answer.state, CheckState::Missing, "{name}");
        assert!(answer.remedy.is_some(), "{name}");
    }
}

#[test]
fn addresses_are_not_hidden_where_only_the_first_is_zero() {
    let percpu = "0000000000000000 A fixed_percpu_data\n0000000000000000 A __per_cpu_start\n0000000000001000 A cpu_debug_store\n";
    let answer = Made::new().with("/proc/kallsyms", percpu).answer("kernel symbols");
    assert_eq!(answer.state, CheckState::Ok);
}

#[test]
fn names_are_one_each_and_what_is_missing_has_a_remedy() {
    let names: std::collections::BTreeSet<_> = CHECKS.iter().map(|check| check.name).collect();
    assert_eq!(names.len(), CHECKS.len());
    let worst = Made::healthy().status("0000000000000000", "1", "2", "0000000000000000").examine(refused());
    for line in worst.checks {
        let needed = matches!(line.need, NeededFor::Bpf | NeededFor::Ptrace);
        if needed && line.answer.state == CheckState::Missing {
            assert!(line.answer.remedy.is_some(), "{line:?}");
        }
    }
}

#[test]
fn this_machine_is_examined() {
    let examination = examine(&Machine::live());
    assert_eq!(examination.checks.len(), CHECKS.len());
    println!("{:?}", examination.ability);
}

#[test]
fn a_machine_without_a_sandbox_says_so() {
    let examination =
        Made::healthy().examine(Trials { reading: Trial::Fails("no Landlock: none".into()), ..works() });
    let line = examination.checks.iter().find(|line| line.name == "strangers' files").expect("a line");
    assert_eq!((line.answer.state, line.answer.found.as_str()), (CheckState::Missing, "no Landlock: none"));
    assert_eq!(examination.ability, Ability::Bpf, "it does not matter for recording");
}
