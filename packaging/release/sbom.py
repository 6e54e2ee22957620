"""sbom.cdx.json: the artifacts, their SHA-256 sums, foreign code in them and the tools that built them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from uuid import NAMESPACE_URL, uuid5

from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.license import DisjunctiveLicense
from cyclonedx.output.json import JsonV1Dot6

from release.places import EPOCH

NAME = "sbom.cdx.json"


def sbom(
    version: str, artifacts: Mapping[str, str], contained: Mapping[str, str], tools: Mapping[str, str]
) -> str:
    """Return a CycloneDX document. artifacts: name -> SHA-256. contained: foreign programs whose code is
    in an artifact, or which an artifact requires -> version. tools: program -> version."""
    own = Component(
        name="gfsmith",
        version=version,
        type=ComponentType.LIBRARY,
        bom_ref="gfsmith",
        licenses=[DisjunctiveLicense(id="BSD-2-Clause")],
    )
    files = [_file(version, name, digest) for name, digest in artifacts.items()]
    others = [_component(name, found, ComponentType.LIBRARY) for name, found in contained.items()]
    bom = Bom(
        components=[*files, *others],
        serial_number=uuid5(
            NAMESPACE_URL, "\n".join(f"{digest} {name}" for name, digest in artifacts.items())
        ),
    )
    bom.metadata.component = own
    bom.metadata.timestamp = datetime.fromtimestamp(EPOCH, UTC)
    for name, found in tools.items():
        bom.metadata.tools.components.add(_component(name, found, ComponentType.APPLICATION))
    bom.register_dependency(own, [*files, *others])
    return str(JsonV1Dot6(bom).output_as_string(indent=2)) + "\n"


def _component(name: str, version: str, kind: ComponentType) -> Component:
    return Component(name=name, version=version, type=kind, bom_ref=f"{kind.value}:{name}")


def _file(version: str, name: str, digest: str) -> Component:
    return Component(
        name=name,
        version=version,
        type=ComponentType.FILE,
        bom_ref=name,
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=digest)],
    )
