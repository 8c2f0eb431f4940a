"""`make install` installs all files, and `make uninstall` removes them."""

import os
import platform
import shutil
import subprocess

import pytest

from conftest import Installation

COMMANDS = [
    "bench", "dev", "erase", "explain", "load", "send-away", "status", "token", "type", "watch", "worker", "workers"]
SHARE = "usr/local/share"
COMPLETIONS = {
    "bash": f"{SHARE}/bash-completion/completions/rollcall",
    "zsh": f"{SHARE}/zsh/site-functions/_rollcall",
    "fish": f"{SHARE}/fish/vendor_completions.d/rollcall.fish",
}


def run(*arguments, **environment):
    return subprocess.run(
        arguments, capture_output=True, text=True, check=False, env={**os.environ, **environment}, timeout=60)


def test_everything_is_in_its_place(installed):
    wanted = {"usr/local/bin/rollcall", "etc/rollcall/worker.yaml", f"{SHARE}/man/man5/rollcall-worker.yaml.5"}
    wanted |= {f"{SHARE}/man/man1/rollcall{page}.1" for page in ["", *(f"-{command}" for command in COMMANDS)]}
    wanted |= set(COMPLETIONS.values())
    wanted |= {
        f"{SHARE}/doc/rollcall/{file}"
        for file in ("worker.yaml", "redis.acl", "redis-cluster.acl", "sentinel.acl", "redis.conf", "haproxy.cfg")}
    if platform.system() == "Linux":
        wanted.add("usr/local/lib/systemd/system/rollcall@.service")
    assert wanted <= installed.files
    assert (installed / "etc/rollcall/secrets").stat().st_mode & 0o777 == 0o700


def test_the_program_that_was_installed_runs_with_the_configuration_that_was(installed, redis, tmp_path):
    program, configuration = installed / "usr/local/bin/rollcall", installed / "etc/rollcall/worker.yaml"
    assert "worker" in run(program, "--help").stdout
    refused = run(program, "worker", "--config", configuration)
    assert refused.returncode == 78 and "auth.secret_file" in refused.stderr
    secret = tmp_path / "secret"
    secret.write_text("0123456789abcdef" * 4)
    token = run(program, "token", "alice", "--config", configuration, "--secret-file", secret)
    assert token.stdout.count(".") == 2, token.stderr


def test_a_configuration_that_is_there_stays_and_all_else_goes(tmp_path):
    installation = Installation(tmp_path)
    mine = installation / "etc/rollcall/worker.yaml"
    mine.parent.mkdir(parents=True)
    mine.write_text("log:\n  level: debug\n")
    installation.make("install")
    assert mine.read_text() == "log:\n  level: debug\n"
    assert "level: info" in (installation / f"{SHARE}/doc/rollcall/worker.yaml").read_text()
    installation.make("uninstall")
    assert installation.files == {"etc/rollcall/worker.yaml"}


def test_without_a_program_it_says_what_to_do_first(tmp_path):
    with pytest.raises(subprocess.CalledProcessError) as refused:
        subprocess.run(
            ["make", "--silent", "install", f"DESTDIR={tmp_path}", f"PROGRAM={tmp_path}/none"], check=True,
            capture_output=True, text=True, cwd=os.path.dirname(__file__) + "/../..")
    assert "make release" in refused.value.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("shell", COMPLETIONS)
def test_a_shell_takes_its_completions(installed, shell):
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    checked = run(shell, "-n", installed / COMPLETIONS[shell])
    assert (checked.returncode, checked.stderr) == (0, "")


@pytest.mark.parametrize("words, wanted", [
    (["wor"], {"worker"}), (["worker", "--"], {"--config", "--set"}), (["watch", "--tok"], {"--token-file"}),
])
def test_bash_completes_words(installed, words, wanted):
    line = " ".join(["rollcall", *words])
    done = run("bash", "-c", f"""
        source {installed / COMPLETIONS["bash"]}
        COMP_WORDS=({line}) COMP_CWORD={len(words)} COMP_LINE='{line}' COMP_POINT={len(line)}
        $(complete -p rollcall | sed 's/.*-F \\([^ ]*\\).*/\\1/') rollcall {words[-1]} rollcall
        printf '%s\\n' "${{COMPREPLY[@]}}" """, PATH=f"{installed / 'usr/local/bin'}:{os.environ['PATH']}")
    assert wanted <= {word.strip() for word in done.stdout.split("\n")}, done.stderr


@pytest.mark.skipif(not shutil.which("groff"), reason="groff is not installed")
def test_the_manual_is_read_without_a_warning(installed):
    pages = sorted((installed / f"{SHARE}/man").rglob("*.[15]"))
    assert len(pages) >= len(COMMANDS) + 2
    for page in pages:
        checked = run("groff", "-k", "-man", "-Tutf8", "-ww", "-z", page)
        assert (checked.returncode, checked.stderr) == (0, ""), page


def test_the_manual_names_what_the_program_takes(installed):
    shown = run("man", "-l", installed / f"{SHARE}/man/man1/rollcall-worker.1", LC_ALL="C.UTF-8", MANWIDTH="100").stdout
    assert all(words in shown for words in ("NAME", "--config config", "--set key=value", "69", "SEE ALSO"))
    assert "exit-on-stdin-end" not in shown
    keys = run("man", "-l", installed / f"{SHARE}/man/man5/rollcall-worker.yaml.5", LC_ALL="C.UTF-8").stdout
    assert "url: redis://127.0.0.1:6379" in keys
