"""The page in a real browser: the flows of its four views, deep links, files to save, accessibility."""

import csv
import io
import os
import re
import shutil
import threading
import time
from xml.etree import ElementTree

import pytest

from densvec.datasets import toy_language
from densvec.serve import app

CORPUS = list(toy_language(200))
REQUIRED = os.environ.get("DENSVEC_BROWSER") == "required"
TEXT = "The shy feathered kiwi sniffs and digs, unheardof!"
SECONDS = 60_000  # a busy machine is slow, and slow is not wrong
VIEWS = {
    "sentence": "#/sentence?text=the+shy+feathered+kiwi+sniffs+and+digs&at=3&off=1",
    "word": "#/word?word=kiwi",
    "compare": "#/compare?a=the+shy+%5B%5Bkiwi%5D%5D+digs&b=a+ripe+%5B%5Bkiwi%5D%5D",
    "map": "#/map?top=60&skip=5",
}


def unavailable(reason):
    if REQUIRED:
        pytest.fail(f"DENSVEC_BROWSER=required, but {reason}")
    pytest.skip(reason)


@pytest.fixture(scope="module")
def browser():
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError:
        unavailable("playwright is not installed")
    found = os.environ.get("CHROMIUM") or next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
    )
    with sync_playwright() as playwright:
        if found is None and not os.path.exists(playwright.chromium.executable_path):
            unavailable("no Chromium was found: install it, or name it in CHROMIUM")
        try:
            launched = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        except Error as error:
            unavailable(f"the browser does not start: {error}")
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def address(wv):
    """Where the page is served, by a thread of this process."""
    import uvicorn

    from densvec.serve.server import listen, url_of

    sock = listen("127.0.0.1", 0)
    application = app({"toy": wv, "again": wv}, corpus=CORPUS)
    server = uvicorn.Server(uvicorn.Config(application, log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]}, daemon=True)
    thread.start()
    yield url_of(sock)
    server.should_exit = True
    thread.join(30)


class Watched:
    """A page that notes what it should not do."""

    def __init__(self, context, address):
        self.address = address
        self.faults = []
        self.page = context.new_page()
        self.page.set_default_timeout(SECONDS)
        self.page.on(
            "console", lambda message: self._note(message.type in ("error", "warning"), message.text)
        )
        self.page.on("pageerror", lambda error: self._note(True, str(error)))
        self.page.on(
            "request", lambda request: self._note(not self._ours(request.url), f"asked {request.url}")
        )

    def _ours(self, url):
        return url.startswith((self.address, "data:", "blob:"))

    def _note(self, wrong, text):
        if wrong:
            self.faults.append(text)

    def open(self, hash=""):
        """Go to an address within the page, and wait until it is shown."""
        self.page.goto(self.address + hash)
        return self.shown()

    def shown(self):
        """Wait until what the address names is shown."""
        end = time.monotonic() + SECONDS / 1000
        script = """() => {
            const main = document.querySelector("main");
            return !main.classList.contains("busy") && main.dataset.shown === location.hash;
        }"""
        while not self.page.evaluate(script):
            assert time.monotonic() < end, "the page is not shown"
            self.page.wait_for_timeout(30)
        return self.page

    def until(self, script):
        """Wait until a script returns true; the page's policy forbids Playwright's own way."""
        end = time.monotonic() + SECONDS / 1000
        while not self.page.evaluate(script):
            assert time.monotonic() < end, f"never true: {script}"
            self.page.wait_for_timeout(30)


@pytest.fixture
def watched(browser, address, request):
    options = getattr(request, "param", {})
    context = browser.new_context(viewport={"width": 1200, "height": 900}, reduced_motion="reduce", **options)
    made = Watched(context, address)
    yield made
    context.close()
    assert made.faults == []


@pytest.mark.parametrize("where", ["", "#/constructor", "#/word", "#/word?metric=constructor", "#/compare"])
def test_the_page_opens_with_what_its_model_knows(watched, where):
    page = watched.open(where)
    assert page.get_by_role("alert").count() == 0
    assert page.locator("svg circle.posterior, svg circle.prior").count() > 0
    if where in ("", "#/constructor"):
        assert page.get_by_role("heading", level=1).inner_text() == "A word in its sentence"
        assert page.locator(".sentence .unknown").count() == 0
        assert page.locator(".chip.centre").inner_text() == "kiwi"


def posterior(page):
    """Return where the posterior is drawn."""
    circle = page.locator("svg circle.posterior")
    return tuple(float(circle.get_attribute(name)) for name in ("cx", "cy", "r"))


def test_sentence(watched, wv):
    page = watched.open()
    page.get_by_label("A sentence, typed or pasted").fill(TEXT)
    page.get_by_role("button", name="Read it").click()
    watched.until("() => location.hash.includes('unheardof')")
    watched.shown()
    line = page.locator(".sentence")
    assert line.inner_text() == TEXT
    assert line.locator("button").all_inner_texts() == [
        "The",
        "shy",
        "feathered",
        "kiwi",
        "sniffs",
        "and",
        "digs",
    ]
    line.get_by_role("button", name="kiwi").click()
    page.locator(".chip.centre").wait_for()
    watched.shown()
    assert line.get_by_role("button", name="kiwi").get_attribute("aria-pressed") == "true"
    sentence = ["the", "shy", "feathered", "kiwi", "sniffs", "and", "digs"]
    expected = wv.substitutes("kiwi", sentence, exclude_inflections=True, position=3, exclude_context=True)
    table = page.locator("section", has=page.get_by_role("heading", name="Substitutes here"))
    assert table.locator("tbody td:first-child").all_inner_texts() == [word for word, _ in expected]
    # Contributions are shown as shading that adds up, and the strongest is the darkest.
    shares = page.locator(".chip small").all_inner_texts()
    assert 95 <= sum(int(text.split()[0]) for text in shares) <= 105
    shades = [
        float(chip.evaluate("e => getComputedStyle(e).getPropertyValue('--share')"))
        for chip in page.locator("button.chip").all()
    ]
    assert shades.index(max(shades)) == max(range(len(shares)), key=lambda i: int(shares[i].split()[0]))


def test_context_words_are_switched_and_the_back_button_takes_it_back(watched):
    page = watched.open(VIEWS["sentence"].replace("&off=1", ""))
    before = posterior(page)
    chip = page.locator("button.chip", has_text="feathered")
    chip.click()
    watched.until("() => location.hash.includes('off=2')")
    watched.shown()
    moved = posterior(page)
    assert moved != before
    assert chip.get_attribute("aria-pressed") == "false"
    assert "feathered" not in page.locator(".inner table").inner_text()
    # The keyboard's focus stays on the switch, and the keyboard switches too.
    page.keyboard.press("Enter")
    watched.until("() => !location.hash.includes('off=')")
    watched.shown()
    assert posterior(page) == pytest.approx(before)
    page.go_back()
    watched.shown()
    assert posterior(page) == pytest.approx(moved)
    page.go_back()
    watched.shown()
    assert posterior(page) == pytest.approx(before)
    page.get_by_role("button", name="all off").click()
    page.get_by_text("Without context, the posterior is the prior.").wait_for()


def test_word(watched, wv):
    page = watched.open("#/word?word=dog")
    field = page.get_by_role("combobox", name="A word of the model")
    field.fill("kiw")
    watched.until("() => document.querySelector('datalist option')?.value === 'kiwi'")
    field.fill("kiwi")
    page.keyboard.press("Enter")
    watched.until("() => location.hash.includes('word=kiwi')")
    watched.shown()
    assert page.title() == "kiwi · densvec"

    def neighbours(metric):
        card = page.locator(
            "section", has=page.get_by_role("heading", name=f"Neighbours by {metric}", exact=True)
        )
        return card.locator("tbody td:first-child").all_inner_texts()

    # A word that is picked from the list is looked up without Enter.
    picked = 'new InputEvent("input", {inputType: "insertReplacementText"})'
    field.evaluate(f"field => {{ field.value = 'dog'; field.dispatchEvent({picked}); }}")
    watched.until("() => location.hash.includes('word=dog')")
    watched.shown()
    page.go_back()
    watched.shown()
    assert neighbours("kl") == [word for word, _ in wv.most_similar("kiwi", metric="kl", topn=12)]
    page.get_by_label("Neighbours by", exact=True).select_option("cosine")
    watched.until("() => location.hash.includes('metric=cosine')")
    watched.shown()
    assert neighbours("cosine") == [word for word, _ in wv.most_similar("kiwi", topn=12)]
    assert page.get_by_role("heading", name="Hypernyms").is_visible()
    assert page.get_by_role("heading", name="Generality among its neighbours").is_visible()
    page.locator("section", has=page.get_by_role("heading", name="Neighbours by")).locator(
        "tbody a"
    ).first.click()
    watched.until("() => !location.hash.includes('word=kiwi')")
    watched.shown()
    page.go_back()
    watched.shown()
    assert page.title() == "kiwi · densvec"


def test_senses_of_a_word_are_shown_when_the_corpus_has_been_read(watched, wv):
    page = watched.open("#/word?word=kiwi")
    card = page.locator("section", has=page.get_by_role("heading", name="Its senses in the corpus"))
    card.locator("ol.senses > li").first.wait_for()
    senses = wv.senses("kiwi", CORPUS, 500)
    assert card.locator("ol.senses > li").count() == len(senses)
    words = card.locator("ol.senses > li").first.locator("a").all_inner_texts()
    assert words == [word for word, _ in senses[0].nearest]
    card.locator("ol.senses a").first.click()
    watched.shown()
    assert page.title() == f"{words[0]} · densvec"


def test_compare(watched, wv):
    page = watched.open("#/compare?a=dog&b=animal")
    general = "animal" if wv.direction("dog", "animal") > 0 else "dog"
    assert re.search(
        rf"entails {general}, (slightly|clearly|much) more than", page.locator(".verdict").inner_text()
    )
    assert page.get_by_role("columnheader", name="in context", exact=True).count() == 0
    page.get_by_label("First").fill("the shy [[kiwi]] digs")
    page.get_by_label("Second").fill("a ripe [[kiwi]]")
    page.get_by_role("button", name="Compare").click()
    page.get_by_role("columnheader", name="in context", exact=True).wait_for()
    watched.shown()
    assert page.locator("svg circle.posterior").count() == 2
    page.get_by_role("button", name="Swap").click()
    watched.until("() => location.hash.startsWith('#/compare?a=a+ripe')")
    watched.shown()
    assert page.get_by_label("First").input_value() == "a ripe [[kiwi]]"


def test_two_that_are_alike_do_not_entail_each_other(watched):
    page = watched.open("#/compare?a=kiwi&b=kiwi")
    assert "Neither entails the other" in page.locator(".verdict").first.inner_text()


@pytest.mark.parametrize("view", ["sentence", "word", "compare"])
def test_no_circle_is_cut_off(watched, view):
    page = watched.open(VIEWS[view])
    cut = """() => [...document.querySelectorAll("svg circle")].filter((circle) => {
        const [, , width, height] = circle.ownerSVGElement.getAttribute("viewBox").split(" ").map(Number);
        const [x, y, r] = ["cx", "cy", "r"].map((name) => Number(circle.getAttribute(name)));
        return x - r < 0 || y - r < 0 || x + r > width || y + r > height;
    }).length"""
    assert page.locator("svg circle").count() > 5
    assert page.evaluate(cut) == 0


def test_map(watched):
    page = watched.open(VIEWS["map"])
    chart = page.locator("svg.map")
    assert chart.locator("circle").count() == 60

    def state():
        return chart.get_attribute("data-zoom"), chart.get_attribute("data-middle")

    def changes(action):
        before = state()
        action()
        end = time.monotonic() + 60
        while state() == before:
            assert time.monotonic() < end
            page.wait_for_timeout(30)

    chart.focus()
    changes(lambda: page.keyboard.press("+"))
    changes(lambda: page.keyboard.press("ArrowLeft"))
    chart.hover(position={"x": 300, "y": 200})
    changes(lambda: page.mouse.wheel(0, -300))

    def drag():
        box = chart.bounding_box()
        page.mouse.move(box["x"] + 20, box["y"] + 20)
        page.mouse.down()
        page.mouse.move(box["x"] + 120, box["y"] + 80, steps=4)
        page.mouse.up()

    changes(drag)
    changes(lambda: page.get_by_role("button", name="whole map").click())
    colours = {circle.get_attribute("fill") for circle in chart.locator("circle").all()}
    assert len(colours) > 20
    # On a map around a word, it can be found.
    page.get_by_role("combobox", name="Around a word").fill("kiwi")
    page.keyboard.press("Enter")
    watched.until("() => location.hash.includes('around=kiwi')")
    watched.shown()
    neighbour = chart.locator("a title").nth(7).text_content().split(",")[0]
    page.get_by_label("Find on the map").fill(neighbour)
    page.keyboard.press("Enter")
    watched.until("() => location.hash.includes('find=')")
    watched.shown()
    assert chart.locator(".found text").text_content() == neighbour
    chart.locator(".found text").click()
    watched.until("() => location.hash.startsWith('#/word')")
    watched.shown()
    assert page.title() == f"{neighbour} · densvec"
    page.go_back()
    watched.shown()
    assert chart.locator(".found text").text_content() == neighbour


@pytest.mark.parametrize("view", VIEWS)
def test_pictures_and_tables_can_be_saved(watched, view):
    page = watched.open(VIEWS[view])
    with page.expect_download() as download:
        page.get_by_role("button", name="Save the picture as SVG").first.click()
    picture = ElementTree.parse(download.value.path()).getroot()
    assert picture.tag.endswith("svg")
    circles = [element for element in picture.iter() if element.tag.endswith("circle")]
    assert circles
    assert all(element.get("fill") and element.get("class") is None for element in circles)
    if view == "map":
        page.get_by_text("The same words as a table").click()
    button = page.get_by_role("button", name="as CSV").first
    with page.expect_download() as download:
        button.click()
    rows = list(csv.reader(io.StringIO(download.value.path().read_text(encoding="utf-8"))))
    assert len(rows) > 3
    assert len({len(row) for row in rows}) == 1


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize(
    "watched", [{"color_scheme": "light"}, {"color_scheme": "dark"}], indirect=True, ids=["light", "dark"]
)
def test_nothing_serious_is_found_by_axe(watched, view):
    sync = pytest.importorskip("axe_playwright_python.sync_playwright")
    page = watched.open(VIEWS[view])
    assert_accessible(sync, page)


def test_the_list_of_routes_is_complete_and_accessible(watched):
    sync = pytest.importorskip("axe_playwright_python.sync_playwright")
    page = watched.page
    page.goto(f"{watched.address}docs")
    route = page.locator("section", has=page.get_by_text("GET /v1/words"))
    route.get_by_text("prefix", exact=True).wait_for()
    assert_accessible(sync, page)


def assert_accessible(sync, page):
    found = sync.Axe().run(page).response["violations"]
    serious = [each for each in found if each["impact"] in ("serious", "critical")]
    assert not serious, [(each["id"], [node["html"] for node in each["nodes"][:3]]) for each in serious]


@pytest.mark.parametrize("view", VIEWS)
def test_a_phone_needs_no_scrolling_sideways(watched, view):
    watched.page.set_viewport_size({"width": 360, "height": 740})
    page = watched.open(VIEWS[view])
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 360


def test_dark_mode_follows_the_system(watched):
    page = watched.open()

    def background():
        return page.evaluate("() => getComputedStyle(document.body).backgroundColor")

    light = background()
    page.emulate_media(color_scheme="dark")
    assert background() != light


def test_what_is_wrong_is_said_and_the_page_goes_on(browser, address):
    context = browser.new_context()
    made = Watched(context, address)
    page = made.open("#/word?word=kiwii")
    assert "did you mean 'kiwi'?" in page.get_by_role("alert").inner_text()
    made.open("#/word?word=kiwi")
    assert page.get_by_role("alert").count() == 0
    assert all("404" in fault for fault in made.faults)  # which the browser itself reports
    context.close()


def test_another_model_can_be_chosen(watched):
    page = watched.open("#/word?word=kiwi")
    page.get_by_label("Model", exact=True).select_option("again")
    watched.until("() => location.hash.includes('model=again')")
    watched.shown()
    page.get_by_role("link", name="Map", exact=True).click()
    watched.until("() => location.hash.startsWith('#/map')")
    watched.shown()
    assert "model=again" in page.url


def test_everything_can_be_reached_by_keyboard(watched):
    page = watched.open(VIEWS["sentence"])
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(
            page.evaluate("() => (document.activeElement.innerText || document.activeElement.tagName).trim()")
        )
    assert {"Sentence", "Map", "TEXTAREA", "Read it", "kiwi", "SVG", "CSV"} <= reached
    assert any(text.startswith("feathered") for text in reached)
