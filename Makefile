# A thin front for meson. `make` builds build/cordon and build/cordon-init.

BUILD ?= build
PREFIX ?= /usr/local
DESTDIR ?=
FUZZ_SECONDS ?= 60
SOURCES = $(shell git ls-files '*.c' '*.h')

PROGRAMS = cordon cordon-init cordon-relay cordon-egress cordon-vault cordon-unpack cordon-agent cordon-acp

.PHONY: all programs help deps demo test test-kernel check bench fuzz install clean format tidy lint

all: $(BUILD)/build.ninja ## the programs, the tests and the fuzzers
	@ninja -C $(BUILD)

programs: $(BUILD)/build.ninja ## the programs alone
	@ninja -C $(BUILD) $(PROGRAMS)

help: ## what can be made
	@sed -n 's/^\([a-z][a-z-]*\):.*## \(.*\)/\1\t\2/p' Makefile | expand -t 14

$(BUILD)/build.ninja:
	@meson setup $(BUILD) --prefix=$(PREFIX)

deps: ## installs missing packages
	@scripts/deps.sh build test

demo: ## a short tour: attacks fail, work succeeds
	@scripts/deps.sh build demo
	@$(MAKE) --no-print-directory all
	@scripts/demo.sh $(BUILD)

test: deps ## everything: gcc and clang, release and sanitized, root and user; JOBS= for some of it
	@scripts/matrix.sh $(JOBS)

test-kernel: ## what a kernel could change, on Debian's in a virtual machine; KERNEL= for another package or folder
	@scripts/deps.sh build test kernel
	@$(MAKE) --no-print-directory all
	@tests/kernel/vm.sh $(if $(KERNEL),--kernel $(KERNEL)) $(BUILD)

check: all ## the quick part, for daily work
	@scripts/test.sh $(BUILD) $(BUILD)/tests/test-* $(BUILD)/tests/replay-* tests/layers.sh tests/cli/*.sh tests/gate/*.sh

bench: ## the tables of the README
	@scripts/deps.sh build bench
	@$(MAKE) --no-print-directory all
	@tests/bench/run.sh $(BUILD)

fuzz: ## each fuzzer for FUZZ_SECONDS
	@scripts/deps.sh build test
	@scripts/fuzz.sh $(FUZZ_SECONDS)

# What root writes to the build folder (sudo make install) is given to the folder's owner, whose next `make` would fail otherwise.
install: owner := $(firstword $(wildcard $(BUILD)) .)
install: ## program, man pages and completions, to PREFIX=
	@[ "$$(id -u)" != 0 ] || trap 'chown -Rh --reference=$(owner) $(BUILD)' EXIT; set -e; \
	$(MAKE) --no-print-directory $(BUILD)/build.ninja; \
	meson configure $(BUILD) -Dprefix=$(PREFIX); \
	$(MAKE) --no-print-directory programs; \
	DESTDIR=$(DESTDIR) meson install -C $(BUILD) --quiet --no-rebuild; \
	scripts/install-docs.sh $(BUILD) $(DESTDIR)$(PREFIX)

clean: ## removes all builds
	@rm -rf build build-*

format: ## clang-format on all sources
	@clang-format -i $(SOURCES)

# clang-tidy reads the command lines of a clang build.
build-clang/build.ninja:
	@CC=clang meson setup build-clang >/dev/null

tidy: build-clang/build.ninja ## FILES= for some of them
	@clang-tidy --quiet --warnings-as-errors='*' -p build-clang $(or $(FILES),$(filter src/%.c,$(SOURCES)))

lint: ## shellcheck on all scripts
	@shellcheck -x scripts/*.sh tests/*.sh tests/*/*.sh
