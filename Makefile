# whyslow: `make demo` and `make test` are all that is needed to start; each installs what it misses.

.PHONY: demo fleet-demo test test-all test-kernel truth build release bench bench-live setup setup-build setup-test setup-truth setup-release check clean
CARGO = scripts/cargo

# Records a small slow program with strace and lsof, diagnoses it, applies the fix, and shows that it worked.
demo: setup build
	@scripts/demo

# Three hosts (network namespaces) with agents, an S3 server, one slow host, and the questions that find it: alone, on Ballista, in a browser. As root; builds the query program with clusters first.
fleet-demo: setup build
	@cd query && ../$(CARGO) build --release --workspace --features whyslow-query/cluster --bin whyslow-query
	@scripts/fleet-demo

# Format, lint, all tests but the slow ones, the live cases by BPF: what to run before a commit.
test: setup-test
	@scripts/test

# The rest: the live cases by strace, injected delays, stress, what-if, stock kernels, rarer builds. CI runs both (.ci/run).
test-all: setup-test
	@scripts/test --tier all

# Boots a stock kernel of Debian under emulation (some minutes), with what it takes: kprobes, fentry, task delays. `make test-all`
# does so too, where that kernel can be fetched.
test-kernel: setup-test
	@cases/stock-kernel/install
	@$(CARGO) xtask test stock_kernel

# How often whyslow is right: draws slow programs from truth/, records and judges them, writes docs/TRUTH.md. As root; with nothing beside it.
#   make truth SEED=7 ONLY=fsync-per-write MINUTES=10 DRAWS=300
truth: setup-truth build
	@truth/run draws --keep --seed $(or $(SEED),1) --minutes $(or $(MINUTES),60) --draws $(or $(DRAWS),300) --only $(ONLY)
	@truth/run page

# target/release/whyslow
build: setup-build
	@$(CARGO) build --release --package whyslow

# target/dist/whyslow: optimised over all crates, linked with nothing of the system, debug information beside it.
release: setup-release
	@scripts/release

# Speed and memory beside wc -l, ripgrep and mawk, of profiles beside go tool pprof; what the account adds to a diagnosis. RUN=1 keeps the results under bench/runs/.
bench: setup-test build
	@bench/run
	@bench/profile/run
	@bench/account

# What live recording costs the recorded program, beside bare, strace, perf trace and bpftrace; whether the budget holds; sampling of demand; how long the page of a
# million events takes. RUN=1 keeps the result.
bench-live: setup-test build
	@bench/live/run
	@bench/live/budget
	@bench/live/queues
	@bench/page/run

setup:
	@scripts/setup demo

setup-build:
	@scripts/setup build

setup-release:
	@scripts/setup release

setup-truth:
	@scripts/setup truth

setup-test:
	@scripts/setup test

clean:
	@$(CARGO) clean
