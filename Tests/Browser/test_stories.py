"""The stories on a clock of their own, told in `stories/` and played in a real page."""

import re

import pytest

import pages

STORIES = [
    (file.stem, name)
    for file in sorted((pages.HERE / "stories").glob("*.js"))
    for name in re.findall(r'^  "(.+?)":', file.read_text(encoding="utf-8").partition("export const stories")[2], re.M)
]

PLAY = """
    const [file, name, done] = arguments;
    import(`/stories/${file}.js`)
      .then(({ stories }) => stories[name]())
      .then((told) => done({ told: told ?? null }), (error) => done({ failed: error.stack }));
"""


@pytest.fixture(scope="module")
def stage(driver, site):
    page = pages.Page(driver, f"{site}/page.html")
    yield page
    page.close()


@pytest.mark.parametrize(("file", "name"), STORIES, ids=[f"{file}: {name}" for file, name in STORIES])
def test_story(stage, file, name):
    stage.show()
    result = stage.driver.execute_async_script(PLAY, file, name)
    assert "failed" not in result, result["failed"]
    if result["told"]:
        print(result["told"])
