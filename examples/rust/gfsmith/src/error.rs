//! What can go wrong, and how it is worded.

use core::fmt;

use crate::sys;

/// Why a call did nothing: an error is found before anything is written to a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs)] // the fields: a variant's line names them
pub enum Error {
    /// `found` shards (or flags, or elements of a matrix) were given in place of `expected`.
    Count { expected: usize, found: usize },
    /// Shard `shard` (data first) has `found` bytes, those before it `expected`.
    Length { shard: usize, expected: usize, found: usize },
    /// There is no data shard `index`: indices are below `count`.
    Index { index: usize, count: usize },
    /// The library refused an argument: a shape that a code does not have, a reducible polynomial, a
    /// length that packets do not divide.
    Invalid,
    /// Out of memory.
    OutOfMemory,
    /// At this shape the code cannot repair every loss of as many shards as there are parities.
    NotMds,
    /// More shards are missing than there are parities.
    TooManyMissing,
    /// This CPU, this build's choice of kernels, or this code, cannot do it.
    Unsupported,
    /// This loss cannot be repaired with this matrix.
    Singular,
    /// A status of a newer library.
    Unknown(i32),
}

/// What this crate's functions return.
pub type Result<T> = core::result::Result<T, Error>;

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Error::Count { expected, found } => write!(out, "{found} given where there must be {expected}"),
            Error::Length { shard, expected, found } => {
                write!(out, "shard {shard} has {found} bytes, the first one {expected}")
            }
            Error::Index { index, count } => write!(out, "no data shard {index}; there are {count}"),
            Error::Invalid => out.write_str("an argument is out of range for this code or layout"),
            Error::OutOfMemory => out.write_str("out of memory"),
            Error::NotMds => {
                out.write_str("at this shape the code cannot repair every loss of as many shards as parities")
            }
            Error::TooManyMissing => out.write_str("more shards are missing than there are parities"),
            Error::Unsupported => out.write_str("this CPU, build or code cannot do it"),
            Error::Singular => out.write_str("this loss cannot be repaired with this matrix"),
            Error::Unknown(status) => write!(out, "unknown status {status}"),
        }
    }
}

impl core::error::Error for Error {}

/// A status of the library as a result.
pub(crate) fn result(status: sys::Status) -> Result<()> {
    Err(match status {
        sys::OK => return Ok(()),
        sys::EINVAL => Error::Invalid,
        sys::ENOMEM => Error::OutOfMemory,
        sys::ENOTMDS => Error::NotMds,
        sys::ETOOMANY => Error::TooManyMissing,
        sys::EUNSUPPORTED => Error::Unsupported,
        sys::ESINGULAR => Error::Singular,
        other => Error::Unknown(other),
    })
}

/// As many as there must be?
pub(crate) fn count(expected: usize, found: usize) -> Result<()> {
    if expected == found {
        Ok(())
    } else {
        Err(Error::Count { expected, found })
    }
}
