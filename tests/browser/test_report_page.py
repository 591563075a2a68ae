"""The report in a real browser: wide and narrow, light and dark, by mouse and by keyboard, from file:// and nowhere else."""

from types import SimpleNamespace

import pytest

from full_tables import full

CELLS = "#cells a.c"


@pytest.fixture
def opened(browser, written, request):
    """A function that opens a page: `.page`, `.report`, and `.trouble`, which must be empty at the end of the test."""
    contexts, trouble = [], []

    def open_page(kind, *, width=1280, scheme="light", script=True):
        report, path = written[kind]
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=script)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(5_000)
        page.on("console", lambda message: trouble.append(f"console {message.type}: {message.text}"))
        page.on("pageerror", lambda error: trouble.append(f"error: {error}"))
        page.on("request", lambda asked: trouble.append(asked.url) if not asked.url.startswith(("file:", "data:")) else None)
        page.goto(path.as_uri())
        return SimpleNamespace(page=page, report=report)

    yield open_page
    for context in contexts:
        context.close()
    assert trouble == []


def colour(page, selector, name="color"):
    return page.eval_on_selector(selector, f"element => getComputedStyle(element).{name}")


def luminance(text):
    parts = [int(part) / 255 for part in text[text.index("(") + 1 : -1].split(",")[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("kind", ["green", "red", "shrunk", "unknown", "empty"])
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", *full("dark")])
def test_it_shows_verdict_cells_and_picture_without_trouble_or_overflow(opened, kind, width, scheme):
    view = opened(kind, width=width, scheme=scheme)

    view.page.keyboard.press("Escape")  # a key that the script listens to, on pages with and without a grid
    assert view.page.locator("h1").inner_text() == view.report["verdict"].upper()
    box = view.page.locator("h1").bounding_box()
    assert 0 <= box["y"] < 400
    assert view.page.locator(CELLS).count() == len(view.report["steps"])
    assert view.page.locator(".picture svg").count() == (0 if kind == "empty" else 1)
    assert view.page.evaluate("document.documentElement.scrollWidth") == width
    background = luminance(colour(view.page, "body", "backgroundColor"))
    assert background > 0.8 if scheme == "light" else background < 0.1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground(opened, scheme):
    page = opened("red", scheme=scheme).page
    ground = colour(page, "body", "backgroundColor")

    for selector in ("h1", ".sentence", ".aside", ".subject", ".note", ".jump a", ".balance", ".grid tbody th", ".took"):
        assert contrast(colour(page, selector), ground) >= 4.5, selector
    assert contrast(colour(page, f"{CELLS}.fail", "backgroundColor"), colour(page, f"{CELLS}.pass", "backgroundColor")) >= 2


def test_states_are_told_apart_without_colour(opened):
    page = opened("red").page
    marks = {
        state: page.eval_on_selector(f".legend .c.{state}", "element => getComputedStyle(element, '::before').content")
        for state in ("pass", "fail", "unknown", "untried")
    }

    assert len(set(marks.values())) == 4


def test_the_keyboard_reaches_the_first_red_cell_and_enter_opens_what_happened(opened):
    page = opened("red").page
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('#cells a.c')"):
            break

    assert page.evaluate("document.activeElement.dataset.step") == "publish/exposure@3:after"
    page.keyboard.press("Enter")

    panel = page.locator("#panel")
    assert panel.is_visible()
    assert page.evaluate("document.activeElement.id") == "panel-title"
    text = panel.inner_text()
    assert "exactly-once: trade t-014014 is counted twice" in text
    assert "streamproof prove my_job --only publish/exposure@3:after --seed 7" in text
    assert "after output exposure of batch 3 was published" in text
    assert panel.locator("table.history tbody tr").count() == 12
    assert panel.locator("table.history tr.again th").all_inner_texts() == ["3"]

    page.keyboard.press("Escape")

    assert not panel.is_visible()
    assert page.evaluate("document.activeElement.dataset.step") == "publish/exposure@3:after"


def test_the_arrow_keys_walk_through_the_grid(opened):
    page = opened("red").page
    page.locator(f"{CELLS}.fail").first.focus()
    visited = []
    for key in ("ArrowRight", "ArrowLeft", "ArrowDown", "ArrowUp", "Home", "ArrowLeft", "End"):
        page.keyboard.press(key)
        visited.append(page.evaluate("document.activeElement.dataset.step"))

    assert visited == [
        "publish/late@3:before",
        "publish/exposure@3:after",
        "commit/metrics@3:before",
        "publish/exposure@3:after",
        "start/metadata@0:before",
        "start/metadata@0:before",
        "maintenance/state.0.0@11:after",
    ]
    assert page.locator(f'{CELLS}[tabindex="0"]').count() == 1


def test_a_click_opens_any_cell_and_says_whose_disk_proves_it(opened):
    page = opened("red").page

    page.locator(f'{CELLS}[data-step="publish/late@3:before"]').click()

    assert page.locator("#panel-title").inner_text() == "publish/late@3:before"
    assert "publish/exposure@3:after" in page.locator("#panel .name").inner_text()
    assert "the disk is the same" in page.locator("#panel").inner_text()

    page.locator(f'{CELLS}[data-step="publish/rejected@4:after"]').click()

    assert page.locator("#panel .body").count() == 2  # the image, and the live crash
    assert "--only publish/rejected@4:after+live" in page.locator("#panel").inner_text()
    assert "after output rejected of batch 4 was published" in page.locator("#panel").inner_text()


def test_a_cell_that_was_not_tried_says_so(opened):
    page = opened("unknown").page

    page.locator(f"{CELLS}.untried").first.click()

    assert "Not tried" in page.locator("#panel").inner_text()


def test_the_copy_button_copies_the_replay_line(opened):
    page = opened("red").page
    button = page.locator(".worst button.copy")

    button.click()

    assert button.inner_text() == "Copied"
    page.locator("#filter").focus()
    page.keyboard.press("Control+V")
    assert page.locator("#filter").input_value() == "streamproof prove my_job --only publish/exposure@3:after --seed 7"


def test_the_filter_finds_scenarios_by_words_and_verdict(opened):
    page = opened("red").page
    shown = page.locator("details.s:visible")
    assert shown.count() == 7

    page.locator("#filter").fill("Commit/ @11")
    assert shown.locator("summary code").all_text_contents() == ["commit/metrics@11:after", "commit/commits@11:after"]
    assert page.locator("#matches").inner_text() == "2 of 265"

    page.locator("#filter").fill("")
    page.get_by_role("button", name="pass 258").click()
    assert shown.count() == 258
    assert page.get_by_role("button", name="pass 258").get_attribute("aria-pressed") == "true"
    page.get_by_role("button", name="fail 7").click()
    assert shown.count() == 7


def test_a_scenario_opens_in_the_list_with_its_history(opened):
    page = opened("red").page

    page.locator("details.s summary").first.click()

    row = page.locator("details.s").first
    row.locator("table.history").wait_for()
    assert row.locator("table.history tbody tr").count() == 12
    assert "intake · account" not in row.inner_text()  # the account check failed and stands among the failed ones
    assert "intake · window-contents" in row.inner_text()


def test_without_script_the_page_still_tells_everything(opened):
    page = opened("red", script=False).page

    page.locator(f"{CELLS}.fail").first.click()

    assert page.url.endswith("#s0")
    page.locator("details.s summary").first.click()
    assert page.locator("details.s .replay code").first.is_visible()


@pytest.mark.parametrize("kind", ["green", "red", "shrunk", "unknown"])
def test_the_first_screen_prints_on_one_page_in_light_colours(opened, kind):
    page = opened(kind, scheme="dark").page

    assert page.pdf(prefer_css_page_size=True).count(b"/Type /Page\n") == 1
    page.emulate_media(media="print")
    assert luminance(colour(page, "body", "backgroundColor")) == 1
    assert luminance(colour(page, ".sentence")) < 0.1
    assert page.locator("#cells").is_visible()
    assert not page.locator("#scenarios").is_visible()


def test_wide_things_scroll_in_boxes_of_their_own_on_a_phone(opened):
    page = opened("red", width=390).page

    for selector in (".picture", ".grid-box"):
        inner, outer = page.eval_on_selector(selector, "box => [box.scrollWidth, box.clientWidth]")
        assert inner > outer
        assert outer <= 390
    assert page.eval_on_selector_all(".part", "parts => parts.every(part => part.getBoundingClientRect().width > 300)")


WRONG = "its row is in exposure 2 times, by batch 3; the model has 1"


@pytest.mark.parametrize("width", [1280, 390])
def test_the_first_failure_leads_to_the_smallest_scenario_and_to_the_story_of_its_event(opened, width):
    page = opened("shrunk", width=width).page
    way = page.locator("section.way")

    assert "2 events, 1 batch, 1 fault" in way.inner_text()
    assert WRONG in way.inner_text()
    assert not way.get_by_text("def test_risk_exposure").is_visible()
    way.get_by_text("As a pytest test").click()
    assert way.get_by_text("def test_risk_exposure").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_before_shrinking_the_command_that_does_it_can_be_copied(opened):
    page = opened("followed").page

    page.locator("section.way button.copy").click()
    page.locator("#filter").focus()
    page.keyboard.press("Control+V")

    assert page.locator("#filter").input_value() == "streamproof shrink my_job publish/exposure@3:after"


@pytest.mark.parametrize("where", [".worst a.story-of", "#s0 .checks a.story-of >> nth=0"])
def test_a_click_on_an_event_tells_its_story_there_and_a_second_one_ends_it(opened, where):
    page = opened("shrunk").page
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
    place = page.locator(where)

    place.click()
    assert WRONG in page.locator(".told-here").inner_text()
    assert place.get_attribute("aria-expanded") == "true"
    assert "#" not in page.url

    place.focus()
    page.keyboard.press("Enter")
    assert page.locator(".told-here").count() == 0


def test_the_panel_of_a_crash_point_tells_the_story_too(opened):
    page = opened("followed").page
    page.locator(f'{CELLS}[data-step="publish/exposure@3:after"]').click()

    page.locator("#panel a.story-of").first.click()

    assert WRONG in page.locator("#panel .told-here").inner_text()


def test_an_event_and_a_row_of_the_list_are_found_by_words_and_open_with_a_click(opened):
    page = opened("followed").page
    rows = page.locator("details.t:visible")
    assert rows.count() == 43

    page.locator("#find-story").fill("wrong T-014014")
    assert rows.count() == 2  # the event, and the row that it is in
    assert page.locator(".search output").first.inner_text() == "2 of 43"
    page.locator("#find-story").fill("c17 exposure wrong")
    assert rows.locator(".what").all_inner_texts() == ["event", "row"]
    row = rows.nth(1)
    row.locator("summary").click()
    assert "this row is in exposure 2 times" in row.inner_text()

    row.locator("a.story-of").click()

    assert page.url.endswith("#e0")
    assert page.locator("#e0").is_visible()


def test_a_late_event_of_the_picture_leads_to_its_story(opened):
    page = opened("followed").page
    late = page.locator(".picture a").first

    late.click(force=True)

    assert page.locator(page.evaluate("location.hash")).is_visible()


def test_without_script_stories_are_reached_by_their_links(opened):
    page = opened("shrunk", script=False).page

    page.locator(".worst a.story-of").click()

    assert page.url.endswith("#e0")
    assert page.locator("#e0").is_visible()
    assert not page.locator("#find-story").is_visible()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_both_sides_of_the_state_are_searched_and_scroll_in_boxes_of_their_own(opened, width, scheme):
    page = opened("shrunk", width=width, scheme=scheme).page
    table = page.locator("#state-0")
    rows = table.locator("tbody tr:visible")
    assert rows.count() == 60
    assert colour(page, "#state-0 mark", "backgroundColor") != colour(page, "#state-0 tbody td", "backgroundColor")
    ground = colour(page, "body", "backgroundColor")
    for selector in ("#state-0 .changed th", "#state-1 .gone th", "#state-1 .new th", "#state-1 .none", ".t .end", ".t .bad"):
        assert contrast(colour(page, selector), ground) >= 4.5, selector

    page.locator("#find-state-0").fill("c17 09:01:17")

    assert rows.count() == 1
    assert "not as without a fault" in rows.first.inner_text()
    assert page.locator("#state-1 tbody tr:visible").count() == 2  # the other table is searched by its own
    assert page.locator(".tall").first.evaluate("box => box.clientHeight") <= 460
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_the_way_leads_to_the_state(opened):
    page = opened("shrunk").page

    page.locator('section.way a[href="#state"]').click()

    assert page.locator("#state").bounding_box()["y"] < 300
