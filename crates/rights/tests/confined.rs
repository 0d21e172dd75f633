//! What a confined process cannot do, and what it still can: this file starts itself, is confined there, and tells how each try went.

use libtest_mimic::{Arguments, Failed, Trial};
use rustix::process::{Pid, Signal, getppid, kill_process};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use whyslow_record::ptrace::{PtraceOptions, Recorder};
use whyslow_rights::{Capabilities, Grants, confine, confine_below, confine_thread, confine_to, held};

/// The folder of a test; what is set makes this process the confined one.
const FOLDER: &str = "CONFINED_FOLDER";
/// Its output, where it has one.
const OUTPUT: &str = "CONFINED_OUTPUT";
/// Where the test listens.
const PORT: &str = "CONFINED_PORT";

/// The folder of a test; what is set makes this process one that reads below it alone.
const BELOW: &str = "CONFINED_BELOW";
/// The folder of a test; what is set makes this process one that serves what is in it.
const SERVES: &str = "CONFINED_SERVES";
/// What is set makes this process one that says hello.
const HELLO: &str = "CONFINED_HELLO";

fn main() -> ExitCode {
    if std::env::var_os(HELLO).is_some() {
        println!("hello");
        return ExitCode::SUCCESS;
    }
    if let Some(folder) = std::env::var_os(BELOW) {
        below(Path::new(&folder));
        return ExitCode::SUCCESS;
    }
    if let Some(folder) = std::env::var_os(SERVES) {
        serves(Path::new(&folder));
        return ExitCode::SUCCESS;
    }
    if let Some(folder) = std::env::var_os(FOLDER) {
        child(Path::new(&folder));
        return ExitCode::SUCCESS;
    }
    let tests = vec![
        Trial::test("a_reader_writes_runs_and_connects_to_nothing", reader),
        Trial::test("a_reader_with_an_output_writes_that", writer),
        Trial::test("an_output_may_be_a_link_a_device_or_a_pipe", places),
        Trial::test("a_trial_confines_its_own_thread_only", trial),
        Trial::test("who_reads_below_a_folder_opens_nothing_else_and_runs_itself_alone", reader_below),
        Trial::test("who_serves_files_reads_them_and_writes_where_that_is_granted", server),
    ];
    libtest_mimic::run(&Arguments::from_args(), tests).exit_code()
}

/// Tries all, on the thread that asked for it and on one that began later; a line a try.
fn child(folder: &Path) {
    let output = std::env::var_os(OUTPUT).map(PathBuf::from);
    let outputs: Vec<&Path> = output.iter().map(PathBuf::as_path).collect();
    let confined = confine(&outputs);
    println!("landlock {}", if confined.landlock.is_ok() { "ok" } else { "none" });
    println!("seccomp {}", if confined.seccomp.is_ok() { "ok" } else { "none" });
    println!("is {confined}");
    tries("main", folder, output.as_deref());
    let (folder, output) = (folder.to_path_buf(), output);
    std::thread::spawn(move || tries("later", &folder, output.as_deref())).join().expect("a thread");
}

fn tries(thread: &str, folder: &Path, output: Option<&Path>) {
    let port: u16 = std::env::var(PORT).expect("a port").parse().expect("a number");
    let tell = |what: &str, result: io::Result<()>| {
        let told = match result {
            Ok(()) => "ok".to_string(),
            Err(error) => match error.raw_os_error() {
                Some(libc::EPERM | libc::EACCES) => "refused".to_string(),
                _ => format!("{error:?}"),
            },
        };
        println!("{thread}.{what} {told}");
    };
    let input = folder.join("in/input");
    tell("read", std::fs::read_to_string(&input).map(drop));
    tell("list", std::fs::read_dir(folder.join("in")).map(drop));
    tell("proc", std::fs::read_to_string("/proc/self/status").map(drop));
    tell("make", std::fs::write(folder.join("in/new"), "x"));
    tell("append", OpenOptions::new().append(true).open(&input).map(drop));
    tell("truncate", File::create(&input).map(drop));
    tell("remove", std::fs::remove_file(&input));
    tell("rename", std::fs::rename(&input, folder.join("in/other")));
    tell("folder", std::fs::create_dir(folder.join("in/folder")));
    tell("link", symlink("/", folder.join("in/link")));
    tell("mode", std::fs::set_permissions(&input, PermissionsExt::from_mode(0o777)));
    tell("owner", std::os::unix::fs::chown(&input, Some(65534), None));
    tell("tcp", TcpStream::connect(("127.0.0.1", port)).map(drop));
    tell("bind", TcpListener::bind("127.0.0.1:0").map(drop));
    tell("udp", UdpSocket::bind("127.0.0.1:0").map(drop));
    tell("unix", UnixStream::connect(folder.join("socket")).map(drop));
    tell("datagram", UnixDatagram::unbound().map(drop));
    tell("exec", Command::new("/bin/true").status().map(drop));
    let parent: Option<Pid> = getppid();
    tell("kill", kill_process(parent.expect("a parent"), Signal::CONT).map_err(Into::into));
    let traced = u32::try_from(parent.expect("a parent").as_raw_pid()).expect("a number");
    let options = PtraceOptions {
        follow: false,
        syscalls: None,
        filter_in_kernel: false,
        payload: 0,
        spec: whyslow_record::decode::table::spec,
    };
    let ptrace = Recorder::attach(&[traced], options);
    let told = ptrace.err().map_or("ok".to_string(), |error| error.to_string());
    let refused = told.contains("not allowed to trace");
    println!("{thread}.ptrace {}", if refused { "refused" } else { &told });
    let capabilities = held().expect("capabilities");
    let all =
        Capabilities::SYS_ADMIN | Capabilities::NET_ADMIN | Capabilities::SYS_MODULE | Capabilities::BPF;
    println!("{thread}.capabilities {}", if capabilities.intersects(all) { "ok" } else { "refused" });
    if let Some(output) = output {
        tell("output", put(output));
    }
    io::stdout().flush().expect("standard output");
}

/// Writes an output as the commands do: in place where it is no file, else under another name that takes its place.
fn put(output: &Path) -> io::Result<()> {
    let target = std::fs::canonicalize(output).unwrap_or_else(|_| output.to_path_buf());
    if std::fs::symlink_metadata(&target).is_ok_and(|about| !about.is_file()) {
        return File::create(output)?.write_all(b"whole\n");
    }
    let other = target.with_file_name(".whyslow-new");
    std::fs::write(&other, "whole\n")?;
    std::fs::rename(&other, &target)
}

/// A folder with an input, and how each try of a confined process went.
struct Ran {
    folder: tempfile::TempDir,
    told: BTreeMap<String, String>,
}

fn run(output: Option<&dyn Fn(&Path) -> PathBuf>) -> Ran {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["in", "out"] {
        std::fs::create_dir(folder.path().join(name)).expect("a folder");
    }
    std::fs::write(folder.path().join("in/input"), "read me").expect("an input");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let _socket = std::os::unix::net::UnixListener::bind(folder.path().join("socket")).expect("a socket");
    let mut command = Command::new(std::env::current_exe().expect("this test"));
    command.env(FOLDER, folder.path()).env(PORT, listener.local_addr().expect("a port").port().to_string());
    command.stdin(Stdio::null()).stderr(Stdio::inherit()).stdout(Stdio::piped());
    if let Some(output) = output {
        command.env(OUTPUT, output(folder.path()));
    }
    let mut child = command.spawn().expect("this test");
    let mut text = String::new();
    child.stdout.take().expect("a pipe").read_to_string(&mut text).expect("text");
    let status = child.wait().expect("a child");
    assert!(status.success(), "{status}: {text}");
    println!("{text}");
    let told = text.lines().filter_map(|line| line.split_once(' '));
    Ran { folder, told: told.map(|(key, value)| (key.to_string(), value.to_string())).collect() }
}

impl Ran {
    fn has(&self, means: &str) -> bool {
        let has = self.told[means] == "ok";
        if !has {
            println!("note: no {means} here: what it would refuse is not looked at");
        }
        has
    }

    fn expect(&self, what: &[&str], outcome: &str) {
        for thread in ["main", "later"] {
            for what in what {
                let key = format!("{thread}.{what}");
                assert_eq!(self.told[&key], outcome, "{key}: {:#?}", self.told);
            }
        }
    }
}

const FILES: [&str; 7] = ["make", "append", "truncate", "remove", "rename", "folder", "link"];
const READS: [&str; 3] = ["read", "list", "proc"];
const BY_SECCOMP: [&str; 9] = ["mode", "owner", "tcp", "bind", "udp", "unix", "datagram", "exec", "kill"];

fn reader() -> Result<(), Failed> {
    let ran = run(None);
    ran.expect(&READS, "ok");
    ran.expect(&["capabilities"], "refused");
    let (landlock, seccomp) = (ran.has("landlock"), ran.has("seccomp"));
    if landlock || seccomp {
        ran.expect(&FILES, "refused");
        ran.expect(&["exec", "tcp", "bind"], "refused");
    }
    if seccomp {
        ran.expect(&BY_SECCOMP, "refused");
        ran.expect(&["ptrace"], "refused");
    }
    let input = ran.folder.path().join("in/input");
    assert_eq!(std::fs::read_to_string(&input)?, "read me");
    assert_eq!(std::fs::metadata(&input)?.uid(), rustix::process::geteuid().as_raw());
    Ok(())
}

fn writer() -> Result<(), Failed> {
    let ran = run(Some(&|folder| folder.join("out/report.html")));
    ran.expect(&READS, "ok");
    ran.expect(&["output"], "ok");
    if ran.has("landlock") {
        ran.expect(&FILES, "refused");
    }
    if ran.has("seccomp") {
        ran.expect(&BY_SECCOMP, "refused");
        ran.expect(&["ptrace"], "refused");
    }
    assert_eq!(std::fs::read_to_string(ran.folder.path().join("out/report.html"))?, "whole\n");
    Ok(())
}

fn places() -> Result<(), Failed> {
    let linked = run(Some(&|folder| {
        symlink(folder.join("out/there"), folder.join("link")).expect("a link");
        folder.join("link")
    }));
    linked.expect(&["output"], "ok");
    assert_eq!(std::fs::read_to_string(linked.folder.path().join("out/there"))?, "whole\n");
    for device in ["/dev/null", "/dev/stdout"] {
        run(Some(&|_| PathBuf::from(device))).expect(&["output"], "ok");
    }
    Ok(())
}

fn trial() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("new");
    let there = path.clone();
    let told = std::thread::spawn(move || {
        let confined = confine_thread(&[]);
        let written = std::fs::write(there, "x").is_ok();
        (confined, written)
    });
    let (confined, written) = told.join().expect("a thread");
    assert_eq!(written, confined.landlock.is_err() && confined.seccomp.is_err(), "{confined}");
    std::fs::write(&path, "x")?;
    Ok(())
}

/// Tries what it may, and what it may not; a line a try.
fn below(folder: &Path) {
    let confined = confine_below(&[&folder.join("in")]);
    println!("landlock {}", if confined.is_ok() { "ok" } else { "none" });
    let tell = |what: &str, done: bool| println!("{what} {}", if done { "ok" } else { "refused" });
    tell("inside", std::fs::read_to_string(folder.join("in/input")).is_ok());
    tell("listed", std::fs::read_dir(folder.join("in")).is_ok_and(|entries| entries.flatten().count() == 2));
    let itself = Command::new(std::env::current_exe().expect("this test")).env(HELLO, "1").output();
    tell("itself", itself.is_ok_and(|output| output.stdout == b"hello\n"));
    tell("nothing", File::open("/dev/null").is_ok());
    tell("outside", std::fs::read_to_string(folder.join("secret")).is_ok());
    tell("linked", std::fs::read_to_string(folder.join("in/link")).is_ok());
    tell("up", std::fs::read_to_string(folder.join("in/../secret")).is_ok());
    tell("passwords", File::open("/etc/passwd").is_ok());
    tell("others", File::open("/proc/1/environ").is_ok());
    tell("made", std::fs::write(folder.join("in/new"), "x").is_ok());
    tell("changed", OpenOptions::new().append(true).open(folder.join("in/input")).is_ok());
    tell("removed", std::fs::remove_file(folder.join("in/input")).is_ok());
    tell("another", Command::new("/bin/true").status().is_ok());
}

fn reader_below() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    std::fs::create_dir(folder.path().join("in"))?;
    std::fs::write(folder.path().join("in/input"), "read me")?;
    std::fs::write(folder.path().join("secret"), "secret")?;
    symlink(folder.path().join("secret"), folder.path().join("in/link"))?;
    let output = Command::new(std::env::current_exe()?).env(BELOW, folder.path()).output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let told: BTreeMap<&str, &str> = text.lines().filter_map(|line| line.split_once(' ')).collect();
    for what in ["inside", "listed", "itself", "nothing"] {
        assert_eq!(told.get(what), Some(&"ok"), "{what}: {text}");
    }
    if told.get("landlock") != Some(&"ok") {
        println!("note: no landlock here: what it would refuse is not looked at");
        return Ok(());
    }
    for what in ["outside", "linked", "up", "passwords", "others", "made", "changed", "removed", "another"] {
        assert_eq!(told.get(what), Some(&"refused"), "{what}: {text}");
    }
    Ok(())
}

/// The same for one that serves: the folders `in` and `own`, the program `true`.
fn serves(folder: &Path) {
    let (read, own) = (folder.join("in"), folder.join("own"));
    let program = Path::new("/bin/true").canonicalize().expect("it is there");
    let grants =
        Grants { reads: &[&read], writes: &[&own], runs: &[&program], listens: true, connects: false };
    let confined = confine_to(&grants);
    println!("landlock {}", confined.as_ref().map_or("none".to_string(), i32::to_string));
    let tell = |what: &str, done: bool| println!("{what} {}", if done { "ok" } else { "refused" });
    let tried = std::thread::spawn(move || {
        tell("inside", std::fs::read_to_string(read.join("input")).is_ok());
        tell("own", std::fs::write(own.join("a"), "x").is_ok());
        tell("named", std::fs::rename(own.join("a"), own.join("b")).is_ok());
        tell("folders", std::fs::create_dir(own.join("d")).is_ok());
        tell("removed", std::fs::remove_dir_all(own.join("d")).is_ok());
        let started = Command::new(&program).stdin(Stdio::null()).stdout(Stdio::null()).status();
        tell("program", started.is_ok_and(|status| status.success()));
        let listens = TcpListener::bind("127.0.0.1:0");
        tell("listens", listens.is_ok());
        let at = listens.and_then(|listens| listens.local_addr());
        tell("connects", at.is_ok_and(|at| TcpStream::connect(at).is_ok()));
        tell("outside", std::fs::read_to_string(read.join("../secret")).is_ok());
        tell("linked", std::fs::read_to_string(read.join("link")).is_ok());
        tell("passwords", File::open("/etc/passwd").is_ok());
        tell("made", std::fs::write(read.join("new"), "x").is_ok());
        tell("changed", OpenOptions::new().append(true).open(read.join("input")).is_ok());
        tell("taken", std::fs::rename(read.join("input"), own.join("input")).is_ok());
        tell("another", Command::new("/bin/cat").arg("/dev/null").status().is_ok());
    });
    tried.join().expect("a thread");
}

fn server() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    std::fs::create_dir(folder.path().join("in"))?;
    std::fs::create_dir(folder.path().join("own"))?;
    std::fs::write(folder.path().join("in/input"), "read me")?;
    std::fs::write(folder.path().join("secret"), "secret")?;
    symlink(folder.path().join("secret"), folder.path().join("in/link"))?;
    let output = Command::new(std::env::current_exe()?).env(SERVES, folder.path()).output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let told: BTreeMap<&str, &str> = text.lines().filter_map(|line| line.split_once(' ')).collect();
    for what in ["inside", "own", "named", "folders", "removed", "program", "listens"] {
        assert_eq!(told.get(what), Some(&"ok"), "{what}: {text}");
    }
    let Some(abi) = told.get("landlock").and_then(|abi| abi.parse::<i32>().ok()) else {
        println!("note: no landlock here: what it would refuse is not looked at");
        return Ok(());
    };
    for what in ["outside", "linked", "passwords", "made", "changed", "taken", "another"] {
        assert_eq!(told.get(what), Some(&"refused"), "{what}: {text}");
    }
    // Connections since Linux 6.7.
    assert_eq!(told.get("connects"), Some(if abi >= 4 { &"refused" } else { &"ok" }), "{text}");
    Ok(())
}
