#!/usr/bin/env bash
# Installs what the build needs, builds the release preset and runs all tests. Exit status: that of the tests.
# Usage: scripts/test.sh [CTEST ARGUMENT...], for example scripts/test.sh -R quant
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if [[ ${1:-} == -h || ${1:-} == --help ]]; then sed -n '2,3s/^# //p' scripts/test.sh; exit 0; fi
# shellcheck source=scripts/packages.sh
. scripts/packages.sh

install_packages "${build_packages[@]}" "${test_packages[@]}"
jobs=$(nproc)
cmake --preset release
cmake --build --preset release --parallel "$jobs"
# The summary is kept in a file for those who print it again.
ctest --preset release --no-tests=error --parallel "$jobs" "$@" </dev/null | tee build/release/ctest.log
