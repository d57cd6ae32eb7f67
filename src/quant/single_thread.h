#pragma once

#include <omp.h>

namespace bitcycle {

// Holds the calling thread's libraries to one thread. Inside a parallel region this is no matter of
// course: oneDNN asks OpenMP how many threads there could be, gets one, and waits for the others.
class SingleThread {
 public:
  SingleThread() : threads_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~SingleThread() { omp_set_num_threads(threads_); }
  SingleThread(const SingleThread&) = delete;
  SingleThread& operator=(const SingleThread&) = delete;

 private:
  int threads_;
};

}  // namespace bitcycle
