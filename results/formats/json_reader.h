// Reads members of a JSON object into a record and remembers the first that does not fit. Internal to results/formats.
//
// Absent and null leave the target as it is (an empty record's member). One object, one thread; borrows the JSON.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace hbmark::text_formats {

class JsonReader {
 public:
  // `path` is what stands before a member's name in a complaint: "time_s.".
  JsonReader(const nlohmann::json& object, std::string path, std::string& complaint)
      : object_(object), path_(std::move(path)), complaint_(complaint) {}

  void read(const char* name, std::string& target);
  void read(const char* name, double& target);
  void read(const char* name, std::int64_t& target);
  void read(const char* name, std::optional<double>& target);
  void read(const char* name, std::vector<int>& target);
  void read(const char* name, std::vector<std::string>& target);
  void read(const char* name, std::map<int, double>& target);  // keys are decimal numbers
  void require(const char* name, std::string& target);

  // The member when it is an object; null when it is absent; a complaint when it is something else.
  const nlohmann::json* object(const char* name);

  void complain(const char* name, const nlohmann::json& found, const char* expected);

 private:
  const nlohmann::json* member(const char* name) const;

  const nlohmann::json& object_;
  std::string path_;
  std::string& complaint_;
};

}  // namespace hbmark::text_formats
