#!/bin/sh
# Installs what is missing: LLVM 22 from the distribution, ptxas and nvdisasm from PyPI into .venv.
# `setup.sh peers` also installs what the benchmarks compare with, `setup.sh torch` PyTorch. Does nothing when all is there.
set -eu
cd "$(dirname "$0")/.."

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; elif command -v sudo >/dev/null; then sudo "$@"; else
        echo "setup: please run as root: $*" >&2
        exit 1
    fi
}

packages=""
[ -x /usr/lib/llvm-22/bin/llvm-config ] || packages="$packages llvm-22-dev"
# FileCheck, for tests that compare with it.
[ -x /usr/lib/llvm-22/bin/FileCheck ] || packages="$packages llvm-22-tools"
{ command -v cc && command -v c++; } >/dev/null || packages="$packages build-essential"
python3 -c 'import venv, ensurepip' 2>/dev/null || packages="$packages python3 python3-venv"
if [ -n "$packages" ]; then
    echo "setup: installing$packages" >&2
    as_root apt-get update -qq
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive as_root apt-get install -y -qq --no-install-recommends $packages >/dev/null
fi
command -v cargo >/dev/null || { echo "setup: Rust is missing; see https://rustup.rs" >&2; exit 1; }

install() { # name of a file in requirements/
    stamp=".venv/.$1-$(cksum <"requirements/$1.txt" | cut -d' ' -f1)"
    [ -e "$stamp" ] && return
    [ -x .venv/bin/pip ] || python3 -m venv .venv
    echo "setup: installing requirements/$1.txt into .venv" >&2
    .venv/bin/pip install --quiet --disable-pip-version-check --no-deps -r "requirements/$1.txt"
    touch "$stamp"
}
# nvcc in a folder of its own: PyTorch brings headers of another version.
foreign() {
    stamp=".venv/foreign/.$(cat requirements/assembler.txt requirements/foreign.txt | cksum | cut -d' ' -f1)"
    [ -e "$stamp" ] && return
    [ -x .venv/bin/pip ] || python3 -m venv .venv
    echo "setup: installing nvcc into .venv/foreign" >&2
    rm -rf .venv/foreign
    .venv/bin/pip install --quiet --disable-pip-version-check --no-deps --target .venv/foreign \
        -r requirements/assembler.txt -r requirements/foreign.txt
    touch "$stamp"
}
# PyTorch for the CPU where its own index can be reached, else the one of PyPI, which brings CUDA along and works without.
torch() {
    .venv/bin/python -c 'import torch, scipy' 2>/dev/null && return
    echo "setup: installing PyTorch into .venv" >&2
    .venv/bin/pip install --quiet --disable-pip-version-check torch --index-url https://download.pytorch.org/whl/cpu 2>/dev/null ||
        .venv/bin/pip install --quiet --disable-pip-version-check torch
    .venv/bin/pip install --quiet --disable-pip-version-check scipy
}

install assembler
for extra in "$@"; do
    case "$extra" in
        torch | foreign) "$extra" ;;
        *) install "$extra" ;;
    esac
done
