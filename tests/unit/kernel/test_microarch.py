"""Microarchitectures, identified by the text of /proc/cpuinfo."""

from __future__ import annotations

import pytest

from gfsmith.kernel import microarch


def test_microarchitectures() -> None:
    def cpuinfo(vendor: str, family: int, model: int) -> str:
        return f"vendor_id\t: {vendor}\ncpu family\t: {family}\nmodel\t\t: {model}\nmodel name\t: X\n"

    assert microarch.identify(cpuinfo("AuthenticAMD", 25, 17)).name == "znver4"
    assert microarch.identify(cpuinfo("GenuineIntel", 6, 0x8F)).name == "sapphirerapids"
    for text, words in ((cpuinfo("GenuineIntel", 6, 1), "family 0x6, model 0x1"), ("", "does not name")):
        with pytest.raises(microarch.UnknownMicroarchitecture, match=words):
            microarch.identify(text)
    claimed = [
        (m.vendor, m.family, n) for m in microarch.MICROARCHS for a, b in m.models for n in range(a, b + 1)
    ]
    assert len(claimed) == len(set(claimed)), "two microarchitectures claim one CPU"
