#!/bin/sh
# Packages every crate offline, then uses nothing but the packaged files: a crate outside the workspace is built and run,
# the command is built without LLVM and refuses what needs it, the facade is built with it.
set -eu
cd "$(dirname "$0")/.."
cargo="${CARGO:-cargo}"
root=$(pwd)

rm -f target/package/*.crate
"$cargo" package --workspace --exclude warploom-python --no-verify --offline --allow-dirty --quiet

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for file in target/package/*.crate; do
    tar -xzf "$file" -C "$work"
done

# Packages of ours from the unpacked files; built in the quickest way, since little of it runs.
config="$work/config.toml"
{
    printf '[profile.dev]\nopt-level = 0\ndebug = false\nincremental = false\n'
    echo "[patch.crates-io]"
    for folder in "$work"/warploom*-[0-9]*; do
        name=$(basename "$folder" | sed 's/-[0-9][0-9.]*$//')
        echo "$name = { path = \"$folder\" }"
    done
} >"$config"
export CARGO_TARGET_DIR="$root/target/packages" CARGO_NET_OFFLINE=true
own() { # VERB FOLDER ARGS ..
    verb=$1 folder=$2
    shift 2
    cp Cargo.lock "$folder/Cargo.lock"
    "$cargo" "$verb" --quiet --config "$config" --manifest-path "$folder/Cargo.toml" "$@"
}

cp -r tools/outside "$work/outside"
own run "$work/outside" -- examples/problems/buffers.json

facade=$(ls -d "$work"/warploom-[0-9]*)
own build "$facade" --bin warploom --no-default-features
command=target/packages/debug/warploom
"$command" schedule - --json >"$work/answer.json" <<'GRAPH'
{"name":"one","resources":[{"name":"U","count":1}],"nodes":[{"id":0,"latency":2,"uses":[{"resource":"U","duration":2}]}],"edges":[]}
GRAPH
grep -q '"ii":2' "$work/answer.json"
"$command" compile examples/kernels/gemm.ttir --target sm_90a --emit program >"$work/gemm.mlir"
if "$command" compile examples/kernels/gemm.ttir --target sm_90a --emit ptx >"$work/ptx" 2>"$work/said"; then
    echo "packages: PTX without LLVM" >&2
    exit 1
fi
grep -qi 'llvm' "$work/said" || { cat "$work/said" >&2; exit 1; }

own build "$facade" --lib
echo "packages: $(ls target/package/*.crate | wc -l) packaged; outside crate, command without LLVM and facade are built from them"
