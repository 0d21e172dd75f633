//! What a format is, and the one door through which it gets its input: redacted, and with control characters
//! made visible.

use crate::redact;
use crate::style::Style;
use crate::walk::{self, Text};
use std::io::{self, Write};
use whyslow_model::{Diagnosis, Diff, Table, visible};

/// Writes one kind of input.
pub(crate) type Render<T> = fn(&T, &Style, &mut dyn Write) -> io::Result<()>;

/// An output format.
#[derive(Debug)]
pub struct Exporter {
    /// Its name, as an option names it: `markdown`.
    pub name: &'static str,
    /// What it is for: one line, lower case.
    pub summary: &'static str,
    /// Of files in it, without the dot.
    pub extension: &'static str,
    /// True where the format escapes control characters by itself, without a loss.
    pub(crate) escapes_controls: bool,
    pub(crate) diagnosis: Render<Diagnosis>,
    pub(crate) table: Render<Table>,
    pub(crate) diff: Render<Diff>,
}

impl Exporter {
    /// Writes a diagnosis.
    ///
    /// # Errors
    /// Only those of `out`.
    pub fn diagnosis(&self, diagnosis: &Diagnosis, style: &Style, out: &mut dyn Write) -> io::Result<()> {
        let mut diagnosis = diagnosis.clone();
        walk::diagnosis(&mut diagnosis, &mut |text, kind| self.clean(text, kind, style));
        (self.diagnosis)(&diagnosis, style, out)
    }

    /// Writes a table.
    ///
    /// # Errors
    /// Only those of `out`.
    pub fn table(&self, table: &Table, style: &Style, out: &mut dyn Write) -> io::Result<()> {
        let mut table = table.clone();
        walk::table(&mut table, &mut |text, kind| self.clean(text, kind, style));
        (self.table)(&table, style, out)
    }

    /// Writes a comparison.
    ///
    /// # Errors
    /// Only those of `out`.
    pub fn diff(&self, diff: &Diff, style: &Style, out: &mut dyn Write) -> io::Result<()> {
        let mut diff = diff.clone();
        walk::diff(&mut diff, &mut |text, kind| self.clean(text, kind, style));
        (self.diff)(&diff, style, out)
    }

    /// A text as this format shows it.
    pub(crate) fn clean(&self, text: &mut String, kind: Text, style: &Style) {
        if !style.show_secrets {
            redact::redact_in_place(text);
        }
        if self.escapes_controls {
            return;
        }
        let shown = match kind {
            Text::Line => visible::line(text),
            Text::Block => visible::block(text),
        };
        if let std::borrow::Cow::Owned(shown) = shown {
            *text = shown;
        }
    }
}
