# The short way in. Everything here is a few words for cmake, ctest and hbmark; see CONTRIBUTING.md for the long way.
#   make profile   install what is missing, build, measure this node (the `quick` suite)
#   make check     install what is missing, build everything, run all tests
#   make bench     performance claims, measured side by side
#   make install   into PREFIX (/usr/local)
BUILD := build/release
HBMARK := $(BUILD)/stage/bin/hbmark
PREFIX ?= /usr/local
# More options for cmake: make check CMAKE_FLAGS=-DHBMARK_ONEDNN_ROOT=/opt/onednn
CMAKE_FLAGS ?=
# make profile SUITE=networks measures another suite.
SUITE ?= quick
# Options for the run: make profile RUN_FLAGS='--label before'
RUN_FLAGS ?=

.PHONY: profile product check check-built bench install clean format tidy coverage

profile: product
	@$(HBMARK) run --suite $(SUITE) $(RUN_FLAGS)

# Configuring again costs seconds: once there is a build tree, ninja itself sees what has changed.
product:
	@./bootstrap build
	@if [ ! -f $(BUILD)/build.ninja ] || [ -n "$(CMAKE_FLAGS)" ]; then \
	  mkdir -p build; echo "hbmark: configuring (log in $(BUILD).log)" >&2; \
	  cmake --preset release -DHBMARK_TESTS=OFF $(CMAKE_FLAGS) >$(BUILD).log 2>&1 || { cat $(BUILD).log; exit 3; }; fi
	@cmake --build --preset release --target hbmark_product -- --quiet

check:
	@./bootstrap check
	@cmake --preset release -DHBMARK_TESTS=ON $(CMAKE_FLAGS)
	@cmake --build --preset release
	@ctest --preset release

bench: check-built
	@cmake --build --preset release --target bench

check-built:
	@./bootstrap check
	@cmake --preset release -DHBMARK_TESTS=ON $(CMAKE_FLAGS)
	@cmake --build --preset release

install: product
	@cmake --install $(BUILD) --prefix $(PREFIX)

format:
	@git ls-files '*.h' '*.cpp' '*.c' | xargs clang-format -i

tidy:
	@./bootstrap develop
	@tests/tidy

coverage:
	@./bootstrap develop
	@cmake --preset coverage && cmake --build --preset coverage && ctest --preset coverage
	@gcovr --root . --object-directory build/coverage --exclude tests --exclude build --print-summary --output build/coverage/lines.txt

clean:
	@rm -rf build
