// Runs a fuzz target over files, for compilers without libFuzzer: replay FILE_OR_DIRECTORY...
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void Run(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

}  // namespace

int main(int argc, char** argv) {
  int runs = 0;
  for (int i = 1; i < argc; ++i) {
    if (!std::filesystem::is_directory(argv[i])) {
      Run(argv[i]);
      ++runs;
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
      Run(entry.path());
      ++runs;
    }
  }
  std::cout << runs << " inputs\n";
  return runs > 0 ? 0 : 1;
}
