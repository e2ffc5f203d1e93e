# Installs Debian packages that are missing; sourced by the other scripts.
# shellcheck shell=bash

# What every build needs, and what the tests need on top.
build_packages=(cmake ninja-build g++ libboost-dev nlohmann-json3-dev libcli11-dev libedit-dev libfmt-dev libpcre2-dev libsimdjson-dev pkg-config)
test_packages=(libgtest-dev)

is_installed() {
  [[ $(dpkg-query -W -f='${db:Status-Abbrev}' "$1" 2>/dev/null) == ii* ]]
}

# install_packages NAME...: with apt as root or through sudo. Where neither is possible the missing names are printed
# and the script goes on: they may be there under another name, and configuring the build says what is not.
install_packages() {
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "Not a Debian-like system: make sure that you have (Debian's names) $*" >&2
    return 0
  fi
  local missing=() name as_root=()
  for name in "$@"; do is_installed "$name" || missing+=("$name"); done
  [[ ${#missing[@]} -gt 0 ]] || return 0
  if [[ $(id -u) -ne 0 ]]; then
    # Without a terminal nobody can type a password.
    if command -v sudo >/dev/null && { [[ -t 0 ]] || sudo -n true 2>/dev/null; }; then
      as_root=(sudo)
    else
      echo "These packages are missing and cannot be installed from here: ${missing[*]}" >&2
      echo "As root: apt-get install ${missing[*]}" >&2
      return 0
    fi
  fi
  echo "Installing ${missing[*]}" >&2
  local log status=0
  log=$(mktemp)
  { "${as_root[@]}" apt-get update -q &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"
  } >"$log" 2>&1 </dev/null || status=$?
  if [[ $status -ne 0 ]]; then
    tail -n 20 "$log" >&2
    echo "apt-get failed; install these packages by hand and run the script again: ${missing[*]}" >&2
  fi
  rm -f "$log"
  return "$status"
}
