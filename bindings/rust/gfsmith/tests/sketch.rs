//! Sketches against values of their definition (tests/oracle/sketch.py), their sums, and those of parities.

mod common;

use common::{bytes, shards};
use gfsmith::{Code, Codec, Error, Sketch};

fn of(tables: &Sketch, offset: u64, bytes: &[u8]) -> [u8; Sketch::BYTES] {
    let mut sum = [0; Sketch::BYTES];
    tables.add(&mut sum, offset, bytes).unwrap();
    sum
}

#[test]
fn sketches_are_those_of_the_definition() {
    let tables = Sketch::new(Sketch::POLYNOMIAL).unwrap();
    assert_eq!(of(&tables, 0, b"123456789"), [0xa7, 0x0b, 0x02, 0x7c, 0x00, 0x3a, 0x01, 0x38]);
    assert_eq!(of(&tables, (1 << 40) + 3, b"123456789"), [0xfc, 0xee, 0x58, 0xcc, 0x32, 0xaf, 0xc0, 0xed]);
    assert_eq!(of(&tables, 7, b""), [0; Sketch::BYTES]);
}

#[test]
fn pieces_add_up_in_any_order() {
    let tables = Sketch::new(Sketch::POLYNOMIAL).unwrap();
    let all = bytes(1, 10_000);
    for cut in [0, 1, 64, 5000, 10_000] {
        let mut sum = of(&tables, cut as u64, &all[cut..]);
        tables.add(&mut sum, 0, &all[..cut]).unwrap();
        assert_eq!(sum, of(&tables, 0, &all), "{cut}");
    }
}

#[test]
fn a_codec_computes_the_sketches_of_parities() {
    let (tables, codec) = (Sketch::new(Sketch::POLYNOMIAL).unwrap(), Codec::new(Code::Cauchy, 4, 2).unwrap());
    let mut shards = shards(&codec, 2, 5000);
    let mut sketches: Vec<_> = shards.iter().map(|shard| of(&tables, 0, shard)).collect();
    assert_eq!(codec.check(&sketches), Ok(true));
    shards[2][77] ^= 8;
    sketches[2] = of(&tables, 0, &shards[2]);
    assert_eq!(codec.check(&sketches), Ok(false));
}

#[test]
fn arguments_are_refused() {
    assert_eq!(Sketch::new(0x11c).err(), Some(Error::Polynomial(0x11c)));
    assert!(Sketch::new(0x11b).is_ok());
    let (tables, mut sum) = (Sketch::new(Sketch::POLYNOMIAL).unwrap(), [7; Sketch::BYTES]);
    assert_eq!(tables.add(&mut sum, u64::MAX, b"x"), Err(Error::Invalid));
    assert_eq!(sum, [7; Sketch::BYTES]);
}
