#include "tests/e2e/run_fixture.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>

namespace hbmark::tests {

void RunTest::SetUp() {
  std::string name = (std::filesystem::temp_directory_path() / "hbmark-run-XXXXXX").string();
  ASSERT_NE(mkdtemp(name.data()), nullptr);
  folder_ = name;
  setenv("HBMARK_FAKE_SCRIPT", (folder_ / "script.json").c_str(), 1);
  unsetenv("HBMARK_BACKEND_PATH");
  script({});
  auto node = topology::describe_node({.xml_file = "", .sysfs_root = "", .with_io = false});
  ASSERT_TRUE(node) << node.error().why;
  node_ = *node;
}

void RunTest::TearDown() {
  EXPECT_TRUE(becomes([&] { return workers().empty(); }, 10)) << "a worker is left over";
  unsetenv("HBMARK_FAKE_SCRIPT");
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void RunTest::script(const std::vector<nlohmann::json>& rules, const char* file) const {
  nlohmann::json document = nlohmann::json::object();
  document["rules"] = rules;
  std::ofstream(folder_ / file) << document;
}

void RunTest::script_replica(std::size_t replica, const std::vector<nlohmann::json>& rules) {
  const std::string file = fmt::format("script-{}.json", replica);
  script(rules, file.c_str());
  of_replica_.push_back({replica, {"HBMARK_FAKE_SCRIPT", (folder_ / file).string()}});
}

Plan RunTest::plan(const std::vector<std::string>& problems) const {
  Plan plan;
  plan.timeout_s = 1;
  plan.threads = 1;
  plan.backend_paths = {HBMARK_TEST_BACKENDS};
  for (const std::string& problem : problems) {
    PlannedCase planned;
    planned.index = static_cast<std::int64_t>(plan.cases.size());
    planned.problem = problem;
    planned.backend = "fake";
    planned.device = "cpu";
    planned.budget_s = 0.1;
    plan.cases.push_back(planned);
  }
  return plan;
}

std::string RunTest::write_plan(const Plan& plan) const {
  const std::string file = (folder_ / "plan.json").string();
  std::ofstream(file) << plan_to_json(plan);
  return file;
}

Store RunTest::open_store() const {
  auto store = Store::open(db(), OpenMode::kWrite);
  if (!store) throw std::runtime_error(store.error().what + ": " + store.error().why);
  return std::move(*store);
}

Result<RunSummary> RunTest::carry_out_here(const Plan& plan, const std::string& worker_program,
                                           const RunObserver& observer) {
  Store store = open_store();
  const NodeRecord node{digest_uuid("node of a test"), "test", "{}"};
  const EnvironmentRecord environment{digest_uuid("environment of a test"), {{"test", "1"}}};
  EXPECT_TRUE(store.save_node(node));
  EXPECT_TRUE(store.save_environment(environment));
  RunRequest request;
  request.plan = plan;
  request.node = &node_;
  request.run.uuid = new_uuid();
  request.run.node_uuid = node.uuid;
  request.run.environment_uuid = environment.uuid;
  request.worker_program = worker_program;
  auto placement = plan.replicas > 1 ? topology::plan_replicas(node_, plan.replicas, thread_wish(plan, 0))
                                     : topology::plan_threads(node_, plan.threads);
  if (!placement) return tl::make_unexpected(placement.error());
  for (const auto& [replica, variable] : of_replica_) placement->parts.at(replica).environment.push_back(variable);
  request.placements = {*placement};
  return carry_out(request, store, observer);
}

RunRecord RunTest::last_run() const {
  auto run = open_store().find_run("last");
  EXPECT_TRUE(run);
  return run ? *run : RunRecord{};
}

std::vector<ResultRecord> RunTest::results() const {
  auto all = open_store().results(last_run().uuid);
  EXPECT_TRUE(all);
  return all ? *all : std::vector<ResultRecord>{};
}

std::string RunTest::driver() { return HBMARK_RUN_DRIVER; }

std::string RunTest::output() const {
  std::ifstream in(folder_ / "program.log", std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

pid_t RunTest::start_program(const std::string& program, const std::vector<std::string>& arguments,
                             std::uint64_t limit_file_bytes) const {
  std::vector<std::string> all = {program};
  all.insert(all.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& argument : all) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  const std::string log = (folder_ / "program.log").string();
  const pid_t process = fork();
  if (process != 0) return process;
  const int out = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  dup2(out, 1);
  dup2(out, 2);
  std::signal(SIGINT, SIG_DFL);  // a test started in the background has it ignored
  std::signal(SIGHUP, SIG_DFL);
  if (limit_file_bytes > 0) {
    // As a full disk does: writes fail (with EFBIG), and do not kill.
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{limit_file_bytes, limit_file_bytes};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  execv(pointers.front(), pointers.data());
  _exit(127);
}

int RunTest::wait_for(pid_t process) const {
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::vector<pid_t> RunTest::workers() const {
  const auto read = [](const std::filesystem::path& file) {
    const std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();  // a process that is gone by now reads as nothing, where an iterator over the buffer would throw
    return text.str();
  };
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (read(entry.path() / "cmdline").find(std::string("\0worker\0", 8)) == std::string::npos) continue;
    if (read(entry.path() / "environ").find(folder_.string()) != std::string::npos) found.push_back(std::stoi(name));
  }
  return found;
}

bool RunTest::becomes(const std::function<bool()>& condition, double within_s) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(within_s);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

}  // namespace hbmark::tests
