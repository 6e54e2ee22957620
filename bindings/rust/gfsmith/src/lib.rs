//! Erasure coding over GF(2^8) with generated, proved kernels.
//!
//! `k` data shards become `k + m`, of which any `k` suffice. [`Codec`] has all operations; build.rs of this
//! crate determines its kernels. Without std, unless the feature `shards` adds the module `streams`: readers
//! and writers as k + m streams with checksums.
//!
//! Coming from `reed-solomon-erasure`: `Codec::new(Code::Backblaze, k, m)` reads and writes its shards.
//! `encode_sep` is [`Codec::encode`], `verify` is [`Codec::check`], `encode_single_sep` is
//! [`Codec::append`]; `reconstruct` and `reconstruct_data` have the same names and take `Option`s, too.
#![no_std]
#![warn(missing_docs)]

extern crate alloc;
#[cfg(feature = "shards")]
extern crate std;

mod batch;
mod checksum;
mod checksums;
mod code;
mod codec;
mod error;
mod isa;
mod kernels;
#[cfg(feature = "rayon")]
mod parallel;
mod plan;
mod repair;
mod shards;
mod sketch;
#[cfg(feature = "shards")]
pub mod streams;
#[allow(missing_docs)]
pub mod sys;
mod wide;

pub use checksum::Checksum;
pub use code::{Code, Hint};
pub use codec::{Codec, Located};
pub use error::{Error, Result};
pub use isa::{isa, set_isa};
pub use kernels::{check_kernels, Kernels};
pub use plan::Plan;
pub use sketch::Sketch;
pub use wide::{Wide, WideCode};
