//! Refusals of sealed files as diagnostics.

use crate::header::{HeaderError, VERSION};
use crate::stream::StreamError;
use sealane_diagnostic::{Code, Diagnostic};
use std::fmt::Display;
use std::path::Path;

/// Refusal to seal or open, boxed because it is much larger than the values of success.
pub type Refusal = Box<Diagnostic>;

/// Converts the error of a verb that reads `input` and writes `output` into a diagnostic.
pub fn refusal(error: StreamError, input: &Path, output: &Path) -> Refusal {
    match error {
        StreamError::Read(error) => unreadable(input, &error),
        StreamError::Write(error) => unwritable(output, &error),
        StreamError::Resized => resized(input),
        StreamError::TooLong => {
            let why = "it is longer than the 256 TiB that one key carries";
            unsealable(input, why, "seal its parts")
        }
        StreamError::Altered(number, at) => {
            let segment = format!("segment {number}, from byte {at} on,");
            let why = format!("{segment} is not what was sealed, or the file is cut off in it");
            altered(input, why)
        }
        StreamError::Malformed(what) => not_sealed(input, format!("the folder in it has {what}")),
        StreamError::Stopped => {
            let what = format!("stopped before {} was finished", output.display());
            let hint = "what was written so far is taken away; run it again";
            finding(Code::Interrupted, what, "", hint)
        }
        StreamError::Refused(failure) => failure,
    }
}

/// A finding with its reason, which may be empty, and its hint.
fn finding(code: Code, what: String, why: impl Into<String>, hint: impl Into<String>) -> Refusal {
    let finding = Diagnostic::new(code, what);
    finding.because(why).hint(hint).into()
}

/// Refusal of a file or folder that cannot be read.
pub fn unreadable(path: &Path, error: &dyn Display) -> Refusal {
    let what = format!("cannot read {}", path.display());
    let hint = "name a file or folder that is there and can be read";
    finding(Code::SealInput, what, error.to_string(), hint)
}

/// Refusal of a file or folder that cannot be sealed.
pub fn unsealable(path: &Path, why: impl Into<String>, hint: impl Into<String>) -> Refusal {
    let what = format!("{} cannot be sealed", path.display());
    finding(Code::SealInput, what, why, hint)
}

/// Refusal of a file whose size changed while it was read.
pub fn resized(path: &Path) -> Refusal {
    let what = format!("{} changed while it was read", path.display());
    let hint = "run it again when nothing writes to it";
    finding(Code::SealInput, what, "", hint)
}

/// Refusal of a sealed file that was altered or cut off.
pub fn altered(path: &Path, why: impl Into<String>) -> Refusal {
    let what = format!("{} is not as it was sealed", path.display());
    let hint = "nothing of it is kept; copy the file again from where it was sealed, and if it is the \
                same there, it was altered or damaged";
    finding(Code::SealedAltered, what, why, hint)
}

/// Refusal of a file without a header that this version accepts.
pub fn no_header(path: &Path, why: HeaderError) -> Refusal {
    let why = match why {
        HeaderError::Other => "it does not begin as one does".to_string(),
        HeaderError::CutOff => return altered(path, "it ends within its header"),
        HeaderError::Version(version) => format!(
            "it has version {version} of the format, and this Sealane reads version {VERSION}"
        ),
        HeaderError::Field(what) => what,
    };
    not_sealed(path, why)
}

/// Refusal of a file that this version cannot open.
pub fn not_sealed(path: &Path, why: impl Into<String>) -> Refusal {
    let what = format!("{} is no sealed file that can be opened", path.display());
    let hint = "name a file that `sealane seal` of this version or an older one has made";
    finding(Code::SealedFile, what, why, hint)
}

/// Refusal of a key or a passphrase that is not the one of the file.
pub fn wrong_key(path: &Path, why: impl Into<String>, hint: impl Into<String>) -> Refusal {
    let what = format!("{} does not open with this", path.display());
    finding(Code::SealedWrongKey, what, why, hint)
}

/// Refusal of an output name that is taken.
pub fn exists(path: &Path, folder: bool) -> Refusal {
    let (what, rest) = if folder {
        ("folder", ": a folder is never replaced")
    } else {
        ("file", ", or replace it, `--force`")
    };
    let what = format!("{}: a {what} is there already", path.display());
    let hint = format!("name another output, `-o NAME`{rest}");
    finding(Code::OutputExists, what, "", hint)
}

/// Refusal of an output that is a device or a pipe.
pub fn no_file(path: &Path) -> Refusal {
    let what = format!("{} is no file that can be replaced", path.display());
    let why = "an output appears when it is whole, and this would pass it on in parts";
    finding(Code::CommandLine, what, why, "name a file, `-o NAME`")
}

/// Refusal of `-` as an output, which means standard output in other commands.
pub fn standard_output() -> Refusal {
    let why = "an output appears when it is whole, and standard output takes it in parts";
    let hint = "name a file, `-o NAME`; one with this very name is `-o ./-`";
    finding(Code::CommandLine, "`-o -` names no file".into(), why, hint)
}

/// Refusal of an output that cannot be written.
pub fn unwritable(path: &Path, error: &dyn Display) -> Refusal {
    let what = format!("cannot write {}", path.display());
    let hint = "name an output in a folder that can be written to and has room, `-o NAME`";
    finding(Code::Output, what, error.to_string(), hint)
}

/// Refusal of a key file that could not be made.
pub fn key_not_made(path: &Path, error: &dyn Display) -> Refusal {
    let what = format!("cannot make the key file {}", path.display());
    let hint = "name a new file in a folder that can be written to: a key is never replaced";
    finding(Code::SealKeyFile, what, error.to_string(), hint)
}

/// Refusal of a key file that cannot be read.
pub fn key_unreadable(path: &Path, error: &dyn Display) -> Refusal {
    let what = format!("cannot read the key file {}", path.display());
    let hint = "name the file that `sealane keygen` made, which only its owner can read";
    finding(Code::SealKeyFile, what, error.to_string(), hint)
}

/// Refusal of a file that holds no key.
pub fn no_key(path: &Path, why: &str) -> Refusal {
    let what = format!("{} holds no key for sealed files", path.display());
    let hint = "name the file that `sealane keygen` made";
    finding(Code::SealKeyFile, what, why, hint)
}

/// Refusal of a missing or unsuitable passphrase.
pub fn passphrase(what: impl Into<String>, hint: impl Into<String>) -> Refusal {
    Diagnostic::new(Code::Passphrase, what).hint(hint).into()
}

/// Refusal of a passphrase whose stretching needs more memory than the machine has.
pub fn no_memory(kib: u32, error: &dyn Display) -> Refusal {
    let mib = kib >> 10;
    let what = format!("the passphrase of this file takes {mib} MiB of memory");
    let hint = "end other programs, or open the file on a machine with more memory";
    finding(Code::PassphraseMemory, what, error.to_string(), hint)
}
