//! What goes of command lines, and what stays.

use super::*;
use proptest::prelude::*;

fn joined(arguments: &[&str]) -> String {
    let raw: Vec<u8> = arguments.iter().flat_map(|argument| [argument.as_bytes(), b"\0"].concat()).collect();
    without_secrets(&raw).expect("a command line")
}

#[test]
fn secrets_go_and_the_rest_stays() {
    for (arguments, expected) in [
        (&["java", "-jar", "x.jar", "--password=a b"][..], "java -jar x.jar --password=[redacted]"),
        (&["mysql", "-uroot", "-phunter2", "db"], "mysql -uroot -p[redacted] db"),
        (&["mysql", "--port", "3306", "-port"], "mysql --port 3306 -port"),
        (&["x", "--token", "abc", "--verbose"], "x --token [redacted] --verbose"),
        (&["x", "--password", "--verbose"], "x --password --verbose"),
        (
            &["redis-server", "--requirepass", "foo bar", "--port", "1"],
            "redis-server --requirepass [redacted] --port 1",
        ),
        (
            &["java", "-Dspring.datasource.password=x", "-Dx=1"],
            "java -Dspring.datasource.password=[redacted] -Dx=1",
        ),
        (&["env", "DB_PASSWORD2=x", "PWD=/home"], "env DB_PASSWORD2=[redacted] PWD=/home"),
        (&["app", "postgres://u:p@ss@db:5432/x"], "app postgres://u:[redacted]@db:5432/x"),
        (&["app", "http://host:8080/path?mail=a@b"], "app http://host:8080/path?mail=a@b"),
        (&["app", "https://h/x?n=1&access_token=zz&m=2"], "app https://h/x?n=1&access_token=[redacted]&m=2"),
        (&["app", "root:geheim@tcp(db:3306)/x"], "app root:[redacted]@tcp(db:3306)/x"),
        (&["curl", "-H", "Authorization: Bearer abc"], "curl -H Authorization: [redacted]"),
        (&["curl", "-u", "bob:pw", "http://x/"], "curl -u [redacted] http://x/"),
        (
            &["sh", "-c", "mysqldump --password geheim -h db | gzip"],
            "sh -c mysqldump --password [redacted] -h db | gzip",
        ),
        (&["deploy", "ghp_0123456789abcdefABCD"], "deploy [redacted]"),
        (&["node", "--max-old-space-size=4096", "server.js"], "node --max-old-space-size=4096 server.js"),
        (&["x", "--max-tokens=512", "--password-file=/run/x"], "x --max-tokens=512 --password-file=/run/x"),
    ] {
        assert_eq!(joined(arguments), expected);
    }
    assert_eq!(without_secrets(b""), None);
    assert_eq!(without_secrets(&[b'x'; 9000]).map(|text| text.len()), Some(4096));
}

#[test]
fn options_that_are_passwords_of_some_programs_are_hidden_where_they_look_like_it() {
    for (arguments, expected) in [
        (&["./run.py", "-pGeheim17"][..], "./run.py -p[redacted]"),
        (&["./run.py", "-pSECRET17", "-a", "Geheim17"], "./run.py -p[redacted] -a [redacted]"),
        (&["./run.py", "-a", "Geheim17"], "./run.py -a [redacted]"),
        (&["./run.py", "-p", "Geheim17"], "./run.py -p [redacted]"),
        (&["./run.py", "-u", "bob:geheim"], "./run.py -u [redacted]"),
        (&["./run.py", "--user=bob:geheim"], "./run.py --user=[redacted]"),
        (&["curl", "-ubob:geheim", "x"], "curl -u[redacted] x"),
        (&["redis-cli", "-a", "geheim", "ping"], "redis-cli -a [redacted] ping"),
        (&["sudo", "-n", "/usr/bin/mysql", "-pgeheim"], "sudo -n /usr/bin/mysql -p[redacted]"),
        (&["sqlcmd", "-P", "geheim"], "sqlcmd -P [redacted]"),
        (&["ldapsearch", "-w", "geheim"], "ldapsearch -w [redacted]"),
        (&["openssl", "rsa", "-passin", "pass:geheim"], "openssl rsa -passin pass:[redacted]"),
        // These are none.
        (&["ssh", "-p", "2222", "-a", "host"], "ssh -p 2222 -a host"),
        (&["ssh", "-p2222", "host"], "ssh -p2222 host"),
        (&["gcc", "-pthread", "-pipe", "-O2"], "gcc -pthread -pipe -O2"),
        (&["docker", "run", "-u", "1000:1000", "-p", "80:8080"], "docker run -u 1000:1000 -p 80:8080"),
        (&["mkdir", "-p", "/srv/Data1"], "mkdir -p /srv/Data1"),
        (&["find", "-print0"], "find -print0"),
    ] {
        assert_eq!(joined(arguments), expected);
    }
}

#[test]
fn a_command_line_within_an_argument_is_one() {
    for (command, expected) in [
        (
            r#"exec true --password=S1 -H "Authorization: Bearer S2" -n 1"#,
            r#"exec true --password=[redacted] -H "Authorization: [redacted]" -n 1"#,
        ),
        ("mysql -pgeheim <x; redis-cli -a 'ge heim'", "mysql -p[redacted] <x; redis-cli -a '[redacted]'"),
        (r#"su app -c "curl -u 'bob:x' http://h""#, r#"su app -c "curl -u '[redacted]' http://h""#),
        ("x TOKEN='a b' y", "x TOKEN=[redacted] y"),
        ("it's  a  'title", "it's  a  'title"),
    ] {
        assert_eq!(arguments(&["sh", "-c", command])[2], expected);
    }
}

const PLACES: &[&str] = &[
    "--password={}",
    "--password\0{}",
    "API_KEY={}",
    "redis://u:{}@h/0",
    "a?token={}&b=2",
    "-u\0bob:{}",
    "--header\0Authorization: Bearer {}",
    "--header=Authorization: Bearer {}",
    "--header \"Authorization: Bearer {}\"",
    "-HX-Api-Key: {}",
    "sh\0-c\0true --password={} -n",
    "sh\0-c\0true -H \"Cookie: sid={}\" -n",
    "sh\0-c\0sh -c 'x -u bob:{}'",
];

proptest! {
    #[test]
    fn any_bytes_are_survived(raw in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = without_secrets(&raw);
    }

    #[test]
    fn any_command_is_survived(command in "[ -~]{0,80}") {
        let once = arguments(&["sh", "-c", &command]);
        prop_assert_eq!(once.len(), 3);
    }

    #[test]
    fn planted_secrets_never_survive(
        secret in "[A-Za-z][A-Za-z0-9._~+/=]{1,9}Zq9xW[A-Za-z0-9._~+=]{0,9}",
        place in prop::sample::select(PLACES),
    ) {
        let raw = format!("program\0{}\0tail\0", place.replace("{}", &secret));
        let text = without_secrets(raw.as_bytes()).expect("a command line");
        prop_assert!(!text.contains("Zq9xW"), "{text}");
    }
}
