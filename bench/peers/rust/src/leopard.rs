//! leopard-codec, which has GF(2^8) only. It encodes in place; its repairs need vectors.

use std::ffi::CStr;

use crate::job::{Job, Spec};
use crate::Peer;

struct Leopard {
    /// Copies of all shards, for repairs.
    shards: Vec<Vec<u8>>,
}

pub fn open(spec: &Spec) -> Result<Box<dyn Peer>, &'static CStr> {
    if spec.len % 64 != 0 {
        return Err(c"lengths are multiples of 64 bytes");
    }
    if (spec.k + spec.m) as usize > leopard_codec::ORDER || spec.m > spec.k {
        return Err(c"the shape is not supported");
    }
    Ok(Box::new(Leopard { shards: Vec::new() }))
}

impl Peer for Leopard {
    fn encode(&mut self, job: &Job, _copied: bool) {
        let total = (job.k + job.m) as usize;
        let mut shards: Vec<&mut [u8]> = (0..total).map(|i| job.shard_mut(0, i)).collect();
        for _ in 0..job.count {
            leopard_codec::encode(&mut shards, job.k as usize).expect("encode");
        }
    }

    fn repair(&mut self, job: &Job, present: &[u8], copied: bool) {
        if self.shards.is_empty() {
            self.shards = (0..present.len())
                .map(|i| job.shard(0, i).to_vec())
                .collect();
        }
        for _ in 0..job.count {
            for (shard, _) in self
                .shards
                .iter_mut()
                .zip(present)
                .filter(|each| *each.1 == 0)
            {
                shard.clear();
            }
            leopard_codec::reconstruct(&mut self.shards, job.k as usize).expect("reconstruct");
        }
        if copied {
            for i in (0..job.k as usize).filter(|&i| present[i] == 0) {
                job.shard_mut(0, i).copy_from_slice(&self.shards[i]);
            }
        }
    }
}
