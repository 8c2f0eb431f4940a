"""The module's types and words."""

import re
import shutil
import subprocess

import pytest

from deployment import ROOT
from pages import HERE

MODULE = ROOT / "Sources/RollcallBrowser/Module"
TSC = ["tsc", "--target", "es2022", "--module", "es2022", "--moduleResolution", "node", "--lib", "es2022,dom"]


def tsc(*arguments):
    done = subprocess.run([*TSC, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_c6_an_app_in_typescript_compiles_against_the_declarations():
    tsc("--noEmit", "--strict", HERE / "types/consumer.ts")


def test_c6_declarations_and_module_agree(tmp_path):
    """The compiler reads the module's JSDoc, and compares the result with the declarations."""
    built = tmp_path / "built"
    tsc("--allowJs", "--checkJs", "--declaration", "--emitDeclarationOnly", "--outDir", built, MODULE / "rollcall.js")
    declared = tmp_path / "declared"
    declared.mkdir()
    for source, name in ((MODULE / "rollcall.d.ts", "rollcall.d.ts"), (HERE / "types/agree.ts", "agree.ts")):
        shutil.copy(source, declared / name)
    # The generated declarations import the declared types from the same path.
    shutil.copy(built / "rollcall.d.ts", declared / "built.d.ts")
    tsc("--noEmit", declared / "agree.ts")


def test_c6_exactly_what_is_declared_is_exported(page):
    declared = set(re.findall(
        r"^export (?:class|function) (\w+)", (MODULE / "rollcall.d.ts").read_text(encoding="utf-8"), re.M))
    assert declared == set(page.run("return Object.keys(rollcall)"))


@pytest.mark.parametrize("script", ["inline-words", "bundle"])
def test_x5_the_module_has_the_current_words_and_is_what_its_parts_make(script):
    done = subprocess.run([ROOT / "scripts" / script, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("forbidden", ["import ", "eval(", "new Function", "innerHTML", "console."])
def test_c6_the_module_depends_on_nothing_and_does_nothing_behind_ones_back(forbidden):
    code = re.sub(r"^\s*(//|\*|/\*).*$", "", (MODULE / "rollcall.js").read_text(encoding="utf-8"), flags=re.M)
    assert forbidden not in re.sub(r'import\("\./rollcall\.js"\)', "", code)
