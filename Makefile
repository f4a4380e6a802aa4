# `make demo` and `make test` set up what is missing; the others are listed by `make help`.
CARGO    ?= cargo
PYTHON    = .venv/bin/python
WARPLOOM  = target/release/warploom
TARGET   ?= sm_90a
SECONDS_EACH ?= 600
SOAK     ?= 1000
EVERY    ?= 1
FUZZ_TARGETS = $(notdir $(basename $(wildcard fuzz/fuzz_targets/*.rs)))

.PHONY: help setup peers build demo test lint unit python triton-tests foreign packages bench bench-oracle bench-compile table corpus prices figures kernels gpu gpu-kernels fuzz fuzz-check soak rules triton-ptx clean

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 16

setup: ## install LLVM 22 (distribution) and ptxas (PyPI, .venv) where missing
	@tools/setup.sh

peers: ## also install what benchmarks and the Triton example need
	@tools/setup.sh peers

build: setup ## the command, optimised: target/release/warploom
	$(CARGO) build --release -p warploom

demo: build ## compile the example GEMM for Hopper; show schedule, memory map and what ptxas says
	@sh tools/demo.sh $(WARPLOOM) $(TARGET)

test: lint unit python packages fuzz-check ## everything CI runs

lint: setup ## format, clippy and rustdoc without warnings, no circle between files, no file above 400 lines
	python3 tools/house.py
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --all-features -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --all-features

unit: setup ## unit, property, mutation and fixture tests
	$(CARGO) test --workspace --all-features

python: peers ## install the Python package into .venv and run its tests: Triton without a GPU, its plug-in, its README
	@tools/setup.sh python
	@# With the profile of `unit`, so that what both need is built once.
	PATH="$(CURDIR)/.venv/bin:$$PATH" MATURIN_PEP517_ARGS="--profile dev" $(PYTHON) -m pip install --quiet --no-build-isolation --no-deps --force-reinstall ./python
	$(PYTHON) -m pytest -q -p no:cacheprovider python/tests --ignore=python/tests/with_torch

triton-tests: python ## Triton's own unit tests (DATA=FOLDER of test_*.py) on the emulator, by its PTX and by ours; installs PyTorch
	@test -d "$(DATA)" || { echo "triton-tests: DATA=FOLDER of Triton's test_*.py is missing" >&2; exit 1; }
	@tools/setup.sh torch
	$(PYTHON) -m pytest -q -p no:cacheprovider python/tests/with_torch
	$(PYTHON) tools/triton_tests.py $(DATA) --every $(EVERY)

foreign: setup ## CUDA C++ compiled by nvcc on the emulator: kernels of ours with known numbers; DATA=FOLDER of .cu files: what loads
	@tools/setup.sh foreign
	$(PYTHON) tools/foreign.py --out target/foreign $(if $(DATA),--data "$(DATA)")
	$(CARGO) test --release -p warploom-emulator --test foreign -- --include-ignored --nocapture $(if $(DATA),,--skip samples)
	$(if $(DATA),$(CARGO) run --release -p warploom-emulator --example refusals -- target/foreign/data/*.ptx)

rules: ## write into docs/rules who checks each rule
	$(CARGO) run --quiet -p warploom-rules --example where_checked

packages: setup ## package every crate offline; build and run from the packaged files alone
	@sh tools/packages.sh

bench: ## all benchmarks that need no GPU; DATA=DIR adds what others made: DIR/loops, DIR/packing
	$(CARGO) bench -p warploom-sched --bench loops -- $(if $(DATA),--data $(DATA)/loops)
	bench/pack $(if $(DATA),--data $(DATA)/packing)
	$(MAKE) bench-compile

bench-oracle: ## the scheduler against OR-Tools' CP-SAT, on the same loops
	@tools/setup.sh oracle
	$(CARGO) bench -p warploom-sched --bench loops -- --oracle $(PYTHON) --oracle-limit 1 --generated 5 --time-limit 2

bench-compile: build peers ## TTIR-to-PTX time against Triton
	$(PYTHON) bench/compile_time.py $(WARPLOOM)

table: build peers ## kernel x chip: II, partitions, machine code beside Triton's, the emulator's verdict
	$(PYTHON) bench/kernels.py $(WARPLOOM)

corpus: build peers ## every kernel on every chip beside Triton, as a gate and a page; DATA=DIR adds public kernels: DIR/real
	$(PYTHON) bench/corpus.py $(WARPLOOM) $(if $(DATA),--data $(DATA))

prices: build ## the model's load of each unit beside the machine code's, loop by loop
	bench/prices

figures: build peers ## measure every table of docs/figures.md and docs/kernels.md again (half an hour)
	$(PYTHON) bench/figures.py $(WARPLOOM)

kernels: peers ## write examples/kernels/*.ttir and kernels/*.ttir again (needs Triton, no GPU)
	cd examples/kernels && ../../$(PYTHON) export.py
	$(PYTHON) kernels/export_ttir.py

gpu-kernels: build ## PTX, cubin and launch records of the example kernels into out/gpu
	@mkdir -p out/gpu
	@for k in examples/kernels/*.ttir; do n=$$(basename $$k .ttir); \
	  $(WARPLOOM) compile $$k --target $(TARGET) --emit ptx -o out/gpu/$$n.ptx --json > out/gpu/$$n.json && \
	  $(WARPLOOM) compile $$k --target $(TARGET) --emit cubin -o out/gpu/$$n.cubin || exit 1; done

gpu: gpu-kernels ## run them on a GPU, against PyTorch, cuBLAS and Triton; without one, say so
	@python3 bench/gpu/run.py out/gpu

fuzz: setup ## every fuzz target for SECONDS_EACH seconds; `compile` alone needs LLVM
	@command -v cargo-fuzz >/dev/null || $(CARGO) install --quiet cargo-fuzz
	@for t in $(FUZZ_TARGETS); do echo "fuzz: $$t, $(SECONDS_EACH) s"; \
	  RUSTC_BOOTSTRAP=1 $(CARGO) fuzz run $$t --sanitizer none --features "$$([ $$t = compile ] && echo llvm)" -- -max_total_time=$(SECONDS_EACH) -rss_limit_mb=4096 || exit 1; done

fuzz-check: setup ## the fuzz targets that need no LLVM, checked as on a machine without it
	@test -e fuzz/Cargo.lock || cp Cargo.lock fuzz/
	LLVM_SYS_221_PREFIX=/nowhere CARGO_BUILD_BUILD_DIR=target $(CARGO) check --quiet --manifest-path fuzz/Cargo.toml

soak: setup triton-ptx ## SOAK (1000) interleavings of every kernel on every chip on the emulator, Triton's PTX under every policy, kernels of tiles made at random for ten minutes, 100,000 buffer problems of each family, the scheduler's laws on 20,000 seeds
	$(CARGO) test --release -p warploom-bufassign --test families --test names -- --ignored --nocapture
	$(CARGO) test --release -p warploom-sched --test soak -- --ignored --nocapture
	$(CARGO) test --release -p warploom --test tile_kernels -- --ignored --nocapture
	$(CARGO) test --release -p warploom --test kernels runs_right_under_$(SOAK)_interleavings -- --ignored --nocapture
	$(CARGO) test --release -p warploom-emulator --test triton -- --include-ignored --nocapture

triton-ptx: peers ## make PTX with Triton for the emulator's tests (target/triton-ptx)
	$(PYTHON) crates/emulator/tests/make_triton_ptx.py --kernels kernels --out target/triton-ptx

clean: ## remove everything built or installed here
	$(CARGO) clean
	rm -rf .venv out fuzz/target
