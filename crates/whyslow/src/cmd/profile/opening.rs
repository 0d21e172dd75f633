//! What a profile begins with where no view is named: who holds most, and the kinds of cost.

use crate::output;
use std::path::Path;
use whyslow_profile::formats::{self, Limits, ProfileData};
use whyslow_profile::kinds::{Account, Measured, ProfileStacks, kinds_line, sentence};
use whyslow_profile::{PreparedProfile, views};

/// True where the words name no view; the first of them is a profile unless one is `captured`.
pub(super) fn is_wanted(words: &[String], captured: bool) -> bool {
    words.iter().skip(usize::from(!captured)).all(|word| views::find(word).is_none())
}

/// The opening of what a view is about to show.
pub(super) fn of_report(report: &PreparedProfile<'_>) -> String {
    let account = Account::of(&ProfileStacks::new(&report.profile, report.value_index));
    text(&account, &Measured::of(&report.profile, report.value_index))
}

/// All that can be said of a printed table, as text or as JSON; `None` where the file is none.
pub(super) fn of_table(sources: &[&str], json: bool) -> Option<anyhow::Result<Vec<u8>>> {
    /// People paste no longer ones.
    const LONGEST: u64 = 1 << 20;
    let [source] = sources else { return None };
    let path = Path::new(source);
    if std::fs::metadata(path).ok().filter(|file| file.is_file())?.len() > LONGEST {
        return None;
    }
    let loaded = formats::read_file(path, Limits::default()).ok()?;
    let ProfileData::Table(table) = &loaded.data else { return None };
    let (account, measured) = (Account::of_report(table), Measured::of_table(table));
    Some(match json {
        true => {
            let mut bytes = Vec::new();
            views::write_table_json(&account, &measured, &mut bytes).map(|()| bytes).map_err(Into::into)
        }
        false => Ok(output::plain(&text(&account, &measured)).into_bytes()),
    })
}

fn text(account: &Account, measured: &Measured) -> String {
    let lines = [sentence(account, measured), kinds_line(account, measured)];
    lines.iter().filter(|line| !line.is_empty()).map(|line| format!("{line}\n")).collect::<String>() + "\n"
}
