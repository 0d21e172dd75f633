//! A command line without its secrets: what an option's name, a URL or its own form tells to be one. Doubt is decided
//! for hiding. What looks like any other word (`mycli hunter2`) cannot be known.

use crate::text::bounded;

/// What stands for a secret.
const REDACTED: &str = "[redacted]";

/// The arguments joined by blanks, secrets replaced, cut at 4 KiB. `raw` is as `/proc/PID/cmdline` has it: a NUL behind
/// each argument. `None` where there are none (a kernel thread, a zombie).
pub fn without_secrets(raw: &[u8]) -> Option<String> {
    let raw = raw.strip_suffix(b"\0").unwrap_or(raw);
    if raw.is_empty() {
        return None;
    }
    let arguments: Vec<String> =
        raw.split(|byte| *byte == 0).map(|argument| String::from_utf8_lossy(argument).into_owned()).collect();
    let program = arguments.first().map_or("", |first| first.rsplit('/').next().unwrap_or(first));
    let mut out = Vec::with_capacity(arguments.len());
    let mut next_is_secret = false;
    for argument in &arguments {
        if next_is_secret && !argument.starts_with("--") {
            out.push(REDACTED.to_string());
            next_is_secret = false;
            continue;
        }
        out.push(redact_argument(program, argument));
        next_is_secret = announces_secret(program, argument);
    }
    Some(bounded(out.join(" ").as_bytes()))
}

/// True where the argument behind this one is a secret: `--password X`, `sshpass -p X`, `curl -u user:X`.
fn announces_secret(program: &str, argument: &str) -> bool {
    let option = argument.strip_prefix('-').is_some_and(|name| !name.contains('=') && is_secret_key(name));
    let short = match program {
        "sshpass" => argument == "-p",
        "curl" | "wget" => matches!(argument, "-u" | "--user" | "--proxy-user" | "-U"),
        "redis-cli" | "redis-benchmark" => argument == "-a",
        _ => false,
    };
    option || short
}

fn redact_argument(program: &str, argument: &str) -> String {
    // `--password=…`, `DB_PASSWORD=…`, `-Dtoken=…`: all of it, blanks and all.
    if let Some((key, _)) = argument.split_once('=')
        && !key.contains(char::is_whitespace)
        && !key.contains("://")
        && is_secret_key(key)
    {
        return format!("{key}={REDACTED}");
    }
    let lower = argument.to_ascii_lowercase();
    for header in ["authorization:", "cookie:", "api-key:", "auth-token:"] {
        if let Some(at) = lower.find(header) {
            return format!("{}{REDACTED}", &argument[..at + header.len()]);
        }
    }
    if program.starts_with("mysql") || program.starts_with("mariadb") {
        let glued =
            argument.strip_prefix("-p").filter(|rest| !rest.is_empty() && !argument.starts_with("-po"));
        if glued.is_some() {
            return format!("-p{REDACTED}");
        }
    }
    // A whole command line within an argument (`sh -c "…"`), or a title that the process set.
    let mut next_is_secret = false;
    let words = argument.split(' ').map(|word| {
        let bare = word.trim_start_matches(['"', '\'']);
        if std::mem::take(&mut next_is_secret) && !bare.starts_with("--") && !bare.is_empty() {
            return REDACTED.to_string();
        }
        next_is_secret = argument.contains(' ') && announces_secret("", bare);
        redact_word(word)
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Key-value pairs (`?token=x&n=1`), passwords in URLs, and keys known by their form.
fn redact_word(word: &str) -> String {
    let ends = |byte: char| matches!(byte, '&' | ';' | ',' | '?');
    let mut out = String::with_capacity(word.len());
    let mut rest = word;
    loop {
        let end = rest.find(ends).unwrap_or(rest.len());
        let (piece, behind) = rest.split_at(end);
        match piece.split_once(['=', ':']) {
            Some((key, value)) if is_secret_key(key) && !value.starts_with("//") && !value.is_empty() => {
                out.push_str(&piece[..key.len() + 1]);
                out.push_str(REDACTED);
            }
            _ => out.push_str(piece),
        }
        let Some(separator) = behind.chars().next() else { break };
        out.push(separator);
        rest = &behind[separator.len_utf8()..];
    }
    let out = redact_url(&out);
    if has_known_form(&out) { REDACTED.to_string() } else { out }
}

/// `scheme://user:password@host`.
fn redact_url(word: &str) -> String {
    let Some(at) = word.find("://").map(|at| at + 3) else { return word.to_string() };
    let (scheme, rest) = word.split_at(at);
    // A password may hold any sign, also slashes and further `@`: up to the last `@`. A port with a path is none.
    let (Some(colon), Some(end)) = (rest.find(':'), rest.rfind('@')) else { return word.to_string() };
    let port = rest.get(colon + 1..).unwrap_or("").split('/').next().unwrap_or("");
    let is_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) && rest.contains('/');
    if colon > end || is_port || rest[..colon].contains('/') {
        return word.to_string();
    }
    format!("{scheme}{}:{REDACTED}{}", &rest[..colon], &rest[end..])
}

/// Keys of AWS, GitHub, GitLab, Slack and Stripe, and JSON web tokens.
fn has_known_form(word: &str) -> bool {
    const STARTS: [&str; 14] = [
        "AKIA",
        "ASIA",
        "ghp_",
        "gho_",
        "ghu_",
        "ghs_",
        "ghr_",
        "github_pat_",
        "glpat-",
        "xoxb-",
        "xoxp-",
        "sk_live_",
        "rk_live_",
        "eyJ",
    ];
    let parts = word.split(['=', ':', '"', '\'', '/', '@']);
    parts.into_iter().any(|part| part.len() >= 16 && STARTS.iter().any(|start| part.starts_with(start)))
}

/// True for the name of an option or variable whose value is secret, however it is spelled.
fn is_secret_key(key: &str) -> bool {
    const ENDS: [&str; 18] = [
        "password",
        "passwd",
        "passphrase",
        "passcode",
        "pass",
        "pwd",
        "secret",
        "token",
        "apikey",
        "accesskey",
        "privatekey",
        "secretkey",
        "authkey",
        "signingkey",
        "encryptionkey",
        "credential",
        "credentials",
        "masterauth",
    ];
    // `BYPASS=1` hides more than need be; `--passfile` is no secret itself.
    let plain: String = key
        .chars()
        .filter(|letter| letter.is_ascii_alphanumeric())
        .map(|letter| letter.to_ascii_lowercase())
        .collect();
    let plain = plain.trim_end_matches(|letter: char| letter.is_ascii_digit());
    plain != "pwd" && plain != "oldpwd" && ENDS.iter().any(|end| plain.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
            (
                &["app", "https://h/x?n=1&access_token=zz&m=2"],
                "app https://h/x?n=1&access_token=[redacted]&m=2",
            ),
            (&["curl", "-H", "Authorization: Bearer abc"], "curl -H Authorization:[redacted]"),
            (&["curl", "-u", "bob:pw", "http://x/"], "curl -u [redacted] http://x/"),
            (
                &["sh", "-c", "mysqldump --password geheim -h db | gzip"],
                "sh -c mysqldump --password [redacted] -h db | gzip",
            ),
            (&["deploy", "ghp_0123456789abcdefABCD"], "deploy [redacted]"),
            (&["node", "--max-old-space-size=4096", "server.js"], "node --max-old-space-size=4096 server.js"),
            (
                &["x", "--max-tokens=512", "--password-file=/run/x"],
                "x --max-tokens=512 --password-file=/run/x",
            ),
        ] {
            let raw: Vec<u8> =
                arguments.iter().flat_map(|argument| [argument.as_bytes(), b"\0"].concat()).collect();
            assert_eq!(without_secrets(&raw).as_deref(), Some(expected));
        }
        assert_eq!(without_secrets(b""), None);
        assert_eq!(without_secrets(&[b'x'; 9000]).map(|text| text.len()), Some(4096));
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(raw in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = without_secrets(&raw);
        }

        #[test]
        fn planted_secrets_never_survive(
            secret in "[A-Za-z][A-Za-z0-9._~+/=]{1,9}Zq9xW[A-Za-z0-9._~+=]{0,9}",
            place in prop::sample::select(&["--password={}", "--password\0{}", "API_KEY={}", "redis://u:{}@h/0", "a?token={}&b=2"][..]),
        ) {
            let raw = format!("program\0{}\0tail\0", place.replace("{}", &secret));
            let text = without_secrets(raw.as_bytes()).expect("a command line");
            prop_assert!(!text.contains("Zq9xW"), "{text}");
        }
    }
}
