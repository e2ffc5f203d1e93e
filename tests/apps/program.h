// Runs the built `arion` program and collects what it says.
#pragma once
#include <sys/wait.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "temp_dir.h"
#include "test_data.h"

namespace arion::test {

struct Outcome {
  int exit_code = -1;  // -1: ended by a signal
  std::string out, err;
};

// `arguments` as a shell spells them; `input` is the program's standard input, unless they say "<".
// The model cache is an empty folder unless `environment` ("NAME=value ...") says otherwise.
inline Outcome run_arion(const std::string& arguments, const std::string& input = "",
                         const std::string& environment = "") {
  const TempDir folder;
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
