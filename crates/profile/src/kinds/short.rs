//! Names of functions as people speak of them.

use crate::names;

/// `bare` without what pprof writes behind a name.
pub(super) fn bare(name: &str) -> &str {
    name.trim_end_matches(" (inline)").trim_end_matches(" (partial-inline)")
}

/// A function as people speak of it: Go's without the path of its package, C++'s without its parameters, the type that it returns
/// and its template arguments.
pub fn short(name: &str) -> String {
    let name = bare(name);
    if name.starts_with("_Z") || name.starts_with("_R") {
        return names::readable(name).into_owned();
    }
    // Rust's `<T as Trait>::f` has no other name.
    if name.contains("::") && name.contains('(') && !name.starts_with('<') {
        let plain = names::readable(name);
        // `clone .constprop.0` of a compiler's copy, then the type before the name.
        let plain = plain.split(" [clone").next().unwrap_or(&plain).trim_end();
        let begin =
            if plain.contains("operator") { 0 } else { plain.rfind(' ').map_or(0, |space| space + 1) };
        return plain[begin..].trim_start_matches(['*', '&']).replace("::::", "::");
    }
    let before_arguments = name.find(['(', '[', '<', ' ']).unwrap_or(name.len());
    match name[..before_arguments].rfind('/') {
        Some(slash) if !name.contains("::") && !name.starts_with('[') => name[slash + 1..].to_string(),
        _ => name.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_as_people_say_them() {
        assert_eq!(short("go.intra.test.com/golang/nux.readTcp"), "nux.readTcp");
        assert_eq!(
            short("github.com/a/b.(*T[go.shape.string/x]).Set (inline)"),
            "b.(*T[go.shape.string/x]).Set"
        );
        assert_eq!(short("std::vector<a/b>::push_back"), "std::vector<a/b>::push_back");
        assert_eq!(
            short(
                "heap::base::SlotCallbackResult v8::internal::Scavenger::ScavengeObject<v8::internal::FullHeapObjectSlot>(v8::internal::FullHeapObjectSlot, v8::internal::HeapObject)"
            ),
            "v8::internal::Scavenger::ScavengeObject"
        );
        assert_eq!(
            short("node::(anonymous namespace)::Parser::Execute(char const*, unsigned long)"),
            "node::Parser::Execute"
        );
        assert_eq!(short("JavaCalls::call(JavaValue*, Thread*) [clone .constprop.1]"), "JavaCalls::call");
        assert_eq!(short("main"), "main");
        assert_eq!(short("_ZNSt6vectorIlSaIlEE9push_backEOl"), "std::vector::push_back");
    }
}
