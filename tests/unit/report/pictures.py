"""The pictures of docs/report.md: ``.venv/bin/python -m tests.unit.report.pictures``."""

import tempfile
from pathlib import Path

from dbt_delta.report import page
from tests.unit.report.browser import Browser
from tests.unit.report.test_report_page import document

FOLDER = Path(__file__).parents[3] / "docs" / "report"
SIZE = (1080, 800)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "report.html"
        file.write_text(page.page(document(40, 60, 30)))
        browser = Browser(Path(folder) / "chromium")
        try:
            browser.open(file, *SIZE)
            browser.picture(FOLDER / "overview.png")
            browser.open(file, *SIZE, "dark")
            slow = "nodes.findIndex(node => node.odd.seconds && node.store)"
            browser.run(f"open('node', {slow})")
            browser.run("new Promise(done => setTimeout(done, 400))")
            browser.picture(FOLDER / "model.png")
        finally:
            browser.close()


if __name__ == "__main__":
    main()
