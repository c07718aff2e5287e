//! scratch
use sealane_aead::{Cipher, Message, Suite, seal_many, open_many};
use sealane_bench::cycles::measure;
use sealane_block::Cpu;
use std::time::Duration;
fn main() {
    let cpu = Cpu::detect().unwrap();
    let only: Vec<String> = std::env::args().skip(1).collect();
    for name in Suite::names() {
        if !only.is_empty() && !only.iter().any(|o| o == name) { continue; }
        let suite = Suite::named(name, None, None).unwrap();
        let cipher = Cipher::new(cpu, suite, &vec![7u8; suite.key_bytes()]).unwrap();
        let nonce = vec![1u8; match name { "ecb" => 0, "jambu" => 8, "ccm"|"gcm"|"ocb3"|"otr"|"cloc"|"silc" => 12, _ => 16 }];
        if let Ok(l) = std::env::var("SINGLE") { let len: usize = l.parse().unwrap(); let n = cipher.sealed_len(len); let mut buf = vec![0u8; n]; for _ in 0..10_000_000 { cipher.seal_in_place(&nonce, &[], &mut buf, len).unwrap(); } continue; }
        print!("{name:8}");
        for len in [128usize, 2048] { if std::env::var("ONLY128").is_ok() { if len != 128 {continue;} let n = cipher.sealed_len(len); let mut bufs = vec![0u8; n*512]; for _ in 0..20000 { for d in seal_many(bufs.chunks_exact_mut(n).map(|buffer| Message { cipher: &cipher, nonce: &nonce[..], ad: [], buffer, text: Some(len) })) { d.result.unwrap(); } } continue; }
            let n = cipher.sealed_len(len);
            let mut buf = vec![0u8; n];
            let m = measure(len as u64, Duration::from_millis(200), || { cipher.seal_in_place(&nonce, &[], &mut buf, len).unwrap(); });
            let sealed = cipher.seal(&nonce, &[], &buf[..len]).unwrap();
            let o = measure(len as u64, Duration::from_millis(200), || { buf.copy_from_slice(&sealed); cipher.open_in_place(&nonce, &[], &mut buf, Some(len)).unwrap(); });
            let count: usize = std::env::var("COUNT").map_or(512, |c| c.parse().unwrap());
            let gap: usize = std::env::var("GAP").map_or(0, |c| c.parse().unwrap()); let (real, n) = (n, n + gap); let mut bufs = vec![0u8; n * count];
            let many = |bufs: &mut [u8]| for d in seal_many(bufs.chunks_exact_mut(n).map(|buffer| Message { cipher: &cipher, nonce: &nonce[..], ad: [], buffer: &mut buffer[..real], text: Some(len) })) { d.result.unwrap(); };
            let k = measure((len * count) as u64, Duration::from_millis(300), || many(&mut bufs));
            let mut one = sealed.clone(); one.resize(n, 0); let sealed_all: Vec<u8> = one.iter().copied().cycle().take(n * count).collect();
            let ko = measure((len * count) as u64, Duration::from_millis(300), || { bufs.copy_from_slice(&sealed_all); for d in open_many(bufs.chunks_exact_mut(n).map(|buffer| Message { cipher: &cipher, nonce: &nonce[..], ad: [], buffer: &mut buffer[..real], text: Some(len) })) { d.result.unwrap(); } });
            print!("  {len:5}: single {:.3} ({:.3}) open {:.3} many {:.3} ({:.3}) open {:.3} |", m.median_cycles, m.min_cycles, o.median_cycles, k.median_cycles, k.min_cycles, ko.median_cycles);
        }
        println!();
    }
}
