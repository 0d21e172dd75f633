//! Ways to look at a profile: one file a view, listed in [`PROFILE_VIEWS`].

mod calls;
mod firefox;
mod flame;
mod folded;
mod header;
mod json;
mod list;
mod otlp;
mod proto;
mod raw;
mod report;
mod sandwich;
mod speedscope;
mod tags;
mod top;
mod traces;
mod tree;

pub use flame::write_difference;
#[cfg(feature = "schema")]
pub use json::json_schema;
pub use json::{write_json, write_table_json};
pub use otlp::write_otlp;
pub use report::PreparedProfile;

use crate::select::SelectError;
use std::io::{self, Write};

/// A way to look at a profile.
pub struct ProfileView {
    /// As it is typed.
    pub name: &'static str,
    /// What it shows, in a line.
    pub about: &'static str,
    /// What suits it.
    pub needs: Needs,
    /// Writes it.
    pub write: fn(&PreparedProfile<'_>, &mut dyn Write) -> Result<(), ViewError>,
}

/// What of a profile a view is made from, where nothing else is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Needs {
    /// It is about functions that match a regular expression.
    pub pattern: bool,
    /// It shows at most so many nodes; 0: all.
    pub node_count: usize,
    /// It is about all nodes: nothing is trimmed.
    pub everything: bool,
    /// How finely it tells nodes apart.
    pub granularity: Option<crate::graph::Granularity>,
    /// It tells equal functions of different binaries apart.
    pub objects: bool,
    /// It writes bytes that are not for a terminal.
    pub binary: bool,
    /// Its format has a way of its own to write any name. In the others, `folded` among them, what a terminal acts upon
    /// is made visible: a line end in a name would end a line.
    pub escapes: bool,
}

impl Needs {
    /// Nothing special: all nodes that are not too small, by function.
    const NOTHING: Needs = Needs {
        pattern: false,
        node_count: 0,
        everything: false,
        granularity: None,
        objects: false,
        binary: false,
        escapes: false,
    };
}

/// Why a view could not be written.
#[derive(thiserror::Error, Debug)]
pub enum ViewError {
    /// What was asked for cannot be shown.
    #[error(transparent)]
    Select(#[from] SelectError),
    /// The format has no room for such values.
    #[error("the values are too large for {0}")]
    TooLarge(&'static str),
    /// It could not be written.
    #[error("{0}")]
    Write(#[from] io::Error),
}

/// All views, in the order of the help.
pub static PROFILE_VIEWS: &[&ProfileView] = &[
    &top::VIEW,
    &tree::TREE,
    &tree::PEEK,
    &list::VIEW,
    &sandwich::VIEW,
    &flame::VIEW,
    &flame::SVG,
    &traces::VIEW,
    &tags::VIEW,
    &raw::VIEW,
    &folded::VIEW,
    &proto::VIEW,
    &otlp::VIEW,
    &speedscope::VIEW,
    &firefox::VIEW,
];

/// A view by its name.
pub fn find(name: &str) -> Option<&'static ProfileView> {
    PROFILE_VIEWS.iter().copied().find(|view| view.name == name)
}
