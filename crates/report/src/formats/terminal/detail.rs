//! How much of a report is shown. A plain case fits on a screen: what does not fit is left out step by step, the proof last, and
//! `--verbose` shows all.

/// Lines of a report, at most, where one or two causes are found: what is read without scrolling.
pub(super) const LINES: usize = 40;
/// Columns for which [`LINES`] holds; on a narrower terminal the same text takes more of them.
const COLUMNS: usize = 100;

/// What is shown of each part, at most.
#[derive(Clone, Copy, Debug)]
pub(super) struct Detail {
    /// Causes in full; the others in a line.
    pub(super) full: usize,
    /// Lines of a title.
    pub(super) title: usize,
    /// Lines of the title of a finding in short: its file or peer may stand late.
    pub(super) short_title: usize,
    /// Lines of the figures below a title.
    pub(super) figures: usize,
    /// Lines of a cause.
    pub(super) cause: usize,
    /// Links of a chain.
    pub(super) chain: usize,
    /// Pieces of evidence.
    pub(super) evidence: usize,
    /// Steps of a fix, and lines of each.
    pub(super) fix: (usize, usize),
    /// Commands that verify it.
    pub(super) verify: usize,
    /// Notices, and remarks about the capture.
    pub(super) notices: usize,
    /// Rows of the account, threads, and top consumers of the host.
    pub(super) rows: usize,
    /// True where resources of the host that nothing tells of have a line each.
    pub(super) unknown: bool,
}

/// All that there is.
pub(super) const ALL: Detail = Detail {
    full: usize::MAX,
    title: usize::MAX,
    short_title: usize::MAX,
    figures: usize::MAX,
    cause: usize::MAX,
    chain: usize::MAX,
    evidence: usize::MAX,
    fix: (usize::MAX, usize::MAX),
    verify: usize::MAX,
    notices: usize::MAX,
    rows: usize::MAX,
    unknown: true,
};

/// From much to little: the first that fits is taken, else the last.
pub(super) const LEVELS: [Detail; 5] = [
    Detail { full: 4, short_title: 3, evidence: 3, fix: (3, 3), verify: 3, notices: 3, rows: 8, ..ALL },
    Detail {
        full: 3,
        short_title: 3,
        cause: 4,
        chain: 6,
        evidence: 2,
        fix: (2, 3),
        verify: 2,
        notices: 3,
        rows: 5,
        ..ALL
    },
    Detail {
        full: 3,
        short_title: 3,
        cause: 3,
        chain: 3,
        evidence: 1,
        fix: (2, 2),
        verify: 1,
        notices: 2,
        rows: 4,
        unknown: false,
        ..ALL
    },
    Detail {
        full: 2,
        title: 2,
        short_title: 3,
        figures: 2,
        cause: 2,
        chain: 2,
        evidence: 1,
        fix: (1, 2),
        verify: 1,
        notices: 1,
        rows: 3,
        unknown: false,
    },
    Detail {
        full: 2,
        title: 2,
        short_title: 1,
        figures: 1,
        cause: 2,
        chain: 1,
        evidence: 1,
        fix: (1, 1),
        verify: 1,
        notices: 0,
        rows: 2,
        unknown: false,
    },
];

/// Lines that a page of so many columns may have.
pub(super) fn lines(width: usize) -> usize {
    (LINES * COLUMNS).div_ceil(width.clamp(1, COLUMNS))
}
