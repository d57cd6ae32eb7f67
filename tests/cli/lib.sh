# Helpers of the command-line tests. A test is a bash script called with the path of `bitcycle`; it
# works in a directory of its own and fails at the first expectation that does not hold.
set -euo pipefail
bitcycle=${1:?usage: $0 path/to/bitcycle}
here=$(cd "$(dirname "${BASH_SOURCE[1]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() { echo "FAILED: $*" >&2; exit 1; }

# expect STATUS "part of stderr or stdout" command...: the command ends so and says so.
expect() {
  local status=$1 text=$2 found=0
  shift 2
  "$@" >out.txt 2>&1 || found=$?
  [[ $found == "$status" ]] || fail "expected exit status $status, found $found: $* $(cat out.txt)"
  grep -qF -- "$text" out.txt || fail "expected \"$text\" from: $* $(cat out.txt)"
  ! grep -qE 'frame #|terminate called|Aborted' out.txt || fail "a stack trace from: $*"
}

# all_commands [COMMAND]: the commands that a help names, a line each, and those that theirs name.
all_commands() {
  local name
  # shellcheck disable=SC2086
  "$bitcycle" ${1-} --help | awk '/^[A-Z]/ { inside = /^Subcommands:/ } inside && /^  [a-z]/ { print $1 }' |
    while read -r name; do
      echo "${1:+$1 }$name"
      all_commands "${1:+$1 }$name"
    done
}

# Skips a test about cores where it would see the claims of runs that are none of its own.
require_free_cores() {
  ! grep -q '@bitcycle/core/' /proc/net/unix && return
  echo "other runs compute on this machine; nothing can be said of free cores"
  exit 77
}

# Some control group of this machine has a CPU quota; runs under one may be left unbound.
has_cpu_quota() {
  find /sys/fs/cgroup/ -name cpu.max -readable -exec cat {} + 2>/dev/null | grep -qv '^max' ||
    find /sys/fs/cgroup/ -name cpu.cfs_quota_us -readable -exec cat {} + 2>/dev/null | grep -qv '^-1'
}

# A recipe that trains in a second or two; arguments are --set pairs.
small_recipe() {
  cat >small.toml <<'TOML'
epochs = 2
log_every = 3
[model]
name = "cifar_resnet8"
[data]
dataset = "synthetic"
batch_size = 32
limit = 256
[optimizer]
lr = 0.05
[precision]
backend = "simulate"
forward = { schedule = "CR", min = 3, max = 8, cycles = 2 }
backward = 8
[evaluation]
every_epochs = 0.5
[checkpoint]
every_epochs = 0.25
TOML
}

# Every file of two runs is the same, but for measured times, what eval stored, and the lock: a run that is
# killed between its summary and its end has finished, and leaves the number of its process there.
same_runs() {
  diff -r -x timing.jsonl -x evaluations.json -x .lock "$1" "$2" >diff.txt ||
    fail "$1 and $2 differ: $(head -3 diff.txt)"
}

# The first CPU of each core that may be used, as lscpu sees the machine. A bare chroot has no /sys to
# tell CPUs of one core apart; there each counts.
first_cpus() {
  local allowed
  allowed=$(awk '/^Cpus_allowed_list/ { print $2 }' /proc/self/status)
  if [[ ! -d /sys/devices/system/cpu ]]; then
    tr ',' '\n' <<<"$allowed" | while IFS=- read -r from to; do seq "$from" "${to:-$from}"; done
    return
  fi
  taskset -c "$allowed" lscpu --parse=CPU,CORE,SOCKET | grep -v '^#' |
    sort -t, -k3,3n -k2,2n -k1,1n | awk -F, '!seen[$2 "," $3]++ { print $1 }' | sort -n
}

# picture FILE: a JPEG picture of 16 x 16. png FILE: a PNG picture of 2 x 2.
picture() {
  mkdir -p "$(dirname "$1")"
  base64 -d >"$1" <<'JPEG'
/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABsSFBcUERsXFhceHBsgKEIrKCUlKFE6PTBCYFVlZF9VXVtqeJmBanGQc1tdhbWG
kJ6jq62rZ4C8ybqmx5moq6T/wAALCAAQABABAREA/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgED
AwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RF
RkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJ
ytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/9oACAEBAAA/AMrT+1dNp/auZ0/tXTaf2r//2Q==
JPEG
}
png() {
  mkdir -p "$(dirname "$1")"
  base64 -d >"$1" <<<'iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEklEQVR4nGP4z8DAAMIM/4EAAB/uBfsL2WiLAAAAAElFTkSuQmCC'
}
