"""scripts/bundle: what it makes of modules, and what it refuses."""

import importlib.machinery
import importlib.util

import pytest

from deployment import ROOT


@pytest.fixture(scope="module")
def script():
    """The script as a module, since a process for each test would take seconds on a busy machine."""
    loader = importlib.machinery.SourceFileLoader("bundle", str(ROOT / "scripts/bundle"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("bundle", loader))
    loader.exec_module(module)
    return module


@pytest.fixture
def bundle(script, tmp_path):
    """Bundles modules, given by name; gives the error, or None, and the bundle."""
    def run(modules, *flags):
        folder = tmp_path / "modules"
        folder.mkdir(exist_ok=True)
        for name, text in modules.items():
            (folder / f"{name}.js").write_text(text, encoding="utf-8")
        made, error = tmp_path / "made.js", None
        try:
            script.main([*flags, str(folder / "entry.js"), str(made)])
        except SystemExit as end:
            error = end.code
        return error, made.read_text(encoding="utf-8") if made.is_file() else None
    return run


ENTRY = '// What this is.\n\nexport { one } from "./a.js";\n'


def test_a_bundle_has_each_module_after_those_it_imports_with_its_comments_and_exports(bundle):
    error, made = bundle({
        "entry": ENTRY + 'export { Two } from "./b.js";\n',
        "a": '// The first.\n\nimport {\n  Two, three,\n} from "./b.js";\nimport { four } from "./c.js";\n\n'
             '/** Makes {@link import("../made.js").One}. */\nexport function one() { return [Two, three, four]; }\n',
        "b": 'import { four } from "./c.js";\n\nexport class Two {}\nexport const three = `${four}`;\n',
        "c": "export const four = 4;\n",
    })
    assert error is None
    assert made.startswith("// Made by `make browser-module`")
    assert made.partition("\n\n")[2] == """\
// What this is.

// ---- c.js

const four = 4;

// ---- b.js

export class Two {}
const three = `${four}`;

// ---- a.js

// The first.

/** Makes {@link import("./made.js").One}. */
export function one() { return [Two, three, four]; }
"""


def test_functions_and_classes_in_expressions_declare_nothing(bundle):
    error, made = bundle({
        "entry": ENTRY,
        "a": 'import { two } from "./b.js";\n\nexport const one = async function three() {};\n'
             "const four = class three {};\nfour.call(two, function three() {});\n",
        "b": "export async function two() {}\nconst five = function three() {};\nfunction* six() {}\n",
    })
    assert error is None
    assert "\nasync function two()" in made


def test_properties_keys_strings_comments_and_regular_expressions_name_nothing(bundle):
    error, _ = bundle({
        "entry": ENTRY,
        "a": 'import { two } from "./b.js";\n\n'
             "export const one = (x) => [two.three, x?.three, { three: 1 }, 'three', `three${/three`'\"[/]/}`, x / 2];"
             " // three\n",
        "b": "export const two = {};\nconst three = 3;\n",
    })
    assert error is None


def test_a_bundle_that_is_not_current_fails_the_check_and_is_left_alone(bundle):
    modules = {"entry": ENTRY, "a": "export const one = 1;\n"}
    stale = "bundle: made.js is not what its modules make: run `make browser-module`"
    assert bundle(modules, "--check") == (stale, None)
    _, made = bundle(modules)
    assert bundle(modules, "--check") == (None, made)
    assert bundle(modules | {"a": "export const one = 2;\n"}, "--check") == (stale, made)


B = "export const two = 2;\n"


@pytest.mark.parametrize(("modules", "error"), [
    ({"a": 'import { two } from "./b.js";\nexport const one = two;\n',
      "b": 'import { one } from "./a.js";\nexport const two = one;\n'}, "b.js:1: a cycle of imports: a.js → b.js → a.js"),
    ({"a": 'import { one } from "./a.js";\nexport const two = one;\n'}, "a.js:1: a cycle of imports: a.js → a.js"),
    ({"a": 'import { two } from "./b.js";\nexport const one = two;\nconst x = 1;\n', "b": f"{B}function x() {{}}\n"},
     "a.js:3: declares `x`, as b.js does: rename one of them"),
    ({"a": 'import { two } from "./b.js";\nexport const one = (x) => two + x;\n', "b": f"{B}const x = 1;\n"},
     "a.js:2: uses the name `x`, which b.js declares: import it, or rename one of them"),
    ({"a": 'import { two } from "./b.js";\nexport const one = two;\n', "b": "const two = 2;\n"},
     "a.js:1: b.js does not export `two`"),
    ({"a": 'import { two } from "./b.js";\nexport const one = 1;\n', "b": B}, "a.js:1: imports `two` and does not"),
    ({"a": "export const one = 1;\nexport const two = 2;\n"}, "a.js:2: exports `two`, which no module imports"),
    ({"a": "export const one = 1;\n", "b": B}, "b.js:1: no module imports this file"),
    ({"a": 'import { two } from "./b.js";\nexport const one = two;\n'}, "a.js:1: there is no b.js"),
    ({"a": 'import two from "./b.js";\n'}, 'a.js:1: write `import { name, other } from "./file.js";`'),
    ({"a": 'import * as two from "./b.js";\n'}, 'a.js:1: write `import { name, other } from "./file.js";`'),
    ({"a": 'import { two as three } from "./b.js";\n'}, 'a.js:1: write `import { name, other } from "./file.js";`'),
    ({"a": 'import "./b.js";\n'}, 'a.js:1: write `import { name, other } from "./file.js";`'),
    ({"a": 'import { two } from "two";\n'}, 'a.js:1: write `import { name, other } from "./file.js";`'),
    ({"a": 'import { two } from "../b.js";\n'}, 'a.js:1: write `import { name, other } from "./file.js";`'),
    ({"a": 'import { two } from "./b.js"\nexport const one = two;\n', "b": B},
     'a.js:1: write `import { name, other } from "./file.js";`'),
    ({"a": 'import { two } from "./b.js";\n// Why.\nimport { two } from "./c.js";\n'}, "a.js:3: imports `two` twice"),
    ({"a": 'import { two } from "./b.js";\n// Why.\nimport { three } from "./b.js";\n'},
     "a.js:1: comments between imports would be lost"),
    ({"a": 'export const one = 1;\nimport { two } from "./b.js";\n'}, "a.js:2: imports stand at the top of a module"),
    ({"a": 'export const one = () => import("./b.js");\n'}, "a.js:1: imports stand at the top of a module"),
    ({"a": "export default class One {}\n"}, "a.js:1: export a class, function, async function, const or let where"),
    ({"a": "const one = 1;\nexport { one };\n"}, "a.js:2: export a class, function, async function, const or let where"),
    ({"a": "export const one = 1, two = 2;\n"}, "a.js:1: declare each name in a statement of its own"),
    ({"a": "export const { one } = {};\n"}, "a.js:1: declare one name after `const`"),
    ({"a": "const one = 1\nconst two = 2;\n"}, "a.js:2: end the statement before this with `;`"),
    ({"a": "export const one = 1\n"}, "a.js:1: end the last statement with `;`"),
    ({"a": "export const one = 1;\nfunction one() {}\n"}, "a.js:2: declares `one` twice"),
    ({"a": "{ var one = 1; }\n"}, "a.js:1: write `const` or `let` instead of `var`"),
    ({"a": "export const one = (1;\n"}, "a.js:2: `(` is not closed"),
    ({"a": "export const one = 1);\n"}, "a.js:1: `)` closes nothing"),
    ({"a": "export const one = 'one;\n"}, "a.js:1: cannot read this text"),
    ({"entry": ENTRY + "const two = 2;\n", "a": "export const one = 1;\n"}, "entry.js:4: the entry module may"),
])
def test_what_would_be_bundled_wrongly_is_refused_with_its_place(bundle, modules, error):
    refused, made = bundle({"entry": ENTRY} | modules)
    assert refused.startswith(f"bundle: {error}")
    assert made is None
