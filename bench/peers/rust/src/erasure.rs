//! reed-solomon-erasure.

use std::ffi::CStr;

use reed_solomon_erasure::galois_8::ReedSolomon;

use crate::job::{Job, Spec};
use crate::Peer;

pub fn open(spec: &Spec) -> Result<Box<dyn Peer>, &'static CStr> {
    match ReedSolomon::new(spec.k as usize, spec.m as usize) {
        Ok(code) => Ok(Box::new(code)),
        Err(_) => Err(c"the shape is not supported"),
    }
}

impl Peer for ReedSolomon {
    fn encode(&mut self, job: &Job, _copied: bool) {
        let mut data: Vec<&[u8]> = job.data(0).collect();
        let mut parity: Vec<&mut [u8]> = job.parity(0).collect();
        for n in 0..job.count {
            if !job.order.is_null() {
                let stripe = job.stripe(n);
                data.clear();
                data.extend(job.data(stripe));
                parity.clear();
                parity.extend(job.parity(stripe));
            }
            self.encode_sep(&data, &mut parity).expect("encode");
        }
    }
}
