//! Symbols as people write them: C++, Rust and Swift demangled. It is done here once, for all frames of a recording.
//!
//! C++ loses its parameters, the type that it returns and its template arguments (`std::vector<...>::push_back`).

use super::guard;
use std::borrow::Cow;
use std::fmt::{self, Write};

/// A longer symbol is no name that anybody reads, and demangling is not linear.
const MAX_SYMBOL: usize = 4096;
/// Bytes of a readable name: a short symbol may repeat its parts without end.
const MAX_NAME: usize = 16 << 10;

/// A symbol made readable; as it is where it is of no known form.
pub(super) fn readable(symbol: &str) -> Cow<'_, str> {
    if symbol.len() > MAX_SYMBOL {
        return Cow::Borrowed(symbol);
    }
    guard::guarded(|| demangled(symbol)).map_or(Cow::Borrowed(symbol), Cow::Owned)
}

fn demangled(symbol: &str) -> Option<String> {
    if let Some(rest) = symbol.strip_prefix("$s").or_else(|| symbol.strip_prefix("_$s")) {
        return swift(rest);
    }
    let mut name = Bounded(String::new());
    if symbol.starts_with("_R") || symbol.starts_with("_ZN") && symbol.contains("17h") {
        // Names of functions alone: with its hash a symbol of another language may look alike.
        if let Ok(rust) = rustc_demangle::try_demangle(symbol) {
            write!(name, "{rust:#}").ok()?;
            return Some(name.0);
        }
    }
    if !symbol.starts_with("_Z") && !symbol.starts_with("___Z") {
        return None;
    }
    let options = cpp_demangle::DemangleOptions::new().no_params().no_return_type();
    cpp_demangle::Symbol::new(symbol).ok()?.structured_demangle(&mut name, &options).ok()?;
    let name = name.0.split(" [clone").next().unwrap_or_default();
    Some(without_arguments(name))
}

struct Bounded(String);

impl Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > MAX_NAME {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

/// `<...>` for template arguments, but not for what is part of `operator<`, `operator->` and the like.
fn without_arguments(name: &str) -> String {
    let mut shown = String::with_capacity(name.len());
    let (mut depth, mut previous) = (0_u32, '\0');
    for character in name.chars() {
        match character {
            '<' if depth > 0 || !(shown.ends_with("operator") || shown.ends_with("operator<")) => {
                if depth == 0 {
                    shown.push_str("<...>");
                }
                depth += 1;
            }
            '>' if depth > 0 && previous != '-' => depth -= 1,
            _ if depth == 0 => shown.push(character),
            _ => {}
        }
        previous = character;
    }
    shown
}

/// The path of a Swift function: names with their length, each of a type followed by its kind (docs/ABI/Mangling.rst of Swift:
/// `context decl-name`). What repeats earlier parts is left as it is.
fn swift(mut rest: &str) -> Option<String> {
    let mut path: Vec<&str> = Vec::new();
    let signature = loop {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let length = rest.get(..digits)?;
        // A leading zero says that words of earlier names follow.
        if length.starts_with('0') {
            return None;
        }
        let (name, behind) = rest[digits..].split_at_checked(length.parse().ok()?)?;
        path.push(name);
        let kind = behind.strip_prefix(['C', 'V', 'O', 'P']);
        match kind {
            _ if path.len() == 1 && behind.starts_with(|c: char| c.is_ascii_digit()) => rest = behind,
            Some(behind) if path.len() > 1 && behind.starts_with(|c: char| c.is_ascii_digit()) => {
                rest = behind
            }
            _ => break behind,
        }
    };
    let name = (path.len() > 1).then(|| path.join("."))?;
    if signature.ends_with('F') || signature.ends_with("FZ") {
        return Some(name);
    }
    (signature.contains('F') && signature.ends_with("U_")).then(|| format!("closure in {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_are_readable() {
        for (symbol, name) in [
            ("_ZN3foo3barEiPKc", "foo::bar"),
            ("_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<...>::push_back"),
            ("_ZNSt3mapIiSt6vectorIiSaIiEESt4lessIiESaISt4pairIKiS2_EEEixERS6_", "std::map<...>::operator[]"),
            ("_ZN3FoolsERKS_", "Foo::operator<<"),
            ("_ZN3FooptEv", "Foo::operator->"),
            ("_ZNK3FooltIiEEbT_", "Foo::operator< <...>"),
            ("_ZN12_GLOBAL__N_13runEv", "(anonymous namespace)::run"),
            ("_ZN3foo3barEi.cold", "foo::bar"),
            ("_ZNSt6vectorIiSaIiEEC2Ev", "std::vector<...>::vector"),
            ("_RNvC6_123foo3bar", "123foo::bar"),
            ("_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write"),
            ("$s4shop5StoreC4save3keyySS_tF", "shop.Store.save"),
            ("$s4shop7computeyS2iF", "shop.compute"),
            ("$s4shop3runyyFyycfU_", "closure in shop.run"),
            ("$s4shop5StoreC5countSivg", "$s4shop5StoreC5countSivg"),
            ("$sSS6appendyySSF", "$sSS6appendyySSF"),
            ("$s", "$s"),
            ("main.(*List[...]).Push", "main.(*List[...]).Push"),
            ("_Znot_a_symbol", "_Znot_a_symbol"),
            ("read", "read"),
        ] {
            assert_eq!(readable(symbol), name, "{symbol}");
        }
    }

    #[test]
    fn a_symbol_that_repeats_itself_ends() {
        // Each parameter is a pair of the one before twice.
        let pairs: String = (0..60).map(|at| format!("St4pairIS{0}_S{0}_E", to_base_36(at))).collect();
        let symbol = format!("_Z1fISt4pairIiiE{pairs}Evv");
        assert!(readable(&symbol).len() <= MAX_NAME.max(symbol.len()));
        for depth in [100, 1000, 4000] {
            let _ = readable(&format!("_Z1f{}i", "P".repeat(depth)));
            let _ = readable(&format!("_ZN{}", "1a".repeat(depth / 2)));
            let _ = readable(&format!("_Z1fI{}", "X".repeat(depth)));
        }
    }

    fn to_base_36(number: u32) -> String {
        std::char::from_digit(number % 36, 36)
            .map(|digit| digit.to_ascii_uppercase().to_string())
            .unwrap_or_default()
    }
}
