// Any text is words or damaged; a vocabulary that was made or read can be written and read again.

#include "data/text/encode.h"
#include "fuzz/data_fuzz.h"

#include <algorithm>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bitcycle;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  expect_value_or_data_error([&] {
    const Vocabulary made = make_vocabulary({text, "input"}, VocabularyOrder::frequency);
    expect(Vocabulary::parse(made.text(), "written") == made);
    const TextSplit split = encode_words({text, "input"}, made, {});
    expect(std::ranges::all_of(split.tokens, [&](auto id) { return id < made.size(); }));
    expect(split.tokens.capacity() == split.tokens.size());
    expect(split.size.bytes <= static_cast<std::int64_t>(size) + 1);
    expect(split.size.characters <= split.size.bytes);
  });
  expect_value_or_data_error([&] {
    const Vocabulary read = Vocabulary::parse(text, "input");
    expect(Vocabulary::parse(read.text(), "written") == read);
  });
  return 0;
}
