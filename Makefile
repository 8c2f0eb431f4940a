# `make run` and `make test` are all that a newcomer needs; both install what is missing.

.DEFAULT_GOAL := help
.PHONY: help setup run test test-browser test-client test-documents test-hiredis test-operations test-terminal
.PHONY: simulate faults attacks fuzz bench bench-growth bench-stages bench-programs bench-micro bench-crowd check-allocations
.PHONY: memory leaks docs browser-module lint format clean
.PHONY: release install uninstall

SWIFT ?= swift
SWIFT_SOURCES := Sources Tests Examples Benchmarks Package.swift
SHELL_SCRIPTS := $(wildcard Tests/*.sh) scripts/document scripts/setup scripts/make-secrets scripts/install scripts/test .ci/run

# Homebrew's folder is not among those that the compiler searches by itself.
BREW := $(shell test "$$(uname -s)" = Darwin && brew --prefix 2>/dev/null)
FLAGS := $(if $(BREW),-Xcc -I$(BREW)/include -Xlinker -L$(BREW)/lib)

# What is measured is what is shipped, with Swift's standard library inside. All builds for release take the same flags, and
# so share what they build.
RELEASE := -c release $(FLAGS) $(if $(BREW),,--static-swift-stdlib)

help: ## list what make can do
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "%-18s %s\n", $$1, $$2 }'

setup: ## install what is missing: hiredis, Redis, Python
	@scripts/setup

run: setup ## a private Redis, two workers and the demo page
	$(SWIFT) run $(FLAGS) rollcall dev

# Many tests start processes of their own: all at once, they would measure the machine's patience.
test: setup ## build, and run all tests
	@scripts/setup test
	SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=4 scripts/test $(SWIFT) test $(FLAGS)

test-client: setup ## build an app that imports only the client, with hiredis hidden
	Tests/consumer.sh

test-browser: setup ## try the module for browsers in headless Chromium; takes ONLY=expression
	@scripts/setup test
	$(SWIFT) build $(FLAGS) --product rollcall
	Tests/browser.sh $(if $(ONLY),-k '$(ONLY)')

test-terminal: setup ## try watch, type and top on a pseudo terminal; takes ONLY=expression
	@scripts/setup test
	$(SWIFT) build $(FLAGS) --product rollcall
	Tests/terminal.sh $(if $(ONLY),-k '$(ONLY)')

test-documents: setup ## hold the OpenAPI and AsyncAPI documents to real workers; takes SECONDS_OF_ATTACK=n, SEED=n, ONLY=expression
	$(SWIFT) build $(FLAGS) --product rollcall
	SECONDS_OF_ATTACK=$(or $(SECONDS_OF_ATTACK),60) $(if $(SEED),SEED=$(SEED)) Tests/documents.sh $(if $(ONLY),-k '$(ONLY)')

test-operations: setup ## try the installation, the unit and the commands of the documentation; takes ONLY=expression
	@scripts/setup test
	$(SWIFT) build $(FLAGS) --product rollcall
	Tests/operations.sh $(if $(ONLY),-k '$(ONLY)')

test-hiredis: setup ## test RollcallRedis against hiredis 1.x, built from the source in a PyPI package
	Tests/hiredis-1x.sh

SEEDS ?= 5000

# Needs neither Redis nor hiredis, and builds nothing that does.
simulate: ## play thousands of simulated deployments; takes SEEDS=n, FROM=n, SEED=n for the story of one, PLANT=mistake, STEPS=1
	$(SWIFT) build $(RELEASE) --product simulate
	.build/release/simulate $(if $(SEED),--seed $(SEED) --trace,--seeds $(SEEDS) $(if $(FROM),--from $(FROM))) $(if $(PLANT),--plant $(PLANT)) $(if $(STEPS),--steps)

# Results are kept in .build/faults.json: a run that was ended goes on where it was, and ONLY= plays some rows alone.
faults: setup ## put every promise to the test on real processes; takes ON=sentinel or cluster, AUTH=jwt or insecure, ONLY=pattern, ROUNDS=n, JOBS=n, FRESH=1
	@scripts/setup faults
	$(SWIFT) build $(RELEASE) --product rollcall
	$(SWIFT) build $(RELEASE) --product faults
	.build/release/faults --jobs $(or $(JOBS),2) $(if $(ON),--on $(ON)) $(if $(AUTH),--auth $(AUTH)) $(if $(ONLY),--only '$(ONLY)') $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(FRESH),--fresh)

bench: bench-programs ## measure workers against floors, built for release, on Linux; takes ROUNDS=n, ONLY=words
	$(MEASURE) --json .build/bench.json
	@$(DRAW) .build/bench.json .build/bench.svg
	@echo 'The figures are in .build/bench.json, and a picture of them in .build/bench.svg.'

bench-growth: bench-programs ## measure how cost grows with devices, rooms, people, workers, signals; takes ROUNDS=n, ONLY=words
	$(MEASURE) --growth --json .build/growth.json
	@$(DRAW) .build/growth.json .build/growth.svg
	@echo 'The figures are in .build/growth.json, and a picture of them in .build/growth.svg.'

# Packets are looked at, which only root may.
bench-stages: bench-programs ## tell where the time of a typing signal goes, as root; takes ROUNDS=n
	$(if $(filter 0,$(shell id -u)),,sudo) python3 Benchmarks/stages.py .build/release/bench $(ROUNDS)

MEASURE = .build/release/bench $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(ONLY),--only '$(ONLY)')
DRAW := sh Tests/venv.sh .build-venv-plots Benchmarks/requirements.txt Benchmarks/plot.py

bench-programs: setup
	$(SWIFT) build $(RELEASE) --product rollcall
	$(SWIFT) build $(RELEASE) --product floor
	$(SWIFT) build $(RELEASE) --product bench

bench-micro: setup ## measure what happens most often, in nanoseconds and allocations, built for release; takes ONLY=pattern
	$(SWIFT) build $(RELEASE) --product micro-bench
	.build/release/micro-bench $(if $(ONLY),--only '$(ONLY)')

# Allocations are the same on any machine, however busy.
check-allocations: setup ## fail where anything of bench-micro allocates more than its table allows; takes ONLY=pattern
	$(SWIFT) build $(RELEASE) --product micro-bench
	.build/release/micro-bench --check Benchmarks/Micro/allocations.txt $(if $(ONLY),--only '$(ONLY)')

# Needs neither Redis nor hiredis.
bench-crowd: ## measure what very many people in one conversation cost their worker, each
	$(SWIFT) build $(RELEASE) --product crowd-bench
	.build/release/crowd-bench

memory: setup ## measure what views leave on the heap, and what observed people cost, built for release
	$(SWIFT) build $(RELEASE) --product rollcall
	$(SWIFT) run $(RELEASE) views

# LeakSanitizer looks, at the end of the program, for what nothing points to any more.
leaks: setup ## open and close views, and look for leaks; on Linux
	@scripts/setup leaks
	$(SWIFT) build $(FLAGS) --product rollcall
	$(SWIFT) build $(FLAGS) --product views
	LSAN_OPTIONS=suppressions=Tests/leaks.supp LD_PRELOAD=$$(ls /usr/lib/*/liblsan.so.0) \
		.build/debug/views --rounds 3000 --people 100

attacks: setup ## play every attack on a real worker, beside a witness; takes TIMES=n, ONLY=pattern
	$(SWIFT) build $(RELEASE) --product rollcall
	$(SWIFT) run $(RELEASE) attacks $(if $(TIMES),--times $(TIMES)) $(if $(ONLY),--only '$(ONLY)')

# What it has come upon stays in .build-fuzz, and the next run goes on from there. Needs a compiler with libFuzzer.
fuzz: setup ## feed what reads strangers' input with a fuzzer's; takes RUNS=n, TIME=seconds, ONLY=target, MERGE=1
	RUNS=$(or $(RUNS),2000000) TIME=$(or $(TIME),0) ONLY="$(ONLY)" MERGE=$(MERGE) Tests/fuzz.sh

# The machine it runs on needs hiredis and no Swift. Names of functions stay in, for readable backtraces; what only debuggers
# read goes.
PROGRAM ?= .build/install/rollcall

release: setup ## build what `make install` installs, with the list of what it is made of (SBOM)
	$(SWIFT) build $(RELEASE) --product rollcall $(if $(BREW),,-Xlinker --strip-debug)
	@mkdir -p .build/install
	@rm -f .build/install/rollcall.cdx.json
	install -m 755 .build/release/rollcall .build/install/rollcall
	SWIFT="$(SWIFT)" scripts/sbom .build/install/rollcall .build/install/rollcall.cdx.json

export PREFIX SYSCONFDIR DESTDIR

install: ## install program, manual, completions, unit; takes PREFIX=/usr/local, SYSCONFDIR=/etc, DESTDIR=
	@scripts/install $(PROGRAM)

uninstall: ## remove what `make install` put there, but no configuration
	@scripts/install --remove

DOCS := .build/documentation

# Needs no hiredis: what is documented is the client.
docs: ## make the documentation of RollcallClient, and say where to read it
	$(SWIFT) build $(FLAGS) --target RollcallClient
	scripts/document $(DOCS)
	@echo "Read it with: python3 -m http.server --directory $(DOCS) 8009"
	@echo "at http://127.0.0.1:8009/documentation/rollcallclient and http://127.0.0.1:8009/tutorials/rollcall"

browser-module: ## make rollcall.js from the modules in Sources/RollcallBrowser/JavaScript
	@scripts/inline-words
	@scripts/bundle

lint: ## check the formatting of Swift, the syntax of scripts, that rollcall.js is current, and what a node is built from
	$(SWIFT) format lint --strict --recursive --parallel $(SWIFT_SOURCES)
	@for script in $(SHELL_SCRIPTS); do bash -n $$script || exit 1; done
	@scripts/inline-words --check
	@scripts/bundle --check
	@SWIFT="$(SWIFT)" scripts/check-targets

format: ## format the Swift sources in place
	$(SWIFT) format --in-place --recursive --parallel $(SWIFT_SOURCES)

clean: ## remove what was built
	$(SWIFT) package clean
