//! A function of a profile, as its source names it, and whose code it is by the file that holds it.

use whyslow_model::LANGUAGES;

/// Programs that run the programs of others, by the beginning of their files' names (`python3.11`, `libruby-3.1.so.3.1`).
const INTERPRETERS: [&str; 6] = ["java", "node", "perl", "php", "python", "ruby"];
/// Libraries that are compiled into programs: C++'s and Rust's own.
const COMPILED_IN: [&str; 4] = ["std::", "core::", "alloc::", "__gnu_cxx::"];
/// Folders of compilers' headers and libraries: the system's, GCC's, Rust's.
const TOOLCHAINS: [&str; 3] = ["/usr/include/", "/usr/lib/gcc/", "/rustc/"];

/// A function, as far as a source tells it; what is not known is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FunctionRef<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its source file.
    pub file: &'a str,
    /// The program or library that it is in; `[kernel.kallsyms]` for the kernel.
    pub module: &'a str,
    /// It is no function, but the name of a thread that perf's stacks were folded with.
    pub is_thread: bool,
}

impl FunctionRef<'_> {
    /// True for code that is known by its place to be somebody else's than the program's: a library of the system, an interpreter, what
    /// compilers bring along. Frames of languages are told apart by their own lists.
    pub(crate) fn is_of_library(&self) -> bool {
        if LANGUAGES.contains(&self.module) {
            return false;
        }
        // Rust writes `<core::iter::Map as …>::next` and `<u8>::rotate_left`.
        let name = self.name.trim_start_matches(['<', '&']);
        let of_type = self.name.starts_with('<')
            && name.starts_with(|c: char| c.is_lowercase())
            && !name.split(['>', ' ']).next().is_some_and(|of| of.contains("::"));
        if of_type || COMPILED_IN.iter().any(|library| name.starts_with(library)) {
            return true;
        }
        if is_of_toolchain(self.file) {
            return true;
        }
        // Python's modules in C: of its library (`lib-dynload`), or of a package.
        if self.module.contains("/lib-dynload/") || self.module.contains(".cpython-3") {
            return true;
        }
        let name = self.module.rsplit('/').next().unwrap_or(self.module);
        let is_library = name.contains(".so")
            && ["/lib", "/usr/lib", "/usr/local/lib"].iter().any(|folder| self.module.starts_with(folder));
        is_library || INTERPRETERS.iter().any(|interpreter| is_of_interpreter(name, interpreter))
    }
}

/// True for source files of compilers' headers and libraries: GCC's, the system's, Rust's.
pub fn is_of_toolchain(file: &str) -> bool {
    TOOLCHAINS.iter().any(|folder| file.starts_with(folder))
}

/// True for the file of an interpreter or of its library: `ruby3.1`, `libruby-3.1.so`, `php8.2`, `php-fpm8.2`, `perl`; not `perlbal`
/// or `node_exporter`.
pub(super) fn is_of_interpreter(module: &str, interpreter: &str) -> bool {
    let Some(rest) = module.strip_prefix("lib").unwrap_or(module).strip_prefix(interpreter) else {
        return false;
    };
    let is_version = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    let named = ["-fpm", "-cgi", ".so"].iter().any(|end| rest.starts_with(end));
    rest.is_empty() || rest == "js" || named || is_version(rest.strip_prefix('-').unwrap_or(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whose_code_it_is_by_its_file() {
        let is_of_library =
            |name, module, file| FunctionRef { name, file, module, is_thread: false }.is_of_library();
        assert!(is_of_library("crypt_r", "/usr/lib/x86_64-linux-gnu/libcrypt.so.1", ""));
        assert!(is_of_library("unnamed", "/usr/bin/python3.11", ""));
        assert!(is_of_library(
            "array_extend",
            "/usr/lib/python3.11/lib-dynload/array.cpython-311-x86_64-linux-gnu.so",
            ""
        ));
        assert!(is_of_library("<u8>::rotate_left", "/srv/app", "/rustc/1/library/core/src/num.rs"));
        assert!(is_of_library(
            "std::vector<int>::push_back",
            "/srv/app",
            "/usr/include/c++/12/bits/stl_vector.h"
        ));
        assert!(!is_of_library("save_row", "/srv/app", "store.c"));
        assert!(!is_of_library("save_row", "/srv/lib/libshop.so", ""));
        for own in ["/srv/nodewatch", "/usr/bin/node_exporter", "/opt/php-gateway", "/srv/perlbal"] {
            assert!(!is_of_library("work", own, ""), "{own}");
        }
        for run_by in [
            "python3.11",
            "libruby-3.1.so.3.1",
            "php8.2",
            "php-fpm8.2",
            "perl",
            "nodejs",
            "node",
            "libnode.so.108",
        ] {
            assert!(is_of_library("work", run_by, ""), "{run_by}");
        }
        assert!(!is_of_library("work", "[python]", "/srv/jobs.py"));
        assert!(!is_of_library("load", "", ""));
    }
}
