#!/usr/bin/env bash
# page_test.sh finds what is wrong in a page, and tells where, what was expected and what was found.
# usage: differences_test.sh path/to/bitcycle
source "$(dirname "$0")/../cli/lib.sh"
status=0
"$here/page_test.sh" "$bitcycle" tests/docs/differences.md 2>told.txt >/dev/null || status=$?
[[ $status == 1 ]] || fail "expected exit status 1 of a wrong page, found $status"
diff "$here/differences.txt" told.txt >&2 || fail "other differences were told than there are"
