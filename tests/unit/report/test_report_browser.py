"""The page in a real browser: it fits, says nothing on the console, and can be clicked through."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from dbt_delta.report import page
from tests.unit.report.browser import MISSING, Browser, program
from tests.unit.report.test_report_page import document

pytestmark = pytest.mark.skipif(program() is None, reason=MISSING)
WIDTHS = (360, 768, 1440)
PARTS = (
    *("attention", "runs", "models", "freshness", "tests", "expectations"),
    *("storage", "snapshots", "lineage", "publish", "erasures"),
)
# Names that would break a page that writes HTML, and one that is longer than a phone is wide.
ODD = "<img src=x onerror=\"document.title='broken'\"> 'quoted' \u05d0\u05d1 " + "w" * 120


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    started = Browser(tmp_path_factory.mktemp("chromium"))
    yield started
    started.close()


@pytest.fixture(autouse=True)
def forgotten(browser: Browser) -> None:
    browser.said.clear()
    browser.asked.clear()


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = document(40, 60, 30)
    made["nodes"][20]["name"] = made["tests"][3]["name"] = ODD
    made["attention"].insert(0, {"level": "error", "text": ODD, "node": 20})
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(page.page(made))
    return path


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_it_fits_and_says_nothing(browser: Browser, file: Path, width: int, scheme: str) -> None:
    browser.open(file, width, 900, scheme)
    assert browser.run("document.documentElement.scrollWidth") == width
    assert browser.run("[...document.querySelectorAll('main section')].map(s => s.id)") == [*PARTS]
    too_wide = (
        "[...document.querySelectorAll('main section, figure, .plot svg')]"
        ".filter(one => one.getBoundingClientRect().right > innerWidth + 1)"
        ".map(one => one.outerHTML)"
    )
    assert browser.run(too_wide) == []
    assert browser.run("document.querySelectorAll('.plot svg').length") > 6
    assert browser.said == []
    assert set(browser.asked) == {file.as_uri()}
    assert "broken" not in browser.run("document.title")


@pytest.mark.parametrize("kind", ["node", "run"])
def test_details_fit_a_phone(browser: Browser, file: Path, kind: str) -> None:
    browser.open(file, 360, 740)
    browser.run(f"open('{kind}', 20)")
    sizes = "(one => [one.scrollWidth - one.clientWidth, one.getBoundingClientRect().right])"
    more, right = browser.run(f"{sizes}(document.querySelector('dialog'))")
    assert more == 0
    assert right <= 360
    assert browser.run("document.querySelector('dialog .plot svg').clientWidth") > 200


def test_text_can_be_read(browser: Browser, file: Path) -> None:
    """Contrast of at least 4.5 to 1 between each colour of text and what is behind it."""
    contrast = r"""
        (() => {
            const light = text => {
                const [r, g, b] = text.match(/[\d.]+/g).slice(0, 3).map(v => v / 255)
                    .map(v => (v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4));
                return .2126 * r + .7152 * g + .0722 * b;
            };
            const behind = one => {
                const color = getComputedStyle(one).backgroundColor;
                return color.endsWith(', 0)') ? behind(one.parentElement) : color;
            };
            return [...document.querySelectorAll('main *, header *, footer *')]
                .filter(one => one.checkVisibility() && !one.closest('svg'))
                .filter(one => [...one.childNodes].some(n => n.nodeType === 3 && n.data.trim()))
                .map(one => {
                    const [a, b] = [getComputedStyle(one).color, behind(one)].map(light);
                    return [(Math.max(a, b) + .05) / (Math.min(a, b) + .05), one.outerHTML];
                })
                .filter(([ratio]) => ratio < 4.5).map(found => found.join(' ').slice(0, 200));
        })()
    """
    for scheme in ("light", "dark"):
        browser.open(file, 1200, 900, scheme)
        assert browser.run(contrast) == []


def test_names_of_all_that_is_used(browser: Browser, file: Path) -> None:
    """What a screen reader would say of each chart, control and scrolled table."""
    browser.open(file, 1200, 900)
    nameless = (
        "[...document.querySelectorAll('button, input, a, [role=img], [role=region]')]"
        ".filter(one => !(one.getAttribute('aria-label') || one.textContent).trim())"
        ".map(one => one.outerHTML)"
    )
    assert browser.run(nameless) == []
    assert browser.run("[...document.querySelectorAll('svg[role=img]')].length") > 6
    assert browser.run("document.querySelectorAll('th:not([scope])').length") == 0


def test_a_path_of_clicks(browser: Browser, file: Path) -> None:
    browser.open(file, 1200, 900)
    shown = "document.querySelector('#detail-title').textContent"
    browser.click("document.querySelector('.attention .link')")
    assert browser.run(shown) == ODD
    assert browser.run("document.querySelectorAll('dialog .plot svg').length") == 4
    browser.press("Escape")
    assert browser.run("document.querySelector('dialog').open") is False

    browser.click("document.querySelector('#runs tbody .link')")
    assert browser.run(shown).startswith("Run of 2026-")
    browser.click("document.querySelector('dialog tbody .link')")
    assert not browser.run(shown).startswith("Run of")
    browser.press("Escape")

    first = "document.querySelector('#models tbody th').textContent"
    browser.click("document.querySelector('#models th button')")
    assert browser.run(first).startswith("<img")
    browser.run(
        "(one => { one.value = 'marts_orders'; one.dispatchEvent(new Event('input')) })"
        "(document.querySelector('#models input'))"
    )
    assert browser.run(first).startswith("marts_orders")
    browser.click("[...document.querySelectorAll('#models [aria-pressed]')].at(-1)")
    assert "Size of the newest version" in browser.run(
        "document.querySelector('#models figcaption').textContent"
    )

    everything = browser.run("document.querySelectorAll('.node').length")
    browser.click("document.querySelector('.column:nth-child(3) .node')")
    assert browser.run("document.querySelectorAll('.node[aria-pressed=true]').length") == 1
    assert 1 < browser.run("document.querySelectorAll('.node').length") < everything
    assert browser.run("document.querySelectorAll('.edge').length") > 0
    browser.press("Enter")  # the node has the focus: a second time opens it
    assert browser.run("document.querySelector('dialog').open") is True
    browser.press("Escape")
    assert browser.said == []


def test_numbers_of_a_chart_and_the_theme(browser: Browser, file: Path) -> None:
    browser.open(file, 1200, 900)
    browser.click("document.querySelector('#snapshots summary')")
    browser.run("new Promise(done => setTimeout(done, 100))")
    assert browser.run("document.querySelectorAll('#snapshots details tbody tr').length") > 5
    before = browser.run("getComputedStyle(document.body).backgroundColor")
    for _ in range(2):
        browser.click("document.querySelector('#theme')")
    assert browser.run("document.querySelector('#theme').textContent") == "Theme: dark"
    assert browser.run("getComputedStyle(document.body).backgroundColor") != before


def test_what_is_unknown_is_said(browser: Browser, tmp_path: Path) -> None:
    """A project without a run: no number stands where nothing is known."""
    made = document(8, 8, 3)
    for node in made["nodes"]:
        node.update(runs={}, odd={}, usual={}, store=None, fresh=None, rows={"at": [], "rows": []})
    for test in made["tests"]:
        test.update(results="", state=None, failures=None)
    made.update(runs=[], attention=[], expectations=[], publish=None, erasures=[])
    path = tmp_path / "empty.html"
    path.write_text(page.page(made))
    browser.open(path, 768, 900)
    tiles = browser.run("[...document.querySelectorAll('.tile dd')].map(one => one.textContent)")
    assert tiles == ["unknown"] * 7
    row = browser.run(
        "[...document.querySelectorAll('#models tbody tr:first-child td.num')]"
        ".map(cell => cell.textContent)"
    )
    assert set(row) <= {"unknown", ""}
    assert browser.said == []


def test_a_large_project_is_drawn_in_a_second_or_two(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "large.html"
    path.write_text(page.page(document(200, 400, 90)))
    browser.open(path, 1440, 900)
    assert browser.run("document.querySelectorAll('.node').length") > 200
    assert (
        browser.run("performance.timing.loadEventEnd - performance.timing.navigationStart") < 15000
    )
    assert browser.said == []
