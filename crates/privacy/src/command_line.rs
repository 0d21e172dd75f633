//! The arguments of a program without their secrets: what an option's name, a URL or its own form tells to be one, also in a
//! command line within an argument (`sh -c "…"`). Doubt is decided for hiding. What looks like any other word
//! (`mycli hunter2`) cannot be known.

use crate::keys::{is_secret_name, looks_like_password};
use crate::{REDACTED, redact};
use std::borrow::Cow;
use whyslow_model::text::bounded;

/// Command lines within arguments of command lines that are taken apart.
const DEEPEST: usize = 4;

/// The arguments joined by blanks, secrets replaced, cut at 4 KiB. `raw` is as `/proc/PID/cmdline` has it: a NUL behind
/// each argument. `None` where there are none (a kernel thread, a zombie).
pub fn without_secrets(raw: &[u8]) -> Option<String> {
    let raw = raw.strip_suffix(b"\0").unwrap_or(raw);
    if raw.is_empty() {
        return None;
    }
    let words: Vec<Cow<'_, str>> = raw.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
    Some(bounded(arguments(&words).join(" ").as_bytes()))
}

/// Each argument, the program's name first, with its secrets replaced.
///
/// ```
/// let hidden = whyslow_privacy::command_line::arguments(&["mysql", "-uroot", "-phunter2"]);
/// assert_eq!(hidden, ["mysql", "-uroot", "-p[redacted]"]);
/// ```
pub fn arguments(given: &[impl AsRef<str>]) -> Vec<String> {
    let given: Vec<&str> = given.iter().map(AsRef::as_ref).collect();
    let hidden = hide(&given, Programs::default(), 0);
    hidden.into_iter().map(|argument| redact(&argument).into_owned()).collect()
}

/// What programs are named among the words, whose options are known.
#[derive(Clone, Copy, Default)]
struct Programs {
    /// `-pX` is a password.
    p_glued: bool,
    /// `-p X` is.
    p: bool,
    /// `-P X` and `-PX` are.
    upper_p: bool,
    /// `-a X` is.
    a: bool,
    /// `-w X` is.
    w: bool,
    /// `-u X` is a name with or without a password.
    u: bool,
}

impl Programs {
    fn and(mut self, words: &[&str]) -> Programs {
        for word in words {
            let name = word.rsplit('/').next().unwrap_or(word).trim_matches(['"', '\'']);
            let begins = |with: &[&str]| with.iter().any(|with| name.starts_with(with));
            self.p_glued |= begins(&[
                "mysql",
                "mariadb",
                "mariabackup",
                "mycli",
                "xtrabackup",
                "innobackupex",
                "sshpass",
                "7z",
                "mongo",
            ]);
            self.p |= begins(&["sshpass", "mongo", "cqlsh"]);
            self.upper_p |= matches!(name, "sqlcmd" | "bcp" | "zip" | "unzip");
            self.a |= begins(&["redis-", "valkey-", "keydb-"]);
            self.w |= name.starts_with("ldap");
            self.u |= matches!(name, "curl" | "wget");
        }
        self
    }
}

/// What is known of an argument by the one before it.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Told {
    #[default]
    Nothing,
    /// It is a secret.
    Secret,
    /// It is one if it looks like one.
    Perhaps,
    /// It is a name with a password if it looks like that.
    Login,
}

impl Told {
    fn by(programs: Programs, argument: &str) -> Told {
        let named =
            argument.strip_prefix('-').is_some_and(|name| !name.contains('=') && is_secret_name(name));
        match argument {
            _ if named => Told::Secret,
            "-p" if programs.p => Told::Secret,
            "-P" if programs.upper_p => Told::Secret,
            "-a" if programs.a => Told::Secret,
            "-w" if programs.w => Told::Secret,
            "-u" | "--user" | "--proxy-user" | "-U" if programs.u => Told::Secret,
            "-p" | "-a" | "-w" | "-P" => Told::Perhaps,
            "-u" | "--user" | "--proxy-user" | "-U" => Told::Login,
            _ => Told::Nothing,
        }
    }

    fn hides(self, argument: &str) -> bool {
        match self {
            Told::Nothing => false,
            Told::Secret => !argument.is_empty() && !argument.starts_with("--"),
            Told::Perhaps => looks_like_password(argument),
            Told::Login => is_login(argument),
        }
    }
}

/// `bob:hunter2`, but no numbers of a user and a group, and no URL.
fn is_login(text: &str) -> bool {
    let Some((name, password)) = text.split_once(':') else { return false };
    let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let is_ids = is_number(name) && is_number(password);
    !password.is_empty() && !password.starts_with("//") && !is_ids
}

fn hide(given: &[&str], above: Programs, depth: usize) -> Vec<String> {
    let programs = above.and(given);
    let mut told = Told::Nothing;
    let hidden = given.iter().map(|argument| {
        let before = std::mem::replace(&mut told, Told::by(programs, argument));
        if before.hides(argument) {
            // The secret itself announces nothing.
            told = Told::Nothing;
            return REDACTED.to_string();
        }
        let hidden = hide_in(argument, programs, depth);
        if hidden != *argument {
            // It held its secret itself.
            told = Told::Nothing;
        }
        hidden
    });
    hidden.collect()
}

fn hide_in(argument: &str, programs: Programs, depth: usize) -> String {
    // `--password=…`, `DB_PASSWORD=…`, `-Dtoken=…`: all of it, blanks and all.
    if let Some((name, value)) = argument.split_once('=')
        && !name.contains(char::is_whitespace)
        && !name.contains("://")
        && (is_secret_name(name) || matches!(name, "--user" | "--proxy-user") && is_login(value))
    {
        return format!("{name}={REDACTED}");
    }
    if let Some(rest) = argument.strip_prefix("-p").filter(|rest| !rest.is_empty() && *rest != "ort")
        && !rest.contains(char::is_whitespace)
        && (programs.p_glued || looks_like_password(rest))
    {
        return format!("-p{REDACTED}");
    }
    if argument.strip_prefix("-P").is_some_and(|rest| programs.upper_p && !rest.is_empty()) {
        return format!("-P{REDACTED}");
    }
    if argument.strip_prefix("-u").is_some_and(|rest| is_login(rest) && !rest.contains(char::is_whitespace)) {
        return format!("-u{REDACTED}");
    }
    // A whole command line within an argument (`sh -c "…"`), or a title that the process set.
    if argument.contains(char::is_whitespace) && depth < DEEPEST {
        return hide_in_command(argument, programs, depth + 1);
    }
    hide_pairs(argument)
}

/// A command line as a shell reads it; what stands between the words stays.
fn hide_in_command(command: &str, programs: Programs, depth: usize) -> String {
    let words = shell_words(command);
    let bare: Vec<&str> = words.iter().map(|word| unquoted(&command[word.clone()])).collect();
    let mut out = String::with_capacity(command.len());
    let mut done = 0;
    for ((word, bare), hidden) in words.iter().zip(&bare).zip(hide(&bare, programs, depth)) {
        let whole = &command[word.clone()];
        out.push_str(&command[done..word.start]);
        // Quotes around it stay.
        let (before, behind) = whole.split_once(*bare).unwrap_or_default();
        out.push_str(before);
        out.push_str(&hidden);
        out.push_str(behind);
        done = word.end;
    }
    out.push_str(&command[done..]);
    out
}

/// Where the words of a shell's command line stand: quotes hold blanks together.
fn shell_words(command: &str) -> Vec<std::ops::Range<usize>> {
    let mut words = Vec::new();
    let (mut start, mut quote, mut escaped) = (None, None, false);
    for (at, letter) in command.char_indices() {
        if quote.is_none() && !escaped && letter.is_whitespace() {
            words.extend(start.take().map(|start| start..at));
            continue;
        }
        start.get_or_insert(at);
        match quote {
            _ if std::mem::take(&mut escaped) => {}
            None | Some('"') if letter == '\\' => escaped = true,
            Some(open) if open == letter => quote = None,
            None if matches!(letter, '"' | '\'') => quote = Some(letter),
            _ => {}
        }
    }
    words.extend(start.map(|start| start..command.len()));
    words
}

/// What stands within the quotes around a whole word; one that is not closed goes to the end.
fn unquoted(word: &str) -> &str {
    let Some(open) = word.chars().next().filter(|first| matches!(first, '"' | '\'')) else { return word };
    let inner = &word[1..];
    inner.strip_suffix(open).unwrap_or(inner)
}

/// Pairs of names and values within a word: `?token=x&n=1`, `Server=db;Pwd=x`, `pass:x`.
fn hide_pairs(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    for piece in word.split_inclusive(['&', ';', ',', '?']) {
        let bare = piece.trim_end_matches(['&', ';', ',', '?']);
        match bare.split_once(['=', ':']) {
            Some((name, value)) if is_secret_name(name) && !value.starts_with("//") && !value.is_empty() => {
                out.push_str(&bare[..name.len() + 1]);
                out.push_str(REDACTED);
                out.push_str(&piece[bare.len()..]);
            }
            _ => out.push_str(piece),
        }
    }
    out
}

#[cfg(test)]
mod tests;
