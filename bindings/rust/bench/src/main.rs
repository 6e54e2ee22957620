//! The time of other crates relative to gfsmith for the same calls:
//! `cargo run --release -p bench [ROUNDS]`.
//!
//! The results are ratios: in every round all contenders run one after another, each for a third of a
//! millisecond or one call, in rotating order, so that disturbances affect all of them. A row gives the
//! median over the rounds and the range that contains four fifths of them. Above 1 gfsmith is faster, below
//! 1 the other crate.

mod contenders;
mod stats;

use contenders::{encoders, repairers, Contender, Shape};

/// (k, m, bytes of a shard)
const SHAPES: [Shape; 8] = [
    Shape { k: 10, m: 4, length: 1 << 10 },
    Shape { k: 10, m: 4, length: 1 << 16 },
    Shape { k: 10, m: 4, length: 1 << 20 },
    Shape { k: 4, m: 2, length: 1 << 16 },
    Shape { k: 17, m: 3, length: 1 << 16 },
    Shape { k: 100, m: 20, length: 1 << 14 },
    Shape { k: 128, m: 64, length: 1 << 14 },
    Shape { k: 64, m: 128, length: 1 << 14 },
];

fn main() {
    let rounds = match std::env::args().nth(1).map(|word| word.parse()) {
        None => 300,
        Some(Ok(rounds)) if rounds > 0 => rounds,
        Some(_) => {
            eprintln!("bench: the argument is the number of rounds, 1 or more");
            std::process::exit(2);
        }
    };
    println!("gfsmith runs {}; time of the other / time of gfsmith, {rounds} rounds", gfsmith::isa());
    for shape in SHAPES {
        table("encode", shape, encoders(shape), rounds);
        table("repair m data shards", shape, repairers(shape), rounds);
    }
}

/// Print one table. The first contender is the reference.
fn table(what: &str, shape: Shape, mut contenders: Vec<Contender>, rounds: usize) {
    println!("\n{what}, {} + {}, {} bytes", shape.k, shape.m, shape.length);
    let times = stats::interleaved(&mut contenders, rounds);
    for (contender, own) in contenders.iter().zip(&times).skip(1) {
        let ratios = own.iter().zip(&times[0]).map(|(theirs, ours)| theirs / ours).collect();
        println!("  {:32} {}", contender.name, stats::Spread::of(ratios));
    }
}
