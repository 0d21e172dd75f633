//! What libraries are for, by where their files lie: source files of a language's own library and of packages, and modules written in C
//! that interpreters load. It needs no symbols. Sources: the indexes of each language's standard library, and the packages' documentation.

use super::CostKind::*;
use super::Role::{self, *};

/// What a library's source file is of, by a part of its path; of the language whose module is given.
type Sources = (&'static str, &'static [(&'static str, Role)]);

/// Python: packages; the library's own modules are in `python::MODULES`.
const PYTHON: &[(&str, Role)] = &[
    ("-packages/simplejson/", Purpose(Serialization)),
    ("-packages/yaml/", Purpose(Serialization)),
    ("-packages/ruamel/", Purpose(Serialization)),
    ("-packages/toml", Purpose(Serialization)),
    ("-packages/msgpack/", Purpose(Serialization)),
    ("-packages/google/protobuf/", Purpose(Serialization)),
    ("-packages/xmltodict", Purpose(Serialization)),
    ("-packages/marshmallow/", Purpose(Serialization)),
    ("-packages/pydantic/", Purpose(Serialization)),
    ("-packages/avro/", Purpose(Serialization)),
    ("-packages/thrift/", Purpose(Serialization)),
    ("-packages/dateutil/", Purpose(TextParsing)),
    ("-packages/dateparser/", Purpose(TextParsing)),
    ("-packages/pandas/io/parsers/", Purpose(TextParsing)),
    ("-packages/html5lib/", Purpose(TextParsing)),
    ("-packages/bs4/", Purpose(TextParsing)),
    ("-packages/pyparsing", Purpose(TextParsing)),
    ("-packages/sqlparse/", Purpose(TextParsing)),
    ("-packages/charset_normalizer/", Purpose(TextParsing)),
    ("-packages/chardet/", Purpose(TextParsing)),
    ("-packages/jinja2/", Purpose(Formatting)),
    ("-packages/mako/", Purpose(Formatting)),
    ("-packages/regex/", Purpose(Regex)),
    ("-packages/cryptography/", Purpose(Crypto)),
    ("-packages/rsa/", Purpose(Crypto)),
    ("-packages/passlib/", Purpose(Crypto)),
    ("-packages/jwt/", Purpose(Crypto)),
];

/// Ruby: the library, and gems.
const RUBY: &[(&str, Role)] = &[
    ("/json", Purpose(Serialization)),
    ("/psych", Purpose(Serialization)),
    ("/yaml", Purpose(Serialization)),
    ("/rexml/", Purpose(Serialization)),
    ("/gems/nokogiri-", Purpose(Serialization)),
    ("/gems/oj-", Purpose(Serialization)),
    ("/gems/msgpack-", Purpose(Serialization)),
    ("/gems/google-protobuf-", Purpose(Serialization)),
    ("/gems/builder-", Purpose(Serialization)),
    ("/base64.rb", Purpose(Serialization)),
    ("/csv", Purpose(TextParsing)),
    ("/strscan", Purpose(TextParsing)),
    ("/time.rb", Purpose(TextParsing)),
    ("/date.rb", Purpose(TextParsing)),
    ("/uri/", Purpose(TextParsing)),
    ("/shellwords.rb", Purpose(TextParsing)),
    ("/cgi/", Purpose(TextParsing)),
    ("/erb", Purpose(Formatting)),
    ("/logger", Purpose(Formatting)),
    ("/pp.rb", Purpose(Formatting)),
    ("/digest", Purpose(Crypto)),
    ("/openssl", Purpose(Crypto)),
    ("/gems/bcrypt-", Purpose(Crypto)),
    ("/zlib", Purpose(Compression)),
];

/// Perl: the library, and modules of CPAN.
const PERL: &[(&str, Role)] = &[
    ("/JSON/", Purpose(Serialization)),
    ("/JSON.pm", Purpose(Serialization)),
    ("/XML/", Purpose(Serialization)),
    ("/YAML", Purpose(Serialization)),
    ("/Storable.pm", Purpose(Serialization)),
    ("/Data/Dumper.pm", Purpose(Serialization)),
    ("/MIME/", Purpose(Serialization)),
    ("/Text/CSV", Purpose(TextParsing)),
    ("/Text/ParseWords.pm", Purpose(TextParsing)),
    ("/Text/Balanced.pm", Purpose(TextParsing)),
    ("/Time/Local.pm", Purpose(TextParsing)),
    ("/Time/Piece.pm", Purpose(TextParsing)),
    ("/Date/", Purpose(TextParsing)),
    ("/DateTime/Format/", Purpose(TextParsing)),
    ("/URI", Purpose(TextParsing)),
    ("/HTML/", Purpose(TextParsing)),
    ("/Template", Purpose(Formatting)),
    ("/Log/", Purpose(Formatting)),
    ("/Digest/", Purpose(Crypto)),
    ("/Crypt/", Purpose(Crypto)),
    ("/Compress/", Purpose(Compression)),
    ("/IO/Uncompress/", Purpose(Compression)),
];

/// JavaScript: Node.js's own modules, and packages.
const NODE: &[(&str, Role)] = &[
    ("node:zlib", Purpose(Compression)),
    ("node:internal/crypto/", Purpose(Crypto)),
    ("node:crypto", Purpose(Crypto)),
    ("node:internal/util/inspect", Purpose(Formatting)),
    ("node:internal/modules/", Purpose(Compilation)),
    ("node:internal/url", Purpose(TextParsing)),
    ("node:url", Purpose(TextParsing)),
    ("node:querystring", Purpose(TextParsing)),
    ("node:string_decoder", Purpose(TextParsing)),
    ("/node_modules/protobufjs/", Purpose(Serialization)),
    ("/node_modules/@msgpack/", Purpose(Serialization)),
    ("/node_modules/msgpackr/", Purpose(Serialization)),
    ("/node_modules/avsc/", Purpose(Serialization)),
    ("/node_modules/bson/", Purpose(Serialization)),
    ("/node_modules/js-yaml/", Purpose(Serialization)),
    ("/node_modules/xml2js/", Purpose(Serialization)),
    ("/node_modules/sax/", Purpose(Serialization)),
    ("/node_modules/fast-xml-parser/", Purpose(Serialization)),
    ("/node_modules/fast-json-stringify/", Purpose(Serialization)),
    ("/node_modules/csv-parse/", Purpose(TextParsing)),
    ("/node_modules/papaparse/", Purpose(TextParsing)),
    ("/node_modules/iconv-lite/", Purpose(TextParsing)),
    ("/node_modules/cheerio/", Purpose(TextParsing)),
    ("/node_modules/parse5/", Purpose(TextParsing)),
    ("/node_modules/handlebars/", Purpose(Formatting)),
    ("/node_modules/winston/", Purpose(Formatting)),
    ("/node_modules/pako/", Purpose(Compression)),
    ("/node_modules/bcryptjs/", Purpose(Crypto)),
    ("/node_modules/crypto-js/", Purpose(Crypto)),
    ("/node_modules/node-forge/", Purpose(Crypto)),
];

/// PHP: packages of Composer.
const PHP: &[(&str, Role)] = &[
    ("/vendor/symfony/serializer/", Purpose(Serialization)),
    ("/vendor/symfony/yaml/", Purpose(Serialization)),
    ("/vendor/jms/serializer/", Purpose(Serialization)),
    ("/vendor/google/protobuf/", Purpose(Serialization)),
    ("/vendor/league/csv/", Purpose(TextParsing)),
    ("/vendor/nesbot/carbon/", Purpose(TextParsing)),
    ("/vendor/twig/", Purpose(Formatting)),
    ("/vendor/monolog/", Purpose(Formatting)),
    ("/vendor/phpseclib/", Purpose(Crypto)),
];

static SOURCES: [Sources; 5] =
    [("[python]", PYTHON), ("[ruby]", RUBY), ("[perl]", PERL), ("[node]", NODE), ("[php]", PHP)];

/// Modules written in C, by a part of their path.
static EXTENSIONS: &[(&str, Role)] = &[
    // Ruby: `rubyarchdir`, and gems.
    ("/json/ext/", Purpose(Serialization)),
    ("/psych.so", Purpose(Serialization)),
    ("/nokogiri.so", Purpose(Serialization)),
    ("/oj.so", Purpose(Serialization)),
    ("/msgpack.so", Purpose(Serialization)),
    ("/google/protobuf_c.so", Purpose(Serialization)),
    ("/strscan.so", Purpose(TextParsing)),
    ("/date_core.so", Purpose(TextParsing)),
    ("/digest.so", Purpose(Crypto)),
    ("/digest/", Purpose(Crypto)),
    ("/openssl.so", Purpose(Crypto)),
    ("/bcrypt_ext.so", Purpose(Crypto)),
    ("/zlib.so", Purpose(Compression)),
    // Perl: `auto/Module/Module.so`.
    ("/auto/JSON/", Purpose(Serialization)),
    ("/auto/Cpanel/JSON/", Purpose(Serialization)),
    ("/auto/Storable/", Purpose(Serialization)),
    ("/auto/MIME/", Purpose(Serialization)),
    ("/auto/XML/", Purpose(Serialization)),
    ("/auto/Data/Dumper/", Purpose(Serialization)),
    ("/auto/Text/CSV", Purpose(TextParsing)),
    ("/auto/Time/Piece/", Purpose(TextParsing)),
    ("/auto/HTML/", Purpose(TextParsing)),
    ("/auto/Encode/", Weak(TextParsing)),
    ("/auto/re/", Purpose(Regex)),
    ("/auto/Digest/", Purpose(Crypto)),
    ("/auto/Crypt/", Purpose(Crypto)),
    ("/auto/Compress/", Purpose(Compression)),
];

/// What a frame of a language is that stands in the source file of a library; `None` where nothing is known of it.
pub(super) fn of_source(module: &str, file: &str) -> Option<Role> {
    let (_, listed) = SOURCES.iter().find(|(language, _)| *language == module)?;
    listed.iter().find(|(part, _)| file.contains(part)).map(|(_, role)| *role)
}

/// What a module written in C is for that an interpreter loaded.
pub(super) fn of_extension(module: &str) -> Option<Role> {
    if !module.contains(".so") {
        return None;
    }
    let python = || {
        super::python::EXTENSIONS
            .iter()
            .filter(|_| module.contains(".cpython-3") || module.contains("-packages/"))
    };
    let listed =
        EXTENSIONS.iter().filter(|_| ["/ruby/", "/gems/", "/perl"].iter().any(|part| module.contains(part)));
    python().chain(listed).find(|(part, _)| module.contains(part)).map(|(_, role)| *role)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_told_by_where_they_lie() {
        let of = |module: &str| of_extension(module).and_then(Role::kind);
        assert_eq!(
            of("/usr/lib/python3.11/lib-dynload/_csv.cpython-311-x86_64-linux-gnu.so"),
            Some(TextParsing)
        );
        assert_eq!(
            of("/srv/venv/lib/python3.12/site-packages/orjson/orjson.cpython-312-x86_64-linux-gnu.so"),
            Some(Serialization)
        );
        assert_eq!(of("/usr/lib/x86_64-linux-gnu/ruby/3.1.0/json/ext/parser.so"), Some(Serialization));
        assert_eq!(of("/usr/lib/x86_64-linux-gnu/perl/5.36/auto/Digest/SHA/SHA.so"), Some(Crypto));
        assert_eq!(of("/srv/digest/app.so"), None);
        assert_eq!(of("/srv/zlib.so"), None);
        assert_eq!(of_source("[ruby]", "/usr/lib/ruby/3.1.0/csv/parser.rb"), Some(Purpose(TextParsing)));
        assert_eq!(of_source("[node]", "node:internal/util/inspect"), Some(Purpose(Formatting)));
        assert_eq!(of_source("[java]", "/json"), None);
    }
}
