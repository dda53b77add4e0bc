# relayc - see README.md. Everything that is built goes to $(BUILD); nothing is written elsewhere.
#
#   make            build/relayc            make check       build and pass all tests
#   make deps       install packages        make check-full  the long sweeps as well
#   make demo       the digits example      make bench       timings (bench-latency, bench-accuracy: parts)
#   make install    PREFIX, DESTDIR         make lint format clean
#   make wheel      the Python package      make deb dist   a Debian package, a tarball that needs no installation
#
# ONEDNN=no: without oneDNN, in a BUILD of its own; the reference evaluator, which is slow, takes its place. So it is
# where oneDNN is version 3 (Debian 13), which has another interface.

BUILD  ?= build
PREFIX ?= /usr/local
CC     ?= cc
CFLAGS ?= -O2 -g
PYTHON ?= python3
export RELAYC_SHARED ?= ../shared

MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.DELETE_ON_ERROR:
.PRECIOUS: $(BUILD)/%.o $(BUILD)/parts/%.o $(BUILD)/gen/%.pb-c.c $(BUILD)/gen/%.pb-c.h # kept, though made on the way

warnings := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wconversion \
            -Wvla -Wundef
ifneq ($(findstring clang,$(shell $(CC) --version)),)
# clang counts designated fields behind positional ones as missing, and minds "".
warnings += -Wno-missing-field-initializers -Wno-format-zero-length
endif
packages := libprotobuf-c libcjson libzip zlib libmd libpng libjpeg
libs     := -lprotobuf-c -lcjson -lzip -lpng -ljpeg -lz -lmd -ldnnl -ldl -lpthread -lm
ifndef ONEDNN
onednn := $(shell printf '\043include <dnnl_version.h>\nDNNL_VERSION_MAJOR' | $(CC) -E -P -x c - 2>/dev/null | tail -n 1)
ifeq ($(onednn),3)
$(warning oneDNN is version 3, relayc wants 2: built without it)
ONEDNN := no
endif
endif
ifeq ($(ONEDNN),no)
libs     := $(filter-out -ldnnl,$(libs))
endif

# Products and sums are rounded one by one, as in the C that simulate/ computes.
compile = $(CC) -std=c11 -ffp-contract=off -D_POSIX_C_SOURCE=200809L $(warnings) $(CFLAGS) $(shared) $(CPPFLAGS) -I. \
          -I$(BUILD)/gen -MMD -MP

# Objects go into a shared library, too, whose functions are its own as those of a program are.
shared := -fPIC -fno-semantic-interposition

# A line for each file; V=1: the commands.
say = $(if $(V),,@echo '$(1) $(2)';)

# --- sources -------------------------------------------------------------------------------------
# A folder per stage; every .c file of a stage belongs to the program.
stages  := $(wildcard base relay_ir frontend partition quantize runtime/engine measure codegen_c simulate tune eval search driver report package)
sources := $(sort $(foreach stage,$(stages),$(shell find $(stage) -name '*.c')))
with_onednn := $(shell grep -lE '^.include (<dnnl|"runtime/engine/(plan|primitive|native|reuse|reuse_choose)\.h)' runtime/engine/*.c)
sources := $(filter-out $(if $(filter no,$(ONEDNN)),$(with_onednn),runtime/engine/without_onednn/%),$(sources))
objects := $(sources:%.c=$(BUILD)/%.o) $(BUILD)/gen/frontend/onnx/onnx.pb-c.o $(BUILD)/gen/embedded.o \
           $(BUILD)/gen/scalars_f32.o
cli     := $(patsubst %.c,$(BUILD)/%.o,$(sort $(wildcard cli/*.c)))
texts   := $(sort $(wildcard templates/*/*.c.tmpl templates/*/*/*.c.tmpl templates/helpers/microkernel/*.c templates/package/*.in templates/report/* runtime/embed/*.h runtime/abi/*.h runtime/bench/* boards/*.json cli/topics/*.txt \
                     partition/targets/*/*.json partition/targets/*/*.tmpl \
                     partition/targets/*/*.h partition/targets/cmsis_nn/arm_nn_double.c \
                     partition/targets/sim_npu/sim_npu.c))

test_sources  := $(sort $(shell find tests/unit -name 'test_*.c'))
test_programs := $(addprefix $(BUILD)/tests/,$(notdir $(test_sources:.c=)))
test_support  := $(patsubst %.c,$(BUILD)/%.o,$(sort $(wildcard tests/support/*.c)))
test_libraries := $(BUILD)/tests/marks.o $(BUILD)/tests/share.o $(BUILD)/libsupport.so $(BUILD)/librelayc.so

.PHONY: all
all: $(BUILD)/relayc

$(BUILD)/relayc: $(cli) $(BUILD)/librelayc.a
	$(call say,LINK,$@)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(libs)

$(BUILD)/librelayc.a: $(objects)
	$(call say,AR,$@)rm -f $@ && ar rcs $@ $^

# --- the library that is installed: include/relayc/relayc.h and nothing else is visible -----------
# $(BUILD)/librelayc.a and .so have all symbols, for the program and the tests.
library := $(addprefix $(BUILD)/lib/,librelayc.a librelayc.so.0 relayc.pc)

.PHONY: library
library: $(library)

$(BUILD)/lib/librelayc.so.0: $(objects) driver/relayc/relayc.map
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(@F) -Wl,-Bsymbolic-functions \
	      -Wl,-z,defs -Wl,--version-script=driver/relayc/relayc.map -o $@ $(objects) $(libs)

$(BUILD)/lib/librelayc.a: $(objects)
	@mkdir -p $(@D)
	$(call say,AR,$@)rm -f $@ && $(CC) -r -nostdlib -o $(BUILD)/lib/relayc.o $^ && \
	      objcopy --wildcard --keep-global-symbol='relayc_*' $(BUILD)/lib/relayc.o && \
	      ar rcs $@ $(BUILD)/lib/relayc.o

$(BUILD)/lib/relayc.pc: driver/relayc/relayc.pc.in include/relayc/relayc.h Makefile
	@mkdir -p $(@D)
	@sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBS@|$(libs)|' \
	    -e "s|@VERSION@|$$(sed -n 's/^.define RELAYC_VERSION "\(.*\)"/\1/p' include/relayc/relayc.h)|" $< > $@

# --- the Python package: python/ as a wheel, with the library, the program and what they load ------
# They look for shared objects in the wheel; RPATH serves those that these need in turn, RUNPATH would not.
version := $(shell sed -n 's/^.define RELAYC_VERSION "\(.*\)"/\1/p' include/relayc/relayc.h)
in_wheel = -s -Wl,--disable-new-dtags,-rpath,$(1)

.PHONY: wheel
wheel: $(BUILD)/wheel/relayc-$(version)

$(BUILD)/wheel/relayc-$(version): python/wheel_of_tree.py $(wildcard python/* python/relayc/*) LICENSE \
                                  $(BUILD)/wheel/relayc $(BUILD)/wheel/librelayc.so.0
	$(call say,WHEEL,$@)rm -f $(BUILD)/wheel/*.whl && \
	      $(PYTHON) $< $(version) $(@D) $(BUILD)/wheel/relayc $(BUILD)/wheel/librelayc.so.0 > $@

$(BUILD)/wheel/relayc: $(cli) $(BUILD)/librelayc.a
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) $(CFLAGS) $(LDFLAGS) $(call in_wheel,'$$ORIGIN/../lib') -o $@ $^ $(libs)

$(BUILD)/wheel/librelayc.so.0: $(objects) driver/relayc/relayc.map
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(@F) -Wl,-Bsymbolic-functions \
	      -Wl,-z,defs -Wl,--version-script=driver/relayc/relayc.map $(call in_wheel,'$$ORIGIN') -o $@ $(objects) $(libs)

$(BUILD)/%.o: %.c $(BUILD)/gen/frontend/onnx/onnx.pb-c.h Makefile
	@mkdir -p $(@D)
	$(call say,CC,$<)$(compile) $(if $(filter tests/unit/%,$<),$(UNIT_CFLAGS)) -c -o $@ $<

# --- generated sources ---------------------------------------------------------------------------
$(BUILD)/gen/%.pb-c.c $(BUILD)/gen/%.pb-c.h: %.proto
	@mkdir -p $(BUILD)/gen
	$(call say,PROTOC,$<)protoc-c --c_out=$(BUILD)/gen $<

$(BUILD)/gen/embedded.c: base/embed.awk Makefile $(texts)
	@mkdir -p $(@D)
	$(call say,EMBED,$@)awk -f base/embed.awk $(texts) > $@

$(BUILD)/gen/scalars_f32.c: simulate/scalars.awk codegen_c/expr/scalar_ops.def
	@mkdir -p $(@D)
	$(call say,AWK,$@)awk -f simulate/scalars.awk codegen_c/expr/scalar_ops.def > $@

$(BUILD)/gen/%.o: $(BUILD)/gen/%.c Makefile
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) -std=c11 -ffp-contract=off $(CFLAGS) $(shared) -I. -I$(BUILD)/gen -MMD -MP -c -o $@ $<

# --- tests ---------------------------------------------------------------------------------------
# The tests share relayc, and what they have in common, as libraries: with all of it and its debugging
# information in each, 191 programs were 2.3 GB, and those with sanitizers 28 MB each.
# tests/marks.c and share.c, in each, stand before Check's functions.
wrap        = -Wl,--wrap=_mark_point,--wrap=_tcase_add_test
link_shared = $(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(@F) -Wl,-Bsymbolic-functions -o $@ $^
link_test   = $(CC) $(CFLAGS) $(LDFLAGS) $(wrap) -Wl,-rpath,'$$ORIGIN/..' -o $@ $^ \
              -lcheck -lsubunit -lrt $(libs)

$(BUILD)/librelayc.so: $(objects)
	$(call say,LINK,$@)$(link_shared) $(libs)

$(BUILD)/libsupport.so: $(test_support)
	$(call say,LINK,$@)$(link_shared) $(wrap)

# tests/unit/FOLDER/test_NAME.c -> build/tests/test_NAME
define unit_program
$(BUILD)/tests/$(notdir $(1:.c=)): $(BUILD)/$(1:.c=.o) $(test_libraries)
	$$(call say,LINK,$$@)$$(link_test)
endef
$(foreach source,$(test_sources),$(eval $(call unit_program,$(source))))

# These import the models of tests/make.
$(BUILD)/tests/test_json: $(patsubst %,$(BUILD)/parts/tests/make/%.o,good_cases networks)


# What bench-accuracy is made of, but its main().
accuracy := $(patsubst %.c,$(BUILD)/%.o,$(sort $(wildcard bench/accuracy/*.c)))
$(BUILD)/tests/test_accuracy: $(filter-out %/main.o,$(accuracy))

$(BUILD)/bench_accuracy: $(accuracy) $(BUILD)/librelayc.a
	$(call say,LINK,$@)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(libs)

# Programs of several files, one folder each: tests/NAME/*.c -> build/tests/NAME. Their objects lie
# elsewhere, as a folder build/tests/NAME would stand in the program's place.
$(BUILD)/parts/%.o: %.c $(BUILD)/gen/frontend/onnx/onnx.pb-c.h Makefile
	@mkdir -p $(@D)
	$(call say,CC,$<)$(compile) -c -o $@ $<

define test_folder
$(BUILD)/tests/$(1): $$(patsubst %.c,$(BUILD)/parts/%.o,$$(sort $$(wildcard tests/$(1)/*.c))) \
                     $(test_libraries)
	$$(call say,LINK,$$@)$$(link_test)
endef
test_folders := coco conformance exhaustive make minimalloc network offload partition_speed plan_speed \
                robustness
$(foreach folder,$(test_folders),$(eval $(call test_folder,$(folder))))

# Lets calls of the C library fail in a program that has it preloaded.
$(BUILD)/tests/inject.so: tests/inject.c tests/inject.h Makefile
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) -std=c11 $(warnings) -Wno-pedantic -O1 -g -fPIC -shared -I. -o $@ $< -ldl

# Fuzzers (libFuzzer, so clang): make fuzz, then build/fuzz/fuzz_import CORPUS
.PHONY: fuzz
fuzz:
	$(MAKE) BUILD=$(BUILD)/fuzz CC=clang CFLAGS='-O1 -g -fsanitize=fuzzer-no-link,address,undefined' \
	        $(patsubst tests/fuzz/%.c,$(BUILD)/fuzz/%,$(sort $(wildcard tests/fuzz/*.c)))

$(BUILD)/fuzz_%: $(BUILD)/tests/fuzz/fuzz_%.o $(BUILD)/tests/support/temp_dir.o $(BUILD)/librelayc.a
	$(call say,LINK,$@)$(CC) $(CFLAGS) -fsanitize=fuzzer $(LDFLAGS) -o $@ $^ $(libs)

.PHONY: check check-full check-run check-full-run unit
check: deps
	$(MAKE) check-run
check-full: deps deps-bench deps-torch deps-package
	$(MAKE) check-full-run
check-run: all library $(patsubst %,$(BUILD)/tests/%,make conformance network offload coco) $(BUILD)/tests/inject.so \
           unit-sanitized
	+BUILD=$(BUILD) tests/run
check-full-run: check-run unit $(patsubst %,$(BUILD)/tests/%,$(test_folders))
	+BUILD=$(BUILD) tests/run_full
unit: $(test_programs)

sanitize := -O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer \
            $(filter -W%,$(CFLAGS))

# With sanitizers, in a build folder of their own: what make check runs. To optimise the tests themselves takes longer
# than it saves.
.PHONY: unit-sanitized
unit-sanitized:
	$(MAKE) BUILD=$(BUILD)/sanitized CFLAGS='$(sanitize)' UNIT_CFLAGS=-O0 all unit \
	        $(patsubst %,$(BUILD)/sanitized/tests/%,make robustness)

# --- everything else -----------------------------------------------------------------------------
.PHONY: deps deps-bench deps-onnx deps-torch deps-package conformance demo bench bench-latency bench-memory bench-accuracy bench-search install lint format clean
deps:
	BUILD=$(BUILD) .ci/deps
deps-torch:
	BUILD=$(BUILD) .ci/deps torch
deps-package:
	BUILD=$(BUILD) .ci/deps package
deps-bench:
	BUILD=$(BUILD) .ci/deps bench

deps-onnx:
	BUILD=$(BUILD) .ci/deps onnx

# ONNX's node tests as they are, of two releases: build/conformance-*.md, operator by operator, of which
# docs/lab/conformance.md is made; make conformance ARGS='--stages import,passes'
conformance: deps deps-onnx $(BUILD)/tests/conformance
	BUILD=$(BUILD) $(BUILD)/python/bin/python3 tests/e2e/conformance_table.py \
	        --markdown $(BUILD)/conformance-1.18.md $(ARGS)
	BUILD=$(BUILD) $(BUILD)/onnx-python/bin/python3 tests/e2e/conformance_table.py \
	        --markdown $(BUILD)/conformance-1.23.md $(ARGS)

demo: deps
	$(MAKE) all
	BUILD=$(BUILD) examples/digits/demo.sh

bench: deps-bench all $(patsubst %,$(BUILD)/tests/%,make minimalloc network partition_speed)
	BUILD=$(BUILD) bench/run

# The generated C against ONNX Runtime and oneDNN; make bench-latency ARGS='--isa native --only resnet18'
bench-latency: deps-bench all $(BUILD)/tests/make
	BUILD=$(BUILD) bench/latency.py $(ARGS)

# Operators alone against ONNX Runtime; make bench-operators ARGS='--only softmax*,exp'
.PHONY: bench-operators
bench-operators: deps-bench all
	BUILD=$(BUILD) $(BUILD)/python/bin/python3 bench/operators.py $(ARGS)

# Estimated cycles of microcontrollers against counted ones; make bench-cycles ARGS='fit --cpu cortex-m4' fits them
.PHONY: bench-cycles
bench-cycles: deps-bench all
	BUILD=$(BUILD) $(BUILD)/python/bin/python3 bench/cycles/fit.py $(or $(ARGS),check)

# TensorFlow Lite Micro, LiteRT and XNNPACK beside the generated C: docs/lab/divergence.md
.PHONY: bench-divergence
bench-divergence: deps-bench all
	BUILD=$(BUILD) $(BUILD)/python/bin/python3 bench/divergence.py

# Arenas of all networks beside other schemes; make bench-memory ARGS='mobilenetv2 yolov5n_640'
bench-memory: deps all $(BUILD)/tests/minimalloc $(BUILD)/tests/plan_speed
	BUILD=$(BUILD) $(BUILD)/python/bin/python3 bench/memory.py $(ARGS)
	[ ! -d "$(RELAYC_SHARED)/data/minimalloc" ] || \
	        $(BUILD)/tests/minimalloc 4000000000 "$(RELAYC_SHARED)"/data/minimalloc/*.csv
	$(BUILD)/tests/plan_speed

# Hours of two cores; make bench-accuracy ARGS='-m kws -c int8', see bench/accuracy/main.c
bench-accuracy: $(BUILD)/bench_accuracy
	$(BUILD)/bench_accuracy $(ARGS)

# mAP of a detector in small numbers; half an hour of two cores
.PHONY: bench-detection
bench-detection: all
	BUILD=$(BUILD) ARGS='$(ARGS)' bench/detection

# The table of docs/lab/figures.md
.PHONY: docs-figures
docs-figures: all
	BUILD=$(BUILD) bench/figures.py

# What relayc search finds; make bench-search ARGS='int8 fp8 afp budget'
bench-search: all
	BUILD=$(BUILD) bench/search $(ARGS)

commands = $(shell sed -n 's/^COMMAND.[A-Z]*, "\([a-z]*\)".*/\1/p' driver/commands.def)

install: all library
	install -D -m 755 $(BUILD)/relayc $(DESTDIR)$(PREFIX)/bin/relayc
	mkdir -p $(addprefix $(DESTDIR)$(PREFIX)/share/,man/man1 bash-completion/completions zsh/site-functions \
		fish/vendor_completions.d)
	$(BUILD)/relayc help --format man > $(DESTDIR)$(PREFIX)/share/man/man1/relayc.1
	for command in $(commands); do \
		$(BUILD)/relayc help $$command --format man > $(DESTDIR)$(PREFIX)/share/man/man1/relayc-$$command.1 || exit 1; \
	done
	$(BUILD)/relayc completion bash > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/relayc
	$(BUILD)/relayc completion zsh > $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_relayc
	$(BUILD)/relayc completion fish > $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/relayc.fish
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/doc/relayc README.md CHANGELOG.md CONTRIBUTING.md
	for wing in . guide design lab; do \
		install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/doc/relayc/docs/$$wing docs/$$wing/*.md || exit 1; \
	done
	install -m 644 -t $(DESTDIR)$(PREFIX)/share/doc/relayc/docs/guide docs/guide/*.json
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/include/relayc $(wildcard include/relayc/*.h runtime/abi/*.h)
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/lib $(BUILD)/lib/librelayc.a
	install -m 755 -t $(DESTDIR)$(PREFIX)/lib $(BUILD)/lib/librelayc.so.0
	ln -sf librelayc.so.0 $(DESTDIR)$(PREFIX)/lib/librelayc.so
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/lib/pkgconfig $(BUILD)/lib/relayc.pc
	for target in $(notdir $(wildcard examples/targets/*)); do \
		install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/relayc/examples/targets/$$target \
			examples/targets/$$target/* || exit 1; \
	done
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/relayc/templates/firmware/cortex-m4-qemu templates/firmware/cortex-m4-qemu/*
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/relayc/examples/support examples/support/*
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/relayc/examples/qemu examples/qemu/main.c
	install -m 755 -t $(DESTDIR)$(PREFIX)/share/relayc/examples/qemu examples/qemu/run
	install -D -m 644 LICENSE $(DESTDIR)$(PREFIX)/share/doc/relayc/copyright

# Without root, without a compiler on the machine that they go to: $(BUILD)/relayc_VERSION_ARCH.deb, and
# $(BUILD)/relayc-VERSION-linux-ARCH.tar.gz, which is unpacked anywhere.
.PHONY: deb dist
deb: all library
	BUILD=$(BUILD) distribution/deb $(version) $(if $(filter no,$(ONEDNN)),ONEDNN=no)
dist: all library $(BUILD)/dist/relayc
	BUILD=$(BUILD) distribution/tarball $(version) $(if $(filter no,$(ONEDNN)),ONEDNN=no)

$(BUILD)/dist/relayc: $(cli) $(BUILD)/librelayc.a
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) $(CFLAGS) $(LDFLAGS) $(call in_wheel,'$$ORIGIN/../lib') -o $@ $^ $(libs)

# Text that becomes output (runtime/embed, goldens) is laid out by hand.
formatted = $(shell git ls-files '*.c' '*.h' ':!tests/golden/cases' ':!runtime/embed' ':!templates/helpers/microkernel')
scripts   = $(shell git grep -lE '^\#!/bin/sh')

# Not part of `make check`: needs clang-format, cppcheck and shellcheck. Every tool runs, whatever the
# one before it said. Rules of cppcheck that are wrong here: a nested designated initialiser is no two
# side effects, and what a loop or a function fills is not uninitialised (gcc's -Wsequence-point and
# -Wmaybe-uninitialized do what they are meant for); what exact_move.c returns is not its locals'.
cppcheck_wrong := unknownEvaluationOrder uninitvar legacyUninitvar ctuuninitvar \
                  returnDanglingLifetime:relay_ir/passes/lower_fp8/rules/exact_move.c
cppcheck = cppcheck --quiet --error-exitcode=1 --inline-suppr --std=c11 \
           $(addprefix --suppress=,$(cppcheck_wrong)) -I.
lint:
	@status=0; \
	clang-format --dry-run --Werror $(formatted) || status=1; \
	tests/check_arrows || status=1; \
	tests/check_docs || status=1; \
	tests/check_words || status=1; \
	shellcheck -x $(scripts) || status=1; \
	$(cppcheck) $(stages) cli || status=1; \
	exit $$status

format:
	@clang-format -i $(formatted)

clean:
	rm -rf $(BUILD)

-include $(shell find $(BUILD) -name '*.d' -type f 2>/dev/null)
