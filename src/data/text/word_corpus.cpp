#include "data/text/word_corpus.h"

#include "bitcycle/data/locate.h"

#include "data/text/encode.h"

namespace bitcycle {
namespace {

std::vector<KnownFile> official_files(const KnownDataset& known, Comparison comparison) {
  if (comparison == Comparison::listed) return {};
  std::vector<KnownFile> files = known.files();
  std::erase_if(files, [](const KnownFile& file) { return file.size == 0; });
  return files;
}

SourceText source_of(const DataDirectory::File& file) {
  return {{reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()}, file.origin};
}

}  // namespace

Corpus open_word_corpus(const KnownDataset& known, const CorpusOptions& options,
                        Comparison comparison) {
  const DataDirectory directory(require_dataset(known.name, options.root),
                                official_files(known, comparison), known.cure);
  const auto encoded = [&](const DataDirectory::File& file, const Vocabulary& vocabulary,
                           const Part& part = {}) {
    return std::make_shared<const TextSplit>(
        encode_words(source_of(file), vocabulary, {part, options.limit}));
  };
  Corpus corpus;
  {
    const DataDirectory::File file = directory.read(known.train.front().name);
    corpus.vocabulary =
        options.vocabulary ? *options.vocabulary : make_vocabulary(source_of(file), options.order);
    corpus.train = encoded(file, corpus.vocabulary, options.part);
  }
  corpus.validation = encoded(directory.read(known.validation.front().name), corpus.vocabulary);
  corpus.test = encoded(directory.read(known.test.front().name), corpus.vocabulary);
  return corpus;
}

}  // namespace bitcycle
