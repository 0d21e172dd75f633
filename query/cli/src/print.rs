//! Answers as people and programs read them.

use datafusion::arrow::array::{Array, RecordBatch};
use datafusion::arrow::datatypes::DataType;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use serde_json::{Map, Value};
use std::io::{self, IsTerminal, Write};
use unicode_width::UnicodeWidthStr;
use whyslow_model::visible;
use whyslow_query_engine::QueryAnswer;

/// How an answer is printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// Columns side by side.
    Table,
    /// An array of objects.
    Json,
    /// An object a line.
    Ndjson,
    /// Comma-separated values (RFC 4180).
    Csv,
}

/// Characters of a cell at most, in a table.
const WIDEST: usize = 120;
/// Characters that a column keeps where the terminal is narrow.
const NARROWEST: usize = 8;
/// Between two columns.
const GAP: usize = 2;

/// Prints an answer.
pub(crate) fn answer(answer: &QueryAnswer, form: Form, out: &mut dyn Write) -> io::Result<()> {
    let mut out = io::BufWriter::new(out);
    match form {
        Form::Table => table(answer, width(), &mut out)?,
        Form::Csv => csv(answer, &mut out)?,
        Form::Json | Form::Ndjson => json(answer, form == Form::Ndjson, &mut out)?,
    }
    out.flush()
}

/// Columns of the terminal; as much as it takes where there is none.
fn width() -> usize {
    let terminal = terminal_size::terminal_size().filter(|_| io::stdout().is_terminal());
    terminal.map_or(usize::MAX, |(width, _)| width.0.into())
}

fn options() -> FormatOptions<'static> {
    FormatOptions::default().with_display_error(true)
}

/// The cells of a batch as text; `None` for null.
fn texts(batch: &RecordBatch) -> Vec<Vec<Option<String>>> {
    let options = options();
    let column = |array: &dyn Array| -> Vec<Option<String>> {
        let formatter = ArrayFormatter::try_new(array, &options);
        let text = |at: usize| match &formatter {
            Ok(formatter) if array.is_valid(at) => {
                Some(figure(array, at).unwrap_or_else(|| formatter.value(at).to_string()))
            }
            _ => None,
        };
        (0..array.len()).map(text).collect()
    };
    batch.columns().iter().map(|array| column(array.as_ref())).collect()
}

/// A floating-point number with as many digits as people read.
fn figure(array: &dyn Array, at: usize) -> Option<String> {
    use datafusion::arrow::array::AsArray;
    let value = array.as_primitive_opt::<datafusion::arrow::datatypes::Float64Type>()?.value(at);
    let digits = match value.abs() {
        v if v == 0.0 || v >= 1e15 || !v.is_finite() => return None,
        v if v >= 1000.0 => 1,
        v if v >= 10.0 => 2,
        v if v >= 1.0 => 3,
        v if v >= 0.01 => 4,
        v if v >= 0.000_1 => 6,
        _ => return None,
    };
    Some(format!("{value:.digits$}"))
}

fn table(answer: &QueryAnswer, width: usize, out: &mut dyn Write) -> io::Result<()> {
    let fields = answer.schema.fields();
    if fields.is_empty() {
        return Ok(());
    }
    let headings: Vec<String> = fields.iter().map(|field| visible::line(field.name()).into_owned()).collect();
    let right: Vec<bool> = fields.iter().map(|field| field.data_type().is_numeric()).collect();
    let mut rows: Vec<Vec<String>> = Vec::with_capacity(answer.rows());
    for batch in &answer.batches {
        let columns = texts(batch);
        rows.extend((0..batch.num_rows()).map(|at| {
            let cell = |column: &Vec<Option<String>>| {
                column[at].as_deref().map_or("-".to_string(), |text| cut(&visible::line(text), WIDEST))
            };
            columns.iter().map(cell).collect()
        }));
    }
    let mut widths: Vec<usize> = headings.iter().map(|heading| heading.width()).collect();
    for row in &rows {
        widths.iter_mut().zip(row).for_each(|(width, cell)| *width = (*width).max(cell.width()));
    }
    fit(&mut widths, width);
    let mut line = |cells: &[String]| -> io::Result<()> {
        let mut text = String::new();
        for (at, (cell, width)) in cells.iter().zip(&widths).enumerate() {
            let cell = cut(cell, *width);
            let space = " ".repeat(width.saturating_sub(cell.width()));
            let is_last = at + 1 == cells.len();
            match right[at] {
                true => text.extend([&*space, &*cell]),
                false if is_last => text.push_str(&cell),
                false => text.extend([&*cell, &*space]),
            }
            if !is_last {
                text.push_str(&" ".repeat(GAP));
            }
        }
        writeln!(out, "{}", text.trim_end())
    };
    line(&headings)?;
    rows.iter().try_for_each(|row| line(row))
}

/// Makes the widest columns narrower until all fit.
fn fit(widths: &mut [usize], width: usize) {
    let gaps = GAP * widths.len().saturating_sub(1);
    loop {
        let sum: usize = widths.iter().sum::<usize>() + gaps;
        let Some(widest) = widths.iter_mut().max() else { return };
        if sum <= width || *widest <= NARROWEST {
            return;
        }
        *widest = (*widest - (sum - width).min(*widest - NARROWEST).min((*widest / 4).max(1))).max(NARROWEST);
    }
}

/// The text within so many columns.
fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_string();
    }
    let mut kept = String::new();
    for letter in text.chars() {
        if kept.width() + unicode_width::UnicodeWidthChar::width(letter).unwrap_or(0) + 1 > width {
            break;
        }
        kept.push(letter);
    }
    kept + "…"
}

fn csv(answer: &QueryAnswer, out: &mut dyn Write) -> io::Result<()> {
    let quoted = |text: &str| match text.contains(['"', ',', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_string(),
    };
    // What acts upon a terminal reaches none.
    let to_terminal = io::stdout().is_terminal();
    let shown = |text: &str| if to_terminal { visible::line(text).into_owned() } else { text.to_string() };
    let names: Vec<String> =
        answer.schema.fields().iter().map(|field| quoted(&shown(field.name()))).collect();
    writeln!(out, "{}", names.join(","))?;
    for batch in &answer.batches {
        let options = options();
        let formatters =
            batch.columns().iter().map(|array| ArrayFormatter::try_new(array.as_ref(), &options));
        let formatters = formatters.collect::<Result<Vec<_>, _>>().map_err(io::Error::other)?;
        for at in 0..batch.num_rows() {
            let cells =
                batch.columns().iter().zip(&formatters).map(|(array, formatter)| match array.is_valid(at) {
                    true => quoted(&shown(&formatter.value(at).to_string())),
                    false => String::new(),
                });
            writeln!(out, "{}", cells.collect::<Vec<_>>().join(","))?;
        }
    }
    Ok(())
}

fn json(answer: &QueryAnswer, lines: bool, out: &mut dyn Write) -> io::Result<()> {
    let mut first = true;
    if !lines {
        write!(out, "[")?;
    }
    for batch in &answer.batches {
        for at in 0..batch.num_rows() {
            let fields = answer.schema.fields().iter().zip(batch.columns());
            let row: Map<String, Value> =
                fields.map(|(field, array)| (field.name().clone(), value(array.as_ref(), at))).collect();
            let row = Value::Object(row);
            match (lines, first) {
                (true, _) => writeln!(out, "{row}")?,
                (false, true) => write!(out, "\n{row}")?,
                (false, false) => write!(out, ",\n{row}")?,
            }
            first = false;
        }
    }
    if !lines {
        writeln!(out, "{}]", if first { "" } else { "\n" })?;
    }
    Ok(())
}

/// A cell: numbers and flags as such, all else as text.
fn value(array: &dyn Array, at: usize) -> Value {
    use datafusion::arrow::array::AsArray;
    use datafusion::arrow::datatypes::{Float64Type, Int32Type, Int64Type, UInt32Type, UInt64Type};
    if array.is_null(at) {
        return Value::Null;
    }
    match array.data_type() {
        DataType::Int64 => array.as_primitive::<Int64Type>().value(at).into(),
        DataType::Int32 => array.as_primitive::<Int32Type>().value(at).into(),
        DataType::UInt64 => array.as_primitive::<UInt64Type>().value(at).into(),
        DataType::UInt32 => array.as_primitive::<UInt32Type>().value(at).into(),
        DataType::Float64 => array.as_primitive::<Float64Type>().value(at).into(),
        DataType::Boolean => array.as_boolean().value(at).into(),
        _ => match ArrayFormatter::try_new(array, &options()) {
            Ok(formatter) => formatter.value(at).to_string().into(),
            Err(_) => Value::Null,
        },
    }
}

/// The statements of a text, separated by semicolons that stand in no quotes and no comment.
pub(crate) fn statements(text: &str) -> Vec<String> {
    let (mut out, mut rest) = (Vec::new(), text);
    while let Some(end) = end_of_statement(rest) {
        out.push(rest[..end].to_string());
        rest = &rest[end + 1..];
    }
    out.push(rest.to_string());
    out.retain(|statement| has_words(statement));
    out
}

/// True where more than comments and spaces is in it.
fn has_words(text: &str) -> bool {
    let mut is_some = false;
    scan(text, |_, _, letter| {
        is_some |= !letter.is_whitespace();
        true
    });
    is_some
}

/// Where the first statement ends: its semicolon.
pub(crate) fn end_of_statement(text: &str) -> Option<usize> {
    let mut found = None;
    scan(text, |at, is_quoted, letter| {
        if letter == ';' && !is_quoted {
            found = Some(at);
        }
        found.is_none()
    });
    found
}

/// Tells each letter that is in no comment, and whether it stands in quotes, until told to stop.
fn scan(text: &str, mut tell: impl FnMut(usize, bool, char) -> bool) {
    let mut letters = text.char_indices().peekable();
    let mut quote = None;
    while let Some((at, letter)) = letters.next() {
        match (quote, letter) {
            (None, '-') if text[at..].starts_with("--") => {
                while letters.next_if(|(_, letter)| *letter != '\n').is_some() {}
                continue;
            }
            (None, '/') if text[at..].starts_with("/*") => {
                let end = text[at..].find("*/").map_or(text.len(), |end| at + end + 2);
                while letters.next_if(|(at, _)| *at < end).is_some() {}
                continue;
            }
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), letter) if open == letter => quote = None,
            _ => {}
        }
        if !tell(at, quote.is_some(), letter) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_end_outside_of_quotes() {
        let text = "SELECT ';' AS \"a;b\"; -- c;d\nSELECT 2 /* ; */;;  \n";
        assert_eq!(statements(text), ["SELECT ';' AS \"a;b\"", " -- c;d\nSELECT 2 /* ; */"]);
        assert_eq!(statements("-- nothing"), [""; 0]);
        assert_eq!(end_of_statement("SELECT 'é;"), None);
    }

    #[test]
    fn columns_fit_the_terminal() {
        let mut widths = vec![10, 100, 40];
        fit(&mut widths, 80);
        assert!(widths.iter().sum::<usize>() + 2 * GAP <= 80, "{widths:?}");
        assert_eq!(widths[0], 10);
        let mut widths = vec![9; 50];
        fit(&mut widths, 80);
        assert_eq!(widths, [NARROWEST; 50]);
        assert_eq!((cut("日本語です", 5), cut("abc", 3)), ("日本…".to_string(), "abc".to_string()));
    }
}
