# `make run` and `make test` are all that a newcomer needs; both install what is missing.
.DEFAULT_GOAL := help
.PHONY: help setup run test test-browser module soak soak-programs programs simulate faults attacks fuzz bench bench-micro
.PHONY: check-allocations docs lint format clean release install uninstall

SWIFT ?= swift
SWIFT_SOURCES := Sources Tests Examples Benchmarks Package.swift
# Homebrew's folder is not among those that the compiler searches by itself.
BREW := $(shell test "$$(uname -s)" = Darwin && brew --prefix 2>/dev/null)
FLAGS := $(if $(BREW),-Xcc -I$(BREW)/include -Xlinker -L$(BREW)/lib)
# What is measured is what is shipped, with Swift's standard library inside. All builds for release take the same flags, and
# so share what they build.
RELEASE := -c release $(FLAGS) $(if $(BREW),,--static-swift-stdlib)
# Package.swift has the programs of suites and benchmarks only when asked.
WITH_PROGRAMS := ROLLCALL_PROGRAMS=1 $(SWIFT) build
release = for product in $(1); do $(WITH_PROGRAMS) $(RELEASE) --product $$product || exit 1; done

help: ## list what make can do
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "%-18s %s\n", $$1, $$2 }'

setup: ## install what is missing: hiredis and Redis
	@scripts/setup

run: ## a private Redis, two workers and the demo page
	@echo "make run: installs what is missing, builds, and starts a private Redis, two workers and the demo page."
	@test -x .build/debug/rollcall || echo "The first build takes about five minutes on two cores: it counts its steps in brackets."
	@scripts/setup
	$(SWIFT) run $(FLAGS) rollcall dev

test: setup ## build, and run the tests; takes ONLY=pattern
	SWIFT="$(SWIFT)" ONLY='$(ONLY)' scripts/test $(FLAGS)
	@scripts/check-snippets

test-browser: ## try the module for browsers, the demo and the live page in headless Chromium; takes ONLY=expression
	@scripts/setup browser
	$(SWIFT) build $(FLAGS) --product rollcall
	Tests/browser.sh $(if $(ONLY),-k '$(ONLY)')

module: ## make one file of the module for browsers, .build/rollcall.min.js
	@scripts/setup module
	esbuild Sources/RollcallBrowser/Module/rollcall.js --bundle --minify --format=esm --outfile=.build/rollcall.min.js

soak: ## test what takes long, for an hour, and other seeds and faults each time; takes MINUTES=n, STEP=name
	@scripts/setup soak
	@scripts/setup browser
	MINUTES=$(MINUTES) scripts/soak $(STEP)

soak-programs: setup
	$(call release,rollcall simulate faults attacks micro-bench)

programs: setup ## build all programs of soak and bench, for debugging, as CI does
	$(WITH_PROGRAMS) $(FLAGS)
	ROLLCALL_FUZZ=1 $(WITH_PROGRAMS) $(FLAGS) --target fuzz

SEEDS ?= 5000

simulate: ## play simulated deployments; takes SEEDS=n, FROM=n, SEED=n for the story of one, PLANT=mistake, STEPS=1
	$(call release,simulate)
	.build/release/simulate $(if $(SEED),--seed $(SEED) --trace,--seeds $(SEEDS) $(if $(FROM),--from $(FROM))) $(if $(PLANT),--plant $(PLANT)) $(if $(STEPS),--steps)

# Results are kept in .build/faults.json: a run that was ended goes on where it was, and ONLY= plays some rows alone.
faults: ## put each promise to the test on real processes; takes ON=sentinel or cluster, AUTH=jwt or insecure, ONLY=pattern, ROUNDS=n, JOBS=n, FRESH=1
	@scripts/setup soak
	$(call release,rollcall faults)
	.build/release/faults --jobs $(or $(JOBS),2) $(if $(ON),--on $(ON)) $(if $(AUTH),--auth $(AUTH)) $(if $(ONLY),--only '$(ONLY)') $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(FRESH),--fresh)

attacks: setup ## play every attack on a real worker, beside a witness; takes TIMES=n, ONLY=pattern
	$(call release,rollcall attacks)
	.build/release/attacks $(if $(TIMES),--times $(TIMES)) $(if $(ONLY),--only '$(ONLY)')

# What it has come upon stays in .build-fuzz, and the next run goes on from there. Needs a compiler with libFuzzer.
fuzz: setup ## feed what reads strangers' input with a fuzzer's; takes RUNS=n, TIME=seconds, ONLY=target, MERGE=1
	RUNS=$(or $(RUNS),2000000) TIME=$(or $(TIME),0) ONLY="$(ONLY)" MERGE=$(MERGE) Tests/fuzz.sh

bench: setup ## measure workers against a floor, built for release, on Linux; takes ROUNDS=n, ONLY=words, AGAINST=program
	$(call release,rollcall floor bench)
	.build/release/bench $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(ONLY),--only '$(ONLY)') $(if $(AGAINST),--against '$(AGAINST)')

bench-micro: setup ## measure what happens most often, in nanoseconds and allocations, built for release; takes ONLY=pattern
	$(call release,micro-bench)
	.build/release/micro-bench $(if $(ONLY),--only '$(ONLY)')

# Allocations are the same on any machine, however busy.
check-allocations: setup ## fail where anything of bench-micro allocates more than its table allows; takes ONLY=pattern
	$(call release,micro-bench)
	.build/release/micro-bench --check Benchmarks/Micro/allocations.txt $(if $(ONLY),--only '$(ONLY)')

# Runs without Swift, but with hiredis. Names of functions stay in, for readable backtraces; what only debuggers read goes.
release: setup ## build what `make install` installs
	$(SWIFT) build $(RELEASE) --product rollcall $(if $(BREW),,-Xlinker --strip-debug)
	@mkdir -p .build/install
	install -m 755 .build/release/rollcall .build/install/rollcall

PROGRAM ?= .build/install/rollcall
export PREFIX SYSCONFDIR DESTDIR

install: ## install program, unit and configuration; takes PREFIX=/usr/local, SYSCONFDIR=/etc, DESTDIR=
	@scripts/install $(PROGRAM)

uninstall: ## remove what `make install` put there, but no configuration
	@scripts/install --remove

docs: ## make the documentation of RollcallClient, and say where to read it
	$(SWIFT) build $(FLAGS) --target RollcallClient
	scripts/document .build/documentation
	@echo "Read it with: python3 -m http.server --directory .build/documentation 8009"
	@echo "at http://127.0.0.1:8009/documentation/rollcallclient"

lint: ## check formatting, scripts, documentation, what a node and a client are built from, and Swift for Apple's platforms
	@scripts/setup lint
	$(SWIFT) format lint --strict --recursive --parallel $(SWIFT_SOURCES)
	@for script in $$(grep -lE '^#!.*sh$$' scripts/* Tests/*.sh Examples/*/*.sh .ci/run); do bash -n $$script || exit 1; done
	@SWIFT="$(SWIFT)" scripts/check-targets
	@scripts/check-apple
	@scripts/check-docs
	$(SWIFT) build $(FLAGS) --product rollcall
	@scripts/make-docs --check
	@scripts/check-text

format: ## format the Swift sources in place
	$(SWIFT) format --in-place --recursive --parallel $(SWIFT_SOURCES)

clean: ## remove what was built
	$(SWIFT) package clean
