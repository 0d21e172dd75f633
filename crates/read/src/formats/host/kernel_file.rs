//! A file of the kernel as a dump has it: by which lines it is known, and what is read out of it.

use super::Step;
use super::line::Line;
use whyslow_counters::Figures;
use whyslow_model::{Entity, Trait};

/// A file of the kernel, or several of one form.
pub(super) struct File {
    pub(super) tool: &'static str,
    /// True for a line that it alone begins with.
    pub(super) begins: fn(&Line<'_>) -> bool,
    /// What a line of it is.
    pub(super) row: fn(&Line<'_>) -> Step,
    pub(super) read: fn(&Dumped<'_>, &mut Said),
}

/// The text of a dump, and the path of its file, as far as it is known.
pub(super) struct Dumped<'d> {
    pub(super) text: &'d [u8],
    pub(super) path: &'d str,
}

/// What a dump says.
#[derive(Default)]
pub(super) struct Said {
    pub(super) things: Vec<(Entity, Figures)>,
    pub(super) words: Vec<(Entity, Trait, Box<str>)>,
}

impl Said {
    pub(super) fn of(&mut self, of: Entity, tell: impl FnOnce(&mut Figures)) {
        let mut figures = Figures::default();
        tell(&mut figures);
        self.things.push((of, figures));
    }
}

/// Bytes of a page and clock ticks a second, which no dump tells: those of x86-64. Kernels for ARM may have larger pages.
pub(super) const PAGE: u64 = 4096;
pub(super) const TICKS: f64 = 100.0;

/// The name at the end of a path, without what packing adds.
pub(super) fn last(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(name)
}
