"""`gfsmith bench`: the speed of one code and shape on this machine, next to installed peers."""
