//! TLS 1.3 between parties that have pinned each other's keys.
//!
//! Both sides show raw public keys (RFC 7250) and prove that they hold the private halves. The pin
//! is checked inside the handshake, so nothing is exchanged with a party whose key is wrong, and a
//! refused key is told to its owner by the alert `access_denied`. Connections are never resumed:
//! each run makes a fresh key exchange over X25519, so that a key stolen later opens no run of
//! today.
//!
//! The dialer says in the server name as whom it comes, in the form `p1.sealane.invalid`, so that
//! the acceptor knows which pin to hold against the key; whoever watches the wire can read it. One
//! who only probes comes as `probe.sealane.invalid` and may show any key that the acceptor has
//! pinned, since the two may number parties differently.

use std::sync::{Arc, OnceLock};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{AlwaysResolvesClientRawPublicKeys, Resumption};
use rustls::crypto::ring::{cipher_suite, default_provider, kx_group, sign::any_eddsa_type};
use rustls::crypto::{CryptoProvider, verify_tls13_signature_with_raw_key};
use rustls::pki_types::{
    CertificateDer, PrivatePkcs8KeyDer, ServerName, SubjectPublicKeyInfoDer, UnixTime,
};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{AlwaysResolvesServerRawPublicKeys, NoServerSessionStorage};
use rustls::sign::CertifiedKey;
use rustls::version::TLS13;
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, DistinguishedName,
    Error, ServerConfig, SignatureScheme,
};

use crate::{Identity, PartyId, PublicKey};

/// What follows the party in the server name. No such domain can exist (RFC 6761).
const NAME_SUFFIX: &str = ".sealane.invalid";

/// What stands before it for one who probes.
const PROBE: &str = "probe";

/// As whom somebody dials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    /// As this party of a run.
    Party(PartyId),
    /// As somebody who wants to know whether the other end answers.
    Prober,
}

impl Claim {
    fn server_name(self) -> String {
        match self {
            Claim::Party(party) => format!("p{}{NAME_SUFFIX}", party.0),
            Claim::Prober => format!("{PROBE}{NAME_SUFFIX}"),
        }
    }

    /// The claim in the server name of a client's first message.
    pub(crate) fn of_server_name(name: Option<&str>) -> Option<Claim> {
        let claim = name?.strip_suffix(NAME_SUFFIX)?;
        if claim == PROBE {
            return Some(Claim::Prober);
        }
        let party = claim.strip_prefix('p')?.parse().ok()?;
        Some(Claim::Party(PartyId(party)))
    }
}

/// The dialing end of a connection, as whom it says, to the holder of the pinned key.
pub(crate) fn client(
    identity: &Identity,
    pin: Arc<Pin>,
    claim: Claim,
) -> Result<ClientConnection, Error> {
    let mut config = ClientConfig::builder_with_provider(pin.provider.clone())
        .with_protocol_versions(&[&TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(pin)
        .with_client_cert_resolver(Arc::new(AlwaysResolvesClientRawPublicKeys::new(certified(
            identity,
        )?)));
    config.resumption = Resumption::disabled();
    let name = ServerName::try_from(claim.server_name())
        .map_err(|error| Error::General(error.to_string()))?;
    ClientConnection::new(Arc::new(config), name)
}

/// The configuration of the accepting end, for a client that holds the pinned key.
pub(crate) fn server(identity: &Identity, pin: Arc<Pin>) -> Result<Arc<ServerConfig>, Error> {
    let mut config = ServerConfig::builder_with_provider(pin.provider.clone())
        .with_protocol_versions(&[&TLS13])?
        .with_client_cert_verifier(pin)
        .with_cert_resolver(Arc::new(AlwaysResolvesServerRawPublicKeys::new(certified(
            identity,
        )?)));
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    Ok(Arc::new(config))
}

/// Accepts one key, or one of several, and no other, and remembers which one it was shown.
#[derive(Debug)]
pub(crate) struct Pin {
    expected: Vec<PublicKey>,
    shown: OnceLock<PublicKey>,
    provider: Arc<CryptoProvider>,
}

impl Pin {
    /// The pin of one party.
    pub(crate) fn new(expected: PublicKey) -> Arc<Pin> {
        Pin::any_of(vec![expected])
    }

    /// The pins of several, of whom any may come.
    pub(crate) fn any_of(expected: Vec<PublicKey>) -> Arc<Pin> {
        let provider = Arc::new(provider());
        Arc::new(Pin {
            expected,
            shown: OnceLock::new(),
            provider,
        })
    }

    /// The key that was shown, if it was accepted. Whether the other end holds it is certain once
    /// the handshake is done.
    pub(crate) fn accepted(&self) -> Option<PublicKey> {
        let shown = self.shown.get().copied();
        shown.filter(|key| self.expected.contains(key))
    }

    /// The key that was shown, if it was refused.
    pub(crate) fn refused(&self) -> Option<PublicKey> {
        let shown = self.shown.get().copied();
        shown.filter(|key| !self.expected.contains(key))
    }

    /// `raw_key` stands where a certificate would stand otherwise.
    fn check(&self, raw_key: &CertificateDer<'_>) -> Result<(), Error> {
        match PublicKey::from_spki(raw_key) {
            Some(key) => {
                self.shown.get_or_init(|| key);
                match self.expected.contains(&key) {
                    true => Ok(()),
                    // Travels as the alert `access_denied`.
                    false => Err(Error::InvalidCertificate(
                        CertificateError::ApplicationVerificationFailure,
                    )),
                }
            }
            None => Err(Error::InvalidCertificate(CertificateError::BadEncoding)),
        }
    }

    fn check_signature(
        &self,
        message: &[u8],
        raw_key: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let key = SubjectPublicKeyInfoDer::from(raw_key.as_ref());
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature_with_raw_key(message, &key, signed, algorithms)
    }
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
        self.check(raw_key)
            .map(|()| ServerCertVerified::assertion())
    }

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
        self.check_signature(message, raw_key, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
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
        self.check(raw_key)
            .map(|()| ClientCertVerified::assertion())
    }

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
        self.check_signature(message, raw_key, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}

/// AES-128 first: it is the strength of the protocols above and the fastest cipher on machines with
/// AES instructions; ChaCha20 serves those without.
fn provider() -> CryptoProvider {
    CryptoProvider {
        cipher_suites: vec![
            cipher_suite::TLS13_AES_128_GCM_SHA256,
            cipher_suite::TLS13_CHACHA20_POLY1305_SHA256,
        ],
        kx_groups: vec![kx_group::X25519],
        ..default_provider()
    }
}

/// The raw public key of `identity` and the means to sign with it.
fn certified(identity: &Identity) -> Result<Arc<CertifiedKey>, Error> {
    let signer = any_eddsa_type(&PrivatePkcs8KeyDer::from(identity.pkcs8()))?;
    let raw_key = CertificateDer::from(identity.public_key().to_spki());
    Ok(Arc::new(CertifiedKey::new(vec![raw_key], signer)))
}

fn only_tls13() -> Error {
    Error::General("only TLS 1.3 is spoken here".into())
}
