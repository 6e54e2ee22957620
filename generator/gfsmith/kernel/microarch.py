"""Microarchitectures by LLVM's -mcpu names, with their CPUID families and models.

Source of families and models: getIntelProcessorTypeAndSubtype and getAMDProcessorTypeAndSubtype of
llvm/lib/TargetParser/Host.cpp. Family and model are the displayed values, that is, with the extended fields
added (Intel SDM volume 2A, CPUID, figure 3-6; AMD APM volume 3, Fn0000_0001_EAX).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_INTEL = "GenuineIntel"
_AMD = "AuthenticAMD"


class UnknownMicroarchitecture(ValueError):
    """A name or a machine that is not in the table, with a message of one line."""


@dataclass(frozen=True, slots=True)
class Microarch:
    """A microarchitecture. models: ranges (first, last) of one family."""

    name: str
    vendor: str
    family: int
    models: tuple[tuple[int, int], ...]

    def has(self, vendor: str, family: int, model: int) -> bool:
        inside = any(first <= model <= last for first, last in self.models)
        return inside and (vendor, family) == (self.vendor, self.family)


def _intel(name: str, *models: int) -> Microarch:
    return Microarch(name, _INTEL, 6, tuple((m, m) for m in models))


def _amd(name: str, family: int, *models: tuple[int, int]) -> Microarch:
    return Microarch(name, _AMD, family, models)


#: Model 0x55 is skylake-avx512, cascadelake or cooperlake, depending on features. Their cores have the same
#: ports and caches, so they have one name here.
MICROARCHS: tuple[Microarch, ...] = (
    _intel("haswell", 0x3C, 0x3F, 0x45, 0x46),
    _intel("broadwell", 0x3D, 0x47, 0x4F, 0x56),
    _intel("skylake", 0x4E, 0x5E, 0x8E, 0x9E, 0xA5, 0xA6),
    _intel("skylake-avx512", 0x55),
    _intel("icelake-client", 0x7D, 0x7E),
    _intel("icelake-server", 0x6A, 0x6C),
    _intel("tigerlake", 0x8C, 0x8D),
    _intel("rocketlake", 0xA7),
    _intel("alderlake", 0x97, 0x9A, 0xB7, 0xBA, 0xBF, 0xAA, 0xAC),
    _intel("sapphirerapids", 0x8F, 0xCF),
    _intel("graniterapids", 0xAD),
    _amd("znver1", 0x17, (0x10, 0x1F), (0x20, 0x2F)),
    _amd("znver2", 0x17, (0x30, 0x3F), (0x47, 0x47), (0x60, 0x7F), (0x84, 0x87), (0x90, 0xAF)),
    _amd("znver3", 0x19, (0x00, 0x0F), (0x20, 0x5F)),
    _amd("znver4", 0x19, (0x10, 0x1F), (0x60, 0x7F), (0xA0, 0xAF)),
    _amd("znver5", 0x1A, (0x00, 0x77)),
)

BY_NAME = {microarch.name: microarch for microarch in MICROARCHS}


def find(name: str) -> Microarch:
    """Return the microarchitecture of a name. Raises UnknownMicroarchitecture."""
    if name not in BY_NAME:
        raise UnknownMicroarchitecture(f"'{name}' is not a microarchitecture; allowed: {', '.join(BY_NAME)}")
    return BY_NAME[name]


def identify(cpuinfo: str) -> Microarch:
    """Return the microarchitecture of the last processor in the text of Linux's /proc/cpuinfo.

    Raises UnknownMicroarchitecture.
    """
    fields = dict(re.findall(r"^(vendor_id|cpu family|model)\s*: (.*)$", cpuinfo, re.MULTILINE))
    try:
        found = fields["vendor_id"], int(fields["cpu family"]), int(fields["model"])
    except (KeyError, ValueError):
        raise UnknownMicroarchitecture("/proc/cpuinfo does not name the CPU of this machine") from None
    for microarch in MICROARCHS:
        if microarch.has(*found):
            return microarch
    raise UnknownMicroarchitecture(
        f"this machine's CPU ({found[0]}, family {found[1]:#x}, model {found[2]:#x}) is not in the table; "
        f"known: {', '.join(BY_NAME)}"
    )


def _cpuinfo() -> str:
    try:
        return Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return ""


def host() -> Microarch:
    """Return the microarchitecture of this machine. Raises UnknownMicroarchitecture."""
    return identify(_cpuinfo())


def host_features() -> frozenset[str]:
    """Return the features of this machine's CPU and operating system, as in Isa.cpu_flags."""
    found = re.search(r"^flags\s*: (.*)$", _cpuinfo(), re.MULTILINE)
    return frozenset(found[1].upper().split()) if found else frozenset()
