// Rates of a tokenizer in MB of text per second of one core.
//
//   tokenizer_bench MODEL.gguf [TEXT ...]
//
// Each line: one warm-up, then the median of 5 runs, by the processor time of the thread. Without
// texts it makes 1 MB each of prose and of what is hard for merging.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "io/gguf.h"
#include "model/vocabulary_loader.h"
#include "text/detokenizer.h"
#include "text/tokenizer.h"

namespace {

using namespace arion;

constexpr size_t kMegabyte = 1'000'000;
constexpr int kRuns = 5;

double busy_time() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

template <class Job>
double median_seconds(const Job& job) {
  job();
  std::vector<double> seconds;
  for (int i = 0; i < kRuns; ++i) {
    const double start = busy_time();
    job();
    seconds.push_back(busy_time() - start);
  }
  std::ranges::sort(seconds);
  return seconds[kRuns / 2];
}

void measure(const Tokenizer& tokenizer, const std::string& name, const std::string& text) {
  std::vector<int32_t> ids;
  const double encode = median_seconds(
      [&] { ids = tokenizer.encode(text, {.add_special = false, .parse_special = false}); });
  size_t bytes = 0;
  const double decode = median_seconds([&] { bytes = decode_bytes(tokenizer, ids).size(); });
  const double megabytes = static_cast<double>(text.size()) / kMegabyte;
  std::printf("%-28s %8.3f MB %8zu tokens  encode %7.1f MB/s  decode %7.1f MB/s%s\n", name.c_str(),
              megabytes, ids.size(), megabytes / encode, megabytes / decode,
              bytes == text.size() ? "" : "  (decodes to another length)");
}

std::string read_file(const char* path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// English-like words of the thousand that a seed gives, Zipf-distributed.
std::string prose(const char* space) {
  std::mt19937 random(1);
  std::vector<std::string> words(1000);
  for (std::string& word : words) {
    for (int i = 1 + random() % 9; i > 0; --i) word += "etaoinshrdlucmfw"[random() % 16];
  }
  std::string text;
  while (text.size() < kMegabyte) {
    const size_t rank = words.size() >> random() % 10;
    text += words[random() % rank];
    text += random() % 12 == 0 ? std::string(".") + space : space;
  }
  return text;
}

std::string repeated(const char* unit) {
  std::string text;
  while (text.size() < kMegabyte) text += unit;
  return text;
}

std::string random_letters() {
  std::mt19937 random(2);
  std::string text(kMegabyte, ' ');
  for (char& c : text) c = static_cast<char>('a' + random() % 26);
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: tokenizer_bench MODEL.gguf [TEXT ...]\n");
    return 2;
  }
  const Tokenizer tokenizer(load_vocabulary(GgufFile::open(argv[1]).metadata()));
  for (int i = 2; i < argc; ++i) measure(tokenizer, argv[i], read_file(argv[i]));
  if (argc > 2) return 0;
  measure(tokenizer, "prose", prose(" "));
  measure(tokenizer, "prose without spaces", prose(""));
  measure(tokenizer, "random letters, no spaces", random_letters());
  measure(tokenizer, "one letter", repeated("a"));
  measure(tokenizer, "emoji", repeated("😀"));
  measure(tokenizer, "spaces", repeated(" "));
  measure(tokenizer, "line ends", repeated("\n"));
  measure(tokenizer, "digits", repeated("7"));
  measure(tokenizer, "Chinese, one character", repeated("中"));
  return 0;
}
