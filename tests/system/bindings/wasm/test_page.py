"""The page, in headless Chromium: split, damage, repair, download; more losses than parities."""

from __future__ import annotations

import base64
import functools
import hashlib
import http.server
import random
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.remote.webelement import WebElement

from tests.oracle import shard_format
from tests.support.browser import chromium
from tests.system.bindings.wasm.support import EXAMPLE

DEADLINE = 120  # seconds; only so that a hanging page fails the test


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Serve the package like an ordinary web server; yield the address."""
    handler = functools.partial(_Quiet, directory=str(EXAMPLE))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/page/"
        server.shutdown()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebDriver]:
    with chromium(tmp_path_factory.mktemp("profile")) as driver:
        yield driver


class Page:
    """A user's view of the page and actions on it."""

    def __init__(self, driver: WebDriver, address: str, downloads: Path) -> None:
        self.driver = driver
        driver.set_script_timeout(DEADLINE)
        self.downloads = downloads
        driver.execute_cdp_cmd(
            "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(downloads)}
        )
        driver.get(address)

    def one(self, name: str) -> WebElement:
        return self.driver.find_element(By.ID, name)

    def text(self, name: str) -> str:
        return self.one(name).text

    def wait(self, condition: Callable[[], bool]) -> None:
        end = time.monotonic() + DEADLINE
        while not condition():
            shown = self.driver.find_element(By.TAG_NAME, "body").text
            assert time.monotonic() < end, f"{shown}\n{self.driver.get_log('browser')}"
            time.sleep(0.02)

    def says(self, status: str) -> None:
        self.wait(lambda: status in self.text("status") and not self.one("progress").is_displayed())

    def drop(self, files: dict[str, bytes]) -> None:
        """Simulate the browser's events when a user drops files on the page."""
        self.driver.execute_script(
            """
            const [files] = arguments;
            const transfer = new DataTransfer();
            for (const [name, text] of Object.entries(files)) {
              transfer.items.add(new File([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))], name));
            }
            const event = new DragEvent('drop', { dataTransfer: transfer, bubbles: true, cancelable: true });
            document.getElementById('drop').dispatchEvent(event);
            """,
            {name: base64.b64encode(data).decode() for name, data in files.items()},
        )

    def shape(self, k: int, m: int) -> None:
        for name, value in (("k", k), ("m", m)):
            self.one(name).clear()
            self.one(name).send_keys(str(value))

    def tiles(self) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, ".tile")

    def states(self) -> list[str]:
        return [str(tile.get_attribute("data-state")) for tile in self.tiles()]

    def damage(self, how: str, *indices: int) -> None:
        self.driver.find_element(By.CSS_SELECTOR, f"input[value={how}]").click()
        wanted = "destroyed" if how == "destroy" else "corrupted"
        for index in indices:
            self.tiles()[index].click()
            self.wait(lambda index=index: self.states()[index] == wanted)  # type: ignore[misc]

    def download(self, name: str) -> bytes:
        self.one("download").click()
        self.says(f"{name} is complete")
        self.wait((self.downloads / name).exists)
        return (self.downloads / name).read_bytes()


@pytest.fixture
def page(package: None, browser: WebDriver, address: str, tmp_path: Path) -> Iterator[Page]:
    yield Page(browser, address, tmp_path)
    severe = [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
    assert not severe


def content(size: int) -> bytes:
    return random.Random(size).randbytes(size)


def test_split_damage_repair(page: Page) -> None:
    """As many losses as parities, of both kinds and in both halves, and then again.

    The page states no speed for work of less than 2 ms, and 24 MB would need 12 GB/s for that.
    """
    data = content(24_000_001)
    digest = hashlib.sha256(data).hexdigest()
    page.drop({"holiday.bin": data})
    page.says("holiday.bin is split")
    assert page.states() == ["intact"] * 14
    assert page.text("before") == digest
    assert page.text("kernels") == "wasm_relaxed_simd"
    assert "MB of data per second" in page.text("encoding")
    page.damage("destroy", 0, 9)
    page.damage("corrupt", 3, 12)
    assert "4 shards are lost; up to 4 can be rebuilt" in page.text("status")
    page.one("repair").click()
    page.says("4 shards are rebuilt")
    assert [i for i, state in enumerate(page.states()) if state == "rebuilt"] == [0, 3, 9, 12]
    assert page.text("after") == digest
    assert page.text("verdict") == "✓ the same"
    page.one("random").click()
    page.says("4 shards are lost")
    page.one("repair").click()
    page.says("4 shards are rebuilt")
    assert page.text("after") == digest
    assert page.download("holiday.bin") == data


def test_progress_is_shown(page: Page) -> None:
    """The page shows the worker's progress while it works."""
    page.driver.execute_script(
        """
        const bar = document.getElementById('progress');
        window.seen = [];
        new MutationObserver(() => bar.hidden || seen.push(bar.value)).observe(bar, { attributes: true });
        """
    )
    page.drop({"d": content(200_000)})
    page.says("d is split")
    seen = page.driver.execute_script("return seen;")
    assert len({value for value in seen if 0 < value < 1}) > 5
    assert not page.one("progress").is_displayed()


def test_more_losses_than_parities(page: Page) -> None:
    page.shape(5, 2)
    page.drop({"a": content(1000)})
    page.says("a is split")
    page.damage("destroy", 1, 2)
    assert not page.one("problem").is_displayed()
    page.damage("destroy", 6)
    gone = "3 of 7 shards are lost; cauchy 5+2 cannot rebuild them. The file is gone."
    page.wait(lambda: page.text("problem") == gone)
    for button in ("repair", "download"):
        page.one(button).click()
        page.wait(
            lambda: "1 of 1 stripes have lost blocks that cauchy 5+2 cannot repair" in page.text("problem")
        )
        assert page.one("problem").get_attribute("role") == "alert"
    assert page.text("verdict") == ""
    page.one("again").click()
    page.says("a is split")
    assert page.states() == ["intact"] * 7


def test_more_damaged_shards_than_parities(page: Page) -> None:
    """One byte of five shards of 37 blocks each; the probability of all in the same stripe is 37^-4."""
    data = content(4_800_000)
    page.shape(2, 4)
    page.drop({"a.bin": data})
    page.says("a.bin is split")
    page.damage("corrupt", 0, 1, 2, 4, 5)
    page.says("5 shards are lost; every block can be rebuilt")
    page.one("repair").click()
    page.says("5 shards are rebuilt")
    assert page.download("a.bin") == data


def test_choosing_a_file_and_a_lost_file_that_is_put_together_without_repair(
    page: Page, tmp_path: Path
) -> None:
    data = content(70_000)
    (tmp_path / "notes.txt").write_bytes(data)
    page.shape(3, 3)
    page.one("file").send_keys(str(tmp_path / "notes.txt"))
    page.says("notes.txt is split")
    page.damage("destroy", 0, 1, 2)
    (tmp_path / "notes.txt").unlink()
    assert page.download("notes.txt") == data
    assert page.text("after") == hashlib.sha256(data).hexdigest()


def shards(data: bytes, form: shard_format.Shape) -> dict[str, bytearray]:
    """Return the shard files of a set that another program wrote."""
    name = form.name.decode()
    files = shard_format.split(form, data)
    return {f"{name}.g1.{i:03}.gfs": bytearray(file) for i, file in enumerate(files)}


def test_dropped_shards(page: Page) -> None:
    """Shard files from another program, one missing and one damaged; and files that do not form a set."""
    text = content(5000).hex()
    files = shards(text.encode(), shard_format.Shape("cauchy", 4, 2, 64, name=b"old.txt"))
    files["old.txt.g1.001.gfs"][900] ^= 1
    files["old.txt.g1.005.gfs"][16] ^= 1  # in its header: its name has its index
    del files["old.txt.g1.004.gfs"]
    page.drop({name: bytes(shard) for name, shard in reversed(files.items())})
    page.says("3 shards are lost of 6; every block can be rebuilt")
    assert page.states() == ["intact", "corrupted", "intact", "intact", "destroyed", "corrupted"]
    page.one("repair").click()
    page.says("3 shards are rebuilt")
    assert page.download("old.txt") == text.encode()
    page.drop({"x.gfs": b"nothing", "y.gfs": b""})
    page.wait(lambda: "none of the files is a shard" in page.text("problem"))
    page.drop({"x": b"1", "y": b"2"})
    page.wait(lambda: "2 files: choose one" in page.text("problem"))


def test_dropped_shards_of_a_code_with_groups(page: Page) -> None:
    """The page names the losses of m shards that lrc cannot repair, and repairs the others."""
    data = content(3000)
    files = shards(data, shard_format.Shape("lrc", 6, 4, 64, l=2, name=b"groups"))
    page.drop({name: bytes(shard) for name, shard in files.items()})
    page.says("0 shards are lost of 10; every block can be rebuilt")
    page.damage("destroy", 0, 1, 2)
    page.says("3 shards are lost; every block can be rebuilt")
    page.one("repair").click()
    page.says("3 shards are rebuilt")
    page.damage("destroy", 0, 1, 2, 6)
    gone = "4 of 10 shards are lost; lrc 6+4 cannot rebuild them. The file is gone."
    page.wait(lambda: page.text("problem") == gone)
    page.drop({name: bytes(shard) for name, shard in list(files.items())[3:6] + list(files.items())[7:]})
    page.says("4 shards are lost of 10; the file is gone")


def test_usable_by_keyboard_and_screen_reader(page: Page) -> None:
    """Every control has a name, tiles describe themselves, and an invalid shape is not sent."""
    page.drop({"b": content(100)})
    page.says("b is split")
    names = [tile.accessible_name for tile in page.tiles()]
    assert names[0] == "data 0, intact"
    assert names[13] == "parity 3, intact"
    controls = page.driver.find_elements(By.CSS_SELECTOR, "button, input")
    assert all(control.accessible_name for control in controls)
    page.tiles()[2].send_keys("\n")
    page.wait(lambda: page.states()[2] == "destroyed")
    assert page.tiles()[2].accessible_name == "data 2, destroyed"
    assert page.driver.switch_to.active_element == page.tiles()[2]
    page.tiles()[2].send_keys("\n")  # it is lost already
    page.says("1 shard is lost")
    page.shape(254, 2)
    page.drop({"c": content(100)})
    page.wait(lambda: "m = 2: must be an integer from 1 to 1" in page.text("problem"))
    assert page.states()[2] == "destroyed"
