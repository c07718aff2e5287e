//! The channel of a party that is timed, and its work between what it reads and what it sends.

use std::hint::black_box;
use std::thread;

use sealane_block::Block;
use sealane_net::Mesh;
use sealane_ot::OtError;
use sealane_parties::PartyId;
use sealane_testkit::timing::{ROWS, TimedWork};

/// The party that is timed, and its peer.
pub const ME: PartyId = PartyId(0);
pub const PEER: PartyId = PartyId(1);

/// OTs, or other correlations, of a batch: one for each input.
pub const COUNT: usize = 2 * ROWS;

/// Bytes of a digest of all that a party has sent.
pub const DIGEST_BYTES: u64 = 32;

/// The lowest bits of inputs as choices.
pub fn choices(inputs: &[Block]) -> [u8; COUNT] {
    let choices: Vec<u8> = inputs.iter().map(|input| input.lsb()).collect();
    choices.try_into().expect("a choice for each input")
}

/// The lowest bits of the inputs, four times over: a secret of 128 bits.
pub fn bits(inputs: &[Block]) -> Block {
    let bits = inputs.iter().rev();
    let bits = bits.fold(0u32, |bits, input| bits << 1 | u32::from(input.lsb()));
    Block::new(u128::from(bits) * 0x0000_0001_0000_0001_0000_0001_0000_0001)
}

/// The timed party's mesh, and that of its peer.
pub struct Channel {
    pub here: Mesh,
    pub there: Mesh,
}

impl Channel {
    pub fn new() -> Channel {
        let mut meshes = Mesh::in_memory(2);
        let [there, here] = [0, 1].map(|_| meshes.pop().expect("two parties"));
        Channel { here, there }
    }

    /// Runs the timed party beside an honest peer; returns what it makes.
    pub fn meet<T>(
        &mut self,
        peer: impl FnOnce(&mut Mesh) -> Result<(), OtError> + Send,
        me: impl FnOnce(&mut Mesh) -> Result<T, OtError>,
    ) -> T {
        let Channel { here, there } = self;
        thread::scope(|threads| {
            threads.spawn(|| peer(there).expect("an honest party"));
            let made = me(here).expect("an honest peer");
            here.flush().expect("memory");
            made
        })
    }

    /// Sends a digest of all that was sent to the timed party.
    pub fn feed_digest(&mut self) {
        let digest = self.there.digest_sent(ME);
        self.feed(&digest);
    }

    /// Sends bytes to the timed party.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.there.send(ME, bytes).expect("memory");
        self.there.flush().expect("memory");
    }

    /// Reads what the timed party has sent.
    pub fn drain(&mut self, bytes: u64) {
        self.here.flush().expect("memory");
        let mut sent = vec![0; bytes as usize];
        self.there.recv(ME, &mut sent).expect("memory");
    }
}

/// The generator of ristretto255 (RFC 9496, appendix A.1).
pub const POINT: [u8; 32] = [
    0xe2, 0xf2, 0xae, 0x0a, 0x6a, 0xbc, 0x4e, 0x71, 0xa8, 0x84, 0xa9, 0x61, 0xc5, 0x00, 0x51, 0x5f,
    0x58, 0xe3, 0x0b, 0x6a, 0xa5, 0x82, 0xdd, 0x8d, 0xb6, 0xa6, 0x59, 0x45, 0xe0, 0x8d, 0x2d, 0x76,
];

/// Work of the timed party on what an input makes, with messages that its peer has sent before.
pub struct Exchange<P, R, G, M> {
    channel: Channel,
    sent: u64,
    prepare: P,
    run: R,
    given: Option<G>,
    made: Option<M>,
}

impl<P, R, G, M> Exchange<P, R, G, M>
where
    P: FnMut(&mut Channel, &[Block]) -> G,
    R: FnMut(&mut Mesh, &mut G) -> Result<M, OtError>,
{
    /// `prepare` feeds all that the party reads. `run` is timed, and sends so many bytes; what it
    /// returns is dropped after the clock has stopped.
    pub fn new(channel: Channel, sent: u64, prepare: P, run: R) -> Exchange<P, R, G, M> {
        Exchange {
            channel,
            sent,
            prepare,
            run,
            given: None,
            made: None,
        }
    }
}

impl<P, R, G, M> TimedWork for Exchange<P, R, G, M>
where
    P: FnMut(&mut Channel, &[Block]) -> G,
    R: FnMut(&mut Mesh, &mut G) -> Result<M, OtError>,
{
    fn prepare(&mut self, inputs: &[Block]) {
        self.given = Some((self.prepare)(&mut self.channel, inputs));
    }

    fn run(&mut self) {
        let given = self.given.as_mut().expect("it is prepared");
        let made = (self.run)(&mut self.channel.here, given);
        self.made = Some(black_box(made.expect("nothing is checked")));
    }

    fn settle(&mut self) {
        self.channel.drain(self.sent);
        (self.given, self.made) = (None, None);
    }
}
