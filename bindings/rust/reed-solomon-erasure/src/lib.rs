//! Reed-Solomon erasure codes: the interface of the crate reed-solomon-erasure 6, with proved kernels of gfsmith for
//! GF(2^8).
//!
//! A code computes parity shards of data shards. From any `data_shard_count` shards it reconstructs the others. It
//! does not detect wrong bytes: leave out damaged shards.
//!
//! ```
//! use reed_solomon_erasure::{galois_8::ReedSolomon, shards};
//!
//! let code = ReedSolomon::new(3, 2).unwrap();
//! let mut whole: Vec<Vec<u8>> = shards!([0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 0, 0], [0, 0, 0]);
//! code.encode(&mut whole).unwrap();
//!
//! let mut left: Vec<_> = whole.iter().cloned().map(Some).collect();
//! left[0] = None;
//! left[4] = None;
//! code.reconstruct(&mut left).unwrap();
//! assert!(left.into_iter().map(Option::unwrap).eq(whole));
//! ```
#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

#[macro_use]
mod macros;

mod cache;
mod codec;
mod cpu;
mod decode;
mod errors;
mod field;
mod isa;
#[allow(dead_code)] // a build without machine code uses a part of the generated module
#[rustfmt::skip]
mod kernels;
mod linear;
mod map;
mod matrix;
mod portable;
mod shard;
mod single;
mod tables;

pub mod galois_16;
pub mod galois_8;

pub use crate::codec::ReedSolomon;
pub use crate::errors::{Error, SBSError};
pub use crate::field::Field;
pub use crate::isa::{isa, isas, set_isa, UnknownIsa};
pub use crate::shard::ReconstructShard;
pub use crate::single::ShardByShard;
