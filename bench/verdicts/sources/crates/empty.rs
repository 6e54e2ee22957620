//! Empty source: see Cargo.toml.
