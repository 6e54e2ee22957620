//! Empty source of the stub packages; see Cargo.toml.
