//! What `go tool pprof -top`, `-peek`-less tables and `list` print, as people paste it. The figures are rounded: each says how far it may be off.
//!
//! ```text
//! Showing nodes accounting for 99.70s, 77.65% of 128.40s total
//!       flat  flat%   sum%        cum   cum%
//!     43.01s 33.50% 33.50%     43.44s 33.83%  syscall.Syscall
//! ```

mod figures;

use super::bytes::Bytes;
use super::error::ReadError;
use super::notes::Notes;
use super::{Loaded, ProfileData, ProfileFormat, head_lines};
use figures::{Unit, printed};
use whyslow_model::profile::{
    ListedLine, Listing, ProfileBuilder, ProfileDamage, TooLarge, TopReport, TopRow,
};

pub(super) static TOP_TEXT: ProfileFormat =
    ProfileFormat { name: "pprof table", made_by: "go tool pprof -top, -top -cum, -list", sniff, read };

fn is_columns(line: &str) -> bool {
    line.split_whitespace().eq(["flat", "flat%", "sum%", "cum", "cum%"])
}

fn sniff(head: &[u8]) -> bool {
    head_lines(head).take(40).any(|line| is_columns(line) || line.starts_with(ROUTINE))
}

const ROUTINE: &str = "ROUTINE ====";

fn read(bytes: &mut Bytes<'_>) -> Result<Loaded, ReadError> {
    let mut report = TopReport { unit: "count", ..TopReport::default() };
    let mut notes = Notes::default();
    let mut unit = None;
    let mut in_table = false;
    let mut line = String::new();
    let mut taken = 0_usize;
    while bytes.line(&mut line)? {
        let line = line.trim_end();
        if line.is_empty() {
            continue;
        }
        // Texts are kept as they stand.
        taken = taken.saturating_add(size_of::<TopRow>() + line.len());
        if taken > ProfileBuilder::MEMORY {
            return Err(TooLarge::Memory.into());
        }
        if is_columns(line) {
            in_table = true;
            continue;
        }
        if head_line(line, &mut report, &mut unit) {
            continue;
        }
        if line.starts_with(ROUTINE) {
            in_table = false;
            match routine(line) {
                Some(listing) => report.listings.push(listing),
                None => notes.damaged(bytes, line, "ROUTINE === function in file"),
            }
            continue;
        }
        let is_used = match report.listings.last_mut() {
            Some(listing) if !in_table => listed(line, listing, &mut unit),
            _ if in_table => match row(line, &mut unit) {
                Some(row) => {
                    report.rows.push(row);
                    true
                }
                None => false,
            },
            // What people paste has a prompt or a command before the table.
            _ => true,
        };
        if !is_used {
            notes.damaged(bytes, line, "a row: flat flat% sum% cum cum% name");
        }
    }
    report.unit = unit.unwrap_or(Unit::Count).name();
    let is_empty = report.rows.is_empty() && report.listings.is_empty();
    let damage = is_empty.then_some(ProfileDamage::NoSamples);
    Ok(Loaded { format: TOP_TEXT.name, data: ProfileData::Table(report), damage, notes: notes.end(bytes) })
}

/// A line before the table; false where it is none.
fn head_line(line: &str, report: &mut TopReport, unit: &mut Option<Unit>) -> bool {
    if let Some((key, value)) = line.split_once(": ") {
        match key {
            "File" => report.file = value.to_string(),
            "Type" => report.kind = value.to_string(),
            "Duration" => {
                let (duration, samples) = value.split_once(',').unwrap_or((value, ""));
                let mut time = None;
                report.duration_ns = printed(duration, &mut time)
                    .filter(|_| time == Some(Unit::Nanoseconds))
                    .map(|duration| duration.value);
                if let Some((_, total)) = samples.split_once("Total samples = ") {
                    let total = total.split_once(" (").map_or(total, |(total, _)| total);
                    report.total = printed(total.trim(), unit);
                }
            }
            "Total" => report.total = printed(value, unit),
            "Time" | "Build ID" | "Active filters" | "Doc" => {}
            _ => return false,
        }
        return true;
    }
    // `Showing nodes accounting for 30ms, 100% of 30ms total`, and before 2017 `99.70s of 128.40s total (77.65%)`.
    if let Some((before, _)) = line.split_once(" total") {
        if let Some((_, total)) = before.rsplit_once(" of ")
            && let Some(total) = printed(total, unit)
        {
            report.total.get_or_insert(total);
            return true;
        }
        return false;
    }
    ["Dropped ", "Showing ", "Active filters:"].iter().any(|start| line.starts_with(start))
}

fn row(line: &str, unit: &mut Option<Unit>) -> Option<TopRow> {
    let mut rest = line;
    let mut words = [""; 5];
    for word in &mut words {
        rest = rest.trim_start();
        let (taken, behind) = rest.split_once(char::is_whitespace)?;
        (*word, rest) = (taken, behind);
    }
    let [flat, flat_share, sum_share, cum, cum_share] = words;
    let are_shares = [flat_share, sum_share, cum_share].iter().all(|word| word.ends_with('%'));
    let name = rest.trim();
    if !are_shares || name.is_empty() {
        return None;
    }
    Some(TopRow { name: name.to_string(), flat: printed(flat, unit)?, cum: printed(cum, unit)? })
}

fn routine(line: &str) -> Option<Listing> {
    let title = line.strip_prefix("ROUTINE ")?.trim_start_matches('=').trim();
    let (function, file) = title.rsplit_once(" in ").unwrap_or((title, ""));
    Some(Listing { function: function.to_string(), file: file.to_string(), ..Listing::default() })
}

/// A line of a listing: `40ms  24.95s  199:  for scanner.Scan() {`, or its sums: `200ms 1.03mins (flat, cum) 47.94% of Total`.
fn listed(line: &str, listing: &mut Listing, unit: &mut Option<Unit>) -> bool {
    let mut rest = line.trim_start();
    let mut figures = [None, None];
    for figure in &mut figures {
        let Some((word, behind)) = rest.split_once(char::is_whitespace) else { return false };
        *figure = printed(word, unit);
        if figure.is_none() && word != "." {
            return false;
        }
        rest = behind.trim_start();
    }
    let [flat, cum] = figures;
    if rest.starts_with("(flat, cum)") {
        // A dot stands for nothing spent.
        listing.flat = flat.unwrap_or_default();
        listing.cum = cum.unwrap_or_default();
        return true;
    }
    let Some((number, source)) = rest.split_once(':') else { return false };
    let Ok(number) = number.parse() else { return false };
    listing.lines.push(ListedLine { number, flat, cum, source: source.to_string() });
    true
}

#[cfg(test)]
fn values(figure: &whyslow_model::profile::Printed) -> (i64, i64) {
    (figure.value, figure.within)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{load, table_of};
    use super::*;

    const OLD: &str = "\
43.31s of 128.40s total (33.73%)
Dropped 652 nodes (cum <= 0.64s)
Showing top 10 nodes out of 70 (cum >= 39.16s)
      flat  flat%   sum%        cum   cum%
         0     0%     0%     90.07s 70.15%  runtime.goexit
     0.20s  0.16%  0.18%     61.55s 47.94%  go.intra.test.com/golang/nux.readTcp (inline)
";

    #[test]
    fn a_table_keeps_its_figures_and_their_rounding() {
        let table = table_of(OLD);
        assert_eq!((table.unit, table.rows.len()), ("nanoseconds", 2));
        assert_eq!(values(&table.total.unwrap()), (128_400_000_000, 5_000_000));
        assert_eq!(values(&table.rows[0].flat), (0, 0));
        assert_eq!(values(&table.rows[1].cum), (61_550_000_000, 5_000_000));
        assert_eq!(table.rows[1].flat.text, "0.20s");
    }

    #[test]
    fn the_head_of_a_newer_table_is_read() {
        let table = table_of(
            "File: x\nType: cpu\nTime: 2025-03-29 17:25:40 UTC\nDuration: 10s, Total samples = 30ms (  0.3%)\n\
             Showing nodes accounting for 20ms, 66% of 30ms total\n      flat  flat%   sum%        cum   cum%\n\
             \x20     10ms 33.33% 33.33%       10ms 33.33%  context.parentCancelCtx\n",
        );
        assert_eq!((table.kind.as_str(), table.file.as_str()), ("cpu", "x"));
        assert_eq!((table.duration_ns, table.total.unwrap().value), (Some(10_000_000_000), 30_000_000));
    }

    #[test]
    fn a_listing_keeps_its_lines() {
        let table = table_of(
            "Total: 2.14mins\nROUTINE ======================== nux.readTcp in /src/proc.go\n\
             \x20    200ms   1.03mins (flat, cum) 47.94% of Total\n         .          .    193:   if err != nil {\n\
             \x20     40ms     24.95s    199:   for scanner.Scan() {\n",
        );
        let listing = &table.listings[0];
        assert_eq!((listing.function.as_str(), listing.file.as_str()), ("nux.readTcp", "/src/proc.go"));
        assert_eq!(values(&listing.cum), (61_800_000_000, 300_000_000));
        assert_eq!((listing.lines.len(), &listing.lines[0].flat), (2, &None));
        assert_eq!(listing.lines[1].cum.as_ref().unwrap().value, 24_950_000_000);
        assert_eq!(listing.lines[1].source, "   for scanner.Scan() {");
    }

    #[test]
    fn a_row_that_is_none_is_counted() {
        let notes = load(format!("{OLD}and so on\n").as_bytes()).unwrap().notes;
        assert_eq!((notes.damaged, notes.first[0].number), (1, 7));
    }
}
