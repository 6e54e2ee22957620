//! `cargo run --example repair`: encodes a text, loses as many shards as there are parities, restores it.

use gfsmith::{isa, Code, Codec, Error};

fn main() -> Result<(), Error> {
    let text = include_bytes!("repair.rs");
    let codec = Codec::new(Code::Backblaze, 10, 4)?;
    let length = text.len().div_ceil(codec.data_shard_count());
    let mut padded = text.to_vec();
    padded.resize(length * codec.data_shard_count(), 0);

    let mut parity = vec![vec![0; length]; codec.parity_shard_count()];
    codec.encode(&padded.chunks(length).collect::<Vec<_>>(), &mut parity)?;

    let data = padded.chunks(length).map(Vec::from);
    let mut shards: Vec<Option<Vec<u8>>> = data.chain(parity).map(Some).collect();
    for lost in [0, 3, 8, 11] {
        shards[lost] = None;
    }
    codec.reconstruct(&mut shards)?;

    let mut back: Vec<u8> = shards.into_iter().flatten().take(codec.data_shard_count()).flatten().collect();
    back.truncate(text.len());
    println!("{} bytes by {}: {}", text.len(), isa(), if back == text { "repaired" } else { "broken" });
    Ok(())
}
