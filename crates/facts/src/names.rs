//! What the name of a file tells of its use.

/// Files that the C library reads to look up names, users and services: resolv.conf(5), nsswitch.conf(5),
/// hosts(5), host.conf(5), gai.conf(5), services(5), protocols(5), networks(5), passwd(5), group(5), shells(5).
const LOOKUP_FILES: [&str; 11] = [
    "/etc/resolv.conf",
    "/etc/nsswitch.conf",
    "/etc/hosts",
    "/etc/host.conf",
    "/etc/gai.conf",
    "/etc/services",
    "/etc/protocols",
    "/etc/networks",
    "/etc/passwd",
    "/etc/group",
    "/etc/shells",
];

/// Endings that settings have.
const SETTINGS_ENDINGS: [&str; 11] =
    ["conf", "cnf", "cfg", "config", "ini", "yaml", "yml", "toml", "properties", "json", "env"];

/// True for the files that the C library reads to look up names, users and services.
pub fn is_lookup_file(path: &str) -> bool {
    LOOKUP_FILES.contains(&path)
}

/// True for a file that holds settings, as far as its name tells.
pub fn is_configuration(path: &str) -> bool {
    if is_lookup_file(path) {
        return true;
    }
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    ending.is_some_and(|ending| SETTINGS_ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known)))
}

/// True for zone files, which glibc checks and reads in its own way: what `tz-stat-storm` is about.
pub fn is_zone_file(path: &str) -> bool {
    path == "/etc/localtime" || path.starts_with("/usr/share/zoneinfo/")
}

/// Names that lists of trusted certificates have: of distributions, of curl and certifi, of the JDK.
const CERTIFICATE_LISTS: [&str; 9] = [
    "ca-certificates.crt",
    "ca-bundle.crt",
    "ca-bundle.trust.crt",
    "ca-bundle.pem",
    "tls-ca-bundle.pem",
    "cacert.pem",
    "cert.pem",
    "ca.pem",
    "cacerts",
];

/// True for a list of trusted certificates, as far as its name tells.
pub fn is_certificate_list(path: &str) -> bool {
    CERTIFICATE_LISTS.contains(&path.rsplit_once('/').map_or(path, |(_, name)| name))
}

/// True for a file with certificates, as far as its name tells.
pub fn is_certificates(path: &str) -> bool {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    is_certificate_list(path) || ["pem", "crt", "cer"].iter().any(|known| ending.eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings() {
        for path in ["/etc/hosts", "/srv/app/config/app.YAML", "/srv/app/.env", "logback.properties"] {
            assert!(is_configuration(path), "{path}");
        }
        for path in ["/srv/data.csv", "/etc/localtime", "conf", "/a.conf/b", ""] {
            assert!(!is_configuration(path), "{path}");
        }
        let list = "/etc/ssl/certs/ca-certificates.crt";
        assert!(
            is_certificate_list(list) && is_certificates(list) && is_certificates("/srv/tls/partner.PEM")
        );
        assert!(!is_certificate_list("/srv/tls/partner.pem") && !is_certificates("/srv/pem/data.csv"));
        assert!(is_zone_file("/usr/share/zoneinfo/Europe/Berlin") && !is_zone_file("/etc/local"));
    }
}
