"""YCSB against the stripe store and against plain memcached."""
