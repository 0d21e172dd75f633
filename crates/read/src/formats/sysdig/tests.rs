use super::*;
use whyslow_model::{ClockKind, SourceId, SourceInfo};

/// A call as `tid name(args) = result <duration>`, or another event in words.
fn read_all(text: &str) -> (Vec<String>, SourceInfo) {
    let info = SourceInfo::new(SourceId(0), "capture", CaptureKind::Sysdig);
    let mut source = Source::new(info, text.as_bytes().to_vec(), Box::new(std::io::empty()));
    let mut got = Vec::new();
    let mut sink = |event: Event<'_>| match event {
        Event::Call(call) => {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let errno = if call.errno.is_error() { format!(" {}", call.errno.name()) } else { String::new() };
            let value = call.ret.value().map_or("?".to_string(), |value| value.to_string());
            let took = call.dur.get().map_or(String::new(), |ns| format!(" <{ns}>"));
            got.push(format!(
                "{} {}({}) = {value}{errno}{}{took}",
                call.tid,
                text(call.name),
                text(call.args),
                text(call.ret_note)
            ));
        }
        Event::Process(process) => {
            got.push(format!(
                "process {} {:?} {:?}",
                process.pid,
                process.tid,
                process.comm.unwrap_or_default()
            ));
        }
        Event::Exit(exit) => got.push(format!("exit {} {:?}", exit.tid, exit.status)),
        Event::Note(note) => got.push(note.text),
        _ => {}
    };
    read(&mut source, &mut sink).expect("reading from memory");
    (got, source.info)
}

#[track_caller]
fn calls(text: &str, expected: &[&str]) {
    assert_eq!(read_all(text).0, expected);
}

#[test]
fn lines_of_json_are_the_same_calls() {
    let json = |number: u32, at: u64, dir: &str, kind: &str, info: &str| {
        format!(
            "{{\"evt.cpu\":2,\"evt.dir\":\"{dir}\",\"evt.info\":\"{info}\",\"evt.num\":{number},\"evt.outputtime\":{at},\
             \"evt.type\":\"{kind}\",\"proc.name\":\"echo\",\"thread.tid\":7896}}\n"
        )
    };
    let at = 1_404_830_612_269_753_803;
    let text = json(1, at, ">", "read", "fd=3(<f>/etc/hosts) size=512")
        + &json(2, at + 400, "<", "read", "res=174 data=127.0.0.1");
    let (got, info) = read_all(&text);
    assert_eq!(
        got,
        ["process 7896 Some(7896) \"echo\"", "7896 read(3</etc/hosts>, \"\"..., 512) = 174 <400>"]
    );
    assert_eq!((info.clock, info.rejects, info.foreign), (ClockKind::Epoch, 0, 0));
    let sample = SniffInput { file_name: "x.json", path: "x.json", head: text.as_bytes() };
    assert!(sniff(&sample));
    // Chosen fields, damaged and other JSON are none.
    for other in ["{\"evt.type\":\"read\",\"evt.num\":1}\n", "{\"evt.type\":\n", "{\"level\":\"info\"}\n"] {
        assert_eq!(read_all(other).1.foreign, 1, "{other}");
    }
}

#[test]
fn the_default_line_becomes_a_call_with_its_time() {
    let text = "\
34378 12:02:36.269753803 2 echo (7896) > openat 
34379 12:02:36.269754164 2 echo (7896) < openat fd=3(<f>/etc/hosts) dirfd=-100(AT_FDCWD) name=/etc/hosts flags=4097(O_RDONLY|O_CLOEXEC) mode=0 dev=35 
34380 12:02:36.269781699 2 echo (7896) > read fd=3(<f>/etc/hosts) size=512 
34381 12:02:36.269991699 2 cat (7999) > read fd=5(<f>/x) size=1 
34382 12:02:37.269781699 2 echo (7896) < read res=174 data=127.0.0.1.localhost = 3 size=9
";
    let (got, info) = read_all(text);
    assert_eq!(
        got,
        [
            "process 7896 Some(7896) \"echo\"",
            "7896 openat(AT_FDCWD, \"/etc/hosts\", O_RDONLY|O_CLOEXEC, 0) = 3</etc/hosts> <361>",
            "process 7999 Some(7999) \"cat\"",
            "7896 read(3</etc/hosts>, \"\"..., 512) = 174 <1000000000>",
            "7999 read(5</x>, \"\", 1) = ?",
        ]
    );
    assert_eq!((info.events, info.rejects, info.ends_not_seen, info.clock), (5, 0, 1, ClockKind::TimeOfDay));
}

#[test]
fn other_forms_of_the_line() {
    calls(
        "1 1404830612.000000001 0 web (host) httpd worker (7513.7514) > close fd=4(<4t>10.0.0.1:4000->10.0.0.2:80) \n\
         2 1404830612.000000011 0 web (host) httpd worker (7513.7514) < close res=0 \n",
        &[
            "process 7513 Some(7514) \"httpd worker\"",
            "7514 close(4<TCP:[10.0.0.1:4000->10.0.0.2:80]>) = 0 <10>",
        ],
    );
    calls(
        "1 0.000000001 0 web (3ad7b26ded6d) nginx (12:7) > futex addr=7F00AB op=128(FUTEX_PRIVATE_FLAG) val=2\n\
         2 0.000000101 0 web (3ad7b26ded6d) nginx (12:7) < futex res=-110(ETIMEDOUT) \n",
        &["process 12 Some(12) \"nginx\"", "12 futex(0x7f00ab, FUTEX_WAIT_PRIVATE, 2) = -1 ETIMEDOUT <100>"],
    );
}

#[test]
fn without_threads_and_directions_two_of_a_name_are_one_call() {
    calls(
        "clone res=0 exe=apache2 args=-DFOREGROUND. tid=74(apache2) pid=70(apache2) ptid=60(x) comm=apache2 uid=33\n\
         set_robust_list \nset_robust_list \n\
         open \nopen fd=-2(ENOENT) name=locale.alias(/usr/share/locale.alias) flags=1(O_RDONLY) mode=0 dev=0\n\
         mmap addr=0 length=8192 prot=3(PROT_READ|PROT_WRITE) flags=10(MAP_PRIVATE|MAP_ANONYMOUS) fd=-1(EPERM) offset=0 \n\
         mmap res=7F0561BEC000 vm_size=383112 \n\
         nanosleep interval=1500000000(1.5s) \nnanosleep res=0 \n\
         procexit status=3 \n",
        &[
            "process 70 Some(74) \"apache2\"",
            "0 set_robust_list() = ?",
            "0 open(\"/usr/share/locale.alias\", O_RDONLY, 0) = -1 ENOENT",
            "0 mmap(NULL, 8192, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 139661091454976",
            "0 nanosleep({tv_sec=1, tv_nsec=500000000}) = 0",
            "exit 0 Some(3)",
        ],
    );
}

#[test]
fn both_ends_of_a_connection_stand_as_strace_writes_them() {
    calls(
        "1 0.000000001 0 s (9) > accept flags=0 \n\
         2 0.000000002 0 s (9) < accept fd=6(<4t>10.0.0.9:5000->10.0.0.2:80) tuple=10.0.0.9:5000->10.0.0.2:80 queuepct=0 \n\
         3 0.000000003 0 s (9) > read fd=6(<4t>10.0.0.9:5000->10.0.0.2:80) size=10 \n\
         4 0.000000004 0 s (9) < read res=-11(EAGAIN) data= \n\
         5 0.000000005 0 s (9) > connect fd=7(<4>) \n\
         6 0.000000006 0 s (9) < connect res=-115(EINPROGRESS) tuple=10.0.0.2:999->10.0.0.3:6379 \n",
        &[
            "process 9 Some(9) \"s\"",
            "9 accept(?, {sa_family=AF_INET, sin_port=htons(5000), sin_addr=inet_addr(\"10.0.0.9\")}) = 6<TCP:[10.0.0.2:80->10.0.0.9:5000]> <1>",
            "9 read(6<TCP:[10.0.0.2:80->10.0.0.9:5000]>, \"\", 10) = -1 EAGAIN <1>",
            "9 connect(7, {sa_family=AF_INET, sin_port=htons(6379), sin_addr=inet_addr(\"10.0.0.3\")}) = -1 EINPROGRESS <1>",
        ],
    );
}

#[test]
fn losses_and_damage_are_told() {
    let (got, info) = read_all(
        "1 00:00:00.000000001 0 x (9) > drop ratio=2 \n2 00:00:00.000000001 0 cut\nhello\nread res=1 data=a\n",
    );
    assert!(got.iter().any(|text| text.contains("dropped events")), "{got:?}");
    assert!(got.iter().any(|text| text.contains("capture:2: expected an event of sysdig")), "{got:?}");
    assert_eq!((info.rejects, info.foreign, info.starts_not_seen), (1, 1, 1));
}

#[test]
fn every_published_capture_of_sysdig_is_read_without_damage() {
    for (folder, path) in crate::formats::collect::published().unwrap_or_default() {
        if folder != "sysdig" {
            continue;
        }
        let data = std::fs::read(&path).expect("a capture");
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let format = crate::formats::FORMATS
            .iter()
            .find(|format| crate::formats::collect::sniffs(format, &name, &data));
        assert_eq!(format.map(|format| format.name), Some("sysdig"), "{name}");
        let (got, info) = read_all(&String::from_utf8_lossy(&data));
        assert_eq!((info.rejects, info.events + info.foreign), (0, info.lines), "{name}");
        // Data with line ends in it goes on below its event.
        assert!(info.foreign * 100 <= info.lines, "{name}: {} foreign of {}", info.foreign, info.lines);
        // Of many calls sysdig shows no result; but each has its entry and its exit, but where threads end.
        assert!(info.ends_not_seen * 50 <= info.lines, "{name}: {} of {}", info.ends_not_seen, info.lines);
        assert!(
            info.starts_not_seen * 50 <= info.lines,
            "{name}: {} of {}",
            info.starts_not_seen,
            info.lines
        );
        let reads = got.iter().filter(|call| call.contains(" read(")).count();
        let told = got.iter().filter(|call| call.contains(" read(") && !call.ends_with("= ?")).count();
        assert!(reads > 0 && told * 20 >= reads * 19, "{name}: {told} of {reads} reads with a result");
    }
}
