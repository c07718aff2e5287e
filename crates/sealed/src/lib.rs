//! Room `sealed`: sealed files.
//!
//! [`seal()`] makes one file of a file or a folder, which only the holder of a key file or a passphrase
//! can read, and which cannot be changed, cut or mixed with others without [`open()`] noticing. The
//! format is that of `docs/guides/seal-files.md`: `header`, then the segments of `stream`, whose
//! cipher is in `segment` and whose keys come from `key`. The content of a sealed folder has the form
//! of `archive`, and `folder` walks it. `output` gives final names to finished outputs only.
//!
//! Memory is that of a segment, and of the names in a folder. Content and names are hidden. Sizes are
//! not, and neither is the maker of a file: every holder of the key can make others.
#![forbid(unsafe_code)]

mod archive;
mod faults;
mod folder;
#[doc(hidden)]
pub mod fuzzing;
mod header;
mod key;
mod output;
mod segment;
mod stream;
#[cfg(test)]
mod tests;
mod watch;

pub use faults::Refusal;
pub use folder::Amount;
pub use header::Mode;
pub use key::{Ask, Master};
pub use watch::Watch;

use header::{BOUND_BYTES, Content, Cost, HEADER_BYTES, Header, Lock, SEGMENT_BYTES};
use output::Target;
use sealane_diagnostic::{Code, Diagnostic};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use stream::{Opener, Places, Sealer, Trouble};

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
pub struct Done {
    /// Output.
    pub output: PathBuf,
    /// Tells whether the content is a folder.
    pub folder: bool,
    /// Files, folders and bytes of content.
    pub amount: Amount,
    /// Segments.
    pub segments: u64,
    /// Mode of AES-128.
    pub mode: Mode,
    /// Tells whether the key comes from a passphrase rather than from a key file.
    pub by_passphrase: bool,
}

/// What the names of sealed files end with.
const ENDING: &str = "sealed";

/// Seals a file or a folder. `ask` asks for a passphrase where there is no key file; `begin` is told
/// the bytes of content and gives what watches them pass.
///
/// # Errors
/// The diagnostic says what is wrong; there is no output then.
pub fn seal<W: Watch>(
    request: &Seal,
    ask: Ask<'_>,
    begin: impl FnOnce(u64) -> W,
) -> Result<Done, Refusal> {
    sealed(request, Cost::USUAL, ask, begin)
}

/// Seals with Argon2id of the given cost.
fn sealed<W: Watch>(
    args: &Seal,
    cost: Cost,
    ask: Ask<'_>,
    begin: impl FnOnce(u64) -> W,
) -> Result<Done, Refusal> {
    let input = args.input.as_path();
    let content = match fs::symlink_metadata(input) {
        Ok(metadata) if metadata.is_dir() => Content::Folder,
        Ok(_) => Content::File,
        Err(error) => return Err(faults::unreadable(input, &error)),
    };
    let target = Target::new(&sealed_name(args)?, args.force)?;
    let told = |trouble| faults::told(trouble, input, target.path());
    spares(target.path(), input, args.key_file.as_deref())?;
    // What cannot be sealed is found before anybody is asked for a passphrase.
    let amount = match content {
        Content::File => {
            let (_, bytes) = folder::open_regular(input)?;
            Amount {
                files: 1,
                folders: 0,
                bytes,
            }
        }
        Content::Folder => {
            outside(target.folder(), input)?;
            folder::measure(input).map_err(told)?
        }
    };
    let lock = match args.key_file {
        Some(_) => Lock::KeyFile,
        None => Lock::Passphrase(cost),
    };
    let mut header = Header {
        mode: args.mode,
        lock,
        content,
        segment_bytes: SEGMENT_BYTES,
        salt: [0; 32],
    };
    key::random(&mut header.salt)?;
    let master = match &args.key_file {
        Some(file) => Master::load(file)?,
        None => Master::stretch(&key::new_passphrase(ask)?, &header.salt, cost)?,
    };
    let mut watch = begin(amount.bytes);
    let mut file = target.file(false)?;
    let mut sealer = Sealer::new(&mut file, places(&header, &master)).map_err(told)?;
    let amount = match content {
        Content::File => {
            let (mut from, _) = folder::open_regular(input)?;
            let copied = sealer.copy(&mut from, amount.bytes, &mut watch);
            copied.map(|()| amount)
        }
        Content::Folder => folder::seal(input, &mut sealer, &mut watch),
    };
    let amount = amount.map_err(told)?;
    let (_, segments) = sealer.finish().map_err(told)?;
    target.keep_file(file)?;
    Ok(done(&target, &header, amount, segments))
}

/// Opens a sealed file. `ask` asks for a passphrase where there is no key file; `begin` is told the
/// bytes of the sealed file and gives what watches content pass.
///
/// # Errors
/// The diagnostic says what is wrong; there is no output then.
pub fn open<W: Watch>(
    args: &Open,
    ask: Ask<'_>,
    begin: impl FnOnce(u64) -> W,
) -> Result<Done, Refusal> {
    let input = args.input.as_path();
    let (mut from, size, header, commitment) = read_header(input)?;
    let target = Target::new(&opened_name(args)?, args.force)?;
    spares(target.path(), input, args.key_file.as_deref())?;
    let master = match (&args.key_file, header.lock) {
        (Some(file), Lock::KeyFile) => Master::load(file)?,
        (None, Lock::Passphrase(cost)) => {
            Master::stretch(&key::known_passphrase(ask)?, &header.salt, cost)?
        }
        (None, Lock::KeyFile) => {
            let hint = "name the key file that sealed it, `--key-file FILE`";
            return Err(faults::wrong_key(
                input,
                "it was sealed with a key file",
                hint,
            ));
        }
        (Some(_), Lock::Passphrase(_)) => {
            let hint = "leave out `--key-file`, and type the passphrase when asked";
            return Err(faults::wrong_key(
                input,
                "it was sealed with a passphrase",
                hint,
            ));
        }
    };
    if !master.derive(&header.bound()).is_of(&commitment) {
        let (why, hint) = match header.lock {
            Lock::KeyFile => ("another key sealed it", "name the key file that sealed it"),
            Lock::Passphrase(_) => (
                "another passphrase sealed it",
                "type the one that sealed it",
            ),
        };
        let why = format!("{why}, or its header was altered");
        return Err(faults::wrong_key(input, why, hint));
    }
    let mut watch = begin(size);
    let told = |trouble| faults::told(trouble, input, target.path());
    let mut opener = Opener::new(&mut from, places(&header, &master));
    let amount = match header.content {
        Content::File => open_file(&mut opener, &target, &mut watch),
        Content::Folder => open_folder(&mut opener, &target, &mut watch),
    };
    let amount = amount.map_err(told)?;
    Ok(done(&target, &header, amount, opener.segments()))
}

fn done(target: &Target, header: &Header, amount: Amount, segments: u64) -> Done {
    Done {
        output: target.path().to_path_buf(),
        folder: header.content == Content::Folder,
        amount,
        segments,
        mode: header.mode,
        by_passphrase: matches!(header.lock, Lock::Passphrase(_)),
    }
}

/// The cipher, nonces and associated data of the file with this header.
fn places(header: &Header, master: &Master) -> Places {
    let bound = header.bound();
    let keys = master.derive(&bound);
    let mut whole = [0; HEADER_BYTES];
    whole[..BOUND_BYTES].copy_from_slice(&bound);
    whole[BOUND_BYTES..].copy_from_slice(&keys.commitment);
    let cipher = segment::cipher(header.mode, &keys.key);
    Places::new(cipher, keys, whole, header.segment_bytes)
}

fn open_file<R: Read>(
    opener: &mut Opener<R>,
    target: &Target,
    watch: &mut dyn Watch,
) -> Result<Amount, Trouble> {
    let mut file = target.file(true)?;
    let mut amount = Amount {
        files: 1,
        ..Amount::default()
    };
    loop {
        let some = opener.some(usize::MAX)?;
        if some.is_empty() {
            break;
        }
        file.write_all(some).map_err(Trouble::Write)?;
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
    watch: &mut dyn Watch,
) -> Result<Amount, Trouble> {
    let (outer, inner) = target.unfinished_folder()?;
    let amount = folder::open(opener, &inner, watch)?;
    target.keep_folder(outer, &inner)?;
    Ok(amount)
}

/// A sealed file behind its header, with its size, header and commitment.
fn read_header(path: &Path) -> Result<(File, u64, Header, [u8; 32]), Refusal> {
    let unreadable = |error| faults::unreadable(path, &error);
    // A pipe would be waited for; a link to a file is as good as the file.
    let metadata = fs::metadata(path).map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(faults::not_sealed(path, "it is no file"));
    }
    let mut file = File::open(path).map_err(unreadable)?;
    let mut bytes = Vec::with_capacity(HEADER_BYTES);
    let read = (&mut file)
        .take(HEADER_BYTES as u64)
        .read_to_end(&mut bytes);
    read.map_err(unreadable)?;
    let parsed = Header::parse(&bytes);
    let (header, commitment) = parsed.map_err(|why| faults::no_header(path, why))?;
    Ok((file, metadata.len(), header, commitment))
}

/// The output of `seal`: the input's name with the ending of sealed files.
fn sealed_name(args: &Seal) -> Result<PathBuf, Refusal> {
    if let Some(output) = &args.output {
        return named(output);
    }
    let mut name = args.input.file_name().map(|name| name.to_os_string());
    if let Some(name) = &mut name {
        name.push(".");
        name.push(ENDING);
    }
    match name {
        Some(name) => Ok(args.input.with_file_name(name)),
        None => Err(nameless(&args.input)),
    }
}

/// The output of `open`: the input's name without the ending of sealed files.
fn opened_name(args: &Open) -> Result<PathBuf, Refusal> {
    match &args.output {
        Some(output) => named(output),
        None if args
            .input
            .extension()
            .is_some_and(|ending| ending == ENDING) =>
        {
            Ok(args.input.with_extension(""))
        }
        None => Err(nameless(&args.input)),
    }
}

/// An output that somebody named.
fn named(output: &Path) -> Result<PathBuf, Refusal> {
    match output == Path::new("-") {
        true => Err(faults::standard_output()),
        false => Ok(output.to_path_buf()),
    }
}

fn nameless(input: &Path) -> Refusal {
    let what = format!("no name for the output follows from {}", input.display());
    Diagnostic::new(Code::CommandLine, what)
        .hint("name the output, `-o NAME`")
        .into()
}

/// Refuses an output in the place of the input or of the key, which would be lost.
fn spares(output: &Path, input: &Path, key_file: Option<&Path>) -> Result<(), Refusal> {
    for (what, path) in [("input", Some(input)), ("key file", key_file)] {
        if path.is_some_and(|path| sealane_files::same(path, output)) {
            let what = format!("the output would take the place of the {what}");
            let hint = "name another output, `-o NAME`";
            return Err(Diagnostic::new(Code::CommandLine, what).hint(hint).into());
        }
    }
    Ok(())
}

/// Refuses an output within the folder that is sealed, which would hold itself.
fn outside(output: &Path, input: &Path) -> Result<(), Refusal> {
    let inside = match (output.canonicalize(), input.canonicalize()) {
        (Ok(output), Ok(input)) => output.starts_with(input),
        _ => false,
    };
    match inside {
        true => Err(faults::unsealable(
            input,
            "the output would be in it, and hold itself",
            "name an output outside of the folder, `-o NAME`",
        )),
        false => Ok(()),
    }
}
