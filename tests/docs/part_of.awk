# Succeeds if the C++ of a page (first file) is a part of a program (second file): its lines one after
# the other, however far they are indented. A line "// ..." stands for lines that are left out.

function bare(line) {
  sub(/^[ \t]+/, "", line)
  return line
}

# Whether lines `from` and on of the piece stand in the program at line `at`.
function stands(from, at,    i) {
  for (i = from; i <= pieces; ++i) {
    if (piece[i] == "// ...") return stands_behind(i + 1, at)
    if (at > lines || piece[i] != program[at++]) return 0
  }
  return 1
}

function stands_behind(from, at) {
  for (; at <= lines; ++at) if (stands(from, at)) return 1
  return 0
}

FILENAME == ARGV[1] { piece[++pieces] = bare($0); next }
{ program[++lines] = bare($0) }
END { exit !stands_behind(1, 1) }
