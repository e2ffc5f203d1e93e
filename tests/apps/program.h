// Runs the built `arion` program and collects what it says.
#pragma once
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "test_data.h"

namespace arion::test {

struct Outcome {
  int exit_code = -1;  // -1: ended by a signal
  std::string out, err;
};

// A folder of its own for one test, removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "arion-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

  std::filesystem::path write(const std::string& name, const std::string& content) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << content;
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

// `arguments` as a shell spells them; `input` is the program's standard input, unless they say "<".
// The model cache is an empty folder unless `environment` ("NAME=value ...") says otherwise.
inline Outcome run_arion(const std::string& arguments, const std::string& input = "",
                         const std::string& environment = "") {
  const TemporaryFolder folder;
  const std::string base = folder.path().string();
  folder.write("in", input);
  const std::string command = "XDG_CACHE_HOME=" + base + " " + environment + " " + ARION_PROGRAM +
                              " <" + base + "/in " + arguments + " >" + base + "/out 2>" + base +
                              "/err";
  const int status = std::system(command.c_str());
  Outcome outcome;
  if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
  outcome.out = read_file(folder.path() / "out");
  outcome.err = read_file(folder.path() / "err");
  return outcome;
}

inline std::set<std::string> keys(const nlohmann::json& object) {
  std::set<std::string> names;
  for (const auto& [key, value] : object.items()) names.insert(key);
  return names;
}

}  // namespace arion::test
