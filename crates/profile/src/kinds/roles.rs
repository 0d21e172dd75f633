//! Which role each function of a profile has: looked up once a function, by its name, its file and the module it is in.

use super::function::{FunctionRef, is_of_interpreter};
use super::lists::Names;
use super::runtime::{Runtime, Runtimes};
use super::{
    CostKind, Role, go, interpreters, java, kernel, languages, native, node, packages, python, python_calls,
};
use std::borrow::Cow;
use std::sync::LazyLock;

static PYTHON: LazyLock<Names> = LazyLock::new(|| Names::of(&[python::LIST, python_calls::LIST]));
static NODE: LazyLock<Names> = LazyLock::new(|| Names::of(&[node::LIST]));
static RUBY: LazyLock<Names> = LazyLock::new(|| Names::of(&[interpreters::RUBY]));
static PHP: LazyLock<Names> = LazyLock::new(|| Names::of(&[interpreters::PHP]));
static PERL: LazyLock<Names> = LazyLock::new(|| Names::of(&[interpreters::PERL]));
static NATIVE: LazyLock<Names> = LazyLock::new(|| Names::of(&native::LISTS));
static KERNEL: LazyLock<Names> = LazyLock::new(|| Names::of(&[kernel::LIST]));

/// The roles of a profile's functions.
#[derive(Debug, Default)]
pub struct Roles {
    roles: Vec<Role>,
    runtimes: Runtimes,
}

impl Roles {
    /// Of all functions of a profile, in their order.
    pub fn of<'a>(functions: impl Iterator<Item = FunctionRef<'a>> + Clone) -> Roles {
        let runtimes = Runtimes::of(functions.clone());
        let roles = functions.map(|function| match role(&function, runtimes) {
            // No list knows it, but the file that it is in.
            Role::Own if function.is_of_library() => Role::Plumbing,
            role => role,
        });
        let roles = roles.collect();
        Roles { roles, runtimes }
    }

    /// The runtimes that the profile shows.
    pub fn runtimes(&self) -> impl Iterator<Item = Runtime> {
        self.runtimes.iter()
    }

    /// The kind that a function has by itself; the program's own code and plumbing have none.
    pub fn kind(&self, function: usize) -> Option<CostKind> {
        self.role(function).kind()
    }

    /// True for code of the program, as opposed to runtime, library and kernel.
    pub fn is_own(&self, function: usize) -> bool {
        self.role(function) == Role::Own
    }

    /// True for code without a name.
    pub(crate) fn is_nameless(&self, function: usize) -> bool {
        self.role(function) == Role::Nameless
    }

    pub(crate) fn role(&self, function: usize) -> Role {
        self.roles.get(function).copied().unwrap_or(Role::Nameless)
    }
}

fn role(function: &FunctionRef<'_>, runtimes: Runtimes) -> Role {
    if function.is_thread {
        return Role::Plumbing;
    }
    if let Some(role) = languages::role(function) {
        return role;
    }
    let (name, is_kernel) = bare(function.name);
    let module = function.module.rsplit('/').next().unwrap_or("");
    let is_kernel = is_kernel
        || function.module.starts_with("[kernel")
        || function.module.starts_with("[guest.kernel")
        || module.ends_with(".ko");
    if is_kernel {
        return KERNEL.role(name).unwrap_or(Role::Kernel(CostKind::SystemCall));
    }
    if is_nameless(name) {
        let module = if name.starts_with('[') { name.trim_matches(['[', ']']) } else { module };
        let known = packages::of_extension(function.module).or_else(|| by_module(module));
        return known.unwrap_or(Role::Nameless);
    }
    if let Some(role) = interpreter_role(name, module) {
        return role;
    }
    let of_runtime = || {
        let go = || runtimes.has(Runtime::Go).then(|| go::role(name)).flatten();
        let python =
            || runtimes.has(Runtime::Python).then(|| python_role(name, function.file, module)).flatten();
        let java = || runtimes.has(Runtime::Java).then(|| java::role(name)).flatten();
        let node = || runtimes.has(Runtime::Node).then(|| node_role(name, function.file)).flatten();
        go().or_else(python).or_else(java).or_else(node)
    };
    let native = || {
        let plain = plain_native(name);
        let kernel = function.module.is_empty().then(|| KERNEL.role(&plain)).flatten();
        NATIVE.role(&plain).or(kernel)
    };
    let extension = || packages::of_extension(function.module);
    // What the list of Python holds for nothing in particular, its module may.
    let known = of_runtime().filter(|role| *role != Role::Plumbing || extension().is_none());
    known.or_else(extension).or_else(native).or_else(|| by_module(module)).unwrap_or(Role::Own)
}

/// A name without what tools write behind it: `(inline)` of pprof, `_[k]` (kernel), `_[j]`, `_[i]` of the folding
/// scripts; and whether it said that it is the kernel's.
fn bare(name: &str) -> (&str, bool) {
    let name = name.trim_end_matches(" (inline)").trim_end_matches(" (partial-inline)");
    if let Some(name) = name.strip_suffix("_[k]") {
        return (name, true);
    }
    (name.trim_end_matches("_[j]").trim_end_matches("_[i]"), false)
}

fn is_nameless(name: &str) -> bool {
    name.is_empty()
        || matches!(name, "<unknown>" | "??" | ".unknown_Java")
        || name.starts_with("0x")
        || name.starts_with('[') && name.ends_with(']')
}

/// The role of code in a library of a known purpose.
fn by_module(module: &str) -> Option<Role> {
    let known = native::MODULES.iter().find(|(start, _)| module.starts_with(start));
    // A program that node runs has no code of its own in node's file.
    known.map(|(_, role)| *role).or((module == "node").then_some(Role::Plumbing))
}

/// Ruby's, PHP's and Perl's functions are told by where they are: their names are as short as anybody's.
fn interpreter_role(name: &str, module: &str) -> Option<Role> {
    [("ruby", &RUBY), ("php", &PHP), ("perl", &PERL)]
        .into_iter()
        .find(|(interpreter, _)| is_of_interpreter(module, interpreter))
        .and_then(|(_, names)| names.role(name))
}

/// Python's functions come as `py::name:/path/file.py` (perf trampoline), `name (file.py:12)` (py-spy) or with a file.
fn python_role(name: &str, file: &str, module: &str) -> Option<Role> {
    let source = if let Some(rest) = name.strip_prefix("py::") {
        rest.split_once(':').map_or("", |(_, file)| file)
    } else if let Some((_, file)) = name.rsplit_once(" (").filter(|(_, file)| file.contains(".py")) {
        file
    } else if file.ends_with(".py") || file.starts_with("<frozen") {
        file
    } else {
        // `load` and `save` are its pickle's in libpython and in its extensions (`_json.cpython-311-….so`), not in a program beside it.
        return (module.is_empty() || module.contains("python")).then(|| PYTHON.role(name)).flatten();
    };
    let library = source.find("/python3").and_then(|at| source[at + 1..].split_once('/'));
    let in_library = library.map(|(_, path)| path).filter(|path| !path.contains("-packages/"));
    let module = in_library.or_else(|| source.starts_with("<frozen").then_some(source));
    let listed = |module: &str| {
        python::MODULES.iter().find(|(start, _)| module.starts_with(start)).map(|(_, role)| *role)
    };
    Some(match module {
        Some(module) => listed(module).unwrap_or(Role::Plumbing),
        None => Role::Own,
    })
}

/// JavaScript's functions come as `LazyCompile:*name file.js:1:2`, `JS:~name file`, `Function:^name file` (perf maps)
/// or with a file.
fn node_role(name: &str, file: &str) -> Option<Role> {
    let is_script =
        ["LazyCompile:", "Function:", "JS:", "Eval:", "Script:"].iter().any(|start| name.starts_with(start));
    if file.starts_with("node:") {
        return Some(Role::Plumbing);
    }
    // Where a C++ name begins with the type that it returns, what it is stands behind that.
    let plain = || name.contains("::").then(|| NODE.role(&plain_native(name))).flatten();
    if let Some(role) = NODE.role(name).or_else(plain) {
        return Some(role);
    }
    (is_script || [".js", ".mjs", ".cjs", ".ts"].iter().any(|end| file.ends_with(end))).then_some(Role::Own)
}

/// A C, C++ or Rust function without what differs from use to use: parameters, returned type, mangling.
fn plain_native(name: &str) -> Cow<'_, str> {
    let name: Cow<'_, str> = demangled(name);
    let name: Cow<'_, str> = match name.contains('$') {
        true => name
            .replace("_$LT$", "<")
            .replace("$LT$", "<")
            .replace("$GT$", ">")
            .replace("$u20$", " ")
            .replace("..", "::")
            .into(),
        false => name,
    };
    let is_operator = name.contains("operator");
    let (mut depth, mut begin, mut end) = (0i32, 0, name.len());
    for (at, byte) in name.bytes().enumerate() {
        match byte {
            b'<' => depth += 1,
            b'>' if at == 0 || name.as_bytes()[at - 1] != b'-' => depth -= 1,
            b' ' if depth == 0 && !is_operator => begin = at + 1,
            b'(' if depth == 0 && at > 0 && !is_operator && !name[at..].starts_with("(anonymous") => {
                end = at;
                break;
            }
            _ => {}
        }
    }
    if begin == 0 && end == name.len() || begin >= end {
        return name;
    }
    name[begin..end].to_string().into()
}

fn demangled(name: &str) -> Cow<'_, str> {
    /// A longer name is no name, and would cost time.
    const LONGEST: usize = 4096;
    if name.len() > LONGEST {
        return name.into();
    }
    if (name.starts_with("_R") || name.starts_with("_ZN") && name.contains("17h"))
        && let Ok(demangled) = rustc_demangle::try_demangle(name)
    {
        return format!("{demangled:#}").into();
    }
    if name.starts_with("_Z") {
        let symbol = cpp_demangle::Symbol::new(name);
        if let Some(demangled) = symbol.ok().and_then(|symbol| symbol.demangle().ok()) {
            return demangled.into();
        }
    }
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use CostKind::*;

    fn kinds(names: &[&str]) -> Vec<Option<CostKind>> {
        let functions = names.iter().map(|name| FunctionRef { name, ..FunctionRef::default() });
        let roles = Roles::of(functions);
        (0..names.len()).map(|at| roles.kind(at)).collect()
    }

    #[test]
    fn go_functions_by_package_and_name() {
        let names = [
            "runtime.goexit",
            "runtime.mallocgc",
            "strings.Fields",
            "strings.(*Builder).WriteByte",
            "encoding/json.(*decodeState).object",
            "go.intra.test.com/golang/nux.readTcp",
            "test-agent/sysinfo.ProcCollector.Run",
            "net/http.(*conn).serve",
            "github.com/json-iterator/go.(*Iterator).ReadObject",
            "scanblock",
            "slices.pdqsortOrdered[go.shape.int]",
            "strconv.ParseUint (inline)",
        ];
        let expected = [
            None,
            Some(Allocation),
            Some(TextParsing),
            Some(Formatting),
            Some(Serialization),
            None,
            None,
            None,
            Some(Serialization),
            Some(GarbageCollection),
            Some(Sorting),
            Some(TextParsing),
        ];
        assert_eq!(kinds(&names), expected);
        let roles = Roles::of(names.iter().map(|name| FunctionRef { name, ..FunctionRef::default() }));
        let own: Vec<usize> = (0..names.len()).filter(|at| roles.is_own(*at)).collect();
        assert_eq!(own, [5, 6]);
        assert_eq!(roles.runtimes().collect::<Vec<_>>(), [Runtime::Go]);
    }

    #[test]
    fn native_functions_whatever_they_are_written_like() {
        let names = [
            "_int_malloc",
            "void std::__introsort_loop<int*, long, __gnu_cxx::__ops::_Iter_less_iter>(int*, int*, long)",
            "_ZNSt6vectorIlSaIlEE9push_backEOl",
            "<serde_json::de::Deserializer<R> as serde::de::Deserializer>::deserialize_any",
            "_$LT$serde_json..de..Deserializer",
            "operator new(unsigned long)",
            "find_rule",
            "do_futex_wait.constprop.0",
            "__schedule_[k]",
            "tcp_v4_rcv_[k]",
            "std::__detail::_Executor<char const*, std::allocator<x>, std::regex_traits<char>, true>::_M_dfs(long)",
            "[libcrypto.so.3]",
            "0x7f00",
        ];
        let expected = [
            Some(Allocation),
            Some(Sorting),
            None,
            Some(Serialization),
            Some(Serialization),
            Some(Allocation),
            None,
            Some(Locking),
            Some(Scheduling),
            Some(SystemCall),
            Some(Regex),
            Some(Crypto),
            None,
        ];
        assert_eq!(kinds(&names), expected);
    }

    #[test]
    fn interpreters_by_their_module() {
        let kind = |name: &str, module: &str| {
            let function = FunctionRef { name, module, ..FunctionRef::default() };
            let roles = Roles::of([function].into_iter());
            (roles.kind(0), roles.is_own(0))
        };
        let python = "/usr/lib/libpython3.11.so.1.0";
        assert_eq!(kind("sre_ucs1_match", python), (Some(Regex), false));
        assert_eq!(kind("_PyObject_IS_GC", python), (Some(GarbageCollection), false));
        assert_eq!(
            kind("py_encode_basestring", "_json.cpython-311-x86_64-linux-gnu.so"),
            (Some(Serialization), false)
        );
        assert_eq!(kind("save", "/srv/pricing"), (None, true));
        assert_eq!(kind("gc_mark_children", "libruby-3.1.so.3.1"), (Some(GarbageCollection), false));
        assert_eq!(kind("rb_thread_io_blocking_region", "libruby-3.1.so.3.1"), (None, false));
        assert_eq!(kind("_emalloc", "php-fpm8.2"), (Some(Allocation), false));
        assert_eq!(kind("S_regmatch", "perl"), (Some(Regex), false));
        assert_eq!(kind("gc_mark_children", "rubyx"), (None, true));
    }

    #[test]
    fn what_a_runtime_collects_at_its_end_is_no_garbage_of_the_program() {
        let decided = |names: &[&str], module: &str| {
            let functions = names.iter().map(|name| FunctionRef { name, module, ..FunctionRef::default() });
            let roles = Roles::of(functions);
            super::super::decide((0..names.len()).map(|index| roles.role(index))).kind
        };
        let python = "/usr/lib/libpython3.11.so.1.0";
        let collects = ["subtract_refs", "gc_collect_main", "PyGC_Collect"];
        assert_eq!(decided(&collects, python), GarbageCollection);
        assert_eq!(decided(&[&collects[..], &["Py_FinalizeEx", "Py_RunMain"]].concat(), python), Program);
        let ruby = "libruby-3.1.so.3.1";
        assert_eq!(decided(&["gc_mark_children", "rb_gc_start"], ruby), GarbageCollection);
        assert_eq!(decided(&["gc_mark_children", "rb_ec_teardown"], ruby), Program);
    }

    #[test]
    fn java_and_python_and_node_names() {
        let java = [
            "java.lang.Thread.run",
            "java/util/regex/Pattern$Curly.match",
            "Ljava/util/HashMap;::get",
            "io/netty/channel/nio/NioEventLoop:.run_[j]",
            "GCTaskThread::run",
        ];
        assert_eq!(kinds(&java), [None, Some(Regex), Some(Hashing), None, Some(GarbageCollection)]);
        let python = [
            "_PyEval_EvalFrameDefault",
            "py::loads:/usr/lib/python3.13/json/__init__.py",
            "handle (/srv/app.py:12)",
            "gc_collect_main",
        ];
        assert_eq!(kinds(&python), [Some(Program), Some(Serialization), None, Some(GarbageCollection)]);
        let node = [
            "heap::base::SlotCallbackResult v8::internal::Scavenger::ScavengeObject<v8::internal::FullHeapObjectSlot>(v8::internal::HeapObject)",
            "LazyCompile:*parse /srv/app.js:3:1",
            "v8::internal::JsonParser<unsigned char>::ParseJson()",
            "(garbage collector)",
        ];
        assert_eq!(
            kinds(&node),
            [Some(GarbageCollection), None, Some(Serialization), Some(GarbageCollection)]
        );
    }
}
