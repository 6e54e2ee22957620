"""`make release`: all artifacts of a release from a clean clone in one folder (docs/release.md)."""
