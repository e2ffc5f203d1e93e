#include "chat/fallback_template.h"

#include <initializer_list>

namespace arion {
namespace {

constexpr std::string_view kChatMl =
    "{% for message in messages %}{{ '<|im_start|>' + message.role + '\n' + message.content + "
    "'<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

constexpr std::string_view kSmolLm =
    "{% for message in messages %}"
    "{% if loop.first and message.role != 'system' %}{{ '<|im_start|>system\nYou are a helpful AI "
    "assistant named SmolLM, trained by Hugging Face<|im_end|>\n' }}{% endif %}"
    "{{ '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

// Gemma knows no system turn: the text goes in front of the first turn.
constexpr std::string_view kGemma =
    "{{ bos_token }}"
    "{% if messages and messages[0].role == 'system' %}"
    "{% set first = messages[0].content + '\n\n' %}{% set turns = messages[1:] %}"
    "{% else %}{% set first = '' %}{% set turns = messages %}{% endif %}"
    "{% for message in turns %}"
    "{% if (message.role == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}"
    "{% endif %}"
    "{{ '<start_of_turn>' + ('model' if message.role == 'assistant' else message.role) + '\n' + "
    "(first if loop.first else '') + message.content|trim + '<end_of_turn>\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<start_of_turn>model\n' }}{% endif %}";

constexpr std::string_view kLlama3 =
    "{{ bos_token }}"
    "{% for message in messages %}{{ '<|start_header_id|>' + message.role + "
    "'<|end_header_id|>\n\n' + message.content|trim + '<|eot_id|>' }}{% endfor %}"
    "{% if add_generation_prompt %}"
    "{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}";

constexpr std::string_view kPhi3 =
    "{% for message in messages %}{{ '<|' + message.role + '|>\n' + message.content + "
    "'<|end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>\n' }}{% endif %}";

constexpr std::string_view kMistral =
    "{{ bos_token }}"
    "{% if messages and messages[0].role == 'system' %}"
    "{% set first = messages[0].content + '\n\n' %}{% set turns = messages[1:] %}"
    "{% else %}{% set first = '' %}{% set turns = messages %}{% endif %}"
    "{% for message in turns %}"
    "{% if message.role == 'user' %}"
    "{{ '[INST] ' + (first if loop.first else '') + message.content + '[/INST]' }}"
    "{% elif message.role == 'assistant' %}{{ ' ' + message.content + eos_token }}"
    "{% else %}{{ raise_exception('Only user and assistant roles are supported, after an optional "
    "system message') }}{% endif %}"
    "{% endfor %}";

}  // namespace

std::string_view fallback_template(const Tokenizer& tokenizer) {
  const auto has = [&](std::initializer_list<std::string_view> markers) {
    for (const std::string_view marker : markers) {
      if (!tokenizer.find_special(marker)) return false;
    }
    return true;
  };
  if (has({"<|im_start|>", "<|im_end|>"})) return tokenizer.pre() == "smollm" ? kSmolLm : kChatMl;
  if (has({"<start_of_turn>", "<end_of_turn>"})) return kGemma;
  if (has({"<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"})) return kLlama3;
  if (has({"<|user|>", "<|assistant|>", "<|end|>"})) return kPhi3;
  if (has({"[INST]", "[/INST]"})) return kMistral;
  return {};
}

}  // namespace arion
