//! Which language runtimes a profile shows: told by the names of its functions.

use super::FunctionRef;
use super::function::is_of_interpreter;

/// A language's runtime.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Runtime {
    /// Go.
    Go,
    /// The Java virtual machine.
    Java,
    /// CPython.
    Python,
    /// Node.js (V8).
    Node,
    /// Ruby (MRI).
    Ruby,
    /// PHP (Zend).
    Php,
    /// Perl.
    Perl,
}

impl Runtime {
    const ALL: [Runtime; 7] = [
        Runtime::Go,
        Runtime::Java,
        Runtime::Python,
        Runtime::Node,
        Runtime::Ruby,
        Runtime::Php,
        Runtime::Perl,
    ];

    /// True for interpreters that take memory for each value, a number too: their allocator runs whatever a program does.
    pub fn boxes_all_values(self) -> bool {
        matches!(self, Runtime::Python | Runtime::Ruby | Runtime::Php | Runtime::Perl)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Runtime::Go => "Go",
            Runtime::Java => "Java",
            Runtime::Python => "Python",
            Runtime::Node => "Node.js",
            Runtime::Ruby => "Ruby",
            Runtime::Php => "PHP",
            Runtime::Perl => "Perl",
        }
    }

    /// True where the function can be of this runtime only.
    fn shows(self, function: &FunctionRef<'_>) -> bool {
        let FunctionRef { name, file, module, .. } = *function;
        let starts = |with: &[&str]| with.iter().any(|start| name.starts_with(start));
        match self {
            Runtime::Go => {
                module == "[go]"
                    || file.ends_with(".go")
                    || starts(&["runtime.", "main.main", "syscall.Syscall", "strings.", "net/http."])
                        && !name.contains("::")
            }
            Runtime::Java => {
                module == "[java]"
                    || module.contains("libjvm.so")
                    || file.ends_with(".java")
                    || starts(&[
                        "java/",
                        "java.",
                        "Ljava/",
                        "sun.misc.",
                        "sun.nio.",
                        "JavaThread::",
                        "JavaCalls::",
                        "GCTaskThread::",
                    ])
            }
            Runtime::Python => {
                module == "[python]"
                    || file.ends_with(".py")
                    || module.contains("libpython")
                    || module.rsplit('/').next().is_some_and(|module| module.starts_with("python3"))
                    || module.contains(".cpython-3")
                    || starts(&["_PyEval_", "PyEval_", "py::", "Py_RunMain", "pymain_"])
                    || name.ends_with(')') && name.contains(" (") && name.contains(".py")
            }
            Runtime::Node => {
                module == "[node]"
                    || file.ends_with(".js")
                    || starts(&[
                        "v8::internal::",
                        "node::",
                        "LazyCompile:",
                        "Builtins_",
                        "(garbage collector)",
                    ])
            }
            Runtime::Ruby => module == "[ruby]" || file.ends_with(".rb") || is_in(module, "ruby"),
            Runtime::Php => module == "[php]" || file.ends_with(".php") || is_in(module, "php"),
            Runtime::Perl => module == "[perl]" || file.ends_with(".pl") || is_in(module, "perl"),
        }
    }
}

/// A set of runtimes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Runtimes(u8);

impl Runtimes {
    pub(crate) fn of<'a>(functions: impl Iterator<Item = FunctionRef<'a>>) -> Runtimes {
        let mut found = Runtimes(0);
        for function in functions {
            for runtime in Runtime::ALL {
                if !found.has(runtime) && runtime.shows(&function) {
                    found.0 |= 1 << runtime as u8;
                }
            }
        }
        found
    }

    pub(crate) fn has(self, runtime: Runtime) -> bool {
        self.0 & 1 << runtime as u8 != 0
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = Runtime> {
        Runtime::ALL.into_iter().filter(move |runtime| self.has(*runtime))
    }
}

fn is_in(module: &str, interpreter: &str) -> bool {
    is_of_interpreter(module.rsplit('/').next().unwrap_or(module), interpreter)
}
