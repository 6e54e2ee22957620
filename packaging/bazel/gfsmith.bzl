"""Libraries that gfsmith generates and proves during the build: docs/build.md."""

load("@rules_cc//cc:defs.bzl", "cc_library")

def gfsmith_generate(
        name,
        code = None,
        k = None,
        m = None,
        l = None,
        r = None,
        isas = [],
        prefix = "gfs",
        config = None,
        adaptive = False,
        program = "gfsmith",
        **kwargs):
    """A cc_library of the runtime and of kernels with a known matrix.

    The target NAME_linked, which `bazel build //...` includes, compares its kernels with the digests of the proved
    machine code; it needs python3.

    Args:
      name: name of the library.
      code: the code whose matrix the kernels know, for example "cauchy"; this or config is required.
      k: data shards.
      m: parities.
      l: groups of lrc.
      r: global parities of lrc.
      isas: instruction sets; by default all.
      prefix: with "acme" the header is acme.h instead of gfsmith.h, and its functions are acme_encode and so
        on; it replaces the prefix in config. Libraries with different prefixes link into one program.
      config: label of a gfsmith.toml; without it the library also has a small set of kernels for any matrix.
      adaptive: adds the coordinator and its kernels (docs/adaptive.md).
      program: the command, found by PATH (`--action_env=PATH`), or an absolute path.
      **kwargs: arguments of cc_library.
    """
    if not code and not config:
        fail("gfsmith_generate(%s): code or config is missing" % name)
    library = "gfsmith" if prefix == "gfs" else prefix
    flags = ["--prefix", prefix]
    for flag, value in [("code", code), ("k", k), ("m", m), ("l", l), ("r", r)]:
        if value != None:
            flags += ["--" + flag, str(value)]
    for isa in isas:
        flags += ["--isa", isa]
    if adaptive:
        flags += ["--adaptive"]
    if config:
        flags += ["-c", "$(location %s)" % config]
    folder = name + "_gfsmith"
    sources = [folder + "/" + library + end for end in (".c", ".h")]
    native.genrule(
        name = folder,
        srcs = [config] if config else [],
        outs = sources + [folder + "/" + file for file in ("PROOFS.json", "MANIFEST.json", "check_linked.py")],
        cmd = "%s export -o $(RULEDIR)/%s %s >/dev/null" % (program, folder, " ".join(flags)),
        message = "Generating and proving",
    )
    cc_library(
        name = name,
        srcs = [sources[0]],
        hdrs = [sources[1]],
        copts = ["-std=c11", "-fvisibility=hidden"],
        includes = [folder],
        **kwargs
    )
    needed = [folder + "/check_linked.py", folder + "/MANIFEST.json", name]
    native.genrule(
        name = name + "_linked",
        srcs = needed,
        outs = [name + ".linked"],
        cmd = "python3 $(location %s) --stamp $@ $(location %s) $(locations %s)" % tuple(needed),
        message = "Comparing linked kernels with the proved ones",
    )
