//! The JSON Schemas of all machine formats, as they stand in docs/schema, and which command writes what.

/// A machine format, with its schema.
#[derive(Clone, Copy, Debug)]
pub struct JsonFormat {
    /// Its name, and that of the schema: `diagnosis`.
    pub name: &'static str,
    /// What the field `schema` of a document says, where it has one.
    pub version: Option<&'static str>,
    /// What is in it, in a few words.
    pub title: &'static str,
    /// What writes it.
    pub commands: &'static [&'static str],
    /// The schema (JSON Schema, draft 2020-12).
    pub text: &'static str,
}

impl JsonFormat {
    /// The `$id` of its schema. The number is that of the format: it changes when a reader of the old one would misread.
    pub fn id(&self) -> String {
        format!("urn:whyslow:schema:{}:1", self.name)
    }
}

macro_rules! formats {
    ($($name:literal $version:expr, $title:literal, [$($command:literal),+];)+) => {
        /// All formats, in the order in which they are listed.
        pub static JSON_FORMATS: &[JsonFormat] = &[$(JsonFormat {
            name: $name,
            version: $version,
            title: $title,
            commands: &[$($command),+],
            text: include_str!(concat!("../../../docs/schema/", $name, ".json")),
        },)+];
    };
}

formats! {
    "diagnosis" Some("whyslow.diagnosis/1"), "The diagnosis: verdict, findings, account of time", ["whyslow diagnose --json", "whyslow report --json"];
    "account" None, "The account of time, in rows that add up", ["whyslow account --json"];
    "summary" None, "Calls, counted and timed", ["whyslow summary --json"];
    "requests" None, "Requests and their latency", ["whyslow requests --json"];
    "path" None, "Where time went, followed through those who held it up", ["whyslow path --json"];
    "threads" None, "What each thread does and waits for", ["whyslow threads --json"];
    "locks" None, "Locks, who waits for them and who holds them", ["whyslow locks --json"];
    "files" None, "Files, and what is done with them", ["whyslow files --json"];
    "fds" None, "Descriptors through time", ["whyslow fds --json"];
    "peers" None, "Who is talked to", ["whyslow peers --json"];
    "disks" None, "Requests to disks and their latency", ["whyslow disks --json"];
    "host" None, "The host's resources, who takes of them and who waits", ["whyslow host --json"];
    "diff" Some("whyslow.diff/1"), "Two runs side by side", ["whyslow diff --json"];
    "profile" Some("whyslow.profile/1"), "Functions and kinds of cost of a profile", ["whyslow profile --json"];
    "profile-diff" Some("whyslow.profile-diff/1"), "Profiles side by side", ["whyslow diff --json, of profiles"];
    "top" Some("whyslow.top/1"), "One look at the live host", ["whyslow top --once --json"];
    "rules" None, "All rules", ["whyslow rule --json"];
    "rule" None, "One rule, with its essay", ["whyslow rule ID --json"];
    "doctor" None, "What the machine allows", ["whyslow doctor --json"];
    "recover" None, "What killed recorders left", ["whyslow recover --json"];
    "formats" None, "The formats that can be written", ["whyslow export --list --json"];
    "recording" None, "The head of a recording", ["meta.json in a recording"];
}

/// The format of that name.
pub fn find(name: &str) -> Option<&'static JsonFormat> {
    JSON_FORMATS.iter().find(|format| format.name == name)
}
