//! Draws the screen: verdicts, the list, the footer with our own cost.

use super::app::{App, Page};
use super::columns::COLUMNS;
use super::fit::{self, Said};
use super::help;
use super::look::{Kind, Look};
use super::place::Place;
use super::verdict;
use crate::output::plain;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Block, Borders, Cell, Paragraph, Row, Table, TableState, Wrap};
use std::time::Duration;
use whyslow_model::walk::{HostResource, State};
use whyslow_model::{Table as Figures, Tid, Timestamp, figures};
use whyslow_report::{cell_text, redact};

/// How it is to look.
#[derive(Clone, Copy, Debug)]
pub(super) struct Looks {
    /// Off where NO_COLOR asks for it.
    pub(super) colour: bool,
    /// Passwords in command lines are shown.
    pub(super) show_secrets: bool,
}

/// Lines of the verdicts on a screen of 24.
const VERDICTS: u16 = 8;
/// Lines that the list and the footer need besides.
const REST: u16 = 6;
/// Letters of a cell that are looked at: command lines may be megabytes.
const LETTERS: usize = 600;

/// The smallest screen that is drawn on.
const SMALLEST: (u16, u16) = (40, 10);
/// A look that came later than this is told to have.
const LATE: Duration = Duration::from_millis(500);

/// Draws everything. `interval` is in words, for the footer.
pub(super) fn draw(frame: &mut Frame<'_>, app: &App, interval: &str, looks: Looks) -> Place {
    let area = frame.area();
    if area.width < SMALLEST.0 || area.height < SMALLEST.1 {
        let said = format!(
            "too small: {} x {}; {} x {} are needed; q end",
            area.width, area.height, SMALLEST.0, SMALLEST.1
        );
        frame.render_widget(Paragraph::new(fit::fit(&said, usize::from(area.width))), area);
        return Place::default();
    }
    let most = VERDICTS.max(area.height / 4).min(area.height.saturating_sub(REST)).max(1);
    let (verdicts, first_verdict, count) = verdicts(app, usize::from(most), usize::from(area.width), looks);
    let [top, list, footer] = Layout::vertical([
        Constraint::Length(verdicts.len() as u16),
        Constraint::Min(3),
        Constraint::Length(1),
    ])
    .areas(area);
    frame.render_widget(Paragraph::new(verdicts), top);
    let block = Block::new().borders(Borders::TOP).title(title(app, usize::from(list.width)));
    let inner = block.inner(list);
    frame.render_widget(block, list);
    let place = match app.page() {
        Page::Help => {
            let lines = help::lines(app.look.as_deref());
            let heading = Row::new(["key, word", "what it does, what it means"]);
            let rows =
                lines.into_iter().map(|(word, means)| Row::new([plain(&word), plain(&means)])).collect();
            rows_of(frame, inner, heading, rows, &[Constraint::Length(19), Constraint::Min(20)], app)
        }
        Page::About { table: Some(Ok(table)), .. } if !table.rows.is_empty() => {
            figures_table(frame, inner, table, app, looks)
        }
        Page::About { table, .. } => {
            let why = match table {
                Some(Err(why)) => plain(why),
                Some(Ok(_)) => "nothing was seen; the same key looks again".to_string(),
                _ => format!("{MEASURING} {}", about_time(app)),
            };
            frame.render_widget(Paragraph::new(why).wrap(Wrap { trim: false }), inner);
            Place::default()
        }
        Page::Resource(name) => {
            let text = about_resource(app, name);
            // A line more for each that does not fit.
            let width = usize::from(inner.width).max(1);
            let height: usize = text.iter().map(|line| line.chars().count() / width + 1).sum();
            let height = (height as u16).min(inner.height / 2);
            let [told, list] =
                Layout::vertical([Constraint::Length(height), Constraint::Min(2)]).areas(inner);
            frame.render_widget(Paragraph::new(text.join("\n")).wrap(Wrap { trim: false }), told);
            tasks(frame, list, app, looks)
        }
        Page::Processes | Page::Threads { .. } if app.look.is_none() => {
            frame.render_widget(Paragraph::new(MEASURING), inner);
            Place::default()
        }
        Page::Processes | Page::Threads { .. } => tasks(frame, inner, app, looks),
    };
    frame.render_widget(footer_line(app, interval, usize::from(footer.width)), footer);
    Place { verdicts: if matches!(app.page(), Page::Processes) { count } else { 0 }, first_verdict, ..place }
}

/// What stands where nothing has been measured yet.
const MEASURING: &str = "measuring …";

/// How long it takes until a page about one process is there.
fn about_time(app: &App) -> &'static str {
    match app.page() {
        Page::About { view: "fds", .. } => "",
        _ => "it is recorded for a second",
    }
}

/// The lines of the verdicts, at most so many: which verdict stands first, and how many of the lines are verdicts.
fn verdicts(app: &App, most: usize, screen: usize, looks: Looks) -> (Vec<Line<'static>>, usize, usize) {
    let waiting = || (vec![Line::from(MEASURING)], 0, 0);
    let Some(look) = app.look.as_ref().filter(|look| !look.resources.is_empty()) else { return waiting() };
    let all = look.resources.len();
    let waiters = verdict::waiters(look, screen);
    // Who waits is told, whatever else has no room.
    let room = most.saturating_sub(usize::from(waiters.is_some())).max(1);
    let count = if all > room { room.saturating_sub(1).max(1) } else { all };
    let chosen = app.verdict();
    let first = offset(chosen.unwrap_or(0), count, all);
    let widths = Widths::on(screen, look);
    let shown = look.resources.iter().enumerate().skip(first).take(count);
    let mut lines: Vec<Line<'_>> =
        shown.map(|(at, one)| verdict_line(app, look, one, widths, looks, chosen == Some(at))).collect();
    let more = (all > count).then(|| fit::fit(&format!("and {} more (Tab, ↓)", all - count), screen));
    let load = look.load.as_deref().map(|load| fit::fit(load, screen));
    let told = more.into_iter().chain(waiters).chain(load).map(Line::from);
    lines.extend(told.take(most.saturating_sub(lines.len())));
    (lines, first, count)
}

/// How wide the parts of a verdict are.
#[derive(Clone, Copy)]
struct Widths {
    name: usize,
    /// 0 where there is no room for a chart.
    chart: usize,
    text: usize,
}

impl Widths {
    /// Letters of a state.
    const STATE: usize = 13;

    fn on(screen: usize, look: &Look) -> Widths {
        let most = if screen < 60 { 8 } else { 16 };
        let names = look.resources.iter().map(|one| fit::columns(&fit::fit(&one.name, most)));
        let name = names.max().unwrap_or(0);
        let chart = match screen {
            ..70 => 0,
            70..100 => 6,
            100..160 => 12,
            _ => 30,
        };
        let gaps = if chart > 0 { 3 } else { 2 };
        Widths { name, chart, text: screen.saturating_sub(name + Widths::STATE + chart + gaps) }
    }
}

/// One verdict: its state, how full it was in the looks before, and why.
fn verdict_line(
    app: &App,
    look: &Look,
    resource: &HostResource,
    widths: Widths,
    looks: Looks,
    chosen: bool,
) -> Line<'static> {
    let mut style = match resource.state {
        State::Saturated if looks.colour => Style::new().fg(Color::Red).add_modifier(Modifier::BOLD),
        State::Saturated => Style::new().add_modifier(Modifier::BOLD),
        State::Unknown => Style::new().add_modifier(Modifier::DIM),
        State::Not => Style::new(),
    };
    if chosen {
        style = style.add_modifier(Modifier::REVERSED);
    }
    let name = padded(&fit::fit(&fit::shown(&resource.name), widths.name), widths.name);
    let state = padded(resource.state.words(), Widths::STATE);
    let chart = match widths.chart {
        0 => String::new(),
        width => format!(" {}", app.chart_of_resource(&resource.name, width)),
    };
    let text = verdict::line(look, resource, widths.text);
    Line::from(vec![Span::styled(format!("{name} {state}"), style), Span::raw(format!("{chart} {text}"))])
}

/// With spaces behind it: what is wide takes two columns.
fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(fit::columns(text))))
}

/// What the page of a resource says before the list: all of the reason, what shows it, and what would tell more.
fn about_resource(app: &App, name: &str) -> Vec<String> {
    let found = app.resources().iter().find(|resource| resource.name == name);
    let Some(resource) = found else { return vec!["nothing tells of it any more".to_string()] };
    let mut text = vec![format!("{}: {}", resource.state.words(), resource.reason)];
    text.extend(resource.evidence.iter().map(|evidence| evidence.text.clone()));
    if !resource.supply.is_empty() {
        text.push(format!("next: {}", resource.supply));
    }
    let order = Kind::named(name).map_or("", Kind::order);
    text.push(format!("Below: {order}. Enter: its threads; r: record it."));
    text.iter().map(|line| plain(line).replace('\n', " ")).collect()
}

fn title(app: &App, width: usize) -> String {
    let count = app.length();
    let who = |pid: Tid, name: &str| {
        let ended = if app.is_there(pid) { "" } else { ", which ended" };
        format!("{} ({pid}){ended}", fit::shown(name))
    };
    let what = match app.page() {
        Page::Processes if app.look.is_none() => "processes".to_string(),
        Page::Processes if count == 1 => "1 process".to_string(),
        Page::Processes => format!("{count} processes"),
        Page::Resource(name) => format!("{}: who takes of it", fit::shown(name)),
        Page::Threads { pid, name } => format!("{}: {count} threads that did something", who(*pid, name)),
        Page::About { pid, name, view, .. } => format!("{}: {view}", who(*pid, name)),
        Page::Help => "keys".to_string(),
    };
    let mut said = vec![Said::new(0, [format!(" {what} ")])];
    match (app.typing, app.filter.as_str()) {
        (false, "") => {}
        (typing, filter) => {
            let cursor = if typing { "_" } else { "" };
            said.push(Said::new(1, [format!(" filter: {}{cursor} ", fit::shown(filter))]));
        }
    }
    if let Some(look) = &app.look {
        if app.paused {
            said.push(Said::new(2, [format!(" held at {} ", time_of_day(look.at)), " held ".to_string()]));
        }
        if look.is_first {
            said.push(Said::new(
                3,
                [format!(" measured over the first {} ", look.over), " first look ".to_string()],
            ));
        }
    }
    if matches!(app.page(), Page::Processes) && !app.pins.is_empty() {
        let pins: Vec<String> = app.pins.iter().map(ToString::to_string).collect();
        said.push(Said::new(4, [format!(" {} first ", figures::list(&pins, 3))]));
    }
    fit::join(&said, "─", width)
}

/// `10:41:07 UTC`.
fn time_of_day(at: Timestamp) -> String {
    at.get().map(|ns| ns / 1_000_000_000).map_or("an unknown time".to_string(), |seconds| {
        format!("{:02}:{:02}:{:02} UTC", seconds / 3600 % 24, seconds / 60 % 60, seconds % 60)
    })
}

fn tasks(frame: &mut Frame<'_>, area: Rect, app: &App, looks: Looks) -> Place {
    let is_shown = |at: &usize| COLUMNS[*at].from <= area.width || *at == app.sort;
    let shown: Vec<usize> = (0..COLUMNS.len()).filter(is_shown).collect();
    let is_resource = matches!(app.page(), Page::Resource(_));
    let heading = shown.iter().map(|&at| {
        let mark = match (at == app.sort && !is_resource, app.reverse) {
            (false, _) => "",
            (true, false) => "▾",
            (true, true) => "▴",
        };
        cell(format!("{}{mark}", COLUMNS[at].heading), COLUMNS[at].is_number())
    });
    let width_of = |at: usize| COLUMNS[at].width_on(area.width);
    let heading = Row::new(heading.collect::<Vec<_>>());
    let fixed: usize = shown.iter().map(|&at| usize::from(width_of(at)) + 1).sum();
    let left = usize::from(area.width).saturating_sub(fixed.saturating_sub(1)).max(10);
    let widths: Vec<Constraint> = shown
        .iter()
        .map(|&at| match width_of(at) {
            0 => Constraint::Min(10),
            width => Constraint::Length(width),
        })
        .collect();
    // Only what the screen shows is put into words.
    let chosen = app.place();
    let offset = offset(chosen, usize::from(area.height.saturating_sub(1)), app.length());
    let rows = app.lines(offset).take(usize::from(area.height)).map(|line| {
        Row::new(shown.iter().map(|&at| {
            let column = &COLUMNS[at];
            let indent = if column.name == "name" { line.depth.min(12) } else { 0 };
            let width = match width_of(at) {
                0 => left,
                width => usize::from(width),
            };
            let text = column.text(line.task);
            // A figure has no secrets, and nothing to act upon.
            let text = match column.is_number() {
                true => text,
                false if column.is_chart() => app.chart_of_task(line.task, width),
                false => safe(&text, looks),
            };
            let text = format!("{:indent$}{text}", "");
            cell(fit::cell(&text, width), column.is_number())
        }))
    });
    let rows: Vec<Row<'_>> = rows.collect();
    let chosen = (app.verdict().is_none()).then(|| chosen.saturating_sub(offset));
    list(frame, area, heading, rows, &widths, chosen);
    let mut begins = area.x;
    let columns = shown.iter().map(|&at| {
        let begin = begins;
        begins = begins.saturating_add(width_of(at) + 1);
        (begin, COLUMNS[at].name)
    });
    Place { columns: columns.collect(), top: area.y + 1, offset, ..Place::default() }
}

fn cell(text: String, is_number: bool) -> Cell<'static> {
    let text = Text::from(text);
    Cell::from(if is_number { text.right_aligned() } else { text })
}

/// Text of a process as it may stand in a cell: bounded, on one line, without what a terminal acts upon, without secrets.
fn safe(text: &str, looks: Looks) -> String {
    let bounded: String = text.chars().take(LETTERS).collect();
    let told = if looks.show_secrets { bounded.into() } else { redact(&bounded) };
    fit::shown(&told)
}

/// The first row shown, so that the chosen one is in sight.
fn offset(chosen: usize, height: usize, count: usize) -> usize {
    chosen.saturating_sub(height.saturating_sub(1)).min(count.saturating_sub(1))
}

fn figures_table(frame: &mut Frame<'_>, area: Rect, table: &Figures, app: &App, looks: Looks) -> Place {
    let texts: Vec<Vec<String>> =
        table.rows.iter().map(|row| row.iter().map(|cell| safe(&cell_text(cell), looks)).collect()).collect();
    let widths: Vec<usize> = table
        .columns
        .iter()
        .enumerate()
        .map(|(at, column)| {
            let longest = texts.iter().filter_map(|row| row.get(at)).map(|text| text.chars().count()).max();
            longest.unwrap_or(0).max(column.heading.chars().count())
        })
        .collect();
    let shown = columns_that_fit(&widths, usize::from(area.width));
    let heading = Row::new(shown.iter().map(|(at, _)| table.columns[*at].heading));
    let rows = texts
        .iter()
        .map(|row| {
            let text = |at: usize| row.get(at).map_or("", String::as_str);
            Row::new(shown.iter().map(|(at, width)| fit::cell(text(*at), *width)))
        })
        .collect();
    let widths: Vec<Constraint> = shown.iter().map(|(_, width)| Constraint::Length(*width as u16)).collect();
    rows_of(frame, area, heading, rows, &widths, app)
}

/// The columns of a table that fit, with their widths. Its first (what comes first in rank) and its last (whose row it is)
/// stay, and those between from the left: a column is left out rather than cut to nothing.
fn columns_that_fit(widths: &[usize], width: usize) -> Vec<(usize, usize)> {
    /// A name needs so much at least.
    const NAME: usize = 16;
    let Some((last, before)) = widths.split_last() else { return Vec::new() };
    let mut left = width.saturating_sub((*last).min(NAME));
    let mut shown = Vec::new();
    for (at, wide) in before.iter().enumerate() {
        let needs = wide.min(&60) + 1;
        if needs > left {
            break;
        }
        left -= needs;
        shown.push((at, needs - 1));
    }
    shown.push((before.len(), (*last).min((*last).min(NAME) + left)));
    shown
}

fn rows_of<'a>(
    frame: &mut Frame<'_>,
    area: Rect,
    heading: Row<'a>,
    rows: Vec<Row<'a>>,
    widths: &[Constraint],
    app: &App,
) -> Place {
    let offset = offset(app.place(), usize::from(area.height.saturating_sub(1)), rows.len());
    let rows = rows.into_iter().skip(offset).collect();
    list(frame, area, heading, rows, widths, Some(app.place().saturating_sub(offset)));
    Place { top: area.y + 1, offset, ..Place::default() }
}

fn list<'a>(
    frame: &mut Frame<'_>,
    area: Rect,
    heading: Row<'a>,
    rows: Vec<Row<'a>>,
    widths: &[Constraint],
    chosen: Option<usize>,
) {
    let table = Table::new(rows, widths.iter().copied())
        .header(heading.style(Style::new().add_modifier(Modifier::BOLD)))
        .row_highlight_style(Style::new().add_modifier(Modifier::REVERSED));
    frame.render_stateful_widget(table, area, &mut TableState::new().with_selected(chosen));
}

fn footer_line(app: &App, interval: &str, width: usize) -> Line<'static> {
    if !app.remark.is_empty() {
        return Line::from(fit::fit(&fit::shown(&app.remark), width));
    }
    let mut said = vec![Said::new(0, ["? keys"])];
    if app.paused {
        said.push(Said::new(2, ["[ ] one look back, forward", "[ ] back, forward", "[ ]"]));
        said.push(Said::new(5, ["{ } ten"]));
        said.push(Said::new(2, ["Space goes on", "Space on"]));
    } else {
        said.push(Said::new(4, ["Space holds", "Space hold"]));
        said.push(Said::new(4, ["[ back in time", "[ back"]));
        said.push(Said::new(6, ["Tab verdicts"]));
    }
    said.push(Said::new(1, ["q end"]));
    said.push(Said::new(5, [format!("every {interval}"), interval.to_string()]));
    if let Some(look) = &app.look {
        if let Some(cost) = look.cost.map(figures::percent) {
            said.push(Said::new(7, [format!("own cost {cost} of a CPU"), format!("own cost {cost}")]));
        }
        if look.late >= LATE {
            let late = look.late.as_secs_f64();
            said.push(Said::new(
                3,
                [format!("{late:.1} s late: over {}", look.over), format!("{late:.1} s late")],
            ));
        }
        if !look.gaps.is_empty() {
            said.push(Said::new(3, [format!("{} not seen (?)", look.gaps.len())]));
        }
    }
    Line::from(fit::join(&said, " · ", width))
}
