//! x
use sealane_plan::{JobParts, NetworkClass, cost, plan};
use sealane_program::builder::*;
use sealane_program::graph::*;
use sealane_program::types::*;
use sealane_protocol::fake::Honest;
fn main() {
    let mut b = Builder::new("risk").unwrap();
    let h = b.party("hospital").unwrap();
    let l = b.party("lab").unwrap();
    let n = b.rows("patients", 1_000_000).unwrap();
    let ty = Type::signed(32);
    let inp = |name: &str, owner, shape, hi: i128| Input {
        name: name.into(),
        owner,
        ty,
        shape,
        range: Range { lo: -hi, hi },
        columns: vec![],
        span: None,
    };
    let x = b
        .input(inp("x", h, Shape::with_rows(n, [30]), 4000))
        .unwrap();
    let w = b.input(inp("w", l, Shape::fixed([30]), 127)).unwrap();
    let bias = b.input(inp("b", l, Shape::scalar(), 100000)).unwrap();
    let s = b.dot(x, w, None, None).unwrap();
    let t = b.binary(Binary::Add, s.into(), bias.into(), None).unwrap();
    let r = b.binary(Binary::Gt, t.into(), 0.into(), None).unwrap();
    b.reveal("risk", r.into(), &[h], Type::Bool, None).unwrap();
    let (program, _) = b.finish().unwrap();
    let t0 = std::time::Instant::now();
    let plan = plan::<Honest>(&program, NetworkClass::Lan).unwrap();
    println!("{}", plan.text());
    println!("{:?}", t0.elapsed());
    let t0 = std::time::Instant::now();
    println!("{}", cost::<Honest>(&plan, &[569]));
    println!("{:?}", t0.elapsed());
    let t0 = std::time::Instant::now();
    println!("{}", cost::<Honest>(&plan, &[1_000_000]));
    println!("{:?}", t0.elapsed());
    let _ = JobParts::new::<Honest>(&program, &plan, NetworkClass::Lan).hash();
}
