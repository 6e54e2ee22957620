//! reed-solomon-novelpoly. It encodes a payload, a word of each data shard in turn, and rounds the number of data
//! shards down to a power of two, so at other numbers its shards are longer. Words are big-endian. Results are
//! vectors.

use std::ffi::CStr;

use reed_solomon_novelpoly::{CodeParams, ReedSolomon, WrappedShard};

use crate::job::{Job, Spec};
use crate::Peer;

struct Novelpoly {
    code: ReedSolomon,
    payload: Vec<u8>,
    shards: Vec<Option<WrappedShard>>,
}

pub fn open(spec: &Spec) -> Result<Box<dyn Peer>, &'static CStr> {
    match CodeParams::derive_parameters((spec.k + spec.m) as usize, spec.k as usize) {
        Ok(parameters) => Ok(Box::new(Novelpoly {
            code: parameters.make_encoder(),
            payload: Vec::new(),
            shards: Vec::new(),
        })),
        Err(_) => Err(c"the shape is not supported"),
    }
}

/// Copies little-endian words as big-endian ones, and the other way.
fn swap<'a, I>(from: I) -> impl Iterator<Item = u8> + use<'a, I>
where
    I: IntoIterator<Item = &'a [u8]>,
{
    from.into_iter().flat_map(|word| [word[1], word[0]])
}

impl Novelpoly {
    /// Makes the payload and, for repairs, the shards.
    fn prepare(&mut self, job: &Job, present: Option<&[u8]>) {
        if self.payload.is_empty() {
            let words = (0..job.len).step_by(2);
            let all = words.flat_map(|at| job.data(0).map(move |shard| &shard[at..at + 2]));
            self.payload = swap(all).collect();
        }
        if let (true, Some(present)) = (self.shards.is_empty(), present) {
            let shards: Vec<WrappedShard> = self.code.encode(&self.payload).expect("encode");
            let pairs = shards.into_iter().zip(present);
            self.shards = pairs
                .map(|(shard, &flag)| (flag != 0).then_some(shard))
                .collect();
        }
    }
}

impl Peer for Novelpoly {
    fn encode(&mut self, job: &Job, copied: bool) {
        self.prepare(job, None);
        for _ in 0..job.count {
            let shards: Vec<WrappedShard> = self.code.encode(&self.payload).expect("encode");
            if copied && job.k.is_power_of_two() {
                for (to, from) in job.parity(0).zip(&shards[job.k as usize..]) {
                    let bytes: &[u8] = from.as_ref();
                    to.iter_mut()
                        .zip(swap(bytes.chunks(2)))
                        .for_each(|(to, from)| *to = from);
                }
            }
        }
    }

    fn repair(&mut self, job: &Job, present: &[u8], copied: bool) {
        self.prepare(job, Some(present));
        let k = job.k as usize;
        for _ in 0..job.count {
            let found = self
                .code
                .reconstruct(self.shards.clone())
                .expect("reconstruct");
            for i in (0..k).filter(|&i| copied && present[i] == 0) {
                let words = found.chunks(2).skip(i).step_by(k);
                job.shard_mut(0, i)
                    .iter_mut()
                    .zip(swap(words))
                    .for_each(|(to, from)| *to = from);
            }
        }
    }
}
