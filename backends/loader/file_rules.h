// Which folders and files may be loaded at all: nothing that another user could have put there, nothing that is not a whole
// shared object for this machine. Checked before dlopen, which runs a file's code (constructors) and dies on a cut-off one.
//
// Each function returns what is wrong and what to do, or nothing when all is well. Thread-safe; reads the file system only.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace hbmark::loader {

// Not o+w, owned by root or us; no ancestor that anybody may rename things in (o+w without the sticky bit).
std::optional<std::string> find_folder_fault(const std::filesystem::path& folder);

// The same for a file, and for the folder it really lives in when it is a symbolic link.
std::optional<std::string> find_file_fault(const std::filesystem::path& file);

// A shared object of our class and machine, with every segment inside the file.
std::optional<std::string> find_elf_fault(const std::filesystem::path& file);

}  // namespace hbmark::loader
