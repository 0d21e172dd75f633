//! Frames of languages as their runtimes tell them (`model::LANGUAGES`): which are the program's own code, and which are of the
//! language's library or of a package that somebody else wrote.

use super::CostKind::*;
use super::FunctionRef;
use super::Role::{self, *};
use super::lists::{Group, Names};
use super::{go, java, packages, python};
use std::sync::LazyLock;

static PHP_FUNCTIONS: LazyLock<Names> = LazyLock::new(|| Names::of(&[PHP]));

/// PHP's own functions, by the manual's extensions (PCRE, JSON, zlib, OpenSSL, sodium, hash, strings, arrays).
static PHP: &[Group] = &[
    (Purpose(Regex), &["preg_*", "mb_ereg*"]),
    (
        Purpose(Serialization),
        &[
            "json_*",
            "serialize",
            "unserialize",
            "var_export",
            "igbinary_*",
            "msgpack_*",
            "yaml_*",
            "simplexml_*",
            "xml_*",
            "base64_*",
            "bin2hex",
            "pack",
            "unpack",
            "DOM*",
            "SimpleXMLElement::*",
            "XMLReader::*",
            "XMLWriter::*",
            "SoapClient::*",
        ],
    ),
    (
        Purpose(Compression),
        &[
            "gz*",
            "zlib_*",
            "bzcompress",
            "bzdecompress",
            "inflate_*",
            "deflate_*",
            "zstd_*",
            "brotli_*",
            "ZipArchive::*",
        ],
    ),
    (
        Purpose(Crypto),
        &[
            "openssl_*",
            "sodium_*",
            "password_*",
            "hash",
            "hash_*",
            "md5*",
            "sha1*",
            "crypt",
            "mcrypt_*",
            "random_bytes",
        ],
    ),
    (Purpose(Hashing), &["crc32"]),
    (
        Purpose(Sorting),
        &[
            "sort",
            "rsort",
            "usort",
            "uasort",
            "uksort",
            "asort",
            "arsort",
            "ksort",
            "krsort",
            "array_multisort",
        ],
    ),
    (
        Purpose(TextParsing),
        &[
            "explode",
            "str_getcsv",
            "fgetcsv",
            "sscanf",
            "parse_str",
            "strtok",
            "str_split",
            "mb_str_split",
            "strtotime",
            "date_parse*",
            "date_create*",
            "DateTime::__construct",
            "DateTime::createFromFormat",
            "DateTimeImmutable::__construct",
            "DateTimeImmutable::createFromFormat",
            "parse_url",
            "parse_ini_*",
            "intval",
            "floatval",
            "filter_var",
            "iconv*",
            "mb_convert_*",
            "mb_detect_*",
            "html_entity_decode",
            "htmlspecialchars_decode",
            "strip_tags",
            "urldecode",
            "SplFileObject::fgetcsv",
        ],
    ),
    (
        Purpose(Formatting),
        &[
            "sprintf",
            "vsprintf",
            "printf",
            "number_format",
            "implode",
            "join",
            "date",
            "gmdate",
            "DateTime::format",
            "DateTimeImmutable::format",
            "htmlspecialchars",
            "htmlentities",
            "urlencode",
            "http_build_query",
            "print_r",
            "var_dump",
            "str_pad",
            "nl2br",
        ],
    ),
    // What searches and cuts text.
    (
        Weak(TextParsing),
        &[
            "str_*", "strpos", "stripos", "strrpos", "strstr", "substr*", "mb_*", "trim", "ltrim", "rtrim",
            "strtr", "ctype_*", "ord", "chr",
        ],
    ),
    (Weak(Formatting), &["ucfirst", "ucwords", "lcfirst", "strtolower", "strtoupper", "mb_strto*"]),
    (Overrides(GarbageCollection), &["gc_collect_cycles"]),
];

/// Java packages of frameworks, servers and drivers; the language's own are in the list of Java.
static JAVA_PACKAGES: &[&str] = &[
    "akka.",
    "ch.qos.logback.",
    "com.fasterxml.",
    "com.google.common.",
    "com.mysql.",
    "com.sun.",
    "com.zaxxer.",
    "groovy.",
    "io.micrometer.",
    "io.netty.",
    "io.undertow.",
    "io.vertx.",
    "kotlin.",
    "kotlinx.",
    "okhttp3.",
    "okio.",
    "org.apache.",
    "org.eclipse.jetty.",
    "org.hibernate.",
    "org.mariadb.",
    "org.postgresql.",
    "org.slf4j.",
    "org.springframework.",
    "org.xnio.",
    "reactor.",
    "redis.clients.",
    "scala.",
    "sun.",
];

/// What a frame of a language is; `None` for all others.
pub(super) fn role(function: &FunctionRef<'_>) -> Option<Role> {
    let FunctionRef { name, file, module, .. } = *function;
    Some(match module {
        // Not a function: what its reader says of a wait.
        "[python]" if file.is_empty() => Plumbing,
        "[python]" => python_role(file),
        // Without a package they are written in assembly, most of them the runtime's: `_rt0_amd64_linux`, `memeqbody`.
        "[go]" if !name.contains('.') => Plumbing,
        "[go]" => go::role(name).unwrap_or(Own),
        // What the reader of its frames says of a thread that enters a monitor.
        "[java]" if name == "(monitorenter)" => Plumbing,
        "[java]" => match java::role(name) {
            Some(Own) | None if JAVA_PACKAGES.iter().any(|package| name.starts_with(package)) => Plumbing,
            role => role.unwrap_or(Own),
        },
        "[php]" if file.is_empty() => PHP_FUNCTIONS.role(name).unwrap_or(Plumbing),
        "[node]" | "[ruby]" | "[php]" | "[perl]" if is_of_library(module, file) => {
            packages::of_source(module, file).unwrap_or(Plumbing)
        }
        "[node]" | "[ruby]" | "[php]" | "[perl]" => Own,
        _ => return None,
    })
}

/// True for the source files of a language's own library, and of packages that somebody else wrote.
fn is_of_library(module: &str, file: &str) -> bool {
    let (starts, parts): (&[&str], &[&str]) = match module {
        "[node]" => (&["node:"], &["/node_modules/"]),
        "[ruby]" => (&["<internal:"], &["/lib/ruby/", "/gems/"]),
        "[php]" => (&[], &["/vendor/"]),
        _ => (
            &[],
            &["/usr/share/perl", "/usr/lib/x86_64-linux-gnu/perl", "/usr/local/share/perl", "/lib/perl5/"],
        ),
    };
    starts.iter().any(|start| file.starts_with(start)) || parts.iter().any(|part| file.contains(part))
}

/// By where the source is: `/usr/lib/python3.11/json/decoder.py` is of the standard library, what is in `site-packages` of somebody
/// else; `<string>`, `<stdin>` and all other files are the program.
fn python_role(file: &str) -> Role {
    let library = file.find("/python3").and_then(|at| file[at + 1..].split_once('/')).map(|(_, path)| path);
    let listed = |module: &str| {
        python::MODULES.iter().find(|(start, _)| module.starts_with(start)).map(|(_, role)| *role)
    };
    match library {
        _ if file.contains("-packages/") => packages::of_source("[python]", file).unwrap_or(Plumbing),
        Some(path) => listed(path).unwrap_or(Plumbing),
        None if file.starts_with("<frozen") => listed(file).unwrap_or(Plumbing),
        None => Own,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_somebody_else_wrote_is_not_the_programs_own() {
        let of = |module, name, file| role(&FunctionRef { name, file, module, is_thread: false });
        assert_eq!(of("[python]", "save_row", "/srv/app/store.py"), Some(Own));
        assert_eq!(of("[python]", "<module>", "<string>"), Some(Own));
        let asm = "/usr/local/go/src/runtime/rt0_linux_amd64.s";
        assert_eq!(of("[go]", "_rt0_amd64_linux", asm), Some(Plumbing));
        assert_eq!(of("[go]", "main.reserve", "/srv/stock.go"), Some(Own));
        assert_eq!(
            of("[python]", "decode", "/usr/lib/python3.11/json/decoder.py"),
            Some(Purpose(Serialization))
        );
        assert_eq!(of("[python]", "wait", "/usr/lib/python3.11/threading.py"), Some(Plumbing));
        assert_eq!(
            of("[python]", "run", "/srv/venv/lib/python3.11/site-packages/gunicorn/app.py"),
            Some(Plumbing)
        );
        assert_eq!(of("[java]", "shop.Orders.load", "Orders.java"), Some(Own));
        assert_eq!(of("[java]", "Main.lambda$run$0", "Main.java"), Some(Own));
        assert_eq!(of("[java]", "java.lang.Thread.run", "Thread.java"), Some(Plumbing));
        assert_eq!(of("[java]", "org.apache.catalina.core.StandardWrapperValve.invoke", ""), Some(Plumbing));
        assert_eq!(of("[node]", "load", "/srv/app/server.js"), Some(Own));
        assert_eq!(of("[node]", "readFileSync", "node:fs"), Some(Plumbing));
        assert_eq!(of("[node]", "handle", "/srv/app/node_modules/express/lib/router.js"), Some(Plumbing));
        assert_eq!(of("[php]", "preg_match", ""), Some(Purpose(Regex)));
        assert_eq!(of("[php]", "Orders::load", "/srv/orders.php"), Some(Own));
        assert_eq!(
            of("[ruby]", "generate", "/usr/lib/ruby/3.1.0/json/common.rb"),
            Some(Purpose(Serialization))
        );
        assert_eq!(of("", "main", "main.c"), None);
    }
}
