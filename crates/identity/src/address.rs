//! Address of a party in text: `host:port`.

/// Longest name of a host (RFC 1035, section 2.3.4, in text).
const MAX_HOST_BYTES: usize = 253;

/// Splits an address such as `lab.example:7700`, `10.0.0.1:7700` or `[::1]:7700` into host and
/// port. Returns none if it has another form; the host is not looked up.
pub fn host_and_port(address: &str) -> Option<(&str, u16)> {
    let (host, port) = address.rsplit_once(':')?;
    let number = port.parse().ok().filter(|number| *number != 0)?;
    let is_number = port.bytes().all(|c| c.is_ascii_digit()) && !port.starts_with('0');
    let inside = host.strip_prefix('[');
    let is_host = match inside.and_then(|host| host.strip_suffix(']')) {
        Some(inside) => inside.parse::<std::net::Ipv6Addr>().is_ok(),
        None => !host.is_empty() && host.bytes().all(is_of_host_names),
    };
    (is_number && is_host && host.len() <= MAX_HOST_BYTES).then_some((host, number))
}

/// Returns whether a character occurs in host names in practice (RFC 1123, section 2.1, and `_`).
/// Names in other scripts are written in their ASCII form.
fn is_of_host_names(c: u8) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, b'-' | b'.' | b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_a_host_and_a_port() {
        for good in [
            "lab:1",
            "10.0.0.1:7700",
            "[::1]:65535",
            "xn--bcher-kva.example:7",
        ] {
            assert!(host_and_port(good).is_some(), "{good}");
        }
        let bad = [
            "",
            "lab",
            ":1",
            "lab:",
            "lab:0",
            "lab:65536",
            "lab:+1",
            "::1:7",
        ];
        let others = ["[lab]:7", "a b:7", "lab/x:7", "a@b:7", "lab:07", "é:7"];
        for bad in bad.into_iter().chain(others) {
            assert!(host_and_port(bad).is_none(), "{bad}");
        }
    }
}
