// The contract of a backend as a whole, put to every one there is: probe, open, info, memory, symbols.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

#include "backends/loader/members.h"
#include "tests/contract/driver.h"
#include "tests/contract/problems.h"

namespace hbmark::tests {
namespace {

TEST(Plugins, EveryOneThatWasBuiltLoads) {
  for (const RejectedFile& rejected : plugins().rejected) ADD_FAILURE() << rejected.file << ": " << rejected.reason;
  EXPECT_NE(find_backend("reference"), nullptr);
  EXPECT_NE(find_backend("fake"), nullptr);
}

class BackendContract : public testing::TestWithParam<std::string> {
 protected:
  const LoadedBackend& loaded() const {
    for (const LoadedBackend& backend : plugins().backends) {
      if (backend.name == GetParam()) return backend;
    }
    throw std::logic_error("no backend " + GetParam());
  }
  const hbmark_backend& backend() const { return *loaded().table; }
  TestHost host_;
};

TEST_P(BackendContract, SaysWhatItIs) {
  EXPECT_FALSE(loaded().version.empty());
  EXPECT_FALSE(loaded().summary.empty());
  EXPECT_EQ(loaded().summary.find('\n'), std::string::npos);
}

TEST_P(BackendContract, ExportsItsEntryAndNothingElse) {
  const std::string command = "nm -D --defined-only '" + loaded().file.string() + "' 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string text;
  std::array<char, 512> chunk;
  while (std::fgets(chunk.data(), chunk.size(), pipe) != nullptr) text += chunk.data();
  const int rc = pclose(pipe);
  if (rc == 127 * 256) GTEST_SKIP() << "nm (binutils) is not installed";
  ASSERT_EQ(rc, 0) << text;
  ASSERT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
  EXPECT_THAT(text, testing::HasSubstr(" T hbmark_backend_v1\n"));
}

TEST_P(BackendContract, ProbeSaysDevicesOrWhyNot) {
  std::uint32_t count = 99;
  const Called counted = call([&](hbmark_status* s) { return backend().probe(host_.get(), nullptr, 0, &count, s); });
  if (!counted) {
    EXPECT_EQ(counted.code, HBMARK_UNAVAILABLE);
    EXPECT_FALSE(counted.message.empty()) << "unavailable without a reason";
    EXPECT_EQ(count, 0u);
    GTEST_SKIP() << counted.message;
  }
  EXPECT_GE(count, 1u);
  TestSession session(&backend(), host_);
  EXPECT_TRUE(session.ok()) << "probe found a device that cannot be opened: " << session.opened().message;
}

TEST_P(BackendContract, AnUnknownDeviceIsUnavailableWithAReason) {
  for (const char* id : {"no-such-device:7", ""}) {
    hbmark_session* session = nullptr;
    const Called result = call([&](hbmark_status* s) { return backend().open(host_.get(), id, &session, s); });
    EXPECT_EQ(result.code, HBMARK_UNAVAILABLE) << result.message;
    EXPECT_FALSE(result.message.empty());
    EXPECT_EQ(session, nullptr);
  }
  EXPECT_EQ(host_.live(), 0u);
}

TEST_P(BackendContract, CapabilitiesAreFixedAndUnknownOnesNull) {
  EXPECT_EQ(backend().capability("hbmark.gemm/9"), nullptr);
  EXPECT_EQ(backend().capability(""), nullptr);
  EXPECT_EQ(backend().capability("hbmark"), nullptr);
  int kernels = 0;
  for (const ContractKernel& kernel : contract_kernels()) {
    const void* table = backend().capability(kernel.capability);
    EXPECT_EQ(table, backend().capability(kernel.capability));
    kernels += table != nullptr ? 1 : 0;
  }
  EXPECT_TRUE(kernels == 0 || backend().capability(HBMARK_MEMORY_V1) != nullptr) << "kernels need memory";
}

TEST_P(BackendContract, InfoIsText) {
  const auto capability = find_capability<hbmark_info_capability>(backend(), HBMARK_INFO_V1);
  if (!capability) GTEST_SKIP() << GetParam() << " has no hbmark.info/1";
  TestSession session(&backend(), host_);
  if (!session.ok()) GTEST_SKIP() << session.opened().message;
  hbmark_info info;
  std::memset(static_cast<void*>(&info), 0x5A, sizeof info);
  info.struct_size = sizeof info;
  const Called result = call([&](hbmark_status* s) { return capability->describe(session.handle(), &info, s); });
  ASSERT_TRUE(result) << result.message;
  for (const std::string& text :
       {checked_text(info.library, sizeof info.library), checked_text(info.runtime, sizeof info.runtime),
        checked_text(info.isa, sizeof info.isa), checked_text(info.warning, sizeof info.warning)}) {
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  }
}

TEST_P(BackendContract, MemoryIsAlignedWritableAndGivenBack) {
  TestSession session(&backend(), host_);
  if (!session.ok()) GTEST_SKIP() << session.opened().message;
  const hbmark_memory& memory = session.memory();
  if (memory.alloc == nullptr) GTEST_SKIP() << GetParam() << " has no hbmark.memory/1";
  const std::size_t before = host_.live();
  std::vector<hbmark_buffer*> buffers;
  for (const std::uint64_t bytes : {1u, 63u, 64u, 4096u, 100001u}) {
    hbmark_buffer* buffer = nullptr;
    const Called result = call([&](hbmark_status* s) { return memory.alloc(session.handle(), bytes, &buffer, s); });
    ASSERT_TRUE(result) << result.message;
    void* address = memory.address(buffer);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(address) % 64, 0u) << bytes << " bytes";
    if (address != nullptr) std::memset(address, 0x33, bytes);
    buffers.push_back(buffer);
  }
  for (hbmark_buffer* buffer : buffers) memory.free(session.handle(), buffer);
  EXPECT_EQ(host_.live(), before);
}

TEST_P(BackendContract, MoreMemoryThanThereIsIsRefused) {
  TestSession session(&backend(), host_);
  if (!session.ok()) GTEST_SKIP() << session.opened().message;
  if (session.memory().alloc == nullptr) GTEST_SKIP() << GetParam() << " has no hbmark.memory/1";
  for (const std::uint64_t bytes : {std::uint64_t{1} << 50, std::uint64_t{1} << 62, ~std::uint64_t{0}}) {
    hbmark_buffer* buffer = nullptr;
    const Called result =
        call([&](hbmark_status* s) { return session.memory().alloc(session.handle(), bytes, &buffer, s); });
    EXPECT_EQ(result.code, HBMARK_OUT_OF_MEMORY) << result.message;
    EXPECT_FALSE(result.message.empty());
    EXPECT_EQ(buffer, nullptr);
  }
}

TEST_P(BackendContract, OpensAgainAndAgainWithoutLeaking) {
  for (int i = 0; i < 3; ++i) {
    TestSession session(&backend(), host_);
    if (!session.ok()) GTEST_SKIP() << session.opened().message;
  }
  EXPECT_EQ(host_.live(), 0u);
  EXPECT_THAT(host_.faults(), testing::IsEmpty());
}

TEST_P(BackendContract, ProbeAndOpenAreSilent) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  { TestSession session(&backend(), host_); }
  std::fflush(nullptr);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

std::vector<std::string> list_names() {
  std::vector<std::string> names;
  for (const LoadedBackend& backend : plugins().backends) names.push_back(backend.name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(Every, BackendContract, testing::ValuesIn(list_names()),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace hbmark::tests
