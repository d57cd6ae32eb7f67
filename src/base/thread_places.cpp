#include "bitcycle/base/thread_places.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include <fmt/format.h>
#include <omp.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace bitcycle {
namespace {

using Place = std::vector<int>;

std::string omp_text(const std::vector<Place>& places) {
  std::string text;
  for (const Place& place : places) {
    text += fmt::format("{}{{{}}}", text.empty() ? "" : ",", fmt::join(place, ","));
  }
  return text;
}

// The first hyper-thread of every core, then the second of those that have one, and so on.
std::vector<Place> single_cpus(const std::vector<ProcessorCore>& cores) {
  std::vector<Place> places;
  for (std::size_t sibling = 0, added = 1; added > 0; ++sibling) {
    const std::size_t before = places.size();
    for (const ProcessorCore& core : cores) {
      if (sibling < core.cpus.size()) places.push_back({core.cpus[sibling]});
    }
    added = places.size() - before;
  }
  return places;
}

}  // namespace

std::optional<CoreClaim> CoreClaim::of(int core) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const std::string name = fmt::format("bitcycle/core/{}", core);
  std::memcpy(address.sun_path + 1, name.data(), name.size());  // the zero before it: abstract
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  CoreClaim claim(::socket(AF_UNIX, SOCK_DGRAM, 0));
  if (claim.socket_ == -1) return std::nullopt;
  if (::bind(claim.socket_, reinterpret_cast<const sockaddr*>(&address), size) == -1) {
    return std::nullopt;
  }
  return claim;
}

CoreClaim::CoreClaim(CoreClaim&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}

CoreClaim& CoreClaim::operator=(CoreClaim&& other) noexcept {
  std::swap(socket_, other.socket_);
  return *this;
}

CoreClaim::~CoreClaim() {
  if (socket_ != -1) ::close(socket_);
}

std::optional<ThreadPlaces> claim_places(const std::vector<ProcessorCore>& cores, int threads) {
  const auto wanted = static_cast<std::size_t>(threads);
  const std::size_t needed = std::min(wanted, cores.size());
  ThreadPlaces result;
  std::vector<Place> places, others;
  for (const ProcessorCore& core : cores) {
    auto claim = result.claims.size() < needed ? CoreClaim::of(core.id) : std::nullopt;
    (claim ? places : others).push_back(core.cpus);
    if (claim) result.claims.push_back(std::move(*claim));
  }
  if (result.claims.size() < needed) return std::nullopt;
  places.insert(places.end(), others.begin(), others.end());
  if (wanted > cores.size()) places = single_cpus(cores);
  if (wanted > places.size()) return std::nullopt;
  result.omp_places = omp_text(places);
  return result;
}

namespace {

std::vector<int> cpus_of_place(int place) {
  std::vector<int> cpus(static_cast<std::size_t>(omp_get_place_num_procs(place)));
  omp_get_place_proc_ids(place, cpus.data());
  return cpus;
}

std::vector<int> cpus_of_places() {
  std::vector<int> cpus;
  for (int place = 0; place < omp_get_num_places(); ++place) {
    const std::vector<int> members = cpus_of_place(place);
    cpus.insert(cpus.end(), members.begin(), members.end());
  }
  return cpus;
}

void run_on(const std::vector<int>& cpus) {
  if (cpus.empty()) return;
  const int most = *std::max_element(cpus.begin(), cpus.end()) + 1;
  const std::size_t size = CPU_ALLOC_SIZE(most);
  std::vector<cpu_set_t> set(size / sizeof(cpu_set_t) + 1);
  for (const int cpu : cpus) CPU_SET_S(static_cast<std::size_t>(cpu), size, set.data());
  sched_setaffinity(0, size, set.data());  // refused or not, the thread runs
}

}  // namespace

// A thread that lacks the memory for it stays where it is; nothing could catch what it throws.
void leave_places() noexcept {
  try {
    run_on(cpus_of_places());
  } catch (const std::bad_alloc&) {
  }
}

void take_place(int thread) noexcept {
  const int places = omp_get_num_places();
  if (places == 0 || omp_get_proc_bind() == omp_proc_bind_false) return;
  try {
    run_on(cpus_of_place(thread % places));
  } catch (const std::bad_alloc&) {
  }
}

}  // namespace bitcycle
