#include "fixtures.h"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <fmt/format.h>
#include <grp.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

namespace hbmark::tests {

TempFolder::TempFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "hbmark-test-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) ADD_FAILURE() << "mkdtemp " << name;
  path_ = name;
}
TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::permissions(path_, std::filesystem::perms::owner_all, ignored);
  std::filesystem::remove_all(path_, ignored);
}

std::string read_file(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}
void write_file(const std::filesystem::path& file, const std::string& content) {
  std::ofstream(file, std::ios::binary) << content;
}
std::map<std::string, std::string> contents(const std::filesystem::path& folder) {
  std::map<std::string, std::string> all;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    all[entry.path().filename().string()] = entry.is_regular_file() ? read_file(entry.path()) : "(not a file)";
  }
  return all;
}

NodeRecord a_node() { return {digest_uuid("node"), "knl-1", R"({"schema":"hbmark.node/1","cpu_model":"Xeon Phi 7250"})"}; }
EnvironmentRecord an_environment() {
  return {digest_uuid("environment"),
          {{"governor", "performance"}, {"kernel", "6.1.0"}, {"OMP_PLACES", "{0},{1}"}, {"empty", ""}}};
}
ConfigurationRecord a_configuration() {
  return {digest_uuid("configuration"), a_node().uuid, "onednn", "cpu", {0, 2, 4}, "mcdram", "strict", 2, "cold"};
}
RunRecord a_run(const std::string& label) {
  RunRecord run;
  run.uuid = new_uuid();
  run.label = label;
  run.command = "hbmark run --suite quick --label 'été'";
  run.hbmark_version = "0.1.0";
  run.suite = "quick";
  run.plan = R"({"cases":[]})";
  run.node_uuid = a_node().uuid;
  run.environment_uuid = an_environment().uuid;
  run.started_at = "2026-11-30T20:41:11Z";
  run.state = "running";
  run.boot_id = "0cc37b1d-3e39-42c1-aef0-f383c6458139";
  return run;
}
ResultRecord a_result(const RunRecord& run, std::int64_t case_index) {
  ResultRecord result;
  result.uuid = new_uuid();
  result.run_uuid = run.uuid;
  result.configuration_uuid = a_configuration().uuid;
  result.case_index = case_index;
  result.problem = "gemm:f32:nn:m1024n1024k1024";
  result.kernel = "gemm";
  result.backend = "onednn";
  result.device = "cpu";
  result.memory_kind = "mcdram";
  result.threads = 3;
  result.replicas = 2;
  result.launches = 4;
  result.outcome = Outcome::kOk;
  result.reason = "why \"so\"";
  result.flags = {"noisy", "drifting"};
  result.time = TimeSummary{0.0123, 0.0121, 0.0125, 0.012, 20, 7, "order statistics"};
  result.flop = 2147483648.0;
  result.loads = 32771;
  result.bytes = 12582912.0;
  result.ceiling_flop_per_s = 1.0 / 3.0;
  result.ceiling_bytes_per_s = 4.9e-324;  // the smallest double
  result.ceiling_fraction = 0.83;
  result.implementation = "jit:avx512_mic";
  result.isa = "avx512_mic";
  result.library = "oneDNN 2.5.4";
  result.layout = "aBc16b";
  result.verified = Verification{16385, 1.2e-7, 1e-4, "16384 sampled elements and a random projection"};
  result.pages = {{0, 0.25}, {1, 0.75}};
  result.worker_pages = {{0, 0.125}, {1, 0.875}};
  result.huge_pages = 0.5;
  result.replica_times_s = {{0, 0.0123}, {1, 0.0125}};
  result.replica_alone_s = 0.012;
  result.thread_pus = {0, 2, 4};
  result.reorder_s = 0.0004;
  result.energy_j = 1.5;
  result.energy_scope = "package 0, dram 0";
  result.energy_note = "of 431 calls in 2.01 s";
  result.clock_before_hz = 2.6e9;
  result.clock_after_hz = 2.4e9;
  result.clock_note = "a note";
  result.wall_s = 3.5;
  result.timed_s = 2.25;
  result.stopped_by = "precision";
  result.log = "line 1\nline 2\n";
  result.finished_at = "2026-11-30T20:42:00Z";
  return result;
}
std::vector<SampleRecord> some_samples(std::int64_t count) {
  std::vector<SampleRecord> samples;
  for (std::int64_t i = 0; i < count; ++i) samples.push_back({"", i / 10, i % 10, 0.0123 + 1e-7 * static_cast<double>(i)});
  return samples;
}

Status save_context(Store& store, const RunRecord& run) {
  for (const Status& status : {store.save_node(a_node()), store.save_environment(an_environment()),
                               store.save_configuration(a_configuration()), store.save_run(run)}) {
    if (!status) return status;
  }
  return {};
}

RunRecord make_store(const std::filesystem::path& file, int results) {
  RunRecord run = a_run("first");
  auto store = Store::open(file, OpenMode::kWrite);
  if (!store) {
    ADD_FAILURE() << text_of(store.error());
    return run;
  }
  if (const Status status = save_context(*store, run); !status) ADD_FAILURE() << text_of(status.error());
  for (int i = 0; i < results; ++i) {
    if (const Status status = store->save_result(a_result(run, i), some_samples(20)); !status)
      ADD_FAILURE() << text_of(status.error());
  }
  return run;
}

std::string text_of(const Error& error) { return fmt::format("{}\n{}\n{}", error.what, error.why, error.next); }

std::string integrity(const std::filesystem::path& file) {
  SQLite::Database database(file.string(), SQLite::OPEN_READWRITE, 5000);
  SQLite::Statement query(database, "PRAGMA integrity_check");
  return query.executeStep() ? query.getColumn(0).getString() : "no answer";
}

bool drop_privileges() {
  constexpr unsigned kNobody = 65534;
  if (::getuid() != 0) return true;
  // In a tree whose root folder is root's alone (a bare chroot) nobody reaches any file: denials there would prove nothing.
  return ::setgroups(0, nullptr) == 0 && ::setresgid(kNobody, kNobody, kNobody) == 0 &&
         ::setresuid(kNobody, kNobody, kNobody) == 0 && ::access("/", X_OK) == 0;
}

bool own_mounts() {
  return ::getuid() == 0 && ::unshare(CLONE_NEWNS) == 0 && ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

std::optional<std::string> in_child(const std::function<bool()>& prepare, const std::function<std::string()>& body) {
  int ends[2] = {};
  if (::pipe(ends) != 0) return "pipe failed";
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    const bool prepared = prepare();
    const std::string text = prepared ? "+" + body() : "-";
    if (::write(ends[1], text.data(), text.size()) != static_cast<ssize_t>(text.size())) ::_exit(1);
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t got = 0; (got = ::read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(got));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || text.empty())
    return fmt::format("the child ended with status {}", status);
  if (text[0] == '-') return std::nullopt;
  return text.substr(1);
}

}  // namespace hbmark::tests
