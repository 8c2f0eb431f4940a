"""Which commands of the documentation are not run, which ones run until stopped, and what each section requires."""

import re

# Commands that are not run here, each with the reason. All others are run.
NOT_RUN = [
    (r"make run$", "does not end; Tests/IntegrationTests/DevTests does the same"),
    (r"(mkdir hello|swift package|swift run hello)", "builds a package for minutes; Tests/consumer.sh builds such a one"),
    (r"swift build -c release", "builds for minutes; what is built stands there already, as another build of it"),
    (r"swift test --filter", "is one of the tests, of which this is one too"),
    (r"(sudo )?make (bench|bench-growth|bench-stages|bench-micro|bench-crowd|check-allocations|memory|leaks|faults|simulate|release)\b", "builds for release, and measures for minutes"),
    (r"ROLLCALL=\S+ python3 Benchmarks/Units/units.py", "measures for minutes; the arithmetic with its figures is run"),
    (r"rollcall load (?!--devices 500 )", "names workers and secrets of others; LoadTests run such ones"),
    (r"\.build/release/faults", "shows what `make faults` has measured"),
    (r"rollcall (explain \w+|workers)$", "wants devices on two workers, in grace, or of a dead one: OperatorTests make them"),
    (r"docker compose", "wants a Docker daemon, and the network"),
    (r"cat fullchain\.pem\b", "wants the certificate of a real authority; test_haproxy serves one for trials"),
    (r"(sudo )?systemctl\b", "wants a machine that systemd runs; the unit has tests of its own"),
    (r"sudo make install\b", "test_install does it, into a folder of its own"),
    (r"sudo scripts/make-secrets\b", "writes to /etc; without a folder it is run"),
]

# Commands that run until they are stopped, as a reader runs them in a separate terminal.
STAYS = re.compile(r"(^|/)rollcall (worker|watch|dev)\b|^rollcall top(?!.*--once)|^rollcall type (?!.*--for)|\b[PS]*SUBSCRIBE\b")

REDIS = "redis-server --save '' --daemonize yes >/dev/null"
WORKER = "rollcall worker --set auth.mode=insecure --set worker.id=w1 --set log.level=error >/dev/null &"
SECRETS = "scripts/make-secrets >/dev/null"
SIGNED = "rollcall worker --set auth.secret_file=secrets/jwt_secret --set log.level=error >/dev/null &"
READY = "until curl --silent --fail --output /dev/null http://127.0.0.1:8081/ready; do sleep 0.1; done"
MEMBERS = (
    "curl --silent --fail --request PUT --json '{\"members\":{\"alice\":\"Alice\",\"bob\":\"Bob\"}}'"
    " http://127.0.0.1:8081/v1/conversations/c42/members"
)
SCRIPT = "printf 'type Hello\\nsend\\n' >demo.txt"
ON_PATH = 'PATH="$PWD/.build/debug:$PATH"'

# What every section requires: the program, a Redis and a worker; and the requirements of certain sections.
USUAL = [ON_PATH, REDIS, WORKER, READY]
GIVEN = {
    "docs/admin.md: Members in pages": [*USUAL, MEMBERS],
    "docs/doctor.md: Run the doctor": [*USUAL, SECRETS],
    "docs/getting-started.md: Watch two workers with redis-cli": [],
    "docs/metrics.md: Scraping": [*USUAL, SECRETS],
    "docs/operating.md: A first worker": [ON_PATH, REDIS],
    "docs/redis.md: TLS": [ON_PATH],
    "docs/redis.md: Sentinel": [ON_PATH],
    "docs/redis.md: Cluster": [ON_PATH],
    "docs/scaling.md: A plan for millions of devices": [],
    "docs/terminal.md: Scripts": [*USUAL, SCRIPT],
    "docs/operating.md: Looking inside": [ON_PATH, REDIS, SECRETS, SIGNED, READY],
}


def reason(command):
    """Returns why a command is not run, or nothing."""
    return next((why for pattern, why in NOT_RUN if re.match(pattern, command)), None)
