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
        StreamError::TooLong => unsealable(
            input,
            "it is longer than the 256 TiB that one key carries",
            "seal its parts",
        ),
        StreamError::Altered(number, at) => altered(
            input,
            format!(
                "segment {number}, from byte {at} on, is not what was sealed, or the file is cut off in it"
            ),
        ),
        StreamError::Malformed(what) => not_sealed(input, format!("the folder in it has {what}")),
        StreamError::Stopped => {
            let what = format!("stopped before {} was finished", output.display());
            let hint = "what was written so far is taken away; run it again";
            Diagnostic::new(Code::Interrupted, what).hint(hint).into()
        }
        StreamError::Refused(failure) => failure,
    }
}

/// Refusal of a file or folder that cannot be read.
pub fn unreadable(path: &Path, error: &dyn Display) -> Refusal {
    let what = format!("cannot read {}", path.display());
    let hint = "name a file or folder that is there and can be read";
    Diagnostic::new(Code::SealInput, what)
        .because(error.to_string())
        .hint(hint)
        .into()
}

/// Refusal of a file or folder that cannot be sealed.
pub fn unsealable(path: &Path, why: impl Into<String>, hint: impl Into<String>) -> Refusal {
    let what = format!("{} cannot be sealed", path.display());
    Diagnostic::new(Code::SealInput, what)
        .because(why)
        .hint(hint)
        .into()
}

/// Refusal of a file whose size changed while it was read.
pub fn resized(path: &Path) -> Refusal {
    let what = format!("{} changed while it was read", path.display());
    let hint = "run it again when nothing writes to it";
    Diagnostic::new(Code::SealInput, what).hint(hint).into()
}

/// Refusal of a sealed file that was altered or cut off.
pub fn altered(path: &Path, why: impl Into<String>) -> Refusal {
    let what = format!("{} is not as it was sealed", path.display());
    let hint = "nothing of it is kept; copy the file again from where it was sealed, and if it is the \
                same there, it was altered or damaged";
    Diagnostic::new(Code::SealedAltered, what)
        .because(why)
        .hint(hint)
        .into()
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
    Diagnostic::new(Code::SealedFile, what)
        .because(why)
        .hint(hint)
        .into()
}

/// Refusal of a key or a passphrase that is not the one of the file.
pub fn wrong_key(path: &Path, why: impl Into<String>, hint: impl Into<String>) -> Refusal {
    let what = format!("{} does not open with this", path.display());
    Diagnostic::new(Code::SealedWrongKey, what)
        .hint(hint)
        .because(why)
        .into()
}

/// Refusal of an output name that is taken.
pub fn exists(path: &Path, folder: bool) -> Refusal {
    let (what, hint) = if folder {
        (
            "a folder is there already",
            "name another output, `-o NAME`: a folder is never replaced",
        )
    } else {
        (
            "a file is there already",
            "name another output, `-o NAME`, or replace it, `--force`",
        )
    };
    let what = format!("{}: {what}", path.display());
    Diagnostic::new(Code::OutputExists, what).hint(hint).into()
}

/// Refusal of an output that is a device or a pipe.
pub fn no_file(path: &Path) -> Refusal {
    let what = format!("{} is no file that can be replaced", path.display());
    let why = "an output appears when it is whole, and this would pass it on in parts";
    Diagnostic::new(Code::CommandLine, what)
        .hint("name a file, `-o NAME`")
        .because(why)
        .into()
}

/// Refusal of `-` as an output, which means standard output in other commands.
pub fn standard_output() -> Refusal {
    let why = "an output appears when it is whole, and standard output takes it in parts";
    let hint = "name a file, `-o NAME`; one with this very name is `-o ./-`";
    Diagnostic::new(Code::CommandLine, "`-o -` names no file")
        .hint(hint)
        .because(why)
        .into()
}

/// Refusal of an output that cannot be written.
pub fn unwritable(path: &Path, error: &dyn Display) -> Refusal {
    let what = format!("cannot write {}", path.display());
    let hint = "name an output in a folder that can be written to and has room, `-o NAME`";
    Diagnostic::new(Code::Output, what)
        .hint(hint)
        .because(error.to_string())
        .into()
}

/// Refusal of a key file that could not be made.
pub fn key_not_made(path: &Path, error: &dyn Display) -> Refusal {
    let what = format!("cannot make the key file {}", path.display());
    let hint = "name a new file in a folder that can be written to: a key is never replaced";
    Diagnostic::new(Code::SealKeyFile, what)
        .hint(hint)
        .because(error.to_string())
        .into()
}

/// Refusal of a key file that cannot be read.
pub fn key_unreadable(path: &Path, error: &dyn Display) -> Refusal {
    let what = format!("cannot read the key file {}", path.display());
    let hint = "name the file that `sealane keygen` made, which only its owner can read";
    Diagnostic::new(Code::SealKeyFile, what)
        .hint(hint)
        .because(error.to_string())
        .into()
}

/// Refusal of a file that holds no key.
pub fn no_key(path: &Path, why: &str) -> Refusal {
    let what = format!("{} holds no key for sealed files", path.display());
    let hint = "name the file that `sealane keygen` made";
    Diagnostic::new(Code::SealKeyFile, what)
        .hint(hint)
        .because(why)
        .into()
}

/// Refusal of a missing or unsuitable passphrase.
pub fn passphrase(what: impl Into<String>, hint: impl Into<String>) -> Refusal {
    Diagnostic::new(Code::Passphrase, what).hint(hint).into()
}

/// Refusal of a passphrase whose stretching needs more memory than the machine has.
pub fn no_memory(kib: u32, error: &dyn Display) -> Refusal {
    let what = format!(
        "the passphrase of this file takes {} MiB of memory",
        kib >> 10
    );
    let hint = "end other programs, or open the file on a machine with more memory";
    Diagnostic::new(Code::PassphraseMemory, what)
        .hint(hint)
        .because(error.to_string())
        .into()
}
