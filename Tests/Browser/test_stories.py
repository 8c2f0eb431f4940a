"""Runs the stories in `stories/` in a real page, with a test clock."""

import re

import pytest

import pages

STORIES = [
    (file.stem, name)
    for file in sorted((pages.HERE / "stories").glob("*.js"))
    for name in re.findall(r'^  "(.+?)":', file.read_text(encoding="utf-8").partition("export const stories")[2], re.M)
]

PLAY = """
    const [file, name] = arguments;
    window.result = null;
    import(`/stories/${file}.js`)
      .then(({ stories }) => stories[name]())
      .then((told) => { result = { told: told ?? null }; }, (error) => { result = { failed: error.stack }; });
"""

def count_objects(driver):
    """Counts the objects with the prototype of Object, after a garbage collection."""
    prototype = driver.execute_cdp_cmd("Runtime.evaluate", {"expression": "Object.prototype"})["result"]["objectId"]
    objects = driver.execute_cdp_cmd("Runtime.queryObjects", {"prototypeObjectId": prototype})["objects"]["objectId"]
    count = driver.execute_cdp_cmd("Runtime.callFunctionOn", {
        "objectId": objects, "functionDeclaration": "function () { return this.length; }", "returnByValue": True})
    for each in (objects, prototype):
        driver.execute_cdp_cmd("Runtime.releaseObject", {"objectId": each})
    return count["result"]["value"]


@pytest.fixture(scope="module")
def stage(driver, site):
    page = pages.Page(driver, f"{site}/page.html")
    yield page
    page.close()


@pytest.mark.parametrize(("file", "name"), STORIES, ids=[f"{file}: {name}" for file, name in STORIES])
def test_story(stage, file, name):
    stage.run(PLAY, file, name)
    while stage.until(f"{name} ends", "window.result ? 'ended' : window.countObjects && 'counts'", within=120) == "counts":
        stage.run("const count = countObjects; countObjects = null; count(arguments[0])", count_objects(stage.driver))
    result = stage.run("return result")
    assert "failed" not in result, result["failed"]
    if result["told"]:
        print(result["told"])
