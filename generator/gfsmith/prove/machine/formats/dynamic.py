"""The tables that the dynamic loader finds by PT_DYNAMIC, compared with the section headers, by which elf.py
reads them."""

from __future__ import annotations

from typing import Any, cast

from elftools.elf.elffile import ELFFile
from elftools.elf.hash import ELFHashTable, GNUHashTable

from gfsmith.prove.machine.formats.image import LoadError

_ALLOC = 0x2
#: Tables: the types of their sections, and the tags of their address and size.
_TABLES = (
    (("SHT_DYNSYM",), "DT_SYMTAB", ""),
    (("SHT_STRTAB",), "DT_STRTAB", "DT_STRSZ"),
    (("SHT_RELA", "SHT_REL"), "DT_RELA", "DT_RELASZ"),
    (("SHT_RELA", "SHT_REL"), "DT_JMPREL", "DT_PLTRELSZ"),
    (("SHT_RELR",), "DT_RELR", "DT_RELRSZ"),
)
#: Relocations that some loaders apply and elf.py does not read, by the beginning of their tags.
_OTHER = ("DT_REL", "DT_ANDROID_REL")
_TAG_BYTES = 16
_RELA = 7  #: the value of DT_PLTREL for relocations with addends


def check(what: str, elf: ELFFile) -> None:
    """Raise LoadError unless the section headers name the tables that the dynamic loader reads."""
    for segment in (s for s in elf.iter_segments() if s["p_type"] == "PT_DYNAMIC"):
        tags = _tags(what, elf, segment)
        other = [tag for tag in tags if tag == _OTHER[0] or tag.startswith(_OTHER[1])]
        if other or tags.get("DT_PLTREL", _RELA) != _RELA:
            raise LoadError(f"{what}: relocations by {(other or ['DT_PLTREL'])[0]} are not handled")
        for kinds, start, size in _TABLES:
            _check_table(what, elf, tags, kinds, start, size)
        _check_links(what, elf, tags)
        _check_symbols(what, elf, tags)


def _tags(what: str, elf: ELFFile, segment: Any) -> dict[str, int]:
    """Return the tags of PT_DYNAMIC. Loaders find it by its address, this reader by its place in the file,
    and of equal tags both take the last one."""
    size, found = segment["p_filesz"], list(segment.iter_tags())
    mapped = segment["p_offset"] in elf.address_offsets(segment["p_vaddr"], size)
    if not mapped or not found or len(found) * _TAG_BYTES > size:
        raise LoadError(f"{what}: PT_DYNAMIC is not mapped as its header states")
    tags = {str(tag["d_tag"]): int(tag["d_val"]) for tag in found}
    if unknown := [tag for tag in tags if tag.isdigit()]:
        raise LoadError(f"{what}: PT_DYNAMIC has an unknown tag {int(unknown[0]):#x}")
    return tags


def _allocated(elf: ELFFile, *kinds: str) -> list[Any]:
    """Return the sections of some types that are in memory."""
    return [s for s in elf.iter_sections() if s["sh_type"] in kinds and s["sh_flags"] & _ALLOC]


def _check_table(
    what: str, elf: ELFFile, tags: dict[str, int], kinds: tuple[str, ...], start: str, size: str
) -> None:
    """Raise LoadError unless sections of these types are the table between two tags."""
    if start not in tags:
        return
    low, high = tags[start], tags[start] + tags.get(size, 1)
    inside = [s for s in _allocated(elf, *kinds) if low <= s["sh_addr"] < high]
    listed = sum(s["sh_size"] for s in inside)
    first = any(s["sh_addr"] == low for s in inside) or not tags.get(size, 1)
    if not first or (size in tags and listed != tags[size]):
        raise LoadError(f"{what}: the section headers differ from {start} of PT_DYNAMIC")


def _check_links(what: str, elf: ELFFile, tags: dict[str, int]) -> None:
    """Raise LoadError unless symbols have their names, and relocations their symbols, from the tables of the
    loader."""
    links = {"SHT_DYNSYM": "DT_STRTAB", "SHT_RELA": "DT_SYMTAB"}
    for section in _allocated(elf, *links):
        place = elf.get_section(section["sh_link"])["sh_addr"]
        if section["sh_link"] and place != tags.get(links[section["sh_type"]]):
            raise LoadError(f"{what}: {section.name} uses another table than the loader")


def _check_symbols(what: str, elf: ELFFile, tags: dict[str, int]) -> None:
    """Raise LoadError unless the section headers have every symbol that the loader finds by a hash."""
    tables = [s for s in _allocated(elf, "SHT_DYNSYM") if s["sh_addr"] == tags.get("DT_SYMTAB")]
    count = max((s["sh_size"] // s["sh_entsize"] for s in tables), default=0)
    found = [0]
    if "DT_GNU_HASH" in tags:
        hashed = GNUHashTable(elf, _place(what, elf, tags["DT_GNU_HASH"]), cast(Any, None))
        found.append(hashed.get_number_of_symbols() - 1)
    if "DT_HASH" in tags:
        table = ELFHashTable(elf, _place(what, elf, tags["DT_HASH"]), None, cast(Any, None)).params
        found += [*table["buckets"], *table["chains"]]
    if max(found) >= max(count, 1):
        raise LoadError(f"{what}: the section headers lack symbols that the loader finds")


def _place(what: str, elf: ELFFile, address: int) -> int:
    """Return the place of a table in the file."""
    for place in elf.address_offsets(address):
        return place
    raise LoadError(f"{what}: a hash table of PT_DYNAMIC is not mapped")
