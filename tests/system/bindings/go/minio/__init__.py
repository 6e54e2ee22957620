"""MinIO on the module that replaces klauspost/reedsolomon; `make minio` runs it."""
