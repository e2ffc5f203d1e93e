// Files of packed weights: what is written is read, and what is damaged is refused with which
// words.
#include "io/panel_file.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "base/error.h"

namespace arion {
namespace {

PanelFile some_file() {
  PanelFile file{.data_offset = 128, .data_bytes = 704};
  file.source.files = {{"a.gguf", 1000, 17, -5, 3}, {"b.gguf", 2000, 18, 7, 4}};
  file.source.made = 9;
  file.source_hashes = {21, 22};
  file.tensors = {{.name = "output_norm.weight", .rows = 1, .cols = 32, .offset = 0, .bytes = 128},
                  {.name = "token_embd.weight",
                   .gguf_type = 2,
                   .spec = {.codec = Codec::c4, .mode = ScaleMode::a, .zero = 8},
                   .is_matrix = true,
                   .rows = 16,
                   .cols = 64,
                   .offset = 128,
                   .bytes = 576}};
  file.tensor_hashes = {31, 32};
  return file;
}

std::vector<std::byte> bytes_of(const PanelFile& file) {
  std::vector<std::byte> bytes = panel_file_header(file);
  bytes.resize(file.table_offset());
  const std::vector<std::byte> table = panel_file_table(file);
  bytes.insert(bytes.end(), table.begin(), table.end());
  return bytes;
}

void expect_refused(std::span<const std::byte> bytes, const std::string& words) {
  try {
    parse_panel_file(bytes, "x.panels");
    ADD_FAILURE() << "accepted, expected: " << words;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_input);
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    EXPECT_TRUE(std::string(error.what()).starts_with("x.panels: ")) << error.what();
  }
}

void expect_refused_after(const std::function<void(PanelFile&)>& change, const std::string& words) {
  PanelFile file = some_file();
  change(file);
  expect_refused(bytes_of(file), words);
}

TEST(PanelFile, WhatIsWrittenIsRead) {
  const PanelFile written = some_file();
  const PanelFile read = parse_panel_file(bytes_of(written), "x.panels");
  EXPECT_EQ(read.data_offset, written.data_offset);
  EXPECT_EQ(read.data_bytes, written.data_bytes);
  EXPECT_EQ(read.tensors, written.tensors);
  EXPECT_EQ(read.source_hashes, written.source_hashes);
  EXPECT_EQ(read.tensor_hashes, written.tensor_hashes);
  EXPECT_EQ(describe_change(read.source, written.source), "");
  EXPECT_EQ(read.source.files[1].name, "b.gguf");
}

TEST(PanelFile, EveryTruncationAndEveryChangedByteOfTheTableIsRefused) {
  std::vector<std::byte> bytes = bytes_of(some_file());
  for (size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_THROW(parse_panel_file(std::span(bytes).first(i), ""), Error) << i;
  }
  for (size_t i = some_file().table_offset(); i < bytes.size(); ++i) {
    bytes[i] ^= std::byte{1};
    expect_refused(bytes, "damaged");
    bytes[i] ^= std::byte{1};
  }
  bytes.push_back(std::byte{0});
  expect_refused(bytes, "damaged");
}

TEST(PanelFile, ForeignFilesAndOtherVersionsAreNamed) {
  expect_refused({}, "is not a compiled model");
  const std::string gguf = std::string("GGUF") + std::string(100, '\0');
  expect_refused(std::as_bytes(std::span(gguf)), "is not a compiled model");
  std::vector<std::byte> bytes = bytes_of(some_file());
  bytes[12] ^= std::byte{0x80};  // the version of the layout
  expect_refused(bytes, "was compiled by another version");
}

TEST(PanelFile, WeightsOutsideTheFileOrOverEachOtherAreRefused) {
  std::vector<std::byte> bytes = bytes_of(some_file());
  bytes[24 + 7] = std::byte{0xff};  // the highest byte of the number of bytes of the weights
  expect_refused(bytes, "truncated or damaged");
  expect_refused_after([](PanelFile& file) { file.tensors[1].offset = 64; }, "token_embd.weight");
  expect_refused_after([](PanelFile& file) { file.tensors[1].offset = 129; }, "token_embd.weight");
  expect_refused_after([](PanelFile& file) { file.tensors[1].offset = 1 << 20; },
                       "token_embd.weight");
  expect_refused_after([](PanelFile& file) { file.tensors[1].bytes = UINT64_MAX - 64; },
                       "token_embd.weight");
  expect_refused_after([](PanelFile& file) { file.data_offset = 96; }, "damaged");
}

TEST(PanelFile, EntriesThatMakeNoSenseAreRefused) {
  const std::string words = "makes no sense";
  expect_refused_after([](PanelFile& file) { file.tensors[0].rows = 0; }, words);
  expect_refused_after([](PanelFile& file) { file.tensors[0].cols = -1; }, words);
  expect_refused_after([](PanelFile& file) { file.tensors[1].spec.codec = static_cast<Codec>(12); },
                       words);
  expect_refused_after(
      [](PanelFile& file) { file.tensors[1].spec.mode = static_cast<ScaleMode>(11); }, words);
  expect_refused_after(
      [](PanelFile& file) { file.tensors[1].spec.table = static_cast<CodeTable>(7); }, words);
  expect_refused_after([](PanelFile& file) { file.tensors[0].name = std::string(64, 'x'); },
                       "the length of a name is 64, at most 63");
}

}  // namespace
}  // namespace arion
