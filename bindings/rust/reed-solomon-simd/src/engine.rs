//! The engines of the original, by name only: gfsmith's kernels compute for all of them, those of the best
//! instruction set of the CPU.

mod sealed {
    pub trait Sealed {}
}

/// An engine. Programs cannot implement it.
pub trait Engine: sealed::Sealed {}

macro_rules! engines {
    ($($(#[$condition:meta])* $name:ident)*) => {
        $(
            $(#[$condition])*
            /// An engine of the original.
            #[derive(Clone, Copy, Default)]
            pub struct $name(());

            $(#[$condition])*
            impl $name {
                /// The engine.
                pub fn new() -> Self {
                    Self(())
                }
            }

            $(#[$condition])*
            impl sealed::Sealed for $name {}

            $(#[$condition])*
            impl Engine for $name {}
        )*
    };
}

engines! {
    DefaultEngine
    Naive
    NoSimd
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    Avx2
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    Ssse3
    #[cfg(target_arch = "aarch64")]
    Neon
}
