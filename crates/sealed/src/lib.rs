//! Crate `sealed`: sealed files.
//!
//! [`seal()`] makes one file of a file or a folder, which only the holder of a key file or a
//! passphrase can read, and which cannot be changed, cut or mixed with others without [`open()`]
//! noticing. The format is that of `docs/guides/seal-files.md`: `header`, then the segments of
//! `stream`, whose cipher is in `segment` and whose keys come from `key`. The content of a sealed
//! folder has the form of `archive`, and `folder` walks it. `output` gives final names to finished
//! outputs only.
//!
//! Memory is that of one segment, and of the names in a folder. Content and names are hidden. Sizes
//! are not, and neither is the maker of a file: every holder of the key can make other files.
#![forbid(unsafe_code)]

mod archive;
mod folder;
#[doc(hidden)]
pub mod fuzzing;
mod header;
mod key;
mod output;
mod refusals;
mod segment;
mod stream;
#[cfg(test)]
mod tests;
mod watch;

pub use folder::ContentSize;
pub use header::Mode;
pub use key::{AskPassphrase, MasterKey};
pub use refusals::Refusal;
pub use watch::TransferWatch;

use header::{Argon2Cost, BOUND_BYTES, Content, HEADER_BYTES, Header, KeySource, SEGMENT_BYTES};
use output::Target;
use sealane_diagnostic::{Code, Diagnostic};
use sealane_files::Accept;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use stream::{Opener, Sealer, SegmentCrypto, StreamError};

/// Request to seal a file or a folder.
#[derive(Clone, Debug)]
pub struct Seal {
    /// The file, or the folder with all that is in it.
    pub input: PathBuf,
    /// The sealed file; `None` for the name of the input with `.sealed` behind it.
    pub output: Option<PathBuf>,
    /// The key file; `None` for a passphrase.
    pub key_file: Option<PathBuf>,
    /// Mode of AES-128.
    pub mode: Mode,
    /// Replaces a file that is there already.
    pub force: bool,
}

/// Request to open a sealed file.
#[derive(Clone, Debug)]
pub struct Open {
    /// The sealed file.
    pub input: PathBuf,
    /// The file or folder to make; `None` for the name of the input without `.sealed`.
    pub output: Option<PathBuf>,
    /// The key file; `None` for a passphrase.
    pub key_file: Option<PathBuf>,
    /// Replaces a file that is there already. A folder is never replaced.
    pub force: bool,
}

/// Report of a file that was sealed or opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealReport {
    /// Output.
    pub output: PathBuf,
    /// Tells whether the content is a folder.
    pub folder: bool,
    /// Files, folders and bytes of content.
    pub amount: ContentSize,
    /// Segments.
    pub segments: u64,
    /// Mode of AES-128.
    pub mode: Mode,
    /// Tells whether the key comes from a passphrase rather than from a key file.
    pub by_passphrase: bool,
}

/// Ending of the names of sealed files.
const ENDING: &str = "sealed";

/// Seals a file or a folder. `ask` asks for a passphrase if there is no key file. `begin` gets the
/// number of bytes of content and returns the watch that counts them as they pass.
///
/// # Errors
/// The diagnostic says what is wrong; there is no output then.
pub fn seal<W: TransferWatch>(
    request: &Seal,
    ask: AskPassphrase<'_>,
    begin: impl FnOnce(u64) -> W,
) -> Result<SealReport, Refusal> {
    sealed(request, Argon2Cost::USUAL, ask, begin)
}

/// Seals with Argon2id of the given cost.
fn sealed<W: TransferWatch>(
    args: &Seal,
    cost: Argon2Cost,
    ask: AskPassphrase<'_>,
    begin: impl FnOnce(u64) -> W,
) -> Result<SealReport, Refusal> {
    let input = args.input.as_path();
    let content = match fs::symlink_metadata(input) {
        Ok(metadata) if metadata.is_dir() => Content::Folder,
        Ok(_) => Content::File,
        Err(error) => return Err(refusals::unreadable(input, &error)),
    };
    let target = Target::new(&sealed_name(args)?, args.force)?;
    let refuse = |error| refusals::refusal(error, input, target.path());
    check_inputs_kept(target.path(), input, args.key_file.as_deref())?;
    // Content that cannot be sealed is refused before anybody is asked for a passphrase.
    let amount = match content {
        Content::File => ContentSize::of_file(folder::open_regular(input)?.1),
        Content::Folder => {
            check_outside_input(target.folder(), input)?;
            folder::measure(input).map_err(refuse)?
        }
    };
    let lock = match args.key_file {
        Some(_) => KeySource::KeyFile,
        None => KeySource::Passphrase(cost),
    };
    let (mode, segment_bytes, mut salt) = (args.mode, SEGMENT_BYTES, [0; 32]);
    key::random(&mut salt)?;
    let header = Header {
        mode,
        lock,
        content,
        segment_bytes,
        salt,
    };
    let master = match &args.key_file {
        Some(file) => MasterKey::load(file)?,
        None => MasterKey::stretch(&key::new_passphrase(ask)?, &header.salt, cost)?,
    };
    let mut watch = begin(amount.bytes);
    let mut file = target.file(false)?;
    let mut sealer = Sealer::new(&mut file, crypto(&header, &master)).map_err(refuse)?;
    let amount = match content {
        Content::File => {
            let (mut from, _) = folder::open_regular(input)?;
            let copied = sealer.copy(&mut from, amount.bytes, &mut watch);
            copied.map(|()| amount)
        }
        Content::Folder => folder::seal(input, &mut sealer, &mut watch),
    };
    let amount = amount.map_err(refuse)?;
    let (_, segments) = sealer.finish().map_err(refuse)?;
    target.keep_file(file)?;
    Ok(done(&target, &header, amount, segments))
}

/// Opens a sealed file. `ask` asks for a passphrase if there is no key file. `begin` gets the
/// number of bytes of the sealed file and returns the watch that counts content as it passes.
///
/// # Errors
/// The diagnostic says what is wrong; there is no output then.
pub fn open<W: TransferWatch>(
    args: &Open,
    ask: AskPassphrase<'_>,
    begin: impl FnOnce(u64) -> W,
) -> Result<SealReport, Refusal> {
    let input = args.input.as_path();
    let (mut from, size, header, commitment) = read_header(input)?;
    let target = Target::new(&opened_name(args)?, args.force)?;
    check_inputs_kept(target.path(), input, args.key_file.as_deref())?;
    let refuse = |why: &str, hint: &str| Err(refusals::wrong_key(input, why, hint));
    let master = match (&args.key_file, header.lock) {
        (Some(file), KeySource::KeyFile) => MasterKey::load(file)?,
        (None, KeySource::Passphrase(cost)) => {
            MasterKey::stretch(&key::known_passphrase(ask)?, &header.salt, cost)?
        }
        (None, KeySource::KeyFile) => {
            let hint = "name the key file that sealed it, `--key-file FILE`";
            return refuse("it was sealed with a key file", hint);
        }
        (Some(_), KeySource::Passphrase(_)) => {
            let hint = "leave out `--key-file`, and type the passphrase when asked";
            return refuse("it was sealed with a passphrase", hint);
        }
    };
    if !master.derive(&header.bound()).is_of(&commitment) {
        let (what, hint) = match header.lock {
            KeySource::KeyFile => ("key", "name the key file that sealed it"),
            KeySource::Passphrase(_) => ("passphrase", "type the one that sealed it"),
        };
        let why = format!("another {what} sealed it, or its header was altered");
        return refuse(&why, hint);
    }
    let mut watch = begin(size);
    let refuse = |error| refusals::refusal(error, input, target.path());
    let mut opener = Opener::new(&mut from, crypto(&header, &master));
    let amount = match header.content {
        Content::File => open_file(&mut opener, &target, &mut watch),
        Content::Folder => open_folder(&mut opener, &target, &mut watch),
    };
    let amount = amount.map_err(refuse)?;
    Ok(done(&target, &header, amount, opener.segments()))
}

fn done(target: &Target, header: &Header, amount: ContentSize, segments: u64) -> SealReport {
    SealReport {
        output: target.path().to_path_buf(),
        folder: header.content == Content::Folder,
        amount,
        segments,
        mode: header.mode,
        by_passphrase: matches!(header.lock, KeySource::Passphrase(_)),
    }
}

/// The cipher, nonces and associated data of the file with this header.
fn crypto(header: &Header, master: &MasterKey) -> SegmentCrypto {
    let bound = header.bound();
    let keys = master.derive(&bound);
    let mut whole = [0; HEADER_BYTES];
    whole[..BOUND_BYTES].copy_from_slice(&bound);
    whole[BOUND_BYTES..].copy_from_slice(&keys.commitment);
    let cipher = segment::cipher(header.mode, &keys.key);
    SegmentCrypto::new(cipher, keys, whole, header.segment_bytes)
}

fn open_file<R: Read>(
    opener: &mut Opener<R>,
    target: &Target,
    watch: &mut dyn TransferWatch,
) -> Result<ContentSize, StreamError> {
    let mut file = target.file(true)?;
    let mut amount = ContentSize::of_file(0);
    loop {
        let some = opener.some(usize::MAX)?;
        if some.is_empty() {
            break;
        }
        file.write_all(some).map_err(StreamError::Write)?;
        let passed = some.len() as u64;
        amount.bytes += passed;
        watch::passed(watch, passed)?;
    }
    target.keep_file(file)?;
    Ok(amount)
}

fn open_folder<R: Read>(
    opener: &mut Opener<R>,
    target: &Target,
    watch: &mut dyn TransferWatch,
) -> Result<ContentSize, StreamError> {
    let (outer, inner) = target.unfinished_folder()?;
    let amount = folder::open(opener, &inner, watch)?;
    target.keep_folder(outer, &inner)?;
    Ok(amount)
}

/// Opens a sealed file and reads its header: the file behind the header, its size, the header, and
/// the commitment.
fn read_header(path: &Path) -> Result<(File, u64, Header, [u8; 32]), Refusal> {
    let unreadable = |error| refusals::unreadable(path, &error);
    // A read from a pipe would block. A link to a file is accepted like the file.
    let metadata = fs::metadata(path).map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(refusals::not_sealed(path, "it is no file"));
    }
    let mut file = sealane_files::open(path, Accept::File).map_err(unreadable)?;
    let mut bytes = Vec::with_capacity(HEADER_BYTES);
    let mut start = (&mut file).take(HEADER_BYTES as u64);
    start.read_to_end(&mut bytes).map_err(unreadable)?;
    let parsed = Header::parse(&bytes);
    let (header, commitment) = parsed.map_err(|why| refusals::no_header(path, why))?;
    Ok((file, metadata.len(), header, commitment))
}

/// The output of `seal`: the input's name with the ending of sealed files.
fn sealed_name(args: &Seal) -> Result<PathBuf, Refusal> {
    if let Some(output) = &args.output {
        return named_output(output);
    }
    let Some(name) = args.input.file_name() else {
        return Err(no_default_name(&args.input));
    };
    let mut name = name.to_os_string();
    name.push(".");
    name.push(ENDING);
    Ok(args.input.with_file_name(name))
}

/// The output of `open`: the input's name without the ending of sealed files.
fn opened_name(args: &Open) -> Result<PathBuf, Refusal> {
    let ending = args.input.extension();
    match &args.output {
        Some(output) => named_output(output),
        None if ending.is_some_and(|ending| ending == ENDING) => Ok(args.input.with_extension("")),
        None => Err(no_default_name(&args.input)),
    }
}

/// Returns an output that was named on the command line.
fn named_output(output: &Path) -> Result<PathBuf, Refusal> {
    if output == Path::new("-") {
        Err(refusals::standard_output())
    } else {
        Ok(output.to_path_buf())
    }
}

fn no_default_name(input: &Path) -> Refusal {
    let what = format!("no name for the output follows from {}", input.display());
    let hint = "name the output, `-o NAME`";
    Diagnostic::new(Code::CommandLine, what).hint(hint).into()
}

/// Refuses an output that would replace the input or the key file.
fn check_inputs_kept(output: &Path, input: &Path, key_file: Option<&Path>) -> Result<(), Refusal> {
    for (what, path) in [("input", Some(input)), ("key file", key_file)] {
        if path.is_some_and(|path| sealane_files::same(path, output)) {
            let what = format!("the output would take the place of the {what}");
            let hint = "name another output, `-o NAME`";
            return Err(Diagnostic::new(Code::CommandLine, what).hint(hint).into());
        }
    }
    Ok(())
}

/// Refuses an output within the folder that is sealed, since the file would contain itself.
fn check_outside_input(output: &Path, input: &Path) -> Result<(), Refusal> {
    let inside = match (output.canonicalize(), input.canonicalize()) {
        (Ok(output), Ok(input)) => output.starts_with(input),
        _ => false,
    };
    if !inside {
        return Ok(());
    }
    let why = "the output would be in it, and hold itself";
    let hint = "name an output outside of the folder, `-o NAME`";
    Err(refusals::unsealable(input, why, hint))
}
