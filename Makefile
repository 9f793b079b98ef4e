# policyc, libupk and unpickle.  GNU make 4.3 or later; `make -j` is safe.
#
#   make            build/policyc, build/libupk.a, build/unpickle, build/upk-run
#   make demo       compile a policy, decide some real pickles with it
#   make check      every test: format, gcc, clang with sanitizers, scripts, corpus, fuzzing
#   make check-full the same, and by guards the large programs that load pickles (torch)
#   make test       the tests without sanitizers and fuzzing
#   make asan       the unit tests with sanitizers
#   make fuzz       each fuzz target for T seconds (20); `make fuzz-keep` then keeps what is worth it as seeds
#   make cov        which lines of the library and the compiler the tests run
#   make bench      the benchmark
#   make bench-python   that of modules of CPython; BENCH='--rounds 3 j_tiny' for less of it (tests/bench/python.py)
#   make python     POLICY=FILE.policy NAME=MODULE: an extension module of CPython (PYTHON=/usr/bin/python3); prints where it is
#   make lint       is all C formatted as .clang-format says?  `make format` does it
#   make install    to DESTDIR and PREFIX (/usr/local)
#   make help       this list
#
# What a target needs and the machine lacks is installed first (tools/need.sh).  Everything that is built stands under BUILD.

ifeq ($(origin CC),default)
CC := gcc
endif
CLANG ?= clang
BISON ?= bison
FLEX ?= flex
GPERF ?= gperf
PYTHON ?= /usr/bin/python3
OBJCOPY ?= objcopy
CFLAGS ?= -O2 -g -DNDEBUG
BUILD ?= build
PREFIX ?= /usr/local
T ?= 20
export CC CLANG

VERSION := $(shell sed -n 's/^\#define UPK_VERSION "\(.*\)"/\1/p' runtime/upk_version.h)
POLICY_DIR ?= $(CURDIR)/policies

STRICT := -std=c11 -Wall -Wextra -Wshadow -Wconversion -Wvla -Wcast-qual -Wstrict-prototypes -Wmissing-prototypes \
          -Wimplicit-fallthrough
# Other compilers than gcc 12 and clang 14 may know more warnings: `make WERROR=`.
WERROR ?= -Werror
# One short line for each step; `make V=1` shows the commands.
say = $(if $(V),,@printf '%-8s %s\n' $(1) $(2);)

.DELETE_ON_ERROR:
.SUFFIXES:
.SECONDARY:
.PHONY: all help demo check check-full test asan fuzz fuzz-keep cov bench bench-python python python-asan golden-update format lint install clean need FORCE

all: $(BUILD)/policyc $(BUILD)/libupk.a $(BUILD)/unpickle $(BUILD)/upk-run

# ---- what must be installed ---------------------------------------------------------------------------------------------

NEED := build $(filter test asan fuzz check check-full cov bench lint python,$(MAKECMDGOALS)) $(if $(filter format,$(MAKECMDGOALS)),lint) \
    $(if $(filter golden-update,$(MAKECMDGOALS)),test) $(if $(filter python-asan,$(MAKECMDGOALS)),python asan) \
    $(if $(filter bench-python,$(MAKECMDGOALS)),bench python)
need:
	@PYTHON='$(PYTHON)' tools/need.sh $(NEED)

# ---- sources ------------------------------------------------------------------------------------------------------------

RUNTIME := $(wildcard runtime/*.c)
# What starts processes: an object of its own in the archive.
RUN := $(wildcard runtime/run/*.c)
COMPILER := $(wildcard compiler/*.c)
GRAMMAR := parse scan keywords
CLI := $(wildcard tools/cli*.c)
# What they need of the compiler: unpickle links no more of it.
CLI_OF_COMPILER := unicode shipped suggest mem
RUN_MAIN := tools/upk_run.c tools/run_said.c tools/policy_file.c tools/stderr_sink.c tools/today.c tools/shipped_policies.c
POLICYC_MAIN := tools/policyc.c tools/try.c tools/list.c tools/diff.c tools/fmt.c tools/policy_file.c tools/stderr_sink.c tools/today.c $(wildcard tools/learn*.c)
SHIPPED := $(patsubst policies/%.policy,%,$(wildcard policies/*.policy))
UNIT := $(patsubst tests/unit/%.c,%,$(wildcard tests/unit/test_*.c))
UNIT_HELP := $(filter-out tests/unit/test_%,$(wildcard tests/unit/*.c))
FUZZ := $(filter-out replay,$(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/*.c)))
FUZZ_POLICIES := $(patsubst tests/fuzz/%.policy,%,$(wildcard tests/fuzz/*.policy))
FUZZ_PICKLE := $(filter-out policy environment,$(FUZZ))
FUZZ_HELP := tests/fuzz/help/verdict.c tests/fuzz/help/policies.c
FUZZ_MUTATOR := $(filter-out $(FUZZ_HELP),$(wildcard tests/fuzz/help/*.c))

# A unit test sees the private functions of one side: the compiler's where it includes one of its headers (or compiled.h), else
# the runtime's.
UNIT_OF_COMPILER := $(patsubst tests/unit/%.c,%,$(shell grep -lsE '"([./]*compiler/|compiled\.h")' tests/unit/test_*.c))
UNIT_OF_RUNTIME := $(filter-out $(UNIT_OF_COMPILER),$(UNIT))

# ---- generated sources --------------------------------------------------------------------------------------------------

GEN := $(BUILD)/gen

$(GEN)/parse.c $(GEN)/parse.h &: grammar/policy.y | need
	@mkdir -p $(@D)
	$(call say,BISON,$@)$(BISON) -Wall -Wcounterexamples -Werror --header=$(GEN)/parse.h -o $(GEN)/parse.c $<

$(GEN)/scan.c: grammar/policy.l | need
	@mkdir -p $(@D)
	$(call say,FLEX,$@)$(FLEX) -o $@ $<

$(GEN)/keywords.c: grammar/keywords.gperf | need
	@mkdir -p $(@D)
	$(call say,GPERF,$@)$(GPERF) --output-file=$@ $<

# What the shipped fragments grant, for hints.
$(GEN)/shipped.inc: tools/shipped_names.awk $(sort $(wildcard policies/*/*.policy))
	@mkdir -p $(@D)
	$(call say,AWK,$@)awk -f $^ >$@

# A policy becomes C: shipped ones, and those of tests.
POLICYC = $(call say,POLICYC,$(basename $@).c)mkdir -p $(@D) && \
    $(BUILD)/policyc --policy-dir policies $(AGREED_$(notdir $(basename $@))) -MD -o $(basename $@).c $<
AGREED_fuzz_open := --allow-fail-open

$(BUILD)/policies/%.c $(BUILD)/policies/%.h &: policies/%.policy $(BUILD)/policyc
	$(POLICYC)

$(BUILD)/tests/%.c $(BUILD)/tests/%.h &: tests/%.policy $(BUILD)/policyc
	$(POLICYC)

-include $(wildcard $(BUILD)/policies/*.d $(BUILD)/tests/*/*.d)

SHIPPED_H := $(SHIPPED:%=$(BUILD)/policies/%.h)

# The list of shipped policies for unpickle: X("name", symbol) for each channel of each.
$(BUILD)/policies/shipped.inc: $(SHIPPED_H)
	@for header in $^; do \
	    sed -n "s/^extern const struct upk_policy \([A-Za-z0-9_]*\);.*/X(\"$$(basename $$header .h)\", \1)/p" $$header; \
	done >$@

# ---- what single files are compiled with --------------------------------------------------------------------------------

# The shell finds gperf when the recipe runs: it may have been installed a moment before.
DEFINES_compiler/gperf = -DGPERF_PATH="\"$$(command -v $(GPERF))\""
DEFINES_tools/policyc = -DPOLICY_DIR='"$(POLICY_DIR)"'
DEFINES_tools/try = $(DEFINES_tools/policyc)
DEFINES_tools/learn_compile = $(DEFINES_tools/policyc)
DEFINES_tools/upk_run = $(DEFINES_tools/policyc)
DEFINES_tests/fuzz/cpython = -DPYTHON='"$(PYTHON)"'
DEFINES_tests/unit/corpus = -DCORPUS_DIR='"$(BUILD)/corpus"'
DEFINED := $(patsubst DEFINES_%,%,$(filter DEFINES_%,$(.VARIABLES)))

# Rewritten only when one of them changes.
$(BUILD)/defines: FORCE
	@mkdir -p $(@D); printf '%s\n' '$(GPERF)' '$(POLICY_DIR)' | cmp -s - $@ || printf '%s\n' '$(GPERF)' '$(POLICY_DIR)' >$@

$(BUILD)/defines-python: FORCE
	@mkdir -p $(@D); echo '$(PYTHON)' | cmp -s - $@ || echo '$(PYTHON)' >$@

# ---- variants: the same sources, compiled in several ways ---------------------------------------------------------------

# $(call variant,NAME,COMPILER AND FLAGS): objects under BUILD/NAME, and from them
#   libupk.a          the runtime with the names upk_* alone visible
#   libupk-private.a  the runtime with all names visible, for its unit tests
#   libpolicyc.a      the compiler as a library
#   libtest.a         what several unit tests use
define variant
$(1)_CC := $(2) $(STRICT) $(WERROR)

# Rewritten only when the flags change, so that objects are made anew then.
$(BUILD)/$(1)/flags: FORCE
	@mkdir -p $$(@D); echo '$$($(1)_CC)' | cmp -s - $$@ || echo '$$($(1)_CC)' >$$@

$(BUILD)/$(1)/%.o: %.c $(BUILD)/$(1)/flags | need
	@mkdir -p $$(@D)
	$$(call say,CC,$$@)$$($(1)_CC) $$(INCLUDE) $$(DEFINES_$$(basename $$<)) -MMD -MP -c -o $$@ $$<

$(DEFINED:%=$(BUILD)/$(1)/%.o): $(BUILD)/defines
$(BUILD)/$(1)/tests/fuzz/cpython.o: $(BUILD)/defines-python

# Parser, scanner and keywords: generated C converts integers freely.
$(BUILD)/$(1)/gen/%.o: $(GEN)/%.c $(BUILD)/$(1)/flags
	@mkdir -p $$(@D)
	$$(call say,CC,$$@)$$($(1)_CC) -Wno-conversion -Icompiler -I$(GEN) -MMD -MP -c -o $$@ $$<

# Compiled policies, as a host compiles them.
$(BUILD)/$(1)/policies/%.o: $(BUILD)/policies/%.c $(BUILD)/$(1)/flags
	@mkdir -p $$(@D)
	$$(call say,CC,$$@)$$($(1)_CC) -Iruntime -MMD -MP -c -o $$@ $$<

$(BUILD)/$(1)/tests/%.policy.o: $(BUILD)/tests/%.c $(BUILD)/$(1)/flags
	@mkdir -p $$(@D)
	$$(call say,CC,$$@)$$($(1)_CC) -Iruntime -MMD -MP -c -o $$@ $$<

# Generated headers must be there before what includes them is first compiled; afterwards the .d files know.
$(COMPILER:%.c=$(BUILD)/$(1)/%.o) $(GRAMMAR:%=$(BUILD)/$(1)/gen/%.o): | $(GEN)/parse.h $(GEN)/shipped.inc
$(BUILD)/$(1)/compiler/%.o: private INCLUDE := -Icompiler -I$(GEN)
$(BUILD)/$(1)/tools/%.o: private INCLUDE := -Iruntime -I$(BUILD)/policies
$(BUILD)/$(1)/tools/shipped_policies.o: | $(BUILD)/policies/shipped.inc
$(BUILD)/$(1)/tests/%.o: private INCLUDE := -Iruntime -I$(BUILD)/policies -I$(BUILD)/tests/bench -I$(BUILD)/tests/fuzz \
    -Icompiler -I$(GEN)
$(UNIT:%=$(BUILD)/$(1)/tests/unit/%.o) $(UNIT_HELP:%.c=$(BUILD)/$(1)/%.o) $(FUZZ:%=$(BUILD)/$(1)/tests/fuzz/%.o) \
    $(FUZZ_HELP:%.c=$(BUILD)/$(1)/%.o): | $(SHIPPED_H) $(GEN)/parse.h $(BUILD)/policies/shipped.inc \
    $(FUZZ_POLICIES:%=$(BUILD)/tests/fuzz/%.h)
$(BUILD)/$(1)/tests/bench/bench.o: | $(BUILD)/tests/bench/bench.h
$(BUILD)/$(1)/tests/bench/shapes.o: | $(BUILD)/tests/bench/shapes.h

$(BUILD)/$(1)/libupk-private.a: $(RUNTIME:%.c=$(BUILD)/$(1)/%.o) $(RUN:%.c=$(BUILD)/$(1)/%.o)
	@rm -f $$@
	$$(call say,AR,$$@)$(AR) rcs $$@ $$^

$(BUILD)/$(1)/upk.o: $(RUNTIME:%.c=$(BUILD)/$(1)/%.o)
$(BUILD)/$(1)/upk_run.o: $(RUN:%.c=$(BUILD)/$(1)/%.o)
$(BUILD)/$(1)/upk.o $(BUILD)/$(1)/upk_run.o:
	$$(call say,LD,$$@)$(LD) -r -o $$@ $$^
	$$(call say,OBJCOPY,$$@)$(OBJCOPY) -w --keep-global-symbol='upk_*' $$@

$(BUILD)/$(1)/libupk.a: $(BUILD)/$(1)/upk.o $(BUILD)/$(1)/upk_run.o
	@rm -f $$@
	$$(call say,AR,$$@)$(AR) rcs $$@ $$^

$(BUILD)/$(1)/libpolicyc.a: $(COMPILER:%.c=$(BUILD)/$(1)/%.o) $(GRAMMAR:%=$(BUILD)/$(1)/gen/%.o)
	@rm -f $$@
	$$(call say,AR,$$@)$(AR) rcs $$@ $$^

$(BUILD)/$(1)/libtest.a: $(UNIT_HELP:%.c=$(BUILD)/$(1)/%.o)
	@rm -f $$@
	$$(call say,AR,$$@)$(AR) rcs $$@ $$^

$(BUILD)/$(1)/policyc: $(POLICYC_MAIN:%.c=$(BUILD)/$(1)/%.o) $(CLI:%.c=$(BUILD)/$(1)/%.o) $(BUILD)/$(1)/libpolicyc.a \
    $(BUILD)/$(1)/libupk.a
	$$(call say,LINK,$$@)$$($(1)_CC) -o $$@ $$^ -lmd -ljansson

$(BUILD)/$(1)/unpickle: $(BUILD)/$(1)/tools/unpickle.o $(BUILD)/$(1)/tools/shipped_policies.o $(CLI:%.c=$(BUILD)/$(1)/%.o) $(CLI_OF_COMPILER:%=$(BUILD)/$(1)/compiler/%.o) \
    $(SHIPPED:%=$(BUILD)/$(1)/policies/%.o) $(BUILD)/$(1)/libupk.a
	$$(call say,LINK,$$@)$$($(1)_CC) -o $$@ $$^

$(BUILD)/$(1)/upk-run: $(RUN_MAIN:%.c=$(BUILD)/$(1)/%.o) $(CLI:%.c=$(BUILD)/$(1)/%.o) $(SHIPPED:%=$(BUILD)/$(1)/policies/%.o) \
    $(BUILD)/$(1)/libpolicyc.a $(BUILD)/$(1)/libupk.a
	$$(call say,LINK,$$@)$$($(1)_CC) -o $$@ $$^ -lmd -ljansson

$(UNIT_OF_COMPILER:%=$(BUILD)/$(1)/tests/unit/%): $(BUILD)/$(1)/tests/unit/%: $(BUILD)/$(1)/tests/unit/%.o \
    $(BUILD)/$(1)/libtest.a $(SHIPPED:%=$(BUILD)/$(1)/policies/%.o) $(BUILD)/$(1)/libpolicyc.a $(BUILD)/$(1)/libupk.a
	$$(call say,LINK,$$@)$$($(1)_CC) -o $$@ $$^ -lcmocka -lmd -ljansson

$(UNIT_OF_RUNTIME:%=$(BUILD)/$(1)/tests/unit/%): $(BUILD)/$(1)/tests/unit/%: $(BUILD)/$(1)/tests/unit/%.o \
    $(BUILD)/$(1)/libtest.a $(SHIPPED:%=$(BUILD)/$(1)/policies/%.o) $(BUILD)/$(1)/libupk-private.a
	$$(call say,LINK,$$@)$$($(1)_CC) -o $$@ $$^ -lcmocka -lm

# A fuzz target links both sides; libFuzzer brings main, or else replay.c does.  Mutations of pickles go with libFuzzer.
$(FUZZ_PICKLE:%=$(BUILD)/$(1)/tests/fuzz/%): $(FUZZ_HELP:%.c=$(BUILD)/$(1)/%.o) \
    $(FUZZ_POLICIES:%=$(BUILD)/$(1)/tests/fuzz/%.policy.o) $(if $(4),$(FUZZ_MUTATOR:%.c=$(BUILD)/$(1)/%.o))
$(FUZZ:%=$(BUILD)/$(1)/tests/fuzz/%): $(BUILD)/$(1)/tests/fuzz/%: $(BUILD)/$(1)/tests/fuzz/%.o $(3) \
    $(SHIPPED:%=$(BUILD)/$(1)/policies/%.o) $(BUILD)/$(1)/libpolicyc.a $(BUILD)/$(1)/libupk.a
	$$(call say,LINK,$$@)$$($(1)_CC) $(4) -o $$@ $$^ -lmd -ljansson

-include $(wildcard $(BUILD)/$(1)/*/*.d $(BUILD)/$(1)/runtime/run/*.d $(BUILD)/$(1)/tests/*/*.d $(BUILD)/$(1)/tests/fuzz/help/*.d)
endef

SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer

$(eval $(call variant,release,$(CC) $(CFLAGS),$(BUILD)/release/tests/fuzz/replay.o,))
$(eval $(call variant,asan,$(CLANG) -O1 -g $(SANITIZE),$(BUILD)/asan/tests/fuzz/replay.o,))
$(eval $(call variant,fuzz,$(CLANG) -O1 -g -fsanitize=fuzzer-no-link $(SANITIZE),,-fsanitize=fuzzer))
$(eval $(call variant,cov,$(CC) -O1 -g -DNDEBUG --coverage -fprofile-update=atomic,$(BUILD)/cov/tests/fuzz/replay.o,))
$(eval $(call variant,pic,$(CC) $(CFLAGS) -fPIC,,))
# For modules of CPython, which show nothing but their PyInit function, and call into the interpreter all the time: without a stub each.
$(eval $(call variant,hidden,$(CC) $(CFLAGS) -fPIC -fno-plt -fvisibility=hidden,,))
$(eval $(call variant,hidden-asan,$(CLANG) -O1 -g $(SANITIZE) -fPIC -fno-plt -fvisibility=hidden,,))

# The programs and the library that users see are those of variant `release`.
$(BUILD)/policyc $(BUILD)/libupk.a $(BUILD)/unpickle $(BUILD)/upk-run: $(BUILD)/%: $(BUILD)/release/%
	@ln -f $< $@

# ---- modules of CPython -------------------------------------------------------------------------------------------------

# BUILD/guards/NAME.c and kin are what policyc writes; BUILD/python/PY_TAG/NAME.*.so is the module.  Those of the tests, as
# NAME=POLICY; NAME and POLICY of the command line are one more.
GUARDS := $(foreach s,$(SHIPPED),$(s)_guard=policies/$(s).policy) corpus_guard=tests/policy/corpus.policy \
    builder_guard=tests/policy/builder.policy hosts_guard=tests/policy/hosts.policy \
    channels_guard=tests/policy/ok/channels.policy child_guard=tests/policy/ok/environment.policy \
    run_guard=tests/policy/child.policy \
    api_guard=tests/policy/python/api.policy open_guard=tests/policy/python/open.policy \
    objects_guard=tools/examples/objects/objects.policy open_alone_guard=tests/policy/python/open_alone.policy \
    pickletester_guard=tests/policy/pickletester.policy
ifdef NAME
GUARDS := $(filter-out $(NAME)=%,$(GUARDS)) $(NAME)=$(POLICY)
endif
GUARD_NAMES := $(foreach g,$(GUARDS),$(firstword $(subst =, ,$(g))))
# For clients that are large.
LARGE_GUARDS := $(if $(filter torch_guard,$(NAME)),,torch_guard=tests/policy/torch.policy)

ifneq ($(filter python python-asan test asan check check-full bench-python,$(MAKECMDGOALS)),)
PY_CONFIG := $(BUILD)/python/config$(subst /,-,$(PYTHON)).mk
$(PY_CONFIG): tools/python_config.py $(shell command -v $(PYTHON)) | need
	@mkdir -p $(@D)
	@$(PYTHON) -B $< >$@
include $(PY_CONFIG)
endif

GLUE := $(wildcard runtime/python/*.c)

# $(call guard,NAME,POLICY)
define guard
# Rewritten only when another policy gets the name.
$(BUILD)/guards/$(1).from: FORCE
	@mkdir -p $$(@D); echo '$(2)' | cmp -s - $$@ || echo '$(2)' >$$@

$(addprefix $(BUILD)/guards/$(1),.c .h module.c .pyi) &: $(2) $(BUILD)/guards/$(1).from $(BUILD)/policyc
	$$(call say,POLICYC,$(BUILD)/guards/$(1).c)$(BUILD)/policyc --policy-dir policies -MD $$(POLICYC_FLAGS) --python $(1) -o $(BUILD)/guards $(2)
endef
$(foreach g,$(GUARDS) $(LARGE_GUARDS),$(eval $(call guard,$(firstword $(subst =, ,$(g))),$(lastword $(subst =, ,$(g))))))
# Those of the tests which fail open, on a day before their last one; for others, POLICYC_FLAGS=--allow-fail-open on the command line.
$(foreach g,open_guard open_alone_guard objects_guard,$(addprefix $(BUILD)/guards/$(g),.c .h module.c .pyi)): POLICYC_FLAGS := --allow-fail-open --today 2026-12-01
-include $(wildcard $(BUILD)/guards/*.d)

# $(call python_variant,FOLDER,VARIANT): modules under BUILD/FOLDER of what VARIANT compiles.
define python_variant
$(1)_DIR := $(BUILD)/$(1)/$(PY_TAG)

$(BUILD)/$(2)/guards/%.o: $(BUILD)/guards/%.c $(BUILD)/$(2)/flags
	@mkdir -p $$(@D)
	$$(call say,CC,$$@)$$($(2)_CC) -Iruntime -MMD -MP -c -o $$@ $$<

$$($(1)_DIR)/glue/%.o: runtime/python/%.c $(BUILD)/$(2)/flags $(PY_CONFIG)
	@mkdir -p $$(@D)
	$$(call say,CC,$$@)$$($(2)_CC) $(PY_INCLUDE) -Iruntime -MMD -MP -c -o $$@ $$<

$$($(1)_DIR)/guards/%module.o: $(BUILD)/guards/%module.c $(BUILD)/guards/%.h $(BUILD)/$(2)/flags $(PY_CONFIG)
	@mkdir -p $$(@D)
	$$(call say,CC,$$@)$$($(2)_CC) $(PY_INCLUDE) -Iruntime -Iruntime/python -MMD -MP -c -o $$@ $$<

$$($(1)_DIR)/%.pyi: $(BUILD)/guards/%.pyi
	@mkdir -p $$(@D); cp $$< $$@

$$($(1)_DIR)/%$(PY_SUFFIX): $$($(1)_DIR)/guards/%module.o $(BUILD)/$(2)/guards/%.o $(GLUE:runtime/python/%.c=$(BUILD)/$(1)/$(PY_TAG)/glue/%.o) \
    $(BUILD)/$(2)/libupk-private.a | $$($(1)_DIR)/%.pyi
	$$(call say,LINK,$$@)$$($(2)_CC) -shared -o $$@ $$^

-include $$(wildcard $$($(1)_DIR)/glue/*.d $$($(1)_DIR)/guards/*.d $(BUILD)/$(2)/guards/*.d)

$(1): $(NAME:%=$$($(1)_DIR)/%$(PY_SUFFIX))
	$$(if $$(and $$(NAME),$$(POLICY)),@echo $$<,$$(error usage: make $(1) POLICY=FILE.policy NAME=MODULE))
endef

ifdef PY_TAG
$(eval $(call python_variant,python,hidden))
$(eval $(call python_variant,python-asan,hidden-asan))
endif

# ---- tests --------------------------------------------------------------------------------------------------------------

# The corpus, kept packed.
$(BUILD)/corpus/manifest.json: tests/corpus/corpus.tar.xz | need
	@mkdir -p $(BUILD)/corpus
	$(call say,TAR,$@)tar -xJf $< --strip-components=1 --no-same-owner -m -C $(BUILD)/corpus

$(BUILD)/seeds/stamp: tests/fuzz/seeds.tar.xz | need
	@rm -rf $(BUILD)/seeds
	$(call say,TAR,$(@D))tar -xJf $< --no-same-owner -m -C $(BUILD)
	@touch $@

INPUTS := $(BUILD)/corpus/manifest.json $(BUILD)/seeds/stamp
TEST_FILES := all $(INPUTS) $(UNIT:%=$(BUILD)/release/tests/unit/%) \
    $(FUZZ:%=$(BUILD)/release/tests/fuzz/%) $(GUARD_NAMES:%=$(python_DIR)/%$(PY_SUFFIX))
ASAN_FILES := all $(INPUTS) $(UNIT:%=$(BUILD)/asan/tests/unit/%) $(GUARD_NAMES:%=$(python-asan_DIR)/%$(PY_SUFFIX))
FUZZ_FILES := $(INPUTS) $(FUZZ:%=$(BUILD)/fuzz/tests/fuzz/%)

check: lint $(TEST_FILES) $(ASAN_FILES) $(FUZZ_FILES)
	@$(PYTHON) -B tests/run_check.py $(BUILD) --seconds $(T) unit asan scripts find_class fuzz

check-full: check $(python_DIR)/torch_guard$(PY_SUFFIX)
	@for test in tests/large/test_*.py; do $(PYTHON) -B $$test $(BUILD) || exit; done

test: $(TEST_FILES)
	@$(PYTHON) -B tests/run_check.py $(BUILD) unit scripts

asan: $(ASAN_FILES)
	@$(PYTHON) -B tests/run_check.py $(BUILD) asan

fuzz: $(FUZZ_FILES)
	@$(PYTHON) -B tests/run_check.py $(BUILD) --seconds $(T) fuzz

fuzz-keep: $(FUZZ_FILES)
	@$(PYTHON) -B tests/fuzz/pack.py $(BUILD)

# The same tests with what counts lines: its folder looks like a build folder, whose programs are those of variant `cov`.
COV := $(BUILD)/cov
COV_FILES := all $(INPUTS) $(addprefix $(COV)/,policyc unpickle upk-run libupk.a) $(UNIT:%=$(COV)/tests/unit/%) \
    $(FUZZ:%=$(COV)/tests/fuzz/%)
cov: $(COV_FILES)
	@ln -sfn . $(COV)/release && ln -sfn ../corpus ../seeds $(COV) && ln -sf ../../gen/shipped.inc $(COV)/gen
	@find $(COV) -name '*.gcda' -delete
	@$(PYTHON) -B tests/run_check.py $(COV) cov
	@$(PYTHON) -B tests/coverage.py $(COV) runtime:97 compiler:95

# After a change of generated C that is meant: look at the difference before it is kept.
golden-update: all
	@$(PYTHON) -B tests/test_golden.py $(BUILD) --update

demo: all
	@tools/demo.sh $(BUILD)

# ---- benchmark ----------------------------------------------------------------------------------------------------------

$(BUILD)/bench/stamp: tests/bench/gen.py tests/bench/perf_types.py | need
	$(call say,PYTHON,$@)$(PYTHON) -B tests/bench/gen.py $(BUILD)/bench
	@touch $@

$(BUILD)/pic/bench.so: $(BUILD)/pic/tests/bench/bench.o $(BUILD)/pic/tests/bench/bench.policy.o $(BUILD)/pic/libupk.a
	$(call say,LINK,$@)$(pic_CC) -shared -Wl,-Bsymbolic -o $@ $^

$(BUILD)/release/tests/bench/shapes: $(BUILD)/release/tests/bench/shapes.o $(BUILD)/release/tests/bench/shapes.policy.o \
    $(BUILD)/release/libupk-private.a
	$(call say,LINK,$@)$(release_CC) -o $@ $^

bench: $(BUILD)/pic/bench.so $(BUILD)/release/tests/bench/shapes $(BUILD)/bench/stamp
	@$(PYTHON) -B tests/bench/bench.py $(BUILD)/pic/bench.so $(BUILD)/bench
	@$(PYTHON) -B tests/bench/shapes.py $(BUILD)/release/tests/bench/shapes $(BUILD)/bench

$(eval $(call guard,bench_guard,tests/bench/bench.policy))

bench-python: $(BUILD)/pic/bench.so $(foreach g,bench agentix pysandboxes,$(python_DIR)/$(g)_guard$(PY_SUFFIX)) $(BUILD)/bench/stamp
	@$(PYTHON) -B tests/bench/python.py $(BUILD)/pic/bench.so $(python_DIR)/bench_guard$(PY_SUFFIX) $(BUILD)/bench $(BENCH)

# ---- source text --------------------------------------------------------------------------------------------------------

# Written by hand: not the corpus's data, not golden output.
OURS := $(wildcard $(addsuffix /*.[ch],runtime runtime/run runtime/python compiler tools tests/unit tests/fuzz tests/fuzz/help) \
    $(addsuffix /*.c,tools/demo tools/examples/* tests/bench))

format: | need
	clang-format -i $(OURS)

lint: | need
	@clang-format --dry-run -Werror $(OURS)

# ---- installation -------------------------------------------------------------------------------------------------------

# What compiles policies is linked anew with the place where the shipped ones will stand.
INSTALLED := $(sort $(POLICYC_MAIN:tools/%.c=$(BUILD)/install/%.o) $(RUN_MAIN:tools/%.c=$(BUILD)/install/%.o))

$(BUILD)/install/prefix: FORCE
	@mkdir -p $(@D); echo '$(PREFIX)' | cmp -s - $@ || echo '$(PREFIX)' >$@

$(INSTALLED): $(BUILD)/install/%.o: tools/%.c $(BUILD)/release/flags $(BUILD)/install/prefix | need
	$(call say,CC,$@)$(release_CC) -Iruntime -I$(BUILD)/policies -DPOLICY_DIR='"$(PREFIX)/share/policyc/policies"' -MMD -MP -c -o $@ $<

$(BUILD)/install/policyc: $(POLICYC_MAIN:tools/%.c=$(BUILD)/install/%.o)
$(BUILD)/install/upk-run: $(RUN_MAIN:tools/%.c=$(BUILD)/install/%.o) $(SHIPPED:%=$(BUILD)/release/policies/%.o)
$(BUILD)/install/policyc $(BUILD)/install/upk-run: $(CLI:%.c=$(BUILD)/release/%.o) $(BUILD)/release/libpolicyc.a $(BUILD)/release/libupk.a
	$(call say,LINK,$@)$(release_CC) -o $@ $(filter %.o,$^) $(filter %.a,$^) -lmd -ljansson

-include $(wildcard $(BUILD)/install/*.d)

# What stands where below PREFIX.  upk.pc names PREFIX once, so that `pkg-config --define-variable=prefix=...` moves it.
INSTALL_PROGRAMS := $(BUILD)/install/policyc $(BUILD)/unpickle $(BUILD)/install/upk-run
INSTALL_HEADERS := $(addprefix runtime/,upk.h upk_environment.h upk_tables.h upk_version.h find_class.h upk_run.h)
# Modules of CPython are compiled with them.
INSTALL_SOURCES := $(wildcard runtime/*.[ch] runtime/run/*.[ch] runtime/python/*.[ch])
INSTALL_POLICIES := $(wildcard policies/*.policy policies/*/*.policy)
# Links in the documents lead to examples.
INSTALL_DOCS := README.md LICENSE $(wildcard docs/*.md) $(shell find tools/examples -name out -prune -o -type f -print)
INTO := $(DESTDIR)$(PREFIX)

# $(call with_paths,FILES,FOLDER): each file below FOLDER, by its own path.
with_paths = for file in $(1); do install -D -m 644 $$file $(2)/$$file || exit; done

install: all $(BUILD)/install/policyc $(BUILD)/install/upk-run
	@install -d $(addprefix $(INTO)/,bin lib/pkgconfig include/upk share/man/man1 share/man/man3 share/man/man5)
	$(call say,INSTALL,$(INTO)/bin)install $(INSTALL_PROGRAMS) $(INTO)/bin
	$(call say,INSTALL,$(INTO)/lib/libupk.a)install -m 644 $(BUILD)/libupk.a $(INTO)/lib
	$(call say,INSTALL,$(INTO)/include/upk)install -m 644 $(INSTALL_HEADERS) $(INTO)/include/upk
	$(call say,INSTALL,$(INTO)/lib/pkgconfig/upk.pc)printf '%s\n' 'prefix=$(PREFIX)' \
	    'python_sources=$${prefix}/share/policyc/src/runtime' '' 'Name: upk' \
	    'Description: decode untrusted pickle under a compiled policy' 'Version: $(VERSION)' \
	    'Cflags: -I$${prefix}/include/upk' 'Libs: -L$${prefix}/lib -lupk' >$(INTO)/lib/pkgconfig/upk.pc
	$(call say,INSTALL,$(INTO)/share/policyc)$(call with_paths,$(INSTALL_POLICIES),$(INTO)/share/policyc)
	$(call say,INSTALL,$(INTO)/share/policyc/src)$(call with_paths,$(INSTALL_SOURCES),$(INTO)/share/policyc/src)
	$(call say,INSTALL,$(INTO)/share/doc/upk)$(call with_paths,$(INSTALL_DOCS),$(INTO)/share/doc/upk)
	$(call say,INSTALL,$(INTO)/share/man)for page in docs/man/*.[135]; do \
	    install -m 644 $$page $(INTO)/share/man/man$${page##*.} || exit; done

# The list above.
help:
	@sed -n 's/^#   make/make/p' $(firstword $(MAKEFILE_LIST))

clean:
	rm -rf $(BUILD)
