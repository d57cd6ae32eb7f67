# Bitcycle's front door. `make demo` and `make test` do all that a fresh Debian 12 or 13 machine
# needs: install missing packages, configure, build, run. A second call does only what is left to do.
# The demo needs the two programs alone; the tests' packages come and are built with `make test`.

# `release`, or `developer`: the same file by file with warnings as errors, in a folder of its own.
PRESET   ?= release
BUILD    := $(if $(filter release,$(PRESET)),build,build-$(PRESET))
BITCYCLE := $(BUILD)/bin/bitcycle
JOBS     ?= $(shell nproc)
# Steps of each of the demo's runs, to try it in short; by default what the recipes say.
STEPS    ?=
# `required` installs a browser for the tests of reports' page, which are skipped where there is none,
# and lets none of them be skipped.
BROWSER  ?=

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow build build-tests format check-format sanitize fuzz install clean

help:
	@echo "make demo        train a small ResNet in integers, cyclic and static, and in float; compare"
	@echo "make test        build everything and run the fast tests"
	@echo "make build       build the programs only"
	@echo "make test-slow   the slow tests too (fuzzers included)"
	@echo "make sanitize    the core's tests under the address and undefined-behaviour sanitizers"
	@echo "make format      format the sources; check-format only checks"
	@echo "make install     install below PREFIX (default /usr/local)"

demo: build
	@scripts/demo $(BITCYCLE) $(STEPS)

test: build-tests
	BITCYCLE_BROWSER=$(BROWSER) ctest --preset $(PRESET) -j $(JOBS)

test-slow: build-tests fuzz
	ctest --test-dir $(BUILD) --output-on-failure -L slow
	ctest --test-dir build-fuzz --output-on-failure

build: $(BUILD)/.packages
	@test -f $(BUILD)/build.ninja || cmake --preset $(PRESET) -DBITCYCLE_TESTS=OFF
	@cmake --build --preset $(PRESET) -j $(JOBS) --target bitcycle bitcycle-torch

build-tests: $(BUILD)/.packages $(BUILD)/.packages-tests $(if $(BROWSER),$(BUILD)/.packages-browser)
	@grep -qs 'BITCYCLE_TESTS:BOOL=ON' $(BUILD)/CMakeCache.txt && test -f $(BUILD)/build.ninja || \
	  cmake --preset $(PRESET) -DBITCYCLE_TESTS=ON
	@cmake --build --preset $(PRESET) -j $(JOBS)

$(BUILD)/.packages: scripts/install-packages
	@scripts/install-packages
	@mkdir -p $(BUILD) && touch $@

$(BUILD)/.packages-tests: scripts/install-packages
	@scripts/install-packages --tests
	@mkdir -p $(BUILD) && touch $@

$(BUILD)/.packages-browser: scripts/install-packages scripts/axe-core
	@scripts/install-packages --browser
	@scripts/axe-core --fetch
	@mkdir -p $(BUILD) && touch $@

sanitize: $(BUILD)/.packages $(BUILD)/.packages-tests
	cmake --preset sanitize
	cmake --build --preset sanitize -j $(JOBS)
	ctest --preset sanitize -j $(JOBS)

fuzz: $(BUILD)/.packages $(BUILD)/.packages-tests
	@scripts/install-packages --fuzz
	cmake --preset fuzz
	cmake --build --preset fuzz -j $(JOBS)

format: ; @scripts/format
check-format: ; @scripts/format --check

install: build
	cmake --install $(BUILD) --prefix $(or $(PREFIX),/usr/local)

clean:
	rm -rf build build-*
