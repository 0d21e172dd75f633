//! Draws the screen: verdicts, the list, the footer with our own cost.

use super::app::{App, Page};
use super::columns::COLUMNS;
use super::keys::KEYS;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Cell, Paragraph, Row, Table, TableState, Wrap};
use whyslow_model::walk::State;
use whyslow_model::{Table as Figures, Tid, figures};
use whyslow_report::cell_text;

/// Where the list stands: for the mouse.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Place {
    /// The line of the screen with the first row.
    pub(super) top: u16,
    /// The row that stands there.
    pub(super) offset: usize,
}

/// Lines of the verdicts on a screen of 24.
const VERDICTS: u16 = 7;

/// Draws everything; `colour` is off where NO_COLOR asks for it. `interval` is in words, for the footer.
pub(super) fn draw(frame: &mut Frame<'_>, app: &App, interval: &str, colour: bool) -> Place {
    let verdicts = verdicts(app, colour);
    let height = (verdicts.len() as u16).clamp(1, VERDICTS.max(frame.area().height / 4));
    let [top, list, footer] =
        Layout::vertical([Constraint::Length(height), Constraint::Min(3), Constraint::Length(1)])
            .areas(frame.area());
    frame.render_widget(Paragraph::new(verdicts), top);
    let block = Block::new().borders(Borders::TOP).title(title(app));
    let place = match app.page() {
        Page::Help => {
            let rows = KEYS.iter().map(|key| Row::new([key.names, key.does]));
            rows_of(
                frame,
                list,
                block,
                Row::new(["key", "what it does"]),
                rows.collect(),
                &[Constraint::Length(20), Constraint::Min(20)],
                app,
            )
        }
        Page::About { table: Some(Ok(table)), .. } => figures_table(frame, list, block, table, app),
        Page::About { table, .. } => {
            let why = match table {
                Some(Err(why)) => crate::output::plain(why),
                _ => "looking …".to_string(),
            };
            frame.render_widget(Paragraph::new(why).wrap(Wrap { trim: false }).block(block), list);
            Place::default()
        }
        Page::Processes | Page::Threads { .. } => tasks(frame, list, block, app),
    };
    frame.render_widget(footer_line(app, interval), footer);
    place
}

fn verdicts(app: &App, colour: bool) -> Vec<Line<'_>> {
    let Some(look) = &app.look else { return vec![Line::from("looking for the first time …")] };
    let mut lines: Vec<Line<'_>> = look
        .resources
        .iter()
        .map(|resource| {
            let style = match resource.state {
                State::Saturated if colour => Style::new().fg(Color::Red).add_modifier(Modifier::BOLD),
                State::Saturated => Style::new().add_modifier(Modifier::BOLD),
                State::Unknown => Style::new().add_modifier(Modifier::DIM),
                _ => Style::new(),
            };
            Line::from(vec![
                Span::styled(format!("{:<9} {:<14} ", resource.name, resource.state.words()), style),
                Span::raw(resource.reason.as_str()),
            ])
        })
        .collect();
    lines.extend(look.load.as_deref().map(Line::from));
    if lines.is_empty() {
        lines.push(Line::from("looking for the first time …"));
    }
    lines
}

fn title(app: &App) -> String {
    let count = app.length();
    let who = |pid: Tid, name: &str| {
        let ended = if app.is_there(pid) { "" } else { ", which ended" };
        format!("{} ({pid}){ended}", crate::output::plain(name))
    };
    let what = match app.page() {
        Page::Processes if count == 1 => " 1 process ".to_string(),
        Page::Processes => format!(" {count} processes "),
        Page::Threads { pid, name } => format!(" {}: {count} threads that did something ", who(*pid, name)),
        Page::About { pid, name, view, .. } => format!(" {}: {view} ", who(*pid, name)),
        Page::Help => " keys ".to_string(),
    };
    let filter = match (app.typing, app.filter.as_str()) {
        (false, "") => String::new(),
        (typing, filter) => format!(" filter: {filter}{} ", if typing { "_" } else { "" }),
    };
    format!("{what}{filter}{}", if app.paused { " held " } else { "" })
}

fn tasks(frame: &mut Frame<'_>, area: Rect, block: Block<'_>, app: &App) -> Place {
    let shown: Vec<usize> = (0..COLUMNS.len()).filter(|at| COLUMNS[*at].from <= area.width).collect();
    let heading = shown.iter().map(|&at| {
        let mark = match (at == app.sort, app.reverse) {
            (false, _) => "",
            (true, false) => "▾",
            (true, true) => "▴",
        };
        Cell::from(format!("{}{mark}", COLUMNS[at].heading))
    });
    let heading = Row::new(heading.collect::<Vec<_>>());
    let widths: Vec<Constraint> = shown
        .iter()
        .map(|&at| match COLUMNS[at].width {
            0 => Constraint::Min(10),
            width => Constraint::Length(width),
        })
        .collect();
    let lines = app.lines();
    // Only what the screen shows is put into words.
    let offset = offset(app.place(), usize::from(area.height.saturating_sub(2)), lines.len());
    let rows = lines.iter().skip(offset).take(usize::from(area.height)).map(|line| {
        Row::new(shown.iter().map(|&at| {
            let column = &COLUMNS[at];
            let text = (column.text)(line.task);
            let indent = if column.name == "name" { line.depth.min(12) } else { 0 };
            crate::output::plain(&format!("{:indent$}{text}", ""))
        }))
    });
    let rows: Vec<Row<'_>> = rows.collect();
    list(frame, area, block, heading, rows, &widths, app.place() - offset.min(app.place()));
    Place { top: area.y + 2, offset }
}

/// The first row shown, so that the chosen one is in sight.
fn offset(chosen: usize, height: usize, count: usize) -> usize {
    chosen.saturating_sub(height.saturating_sub(1)).min(count.saturating_sub(1))
}

fn figures_table(frame: &mut Frame<'_>, area: Rect, block: Block<'_>, table: &Figures, app: &App) -> Place {
    let texts: Vec<Vec<String>> = table
        .rows
        .iter()
        .map(|row| row.iter().map(|cell| crate::output::plain(&cell_text(cell))).collect())
        .collect();
    let widths: Vec<Constraint> = table
        .columns
        .iter()
        .enumerate()
        .map(|(at, column)| {
            let longest = texts.iter().filter_map(|row| row.get(at)).map(|text| text.chars().count()).max();
            Constraint::Max(longest.unwrap_or(0).max(column.heading.chars().count()).min(60) as u16)
        })
        .collect();
    let heading = Row::new(table.columns.iter().map(|column| column.heading));
    rows_of(frame, area, block, heading, texts.into_iter().map(Row::new).collect(), &widths, app)
}

fn rows_of<'a>(
    frame: &mut Frame<'_>,
    area: Rect,
    block: Block<'a>,
    heading: Row<'a>,
    rows: Vec<Row<'a>>,
    widths: &[Constraint],
    app: &App,
) -> Place {
    let offset = offset(app.place(), usize::from(area.height.saturating_sub(2)), rows.len());
    let rows = rows.into_iter().skip(offset).collect();
    list(frame, area, block, heading, rows, widths, app.place() - offset.min(app.place()));
    Place { top: area.y + 2, offset }
}

fn list<'a>(
    frame: &mut Frame<'_>,
    area: Rect,
    block: Block<'a>,
    heading: Row<'a>,
    rows: Vec<Row<'a>>,
    widths: &[Constraint],
    chosen: usize,
) {
    let table = Table::new(rows, widths.iter().copied())
        .header(heading.style(Style::new().add_modifier(Modifier::BOLD)))
        .row_highlight_style(Style::new().add_modifier(Modifier::REVERSED))
        .block(block);
    frame.render_stateful_widget(table, area, &mut TableState::new().with_selected(chosen));
}

fn footer_line<'a>(app: &'a App, interval: &str) -> Line<'a> {
    if !app.remark.is_empty() {
        return Line::from(app.remark.as_str());
    }
    let cost = app.look.as_ref().and_then(|look| look.cost);
    let cost = cost.map_or("unknown".to_string(), figures::percent);
    let gaps = app.look.as_ref().map_or(0, |look| look.gaps.len());
    let gaps = if gaps == 0 { String::new() } else { format!(" · not seen: {gaps} (--once tells)") };
    Line::from(format!("? keys · q end · every {interval} · own cost {cost} of a CPU{gaps}"))
}
