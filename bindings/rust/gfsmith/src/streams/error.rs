//! Errors of shard streams and their messages.

use alloc::string::String;
use core::fmt;
use core::ops::RangeInclusive;
use std::io;

/// The reason why a call on shard streams failed. Writers may have received the beginning of their streams.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The original cannot be read.
    Read(io::Error),
    /// The original or a shard cannot be written.
    Write(io::Error),
    /// `progress` returned false.
    Canceled,
    /// A field of a header is out of range: the sentence states the allowed values.
    Header(&'static str),
    /// No reader begins with a valid header: the reason for the first one.
    Format(&'static str),
    /// The readers at these two positions are of different sets, or of one shard.
    Mixed(usize, usize),
    /// No trailer is intact, trailers differ, or the restored bytes do not have the original's checksum.
    Damaged,
    /// There are `found` writers or readers instead of `allowed`.
    Count {
        /// The numbers that the call accepts.
        allowed: RangeInclusive<usize>,
        /// The number of the caller.
        found: usize,
    },
    /// No code has this name.
    UnknownCode(String),
    /// The shape of the code, or its kernels; a stripe with too many lost blocks.
    Codec(crate::Error),
}

/// The result of the functions of this module.
pub type Result<T> = core::result::Result<T, Error>;

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Read(error) => write!(out, "the original cannot be read: {error}"),
            Error::Write(error) => write!(out, "a stream cannot be written: {error}"),
            Error::Canceled => out.write_str("canceled"),
            Error::Header(fault) => out.write_str(fault),
            Error::Format(fault) => write!(out, "no shard has a valid header: {fault}"),
            Error::Mixed(a, b) => {
                write!(out, "shards {a} and {b}: shards of different sets, or the same shard twice")
            }
            Error::Damaged => out.write_str("damaged: no intact trailer, or not the bytes of the original"),
            Error::Count { allowed, found } => {
                write!(out, "{found} streams; allowed: {}", allowed.start())?;
                if allowed.start() == allowed.end() {
                    return Ok(());
                }
                write!(out, " to {}", allowed.end())
            }
            Error::UnknownCode(ref name) => write!(out, "{name:?}: {}, or lrc", crate::Error::UnknownCode),
            Error::Codec(error) => error.fmt(out),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Read(error) | Error::Write(error) => Some(error),
            Error::Codec(error) => Some(error),
            _ => None,
        }
    }
}

impl From<crate::Error> for Error {
    fn from(error: crate::Error) -> Error {
        Error::Codec(error)
    }
}
