# Bitcycle's front door. `make demo` and `make test` do all that a fresh Debian 12 machine needs:
# install missing packages, configure, build, run. A second call does only what is left to do.

BUILD    ?= build
BITCYCLE := $(BUILD)/bin/bitcycle
JOBS     ?= $(shell nproc)
STAMP    := $(BUILD)/.packages

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow build packages configure format check-format sanitize fuzz bench \
        install clean

help:
	@echo "make demo        train a small ResNet in integers, cyclic and static, and in float; compare"
	@echo "make test        build everything and run the fast tests"
	@echo "make build       build only"
	@echo "make test-slow   the slow tests too (fuzzers included)"
	@echo "make sanitize    the core's tests under the address and undefined-behaviour sanitizers"
	@echo "make format      format the sources; check-format only checks"
	@echo "make install     install below PREFIX (default /usr/local)"

demo: build
	@scripts/demo $(BITCYCLE)

test: build
	ctest --preset release -j $(JOBS)

test-slow: build fuzz
	ctest --test-dir $(BUILD) --output-on-failure -L slow
	ctest --test-dir build-fuzz --output-on-failure

build: configure
	@cmake --build --preset release -j $(JOBS)

configure: packages
	@test -f $(BUILD)/build.ninja || cmake --preset release

packages: $(STAMP)
$(STAMP): scripts/install-packages
	@scripts/install-packages
	@mkdir -p $(BUILD) && touch $@

sanitize: packages
	cmake --preset sanitize
	cmake --build --preset sanitize -j $(JOBS)
	ctest --preset sanitize -j $(JOBS)

fuzz: packages
	@scripts/install-packages --fuzz
	cmake --preset fuzz
	cmake --build --preset fuzz -j $(JOBS)

format: ; @scripts/format
check-format: ; @scripts/format --check

install: build
	cmake --install $(BUILD) --prefix $(or $(PREFIX),/usr/local)

clean:
	rm -rf build build-*
