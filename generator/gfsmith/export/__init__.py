"""Sources for other people's builds: a tree, or one file and its header. docs/sources.md"""
