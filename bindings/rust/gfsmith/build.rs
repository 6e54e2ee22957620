//! Generates the kernels of this crate, and compiles them. docs/rust.md of gfsmith.
//!
//! The sources are one C file and its header, named after the prefix, `links` in Cargo.toml. They come from
//! the first available of these:
//!
//! 1. the generator that the environment variable GFSMITH names,
//! 2. the folder vendor/ of this crate, with the files of `gfsmith export`: needs neither Python nor gfsmith,
//! 3. `gfsmith` on PATH.
//!
//! After adding or removing vendor/: `cargo clean -p` with this crate's name.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{exit, Command};

// The kernels to generate; edit these constants only. Kernels for the code and shape below have its matrix
// built in; all other codes and shapes run with kernels for any matrix.

/// A code, as `gfsmith codes` lists them.
const CODE: &str = "backblaze";
/// Data shards and parity shards.
const SHAPE: (u32, u32) = (10, 4);
/// Instruction sets; at run time the best one that the CPU supports is chosen. Those of other architectures
/// than the target's compile to nothing.
const SETS: &[&str] = &["gfni_avx512", "avx2", "neon", "scalar"];

fn main() {
    if let Err(why) = build() {
        eprintln!("gfsmith: {why}");
        exit(1);
    }
}

fn build() -> Result<(), String> {
    let prefix = variable("CARGO_MANIFEST_LINKS")?;
    let folder = sources(&prefix)?;
    let source = folder.join(format!("{prefix}.c"));
    if !source.is_file() {
        return Err(format!("{} is missing: export with --prefix {prefix}", source.display()));
    }
    println!("cargo:rustc-env=GFSMITH_PREFIX={prefix}");
    println!("cargo:rustc-env=GFSMITH_SETS={}", SETS.join(" ")); // for a message
    println!("cargo:include={}", folder.display());
    // Optimized in debug builds too, because the C code around the kernels must be fast.
    cc::Build::new()
        .file(&source)
        .include(&folder)
        .std("c11")
        .opt_level(2)
        .try_compile(&prefix)
        .map_err(|error| format!("{}: {error}", source.display()))
}

/// The folder with the C file and its header.
fn sources(prefix: &str) -> Result<PathBuf, String> {
    let vendor = PathBuf::from(variable("CARGO_MANIFEST_DIR")?).join("vendor");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=GFSMITH");
    if let Some(named) = env::var_os("GFSMITH") {
        return generate(Path::new(&named), prefix);
    }
    if vendor.is_dir() {
        println!("cargo:rerun-if-changed={}", vendor.display());
        return Ok(vendor);
    }
    println!("cargo:rerun-if-env-changed=PATH");
    let path = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&path)
        .map(|folder| folder.join(format!("gfsmith{}", env::consts::EXE_SUFFIX)))
        .find(|program| program.is_file());
    match found {
        Some(generator) => generate(&generator, prefix),
        None => Err(format!(
            "no kernels: set GFSMITH to the generator, install gfsmith on PATH, or put into {} the output of `{}`",
            vendor.display(),
            command_line(prefix, "vendor")
        )),
    }
}

/// Run the generator, which writes either all files or none.
fn generate(generator: &Path, prefix: &str) -> Result<PathBuf, String> {
    let out = PathBuf::from(variable("OUT_DIR")?);
    let (folder, inputs) = (out.join("kernels"), out.join("kernels.d"));
    let done = Command::new(generator)
        .args(arguments(prefix, &folder.display().to_string()))
        .arg("--depfile")
        .arg(&inputs)
        .current_dir(&out)
        .output()
        .map_err(|error| format!("the generator {}: {error}", generator.display()))?;
    if !done.status.success() {
        // Files of an earlier run may belong to other settings.
        let _ = fs::remove_dir_all(&folder);
        let said = String::from_utf8_lossy(&done.stderr);
        return Err(format!("{}: {}", generator.display(), said.trim()));
    }
    println!("cargo:rerun-if-changed={}", generator.display());
    let rule = fs::read_to_string(&inputs).map_err(|error| format!("{}: {error}", inputs.display()))?;
    for input in prerequisites(&rule) {
        println!("cargo:rerun-if-changed={input}");
    }
    Ok(folder)
}

/// The files that the generator read, including itself: a rule of make lists one on each indented line.
fn prerequisites(rule: &str) -> impl Iterator<Item = String> + '_ {
    let lines = rule.lines().filter(|line| line.starts_with(' '));
    lines.map(|line| line.trim_end_matches('\\').trim().replace("\\ ", " "))
}

fn arguments(prefix: &str, folder: &str) -> Vec<String> {
    let (data, parity) = (SHAPE.0.to_string(), SHAPE.1.to_string());
    let mut words = vec!["export", "--code", CODE, "--k", &data, "--m", &parity, "--prefix", prefix];
    for set in SETS {
        words.extend(["--isa", set]);
    }
    words.extend(["-o", folder]);
    words.into_iter().map(String::from).collect()
}

fn command_line(prefix: &str, folder: &str) -> String {
    format!("gfsmith {}", arguments(prefix, folder).join(" "))
}

fn variable(name: &str) -> Result<String, String> {
    env::var(name).map_err(|_| format!("{name} is not set: cargo runs this, and `links` is in Cargo.toml"))
}
