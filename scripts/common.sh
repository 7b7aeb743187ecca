# shellcheck shell=bash
# What ./quickstart and ./test share: saying what happens, installing packages, building a preset.
# Sourced by bash, with ROOT set to the top of the source tree.

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ] && [ "${TERM:-dumb}" != dumb ]; then
  BOLD=$'\e[1m' DIM=$'\e[2m' RED=$'\e[31m' PLAIN=$'\e[0m'
else
  BOLD='' DIM='' RED='' PLAIN=''
fi

# Objects are shared between checkouts in different folders.
export CCACHE_BASEDIR="$ROOT" CCACHE_NOHASHDIR=1
# Headers are known from what the compiler writes down; otherwise each source that is not in the cache is preprocessed once
# more, only to look for it.
export CCACHE_DEPEND=1

say() { printf '%s==>%s %s\n' "$BOLD" "$PLAIN" "$*"; }
note() { printf '    %s%s%s\n' "$DIM" "$*" "$PLAIN"; }

# Ends the script with a sentence that says what to do.
fail() {
  printf '%s%s: %s%s\n' "$RED" "$(basename "$0")" "$*" "$PLAIN" >&2
  exit 1
}

# packages SECTION...: the package names of those sections of scripts/packages.
packages() {
  local wanted=" $* " section='' line
  while read -r line; do
    case "$line" in
      '' | '#'*) ;;
      '['*']') section=${line:1:-1} ;;
      *) case "$wanted" in *" $section "*) echo "$line" ;; esac ;;
    esac
  done <"$ROOT/scripts/packages"
}

# missing_packages SECTION...: those that are not installed. A package that another provides, or a
# system without dpkg, is checked by the caller.
missing_packages() {
  local name
  for name in $(packages "$@"); do
    dpkg-query -W -f='${db:Status-Status}\n' "$name" 2>/dev/null | grep -qx installed || echo "$name"
  done
}

# as_root COMMAND...: directly or through sudo.
as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  else
    sudo "$@"
  fi
}

require_free_mib() { # MIB DIRECTORY WHAT-FOR
  local free
  free=$(df -Pm "$2" 2>/dev/null | awk 'NR == 2 {print $4}')
  if [ -n "$free" ] && [ "$free" -lt "$1" ]; then
    fail "$2 has $free MiB free and $3 needs about $1 MiB; free some space and run this again."
  fi
}

# install_packages SECTION...: installs what is missing, and only that.
install_packages() {
  local missing list log system
  command -v dpkg-query >/dev/null ||
    fail "this installs Debian packages, and there is no dpkg here; use Debian 12 (a container will do: docker run -it debian:12), or install the libraries of scripts/packages yourself and build with: cmake --preset release && cmake --build --preset release"
  missing=$(missing_packages "$@" | xargs)
  [ -n "$missing" ] || return 0
  list="apt-get install --no-install-recommends $missing"

  system=$(. /etc/os-release 2>/dev/null && echo "${ID:-unknown} ${VERSION_ID:-}")
  [ "$system" = "debian 12" ] ||
    fail "this needs Debian 12 and runs on ${system:-an unknown system}; use a Debian 12 container (docker run -it debian:12), or install what stands for these packages: $missing"
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null ||
      fail "packages are missing and there is no sudo; run this as root, or let an administrator run: $list"
    if ! sudo -n true 2>/dev/null; then
      [ -t 0 ] || fail "packages are missing and sudo asks for a password, but there is no terminal; first run: sudo $list"
      say "Packages have to be installed; sudo may ask for your password."
      sudo -v || fail "sudo was refused; let an administrator run: $list"
    fi
  fi
  require_free_mib 1500 /var "installing packages"

  say "Installing $(wc -w <<<"$missing") Debian packages (one to three minutes, once)."
  note "$missing"
  log=$(mktemp)
  prepare_services
  if ! as_root apt-get -q -o APT::Update::Error-Mode=any -o DPkg::Lock::Timeout=300 update >"$log" 2>&1; then
    note "the package lists could not be refreshed: $(grep -E '^(E|W|Err)' "$log" | head -n 1)"
  fi
  # shellcheck disable=SC2086  # the list is words
  # What stands in /etc stays, the file of prepare_services above all.
  if ! as_root env DEBIAN_FRONTEND=noninteractive UCF_FORCE_CONFFOLD=1 apt-get -q -y \
    -o DPkg::Lock::Timeout=300 -o Dpkg::Options::=--force-confold \
    install --no-install-recommends $missing >>"$log" 2>&1; then
    restore_services
    tail -n 5 "$log" >&2
    if grep -qiE 'no space left|enough free space' "$log"; then
      fail "the disk is full; free about 2 GiB and run this again."
    elif grep -qiE 'resolve|failed to fetch|connection (failed|timed out|refused)|network is unreachable|unable to locate package|no installation candidate' "$log"; then
      fail "the packages could not be fetched; check the network, and that 'apt-get update' works (behind a proxy set http_proxy), then run this again."
    fi
    fail "apt-get failed (its last lines are above); repair that, or try it by hand: $list"
  fi
  restore_services
  rm -f "$log"
}

# Some packages bring a server that starts by itself (PostgreSQL, nginx, prometheus, those of a failover). Ours are started
# by hand, privately, so nothing may be left running or started at the next boot. What was installed
# before stays as it was.
prepare_services() {
  local unit
  SERVICES_NEW=''
  for unit in nginx prometheus etcd haproxy patroni pgbouncer; do
    [ -e "/lib/systemd/system/$unit.service" ] || SERVICES_NEW="$SERVICES_NEW $unit"
  done
  if [ ! -e /etc/postgresql-common/createcluster.conf ]; then
    as_root mkdir -p /etc/postgresql-common
    printf '%s\n' '# No cluster of its own at installation: vedette starts private ones.' \
      'create_main_cluster = false' | as_root tee /etc/postgresql-common/createcluster.conf >/dev/null
  fi
  POLICY_WRITTEN=''
  if [ ! -e /usr/sbin/policy-rc.d ]; then
    printf '#!/bin/sh\nexit 101\n' | as_root tee /usr/sbin/policy-rc.d >/dev/null
    as_root chmod 755 /usr/sbin/policy-rc.d
    POLICY_WRITTEN=1
    trap restore_services EXIT
  fi
}

restore_services() {
  local unit
  if [ -n "${POLICY_WRITTEN:-}" ]; then
    as_root rm -f /usr/sbin/policy-rc.d
    POLICY_WRITTEN=''
  fi
  for unit in ${SERVICES_NEW:-}; do
    if [ -e "/lib/systemd/system/$unit.service" ] && command -v systemctl >/dev/null; then
      as_root systemctl --quiet disable "$unit.service" >/dev/null 2>&1 || true
    fi
  done
  SERVICES_NEW=''
}

# Compilers at once: one a core, and no more than fit (the largest files take about 1.3 GB).
build_jobs() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/^MemAvailable:/ {print int($2 / 1300000)}' /proc/meminfo)
  [ "${memory:-1}" -ge 1 ] || memory=1
  echo $((cores < memory ? cores : memory))
}

# Ninja's output: in a terminal a bar with the time left, elsewhere a line a minute; and whatever is not progress (warnings,
# errors). The time left is that of the steps so far, which are of about one size (groups of sources). srand() returns the time
# of the call before, which every awk can tell. mawk, which is awk on Debian, would otherwise read a pipe by blocks of 4 KiB, and
# the lines would come when those are full.
show_progress() { # [bar]
  local awk=(awk)
  case "$(readlink -f "$(command -v awk)")" in
    */mawk) awk=(mawk -W interactive) ;;
  esac
  "${awk[@]}" -v bar="${1:-}" '
    function clear() { if (drawn) printf "\r\033[K"; drawn = 0 }
    function draw(done, all, elapsed,   full, i, text) {
      full = int(40 * done / all)
      text = ""
      for (i = 0; i < 40; ++i) text = text (i < full ? "#" : ".")
      left = done > 4 ? int(elapsed * (all - done) / done) : -1
      printf "\r\033[K    [%s] %d of %d", text, done, all
      if (left >= 60) printf ", about %d minutes left", int((left + 30) / 60)
      else if (left >= 0) printf ", %d s left", left
      drawn = 1
      fflush()
    }
    BEGIN { srand(); srand(); said = begun = srand() }
    /^\[[0-9]+\/[0-9]+\]/ {
      split(substr($1, 2), n, /[\/\]]/); now = srand(); now = srand()
      if (bar) draw(n[1], n[2], now - begun)
      else if (now - said >= 60 || n[1] == n[2]) { printf "    %d of %d steps\n", n[1], n[2]; fflush(); said = now }
      next
    }
    /^ninja: (Entering|no work)/ { next }
    { clear(); print; fflush() }
    END { if (drawn) printf "\n" }'
}

# configure PRESET LOG CMAKE-OPTIONS...: lets CMake make the preset's build directory; what it said is in LOG.
configure() {
  local preset=$1 log=$2
  shift 2
  mkdir -p "$ROOT/build"
  if ! (cd "$ROOT" && cmake --preset "$preset" -DPython3_EXECUTABLE=/usr/bin/python3 "$@") >"$log" 2>&1; then
    cat "$log" >&2
    return 1
  fi
}

# build PRESET LOG CMAKE-OPTIONS... -- TARGETS...: configures and builds; returns the build's status.
# What the tools said is in LOG too.
build() {
  local preset=$1 log=$2 status
  shift 2
  local options=() targets=()
  while [ $# -gt 0 ] && [ "$1" != -- ]; do
    options+=("$1")
    shift
  done
  [ $# -gt 0 ] && shift
  targets=("$@")
  configure "$preset" "$log" "${options[@]}" || return 1
  local bar=''
  if [ -t 1 ] && [ "${TERM:-dumb}" != dumb ]; then
    bar=bar
  fi
  set +e
  ninja -C "$ROOT/build/$preset" -j "$(build_jobs)" "${targets[@]}" 2>&1 | tee -a "$log" | show_progress $bar
  status=${PIPESTATUS[0]}
  set -e
  if [ "$status" != 0 ] && [ "$(df -Pm "$ROOT/build" | awk 'NR == 2 {print $4}')" -lt 50 ]; then
    printf 'The disk is full; free about 1 GiB and run this again.\n' >&2
  fi
  return "$status"
}
