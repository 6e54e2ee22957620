//! The instruction set of kernels. The original has no counterpart of this module.

use core::fmt::{self, Display, Formatter};
use core::sync::atomic::{AtomicUsize, Ordering};

use crate::cpu;
use crate::kernels::SETS;

/// The number of the code in Rust; smaller numbers are those of `SETS`.
pub(crate) const PORTABLE: usize = SETS.len();
const UNKNOWN: usize = usize::MAX;

static ACTIVE: AtomicUsize = AtomicUsize::new(UNKNOWN);

/// Returns the number of the set for new codes.
pub(crate) fn active() -> usize {
    match ACTIVE.load(Ordering::Relaxed) {
        UNKNOWN => {
            let best = (0..PORTABLE).find(|&set| able(set)).unwrap_or(PORTABLE);
            ACTIVE.store(best, Ordering::Relaxed);
            best
        }
        set => set,
    }
}

fn able(set: usize) -> bool {
    set == PORTABLE || SETS[set].features.iter().all(|feature| cpu::has(feature))
}

fn name(set: usize) -> &'static str {
    SETS.get(set).map_or("portable", |set| set.name)
}

/// Returns the name of the instruction set in use, `portable` for code in Rust.
pub fn isa() -> &'static str {
    name(active())
}

/// Returns the names of the sets that this CPU supports, best first.
pub fn isas() -> impl Iterator<Item = &'static str> {
    (0..=PORTABLE).filter(|&set| able(set)).map(name)
}

/// Selects the set for codes that are made, and decoding matrices that are computed, afterwards. Without a call it is
/// the best one.
pub fn set_isa(chosen: &str) -> Result<(), UnknownIsa> {
    let set = (0..=PORTABLE).find(|&set| name(set) == chosen && able(set)).ok_or(UnknownIsa)?;
    ACTIVE.store(set, Ordering::Relaxed);
    Ok(())
}

/// The name of no set that this CPU supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownIsa;

impl Display for UnknownIsa {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("the CPU has no such instruction set; allowed:")?;
        isas().try_for_each(|name| write!(f, " {name}"))
    }
}

#[cfg(feature = "std")]
impl std::error::Error for UnknownIsa {}
