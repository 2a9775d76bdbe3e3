# SPDX-License-Identifier: Apache-2.0
# The front door. Everything is built by CMake presets (CMakePresets.json) into build/PRESET.
#   make demo    optimize problems/softmax.yaml on this machine and write a report
#   make test    all tests that need no GPU
#   make test-gpu  those that need one
#   make         the release build
PRESET ?= release
JOBS ?= $(shell nproc)
PACKAGES ?= yes
BUILD = build/$(PRESET)
AKO = $(BUILD)/bin/ako

.PHONY: all build packages demo test test-gpu sanitize fuzz install dist lint format clean help
all: build

packages:
ifeq ($(PACKAGES),yes)
	@scripts/install-packages $(PACKAGE_SET)
endif

build: packages
	@mkdir -p build
	@grep -qs '$(or $(NEEDS),rules.ninja)' $(BUILD)/build.ninja || cmake --preset $(PRESET) $(CMAKE_ARGS) > $(BUILD).log 2>&1 || { cat $(BUILD).log; exit 1; }
	@cmake --build $(BUILD) -j $(JOBS) --target $(or $(TARGETS),all)

demo:
	@$(MAKE) --no-print-directory build TARGETS=programs PACKAGE_SET=--build
	@$(AKO) optimize problems/softmax.yaml --budget $(or $(BUDGET),60s) --workspace demo --yes

build/venv/ready: requirements.txt
	@python3 -m venv build/venv && build/venv/bin/pip install -q --disable-pip-version-check -r requirements.txt && touch $@

test:
	@$(MAKE) --no-print-directory build NEEDS=test_base
	@$(MAKE) --no-print-directory build/venv/ready
	@ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS) -LE gpu

# The judge on this machine's GPU: kernels that cheat or fault, and honest ones.
test-gpu: build
	@ctest --test-dir $(BUILD) --output-on-failure -L gpu

# Address and undefined-behaviour sanitizers over everything that runs inside our own processes; then threads.
sanitize:
	@$(MAKE) --no-print-directory build PRESET=asan TARGETS="test_base test_problem test_kernel test_store test_campaign fuzz_inputs"
	@ctest --test-dir build/asan --output-on-failure -j $(JOBS) -L 'base|problem|kernel|store|campaign' -LE numpy
	@build/asan/bin/fuzz_inputs 30
	@$(MAKE) --no-print-directory build PRESET=tsan TARGETS="test_base test_store test_judge test_campaign"
	@ctest --test-dir build/tsan --output-on-failure -j $(JOBS) -L 'base|store|campaign'

# Everything that is read from outside, on inputs that are nearly right, under sanitizers: FUZZ_SECONDS in all, a new SEED each time.
fuzz:
	@$(MAKE) --no-print-directory build PRESET=asan TARGETS=fuzz_inputs
	@cd build && asan/bin/fuzz_inputs $(or $(FUZZ_SECONDS),600) $(or $(SEED),$(shell date +%s))

install: build
	@cmake --install $(BUILD) --prefix $(or $(PREFIX),/usr/local)

dist:
	@$(MAKE) --no-print-directory build PRESET=portable
	@scripts/make-archive build/portable

format:
	@clang-format-19 -i $$(git ls-files '*.cpp' '*.h')

lint: build
	@clang-format-19 --dry-run -Werror $$(git ls-files '*.cpp' '*.h' | grep -v tests/guests)
	@run-clang-tidy-19 -quiet -p $(BUILD) 'src/.*\.cpp'

clean:
	rm -rf build dist

help:
	@sed -n '2,7p' Makefile | sed 's/^# \{0,1\}//'
