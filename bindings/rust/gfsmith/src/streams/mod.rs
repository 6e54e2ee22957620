//! Shard streams: readers and writers as k + m shards with checksums, in one pass and with bounded memory.
//!
//! The format is that of docs/shard-format.md, so `gfsmith-shards`, the C library and `gfsmith.streams` of
//! Python read the same streams. A call keeps one stripe in memory: k + m blocks. Each call reports the
//! bytes of the original done so far to `progress`, which cancels the call if it returns false.
//!
//! Every block has a checksum, and damage is repaired block by block: a call succeeds if the code can repair
//! the damaged blocks of each stripe, even if every shard is damaged. A call returns `Ok` only after it
//! compared the checksum of the original, apart from [`verify`], whose [`Report`] has the lost stripes.
//!
//! ```
//! use gfsmith::streams::{join, split, Header};
//!
//! let mut shards = vec![Vec::new(); 6];
//! split(&Header::new("cauchy", 4, 2), &mut &b"some text"[..], &mut shards, |_| true)?;
//!
//! let mut readers: Vec<Option<&[u8]>> = shards.iter().map(|shard| Some(&shard[..])).collect();
//! readers[0] = None;
//! readers[3] = None;
//! let mut text = Vec::new();
//! let report = join(&mut readers, &mut text, |_| true)?;
//! assert_eq!((&text[..], report.length), (&b"some text"[..], 9));
//! # Ok::<(), gfsmith::streams::Error>(())
//! ```

mod decode;
mod error;
mod header;
mod lane;
mod record;
mod report;
mod split;

pub use decode::{join, repair, verify};
pub use error::{Error, Result};
pub use header::{Content, Header, MAX_BLOCK, MAX_GENERATION, MAX_NAME};
pub use report::{Report, ShardState};
pub use split::split;
