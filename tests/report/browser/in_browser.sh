#!/bin/sh
# in_browser.sh TEST.py path/to/bitcycle: a test of the page in a headless Chromium. Where something
# that it needs is missing it is skipped (77) with the reason; BITCYCLE_BROWSER=required makes that a
# failure, so that nothing is skipped where it must not be.
lacks() {
  echo "$1"
  [ "$BITCYCLE_BROWSER" = required ] && exit 1
  exit 77
}

packages="scripts/install-packages --browser"
python=/usr/bin/python3  # Debian's, which has Debian's packages
[ -x $python ] && $python -c 'import selenium' 2>/dev/null || lacks "python3-selenium is not installed: $packages"
for program in chromium chromedriver; do
  command -v $program >/dev/null || lacks "$program is not installed: $packages"
done
case $1 in
  */accessibility_test.py)
    BITCYCLE_AXE=$("$(dirname "$0")/../../../scripts/axe-core" 2>&1) || lacks "$BITCYCLE_AXE"
    export BITCYCLE_AXE ;;
esac
PYTHONDONTWRITEBYTECODE=1 exec $python "$@"
