"""The rules that Bazel 4 has built in, under the name by which it and everybody else load them.

Bazel would fetch rules_cc from the network; Debian's is for another version of Bazel than Debian's.
"""

cc_binary = native.cc_binary
cc_library = native.cc_library
cc_toolchain = native.cc_toolchain
cc_toolchain_suite = native.cc_toolchain_suite
