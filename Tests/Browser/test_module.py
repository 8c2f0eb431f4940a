"""The module's types and words."""

import re
import shutil
import subprocess

import pytest

from pages import HERE, MODULE

TSC = ["tsc", "--target", "es2022", "--module", "es2022", "--moduleResolution", "node", "--lib", "es2022,dom"]


def tsc(*arguments):
    done = subprocess.run([*TSC, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_c6_an_app_in_typescript_compiles_against_the_declarations():
    tsc("--noEmit", "--strict", HERE / "types/consumer.ts")


def test_c6_declarations_and_module_agree(tmp_path):
    """The compiler reads the modules' JSDoc, and compares the result with the declarations."""
    source, built = tmp_path / "source", tmp_path / "built"
    shutil.copytree(MODULE, source)
    # Debian's compiler is older than import attributes.
    texts = source / "texts.js"
    texts.write_text(texts.read_text(encoding="utf-8").replace(' with { type: "json" }', ""), encoding="utf-8")
    tsc("--allowJs", "--checkJs", "--resolveJsonModule", "--allowSyntheticDefaultImports", "--declaration",
        "--emitDeclarationOnly", "--outDir", built, source / "rollcall.js")
    # The generated declarations import the declared types from the same path.
    (built / "rollcall.d.ts").rename(built / "built.d.ts")
    shutil.copy(MODULE / "rollcall.d.ts", built)
    shutil.copy(HERE / "types/agree.ts", built)
    tsc("--noEmit", built / "agree.ts")


def test_c6_exactly_what_is_declared_is_exported(page):
    declared = set(re.findall(
        r"^export (?:class|function) (\w+)", (MODULE / "rollcall.d.ts").read_text(encoding="utf-8"), re.M))
    assert declared == set(page.run("return Object.keys(rollcall)"))


@pytest.mark.parametrize("file", sorted(MODULE.glob("*.js")), ids=lambda file: file.name)
def test_c6_the_module_depends_on_nothing_and_does_nothing_behind_ones_back(file):
    code = re.sub(r"^\s*(//|\*|/\*).*$", "", file.read_text(encoding="utf-8"), flags=re.M)
    for forbidden in ("import(", "eval(", "new Function", "innerHTML", "console."):
        assert forbidden not in code
    assert all(name.startswith("./") for name in re.findall(r"""\bfrom\s+["']([^"']+)""", code))
