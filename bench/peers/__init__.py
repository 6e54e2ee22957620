"""Libraries that gfsmith is compared with: their sources, and programs that fetch and build them."""
