//! What a program is called by those who started it: a symbolic link's name, a script's, a jar's, a class's.

use whyslow_model::text;

/// Names by which a program was started, as far as its arguments tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Started {
    /// The name it was started under, where the kernel's short name agrees: the file itself may have another one
    /// (redis-server is a link to redis-check-rdb).
    pub(crate) under: Option<Box<str>>,
    /// What an interpreter or a virtual machine was told to run: `app.py`, `shop.jar`, `Catalog`.
    pub(crate) script: Option<Box<str>>,
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

impl Started {
    /// From `cmdline`, the arguments joined by spaces, and the kernel's name of the process.
    pub(crate) fn of_cmdline(cmdline: &str, comm: Option<&str>) -> Started {
        let words = || cmdline.split(' ').filter(|word| !word.is_empty());
        let Some(first) = words().next() else { return Started::default() };
        // A login shell's name begins with a minus; a process that tells its work puts a colon behind its name.
        let name = base(first).trim_start_matches('-').trim_end_matches(':');
        // The kernel keeps 15 bytes of a name (TASK_COMM_LEN, proc(5)), other tools fewer.
        let agrees = |comm: &str| {
            let (shorter, longer) = if name.len() < comm.len() { (name, comm) } else { (comm, name) };
            !shorter.is_empty() && longer.starts_with(shorter)
        };
        Started { under: comm.filter(|comm| agrees(comm)).map(|_| cut(name)), script: script(words()) }
    }

    /// From the arguments of execve, as strace prints them: the file's name is what it is started under.
    pub(crate) fn of_execve(args: &[u8]) -> Started {
        let list = text::arguments(args).find_map(|argument| argument.strip_prefix(b"["));
        let words: Vec<String> = text::arguments(list.unwrap_or_default())
            .take(64)
            .map_while(|word| Some(text::lossy(&text::unescape(text::quoted(word)?.0))))
            .collect();
        Started { under: None, script: script(words.iter().map(String::as_str)) }
    }
}

/// What the interpreter of these arguments runs.
fn script<'a>(mut words: impl Iterator<Item = &'a str>) -> Option<Box<str>> {
    let interpreter = base(words.next()?);
    let is = |names: &[&str]| names.iter().any(|name| is_version_of(interpreter, name));
    if is(&["java"]) {
        return java(words);
    }
    if is(&["python", "pypy"]) {
        return first_operand(words, PYTHON_VALUES, &["-c", "-"], "-m");
    }
    if is(&["node", "nodejs", "ruby", "perl", "php"]) {
        return first_operand(words, SCRIPT_VALUES, TEXT_FOLLOWS, "");
    }
    if is(&["sh", "bash", "dash", "zsh", "ksh"]) {
        // -c may stand among others: `bash -ec`.
        return words.next().filter(|word| !word.starts_with(['-', '+'])).map(|word| cut(base(word)));
    }
    None
}

fn java<'a>(mut words: impl Iterator<Item = &'a str>) -> Option<Box<str>> {
    while let Some(word) = words.next() {
        if word == "-jar" {
            return words.next().map(|jar| cut(base(jar)));
        }
        if word == "-m" || word == "--module" {
            let module = words.next()?;
            return Some(cut(module.rsplit(['/', '.']).next().unwrap_or(module)));
        }
        if JAVA_VALUES.contains(&word) {
            words.next();
        } else if let Some(class) = Some(word).filter(|word| !word.starts_with(['-', '@'])) {
            // A source file, or a class with its package.
            let name = if class.ends_with(".java") { base(class) } else { class.rsplit('.').next()? };
            return Some(cut(name));
        }
    }
    None
}

/// The first word that is no option and no option's value; what stands behind `module` counts as it too.
fn first_operand<'a>(
    mut words: impl Iterator<Item = &'a str>,
    with_value: &[&str],
    no_script: &[&str],
    module: &str,
) -> Option<Box<str>> {
    while let Some(word) = words.next() {
        if no_script.contains(&word) {
            return None;
        }
        if word == module {
            return words.next().map(cut);
        }
        if with_value.contains(&word) {
            words.next();
        } else if !word.starts_with('-') {
            return Some(cut(base(word)));
        }
    }
    None
}

/// `python3.11` is a version of `python`.
fn is_version_of(name: &str, interpreter: &str) -> bool {
    let version = |rest: &str| rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    name.strip_prefix(interpreter).is_some_and(version)
}

fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn cut(name: &str) -> Box<str> {
    match name.char_indices().nth(LONGEST) {
        Some((end, _)) => name[..end].into(),
        None => name.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn told(cmdline: &str, comm: &str) -> (Option<String>, Option<String>) {
        let started = Started::of_cmdline(cmdline, Some(comm));
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
            ("redis-server 127.0.0.1:1", ""),
        ] {
            assert_eq!(script(cmdline), name, "{cmdline}");
        }
    }

    #[test]
    fn arguments_of_execve() {
        let script = |args: &str| Started::of_execve(args.as_bytes()).script.map(String::from);
        assert_eq!(script(r#""/usr/bin/python3", ["python3", "a \"b\".py"], 0x7ff"#).unwrap(), "a \"b\".py");
        assert_eq!(script(r#"AT_FDCWD, "/bin/sh", ["sh", "-c", "x"], 0x7ff, 0"#), None);
        assert_eq!(script(r#""/usr/bin/python3", ["python3"..., 0x7ff"#), None);
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in "\\PC{0,200}", comm in "\\PC{0,20}") {
            let started = Started::of_cmdline(&text, Some(&comm));
            prop_assert!(started.script.is_none_or(|name| name.chars().count() <= LONGEST));
            let _ = Started::of_execve(text.as_bytes());
        }
    }
}
