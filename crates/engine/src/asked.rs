//! Security that a user asks of a protocol, and the refusal of a weaker one.

use crate::error::EngineError;
use crate::job::ProtocolName;
use sealane_diagnostic::{Code, Diagnostic, Span};
use sealane_protocol::Adversary;

/// Security that is asked of a run. Where nobody asks, it is [`Adversary::SemiHonest`], and the
/// reference, which withstands nothing, runs only by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Corrupt parties that the protocol has to withstand.
    pub adversary: Adversary,
    /// Where a configuration says so; none for a command line or a call.
    pub place: Option<Span>,
}

impl From<Adversary> for Asked {
    /// Security that a command line or a call asks for.
    fn from(adversary: Adversary) -> Asked {
        Asked {
            adversary,
            place: None,
        }
    }
}

/// Checks that a protocol withstands what is asked, if anything is.
///
/// # Errors
/// It is weaker: with the protocols that are not.
pub(crate) fn withstands(protocol: ProtocolName, asked: Option<&Asked>) -> Result<(), EngineError> {
    let Some(Asked { adversary, place }) = asked else {
        return Ok(());
    };
    let covers = |of: &ProtocolName| of.profile().corruption.covers(*adversary);
    if covers(&protocol) {
        return Ok(());
    }
    let corruption = protocol.profile().corruption;
    let what = format!("`{protocol}` withstands {corruption}, and `{adversary}` is asked for");
    let finding = Diagnostic::new(Code::WeakerProtocol, what).at(place.as_ref());
    let strong = ProtocolName::ALL.into_iter().filter(covers);
    let strong = strong.map(|of| of.to_string()).collect::<Vec<_>>();
    Err(EngineError::from(match adversary {
        Adversary::SemiHonest => finding.hint(format!("choose one of: {}", strong.join(", "))),
        Adversary::Malicious => finding
            .because("Whoever deviates from this protocol can learn more, or change results.")
            .hint(
                "choose `--protocol auth`, two parties of whom one may cheat, or `--protocol trio`, \
                 one of three; among parties that follow the protocol ask for `semi-honest`",
            ),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ProtocolChoice, Terms};
    use sealane_parties::NetworkClass;
    use sealane_program::text::parse;

    const PROGRAM: &str = "sealane program 1\nname p\nparty a\nparty b\ninput x : a u8 in 0..255\n\
        main {\n  %0 = param 0 : u8 in 0..255 known a\n}\nreveal r = %0 : u8 to b\n";

    /// The job of the protocol that is chosen, and why, or the refusal.
    fn job(
        choice: ProtocolChoice,
        asked: Option<&Asked>,
    ) -> Result<(String, Option<String>), Diagnostic> {
        let helpers = match choice {
            ProtocolChoice::Named(ProtocolName::Trio | ProtocolName::TrioMalicious) => {
                vec!["ada".to_string()]
            }
            _ => vec![],
        };
        let program = parse(PROGRAM, "p").expect("a program");
        let terms = Terms {
            helpers: &helpers,
            asked,
            ..Terms::on(NetworkClass::LAN)
        };
        let job = choice.job(program, terms);
        job.map(|(job, why)| (job.hash(), why))
            .map_err(|error| error.finding().clone())
    }

    /// A job that is asked to withstand what its protocol does is the same as without the question.
    #[test]
    fn a_protocol_that_is_weaker_than_what_is_asked_is_refused() {
        for protocol in ProtocolName::ALL {
            let choice = ProtocolChoice::Named(protocol);
            let usual = job(choice, None).expect("nothing is asked");
            let semi_honest = job(choice, Some(&Adversary::SemiHonest.into()));
            if protocol == ProtocolName::Clear {
                let refusal = semi_honest.expect_err("it withstands nothing");
                assert_eq!(refusal.code, Code::WeakerProtocol);
                let hint = "choose one of: yao, yao-three-halves, trio, trio-malicious, gmw, mixed, \
                            auth";
                assert_eq!(refusal.hint, hint);
            } else {
                assert_eq!(semi_honest.as_ref(), Ok(&usual));
            }
            let malicious = job(choice, Some(&Adversary::Malicious.into()));
            if protocol == ProtocolName::Auth {
                assert_eq!(malicious.as_ref(), Ok(&usual));
                continue;
            }
            let three = [ProtocolName::Trio, ProtocolName::TrioMalicious];
            if three.contains(&protocol) {
                let proved = ProtocolChoice::Named(ProtocolName::TrioMalicious);
                assert_eq!(malicious, job(proved, None), "{protocol}");
                continue;
            }
            let refusal = malicious.expect_err("weaker");
            assert_eq!(refusal.code, Code::WeakerProtocol);
            let corruption = protocol.profile().corruption;
            let what =
                format!("`{protocol}` withstands {corruption}, and `malicious` is asked for");
            assert_eq!(refusal.message, what);
            let hint = "choose `--protocol auth`, two parties of whom one may cheat";
            assert!(refusal.hint.starts_with(hint), "{refusal}");
        }
    }

    /// Where nobody names a protocol it is `yao`, or what withstands more among as many parties.
    #[test]
    fn a_job_without_a_name_takes_a_protocol_that_withstands_what_is_asked() {
        let malicious = Asked::from(Adversary::Malicious);
        let taken = |asked, helpers: &[&str]| {
            let helpers = helpers.iter().map(|name| name.to_string());
            let helpers = helpers.collect::<Vec<_>>();
            let terms = Terms {
                helpers: &helpers,
                asked,
                ..Terms::on(NetworkClass::LAN)
            };
            let program = parse(PROGRAM, "p").expect("a program");
            let job = ProtocolChoice::Usual.job(program, terms);
            job.map(|(job, why)| (job.protocol(), why.is_some()))
                .map_err(|error| error.finding().code)
        };
        let asked = Some(&malicious);
        assert_eq!(taken(None, &[]), Ok((ProtocolName::Yao, false)));
        assert_eq!(taken(asked, &[]), Ok((ProtocolName::Auth, true)));
        let three = Ok((ProtocolName::TrioMalicious, true));
        assert_eq!(taken(asked, &["ada"]), three);
        assert_eq!(taken(asked, &["ada", "bob", "cyd"]), three);
        // The party that learns the result need not compute.
        assert_eq!(taken(asked, &["ada", "bob"]), three);
        let four = ["ada", "bob", "cyd", "dan"];
        assert_eq!(taken(asked, &four), Err(Code::Parties));
        assert_eq!(taken(None, &four), Err(Code::Parties));
    }

    /// Where no protocol takes from a pool, the refusal says so, whichever is chosen.
    #[test]
    fn terms_that_exclude_a_pool_are_refused_at_once() {
        let malicious = Asked::from(Adversary::Malicious);
        let helpers = ["ada".to_string()];
        let pooled = Terms {
            pooled: true,
            ..Terms::on(NetworkClass::LAN)
        };
        let with = Terms {
            helpers: &helpers,
            ..pooled
        };
        let malicious = Terms {
            asked: Some(&malicious),
            ..pooled
        };
        let [two, three] = ["or ask for `semi-honest`", "or the helpers"];
        for (terms, hint) in [(malicious, two), (with, three)] {
            let all = [ProtocolName::Yao, ProtocolName::Trio, ProtocolName::Mixed];
            let all = all.map(ProtocolChoice::Named).into_iter();
            for choice in all.chain([ProtocolChoice::Auto]) {
                let program = parse(PROGRAM, "p").expect("a program");
                let refusal = choice.job(program, terms).err().expect("no pool");
                assert_eq!(refusal.finding().code, Code::NoPool);
                assert!(refusal.finding().hint.contains(hint), "{refusal}");
            }
            let program = parse(PROGRAM, "p").expect("a program");
            assert!(crate::compare(&program, terms, None).is_err());
        }
    }

    #[test]
    fn auto_chooses_among_those_that_withstand_what_is_asked() {
        let (_, why) = job(ProtocolChoice::Auto, None).expect("a protocol");
        let why = why.expect("it was chosen");
        let among = "the fastest that withstands `semi-honest`, on lan at the upper bounds: ";
        assert!(why.contains(among), "{why}");
        let pooled = Terms {
            pooled: true,
            ..Terms::on(NetworkClass::LAN)
        };
        let program = parse(PROGRAM, "p").expect("a program");
        let (pooled, why) = ProtocolChoice::Auto
            .job(program, pooled)
            .expect("a protocol");
        assert!(pooled.is_pooled() && pooled.protocol().profile().pools);
        let why = why.expect("it was chosen");
        assert!(why.contains("on lan from a pool at"), "{why}");
        let place = Span::new("sealane.toml".to_string(), 1, 12, 23);
        let asked = Asked {
            adversary: Adversary::Malicious,
            place: Some(place.clone()),
        };
        let (of_two, why) = job(ProtocolChoice::Auto, Some(&asked)).expect("one of two parties");
        let auth = job(ProtocolChoice::Named(ProtocolName::Auth), None).expect("a job");
        assert_eq!(of_two, auth.0);
        assert!(why.is_some_and(|why| why.contains("`auto` is auth")));
        let yao = ProtocolChoice::Named(ProtocolName::Yao);
        let refusal = job(yao, Some(&asked)).expect_err("it is weaker");
        assert_eq!(refusal.code, Code::WeakerProtocol);
        assert_eq!(refusal.span, Some(place));
    }
}
