#!/usr/bin/env bash
# scripts/fresh-root with a debootstrap that makes a tiny system: what it keeps, what it cleans up.
# Needs root, as the script does; skipped (77) elsewhere, and where the sources are no git checkout.
source "$(dirname "$0")/lib.sh"
script=$(cd "$here/../.." && pwd)/scripts/fresh-root
trap 'rm -rf --one-file-system "$work"' EXIT  # whatever the script may have left mounted
[[ -d $here/../../.git ]] && ((EUID == 0)) && unshare --mount --pid --fork true || exit 77

export XDG_CACHE_HOME=$work
no_mounts() { ! grep -qF "$work" /proc/self/mounts || fail "mounts are left after $*"; }
cache=$work/bitcycle-ci
mkdir tools
export PATH=$work/tools:$PATH
# The last argument is the folder. TROUBLE stops it half-way, with something mounted.
cat >tools/debootstrap <<'SH'
#!/usr/bin/env bash
set -e
root=${!#}
mkdir -p "$root"/{proc,dev,root,usr/bin,etc/dpkg/dpkg.cfg.d,var/cache/apt/archives}
[[ -z ${TROUBLE:-} ]] || { mount -t proc proc "$root/proc"; exit 1; }
[[ ! -e $root/left-over ]]
for program in bash env sleep; do
  cp "$(command -v $program)" "$root/usr/bin"
  for library in $(ldd "$(command -v $program)" | grep -o '/[^ ]*'); do
    mkdir -p "$root$(dirname "$library")" && cp "$library" "$root$library"
  done
done
printf '#!/usr/bin/bash\n' >"$root/usr/bin/dpkg" && chmod +x "$root/usr/bin/dpkg"
SH
chmod +x tools/debootstrap

expect 2 'usage: scripts/fresh-root' "$script"
expect 1 "unknown suite 'sid'" "$script" --suite sid true
chmod 755 "$work" && cp "$script" alone && chmod 755 alone
expect 1 'needs root' setpriv --reuid 65534 --clear-groups "$work/alone" true

TROUBLE=yes expect 1 'debootstrap.log' "$script" env
[[ ! -e $cache/bookworm-base ]] || fail "a half-made system was taken for a whole one"
no_mounts "a failure"
touch "$cache/bookworm-base.part/left-over"

expect 0 '# Bitcycle' "$script" -- bash -c 'read -r line <README.md; echo "$line"'
mkdir "$work/bitcycle" && echo 'fetched before' >"$work/bitcycle/axe-core.js"
expect 0 'fetched before' "$script" -- bash -c 'read -r line </root/.cache/bitcycle/axe-core.js; echo "$line"'
expect 7 'seven' "$script" -- bash -c 'echo mine >/mine; echo seven; exit 7'
expect 0 'mine' "$script" --again -- bash -c 'read -r line </mine; echo "$line"'
expect 0 'new' "$script" -- bash -c '[[ -e /mine ]] || echo new'

seconds=99$$
sleeping() { grep -lsxz "$seconds" /proc/[0-9]*/cmdline >/dev/null; }
for signal in TERM KILL; do
  "$script" -- bash -c "sleep $seconds" &
  until sleeping; do sleep 0.1; done
  kill -$signal $!
  ! wait $! || fail "ended well in spite of SIG$signal"
  for _ in {1..50}; do sleeping || break; sleep 0.1; done
  ! sleeping || fail "the command goes on after SIG$signal"
  no_mounts "SIG$signal"
  expect 0 'again' "$script" -- bash -c 'echo again'
done
