"""Sphinx configuration of the documentation site; __main__.py writes its sources and runs Sphinx."""

from __future__ import annotations

import ast
import inspect
import os
import re
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

from pygments.lexers.special import TextLexer

ROOT = Path(os.environ["GFSMITH_ROOT"])


def _load_stub(name: str, stub: Path) -> None:
    """Import a type stub as the module that it describes, so that autodoc needs no compiled extension."""
    tree = ast.parse("from __future__ import annotations\n" + stub.read_text(encoding="utf-8"))
    # The types named in annotations are in a module that itself imports the extension.
    tree.body = [
        node
        for node in tree.body
        if not (isinstance(node, ast.ImportFrom) and (node.module or "").startswith("gfsmith"))
    ]
    module = ModuleType(name)
    module.__spec__ = ModuleSpec(name, None, origin=str(stub))
    module.__dict__["ISAS"] = ()
    sys.modules[name] = module
    exec(compile(tree, str(stub), "exec"), module.__dict__)


sys.path[:0] = [str(ROOT / "generator"), str(ROOT / "bindings/python")]
_load_stub("gfsmith.codec._native", ROOT / "bindings/python/gfsmith/codec/_native.pyi")

project = "gfsmith"
html_title = "gfsmith"
root_doc = "README"
extensions = ["breathe", "myst_parser", "sphinx.ext.autodoc"]

# Pages are CommonMark with tables; links name headings as GitHub does.
myst_heading_anchors = 6

breathe_projects = {"gfsmith": os.environ["GFSMITH_DOXYGEN_XML"]}
breathe_default_project = "gfsmith"
breathe_domain_by_extension = {"h": "c"}

autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
default_role = "literal"

html_theme = "furo"
html_static_path = ["style"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_copyright = False


def _fields(app: Any, kind: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Make fields of the parts "parameter: meaning" of a docstring."""
    if kind not in ("function", "method"):
        return
    names = "|".join(inspect.signature(thing).parameters)
    part = re.compile(rf"(?:^|(?<=[.;] ))((?:{names})(?:, (?:{names}))*): ")
    text: list[str] = []
    inside = False
    for line in lines:
        pieces = part.split(line)
        if len(pieces) == 1 or (pieces[0] and not inside):  # no parameter begins here
            ends = not line or line.startswith(("Returns", "Errors", "Raises", ">>>"))
            text += ["", line] if inside and ends else ["    " + line.strip() if inside else line]
            inside = inside and not ends
            continue
        text.append("    " + pieces[0].strip() if inside else "")
        for parameters, meaning in zip(pieces[1::2], pieces[2::2], strict=True):
            text.append(f":param {parameters}: {meaning}")
        inside = True
    lines[:] = text


def setup(app: Any) -> None:
    app.add_lexer("meson", TextLexer)  # that of Pygments does not accept the index 0
    app.connect("autodoc-process-docstring", _fields)
