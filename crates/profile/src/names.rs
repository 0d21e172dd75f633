//! Names of functions as pprof shows them: C++ and Rust symbols readable, without parameters and template arguments
//! (google/pprof, `internal/symbolizer`, the default mode).

use std::borrow::Cow;
use whyslow_model::profile::{Profile, StringId};

/// What a function is called: its name if the source tells one apart from the symbol, else the symbol made readable.
pub fn shown<'a>(profile: &'a Profile, name: StringId, system_name: StringId) -> Cow<'a, str> {
    let (name, system) = (profile.str(name), profile.str(system_name));
    if !name.is_empty() && name != system {
        return Cow::Borrowed(name);
    }
    readable(system)
}

/// A symbol made readable.
pub fn readable(symbol: &str) -> Cow<'_, str> {
    // Darwin puts an underscore before each symbol.
    let mangled = symbol.strip_prefix("_").filter(|rest| rest.starts_with("_Z") || rest.starts_with("_R"));
    if let Some(name) = demangled(mangled.unwrap_or(symbol)) {
        return Cow::Owned(name);
    }
    if !looks_demangled(symbol) {
        return Cow::Borrowed(symbol);
    }
    let without_parameters = without(symbol, b'(', b')');
    match without(&without_parameters, b'<', b'>') {
        Cow::Borrowed(_) => without_parameters,
        Cow::Owned(name) => Cow::Owned(name),
    }
}

/// A C++ or Rust symbol demangled; `None` where it is none.
fn demangled(symbol: &str) -> Option<String> {
    // A longer one is no name that anybody reads, and demangling is not linear.
    const LONGEST: usize = 4096;
    if symbol.len() > LONGEST {
        return None;
    }
    if (symbol.starts_with("_R") || symbol.starts_with("_ZN"))
        && let Ok(name) = rustc_demangle::try_demangle(symbol)
    {
        return Some(format!("{name:#}"));
    }
    if !symbol.starts_with("_Z") && !symbol.starts_with("___Z") {
        return None;
    }
    let parsed = cpp_demangle::Symbol::new(symbol).ok()?;
    let options = cpp_demangle::DemangleOptions::new().no_params().no_return_type();
    let name = parsed.demangle_with_options(&options).ok()?;
    Some(without_templates(&name))
}

/// Without `<…>`, but not those of `operator<`, `operator->` and the like.
fn without_templates(name: &str) -> String {
    let mut shown = String::with_capacity(name.len());
    let mut depth = 0_u32;
    let mut previous = '\0';
    for character in name.chars() {
        match character {
            '<' if depth > 0 || !(shown.ends_with("operator") || shown.ends_with("operator<")) => depth += 1,
            '>' if depth > 0 && previous != '-' => depth -= 1,
            _ if depth == 0 => shown.push(character),
            _ => {}
        }
        previous = character;
    }
    shown
}

/// Whether a name is C++ already readable: not Java's `class.<init>` and not Go's `foo.(*Bar[...]).Method`.
fn looks_demangled(name: &str) -> bool {
    !name.contains(".<")
        && !name.contains("]).")
        && (name.contains(['<', '>', '[', ']']) || name.contains("::"))
}

/// Without what stands between `start` and `end`; as it is where they do not match.
fn without(name: &str, start: u8, end: u8) -> Cow<'_, str> {
    if !name.bytes().any(|byte| byte == start || byte == end) {
        return Cow::Borrowed(name);
    }
    let mut kept = String::with_capacity(name.len());
    let (mut depth, mut from) = (0_usize, 0);
    for (at, byte) in name.bytes().enumerate() {
        if byte == start {
            if depth == 0 {
                kept.push_str(&name[from..at]);
                from = at;
            }
            depth += 1;
        } else if byte == end {
            let Some(outer) = depth.checked_sub(1) else {
                // What stands before was removed already, as in pprof.
                kept.push_str(&name[from..]);
                return Cow::Owned(kept);
            };
            depth = outer;
            if depth == 0 {
                from = at + 1;
            }
        }
    }
    kept.push_str(&name[from..]);
    Cow::Owned(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_are_shown_without_parameters_and_templates() {
        assert_eq!(readable("_ZN3foo3barEiPKc"), "foo::bar");
        assert_eq!(readable("_ZNSt6vectorIiSaIiEE9push_backERKi"), "std::vector::push_back");
        assert_eq!(readable("_ZN3FoolsERKS_"), "Foo::operator<<");
        assert_eq!(readable("_RNvC6_123foo3bar"), "123foo::bar");
        assert_eq!(readable("_ZN4core3fmt5write17h0123456789abcdefE"), "core::fmt::write");
        assert_eq!(
            readable("std::vector<int, std::allocator<int> >::push_back(int const&)"),
            "std::vector::push_back"
        );
        assert_eq!(readable("runtime.mallocgc"), "runtime.mallocgc");
        assert_eq!(readable("main.(*List[...]).Push"), "main.(*List[...]).Push");
        assert_eq!(readable("slices.SortFunc[...]"), "slices.SortFunc[...]");
        assert_eq!(readable("java.util.List.<init>"), "java.util.List.<init>");
        assert_eq!(readable("a::b(c"), "a::b(c");
        assert_eq!(readable("_Znot_a_symbol"), "_Znot_a_symbol");
    }
}
