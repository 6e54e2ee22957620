//! Reconstruction of lost shards.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::cache::Key;
use crate::codec::{start, Pointers, ReedSolomon};
use crate::errors::Error;
use crate::field::Field;
use crate::linear::Linear;
use crate::shard::ReconstructShard;

impl<F: Field> ReedSolomon<F> {
    /// Reconstructs all lost shards. Writes nothing to the contents of shards if it returns an error.
    pub fn reconstruct<T: ReconstructShard<F>>(&self, slices: &mut [T]) -> Result<(), Error> {
        self.rebuild(slices, false)
    }

    /// Reconstructs the lost data shards, and leaves lost parity shards as they are.
    pub fn reconstruct_data<T: ReconstructShard<F>>(&self, slices: &mut [T]) -> Result<(), Error> {
        self.rebuild(slices, true)
    }

    fn rebuild<T: ReconstructShard<F>>(&self, shards: &mut [T], data_only: bool) -> Result<(), Error> {
        check_count!(shards, self.total_shard_count(), TooFewShards, TooManyShards);
        let (present, len) = survey(shards)?;
        if present == shards.len() {
            return Ok(());
        }
        if present < self.data_shard_count() {
            return Err(Error::TooFewShardsPresent);
        }
        let mut sources: Pointers<*const F::Elem> = Pointers::new();
        let mut targets: Pointers<*mut F::Elem> = Pointers::new();
        let mut lost = Lost::new(shards.len(), data_only);
        for (i, shard) in shards.iter_mut().enumerate() {
            if data_only && i >= self.data_shard_count() {
                match shard.get() {
                    Some(shard) => sources.push(start(shard, len)),
                    None => lost.push(i),
                }
                continue;
            }
            match shard.get_or_initialize(len) {
                Ok(shard) => sources.push(start(shard, len)),
                Err(shard) => {
                    targets.push(start(shard?, len));
                    lost.push(i);
                }
            }
        }
        if targets.is_empty() {
            return Ok(());
        }
        sources.truncate(self.data_shard_count());
        let decoder = self.decoder(lost);
        // SAFETY: the pointers are those of slices of `len` elements in different shards, borrowed mutably.
        unsafe { decoder.run(len, &mut sources, &mut targets) };
        Ok(())
    }

    /// Returns the matrix from the first present shards to the lost ones.
    fn decoder(&self, lost: Lost) -> Arc<Linear<F>> {
        if let Some(known) = self.decoders.get(&lost.bits) {
            return known;
        }
        let data = self.data_shard_count();
        let present = (0..self.total_shard_count()).filter(|i| !lost.has(*i)).take(data);
        let inverse = self.matrix.of_rows(present).invert().expect("any rows of the matrix are independent");
        let last = if lost.data_only { data } else { self.total_shard_count() };
        let rows: Vec<usize> = (0..last).filter(|i| lost.has(*i)).collect();
        let made = Arc::new(Linear::new(self.matrix.of_rows(rows).multiply(&inverse)));
        self.decoders.put(lost.bits, made.clone());
        made
    }
}

/// Returns the number of present shards and their length.
fn survey<F: Field, T: ReconstructShard<F>>(shards: &[T]) -> Result<(usize, usize), Error> {
    let (mut present, mut known) = (0, None);
    for len in shards.iter().filter_map(ReconstructShard::len) {
        if len == 0 {
            return Err(Error::EmptyShard);
        }
        if *known.get_or_insert(len) != len {
            return Err(Error::IncorrectShardSize);
        }
        present += 1;
    }
    Ok((present, known.unwrap_or(0)))
}

/// The lost shards, and which of them are wanted.
struct Lost {
    data_only: bool,
    /// A bit for each shard, and `data_only`.
    bits: Key,
}

impl Lost {
    fn new(shards: usize, data_only: bool) -> Lost {
        let mut bits = Key::from_elem(0, shards / 64 + 2);
        bits[shards / 64 + 1] = data_only as u64;
        Lost { data_only, bits }
    }

    fn push(&mut self, shard: usize) {
        self.bits[shard / 64] |= 1 << (shard % 64);
    }

    fn has(&self, shard: usize) -> bool {
        self.bits[shard / 64] >> (shard % 64) & 1 != 0
    }
}
