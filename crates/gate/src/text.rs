//! Tokens as people write them.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use quote::ToTokens;

/// Characters of a text at most.
const MOST: usize = 160;

/// The code of `piece` in one line, cut where it is long.
pub(crate) fn of(piece: &impl ToTokens) -> String {
    let mut out = String::new();
    write(piece.to_token_stream(), &mut out);
    if out.chars().count() > MOST {
        out = out.chars().take(MOST - 1).collect::<String>() + "…";
    }
    out
}

fn write(tokens: TokenStream, out: &mut String) {
    // What comes next stands at what is before it: at the start, after a prefix (`&x`, `!x`), in the middle of `a.b` and `a::b`.
    let mut glued = true;
    // Between the bars of a closure.
    let mut in_bars = false;
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(punct) => {
                let mut mark = punct.as_char().to_string();
                let mut spacing = punct.spacing();
                while spacing == Spacing::Joint
                    && let Some(TokenTree::Punct(next)) =
                        tokens.next_if(|next| matches!(next, TokenTree::Punct(_)))
                {
                    mark.push(next.as_char());
                    spacing = next.spacing();
                }
                let starts = out.is_empty()
                    || out.ends_with(['(', '[', ',', '=', '|', '&', '<', '>', '{', '+', '-', '/'])
                    || [" in", " return", " if", " match"].iter().any(|word| out.ends_with(word));
                let is_bar = mark == "|" && (in_bars || starts);
                let sticks = matches!(mark.as_str(), "," | ";" | "?" | ":") || in_bars && is_bar;
                let is_middle = matches!(mark.as_str(), "." | "::" | ".." | "..=" | "\'");
                let is_prefix =
                    matches!(mark.as_str(), "!" | "&" | "*" | "-" | "|" | "||" | "**" | "&&" | "\'")
                        && starts;
                if !(glued || sticks || is_middle) {
                    out.push(' ');
                }
                out.push_str(&mark);
                glued = is_middle || is_prefix && !(is_bar && in_bars);
                if is_bar {
                    in_bars = !in_bars;
                }
            }
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::Brace => ("{ ", " }"),
                    Delimiter::None => ("", ""),
                };
                let calls = open != "{ "
                    && out.ends_with(|before: char| {
                        before.is_alphanumeric() || matches!(before, '_' | ')' | ']' | '?')
                    })
                    && ![" in", " return", " if", " match"].iter().any(|word| out.ends_with(word));
                if !(glued || calls) {
                    out.push(' ');
                }
                out.push_str(open);
                write_inside(group.stream(), out);
                out.push_str(close);
                glued = false;
            }
            TokenTree::Ident(_) | TokenTree::Literal(_) => {
                if !glued {
                    out.push(' ');
                }
                out.push_str(&token.to_string());
                glued = false;
            }
        }
    }
}

fn write_inside(tokens: TokenStream, out: &mut String) {
    let mut inside = String::new();
    write(tokens, &mut inside);
    out.push_str(&inside);
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn code_reads_as_it_was_written() {
        for code in [
            "stream.syncs.count",
            "guards::FEW_CALLS",
            "(misses as f64)",
            "thing.current(Metric::Age)",
            "a >= MIN && b.is_some()",
            "row.side == Side::Server && row.stats.count > 0",
            "!waits && !life.is_unidentified()",
            "rows.filter(|file| *file != 3)",
            "found.map(|(_, kind)| kind).is_none()",
            "rows.map(|&row| &row.name)",
            "is_a(x) || !is_b(&y)",
        ] {
            let parsed: syn::Expr = syn::parse_str(code).unwrap();
            assert_eq!(of(&parsed), code);
        }
    }
}
