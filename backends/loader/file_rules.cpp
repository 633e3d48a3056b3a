#include "backends/loader/file_rules.h"

#include <fmt/format.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>

namespace hbmark::loader {
namespace {

namespace fs = std::filesystem;

#if defined(__x86_64__)
constexpr ElfW(Half) kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr ElfW(Half) kMachine = EM_AARCH64;
#elif defined(__powerpc64__)
constexpr ElfW(Half) kMachine = EM_PPC64;
#elif defined(__riscv)
constexpr ElfW(Half) kMachine = EM_RISCV;
#else
constexpr ElfW(Half) kMachine = EM_NONE;  // not known: the dynamic linker judges
#endif
constexpr unsigned char kClass = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;

std::optional<std::string> find_owner_fault(const struct stat& info, const fs::path& path, const char* kind) {
  if ((info.st_mode & S_IWOTH) != 0) {
    return fmt::format("any user may write this {} (mode {:o}), so anybody's code could be in it: chmod o-w {}", kind,
                       info.st_mode & 07777, path.string());
  }
  if (info.st_uid != 0 && info.st_uid != geteuid()) {
    return fmt::format(
        "it belongs to user {}, neither to root nor to user {} who runs this: chown it, or copy it to a {} of your own",
        info.st_uid, geteuid(), kind);
  }
  return std::nullopt;
}

std::optional<std::string> find_ancestor_fault(const fs::path& folder) {
  for (fs::path parent = folder.parent_path(); !parent.empty(); parent = parent.parent_path()) {
    struct stat info {};
    if (stat(parent.c_str(), &info) != 0) return fmt::format("cannot look at {}: {}", parent.string(), std::strerror(errno));
    if ((info.st_mode & S_IWOTH) != 0 && (info.st_mode & S_ISVTX) == 0) {
      return fmt::format("any user may replace it, because {} is writable by all (mode {:o}): chmod o-w {}", parent.string(),
                         info.st_mode & 07777, parent.string());
    }
    if (parent == parent.parent_path()) break;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> find_folder_fault(const fs::path& folder) {
  struct stat info {};
  if (stat(folder.c_str(), &info) != 0) {
    return fmt::format("cannot look into it: {}; give an existing folder with hbmark_*.so files", std::strerror(errno));
  }
  if (!S_ISDIR(info.st_mode)) return "it is not a folder: give the folder that holds the hbmark_*.so files";
  if (auto fault = find_owner_fault(info, folder, "folder")) return fault;
  std::error_code error;
  const fs::path real = fs::canonical(folder, error);
  if (error) return fmt::format("cannot find its real place: {}", error.message());
  return find_ancestor_fault(real);
}

std::optional<std::string> find_file_fault(const fs::path& file) {
  struct stat info {};
  if (stat(file.c_str(), &info) != 0) return fmt::format("cannot look at it: {}", std::strerror(errno));
  if (!S_ISREG(info.st_mode)) return "it is not a regular file: a plugin is a shared object";
  if (auto fault = find_owner_fault(info, file, "file")) return fault;
  std::error_code error;
  const fs::path real = fs::canonical(file, error);
  if (error) return fmt::format("cannot find its real place: {}", error.message());
  if (real.parent_path() != file.parent_path()) {
    if (auto fault = find_folder_fault(real.parent_path())) {
      return fmt::format("it is a link into {}, and there: {}", real.parent_path().string(), *fault);
    }
  }
  return std::nullopt;
}

std::optional<std::string> find_elf_fault(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return fmt::format("cannot read it: {}; check its mode", std::strerror(errno));
  in.seekg(0, std::ios::end);
  const auto size_bytes = static_cast<std::uint64_t>(in.tellg());
  in.seekg(0);
  ElfW(Ehdr) header{};
  in.read(reinterpret_cast<char*>(&header), sizeof header);
  const auto got = static_cast<std::uint64_t>(in.gcount());
  if (got < SELFMAG || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    return "it is not a shared object (no ELF header): something else was copied here, or the build failed; remove or "
           "rebuild it";
  }
  constexpr const char* kCutOff = "it is cut off ({} bytes, {} expected): copy or build it again";
  if (got < sizeof header) return fmt::format(fmt::runtime(kCutOff), size_bytes, "a whole ELF header");
  if (header.e_ident[EI_CLASS] != kClass || (kMachine != EM_NONE && header.e_machine != kMachine)) {
    return fmt::format("it was built for another kind of processor (ELF machine {}, this is {}): build it on this machine",
                       header.e_machine, kMachine);
  }
  if (header.e_type != ET_DYN) return "it is an ELF file but not a shared object: link it with -shared";
  if (header.e_phentsize != sizeof(ElfW(Phdr))) return "its ELF header is damaged: copy or build it again";
  in.clear();
  in.seekg(static_cast<std::streamoff>(header.e_phoff));
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    ElfW(Phdr) segment{};
    in.read(reinterpret_cast<char*>(&segment), sizeof segment);
    if (static_cast<std::size_t>(in.gcount()) != sizeof segment) {
      return fmt::format(fmt::runtime(kCutOff), size_bytes, "its program headers");
    }
    if (segment.p_type != PT_LOAD) continue;
    if (segment.p_filesz > size_bytes || segment.p_offset > size_bytes - segment.p_filesz) {
      return fmt::format(fmt::runtime(kCutOff), size_bytes, segment.p_offset + segment.p_filesz);
    }
  }
  return std::nullopt;
}

}  // namespace hbmark::loader
