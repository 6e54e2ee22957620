"""The SBOM: a function of the artifacts alone."""

from __future__ import annotations

import json

from release.sbom import sbom

ARTIFACTS = {"a.whl": "1" * 64, "b.tgz": "2" * 64}


def test_it_lists_artifacts_foreign_code_and_tools() -> None:
    text = sbom("3.1.0", ARTIFACTS, {"xxhash": "0.8.1"}, {"ziglang": "0.15.2"})
    found = json.loads(text)
    assert (found["bomFormat"], found["specVersion"]) == ("CycloneDX", "1.6")
    components = {each["name"]: each for each in found["components"]}
    assert components.keys() == {"a.whl", "b.tgz", "xxhash"}
    assert components["a.whl"]["hashes"] == [{"alg": "SHA-256", "content": "1" * 64}]
    assert components["xxhash"]["version"] == "0.8.1"
    assert found["metadata"]["timestamp"].startswith("1980-01-01T00:00:00")
    assert found["metadata"]["tools"]["components"][0]["name"] == "ziglang"
    assert {"ref": "gfsmith", "dependsOn": ["a.whl", "b.tgz", "library:xxhash"]} in found["dependencies"]


def test_it_depends_on_the_artifacts_alone() -> None:
    one, two = (sbom("3.1.0", ARTIFACTS, {}, {}) for _ in range(2))
    assert one == two
    assert sbom("3.1.0", ARTIFACTS | {"a.whl": "3" * 64}, {}, {}) != one
