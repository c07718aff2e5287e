//! TLS 1.3 between parties that have pinned each other's keys.
//!
//! Both sides show raw public keys (RFC 7250) and prove that they hold the private halves. The pin
//! is checked inside the handshake, so nothing is exchanged with a party whose key is wrong, and a
//! refused key is told to its owner by the alert `access_denied`. Connections are never resumed:
//! each run makes a fresh key exchange over X25519, so that a key stolen later opens no run of
//! today.
//!
//! The dialer puts its party index into the server name, in the form `p1.sealane.invalid`, so that
//! the acceptor knows which pin to hold against the key; whoever watches the wire can read it.

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

/// The dialing end of a connection from `from` to the holder of the pinned key.
pub(crate) fn client(
    identity: &Identity,
    pin: Arc<Pin>,
    from: PartyId,
) -> Result<ClientConnection, Error> {
    let mut config = ClientConfig::builder_with_provider(pin.provider.clone())
        .with_protocol_versions(&[&TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(pin)
        .with_client_cert_resolver(Arc::new(AlwaysResolvesClientRawPublicKeys::new(certified(
            identity,
        )?)));
    config.resumption = Resumption::disabled();
    let name = format!("p{}{NAME_SUFFIX}", from.0);
    let name = ServerName::try_from(name).map_err(|error| Error::General(error.to_string()))?;
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

/// The party that a client claims to be in the server name of its first message.
pub(crate) fn claimed_party(server_name: Option<&str>) -> Option<PartyId> {
    let party = server_name?.strip_prefix('p')?.strip_suffix(NAME_SUFFIX)?;
    party.parse().ok().map(PartyId)
}

/// Accepts one key and no other, and remembers the key that it refused.
#[derive(Debug)]
pub(crate) struct Pin {
    expected: PublicKey,
    refused: OnceLock<PublicKey>,
    provider: Arc<CryptoProvider>,
}

impl Pin {
    pub(crate) fn new(expected: PublicKey) -> Arc<Pin> {
        let provider = Arc::new(provider());
        Arc::new(Pin {
            expected,
            refused: OnceLock::new(),
            provider,
        })
    }

    /// The key that was expected and the one that was shown, if these differ.
    pub(crate) fn refused(&self) -> Option<(PublicKey, PublicKey)> {
        self.refused.get().map(|seen| (self.expected, *seen))
    }

    /// `raw_key` stands where a certificate would stand otherwise.
    fn check(&self, raw_key: &CertificateDer<'_>) -> Result<(), Error> {
        match PublicKey::from_spki(raw_key) {
            Some(key) if key == self.expected => Ok(()),
            Some(key) => {
                self.refused.get_or_init(|| key);
                // Travels as the alert `access_denied`.
                Err(Error::InvalidCertificate(
                    CertificateError::ApplicationVerificationFailure,
                ))
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
