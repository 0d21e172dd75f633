//! Names whose values are secrets, and keys that are known by their own form.

/// Names of options, variables, fields and headers whose value is secret, in any text. A blank is `-`, `_`, `.` or nothing.
pub(crate) const NAMES: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "secret",
    "token",
    "credentials",
    "credential",
    "api key",
    "access key",
    "private key",
    "secret key",
    "auth key",
    "encryption key",
    "signing key",
    "account key",
    "shared key",
    "session id",
    "sess id",
];

/// Further names, of options and variables alone: in running text they are words like others.
const OF_OPTIONS: &[&str] = &["pass", "pwd", "auth"];

/// Keys that are known by their own form, as regular expressions: of AWS, GitHub, GitLab, Slack, Stripe, OpenAI and its like,
/// and JSON web tokens.
pub(crate) const FORMS: &[&str] = &[
    r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*)?",
    r"(?:AKIA|ASIA)[0-9A-Z]{8,}",
    r"(?:gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-|[rs]k_live_)[A-Za-z0-9_-]{6,}",
    // A word of letters may begin like that (`sk-learn`); a long one or one with digits is a key.
    r"\bsk-(?:[A-Za-z0-9_-]{20,}|[A-Za-z_-]{4,}[0-9][A-Za-z0-9_-]*|[A-Za-z0-9_-]*[0-9][A-Za-z0-9_-]{6,})",
];

/// True for the name of an option or variable whose value is secret, however it is spelled.
pub(crate) fn is_secret_name(name: &str) -> bool {
    // `BYPASS=1` hides more than need be; `--passfile` is no secret itself.
    let letters = name.chars().filter(char::is_ascii_alphanumeric);
    let plain: String = letters.map(|letter| letter.to_ascii_lowercase()).collect();
    let plain = plain.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let ends_with = |known: &&str| match known.split_once(' ') {
        None => plain.ends_with(known),
        Some((first, second)) => plain.strip_suffix(second).is_some_and(|rest| rest.ends_with(first)),
    };
    plain != "pwd" && plain != "oldpwd" && NAMES.iter().chain(OF_OPTIONS).any(ends_with)
}

/// What could be a password behind an option that is one for some programs only (`-p`, `-a`): letters with digits, signs or both
/// cases, and no path, number, option or assignment.
pub(crate) fn looks_like_password(word: &str) -> bool {
    let has = |what: fn(u8) -> bool| word.bytes().any(what);
    let mixed = has(|byte| byte.is_ascii_digit())
        || has(|byte| byte.is_ascii_uppercase()) && has(|byte| byte.is_ascii_lowercase())
        || has(|byte| b"!@#$%^&*+~?".contains(&byte));
    word.len() >= 6
        && has(|byte| byte.is_ascii_alphabetic())
        && mixed
        && !word.starts_with('-')
        && !word.contains(['/', '='])
}
