#include "data/transfer.h"

#include "bitcycle/base/error.h"

#include <array>
#include <exception>
#include <memory>

#include <curl/curl.h>
#include <fmt/format.h>

namespace bitcycle {
namespace {

constexpr long kConnectSeconds = 30;
constexpr long kStalledSeconds = 60;
constexpr long kRangeNotSatisfiable = 416;

using Handle = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;

// What libcurl's callbacks see. They are called from C, so what they throw is kept for later.
struct State {
  PartFile& part;
  const Progress& progress;
  std::uint64_t before = 0;  // bytes that were there when the transfer began
  std::uint64_t room = 0;    // bytes that may still arrive
  bool too_long = false;
  std::exception_ptr error;
};

std::size_t on_data(const char* data, std::size_t, std::size_t count, void* user) {
  auto& state = *static_cast<State*>(user);
  const std::size_t stop = count + 1;  // anything but `count` ends the transfer
  state.too_long = count > state.room;
  if (state.too_long) return stop;
  try {
    state.part.append(std::as_bytes(std::span(data, count)));
    state.room -= count;
    return count;
  } catch (...) {
    state.error = std::current_exception();
    return stop;
  }
}

int on_progress(void* user, curl_off_t total, curl_off_t done, curl_off_t, curl_off_t) {
  auto& state = *static_cast<State*>(user);
  try {
    const auto all = static_cast<std::uint64_t>(total);
    if (state.progress && done > 0) {
      state.progress(state.before + static_cast<std::uint64_t>(done),
                     all == 0 ? 0 : state.before + all);
    }
    return 0;
  } catch (...) {
    state.error = std::current_exception();
    return 1;
  }
}

void initialise_curl() {
  static const CURLcode code = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (code != CURLE_OK) throw Error(ErrorCode::network, curl_easy_strerror(code));
}

Handle make_handle(const std::string& url, State& state, char* message) {
  initialise_curl();
  Handle handle(curl_easy_init(), curl_easy_cleanup);
  if (!handle) throw std::bad_alloc();
  const auto set = [&](CURLoption option, auto value) {
    curl_easy_setopt(handle.get(), option, value);
  };
  set(CURLOPT_URL, url.c_str());
  set(CURLOPT_PROTOCOLS_STR, "http,https,file");
  set(CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  set(CURLOPT_FOLLOWLOCATION, 1L);
  set(CURLOPT_FAILONERROR, 1L);
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
  set(CURLOPT_LOW_SPEED_LIMIT, 1L);
  set(CURLOPT_LOW_SPEED_TIME, kStalledSeconds);
  set(CURLOPT_RESUME_FROM_LARGE, static_cast<curl_off_t>(state.before));
  set(CURLOPT_MAXFILESIZE_LARGE, static_cast<curl_off_t>(state.room));
  set(CURLOPT_WRITEFUNCTION, &on_data);
  set(CURLOPT_WRITEDATA, static_cast<void*>(&state));
  set(CURLOPT_NOPROGRESS, 0L);
  set(CURLOPT_XFERINFOFUNCTION, &on_progress);
  set(CURLOPT_XFERINFODATA, static_cast<void*>(&state));
  set(CURLOPT_ERRORBUFFER, message);
  return handle;
}

long status_of(CURL* handle) {
  long status = 0;
  curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
  return status;
}

// Whether the server's answer means that its file does not go on where ours ends.
bool cannot_resume(CURL* handle, CURLcode code, bool too_long) {
  return too_long || code == CURLE_RANGE_ERROR ||
         (code == CURLE_HTTP_RETURNED_ERROR && status_of(handle) == kRangeNotSatisfiable);
}

std::string reason(CURL* handle, CURLcode code, const char* message) {
  if (code == CURLE_HTTP_RETURNED_ERROR) {
    return fmt::format("the server answered {}", status_of(handle));
  }
  return *message != '\0' ? message : curl_easy_strerror(code);
}

Error too_long_error(const Source& source) {
  return Error(ErrorCode::network,
               fmt::format("{} is not the expected archive: expected an archive of at most {} "
                           "bytes, found more",
                           source.url, source.longest),
               "Try again later, or name another source with --url.");
}

}  // namespace

void fetch(const Source& source, PartFile& part, const Progress& progress) {
  if (part.size() > source.longest) part.clear();
  State state{.part = part,
              .progress = progress,
              .before = part.size(),
              .room = source.longest - part.size()};
  std::array<char, CURL_ERROR_SIZE> message = {};
  const Handle handle = make_handle(source.url, state, message.data());
  const CURLcode code = curl_easy_perform(handle.get());
  if (state.error) std::rethrow_exception(state.error);
  if (code == CURLE_OK) return;
  const bool too_long = state.too_long || code == CURLE_FILESIZE_EXCEEDED;
  if (state.before > 0 && cannot_resume(handle.get(), code, too_long)) {
    part.clear();
    return fetch(source, part, progress);
  }
  if (too_long) {
    part.clear();
    throw too_long_error(source);
  }
  const std::string hint =
      part.size() > 0
          ? fmt::format("{} bytes have arrived; the same command again resumes.", part.size())
          : "Check the address and the connection; --url takes the file from elsewhere.";
  throw Error(
      ErrorCode::network,
      fmt::format("cannot download {}: {}", source.url, reason(handle.get(), code, message.data())),
      hint);
}

}  // namespace bitcycle
