"""The report of `gfsmith tune` in headless Chromium: filters, table, plots and address, against the study."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webdriver import WebDriver

from gfsmith.emit.template import TEMPLATES
from gfsmith.explore.tune import page
from gfsmith.explore.tune.result import Measurement, Phase, Study
from tests.support.browser import chromium
from tests.support.levels import sample
from tests.unit.explore.synthetic import study

DEADLINE = 60  # seconds; only so that a hanging page fails the test

#: Two CPUs, of which one was interrupted: its last cell has no final. Its cells have no limits.
FULL = study(shapes=((8, 4), (12, 4)), lengths=(1024, 4096))
_OTHER = study(shapes=((4, 2),), lengths=(1024, 65536))
CUT = replace(_OTHER, microarchitecture="znver4", complete=False, winners=_OTHER.winners[:-1], bounds=())
STUDIES = [FULL, CUT]

#: Returns the numbers of rows and of points of each plot. A point without a coordinate is not drawn.
_COUNTS = """
const points = {};
const visit = (view) => {
  if (view.model.name?.startsWith('points ')) {
    const { x, y } = view.glyph;
    points[view.model.name.slice(7)] = [...x].filter((value, i) => Number.isFinite(value + y[i])).length;
  }
  for (const child of view.children()) visit(child);
};
for (const view of Bokeh.index.roots) visit(view);
return [document.querySelectorAll('#variants tbody tr').length, points];
"""

#: Goes to a fragment of the loaded page and returns when the page has handled that.
_GO = """
const [fragment, done] = arguments;
if (location.hash === fragment) done();
window.addEventListener('hashchange', () => done(), { once: true });
location.hash = fragment;
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebDriver]:
    with chromium(tmp_path_factory.mktemp("profile")) as driver:
        driver.execute_cdp_cmd("Network.enable", {})
        driver.execute_cdp_cmd(
            "Network.emulateNetworkConditions",
            {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0},
        )
        driver.set_window_size(600, 500)  # plots of this size take half the time of those in a usual window
        driver.set_script_timeout(DEADLINE)
        yield driver


class Report:
    """A user's view of a report and actions on it."""

    def __init__(self, driver: WebDriver, file: Path) -> None:
        self.driver = driver
        self.address = file.as_uri()

    def open(self, fragment: str = "") -> None:
        """Show the view of a fragment. The page is loaded only once, since that takes a second."""
        if self.driver.current_url.partition("#")[0] == self.address:
            self.driver.execute_async_script(_GO, fragment)
            return
        self.driver.get(self.address + fragment)
        self.wait(lambda: self.driver.execute_script("return document.body.dataset.ready") == "yes")

    def wait(self, condition: Callable[[], bool]) -> None:
        end = time.monotonic() + DEADLINE
        while not condition():
            if time.monotonic() > end:
                raise TimeoutError(self.driver.get_log("browser"))
            time.sleep(0.1)

    def choose(self, **values: str | int) -> None:
        for name, value in values.items():
            self.driver.find_element(By.CSS_SELECTOR, f'input[name={name}][value="{value}"]').click()

    def sort(self, column: str) -> None:
        self.driver.find_element(By.CSS_SELECTOR, f"th[data-column={column}] button").send_keys(Keys.ENTER)

    def fragment(self) -> str:
        return str(self.driver.execute_script("return location.hash"))

    def counts(self) -> tuple[int, dict[str, int]]:
        rows, points = self.driver.execute_script(_COUNTS)
        return rows, points

    def column(self, name: str) -> list[str]:
        script = """
        const n = document.querySelector(`th[data-column=${arguments[0]}]`).cellIndex;
        return [...document.querySelectorAll('#variants tbody tr')].map((row) => row.cells[n].textContent);
        """
        return [str(text) for text in self.driver.execute_script(script, name)]

    def shows(self, expected: list[Measurement]) -> None:
        """Check the numbers of rows and points, and the table's figures in any order."""
        limited = sum(m.cell.target in {b.cell.target for b in FULL.bounds} for m in expected)
        points = {"length": len(expected), "limit": limited, "cycles": len(expected)}
        assert self.counts() == (len(expected), points)
        text = f"{len(expected)} of {len(known())} variants"
        assert self.driver.find_element(By.ID, "count").text == text
        assert sorted(self.column("symbol")) == sorted(m.symbol for m in expected)
        assert sorted(self.column("rate")) == sorted(f"{float(f'{m.rate.median:.5g}'):.2f}" for m in expected)


def known(studies: list[Study] = STUDIES) -> list[Measurement]:
    """Return the variants of each cell once. A study measures no variant of a final in the search only."""
    return [m for s in studies for m in s.measurements if m.phase is Phase.SEARCH]


def passing(condition: Callable[[Measurement], bool]) -> list[Measurement]:
    return [m for m in known() if condition(m)]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return page.write(STUDIES, tmp_path_factory.mktemp("report") / "r")


@pytest.fixture
def report(browser: WebDriver, written: Path) -> Iterator[Report]:
    yield Report(browser, written)
    assert not [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]


def _filters_agree(report: Report) -> None:
    """Apply filters of one and several groups and check the rows and points of each."""
    report.open()
    report.shows(known())
    report.choose(unroll=2)
    report.shows(passing(lambda m: m.parameters["unroll"] == 2))
    report.choose(unroll=8, length=1024)
    report.shows(passing(lambda m: m.parameters["unroll"] in (2, 8) and m.cell.length == 1024))
    report.choose(path="cached", cpu="sapphirerapids")
    wanted = [
        m
        for m in known([FULL])
        if m.parameters["unroll"] in (2, 8) and (m.cell.length, m.cell.path) == (1024, "cached")
    ]
    report.shows(wanted)
    assert 0 < len(wanted) < len(known([FULL]))
    report.choose(shape="4x2")  # only the other CPU has it
    report.shows([])
    report.driver.find_element(By.CSS_SELECTOR, "#filters button").click()
    report.wait(lambda: report.fragment() == "")  # the browser resets a form after the event
    report.shows(known())


def test_rows_and_points_are_those_that_pass_the_filters(report: Report) -> None:
    _filters_agree(report)


def _sorting_agrees(report: Report) -> None:
    """Sort by numbers, by texts with numbers and by a column with missing values, in both directions."""
    report.open("#path=distant")
    speeds = sorted(m.rate.median for m in passing(lambda m: m.cell.path == "distant"))
    texts = [f"{float(f'{speed:.5g}'):.2f}" for speed in speeds]
    report.sort("rate")
    assert report.column("rate") == texts
    report.sort("rate")
    assert report.column("rate") == texts[::-1]
    heading = report.driver.find_element(By.CSS_SELECTOR, "th[data-column=rate]")
    assert heading.get_attribute("aria-sort") == "descending"
    assert report.fragment() == "#sort=-rate&path=distant"
    report.sort("shape")
    assert list(dict.fromkeys(report.column("shape"))) == ["4x2", "8x4", "12x4"]
    for _ in range(2):
        report.sort("memory")
        shares = report.column("memory")
        missing = len(passing(lambda m: (m.cell.shape, m.cell.path) == ("4x2", "distant")))
        assert shares[-missing:] == [""] * missing and "" not in shares[:-missing]
    assert int(shares[0]) > int(shares[1 - missing - 2])


def test_sorting(report: Report) -> None:
    _sorting_agrees(report)


def _addresses_agree(report: Report) -> None:
    """The address has the view; an address from elsewhere, also with unknown names, shows it."""
    report.open()
    report.choose(shape="12x4", unroll=1)
    report.sort("speed")
    fragment = report.fragment()
    assert fragment == "#sort=speed&shape=12x4&unroll=1"
    wanted = passing(lambda m: m.cell.shape == "12x4" and m.parameters["unroll"] == 1)
    report.open()
    report.open(fragment)
    report.shows(wanted)
    assert report.column("speed") == sorted(report.column("speed"))
    checked = report.driver.find_elements(By.CSS_SELECTOR, "#filters :checked")
    assert [box.get_attribute("value") for box in checked] == ["12x4", "1"]
    report.open("#unroll=1&circuit=none&nothing=7&sort=nothing")
    report.shows(passing(lambda m: m.parameters["unroll"] == 1))


def test_the_address_keeps_the_view(report: Report) -> None:
    _addresses_agree(report)


def _marks_agree(report: Report) -> None:
    """A row's box selects its point, and a selected point checks the box of its row."""
    report.open("#sort=-rate")
    box = report.driver.find_element(By.CSS_SELECTOR, "#variants tbody input")
    box.send_keys(Keys.SPACE)
    selected = "const s = Bokeh.documents[0].get_model_by_name('variants');"
    best = max(range(len(known())), key=lambda i: known()[i].rate.median)
    assert report.driver.execute_script(selected + "return s.selected.indices") == [best]
    report.driver.execute_script(selected + "s.selected.indices = [3, 4]")
    marked = """
    const rows = [...document.querySelectorAll('#variants tr:has(:checked)')];
    return rows.map((row) => row.lastElementChild.textContent);
    """
    found = report.driver.execute_script(marked)
    assert sorted(found) == sorted(known()[i].symbol for i in (3, 4)) and not box.is_selected()


def test_marks_link_rows_and_points(report: Report) -> None:
    _marks_agree(report)


def test_no_request_leaves_the_page(report: Report) -> None:
    report.open()
    sent = "return performance.getEntriesByType('resource').map((entry) => entry.name)"
    assert [url for url in report.driver.execute_script(sent) if not url.startswith("data:")] == []
    tried = report.driver.execute_async_script(
        "fetch('data:,x').then(() => arguments[0]('sent'), () => arguments[0]('refused'))"
    )
    assert tried == "refused", "the page forbids requests"
    report.driver.get_log("browser")  # has the refusal


def test_on_paper_the_filter_is_left_out(report: Report) -> None:
    report.open("#shape=8x4")
    report.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        assert not report.driver.find_element(By.ID, "filters").is_displayed()
        assert report.driver.find_element(By.ID, "plots").is_displayed()
        assert report.counts()[0] == len(passing(lambda m: m.cell.shape == "8x4"))
    finally:
        report.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_every_control_has_a_name_and_a_place_in_the_order_of_tab(report: Report) -> None:
    report.open()
    controls = report.driver.find_elements(
        By.CSS_SELECTOR, "#filters input:not([type=hidden]), #filters button"
    )
    controls += report.driver.find_elements(By.CSS_SELECTOR, "#variants th button")
    controls += report.driver.find_elements(By.CSS_SELECTOR, "#variants tbody input")[:3]
    assert all(control.accessible_name for control in controls)
    controls[0].send_keys(Keys.SPACE)
    assert report.counts()[0] < len(known())
    controls[0].send_keys(Keys.TAB)
    assert report.driver.switch_to.active_element == controls[1]


#: Changed text of a function of study.js, and the check that must fail with it.
MUTANTS = [
    ("filters.every(", "filters.some(", _filters_agree),
    ("values.includes(", "!values.includes(", _filters_agree),
    ("[...(found.get(box.name) ?? []), box.value]", "[box.value]", _filters_agree),
    ("filter.indices = indices;", "", _filters_agree),
    ("String(column[i])", "column[i]", _filters_agree),
    ("sorted(indices, source).slice", "indices.slice", _sorting_agrees),
    ("missing(i) - missing(j)", "missing(j) - missing(i)", _sorting_agrees),
    ("collator.compare(a, b)", "a.localeCompare(b)", _sorting_agrees),
    ("includes(box.value)", "includes(box.name)", _addresses_agree),
    ("#${asked}", "#", _addresses_agree),
    ("source.selected.indices = boxes", "boxes", _marks_agree),
    ("box.checked = marked.has(i)", "marked.has(i)", _marks_agree),
]


def _replacement(old: str, new: str) -> str:
    """Return a script that replaces the functions of study.js, which are global, except `start`."""
    text = (TEMPLATES / "study.js").read_text(encoding="utf-8")
    assert text.count(old) == 1
    functions = text[text.index("/** Returns the checked") : text.index("function start")]
    assert old in functions
    names = re.findall(r"^function (\w+)", functions, re.MULTILINE)
    return functions.replace(old, new) + f"Object.assign(window, {{ {', '.join(names)} }});"


#: One mutant of each check; `make test-long` runs the others.
KEPT = {check: old for old, _, check in reversed(MUTANTS)}.values()


@pytest.mark.parametrize(
    ("old", "new", "check"),
    sample([pytest.param(*mutant, id=mutant[0]) for mutant in MUTANTS], *KEPT),
)
def test_a_wrong_script_is_detected(
    report: Report, old: str, new: str, check: Callable[[Report], None]
) -> None:
    report.open()
    report.driver.execute_script(_replacement(old, new))
    try:
        with pytest.raises(AssertionError):
            check(report)
    finally:
        report.driver.execute_script(_replacement(old, old))
        report.driver.execute_script("document.querySelector('#filters button').click()")


def test_studies_with_one_cell_and_with_nothing(browser: WebDriver, tmp_path: Path) -> None:
    whole = study(shapes=((8, 4),), lengths=(1024,))
    cell = whole.winners[0].cell
    one = replace(
        whole,
        measurements=tuple(m for m in whole.measurements if m.cell == cell),
        winners=whole.winners[:1],
        bounds=(),
        predictions=(),
    )
    report = Report(browser, page.write([one], tmp_path / "one"))
    report.open("#length=4096")
    assert report.counts() == (len(known([one])), {"length": len(known([one]))})
    report.choose(result="winner")
    assert report.counts() == (1, {"length": 1})
    empty = replace(one, measurements=(), winners=(), complete=False)
    browser.get(page.write([empty], tmp_path / "empty").as_uri())
    text = browser.find_element(By.TAG_NAME, "body").text
    assert "Nothing was measured" in text and "Interrupted" in text


def test_a_long_table_has_the_first_rows_in_the_order_of_the_sort_key(
    browser: WebDriver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "_LIMIT", 20)
    report = Report(browser, page.write([FULL], tmp_path / "long"))
    report.open("#path=cached&sort=-rate")
    found = [m for m in known([FULL]) if m.cell.path == "cached"]
    assert report.counts() == (20, dict.fromkeys(("length", "limit", "cycles"), len(found)))
    best = sorted((m.rate.median for m in found), reverse=True)[:20]
    assert report.column("rate") == [f"{float(f'{rate:.5g}'):.2f}" for rate in best]
    text = f"{len(found)} of {len(known([FULL]))} variants, of which the table has the first 20"
    assert browser.find_element(By.ID, "count").text == text


def test_without_javascript_the_winners_and_unfinished_cells_are_shown(report: Report) -> None:
    driver = report.driver
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        driver.get("about:blank")
        driver.get(report.address)
        rows = driver.find_elements(By.CSS_SELECTOR, "#variants tbody tr")
        assert len(rows) == len(known())
        shown = [row for row in rows if row.value_of_css_property("display") != "none"]
        finals = sum(len(s.winners) for s in STUDIES)
        assert len(shown) == finals + len([m for m in known() if m.cell == _OTHER.winners[-1].cell])
        assert not driver.find_element(By.ID, "filters").is_displayed()
    finally:
        driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
