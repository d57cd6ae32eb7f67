# Takes a page of Markdown apart. Each fenced block, and each `bitcycle COMMAND ...` in a row of a table, is
# written to a file below `folder`; printed are its file, line, language (row: of a table) and the
# words behind the language, separated by tabs.

function begin(language, words) {
  file = folder "/" sprintf("%03d", ++count)
  printf "" >file
  print file "\t" NR "\t" language "\t" words
}

function end() { close(file); inside = 0 }

# A fence may stand in a list, indented; its lines are then indented alike.
function open_fence() {
  inside = 1
  indent = match($0, /[^ ]/) - 1
  opening = substr($0, indent + 4)
  language = words = opening
  sub(/ .*/, "", language)
  if (!sub(/^[^ ]+ +/, "", words)) words = ""
  begin(language == "" ? "none" : language, words)
}

function row_commands(    rest) {
  rest = $0
  while (match(rest, /`bitcycle [a-z]+ [^`]*`/)) {
    begin("row", "")
    print substr(rest, RSTART + 1, RLENGTH - 2) >file
    end()
    rest = substr(rest, RSTART + RLENGTH)
  }
}

/^ *```/ {
  if (inside) end(); else open_fence()
  next
}
inside { print substr($0, indent + 1) >file; next }
/^\|/ { row_commands() }
