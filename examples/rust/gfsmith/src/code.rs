//! Codes by name, and where shards are to be found.

use core::ffi::CStr;

use crate::sys;

/// A family of codes, over x^8 + x^4 + x^3 + x^2 + 1 (0x11d).
///
/// All but `Lch` give the parity bytes of the libraries named; all but `Vandermonde` repair every loss of
/// as many shards as there are parities, at every shape that they have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Code {
    /// ISA-L `gf_gen_cauchy1_matrix`.
    Cauchy,
    /// ISA-L `gf_gen_rs_matrix`; only shapes at which it is MDS.
    Vandermonde,
    /// The crate `reed-solomon-erasure`, Backblaze, klauspost/reedsolomon, MinIO.
    Backblaze,
    /// gfsmith's fastest for many parities.
    Lch,
    /// Jerasure `cauchy_original_coding_matrix`.
    CauchyOrig,
    /// Jerasure `cauchy_good_general_coding_matrix`.
    CauchyGood,
    /// Jerasure `reed_sol_vandermonde_coding_matrix`.
    ReedSolVan,
    /// Hadoop `RSRawEncoder`.
    Hdfs,
    /// Linux md and btrfs RAID-6, and Jerasure `reed_sol_r6_coding_matrix`; two parities.
    Raid6,
    /// OpenZFS RAID-Z; up to three parities.
    RaidZ,
    /// SnapRAID; up to six parities.
    SnapRaid,
}

impl Code {
    pub(crate) fn name(self) -> &'static CStr {
        match self {
            Code::Cauchy => c"cauchy",
            Code::Vandermonde => c"vandermonde",
            Code::Backblaze => c"backblaze",
            Code::Lch => c"lch",
            Code::CauchyOrig => c"cauchy_orig",
            Code::CauchyGood => c"cauchy_good",
            Code::ReedSolVan => c"reed_sol_van",
            Code::Hdfs => c"hdfs",
            Code::Raid6 => c"raid6",
            Code::RaidZ => c"raidz",
            Code::SnapRaid => c"snapraid",
        }
    }
}

/// Where the shards of a codec's calls are: it decides how fast, never what is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Hint {
    /// Guessed from the size of each call.
    #[default]
    Auto,
    /// In cache.
    Cached,
    /// In memory, and the output is not read soon; needs outputs at a multiple of 64 bytes to matter.
    Streaming,
}

impl Hint {
    pub(crate) fn number(self) -> sys::Hint {
        match self {
            Hint::Auto => sys::HINT_AUTO,
            Hint::Cached => sys::HINT_CACHED,
            Hint::Streaming => sys::HINT_STREAMING,
        }
    }
}
