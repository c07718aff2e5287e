//! Arguments that verbs of several commands take.

use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// The party of a command, with its configuration.
#[derive(Args)]
pub struct PartyArgs {
    /// The configuration [default: sealane.toml]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The party of this command [default: the one that the configuration says]
    #[arg(long = "as", value_name = "PARTY")]
    pub party: Option<String>,
    /// Its private key, if the configuration does not name it
    #[arg(long, value_name = "FILE")]
    pub identity: Option<PathBuf>,
}

/// Parses a time to wait, of a day at most.
///
/// # Errors
/// The text is no such number of seconds.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok();
    let seconds = seconds.filter(|seconds| (0.0..=86_400.0).contains(seconds));
    let seconds = seconds.ok_or("write seconds, at most those of a day, such as 60")?;
    Ok(Duration::from_secs_f64(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_have_an_end() {
        assert_eq!(seconds("0"), Ok(Duration::ZERO));
        assert_eq!(seconds("1.5"), Ok(Duration::from_millis(1500)));
        for bad in ["", "-1", "1e9", "inf", "NaN", "soon"] {
            assert!(seconds(bad).is_err(), "{bad}");
        }
    }
}
