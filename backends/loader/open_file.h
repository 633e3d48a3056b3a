// One plugin file: opened, its table checked against the contract; first for trial in a child process, then for good.
//
// dlopen runs the file's constructors, and what they do cannot be undone: a crash, an exit, a hang or a line on stdout would
// be ours. So a forked child goes first; its death, silence or chatter costs one file. Call before other threads exist.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "backends/abi/backend.h"

namespace hbmark::loader {

struct Opened {
  hbmark_backend table{};  // completed: every member of our layout is there
  std::string fault;       // empty: good
};

// dlopen (RTLD_NOW|RTLD_LOCAL, never closed), entry symbol, table. The strings of the table live as long as the process.
Opened open_plugin(const std::filesystem::path& file);

struct Trial {
  std::string name;   // what the backend calls itself
  std::string fault;  // empty: good
};

// `patience`: a constructor that takes longer hangs. The default allows for a large library on a cold network disk.
Trial try_plugin(const std::filesystem::path& file, std::chrono::milliseconds patience = std::chrono::seconds(30));

// What is wrong with a table; empty when nothing. `table` may be null.
std::string find_table_fault(const hbmark_backend* table);

}  // namespace hbmark::loader
