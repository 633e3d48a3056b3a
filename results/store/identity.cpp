#include <boost/uuid/name_generator_sha1.hpp>
#include <boost/uuid/random_generator.hpp>
#include <boost/uuid/string_generator.hpp>
#include <boost/uuid/uuid.hpp>
#include <boost/uuid/uuid_io.hpp>
#include <chrono>
#include <ctime>

#include "results/store/store.h"

namespace hbmark {

// random_generator_pure asks the operating system (getrandom) each time: no state to share between threads or forks.
std::string new_uuid() { return boost::uuids::to_string(boost::uuids::random_generator_pure()()); }

std::string digest_uuid(const std::string& text) {
  // hbmark's own name space, a version 4 UUID drawn once: it must never change, or equal machines stop being equal.
  static const boost::uuids::uuid name_space = boost::uuids::string_generator()("6f1c7f0e-58d4-4f0b-9d9e-2a1e7c35b0d6");
  return boost::uuids::to_string(boost::uuids::name_generator_sha1(name_space)(text));
}

std::string utc_now() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[sizeof "2026-11-30T20:41:11Z"] = {};
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace hbmark
