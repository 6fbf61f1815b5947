"""The book in a browser: every page loads from a file, asks no host, has no dead link, and is usable on a phone."""

import importlib.util
import re
import shutil
from pathlib import Path

import pytest

from compendium.verdicts import printed_values

ALL = len(printed_values())
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
NEEDED = ("playwright", "axe_playwright_python")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="needs the browser chromium: apt-get install chromium"),
    pytest.mark.skipif(
        not all(map(importlib.util.find_spec, NEEDED)), reason=f"needs the packages {' and '.join(NEEDED)}"
    ),
]
KINDS = [
    "index.html",
    "papers/paper-1.html",
    "verdicts.html",
    "thresholds.html",
    "notebooks.html",
    "runs/21_threeway_division-titanic.html",
    "runs/30_vae_anonymization-motionsense-gender.html",
    "results/50_one_game-motionsense-subject.html",
    "ledger.html",
    "api.html",
    "glossary.html",
    "howto/own-table.html",
]
LESSONS = sorted((Path(__file__).parents[3] / "notebooks" / "lessons").glob("*.ipynb"))
KINDS += [f"lessons/{path.stem}.html" for path in LESSONS[:1]]
WIDE = """() => [...document.querySelectorAll('main *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1
    && !e.closest('.sp-table, pre, math, .pst-scrollable-table-container') && e.checkVisibility())
    .map(e => e.tagName + '.' + e.className).slice(0, 5)"""

# Long pages repeat a few forms, so axe-core looks at the first of each only.
SHORTER = """() => document.querySelectorAll('main section section:nth-of-type(n + 5), .sp-claim:nth-child(n + 20), '
    + '.sp-table:nth-of-type(n + 6), dl.py:nth-of-type(n + 2)').forEach(each => each.remove())"""


@pytest.fixture(scope="module")
def chromium():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(chromium):
    """Return a page that fails its test if it has an error on the console or asks another host for something."""
    opened = chromium.new_page(viewport={"width": 1280, "height": 900})
    opened.set_default_timeout(240_000)  # 30 seconds are too short on a busy machine
    faults = []
    opened.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.on(
        "request", lambda asked: faults.append(asked.url) if not asked.url.startswith(("file:", "data:")) else None
    )
    opened.on("requestfailed", lambda asked: faults.append(f"missing: {asked.url}"))
    yield opened
    opened.close()
    assert faults == []


@pytest.fixture
def verdicts(page, book):
    page.goto((book / "verdicts.html").as_uri())
    return page


def test_pages_load_without_errors_and_ask_no_other_host(page, book):
    """Runs and their results have one form each, so the largest few are enough; test_site.py reads what all load."""
    loaded = [
        *book.glob("*.html"),
        *(path for folder in ("howto", "lessons", "papers") for path in book.glob(f"{folder}/*.html")),
    ]
    for folder in ("results", "runs"):
        loaded += sorted(book.glob(f"{folder}/*.html"), key=lambda path: path.stat().st_size)[-5:]
    assert len(loaded) > 30
    for path in loaded:
        page.goto(path.as_uri(), wait_until="load")


@pytest.mark.parametrize("name", KINDS)
def test_nothing_is_wider_than_a_desktop_or_a_phone_and_there_is_no_serious_barrier(page, book, name):
    from axe_playwright_python.sync_playwright import Axe

    page.goto((book / name).as_uri())
    cut = "[...document.querySelectorAll('main .highlight pre')].filter(e => e.scrollWidth > e.clientWidth + 1).length"
    assert page.evaluate(cut) == 0  # commands of guides and the help of parameters were cut at 1280 pixels
    for width, height in ((1280, 900), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(WIDE) == []
    page.evaluate(SHORTER)
    options = {"resultTypes": ["violations"], "preload": False}
    found = Axe().run(page, options=options).response["violations"]
    grave = [
        f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in found if one["impact"] in ("serious", "critical")
    ]
    assert grave == []


def test_the_search_finds_a_page_without_a_server(page, book):
    page.goto((book / "search.html").as_uri() + "?q=suitability")
    found = page.locator("#search-results li a", has_text="Glossary")
    found.first.wait_for()  # results appear one by one; the term is a result beside its page


@pytest.mark.parametrize("words", ["figure 8", "Fig. 8"])
def test_the_search_finds_a_figure_of_a_paper(page, book, words):
    page.goto((book / "search.html").as_uri() + f"?q={words}")
    page.locator("#search-results li a", has_text="Paper 3: representation").first.wait_for()


def test_filters_and_search_narrow_the_list_and_say_how_many(verdicts):
    count = verdicts.locator("#count")
    assert count.inner_text().startswith(f"{ALL} of {ALL} values")
    verdicts.select_option("#filter-paper", "2")
    verdicts.select_option("#filter-table", "2-10")
    assert count.inner_text() == f"30 of {ALL} values: 30 exact."
    assert verdicts.locator(".sp-claim:visible").count() == 30
    assert not verdicts.locator("text=Show more").is_visible()
    verdicts.fill("#filter-text", "utility")
    assert count.inner_text().startswith(f"5 of {ALL}")
    verdicts.click("text=Show all")
    verdicts.select_option("#filter-verdict", "not reproducible")
    assert count.inner_text().startswith(f"17 of {ALL}")
    verdicts.select_option("#filter-basis", "text")
    assert count.inner_text().startswith(f"3 of {ALL}")


def test_a_value_has_its_own_address_and_shows_everything_about_it(page, book):
    page.goto((book / "verdicts.html").as_uri() + "#1-T6-thr03-identifiability")
    shown = page.locator('[id="1-T6-thr03-identifiability"]')
    assert shown.get_attribute("open") is not None
    text = shown.inner_text()
    for word in (
        "37.18%",
        "31.41%",
        "differs",
        "8 draws",
        "D13",
        "make review CELL=1-T6-thr03-identifiability FORCE=1",
    ):
        assert word in text
    shown.locator("text=10_reidentification_game-cic-ids-2017").first.click()
    assert page.title().startswith(("The re-identification game", "10_reidentification_game-cic-ids-2017"))


def test_the_list_is_a_few_screens_of_a_phone_and_grows(verdicts):
    """It was 175,000 pixels high."""
    verdicts.set_viewport_size({"width": 390, "height": 844})
    assert verdicts.evaluate("document.documentElement.scrollHeight") < 8000
    assert verdicts.locator(".sp-claim:visible").count() == 30
    verdicts.click("text=Show more")
    assert verdicts.locator(".sp-claim:visible").count() == 60
    verdicts.evaluate(f"location.hash = '#{printed_values()['claim_id'].iloc[-1]}'")
    assert verdicts.locator(".sp-claim[open]").is_visible()


def test_the_book_follows_the_readers_choice_of_dark_mode_and_leads_on(page, book):
    page.emulate_media(color_scheme="dark")
    page.goto((book / "verdicts.html").as_uri())
    back = "getComputedStyle(document.querySelector('.sp-filters select')).backgroundColor"
    dark = page.evaluate(back)
    page.emulate_media(color_scheme="light")
    page.reload()
    assert page.evaluate(back) != dark
    assert page.locator(".theme-switch-button").first.is_visible()
    assert page.locator("a.right-next").is_visible()


def test_an_address_in_a_filtered_list_shows_its_value(verdicts):
    verdicts.select_option("#filter-paper", "1")
    verdicts.evaluate("location.hash = '#2-T10-r3-utility'")
    assert verdicts.locator('[id="2-T10-r3-utility"]').is_visible()


def test_a_ledger_entry_leads_to_its_values(page, book):
    page.goto((book / "ledger.html").as_uri())
    page.click("text=Show the printed values that quote D12")
    page.wait_for_selector("#count")
    assert re.match(rf"\d+ of {ALL} values: \d+ differs", page.locator("#count").inner_text())


def test_the_explorer_works_by_keyboard(verdicts):
    verdicts.locator("#filter-text").focus()
    verdicts.keyboard.type("2-T10-r3-utility")
    for _ in range(2):  # past the button
        verdicts.keyboard.press("Tab")
    verdicts.keyboard.press("Enter")
    assert verdicts.locator(".sp-claim[open]").get_attribute("id") == "2-T10-r3-utility"


def test_a_cell_of_a_papers_table_leads_to_its_value(page, book):
    page.goto((book / "papers" / "paper-2.html").as_uri())
    page.locator('a[href$="#2-T10-r3-utility"]').click()
    page.locator('[id="2-T10-r3-utility"] dl').wait_for(state="visible")


def test_sliders_move_the_groups_and_mark_the_papers_choice(page, book):
    page.goto((book / "thresholds.html").as_uri())
    division = page.locator("#divisions")
    assert "0.95, 0.05 (the paper's choice)" in division.inner_text()
    assert "Sensitive: not published (2)" in division.inner_text()
    page.locator("#alpha").focus()
    for _ in range(6):
        page.keyboard.press("ArrowLeft")
    assert "0.65, 0.05" in division.inner_text()
    assert "the paper's choice" not in division.inner_text()
    assert "Sensitive: not published (4)" in division.inner_text()
    page.select_option("#division-set", label="Student Performance")
    assert "0.7, 0.25 (the paper's choice)" in division.inner_text()


def test_the_other_sliders_show_committed_rows(page, book):
    page.goto((book / "thresholds.html").as_uri())
    for section, slider in {"searches": "threshold", "shifts": "length", "noise": "epsilon"}.items():
        before = page.locator(f"#{section} [role=status]").inner_text()
        page.locator(f"#{slider}").focus()
        page.keyboard.press("ArrowRight")
        assert page.locator(f"#{section} [role=status]").inner_text() != before, section
