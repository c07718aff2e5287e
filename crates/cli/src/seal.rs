//! Verbs of sealed files: `seal`, `open` and `keygen`. Crate `sealed` does the work.

mod summary;

use crate::args::{self, SealMode};
use sealane_diagnostic::{Code, Diagnostic};
use sealane_host::Failure;
use sealane_host::progress::TransferProgress;
use sealane_sealed::{MasterKey, Mode, Open, Refusal, Seal, TransferWatch};
use sealane_terminal::{CancelOnSignal, Hidden, print_line, print_view};
use std::io::{IsTerminal, Write, stderr, stdin};
use summary::Summary;
use zeroize::Zeroizing;

/// Makes a key file.
pub fn keygen(args: &args::KeygenArgs) -> Result<(), Failure> {
    MasterKey::generate()?.save(&args.file)?;
    print_line(format!(
        "{} holds a new key; whoever has it opens what it seals, and without it nobody does: keep a \
         copy in another place",
        args.file.display()
    ))
}

/// Seals a file or a folder.
pub fn seal(args: &args::SealArgs) -> Result<(), Failure> {
    let request = Seal {
        input: args.input.clone(),
        output: args.output.clone(),
        key_file: args.key_file.clone(),
        mode: match args.mode {
            SealMode::Gcm => Mode::Gcm,
            SealMode::Ocb3 => Mode::Ocb3,
        },
        force: args.force,
    };
    let begin = |total| SealProgress::begin("sealing", total, args.no_progress || args.json);
    let done = sealane_sealed::seal(&request, &mut ask_at_terminal, begin)?;
    print_view(args.json, &Summary::new("sealed", &args.input, done))
}

/// Opens a sealed file.
pub fn open(args: &args::OpenArgs) -> Result<(), Failure> {
    let request = Open {
        input: args.input.clone(),
        output: args.output.clone(),
        key_file: args.key_file.clone(),
        force: args.force,
    };
    let begin = |total| SealProgress::begin("opening", total, args.no_progress || args.json);
    let done = sealane_sealed::open(&request, &mut ask_at_terminal, begin)?;
    print_view(args.json, &Summary::new("opened", &args.input, done))
}

/// Progress of a verb at work. Until it is dropped, signals ask the verb to stop.
struct SealProgress {
    cancel_on_signal: CancelOnSignal,
    shown: Option<TransferProgress>,
}

impl SealProgress {
    fn begin(what: &'static str, total: u64, quiet: bool) -> SealProgress {
        SealProgress {
            cancel_on_signal: CancelOnSignal::begin(),
            shown: (!quiet).then(|| TransferProgress::on_stderr(what, total)),
        }
    }
}

impl TransferWatch for SealProgress {
    fn passed(&mut self, bytes: u64) -> bool {
        if let Some(shown) = &mut self.shown {
            shown.passed(bytes);
        }
        !self.cancel_on_signal.cancel().is_cancelled()
    }
}

/// Asks at the terminal. It reads neither a pipe nor the environment.
fn ask_at_terminal(text: &str) -> Result<Zeroizing<String>, Refusal> {
    if !(stdin().is_terminal() && stderr().is_terminal()) {
        let what = "there is no terminal to ask for the passphrase";
        let hint = "run it at a terminal, or use a key file, `--key-file FILE`; `sealane keygen \
                    FILE` makes one";
        return Err(Diagnostic::new(Code::Passphrase, what).hint(hint).into());
    }
    // Echo is off before the prompt, since a program may answer at once, and on again if a signal
    // comes.
    let hidden = Hidden::begin();
    let asked = hidden.and_then(|hidden| {
        write!(stderr(), "{text}")?;
        stderr().flush()?;
        Ok(hidden)
    });
    let answer = asked.and_then(|hidden| hidden.line());
    answer.map_err(|error| {
        let hint = "run it at a terminal, or use a key file, `--key-file FILE`";
        let finding = Diagnostic::new(Code::Passphrase, "no passphrase was typed");
        finding.hint(hint).because(error.to_string()).into()
    })
}
