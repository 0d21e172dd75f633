# whyslow: `make demo` and `make test` are all that is needed to start; each installs what it misses.

.PHONY: demo test test-kernel build bench bench-live setup setup-test check clean
CARGO = scripts/cargo

# Records a small slow program with strace and lsof, diagnoses it, applies the fix, and shows that it worked.
demo: setup build
	@scripts/demo

# Everything that CI runs.
test: setup-test
	@scripts/test

# Boots a stock kernel of Debian under emulation (some minutes), with what it takes: kprobes, fentry, task delays. `make test` skips
# these tests where that kernel was not fetched.
test-kernel: setup-test
	@cases/stock-kernel/install
	@$(CARGO) test --package whyslow --test stock_kernel -- --nocapture

build:
	@$(CARGO) build --release --package whyslow

# Speed and memory beside wc -l, ripgrep and mawk, of profiles beside go tool pprof. RUN=1 keeps the results under bench/runs/.
bench: setup-test build
	@bench/run
	@bench/profile/run

# What live recording costs the recorded program, beside bare, strace, perf trace and bpftrace. RUN=1 keeps the result.
bench-live: setup-test build
	@bench/live/run

setup:
	@scripts/setup demo

setup-test:
	@scripts/setup test

clean:
	@$(CARGO) clean
