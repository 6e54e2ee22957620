//! Errors and their messages.

use core::fmt;

use crate::checksum::Checksum;
use crate::code::Code;
use crate::sys;
use crate::wide::WideCode;

/// The reason why a call did nothing: errors are detected before anything is written to a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs)] // the fields are described with their variants
pub enum Error {
    /// `found` of `what` ("shards", "flags", "changes", "elements of the matrix", "checksums") were given
    /// instead of `expected`.
    Count { what: &'static str, expected: usize, found: usize },
    /// Shard `shard` (data first) has `found` bytes, the previous ones `expected`.
    Length { shard: usize, expected: usize, found: usize },
    /// There is no data shard `index`: indices are below `count`.
    Index { index: usize, count: usize },
    /// The text is not the name of a code: `Display` lists the names.
    UnknownCode,
    /// The code has no shape with these numbers of shards: `Display` states its shapes.
    Shape { code: Code, data: usize, parity: usize },
    /// No matrix has these numbers of data shards and parity shards.
    MatrixShape { data: usize, parity: usize },
    /// No local code has these numbers of data shards, groups and global parities.
    LocalShape { data: usize, groups: usize, global: usize },
    /// The wide code has no shape with these numbers of shards: `Display` states its shapes.
    WideShape { code: WideCode, data: usize, parity: usize },
    /// Shards of `length` bytes are not multiples of the `granule` bytes of a wide code.
    Granule { length: usize, granule: usize },
    /// The polynomial is reducible or does not have degree 8.
    Polynomial(u32),
    /// Shards of `length` bytes are not multiples of `unit` bytes, which are 8 packets.
    Packets { length: usize, unit: usize },
    /// The text is not the name of a checksum: `Display` lists the names.
    UnknownChecksum,
    /// The number has more bits than this checksum.
    ChecksumBits { kind: Checksum, state: u64 },
    /// The checksum has no sectors of this size.
    Sector { kind: Checksum, sector: usize },
    /// `length` bytes are not a multiple of `sector` bytes.
    Sectors { length: usize, sector: usize },
    /// This build has no instruction set of this name.
    UnknownIsa,
    /// The library refused an argument.
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
            Error::Count { what, expected, found } => write!(out, "{found} {what}; allowed: {expected}"),
            Error::Length { shard, expected, found } => {
                write!(out, "shard {shard} has {found} bytes, the first one {expected}")
            }
            Error::Index { index, count } => write!(out, "no data shard {index}; there are {count}"),
            Error::UnknownCode => {
                out.write_str("unknown code; allowed:")?;
                Code::ALL.iter().try_for_each(|code| write!(out, " {code}"))
            }
            Error::Shape { code, data, parity } => {
                write!(out, "{code} has no shape {data}+{parity}; allowed: {}", code.shapes())
            }
            Error::MatrixShape { data, parity } => {
                write!(out, "a matrix for {data}+{parity} shards; allowed: 1 or more of each, 255 together")
            }
            Error::LocalShape { data, groups, global } => write!(
                out,
                "a local code with {data} data shards, {groups} groups and {global} global parities; allowed: \
                 1 <= groups <= data, 1 <= global, 255 shards together"
            ),
            Error::WideShape { code, data, parity } => {
                write!(out, "{code} has no shape {data}+{parity}; allowed: {}", code.shapes())
            }
            Error::Granule { length, granule } => {
                write!(out, "shards of {length} bytes; allowed: multiples of {granule}")
            }
            Error::Polynomial(given) => {
                write!(out, "polynomial {given:#x}; allowed: irreducible ones of degree 8, such as 0x11d")
            }
            Error::Packets { length, unit } => {
                write!(out, "shards of {length} bytes; allowed: multiples of {unit}, which are 8 packets")
            }
            Error::UnknownChecksum => {
                out.write_str("unknown checksum; allowed:")?;
                Checksum::ALL.iter().try_for_each(|kind| write!(out, " {kind}"))
            }
            Error::ChecksumBits { kind, state } => {
                write!(out, "{state:#x} is not a checksum of {kind}; allowed: {} bits", kind.bits())
            }
            Error::Sector { kind, sector } => {
                write!(out, "{kind} has no sectors of {sector} bytes; allowed: {}", kind.sector_sizes())
            }
            Error::Sectors { length, sector } => {
                write!(out, "{length} bytes; allowed: multiples of {sector}, the bytes of a sector")
            }
            Error::UnknownIsa => out.write_str(concat!(
                "this build has no instruction set of this name; allowed: ",
                env!("GFSMITH_SETS"),
                ", except those of other machines"
            )),
            Error::Invalid => out.write_str("an argument is out of range"),
            Error::OutOfMemory => out.write_str("out of memory"),
            Error::NotMds => out.write_str(
                "at this shape the code cannot repair every loss of as many shards as parities; \
                 Code::Cauchy can at every shape",
            ),
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

/// Convert a status of the library to a result; `reason` is the meaning of GFSMITH_EINVAL.
pub(crate) fn invalid(status: sys::Status, reason: Error) -> Result<()> {
    result(status).map_err(|error| if error == Error::Invalid { reason } else { error })
}

/// Convert the status of a call on shards of `length` bytes to a result; lengths are multiples of `unit`.
pub(crate) fn done(length: usize, unit: usize, status: sys::Status) -> Result<()> {
    let packets = Error::Packets { length, unit };
    invalid(status, if length % unit == 0 { Error::Invalid } else { packets })
}

/// Compare the number of `what` with the expected one.
pub(crate) fn count(what: &'static str, expected: usize, found: usize) -> Result<()> {
    if expected == found {
        Ok(())
    } else {
        Err(Error::Count { what, expected, found })
    }
}

/// The same for `each` of so many stripes. A product that is no `usize`, as it may be with 32 bits, counts as the
/// greatest one.
pub(crate) fn count_all(what: &'static str, stripes: usize, each: usize, found: usize) -> Result<()> {
    count(what, stripes.saturating_mul(each), found)
}
