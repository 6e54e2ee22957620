//! Results and errors of each call.

mod common;

use std::error::Error as _;
use std::thread;

use common::{bytes, data, inverse, lose, shards, whole};
use gfsmith::{isa, set_isa, Code, Codec, Error, Hint, Plan};

fn codec() -> Codec {
    Codec::new(Code::Cauchy, 6, 3).unwrap()
}

#[test]
fn every_code_repairs_two_losses() {
    for &code in Code::ALL {
        let codec = Codec::new(code, 5, 2).unwrap();
        let all = shards(&codec, 1, 100);
        let mut broken = lose(&all, &[1, 5]);
        codec.reconstruct(&mut broken).unwrap();
        assert_eq!(whole(broken), all, "{code:?}");
    }
}

#[test]
fn encode_computes_the_matrix() {
    let from = data(2, 6, 333);
    let mut parity = vec![vec![0; 333]; 3];
    codec().encode(&from, &mut parity).unwrap();
    assert_eq!(parity, common::encode(&from, 3, |i, j| inverse((6 + i) as u8 ^ j as u8)));
}

#[test]
fn any_matrix() {
    let matrix = [1, 1, 1, 0, 2, 3];
    let codec = Codec::with_matrix(0x11d, 3, 2, &matrix).unwrap();
    let from = data(3, 3, 50);
    let mut parity = [[0; 50]; 2];
    codec.encode(&from, &mut parity).unwrap();
    let expected = common::encode(&from, 2, |i, j| matrix[i * 3 + j]);
    assert_eq!(parity.map(Vec::from).to_vec(), expected);

    // Data 0 contributes to the first parity only, so it is lost with that parity.
    let present = [false, true, true, false, true];
    assert_eq!(codec.plan(&present, None).unwrap_err(), Error::Singular);
    assert_eq!(codec.determined(&present).unwrap(), [false, true, true, false, true]);
    assert_eq!(
        Codec::with_matrix(0x11d, 3, 2, &matrix[1..]).unwrap_err(),
        Error::Count { what: "elements of the matrix", expected: 6, found: 5 }
    );
    assert_eq!(Codec::with_matrix(0x11c, 3, 2, &matrix).unwrap_err(), Error::Polynomial(0x11c));
}

#[test]
fn shapes_that_are_refused() {
    for (data, parity) in [(0, 1), (1, 0), (200, 56), (usize::MAX, 2), (2, usize::MAX)] {
        let shape = Error::Shape { code: Code::Cauchy, data, parity };
        assert_eq!(Codec::new(Code::Cauchy, data, parity).unwrap_err(), shape);
        let local = Error::LocalShape { data, groups: 1, global: parity };
        assert_eq!(Codec::local(data, 1, parity).unwrap_err(), local);
        let matrix = Codec::with_matrix(0x11d, data, parity, &[]).unwrap_err();
        assert_eq!(matrix, Error::MatrixShape { data, parity });
    }
    assert_eq!(Codec::new(Code::Vandermonde, 22, 4).unwrap_err(), Error::NotMds);
}

#[test]
fn messages_state_what_is_allowed() {
    let message = |failed: gfsmith::Result<Codec>| failed.unwrap_err().to_string();
    let raid = message(Codec::new(Code::Raid6, 4, 3));
    assert_eq!(raid, "raid6 has no shape 4+3; allowed: k >= 1, m = 2, k + m <= 255");
    let local = message(Codec::local(4, 5, 1));
    assert!(local.ends_with("allowed: 1 <= groups <= data, 1 <= global, 255 shards together"), "{local}");
    let reducible = message(Codec::with_matrix(0x100, 1, 1, &[1]));
    assert_eq!(reducible, "polynomial 0x100; allowed: irreducible ones of degree 8, such as 0x11d");
    let unknown = "nope".parse::<Code>().unwrap_err().to_string();
    assert!(unknown.starts_with("unknown code; allowed: vandermonde cauchy ") && unknown.ends_with(" zfec"));
}

#[test]
fn codes_have_names() {
    for &code in Code::ALL {
        assert_eq!(code.to_string().parse(), Ok(code));
    }
    assert_eq!("minio".parse(), Ok(Code::Backblaze));
    for unknown in ["", "cauch", "Cauchy", "cauchy\0", "lrc"] {
        assert_eq!(unknown.parse::<Code>(), Err(Error::UnknownCode));
    }
}

#[test]
fn wrong_counts_and_lengths_write_nothing() {
    let codec = codec();
    let from = data(4, 6, 64);
    let mut parity = vec![vec![7; 64]; 3];
    assert_eq!(
        codec.encode(&from[1..], &mut parity),
        Err(Error::Count { what: "shards", expected: 6, found: 5 })
    );
    assert_eq!(
        codec.encode(&from, &mut parity[1..]),
        Err(Error::Count { what: "shards", expected: 3, found: 2 })
    );
    assert_eq!(codec.check(&from).unwrap_err().to_string(), "6 shards; allowed: 9");
    assert_eq!(codec.check(&from), Err(Error::Count { what: "shards", expected: 9, found: 6 }));
    assert_eq!(codec.update(6, &from[0], &mut parity), Err(Error::Index { index: 6, count: 6 }));
    assert_eq!(
        codec.append(usize::MAX, &from[0], &mut parity, true).unwrap_err().to_string(),
        "no data shard 18446744073709551615; there are 6"
    );

    let mut short = from.clone();
    short[2].pop();
    assert_eq!(codec.encode(&short, &mut parity), Err(Error::Length { shard: 2, expected: 64, found: 63 }));
    let delta = &from[0][1..];
    let wrong = Error::Length { shard: 6, expected: 63, found: 64 };
    assert_eq!(codec.update(0, delta, &mut parity), Err(wrong));
    assert_eq!(codec.update_many(&[(0, delta)], &mut parity), Err(wrong));
    assert_eq!(wrong.to_string(), "shard 6 has 64 bytes, the first one 63");
    assert!(wrong.source().is_none());
    assert_eq!(parity, vec![vec![7; 64]; 3]);
}

#[test]
fn too_many_losses_change_nothing() {
    let codec = codec();
    for length in [0, 40] {
        let all = shards(&codec, 5, length);
        let mut broken = lose(&all, &[0, 1, 2, 8]);
        let before = broken.clone();
        assert_eq!(codec.reconstruct(&mut broken), Err(Error::TooManyMissing));
        assert_eq!(broken, before);
        let mut none: Vec<Option<Vec<u8>>> = vec![None; 9];
        assert_eq!(codec.reconstruct(&mut none), Err(Error::TooManyMissing));
        let mut present = [true; 9];
        present[..4].fill(false);
        let mut copy = all.clone();
        assert_eq!(codec.reconstruct_in_place(&mut copy, &present, None), Err(Error::TooManyMissing));
        assert_eq!(copy, all);
    }
    let mut present: Vec<Option<Vec<u8>>> = vec![Some(vec![1; 8]); 9];
    present[4] = Some(vec![1; 7]);
    present[0] = None;
    let wrong = Error::Length { shard: 4, expected: 8, found: 7 };
    assert_eq!(codec.reconstruct(&mut present), Err(wrong));
    assert!(present[0].is_none());
}

#[test]
fn only_what_is_asked_for_is_rebuilt() {
    let codec = codec();
    let all = shards(&codec, 6, 77);
    let mut broken = lose(&all, &[3, 7]);
    codec.reconstruct_data(&mut broken).unwrap();
    assert_eq!(broken, lose(&all, &[7]));

    let mut boxes: Vec<Option<Box<[u8]>>> =
        lose(&all, &[0, 8]).into_iter().map(|s| s.map(Vec::into)).collect();
    codec.reconstruct(&mut boxes).unwrap();
    assert_eq!(boxes[8].as_deref(), Some(&all[8][..]));

    let mut present = [true; 9];
    present[2] = false;
    present[6] = false;
    let mut wanted = [false; 9];
    wanted[2] = true;
    let mut place = all.clone();
    place[2].fill(0);
    place[6] = vec![]; // neither present nor wanted
    codec.reconstruct_in_place(&mut place, &present, Some(&wanted)).unwrap();
    assert_eq!(place[2], all[2]);
    assert!(place[6].is_empty());
    let few = codec.reconstruct_in_place(&mut place, &present, Some(&wanted[1..]));
    assert_eq!(few, Err(Error::Count { what: "flags", expected: 9, found: 8 }));
}

#[test]
fn changes_reach_the_parities() {
    let codec = codec();
    let old = shards(&codec, 7, 129);
    let mut new = data(7, 6, 129);
    new[1] = bytes(70, 129);
    new[4] = bytes(71, 129);
    let delta = |n: usize| -> Vec<u8> { old[n].iter().zip(&new[n]).map(|(a, b)| a ^ b).collect() };
    let mut expected = vec![vec![0; 129]; 3];
    codec.encode(&new, &mut expected).unwrap();

    let mut single = old[6..].to_vec();
    codec.update(1, &delta(1), &mut single).unwrap();
    codec.update(4, &delta(4), &mut single).unwrap();
    assert_eq!(single, expected);
    let mut many = old[6..].to_vec();
    codec.update_many(&[(4, delta(4)), (1, delta(1))], &mut many).unwrap();
    assert_eq!(many, expected);
    codec.update_many(&[(0, &[0; 129]); 0], &mut many).unwrap();
    assert_eq!(many, expected);
    let all = vec![(0, delta(1)); 7];
    assert_eq!(
        codec.update_many(&all, &mut many),
        Err(Error::Count { what: "changes", expected: 6, found: 7 })
    );

    let mut arriving = vec![vec![0xee; 129]; 3];
    for (turn, n) in [3, 0, 5, 1, 4, 2].into_iter().enumerate() {
        codec.append(n, &new[n], &mut arriving, turn == 0).unwrap();
    }
    assert_eq!(arriving, expected);
}

#[test]
fn check_and_locate_find_a_wrong_byte() {
    let codec = codec();
    let mut all = shards(&codec, 8, 300);
    assert_eq!(codec.check(&all), Ok(true));
    for wrong in 0..9 {
        all[wrong][123] ^= 0x40;
        assert_eq!(codec.check(&all), Ok(false));
        let found = codec.locate(&all).unwrap();
        let expected: Vec<usize> = (0..9).map(|n| usize::from(n == wrong)).collect();
        assert_eq!((found.wrong, found.intact, found.unexplained), (expected, 299, 0));
        all[wrong][123] ^= 0x40;
    }
    let one = Codec::new(Code::Cauchy, 3, 1).unwrap();
    assert_eq!(one.locate(&shards(&one, 9, 10)).unwrap_err(), Error::Unsupported);
}

#[test]
fn correct_changes_the_wrong_symbols_back() {
    let codec = Codec::new(Code::Cauchy, 6, 5).unwrap();
    let right = shards(&codec, 11, 300);
    let mut all = right.clone();
    for position in 0..200 {
        all[position % 11][position] ^= 0x51;
        all[(position + 4) % 11][position] ^= 0x80;
    }
    let found = codec.correct(&mut all, &[true; 11]).unwrap();
    assert_eq!(all, right);
    assert_eq!((found.wrong.iter().sum(), found.intact, found.unexplained), (400, 100, 0));

    let mut present = [true; 11];
    for missing in [2, 8, 9] {
        present[missing] = false;
        all[missing].clear();
    }
    let mut expected = all.clone();
    all[0][7] ^= 1;
    for wrong in [4, 5, 10] {
        all[wrong][9] ^= 1; // more than one: not corrected
        expected[wrong][9] ^= 1;
    }
    let found = codec.correct(&mut all, &present).unwrap();
    assert_eq!(all, expected);
    assert_eq!((found.wrong[0], found.intact, found.unexplained), (1, 298, 1));

    present[0] = false;
    assert_eq!(codec.correct(&mut all, &present), Err(Error::TooManyMissing));
    assert_eq!(
        codec.correct(&mut all, &present[1..]),
        Err(Error::Count { what: "flags", expected: 11, found: 10 })
    );
    let one = Codec::new(Code::Cauchy, 3, 1).unwrap();
    assert_eq!(one.correct(&mut shards(&one, 9, 10), &[true; 4]), Err(Error::Unsupported));
}

#[test]
fn a_plan_outlives_its_codec() {
    let (plan, all): (Plan, _) = {
        let codec = Codec::local(6, 2, 1).unwrap();
        let mut present = [true; 9];
        present[1] = false;
        (codec.plan(&present, None).unwrap(), shards(&codec, 10, 40))
    };
    // Group 0 is data 0, 1, 2 with parity 6: an XOR.
    assert_eq!((plan.reads(), plan.targets(), plan.matrix()), (&[0, 2, 6][..], &[1][..], &[1, 1, 1][..]));
    assert!(plan.is_least());
    let mut place = all.clone();
    place[1].fill(0);
    place[8] = vec![]; // not touched
    plan.run(&mut place).unwrap();
    assert_eq!(place[..8], all[..8]);
    place[2].pop();
    assert_eq!(plan.run(&mut place), Err(Error::Length { shard: 2, expected: 40, found: 39 }));
    assert_eq!(plan.run(&mut place[1..]), Err(Error::Count { what: "shards", expected: 9, found: 8 }));

    let nothing = Codec::new(Code::Cauchy, 2, 1).unwrap().plan(&[true; 3], None).unwrap();
    assert_eq!((nothing.targets(), nothing.matrix()), (&[][..], &[][..]));
}

#[test]
fn empty_shards() {
    let codec = codec();
    let all = shards(&codec, 11, 0);
    assert_eq!(codec.check(&all), Ok(true));
    let mut broken = lose(&all, &[0]);
    codec.reconstruct(&mut broken).unwrap();
    assert_eq!(whole(broken), all);
}

#[test]
fn packets_and_hints() {
    let from = data(12, 4, 4096);
    let mut plain = vec![vec![0; 4096]; 2];
    let mut codec = Codec::new(Code::CauchyGood, 4, 2).unwrap();
    codec.encode(&from, &mut plain).unwrap();
    for hint in [Hint::Cached, Hint::Streaming, Hint::Auto] {
        codec.set_hint(hint).unwrap();
        let mut parity = vec![vec![0; 4096]; 2];
        codec.encode(&from, &mut parity).unwrap();
        assert_eq!(parity, plain);
    }
    codec.set_packets(64).unwrap();
    let mut packed = vec![vec![0; 4096]; 2];
    codec.encode(&from, &mut packed).unwrap();
    assert_ne!(packed, plain);
    let mut all = from;
    all.extend(packed);
    let mut broken = lose(&all, &[0, 4]);
    codec.reconstruct(&mut broken).unwrap();
    assert_eq!(whole(broken), all);
    let mut odd = [[0; 100]; 2];
    assert_eq!(codec.encode(&[[1; 100]; 4], &mut odd), Err(Error::Packets { length: 100, unit: 512 }));
    let plan = codec.plan(&[false, true, true, true, true, true], None).unwrap();
    assert_eq!(plan.run(&mut [[0; 100]; 6]), Err(Error::Packets { length: 100, unit: 512 }));
}

#[test]
fn threads_share_a_codec_and_its_repairs() {
    let codec = codec();
    let all = shards(&codec, 13, 1000);
    thread::scope(|scope| {
        for first in 0..4 {
            let (codec, all) = (&codec, &all);
            scope.spawn(move || {
                for turn in 0..50 {
                    let lost = [(first + turn) % 9, (first + 2 * turn + 1) % 9];
                    let mut broken = lose(all, &lost);
                    codec.reconstruct(&mut broken).unwrap();
                    assert_eq!(whole(broken), *all);
                }
            });
        }
    });
    // Created in this thread, dropped in another.
    thread::spawn(move || drop(codec)).join().unwrap();
}

#[test]
fn instruction_sets() {
    let before = isa();
    set_isa("scalar").unwrap();
    assert_eq!(isa(), "scalar");
    assert_eq!(codec().check(&shards(&codec(), 14, 99)), Ok(true));
    set_isa(before).unwrap();
    assert_eq!(set_isa("mmx"), Err(Error::UnknownIsa));
    assert_eq!(set_isa("sca\0lar"), Err(Error::UnknownIsa));
    assert!(Error::UnknownIsa.to_string().contains("; allowed: gfni_avx512 avx2 neon scalar, "));
}

/// Returns another slice each time.
struct Fickle {
    asked: usize,
    long: Vec<u8>,
    short: Vec<u8>,
}

impl AsMut<[u8]> for Fickle {
    fn as_mut(&mut self) -> &mut [u8] {
        self.asked += 1;
        if self.asked == 1 {
            &mut self.long
        } else {
            &mut self.short
        }
    }
}

#[test]
fn slices_are_taken_once() {
    let mut parity: Vec<Fickle> =
        (0..3).map(|_| Fickle { asked: 0, long: vec![0; 64], short: vec![0; 1] }).collect();
    let from = data(15, 6, 64);
    codec().encode(&from, &mut parity).unwrap();
    let mut expected = vec![vec![0; 64]; 3];
    codec().encode(&from, &mut expected).unwrap();
    for (fickle, expected) in parity.iter().zip(expected) {
        assert_eq!((fickle.asked, &fickle.long), (1, &expected));
    }
}
