# Writes a C++ source with the text of files in it, so that programs carry them:
#
#   cmake -D OUTPUT=page_files.cpp -D HEADER=report/page_files.h -D FILES="kStyle=style.css|kScript=a.js,b.js"
#         -P EmbedFiles.cmake
#
# A name stands for one file, or for several after each other, with a newline between them.
set(text "#include \"${HEADER}\"\n\nnamespace bitcycle {\n")
string(REPLACE "|" ";" entries "${FILES}")
foreach(entry IN LISTS entries)
  string(REGEX MATCH "^([^=]+)=(.*)$" matched "${entry}")
  set(name "${CMAKE_MATCH_1}")
  string(REPLACE "," ";" paths "${CMAKE_MATCH_2}")
  set(content "")
  foreach(path IN LISTS paths)
    file(READ "${path}" part)
    # A map of the packed source would be looked for beside the page.
    string(REGEX REPLACE "(//|/[*])# sourceMappingURL=[^\n]*" "" part "${part}")
    string(APPEND content "${part}\n")
  endforeach()
  string(APPEND text "\nconst std::string_view ${name} = R\"~embedded~(${content})~embedded~\";\n")
endforeach()
string(APPEND text "\n}  // namespace bitcycle\n")
file(WRITE "${OUTPUT}" "${text}")
