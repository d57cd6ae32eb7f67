#include "data/loopback_server.h"

#include <algorithm>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace bitcycle::test {
namespace {

sockaddr_in loopback(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

bool readable_soon(int socket) {
  pollfd query = {socket, POLLIN, 0};
  return ::poll(&query, 1, 20) > 0;
}

std::string read_request(int connection) {
  std::string request;
  char buffer[4096];
  while (request.find("\r\n\r\n") == std::string::npos) {
    const ssize_t count = ::recv(connection, buffer, sizeof buffer, 0);
    if (count <= 0) break;
    request.append(buffer, static_cast<std::size_t>(count));
  }
  return request;
}

std::size_t first_byte(const std::string& request) {
  const std::string key = "Range: bytes=";
  const auto place = request.find(key);
  return place == std::string::npos ? 0 : std::stoul(request.substr(place + key.size()));
}

std::string header(const ServerBehaviour& behaviour, std::size_t first) {
  const std::size_t size = behaviour.content.size();
  if (behaviour.status != 200) {
    return "HTTP/1.1 " + std::to_string(behaviour.status) + " No\r\nContent-Length: 0\r\n";
  }
  if (first > 0 && first >= size) {
    return "HTTP/1.1 416 No\r\nContent-Length: 0\r\nContent-Range: bytes */" +
           std::to_string(size) + "\r\n";
  }
  const std::string length =
      behaviour.endless ? "" : "Content-Length: " + std::to_string(size - first) + "\r\n";
  if (first == 0) return "HTTP/1.1 200 OK\r\n" + length;
  return "HTTP/1.1 206 Part\r\n" + length + "Content-Range: bytes " + std::to_string(first) + "-" +
         std::to_string(size - 1) + "/" + std::to_string(size) + "\r\n";
}

// How much the client has taken; less than all when it hung up.
std::size_t send_all(int connection, const void* data, std::size_t size) {
  const char* bytes = static_cast<const char*>(data);
  std::size_t done = 0;
  while (done < size) {
    const ssize_t sent = ::send(connection, bytes + done, size - done, MSG_NOSIGNAL);
    if (sent <= 0) break;
    done += static_cast<std::size_t>(sent);
  }
  return done;
}

}  // namespace

LoopbackServer::LoopbackServer(ServerBehaviour behaviour) : behaviour_(std::move(behaviour)) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  EXPECT_EQ(::bind(listener_, generic, size), 0);
  EXPECT_EQ(::listen(listener_, 8), 0);
  EXPECT_EQ(::getsockname(listener_, generic, &size), 0);
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { serve(); });
}

LoopbackServer::~LoopbackServer() {
  stop_ = true;
  thread_.join();
  ::close(listener_);
}

std::string LoopbackServer::url() const {
  return "http://127.0.0.1:" + std::to_string(port_) + "/archive.tar.gz";
}

void LoopbackServer::behave(ServerBehaviour behaviour) {
  const std::lock_guard lock(mutex_);
  behaviour_ = std::move(behaviour);
}

std::vector<std::size_t> LoopbackServer::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

void LoopbackServer::serve() {
  while (!stop_) {
    if (!readable_soon(listener_)) continue;
    const int connection = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection == -1) continue;
    answer(connection);
    ::close(connection);
  }
}

void LoopbackServer::answer(int connection) {
  const std::size_t asked = first_byte(read_request(connection));
  ServerBehaviour behaviour;
  {
    const std::lock_guard lock(mutex_);
    requests_.push_back(asked);
    behaviour = behaviour_;
  }
  const std::size_t first = behaviour.ranges ? asked : 0;
  const std::string head = header(behaviour, first) + "Connection: close\r\n\r\n";
  send_all(connection, head.data(), head.size());
  if (behaviour.status != 200 || first >= behaviour.content.size()) return;
  std::size_t count = behaviour.content.size() - first;
  count =
      std::min({count, behaviour.cut_after.value_or(count), behaviour.stall_after.value_or(count)});
  sent_ += send_all(connection, behaviour.content.data() + first, count);
  if (behaviour.endless) send_zeros(connection);
  while (behaviour.stall_after && !stop_ && !readable_soon(connection)) {
  }
}

// Stops at a limit that no bounded download reaches, so that a client without one fails its test
// instead of filling the disk.
void LoopbackServer::send_zeros(int connection) {
  const Bytes zeros(std::size_t{1} << 20);
  for (int i = 0; i < 1500 && !stop_; ++i) {
    const std::size_t sent = send_all(connection, zeros.data(), zeros.size());
    sent_ += sent;
    if (sent < zeros.size()) return;
  }
}

}  // namespace bitcycle::test
