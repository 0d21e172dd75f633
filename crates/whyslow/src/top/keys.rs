//! The keys and the mouse: which action each asks for. The help page is this list.

use super::action::Action;
use super::place::Place;
use ratatui::crossterm::event::{
    Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEventKind,
};

/// One row of the help: keys, what they do, the action.
pub(crate) struct Key {
    /// As people name them.
    pub(crate) names: &'static str,
    /// What they do.
    pub(crate) does: &'static str,
    /// None where `of_key` or the mouse knows it.
    codes: &'static [KeyCode],
    action: Action,
}

/// Lines that a page up or down moves by.
const PAGE: i64 = 15;

/// All keys.
pub(crate) static KEYS: &[Key] = &[
    key(
        "Enter, →",
        "into it: a verdict's takers, a process's threads",
        &[KeyCode::Enter, KeyCode::Right],
        Action::Into,
    ),
    key(
        "c",
        "the calls that it makes, recorded for a second",
        &[KeyCode::Char('c')],
        Action::About("summary"),
    ),
    key("d", "its open descriptors", &[KeyCode::Char('d')], Action::About("fds")),
    key(
        "f",
        "the files that it works on, recorded for a second",
        &[KeyCode::Char('f')],
        Action::About("files"),
    ),
    key("n", "whom it talks to, recorded for a second", &[KeyCode::Char('n')], Action::About("peers")),
    key("r", "record it from here for ten seconds, to this folder", &[KeyCode::Char('r')], Action::Record),
    key("Tab", "to the verdicts above, and back to the list", &[KeyCode::Tab], Action::Verdicts),
    key(
        "Esc, ←, Backspace",
        "back; at the start: no filter any more",
        &[KeyCode::Esc, KeyCode::Left, KeyCode::Backspace],
        Action::Back,
    ),
    key("↑, k", "the line above", &[KeyCode::Up, KeyCode::Char('k')], Action::Move(-1)),
    key("↓, j", "the line below", &[KeyCode::Down, KeyCode::Char('j')], Action::Move(1)),
    key("Page up", "a page up", &[KeyCode::PageUp], Action::Move(-PAGE)),
    key("Page down", "a page down", &[KeyCode::PageDown], Action::Move(PAGE)),
    key("Home, g", "the first line", &[KeyCode::Home, KeyCode::Char('g')], Action::First),
    key("End, G", "the last line", &[KeyCode::End, KeyCode::Char('G')], Action::Last),
    key("P", "sort by CPU time", &[KeyCode::Char('P')], Action::SortBy("cpu")),
    key("M", "sort by memory", &[KeyCode::Char('M')], Action::SortBy("rss")),
    key("W", "sort by waits", &[KeyCode::Char('W')], Action::SortBy("waits")),
    key("D", "sort by bytes written", &[KeyCode::Char('D')], Action::SortBy("write")),
    key(
        ">, s",
        "sort by the next column",
        &[KeyCode::Char('>'), KeyCode::Char('s'), KeyCode::F(6)],
        Action::SortNext(1),
    ),
    key("<", "sort by the column before", &[KeyCode::Char('<')], Action::SortNext(-1)),
    key("R", "smallest first", &[KeyCode::Char('R')], Action::Reverse),
    key(
        "/",
        "filter by name, command or number; Enter keeps it",
        &[KeyCode::Char('/'), KeyCode::F(4)],
        Action::Filter,
    ),
    key("t", "children below their parents", &[KeyCode::Char('t'), KeyCode::F(5)], Action::Tree),
    key(
        "Space, p",
        "hold the picture; again: go on with what is now",
        &[KeyCode::Char(' '), KeyCode::Char('p')],
        Action::Pause,
    ),
    key("[", "hold it, and one look back", &[KeyCode::Char('[')], Action::Step(-1)),
    key("]", "one look forward, while it is held", &[KeyCode::Char(']')], Action::Step(1)),
    key("{", "ten looks back", &[KeyCode::Char('{')], Action::Step(-10)),
    key("}", "ten looks forward", &[KeyCode::Char('}')], Action::Step(10)),
    key("+", "look half as often", &[KeyCode::Char('+')], Action::Interval(1)),
    key("-", "look twice as often", &[KeyCode::Char('-')], Action::Interval(-1)),
    key("?, h", "this list", &[KeyCode::Char('?'), KeyCode::Char('h'), KeyCode::F(1)], Action::Help),
    key("mouse", "click: choose, again: into; heading: sort; right: back", &[], Action::Redraw),
    key("Ctrl-Z", "stop, until fg; Ctrl-L draws all anew", &[], Action::Suspend),
    key("q, Ctrl-C", "end", &[KeyCode::Char('q'), KeyCode::F(10)], Action::Quit),
];

const fn key(names: &'static str, does: &'static str, codes: &'static [KeyCode], action: Action) -> Key {
    Key { names, does, codes, action }
}

/// What an event of the terminal asks for. `typing`: letters belong to the filter. `place`: where the list stands.
pub(super) fn action(event: &Event, typing: bool, place: &Place) -> Option<Action> {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => of_key(key, typing),
        Event::Mouse(mouse) => match mouse.kind {
            MouseEventKind::ScrollUp => Some(Action::Move(-3)),
            MouseEventKind::ScrollDown => Some(Action::Move(3)),
            MouseEventKind::Down(MouseButton::Left) => place.action(mouse.column, mouse.row),
            MouseEventKind::Down(MouseButton::Right) => Some(Action::Back),
            _ => None,
        },
        _ => None,
    }
}

fn of_key(key: &KeyEvent, typing: bool) -> Option<Action> {
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return match key.code {
            KeyCode::Char('c') => Some(Action::Quit),
            KeyCode::Char('z') => Some(Action::Suspend),
            KeyCode::Char('l') => Some(Action::Redraw),
            _ => None,
        };
    }
    if typing {
        return match key.code {
            KeyCode::Enter | KeyCode::Esc => Some(Action::Accept),
            KeyCode::Backspace => Some(Action::Erase),
            KeyCode::Char(letter) => Some(Action::Type(letter)),
            _ => None,
        };
    }
    KEYS.iter().find(|known| known.codes.contains(&key.code)).map(|known| known.action.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(code: KeyCode, typing: bool) -> Option<Action> {
        action(&Event::Key(KeyEvent::from(code)), typing, &Place::default())
    }

    #[test]
    fn letters_are_keys_or_a_filter() {
        assert_eq!(press(KeyCode::Char('q'), false), Some(Action::Quit));
        assert_eq!(press(KeyCode::Char('q'), true), Some(Action::Type('q')));
        assert_eq!(press(KeyCode::Enter, true), Some(Action::Accept));
        assert_eq!(press(KeyCode::F(12), false), None);
    }

    #[test]
    fn no_key_means_two_things() {
        let mut seen = Vec::new();
        for code in KEYS.iter().flat_map(|key| key.codes) {
            assert!(!seen.contains(&code), "{code:?}");
            seen.push(code);
        }
    }
}
