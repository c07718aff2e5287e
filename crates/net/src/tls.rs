//! TLS 1.3 between parties that have pinned each other's keys.
//!
//! Both sides show raw public keys (RFC 7250) and prove that they hold the private keys. The pin is
//! checked inside the handshake, so nothing is exchanged with a party whose key is wrong. An alert
//! tells the owner of a refused key: `access_denied` where another one is pinned for it, and
//! `unknown_ca` where its key is none of those that are pinned. Connections are never resumed:
//! each run makes a fresh key exchange over X25519, so that a key stolen later decrypts no earlier
//! run.
//!
//! The dialler states its index in the server name, in the form `p1.sealane.invalid`, so that the
//! acceptor knows which pinned key to expect; an observer of the wire can read it. A prober uses
//! `probe.sealane.invalid` and may show any key that the acceptor has pinned, since the two may
//! number parties differently.

use std::sync::{Arc, OnceLock};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{AlwaysResolvesClientRawPublicKeys, Resumption};
use rustls::crypto::ring::{cipher_suite, kx_group, sign::any_eddsa_type};
use rustls::crypto::{
    CryptoProvider, GetRandomFailed, KeyProvider, SecureRandom, WebPkiSupportedAlgorithms,
    verify_tls13_signature_with_raw_key,
};
use rustls::pki_types::{
    CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName, SubjectPublicKeyInfoDer,
    UnixTime,
};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{AlwaysResolvesServerRawPublicKeys, NoServerSessionStorage};
use rustls::sign::{CertifiedKey, SigningKey};
use rustls::version::TLS13;
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, DistinguishedName,
    Error, ServerConfig, SignatureScheme,
};

use sealane_identity::{Identity, PublicKey};
use sealane_parties::PartyId;
use webpki::ring::ED25519;

/// Suffix of the server name after the party. No such domain can exist (RFC 6761).
const NAME_SUFFIX: &str = ".sealane.invalid";

/// Label of a prober in the server name.
const PROBE: &str = "probe";

/// Identity that a dialler claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    /// As this party of a run.
    Party(PartyId),
    /// As a prober, which only checks whether the other end answers.
    Prober,
}

impl Claim {
    fn server_name(self) -> String {
        match self {
            Claim::Party(party) => format!("p{}{NAME_SUFFIX}", party.0),
            Claim::Prober => format!("{PROBE}{NAME_SUFFIX}"),
        }
    }

    /// Parses the claim in the server name of a client's first message.
    pub(crate) fn of_server_name(name: Option<&str>) -> Option<Claim> {
        let claim = name?.strip_suffix(NAME_SUFFIX)?;
        if claim == PROBE {
            return Some(Claim::Prober);
        }
        let party = claim.strip_prefix('p')?.parse().ok()?;
        let claim = Claim::Party(PartyId(party));
        // A number has one form: no sign, and no zeros before it.
        name.filter(|name| *name == claim.server_name())?;
        Some(claim)
    }
}

/// Makes the dialling end of a connection to the holder of the pinned key.
pub(crate) fn client(
    identity: &Identity,
    pin: Arc<Pin>,
    claim: Claim,
) -> Result<ClientConnection, Error> {
    let key = AlwaysResolvesClientRawPublicKeys::new(certified(identity)?);
    let mut config = ClientConfig::builder_with_provider(pin.provider.clone())
        .with_protocol_versions(&[&TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(pin)
        .with_client_cert_resolver(Arc::new(key));
    config.resumption = Resumption::disabled();
    let name = ServerName::try_from(claim.server_name())
        .map_err(|error| Error::General(error.to_string()))?;
    ClientConnection::new(Arc::new(config), name)
}

/// Makes the configuration of the accepting end, for a client that holds the pinned key.
pub(crate) fn server(identity: &Identity, pin: Arc<Pin>) -> Result<Arc<ServerConfig>, Error> {
    let key = AlwaysResolvesServerRawPublicKeys::new(certified(identity)?);
    let mut config = ServerConfig::builder_with_provider(pin.provider.clone())
        .with_protocol_versions(&[&TLS13])?
        .with_client_cert_verifier(pin)
        .with_cert_resolver(Arc::new(key));
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    Ok(Arc::new(config))
}

/// Certificate verifier that accepts one key, or one of several, and records the key it was shown.
#[derive(Debug)]
pub(crate) struct Pin {
    expected: Vec<PublicKey>,
    /// True if the other end may be any of several parties, and false if it claims to be one.
    of_many: bool,
    shown: OnceLock<PublicKey>,
    provider: Arc<CryptoProvider>,
}

impl Pin {
    /// Makes the pin of one party.
    pub(crate) fn new(expected: PublicKey) -> Arc<Pin> {
        Pin::of(vec![expected], false)
    }

    /// Makes a pin that accepts any of several keys.
    pub(crate) fn any_of(expected: Vec<PublicKey>) -> Arc<Pin> {
        Pin::of(expected, true)
    }

    fn of(expected: Vec<PublicKey>, of_many: bool) -> Arc<Pin> {
        let (shown, provider) = (OnceLock::new(), Arc::new(provider()));
        Arc::new(Pin {
            expected,
            of_many,
            shown,
            provider,
        })
    }

    /// The key that was shown, if it was accepted. The other end has proved to hold it once the
    /// handshake is done.
    pub(crate) fn accepted(&self) -> Option<PublicKey> {
        let shown = self.shown.get().copied();
        shown.filter(|key| self.expected.contains(key))
    }

    /// The key that was shown, if it was refused.
    pub(crate) fn refused(&self) -> Option<PublicKey> {
        let shown = self.shown.get().copied();
        shown.filter(|key| !self.expected.contains(key))
    }

    /// Checks `raw_key`, which takes the place of a certificate.
    fn check(&self, raw_key: &CertificateDer<'_>) -> Result<(), CertificateError> {
        let key = PublicKey::from_spki(raw_key).ok_or(CertificateError::BadEncoding)?;
        self.shown.get_or_init(|| key);
        if self.expected.contains(&key) {
            Ok(())
        } else if self.of_many {
            Err(CertificateError::UnknownIssuer)
        } else {
            Err(CertificateError::ApplicationVerificationFailure)
        }
    }
}

/// How either side proves that it has its key: by signatures of TLS 1.3, with raw keys.
macro_rules! signed_by_raw_keys {
    () => {
        fn verify_tls12_signature(
            &self,
            _message: &[u8],
            _raw_key: &CertificateDer<'_>,
            _signed: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            Err(only_tls13())
        }

        fn verify_tls13_signature(
            &self,
            message: &[u8],
            raw_key: &CertificateDer<'_>,
            signed: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            let key = SubjectPublicKeyInfoDer::from(raw_key.as_ref());
            let algorithms = &self.provider.signature_verification_algorithms;
            verify_tls13_signature_with_raw_key(message, &key, signed, algorithms)
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            vec![SignatureScheme::ED25519]
        }

        fn requires_raw_public_keys(&self) -> bool {
            true
        }
    };
}

impl ServerCertVerifier for Pin {
    fn verify_server_cert(
        &self,
        raw_key: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.check(raw_key)?;
        Ok(ServerCertVerified::assertion())
    }

    signed_by_raw_keys!();
}

impl ClientCertVerifier for Pin {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        raw_key: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.check(raw_key)?;
        Ok(ClientCertVerified::assertion())
    }

    signed_by_raw_keys!();
}

/// Cipher suites in order of preference. AES-128 comes first: it matches the strength of the
/// protocols above and is the fastest cipher on machines with AES instructions; ChaCha20 is for
/// those without.
fn provider() -> CryptoProvider {
    CryptoProvider {
        cipher_suites: vec![
            cipher_suite::TLS13_AES_128_GCM_SHA256,
            cipher_suite::TLS13_CHACHA20_POLY1305_SHA256,
        ],
        kx_groups: vec![kx_group::X25519],
        signature_verification_algorithms: SIGNATURES,
        secure_random: &System,
        key_provider: &System,
    }
}

/// The signatures of raw keys, and no others: what nobody may use is not even there.
static SIGNATURES: WebPkiSupportedAlgorithms = WebPkiSupportedAlgorithms {
    all: &[ED25519],
    mapping: &[(SignatureScheme::ED25519, &[ED25519])],
};

/// The random numbers of the operating system.
#[derive(Debug)]
struct System;

impl SecureRandom for System {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), GetRandomFailed> {
        getrandom::fill(bytes).map_err(|_| GetRandomFailed)
    }
}

impl KeyProvider for System {
    fn load_private_key(&self, _: PrivateKeyDer<'static>) -> Result<Arc<dyn SigningKey>, Error> {
        Err(Error::General("connections are given their key".into()))
    }
}

/// Returns the raw public key of `identity` and the means to sign with it.
fn certified(identity: &Identity) -> Result<Arc<CertifiedKey>, Error> {
    let signer = any_eddsa_type(&PrivatePkcs8KeyDer::from(identity.secret_pkcs8()))?;
    let raw_key = CertificateDer::from(identity.public_key().to_spki());
    Ok(Arc::new(CertifiedKey::new(vec![raw_key], signer)))
}

fn only_tls13() -> Error {
    Error::General("only TLS 1.3 is spoken here".into())
}
