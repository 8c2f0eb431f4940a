"""The module's types and words."""

import json
import re
import shutil
import subprocess

import pytest

from deployment import ROOT
from pages import FILES, HERE, MODULE
from runtimes import node_version

TSC = ["tsc", "--target", "es2022", "--module", "es2022", "--moduleResolution", "node", "--lib", "es2022,dom"]


def tsc(*arguments):
    done = subprocess.run([*TSC, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_c6_an_app_in_typescript_compiles_against_the_declarations():
    tsc("--noEmit", "--strict", HERE / "types/consumer.ts")


def test_c6_an_app_with_react_compiles_against_the_declarations(tmp_path):
    """As bundlers and older compilers find them, in a folder of packages."""
    package = tmp_path / "node_modules/rollcall"
    shutil.copytree(MODULE, package / MODULE.relative_to(ROOT))
    shutil.copy(ROOT / "package.json", package)
    for file in ("consumer-react.ts", "react.d.ts"):
        shutil.copy(HERE / "types" / file, tmp_path)
    tsc("--noEmit", "--strict", tmp_path / "react.d.ts", tmp_path / "consumer-react.ts")


def test_c6_declarations_and_module_agree(tmp_path):
    """The compiler reads the modules' JSDoc, and compares the result with the declarations."""
    source, built = tmp_path / "source", tmp_path / "built"
    shutil.copytree(MODULE, source)
    tsc("--allowJs", "--checkJs", "--declaration", "--emitDeclarationOnly", "--outDir", built, source / "rollcall.js")
    # The generated declarations import the declared types from the same path.
    (built / "rollcall.d.ts").rename(built / "built.d.ts")
    shutil.copy(MODULE / "rollcall.d.ts", built)
    shutil.copy(HERE / "types/agree.ts", built)
    tsc("--noEmit", built / "agree.ts")


def test_c6_exactly_what_is_declared_is_exported(page):
    declared = set(re.findall(
        r"^export (?:class|function) (\w+)", (MODULE / "rollcall.d.ts").read_text(encoding="utf-8"), re.M))
    assert declared == set(page.run("return Object.keys(rollcall)"))


@pytest.mark.skipif(node_version() < 20, reason="Node.js has a WebSocket from version 20 on")
def test_c6_the_module_runs_in_node(worker, tmp_path):
    """Before version 22, Node.js has its WebSocket only when asked."""
    script = tmp_path / "app.mjs"
    script.write_text(f"""
        import {{ RollcallClient, typingText }} from {json.dumps(str(MODULE / "rollcall.js"))};
        const names = async (user) => user.toUpperCase();
        const [alice, bob] = ["alice", "bob"].map((token) => new RollcallClient({{ url: process.argv[2], token, names }}));
        for (const client of [alice, bob]) client.connect();
        const input = bob.typingInput("c42");
        const timer = setInterval(() => input.keepTyping(), 500);
        for await (const typing of alice.typing("c42")) if (typing.typists[0]?.name) {{
          console.log(typingText(typing, {{ language: "en" }}));
          break;
        }}
        clearInterval(timer);
        await alice.disconnect();
        await bob.close();
        // What would keep the process.
        console.log(process.getActiveResourcesInfo().filter((each) => each === "Timeout").length);
    """, encoding="utf-8")
    url = worker().edge
    without = subprocess.run(
        ["node", "--no-experimental-websocket", "--input-type=module", "--eval",
         f"import {{ RollcallClient }} from {json.dumps(str(MODULE / 'rollcall.js'))};"
         "globalThis.WebSocket = undefined;"
         f"const client = new RollcallClient({{ url: {json.dumps(url)}, token: 'alice' }});"
         "client.connection.subscribe(({ status, error }) => status === 'failed' && console.log(error.message));"
         "client.connect();"], capture_output=True, text=True, timeout=20, check=True)
    assert "Node.js has one from version 22" in without.stdout
    done = subprocess.run(["node", "--experimental-websocket", script, url], capture_output=True, text=True, timeout=30, check=True)
    assert done.stdout == "BOB is typing…\n0\n"


@pytest.mark.skipif(node_version() < 20, reason="the test uses Node.js's modules in contexts")
def test_c6_the_module_runs_where_there_is_only_the_language_a_websocket_and_timers(tmp_path):
    """As in React Native, whose runtime lacks most of what browsers have, and whose URL is odd."""
    script = tmp_path / "bare.mjs"
    script.write_text(r"""
        import fs from "node:fs";
        import path from "node:path";
        import vm from "node:vm";
        // React Native's URL: a slash at the end, and nothing but the text.
        class URL { constructor(text) { this.href = `${text}/`; } get hostname() { throw new Error("not implemented"); } }
        const told = [];
        const context = vm.createContext({ URL, setTimeout, clearTimeout, told, finished: () => {} });
        for (const name of ["Intl", "FinalizationRegistry", "WebAssembly", "SharedArrayBuffer", "Atomics", "console"]) {
          vm.runInContext(`delete globalThis.${name}`, context);
        }
        const modules = new Map();
        const load = async (file) => {
          if (!modules.has(file)) modules.set(file, new vm.SourceTextModule(fs.readFileSync(file, "utf8"), { context, identifier: file }));
          return modules.get(file);
        };
        const entry = new vm.SourceTextModule(`
          import { addLanguage, changeWords, lastSeenText, RollcallClient, typingText } from "./rollcall.js";
          import { FakeWorker } from "./testing.js";
          const worker = new FakeWorker();
          const claims = "eyJzdWIiOiJhbGljZSIsImRldmljZSI6InBob25lIn0";
          const alice = worker.client("alice", { url: "wss://chat.example/v1/connect", token: \`x.\${claims}.y\` });
          globalThis.WebSocket = undefined;
          const urls = [];
          alice.addEventListener("wire", ({ detail }) => urls.push(detail.sent ?? ""), { once: true });
          alice.connect();
          const line = alice.typing("c42")[Symbol.asyncIterator]();
          const bob = worker.person("bob", { name: "Bo\u0308b \u{1F600}".repeat(9) });
          told.push((await line.next()).value.count);
          bob.types("c42");
          const typing = (await line.next()).value;
          for (const language of ["pl", "zh-TW", undefined]) told.push(typingText(typing, { language, longestName: 3 }));
          told.push(lastSeenText({ user: "bob", status: "offline", lastSeen: 0 }, 3_600_000 * 5, { style: "exact" }));
          changeWords("en", { typing: { someone: "A colleague {verb}" } });
          try { alice.followPage(); } catch (error) { told.push(error.message); }
          const input = alice.typingInput("c42");
          input.edited("x");
          await new Promise((resolve) => setTimeout(resolve, 400));
          told.push(worker.typists("c42").join(), JSON.parse(urls[0]).device === undefined);
          await alice.close();
        `, { context, identifier: process.argv[2] + "/entry.js" });
        const linker = (name, from) => load(path.resolve(path.dirname(from.identifier), name));
        await entry.link(linker);
        await entry.evaluate();
        console.log(JSON.stringify(told));
    """, encoding="utf-8")
    done = subprocess.run(["node", "--experimental-vm-modules", "--no-warnings", script, MODULE], capture_output=True, text=True,
                          timeout=30, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [
        0, "Bo\u0308… pisze…", "Bo\u0308…正在輸入…", "Bo\u0308… is typing…", "Last seen 5 hours ago",
        "followPage needs a page: elsewhere, call setPhase and inputHappened", "bob,alice", True]


# What only a page has.
PAGE_ONLY = re.compile(r"onPage|attention\.js|dispatchEvent|gc\(|collections|document|matchMedia|location|performance\.memory|countObjects|PageTransitionEvent|navigator|mistakesOf")


@pytest.mark.skipif(node_version() < 20, reason="Node.js has what the stories need from version 20 on")
def test_c6_the_stories_that_need_no_page_pass_in_node(tmp_path):
    hooks, script = tmp_path / "hooks.mjs", tmp_path / "stories.mjs"
    hooks.write_text(f"""
        export const resolve = (name, context, next) => next(/^\\/[^/]+$/.test(name)
          ? new URL("file://{MODULE}" + name).href : name, context);
    """, encoding="utf-8")
    script.write_text(r"""
        import fs from "node:fs";
        import { register } from "node:module";
        register(new URL("hooks.mjs", import.meta.url));
        // Node.js has these by another name, or later.
        globalThis.CloseEvent ??= class extends Event {};
        globalThis.fetch = async () => ({ json: async () => JSON.parse(fs.readFileSync(process.argv[4], "utf8")) });
        let count = 0;
        for (const file of fs.readdirSync(process.argv[2]).filter((each) => each.endsWith(".js") && each !== "world.js")) {
          const { stories = {} } = await import(`${process.argv[2]}/${file}`);
          for (const [name, story] of Object.entries(stories)) {
            if (new RegExp(process.argv[3]).test(story) || file === "situations.js") continue;
            try {
              await story();
              count += 1;
            } catch (error) {
              console.log(`${file}: ${name}: ${error.stack}`);
              process.exitCode = 1;
            }
          }
        }
        console.log(count);
        process.exit();
    """, encoding="utf-8")
    done = subprocess.run(["node", "--no-warnings", script, HERE / "stories", PAGE_ONLY.pattern, FILES["/golden.json"]],
                          capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(done.stdout.splitlines()[-1]) >= 120


def test_c6_what_uses_private_fields_is_left_alone_by_vues_reactive(page):
    """Vue makes proxies of objects whose type it knows by `Object.prototype.toString`, as of plain ones."""
    assert page.run("""
        const client = new rollcall.RollcallClient({ url: "ws://one.example", token: "alice" });
        return [client, client.typing("c42"), client.typingInput("c42")].map((each) => Object.prototype.toString.call(each));
    """) == ["[object RollcallClient]", "[object Updates]", "[object TypingInput]"]


@pytest.mark.parametrize("file", sorted(MODULE.glob("*.js")), ids=lambda file: file.name)
def test_c6_the_module_depends_on_nothing_and_does_nothing_behind_ones_back(file):
    code = re.sub(r"^\s*(//|\*|/\*).*$", "", file.read_text(encoding="utf-8"), flags=re.M)
    for forbidden in ("import(", "eval(", "new Function", "innerHTML"):
        assert forbidden not in code
    # What nobody listens to, and an app's own error where the platform reports none, go through two functions.
    assert code.count("console") == (2 if file.name == "messages.js" else 0)
    assert all(name.startswith("./") or (file.name, name) == ("react.js", "react") for name in re.findall(r"""\bfrom\s+["']([^"']+)""", code))
