# Holds what a page shows (first file) against what a command printed (second file). Prints nothing if
# they agree, else the first difference: the line of the first file (one more than it has: its end),
# a tab, and what was found there.
# `mode` is exact, measured, recorded or repeated, as CONTRIBUTING.md says under "Documentation is run". A
# line "..." stands for any number of lines.

# Durations, speeds, sizes, shares, losses: numbers that time or training have made.
function without_measures(line) {
  line = line " "  # a unit ends before what is no letter
  gsub(/([0-9]+ (d|h|min) )*[0-9][0-9.]* (d|h|min|s|ms|us)[^a-z]/, "TIME ", line)
  gsub(/[0-9][0-9.]* [kKMG]?i?B[^a-z]/, "SIZE ", line)
  gsub(/[0-9][0-9.]* [a-z]+\/s[^a-z]/, "SPEED ", line)
  gsub(/-?[0-9][0-9.]* %/, "SHARE", line)
  gsub(/(loss|perplexity) [0-9][0-9.e+-]*/, "LOSS", line)
  return line
}

# Of a table, what stands below a heading that speaks of time.
function without_times(line,    field, count, i, kept) {
  count = split(line, field, /  +/)
  if (count != columns) columns = split("", of_time)  # 0: none yet
  if (!columns && count > 1 && line ~ / time/) {
    columns = count
    for (i = 1; i <= count; ++i) of_time[i] = field[i] ~ /time/
  }
  for (i = 1; i <= count; ++i) kept = kept "  " (of_time[i] ? "TIME" : field[i])
  return kept
}

function without_numbers(line) {
  gsub(/[-+]?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?/, "N", line)
  return line
}

# Columns are as wide as their figures.
function without_widths(line) {
  gsub(/[ \t]+/, " ", line)
  gsub(/--+/, "--", line)
  sub(/^ /, "", line)
  sub(/ $/, "", line)
  return line
}

function essence(line) {
  if (mode == "exact" || line == "...") return line
  if (mode == "repeated") return without_widths(without_times(line))
  line = without_measures(line)
  if (mode == "recorded") line = without_numbers(line)
  return without_widths(line)
}

function differ(line, found) {
  print line "\t" found
  exit
}

# A short run may print less than the recorded one, but nothing else.
function compare_recorded(    i, j, first) {
  if (printed_count == 0 && shown_count > 0) differ(1, "nothing")
  i = 1
  for (j = 1; j <= printed_count; ++j) {
    first = i
    while (i <= shown_count && shown[i] != printed[j]) ++i
    if (i <= shown_count) ++i
    else if (shown[first] == "...") i = first
    else differ(first, raw[j])
  }
}

function compare_all(    i, j, first) {
  j = 1
  for (i = 1; i <= shown_count; ++i) {
    if (shown[i] == "...") {
      if (i == shown_count) return
      first = j
      while (j <= printed_count && printed[j] != shown[i + 1]) ++j
      if (j > printed_count) differ(i + 1, first > printed_count ? "nothing more" : "no such line")
    } else {
      if (j > printed_count) differ(i, "nothing more")
      if (shown[i] != printed[j]) differ(i, raw[j])
      ++j
    }
  }
  if (j <= printed_count) differ(i, raw[j])
}

FNR == 1 { columns = 0 }
FILENAME == ARGV[1] { shown[++shown_count] = essence($0); next }
{
  raw[++printed_count] = $0
  printed[printed_count] = essence($0)
}
END { if (mode == "recorded") compare_recorded(); else compare_all() }
