//! Errors and their messages.

use core::fmt;

use crate::sys;

/// The reason why a call did nothing: errors are detected before anything is written to a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs)] // the fields are described with their variants
pub enum Error {
    /// `found` shards (or flags, or elements of a matrix) were given instead of `expected`.
    Count { expected: usize, found: usize },
    /// Shard `shard` (data first) has `found` bytes, the previous ones `expected`.
    Length { shard: usize, expected: usize, found: usize },
    /// There is no data shard `index`: indices are below `count`.
    Index { index: usize, count: usize },
    /// The library refused an argument: an invalid shape of a code, a reducible polynomial, a length that
    /// packets do not divide.
    Invalid,
    /// Out of memory.
    OutOfMemory,
    /// At this shape the code cannot repair every loss of as many shards as there are parities.
    NotMds,
    /// More shards are missing than there are parities.
    TooManyMissing,
    /// This CPU, this build, or this code does not support the call.
    Unsupported,
    /// This loss cannot be repaired with this matrix.
    Singular,
    /// A status of a newer version of the library.
    Unknown(i32),
}

/// The result of this crate's functions.
pub type Result<T> = core::result::Result<T, Error>;

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Error::Count { expected, found } => write!(out, "{found} given instead of {expected}"),
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
            Error::Unsupported => out.write_str("not supported by this CPU, build or code"),
            Error::Singular => out.write_str("this loss cannot be repaired with this matrix"),
            Error::Unknown(status) => write!(out, "unknown status {status}"),
        }
    }
}

impl core::error::Error for Error {}

/// Convert a status of the library to a result.
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

/// Compare a number with the expected one.
pub(crate) fn count(expected: usize, found: usize) -> Result<()> {
    if expected == found {
        Ok(())
    } else {
        Err(Error::Count { expected, found })
    }
}
