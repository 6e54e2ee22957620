//! reed-solomon-simd. Results stay in the memory of its encoder and decoder.

use std::ffi::CStr;

use reed_solomon_simd::{ReedSolomonDecoder, ReedSolomonEncoder};

use crate::job::{Job, Spec};
use crate::Peer;

struct Simd {
    encoder: ReedSolomonEncoder,
    decoder: ReedSolomonDecoder,
}

pub fn open(spec: &Spec) -> Result<Box<dyn Peer>, &'static CStr> {
    if spec.len % 2 != 0 {
        return Err(c"lengths are multiples of 2 bytes");
    }
    let shape = (spec.k as usize, spec.m as usize, spec.len);
    match (
        ReedSolomonEncoder::new(shape.0, shape.1, shape.2),
        ReedSolomonDecoder::new(shape.0, shape.1, shape.2),
    ) {
        (Ok(encoder), Ok(decoder)) => Ok(Box::new(Simd { encoder, decoder })),
        _ => Err(c"the shape is not supported"),
    }
}

impl Peer for Simd {
    fn encode(&mut self, job: &Job, copied: bool) {
        for n in 0..job.count {
            for shard in job.data(job.stripe(n)) {
                self.encoder.add_original_shard(shard).expect("shard");
            }
            let result = self.encoder.encode().expect("encode");
            if copied {
                for (to, from) in job.parity(job.stripe(n)).zip(result.recovery_iter()) {
                    to.copy_from_slice(from);
                }
            }
        }
    }

    fn repair(&mut self, job: &Job, present: &[u8], copied: bool) {
        let k = job.k as usize;
        for _ in 0..job.count {
            for i in (0..present.len()).filter(|&i| present[i] != 0) {
                let shard = job.shard(0, i);
                match i.checked_sub(k) {
                    None => self.decoder.add_original_shard(i, shard),
                    Some(parity) => self.decoder.add_recovery_shard(parity, shard),
                }
                .expect("shard");
            }
            let result = self.decoder.decode().expect("decode");
            if copied {
                for (i, shard) in result.restored_original_iter() {
                    job.shard_mut(0, i).copy_from_slice(shard);
                }
            }
        }
    }
}
