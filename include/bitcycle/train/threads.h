#pragma once

namespace bitcycle {

// Has LibTorch compute on so many threads; 0: on as many as OpenMP has. Throws Error(memory) or
// std::system_error where the system refuses what LibTorch and its libraries would wait for for
// ever (Note [Refused for ever]).
void use_threads(int threads);

}  // namespace bitcycle
