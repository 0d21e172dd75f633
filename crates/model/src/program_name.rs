//! What a program is called by those who started it: a symbolic link's name, a script's, a jar's, a class's, a server's
//! with its application.

use crate::text;

/// Names by which a program was started, as far as its arguments tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramName {
    /// The name it was started under, where the kernel's short name agrees: the file itself may have another one
    /// (redis-server is a link to redis-check-rdb).
    pub under: Option<Box<str>>,
    /// What an interpreter, a virtual machine or an application server was told to run: `app.py`, `shop.jar`, `Catalog`,
    /// `gunicorn shop:app`.
    pub script: Option<Box<str>>,
    /// What else a person may call that: the script's whole path, the class with its package, the application's name.
    pub also: Vec<Box<str>>,
}

/// A longer name than this is cut: it stands in a column.
const LONGEST: usize = 40;

/// Options of Python that have a value behind them (python(1)); `-m` names what is run.
const PYTHON_VALUES: &[&str] = &["-W", "-X", "--check-hash-based-pycs"];
/// Options of `java` that have one (java(1)).
const JAVA_VALUES: &[&str] = &[
    "-cp",
    "-classpath",
    "--class-path",
    "-p",
    "--module-path",
    "--upgrade-module-path",
    "--add-modules",
    "--add-opens",
    "--add-exports",
    "--add-reads",
    "--limit-modules",
    "--enable-native-access",
];
/// Options of node, Ruby, Perl and PHP that have one.
const SCRIPT_VALUES: &[&str] = &["-r", "--require", "--import", "--loader", "-I", "-C", "-d", "-c"];
/// Options of these and of shells behind which stands a program's text and no name.
const TEXT_FOLLOWS: &[&str] = &["-e", "-E", "-p", "--eval", "--print"];
/// Application servers, and their options behind which stands the application; of those without, and where there is none,
/// it is a word `module:object`.
const SERVERS: &[(&str, &[&str])] = &[
    ("gunicorn", &[]),
    ("uvicorn", &[]),
    ("hypercorn", &[]),
    ("daphne", &[]),
    ("granian", &[]),
    ("celery", &["-A", "--app"]),
    ("flask", &["-A", "--app"]),
    ("uwsgi", &["-w", "--wsgi", "--module", "--wsgi-file", "--file", "--ini"]),
];

impl ProgramName {
    /// From `cmdline`, the arguments joined by spaces, and the kernel's name of the process.
    pub fn of_cmdline(cmdline: &str, comm: Option<&str>) -> ProgramName {
        let words: Vec<&str> = cmdline.split(' ').filter(|word| !word.is_empty()).collect();
        ProgramName::of_arguments(&words, comm)
    }

    /// From the arguments, the program's own name first, and the kernel's name of the process.
    pub fn of_arguments(words: &[&str], comm: Option<&str>) -> ProgramName {
        let Some(first) = words.first() else { return ProgramName::default() };
        let name = title(first);
        // The kernel keeps 15 bytes of a name (TASK_COMM_LEN, proc(5)), other tools fewer.
        let agrees = |comm: &str| {
            let (shorter, longer) = if name.len() < comm.len() { (name, comm) } else { (comm, name) };
            !shorter.is_empty() && longer.starts_with(shorter)
        };
        let under = comm.filter(|comm| agrees(comm)).map(|_| cut(name));
        ProgramName { under, ..ProgramName::of_script(words) }
    }

    /// From the arguments of execve, as strace prints them: the file's name is what it is started under.
    pub fn of_execve(args: &[u8]) -> ProgramName {
        let list = text::arguments(args).find_map(|argument| argument.strip_prefix(b"["));
        let words: Vec<String> = text::arguments(list.unwrap_or_default())
            .take(64)
            .map_while(|word| Some(text::lossy(&text::unescape(text::quoted(word)?.0))))
            .collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        ProgramName::of_script(&words)
    }

    /// All names, the best first.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.script.iter().chain(&self.under).chain(&self.also).map(|name| &**name)
    }

    /// What the interpreter or server of these arguments runs.
    fn of_script(words: &[&str]) -> ProgramName {
        let Some((first, words)) = words.split_first() else { return ProgramName::default() };
        let program = title(first);
        let found = match operand(program, words) {
            Some(found) => found,
            // A server that is a program of its own, or that wrote its work over its arguments.
            None if server(program).is_some() => (program, words),
            None => return ProgramName::default(),
        };
        let (what, rest) = found;
        // `bash /dev/fd/3`: the number of a descriptor names nothing.
        if ["/dev/fd/", "/dev/stdin", "/proc/"].iter().any(|unnamed| what.starts_with(unnamed)) {
            return ProgramName::default();
        }
        let name = last(program, what);
        let mut also: Vec<Box<str>> = Vec::new();
        if name != what {
            also.push(cut_at(what, LONGEST_PATH));
        }
        let script = match server(name).and_then(|options| application(options, rest)) {
            Some(application) => {
                also.push(cut(name));
                also.push(cut(application));
                cut(&format!("{name} {application}"))
            }
            // That a server runs under its own name is no news.
            None if name == program => return ProgramName::default(),
            None => cut(name),
        };
        ProgramName { under: None, script: Some(script), also }
    }
}

/// A path that a person types is compared whole.
const LONGEST_PATH: usize = 256;

/// What the interpreter `program` runs, and what stands behind it.
fn operand<'a, 'w>(program: &str, words: &'a [&'w str]) -> Option<(&'w str, &'a [&'w str])> {
    let is = |names: &[&str]| names.iter().any(|name| is_version_of(program, name));
    let at = if is(&["java"]) {
        java(words)
    } else if is(&["python", "pypy"]) {
        let text = |word: &str| word == "-" || is_short(word) && word.ends_with('c');
        first_operand(words, PYTHON_VALUES, text, |word| is_short(word) && word.ends_with('m'))
    } else if is(&["perl", "ruby"]) {
        // -e may stand behind others: `perl -lane`.
        let text = |word: &str| TEXT_FOLLOWS.contains(&word) || is_short(word) && word.ends_with(['e', 'E']);
        first_operand(words, SCRIPT_VALUES, text, |_| false)
    } else if is(&["node", "nodejs", "php"]) {
        first_operand(words, SCRIPT_VALUES, |word| TEXT_FOLLOWS.contains(&word), |_| false)
    } else if is(&["sh", "bash", "dash", "zsh", "ksh"]) {
        // -c and -s may stand among others: `bash -ec`.
        let text = |word: &str| is_short(word) && word.contains(['c', 's']);
        first_operand(words, &["-o", "+o", "-O", "+O", "--rcfile", "--init-file"], text, |_| false)
    } else {
        None
    }?;
    Some((words.get(at)?, words.get(at + 1..).unwrap_or_default()))
}

/// Options of one letter each.
fn is_short(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|rest| {
        (1..=6).contains(&rest.len()) && rest.bytes().all(|byte| byte.is_ascii_alphabetic())
    })
}

/// Where the jar, the class or the module stands.
fn java(words: &[&str]) -> Option<usize> {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if matches!(*word, "-jar" | "-m" | "--module") {
            return Some(at + 1);
        }
        if !word.starts_with(['-', '@']) {
            return Some(at);
        }
        at += if JAVA_VALUES.contains(word) { 2 } else { 1 };
    }
    None
}

/// Where the first word stands that is no option and no option's value; what is behind an option that names a module counts
/// as it too. None where the program is given as text.
fn first_operand(
    words: &[&str],
    with_value: &[&str],
    is_text: impl Fn(&str) -> bool,
    is_module: impl Fn(&str) -> bool,
) -> Option<usize> {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if is_text(word) {
            return None;
        }
        if is_module(word) {
            return Some(at + 1);
        }
        if with_value.contains(word) {
            at += 1;
        } else if !word.starts_with(['-', '+']) {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// The options of the application server of that name.
fn server(name: &str) -> Option<&'static [&'static str]> {
    SERVERS.iter().find(|(server, _)| *server == name).map(|(_, options)| *options)
}

/// What a server was told to serve.
fn application<'w>(options: &[&str], words: &[&'w str]) -> Option<&'w str> {
    let given = words.iter().enumerate().find_map(|(at, word)| match word.split_once('=') {
        Some((option, value)) if options.contains(&option) => Some(value),
        _ if options.contains(word) => words.get(at + 1).copied(),
        _ => None,
    });
    // Workers of gunicorn write it in brackets over their arguments: `gunicorn: worker [shop:app]`.
    let bare = |word: &&'w str| word.trim_start_matches('[').trim_end_matches(']');
    given.map(base).or_else(|| words.iter().map(bare).find(|word| is_application(word)))
}

/// `shop.wsgi:app`: a module and an object in it; no address, no URL.
fn is_application(word: &str) -> bool {
    let is_name = |text: &str| {
        text.starts_with(|first: char| first.is_alphabetic() || first == '_')
            && text.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '.' | '(' | ')'))
    };
    word.split_once(':').is_some_and(|(module, object)| is_name(module) && is_name(object))
}

/// `python3.11` is a version of `python`.
fn is_version_of(name: &str, interpreter: &str) -> bool {
    let version = |rest: &str| rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    name.strip_prefix(interpreter).is_some_and(version)
}

/// The program of a first argument: a login shell's name begins with a minus, and a process that tells its work puts a
/// colon behind its name.
fn title(first: &str) -> &str {
    base(first).trim_start_matches('-').trim_end_matches(':')
}

/// The name of a script, a jar, a module; of a Java class without its package.
fn last<'w>(program: &str, what: &'w str) -> &'w str {
    let name = base(what);
    let is_class = is_version_of(program, "java") && !name.ends_with(".jar") && !name.ends_with(".java");
    if is_class { name.rsplit('.').next().unwrap_or(name) } else { name }
}

fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn cut(name: &str) -> Box<str> {
    cut_at(name, LONGEST)
}

fn cut_at(name: &str, most: usize) -> Box<str> {
    match name.char_indices().nth(most) {
        Some((end, _)) => name[..end].into(),
        None => name.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn told(cmdline: &str, comm: &str) -> (Option<String>, Option<String>) {
        let started = ProgramName::of_cmdline(cmdline, Some(comm));
        (started.under.map(String::from), started.script.map(String::from))
    }

    #[test]
    fn a_link_has_the_name_it_was_started_under() {
        let under = |cmdline: &str, comm: &str| told(cmdline, comm).0.unwrap_or_default();
        assert_eq!(under("redis-server 127.0.0.1:6379", "redis-server"), "redis-server");
        assert_eq!(under("/usr/sbin/a-name-of-twenty-bytes -d", "a-name-of-twent"), "a-name-of-twenty-bytes");
        assert_eq!(under("postgres: walwriter", "postgres"), "postgres");
        assert_eq!(under("-bash", "bash"), "bash");
        // A thread's own name says nothing of the program's.
        assert_eq!(under("/usr/bin/node app.js", "MainThread"), "");
        assert_eq!(told("", "x"), (None, None));
    }

    #[test]
    fn scripts_jars_and_classes() {
        let script = |cmdline: &str| told(cmdline, "x").1.unwrap_or_default();
        for (cmdline, name) in [
            ("python3 /srv/app.py 8080", "app.py"),
            ("/usr/bin/python3.11 -u -W error -X dev app.py", "app.py"),
            ("python3 -m http.server 80", "http.server"),
            ("python3 -c import_this app.py", ""),
            ("python3", ""),
            ("python3-config app.py", ""),
            ("java -Xmx1g -jar /opt/shop.jar --port 80", "shop.jar"),
            ("java -XX:+UseSerialGC -cp /a:/b com.acme.Catalog 8080", "Catalog"),
            ("java -p mods -m com.acme/com.acme.Main", "Main"),
            ("node --require ./x server.js", "server.js"),
            ("node -e 1 server.js", ""),
            ("bash /opt/run.sh now", "run.sh"),
            ("sh -c true", ""),
            ("bash -eu -o pipefail /opt/run.sh", "run.sh"),
            ("bash -ec run.sh", ""),
            ("bash /dev/fd/3", ""),
            ("sh /proc/self/fd/63", ""),
            ("perl -lane print x.pl", ""),
            ("perl -w /opt/x.pl", "x.pl"),
            ("ruby3.1 bin/rails server", "rails"),
            ("python3 -um pkg.mod", "pkg.mod"),
            (
                "/usr/bin/python3 /usr/local/bin/gunicorn -b 0.0.0.0:80 shop.wsgi:app -w 4",
                "gunicorn shop.wsgi:app",
            ),
            ("gunicorn: worker [shop:app]", "gunicorn shop:app"),
            ("gunicorn: master", ""),
            ("python3 -m uvicorn shop:create() --port 80", "uvicorn shop:create()"),
            ("uwsgi --http :80 --wsgi-file /srv/app.py", "uwsgi app.py"),
            ("uwsgi --http :80 --module=shop:app", "uwsgi shop:app"),
            ("/venv/bin/python /venv/bin/celery -A shop worker", "celery shop"),
            ("python3 /opt/gunicorn", "gunicorn"),
            ("redis-server 127.0.0.1:1", ""),
        ] {
            assert_eq!(script(cmdline), name, "{cmdline}");
        }
    }

    #[test]
    fn arguments_of_execve() {
        let script = |args: &str| ProgramName::of_execve(args.as_bytes()).script.map(String::from);
        assert_eq!(script(r#""/usr/bin/python3", ["python3", "a \"b\".py"], 0x7ff"#).unwrap(), "a \"b\".py");
        assert_eq!(script(r#"AT_FDCWD, "/bin/sh", ["sh", "-c", "x"], 0x7ff, 0"#), None);
        assert_eq!(script(r#""/usr/bin/python3", ["python3"..., 0x7ff"#), None);
    }

    #[test]
    fn a_thing_has_many_names() {
        let names = |cmdline: &str, comm: &str| -> Vec<String> {
            ProgramName::of_cmdline(cmdline, Some(comm)).names().map(str::to_string).collect()
        };
        assert_eq!(names("python3 /srv/app.py", "python3"), ["app.py", "python3", "/srv/app.py"]);
        assert_eq!(names("java com.acme.Catalog", "java"), ["Catalog", "java", "com.acme.Catalog"]);
        assert_eq!(
            names("python3 /usr/bin/gunicorn shop:app", "gunicorn"),
            ["gunicorn shop:app", "/usr/bin/gunicorn", "gunicorn", "shop:app"]
        );
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in "\\PC{0,200}", comm in "\\PC{0,20}") {
            let started = ProgramName::of_cmdline(&text, Some(&comm));
            prop_assert!(started.script.iter().all(|name| name.chars().count() <= LONGEST));
            prop_assert!(started.names().all(|name| name.chars().count() <= LONGEST_PATH));
            let _ = ProgramName::of_execve(text.as_bytes());
        }
    }
}
