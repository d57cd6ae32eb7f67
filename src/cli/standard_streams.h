#pragma once

// Descriptors 0, 1 and 2. A program started without one of them (`2>&-`) would get its number for
// the next file that it opens, and narration would land there.

namespace bitcycle::cli {

// Opens what is missing: narration then goes nowhere, while reading the input or writing results
// fails, so that no result is lost without a word. Writing to a pipe whose reader has gone becomes
// an error instead of the end of the process. All of it holds across exec.
void hold_standard_streams();

}  // namespace bitcycle::cli
