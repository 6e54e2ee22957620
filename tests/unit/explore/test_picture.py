"""Pictures and page of a study whose figures are known, since a formula computes them."""

from __future__ import annotations

import re
import struct
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from matplotlib.colors import to_hex

from gfsmith.explore.tune import page
from gfsmith.explore.tune.canvas import Picture
from gfsmith.explore.tune.picture import pictures
from gfsmith.explore.tune.result import Bound, Regime, Study
from tests.unit.explore.synthetic import DISTANCES, UNROLLS, gain, study

SMALL = study(shapes=((8, 4), (12, 4)), lengths=(1024, 4096))
ALL = {picture.file: picture for picture in pictures(SMALL)}
TARGET = "cauchy_8x4_gfni_avx512"


def _axes_texts(picture: Picture, panel: int = 0) -> list[str]:
    return [text.get_text() for text in picture.figure.axes[panel].texts]


def test_there_is_one_of_each() -> None:
    kinds = [name.split("-")[0] for name in ALL]
    assert {kind: kinds.count(kind) for kind in kinds} == {
        "shapes": 2, "throughput": 4, "schedule": 4, "model": 2,
    }  # fmt: skip


def test_every_axis_is_labelled_with_its_unit() -> None:
    units = re.compile(
        r"time of the reference|GB/s|bytes|vectors|cycles|ns|outputs|sources|speed of the reference"
    )
    for picture in ALL.values():
        assert picture.title and picture.text
        for axes in picture.figure.axes:
            for label in (axes.get_xlabel(), axes.get_ylabel()):
                # A colour bar has one axis.
                assert units.search(label) or (not label and len(axes.get_xlabel() + axes.get_ylabel())), (
                    picture.file, label,
                )  # fmt: skip


def test_throughput_draws_reference_winner_others_and_roof() -> None:
    axes = ALL[f"throughput-{TARGET}-cached.png"].figure.axes[0]
    labels = axes.get_legend_handles_labels()[1]
    assert labels == [
        "9 other variants",
        "memory: same bytes, only added",
        "ports, modelled: reference's loop",
        "reference: u1",
        "won: u2",
    ]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["1 KiB", "4 KiB"]
    won = next(c for c in axes.containers if c.get_label() == "won: u2").lines[0]
    expected = [
        winner.rate.median
        for winner in SMALL.winners
        if winner.cell.target.startswith("cauchy:8x4") and winner.cell.regime is Regime.CACHED
    ]
    assert list(won.get_ydata()) == expected


def test_a_roof_far_above_is_named_and_not_drawn() -> None:
    axes = ALL[f"throughput-{TARGET}-memory.png"].figure.axes[0]
    labels = axes.get_legend_handles_labels()[1]
    assert "ports, modelled: 50 GB/s, off the scale" in labels
    assert axes.get_ylim()[1] < 30


def test_without_bounds_there_is_no_roof() -> None:
    none = replace(SMALL, bounds=tuple(Bound(b.cell, None, None) for b in SMALL.bounds))
    for bare in (none, replace(SMALL, bounds=())):
        found = next(p for p in pictures(bare) if p.file.startswith("throughput"))
        labels = found.figure.axes[0].get_legend_handles_labels()[1]
        assert not [label for label in labels if "memory:" in label or "ports, modelled:" in label]


def test_the_schedule_shows_the_best_of_each_setting() -> None:
    picture = ALL[f"schedule-{TARGET}-distant.png"]
    expected = [f"{gain(u, d, Regime.MEMORY):.2f}" for u in UNROLLS for d in DISTANCES if (u, d) != (8, 1024)]
    assert sorted(_axes_texts(picture)) == sorted(expected)
    assert picture.figure.axes[0].get_title() == "1 KiB blocks"
    image = picture.figure.axes[0].images[0]
    assert image.get_array().mask.sum() == 1  # type: ignore[union-attr]  # (8, 1024) was not tried


def test_no_gain_is_neutral_in_colour() -> None:
    image = ALL[f"schedule-{TARGET}-cached.png"].figure.axes[0].images[0]
    neutral = image.to_rgba(1.0)[:3]
    assert max(neutral) - min(neutral) < 0.03, to_hex(neutral)


def test_shapes_show_rate_and_gain() -> None:
    texts = _axes_texts(ALL["shapes-cauchy-gfni_avx512-cached.png"])
    assert len(texts) == 2 and all(re.fullmatch(r"\d+\.\d\n×1\.08", text) for text in texts)


def test_the_model_picture_states_its_rank_correlation() -> None:
    titles = [axes.get_title() for axes in ALL[f"model-{TARGET}-sapphirerapids.png"].figure.axes]
    assert titles[0] == "1 KiB blocks: rank correlation 0.83 (11 variants)"
    settings = [(int(p.parameters["unroll"]), int(p.parameters["prefetch"])) for p in SMALL.predictions]
    right = [1 / gain(*setting, Regime.CACHED) for setting in settings]
    perfect = [replace(p, cycles=cycles) for p, cycles in zip(SMALL.predictions, right, strict=True)]
    found = pictures(replace(SMALL, predictions=tuple(perfect)))
    title = next(p for p in found if p.file.startswith("model")).figure.axes[0].get_title()
    assert title == "1 KiB blocks: rank correlation 1.00 (11 variants)"


def test_an_empty_study_has_no_pictures() -> None:
    empty = Study(SMALL.microarchitecture, SMALL.basis, complete=False, confidence=0.95, seconds=0.0)
    assert pictures(empty) == []
    text = page.render(empty, [])
    assert "nothing was measured" in text and "Interrupted" in text


class _Links(HTMLParser):
    """All resources that a page would load."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [
            value or "" for name, value in attrs if name in ("src", "href", "srcset", "data", "action")
        ]


def _links(text: str) -> list[str]:
    parser = _Links()
    parser.feed(text)
    return parser.found


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report") / "out"
    page.write(study(shapes=((8, 4),), lengths=(1024, 4096)), folder)
    return folder


def test_the_page_needs_nothing_else(report: Path) -> None:
    text = (report / page.PAGE).read_text()
    links = _links(text)
    assert len(links) == len(list(report.glob("*.png"))) == 5
    assert all(link.startswith("data:image/png;base64,") for link in links)
    assert "http" not in text and "@import" not in text and "url(" not in text
    assert _links('<img src="https://example.org/x.png">') == ["https://example.org/x.png"]
    assert "cauchy:8x4@gfni_avx512" in text and "u2" in text
    assert not re.search(r"\b20\d\d-\d\d|/root/|/work/|/tmp/", text)


def test_files_have_the_size_of_their_figures(report: Path) -> None:
    drawn = pictures(study(shapes=((8, 4),), lengths=(1024, 4096)))
    assert {p.file for p in drawn} | {page.PAGE} == {p.name for p in report.iterdir()}
    for picture in drawn:
        data = (report / picture.file).read_bytes()
        assert data.startswith(b"\x89PNG")
        width, height = struct.unpack(">II", data[16:24])
        inches = picture.figure.get_size_inches()
        assert (width, height) == pytest.approx(tuple(inches * picture.figure.dpi), abs=1)


def test_an_old_report_is_replaced_and_nothing_else(tmp_path: Path) -> None:
    empty = replace(SMALL, measurements=(), winners=(), predictions=(), correlations=(), bounds=())
    folder = tmp_path / "report"
    page.write(empty, folder)
    (folder / "schedule-old.png").write_bytes(b"old")
    page.write(empty, folder)
    assert [p.name for p in folder.iterdir()] == [page.PAGE]
    assert [p.name for p in tmp_path.iterdir()] == ["report"]

    (folder / "notes.txt").write_text("mine")
    with pytest.raises(page.PageError, match=r"holds 'notes.txt'; allowed: a new folder"):
        page.write(empty, folder)
    (folder / "notes.txt").unlink()
    (folder / page.PAGE).write_text("my page")
    with pytest.raises(page.PageError, match="not a report of gfsmith"):
        page.write(empty, folder)
    assert (folder / page.PAGE).read_text() == "my page"
    with pytest.raises(page.PageError, match="not a folder"):
        page.write(empty, folder / page.PAGE)


def test_a_failure_leaves_the_folder_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    empty = replace(SMALL, measurements=(), winners=(), predictions=(), correlations=(), bounds=())
    folder = tmp_path / "report"
    page.write(empty, folder)
    before = (folder / page.PAGE).read_bytes()

    def full(*_: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(page, "render", full)
    with pytest.raises(page.PageError, match="No space left on device"):
        page.write(empty, folder)
    assert (folder / page.PAGE).read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["report"]
