//! What becomes of lines of captures.

use super::*;

fn clean(kind: CaptureKind, lines: &[&str]) -> Vec<String> {
    let mut text = Text::of(Some(kind));
    lines.iter().map(|line| text.line(line).into_owned()).collect()
}

#[test]
fn lines_of_a_trace() {
    for (line, expected) in [
        (
            r#"7 10:00:00.1 write(1</dev/pts/0>, "body\r\n", 6) = 6 <0.000010>"#,
            r#"7 10:00:00.1 write(1</dev/pts/0>, ""..., 6) = 6 <0.000010>"#,
        ),
        (r#"7 <... read resumed>"body", 100) = 4 <0.1>"#, r#"7 <... read resumed>""..., 100) = 4 <0.1>"#),
        (
            r#"[pid 7] execve("/bin/x", ["x", "-pGeheim17"], 0x7ff /* 2 vars */) = 0"#,
            r#"[pid 7] execve("/bin/x", ["x", "-p[redacted]"], 0x7ff /* 2 vars */) = 0"#,
        ),
        (
            r#"7 openat(AT_FDCWD, "/etc/hosts", O_RDONLY) = 3"#,
            r#"7 openat(AT_FDCWD, "/etc/hosts", O_RDONLY) = 3"#,
        ),
        (" | 00000  50 4f 53 54 20 2f  POST /           |", " | [redacted]"),
        ("7 --- SIGUSR1 {si_signo=SIGUSR1} ---", "7 --- SIGUSR1 {si_signo=SIGUSR1} ---"),
        ("started with --token abc", "started with --token [redacted]"),
    ] {
        assert_eq!(clean(CaptureKind::Strace, &[line]), [expected]);
    }
}

#[test]
fn lines_of_other_texts() {
    for (line, expected) in [
        ("root 7 0.0 mysql -uroot -phunter2 db", "root 7 0.0 mysql -uroot -p[redacted] db"),
        ("mysql\0-phunter2\0db\0", "mysql\0-p[redacted]\0db\0"),
        ("DB_PASSWORD=x y\0HOME=/\0", "DB_PASSWORD=[redacted]\0HOME=/\0"),
        ("nginx 7 root 3r REG 8,1 /etc/nginx.conf", "nginx 7 root 3r REG 8,1 /etc/nginx.conf"),
        (r#"perf 7 write(fd: 1, buf: "body", count: 4)"#, r#"perf 7 write(fd: 1, buf: ""..., count: 4)"#),
    ] {
        assert_eq!(clean(CaptureKind::Lsof, &[line]), [expected]);
    }
    let sysdig = ["9 0.1 0 cat (7) < read res=4 data=body of it", r#"{"evt.info":"res=4 data=body","x":1}"#];
    let clean = clean(CaptureKind::Sysdig, &sysdig);
    assert_eq!(clean, ["9 0.1 0 cat (7) < read res=4 data=", r#"{"evt.info":"res=4 data=","x":1}"#]);
}

#[test]
fn functions_are_no_secrets() {
    let stacks = ["main;syn::token::parse;Token::new 42", "app --password=x;Cookie: a 1"];
    assert_eq!(
        clean(CaptureKind::Profile, &stacks),
        [stacks[0], "app --password=[redacted];Cookie: [redacted]"]
    );
}

#[test]
fn a_key_over_many_lines() {
    let key =
        ["x", "-----BEGIN RSA PRIVATE KEY-----", "MIIEow", "abc+/=", "-----END RSA PRIVATE KEY-----", "y"];
    assert_eq!(clean(CaptureKind::Lsof, &key), ["x", REDACTED, REDACTED, REDACTED, REDACTED, "y"]);
    // One that is cut takes no other lines with it.
    let cut = ["-----BEGIN PRIVATE KEY-----", "MIIEow", "nginx (7) \"x\"", "plain"];
    assert_eq!(clean(CaptureKind::Lsof, &cut), [REDACTED, REDACTED, "nginx (7) \"x\"", "plain"]);
}

#[test]
fn bytes_that_are_no_text_are_escaped() {
    assert_eq!(readable(b"a\xff\xfe\xc3\xa9"), "a\\377\\376\u{e9}");
}
