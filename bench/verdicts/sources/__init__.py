"""Sources of other libraries, fetched by the clients of package registries."""
