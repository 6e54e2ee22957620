//! Compares every result of the replacement with the original's: bytes, errors, panics. Arguments: the number of calls
//! for each instruction set. Prints the number of calls, or the first difference and exits with 1.

use std::fmt::Debug;
use std::panic::{catch_unwind, AssertUnwindSafe};

mod random;

use random::Random;

/// Ends the program with the difference of two results, if their texts differ.
fn same<A: Debug, B: Debug>(what: &str, ours: A, theirs: B) {
    let (ours, theirs) = (format!("{ours:?}"), format!("{theirs:?}"));
    if ours != theirs {
        let cut = |text: &str| text.chars().take(200).collect::<String>();
        println!("{what}: ours {} theirs {}", cut(&ours), cut(&theirs));
        std::process::exit(1);
    }
}

/// Returns the result of a call, or the text of its panic.
fn outcome<R>(call: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|panic| match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => panic.downcast::<&str>().map_or_else(|_| String::new(), |text| text.to_string()),
    })
}

/// The shards of a call.
type Shards = Vec<Vec<u8>>;

/// Makes one argument invalid in one of four calls: a shard more, less, longer, shorter or empty.
fn damaged(random: &mut Random, mut shards: Shards) -> Shards {
    if random.one_of(4) && !shards.is_empty() {
        let i = random.below(shards.len());
        match random.below(5) {
            0 => shards.push(shards[i].clone()),
            1 => drop(shards.remove(i)),
            2 => shards[i].push(0),
            3 => drop(shards[i].pop()),
            _ => shards[i].clear(),
        }
    }
    shards
}

const SHAPES: [(usize, usize); 18] = [
    (1, 1), (2, 1), (1, 4), (3, 2), (4, 2), (5, 7), (6, 3), (8, 8), (10, 4), (12, 4), (16, 4), (17, 3), (20, 40), (28, 4),
    (32, 32), (50, 11), (100, 20), (128, 128),
];

/// Lengths around the blocks of kernels, most of them short.
fn length(random: &mut Random) -> usize {
    match random.below(40) {
        0 => 0,
        1 => 4096 + random.below(9000),
        2..=9 => 64 * (1 + random.below(8)) - random.below(2) + random.below(2),
        _ => 1 + random.below(200),
    }
}

/// The two crates of one shape. Calls take a copy of their arguments each, and all copies are compared afterwards.
struct Pair {
    ours: ours::galois_8::ReedSolomon,
    theirs: theirs::galois_8::ReedSolomon,
}

macro_rules! both {
    ($pair:expr, $what:expr, |$code:ident $(, $argument:ident)*| $call:expr) => {{
        let one = {
            $(#[allow(unused_mut)] let mut $argument = $argument.clone();)*
            let $code = &$pair.ours;
            let result = outcome(|| $call);
            (result, ($($argument,)*))
        };
        let other = {
            $(#[allow(unused_mut)] let mut $argument = $argument.clone();)*
            let $code = &$pair.theirs;
            let result = outcome(|| $call);
            (result, ($($argument,)*))
        };
        same($what, one.0, other.0);
        if one.1 != other.1 {
            same($what, one.1, other.1);
        }
    }};
}

impl Pair {
    fn new((k, m): (usize, usize)) -> Pair {
        Pair {
            ours: ours::galois_8::ReedSolomon::new(k, m).unwrap(),
            theirs: theirs::galois_8::ReedSolomon::new(k, m).unwrap(),
        }
    }

    fn call(&self, random: &mut Random) {
        let (k, m) = (self.theirs.data_shard_count(), self.theirs.parity_shard_count());
        let len = length(random);
        let shards: Shards = (0..k + m).map(|_| random.bytes(len)).collect();
        match random.below(8) {
            0 | 1 => self.encode(random, shards, k),
            2 => self.encode_single(random, shards, k),
            3 if m == 40 && random.one_of(2) => {
                let len = 3000 + random.below(1000); // around the length of a step of verification
                let shards = (0..k + m).map(|_| random.bytes(len)).collect();
                self.verify(random, shards, m);
            }
            3 => self.verify(random, shards, m),
            4 => self.shard_by_shard(random, shards, k),
            _ => self.reconstruct(random, shards),
        }
    }

    fn encode(&self, random: &mut Random, shards: Shards, k: usize) {
        let (data, parity) = shards.split_at(k);
        let (data, parity) = (damaged(random, data.to_vec()), damaged(random, parity.to_vec()));
        both!(self, "encode_sep", |code, data, parity| code.encode_sep(&data, &mut parity));
        let shards = damaged(random, shards);
        both!(self, "encode", |code, shards| code.encode(&mut shards));
    }

    fn encode_single(&self, random: &mut Random, shards: Shards, k: usize) {
        let i = random.below(k + 1);
        let shards = damaged(random, shards);
        both!(self, "encode_single", |code, shards| code.encode_single(i, &mut shards));
        if shards.len() > k {
            let (data, parity) = (shards[0].clone(), shards[k..].to_vec());
            both!(self, "encode_single_sep", |code, data, parity| code.encode_single_sep(i, &data, &mut parity));
        }
    }

    fn verify(&self, random: &mut Random, mut shards: Shards, m: usize) {
        let _ = self.theirs.encode(&mut shards);
        if random.one_of(2) {
            let i = random.below(shards.len());
            if let Some(last) = shards[i].last_mut() {
                *last ^= 1;
            }
        }
        let len = shards[0].len();
        let shards = damaged(random, shards);
        let buffer = damaged(random, vec![vec![0; len]; m]);
        both!(self, "verify", |code, shards| code.verify(&shards));
        both!(self, "verify_with_buffer", |code, shards, buffer| code.verify_with_buffer(&shards, &mut buffer));
    }

    fn shard_by_shard(&self, random: &mut Random, shards: Shards, k: usize) {
        let (calls, separate) = (random.below(k + 2), random.one_of(2));
        let shards = damaged(random, shards);
        let k = k.min(shards.len());
        macro_rules! steps {
            ($crate_:ident, $code:expr) => {{
                let mut shards = shards.clone();
                let mut encoder = $crate_::ShardByShard::new($code);
                let results: Vec<String> = (0..calls)
                    .map(|_| {
                        let (data, parity) = shards.split_at_mut(k);
                        let result = if separate { encoder.encode_sep(data, parity) } else { encoder.encode(&mut shards) };
                        format!("{result:?} {} {}", encoder.cur_input_index(), encoder.parity_ready())
                    })
                    .collect();
                (results, format!("{:?}", encoder.reset()), encoder.cur_input_index(), shards)
            }};
        }
        let (one, other) = (outcome(|| steps!(ours, &self.ours)), outcome(|| steps!(theirs, &self.theirs)));
        if one != other {
            same("ShardByShard", one, other);
        }
    }

    fn reconstruct(&self, random: &mut Random, mut shards: Shards) {
        let m = self.theirs.parity_shard_count();
        if random.one_of(2) {
            let _ = self.theirs.encode(&mut shards);
        }
        let shards = damaged(random, shards);
        let mut present = vec![true; shards.len()];
        for _ in 0..random.below(m + 2) {
            present[random.below(shards.len())] = false;
        }
        let pairs = || shards.iter().cloned().zip(present.iter().copied());
        let flagged: Vec<(Vec<u8>, bool)> = pairs().collect();
        let optional: Vec<Option<Vec<u8>>> = pairs().map(|(shard, there)| there.then_some(shard)).collect();
        both!(self, "reconstruct flagged", |code, flagged| code.reconstruct(&mut flagged));
        both!(self, "reconstruct optional", |code, optional| code.reconstruct(&mut optional));
        both!(self, "reconstruct_data flagged", |code, flagged| code.reconstruct_data(&mut flagged));
        both!(self, "reconstruct_data optional", |code, optional| code.reconstruct_data(&mut optional));
    }
}

/// Calls whose shards have more than 8 MiB together, with parity shards at equal and at different positions in a cache line.
fn far(random: &mut Random) {
    for (k, m) in [(4, 2), (10, 4), (12, 4), (28, 4), (20, 40)] {
        let pair = Pair::new((k, m));
        let len = (8 << 20) / (k + m) + 100 + random.below(100);
        let block = random.bytes((k + m) * (len + 64));
        for spread in [0, 1] {
            let mut at = 0;
            let mut cut = |i: usize| {
                at += len + 64;
                block[at - len - 64 + i * spread..][..len].to_vec()
            };
            let shards: Shards = (0..k + m).map(&mut cut).collect();
            both!(pair, "encode far", |code, shards| code.encode(&mut shards));
            let mut lines = block.clone();
            let mut own: Vec<&mut [u8]> =
                lines.chunks_mut(len + 64).enumerate().map(|(i, chunk)| &mut chunk[i * spread..][..len]).collect();
            pair.ours.encode(&mut own).unwrap();
            let own: Shards = own.iter().map(|shard| shard.to_vec()).collect();
            let mut other = shards.clone();
            pair.theirs.encode(&mut other).unwrap();
            assert!(own == other, "encode far {k}+{m}");
            let flagged: Vec<(Vec<u8>, bool)> = other.iter().cloned().enumerate().map(|(i, s)| (s, i >= m.min(k))).collect();
            both!(pair, "reconstruct far", |code, flagged| code.reconstruct(&mut flagged));
        }
    }
}

/// Functions of the field.
fn field(random: &mut Random) {
    use ours::Field as _;
    use theirs::Field as _;
    for a in 0..=255u8 {
        for b in 0..=255u8 {
            let n = b as usize * 3;
            let one = (ours::galois_8::mul(a, b), ours::galois_8::add(a, b), ours::galois_8::exp(a, n));
            assert_eq!(one, (theirs::galois_8::mul(a, b), theirs::galois_8::add(a, b), theirs::galois_8::exp(a, n)));
            if b != 0 {
                assert_eq!(ours::galois_8::div(a, b), theirs::galois_8::div(a, b));
            }
        }
        same("div by 0", outcome(|| ours::galois_8::div(a, 0)), outcome(|| theirs::galois_8::div(a, 0)));
    }
    same("LOG_TABLE", &ours::galois_8::LOG_TABLE[..], &theirs::galois_8::LOG_TABLE[..]);
    same("EXP_TABLE", &ours::galois_8::EXP_TABLE[..], &theirs::galois_8::EXP_TABLE[..]);
    same("MUL_TABLE", &ours::galois_8::MUL_TABLE[..], &theirs::galois_8::MUL_TABLE[..]);
    for n in [0, 1, 255, 256, 70_000] {
        same("nth", outcome(|| ours::galois_8::Field::nth(n)), outcome(|| theirs::galois_8::Field::nth(n)));
    }
    for _ in 0..3_000 {
        let (a, b, n) = (random.next() as u16, random.next() as u16, random.below(999));
        let (a, b) = (a.to_be_bytes(), b.to_be_bytes());
        same("mul 16", ours::galois_16::Field::mul(a, b), theirs::galois_16::Field::mul(a, b));
        same("div 16", ours::galois_16::Field::div(a, b), theirs::galois_16::Field::div(a, b));
        same("exp 16", ours::galois_16::Field::exp(a, n), theirs::galois_16::Field::exp(a, n));
    }
    let zero = [0; 2];
    let one = outcome(|| ours::galois_16::Field::div([1, 2], zero));
    same("div 16 by 0", one, outcome(|| theirs::galois_16::Field::div([1, 2], zero)));
}

fn slices(random: &mut Random) {
    for _ in 0..2_000 {
        let (c, len) = (random.next() as u8, random.below(300));
        let (input, more) = (random.bytes(len), random.one_of(20) as usize);
        let (mut a, mut b) = (vec![7; len + more], vec![7; len + more]);
        let one = outcome(|| ours::galois_8::mul_slice(c, &input, &mut a));
        same("mul_slice", one, outcome(|| theirs::galois_8::mul_slice(c, &input, &mut b)));
        let one = outcome(|| ours::galois_8::mul_slice_xor(c, &input, &mut a));
        same("mul_slice_xor", one, outcome(|| theirs::galois_8::mul_slice_xor(c, &input, &mut b)));
        assert_eq!(a, b, "mul_slice or mul_slice_xor");
    }
}

/// Codes over GF(2^16), without kernels, and shapes that are no code.
fn other_codes(random: &mut Random) {
    for (k, m) in [(0, 0), (0, 1), (1, 0), (255, 1), (255, 2), (256, 1), (300, 300)] {
        let one = ours::galois_8::ReedSolomon::new(k, m).err();
        same("new", one, theirs::galois_8::ReedSolomon::new(k, m).err());
    }
    for (k, m) in [(1, 1), (4, 3), (9, 9), (300, 4)] {
        let one = ours::galois_16::ReedSolomon::new(k, m).unwrap();
        let other = theirs::galois_16::ReedSolomon::new(k, m).unwrap();
        let mut a: Vec<Vec<[u8; 2]>> =
            (0..k + m).map(|_| (0..50).map(|_| (random.next() as u16).to_be_bytes()).collect()).collect();
        let mut b = a.clone();
        same("encode 16", one.encode(&mut a), other.encode(&mut b));
        same("encode 16", &a, &b);
        let mut lost: Vec<_> = a.iter().cloned().map(Some).collect();
        (0..m).for_each(|_| lost[random.below(k + m)] = None);
        same("reconstruct 16", one.reconstruct(&mut lost), Ok::<(), ()>(()));
        same("reconstruct 16", lost.iter().flatten().collect::<Vec<_>>(), b.iter().collect::<Vec<_>>());
    }
}

fn main() {
    let calls: usize = std::env::args().nth(1).and_then(|text| text.parse().ok()).expect("the number of calls");
    std::panic::set_hook(Box::new(|_| ()));
    let random = &mut Random(27);
    field(random);
    other_codes(random);
    let mut made = 0;
    for isa in ours::isas().collect::<Vec<_>>() {
        ours::set_isa(isa).unwrap();
        slices(random);
        far(random);
        let pairs: Vec<Pair> = SHAPES.iter().map(|&shape| Pair::new(shape)).collect();
        for n in 0..calls {
            pairs[n * (n + 1) / 2 % SHAPES.len()].call(random);
            made += 1;
        }
        println!("{isa}: {calls} calls");
    }
    same("set_isa", ours::set_isa("none").is_err(), true);
    println!("{made} calls are equal");
}
