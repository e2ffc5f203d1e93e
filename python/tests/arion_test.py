"""The Python package over the built library, with a small random model:
    ARION_LIBRARY=build/release/libarion.so PYTHONPATH=python python3 -m unittest discover -s python/tests -p '*_test.py'
"""

import math
import os
import pathlib
import shutil
import signal
import tempfile
import threading
import unittest

from arion import (
    LLM,
    ArionError,
    InvalidRequestError,
    Logprob,
    SamplingParams,
)

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEMPLATE = (
    "{% for m in messages %}{{ m.role[0] }}{{ m.content }}{% endfor %}"
    "{% if add_generation_prompt %}{{ tail | default('z') }}{% endif %}"
)


def seeded(**fields):
    return SamplingParams(**{"seed": 7, "ignore_eos": True, "max_tokens": 8, **fields})


class ArionTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.model = pathlib.Path(folder.name) / "tiny.gguf"
        shutil.copy(ROOT / "tests/golden/model/llama.gguf", cls.model)
        cls.model.with_name("chat_template.jinja").write_text(TEMPLATE)
        cls.llm = LLM(cls.model, threads=1, max_num_seqs=4)
        cls.addClassCleanup(cls.llm.close)


class Generate(ArionTest):
    def test_answers_come_in_the_order_of_the_prompts(self):
        prompts = ["ab", {"prompt": "ba"}, {"prompt_token_ids": [5, 6]}, [7, 8, 9]]
        together = self.llm.generate(prompts, seeded())
        self.assertEqual(len(together), 4)
        self.assertEqual([o.prompt for o in together], ["ab", "ba", None, None])
        self.assertEqual(together[3].prompt_token_ids, [7, 8, 9])
        for prompt, output in zip(prompts, together):
            (alone,) = self.llm.generate(prompt, seeded())
            self.assertEqual(alone.outputs, output.outputs)
            self.assertTrue(output.finished)
            self.assertEqual(output.seed, 7)
            self.assertEqual(len(output.outputs[0].token_ids), 8)
            self.assertEqual(output.outputs[0].finish_reason, "length")
        self.assertEqual(len({o.request_id for o in together}), 4)

    def test_every_prompt_may_have_its_parameters(self):
        params = [seeded(max_tokens=2), seeded(max_tokens=3, n=2)]
        outputs = self.llm.generate(["ab", "ab"], params)
        self.assertEqual([len(o.outputs) for o in outputs], [1, 2])
        self.assertEqual([len(c.token_ids) for c in outputs[1].outputs], [3, 3])
        self.assertEqual([c.index for c in outputs[1].outputs], [0, 1])
        with self.assertRaises(ValueError):
            self.llm.generate(["ab"], params)
        self.assertEqual(self.llm.generate([], seeded()), [])

    def test_without_parameters_an_answer_has_16_tokens_at_most(self):
        (output,) = self.llm.generate("ab")
        self.assertLessEqual(len(output.outputs[0].token_ids), 16)

    def test_logprobs_name_the_token_and_its_rivals(self):
        (output,) = self.llm.generate("abc", seeded(logprobs=2, prompt_logprobs=0))
        answer = output.outputs[0]
        self.assertEqual(len(answer.logprobs), 8)
        total = 0.0
        for token, entry in zip(answer.token_ids, answer.logprobs):
            self.assertIsInstance(entry[token], Logprob)
            self.assertEqual(next(iter(entry)), token)
            self.assertIn(len(entry), (2, 3))
            by_rank = sorted(entry.values(), key=lambda logprob: logprob.rank)
            self.assertEqual([e.rank for e in by_rank[:2]], [1, 2])
            self.assertEqual(
                by_rank, sorted(by_rank, key=lambda logprob: -logprob.logprob)
            )
            total += entry[token].logprob
        self.assertAlmostEqual(answer.cumulative_logprob, total)
        self.assertEqual(len(output.prompt_logprobs), len(output.prompt_token_ids))
        self.assertIsNone(output.prompt_logprobs[0])
        for token, entry in zip(output.prompt_token_ids[1:], output.prompt_logprobs[1:]):
            self.assertEqual(list(entry), [token])
            self.assertEqual(entry[token].decoded_token, self.llm.get_tokenizer().spell(token))
        (plain,) = self.llm.generate("abc", seeded())
        self.assertIsNone(plain.prompt_logprobs)
        self.assertIsNone(plain.outputs[0].logprobs)
        self.assertIsNone(plain.outputs[0].cumulative_logprob)
        (chosen,) = self.llm.generate("abc", seeded(logprobs=0))
        self.assertEqual([len(entry) for entry in chosen.outputs[0].logprobs], [1] * 8)

    def test_answers_end_at_stops(self):
        (whole,) = self.llm.generate("ab", seeded(max_tokens=20))
        token = whole.outputs[0].token_ids[4]
        (stopped,) = self.llm.generate("ab", seeded(max_tokens=20, stop_token_ids=[token]))
        self.assertEqual(stopped.outputs[0].finish_reason, "stop")
        self.assertEqual(stopped.outputs[0].stop_reason, token)
        text = whole.outputs[0].text
        stop = text[3:5]
        (stopped,) = self.llm.generate("ab", seeded(max_tokens=20, stop=stop))
        self.assertEqual(stopped.outputs[0].stop_reason, stop)
        self.assertEqual(stopped.outputs[0].text, text[: text.index(stop)])

    def test_errors_are_exceptions_with_the_reason(self):
        with self.assertRaisesRegex(InvalidRequestError, "prompt"):
            self.llm.generate({"text": "ab"})
        with self.assertRaisesRegex(InvalidRequestError, "token"):
            self.llm.generate([[1, 2], [10**6]], seeded())
        with self.assertRaisesRegex(InvalidRequestError, "xtc"):
            self.llm.generate("ab", SamplingParams(xtc_probability=7))
        with self.assertRaisesRegex(ValueError, "no-such-name"):
            self.llm.generate("ab", SamplingParams(extra_args={"model": "no-such-name"}))
        with self.assertRaisesRegex(ArionError, "no-such-model"):
            LLM("no-such-model")
        self.assertEqual(self.llm.get_stats()["waiting"], 0)

    def test_threads_share_the_engine(self):
        answers = {}

        def ask(prompt):
            answers[prompt] = self.llm.generate(prompt, seeded(max_tokens=30))[0].outputs

        threads = [threading.Thread(target=ask, args=(prompt,)) for prompt in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for prompt in "abcd":
            self.assertEqual(
                answers[prompt], self.llm.generate(prompt, seeded(max_tokens=30))[0].outputs
            )

    def test_control_c_cancels(self):
        class Interrupt(Exception):
            pass

        def interrupt(*_):
            raise Interrupt

        before = signal.signal(signal.SIGINT, interrupt)
        self.addCleanup(signal.signal, signal.SIGINT, before)
        timer = threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with self.assertRaises(Interrupt):
            while True:
                self.llm.generate(["ab"] * 50, seeded(max_tokens=400))
        timer.join()
        (output,) = self.llm.generate("ab", seeded())
        self.assertTrue(output.finished)


class Chat(ArionTest):
    def test_conversations_become_prompts_by_the_template(self):
        messages = [{"role": "user", "content": "ab"}]
        (one,) = self.llm.chat(messages, seeded())
        self.assertEqual(one.prompt_token_ids, self.prompt(messages, add_generation_prompt=True))
        self.assertEqual(one.prompt.strip(), "<s>uabz")
        two = self.llm.chat([messages, messages], seeded())
        self.assertEqual([o.outputs for o in two], [one.outputs] * 2)
        (other,) = self.llm.chat(messages, seeded(), chat_template_kwargs={"tail": "y"})
        self.assertEqual(other.prompt.strip(), "<s>uaby")
        messages.append({"role": "assistant", "content": "c"})
        (continued,) = self.llm.chat(
            messages,
            seeded(logprobs=1),
            add_generation_prompt=False,
            continue_final_message=True,
        )
        self.assertEqual(continued.prompt.strip(), "<s>uabac")
        self.assertEqual(len(continued.outputs[0].logprobs), 8)

    def prompt(self, messages, **options):
        return self.llm.get_tokenizer().apply_chat_template(messages, **options)


class Streams(ArionTest):
    def test_pieces_make_the_whole_answer(self):
        (whole,) = self.llm.generate("ab", seeded(logprobs=1))
        pieces = list(self.llm.stream("ab", seeded(logprobs=1)))
        self.assertEqual("".join(p.outputs[0].text for p in pieces), whole.outputs[0].text)
        tokens = [token for p in pieces for token in p.outputs[0].token_ids]
        self.assertEqual(tokens, whole.outputs[0].token_ids)
        self.assertEqual([p.finished for p in pieces], [False] * (len(pieces) - 1) + [True])
        self.assertEqual(pieces[-1].outputs[0].finish_reason, "length")
        chat = list(self.llm.stream([{"role": "user", "content": "ab"}], seeded()))
        self.assertTrue(chat[-1].finished)

    def test_closing_cancels(self):
        for _ in range(10):
            with self.llm.stream("ab", seeded(max_tokens=400)) as stream:
                self.assertFalse(next(stream).finished)
            with self.assertRaises(StopIteration):
                next(stream)
        (output,) = self.llm.generate("ab", seeded())
        self.assertTrue(output.finished)


class Tokens(ArionTest):
    def test_text_becomes_tokens_and_text_again(self):
        tokenizer = self.llm.get_tokenizer()
        tokens = tokenizer.encode("abc")
        self.assertEqual(tokens[0], tokenizer.bos_token_id)
        self.assertEqual(tokenizer.decode(tokens, skip_special_tokens=True), "abc")
        self.assertEqual(tokenizer.encode("abc", add_special_tokens=False), tokens[1:])
        self.assertEqual(tokenizer.encode("", add_special_tokens=False), [])
        self.assertEqual(tokenizer.decode([]), "")
        self.assertGreater(len(tokenizer), 10)
        with self.assertRaises(InvalidRequestError):
            tokenizer.decode(-1)

    def test_templates_give_text_too(self):
        text = self.llm.get_tokenizer().apply_chat_template(
            [{"role": "user", "content": "ab"}], tokenize=False
        )
        self.assertEqual(text, "uab")


class Engines(ArionTest):
    def test_closed_engines_refuse(self):
        with LLM(self.model, threads=1, max_num_seqs=1, served_model_name="me") as llm:
            self.assertEqual(llm.info["name"], "me")
            stream = llm.stream("ab", seeded(max_tokens=400))
            next(stream)
        with self.assertRaisesRegex(InvalidRequestError, "closed"):
            llm.generate("ab")
        last = [piece for piece in stream][-1:]  # what had come by then
        self.assertTrue(all(piece.finished for piece in last))
        llm.close()

    def test_options_reach_the_engine(self):
        options = {"max_num_queued_reqs": 4, "max_num_queued_tokens": 1000, "target_step_ms": 2.5,
                   "compiled": "off"}
        for slowdown in (1.5, math.inf):
            with LLM(self.model, threads=1, max_decode_slowdown=slowdown, **options) as llm:
                self.assertEqual(len(llm.generate(["ab", "cd"], seeded(max_tokens=3))), 2)
        for wrong in ({"max_decode_slowdown": -1}, {"target_step_ms": -1},
                      {"max_num_queued_reqs": -1}, {"compiled": "no-such-file"}):
            with self.assertRaises(InvalidRequestError, msg=wrong):
                LLM(self.model, threads=1, **wrong)

    def test_progress_is_told_and_may_end_loading(self):
        seen = []
        LLM(self.model, threads=1, progress=lambda *pair: seen.append(pair)).close()
        self.assertEqual(seen[-1][0], seen[-1][1])

        def stop(done, total):
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            LLM(self.model, threads=1, progress=stop)


class Params(unittest.TestCase):
    def test_wrong_parameters_are_refused_at_once(self):
        for wrong in (
            {"n": 0},
            {"temperature": -1},
            {"temperature": float("nan")},
            {"top_p": 0},
            {"top_k": -2},
            {"min_p": 2},
            {"max_tokens": 0},
            {"min_tokens": 17},
            {"logprobs": -1},
            {"stop": ""},
            {"stop": ["a", ""]},
        ):
            with self.assertRaises(ValueError, msg=wrong):
                SamplingParams(**wrong)
        with self.assertRaises(TypeError):
            SamplingParams(temprature=1)

    def test_fields_are_those_of_the_server(self):
        params = SamplingParams(logprobs=3, max_tokens=None, logit_bias={5: 1.0}, stop=("a",))
        fields = params.to_fields(is_chat=False)
        self.assertEqual(fields["logprobs"], 3)
        self.assertEqual(fields["logit_bias"], {"5": 1.0})
        self.assertEqual(fields["stop"], ["a"])
        self.assertEqual(fields["max_tokens"], 2**31 - 1)
        self.assertNotIn("seed", fields)
        chat = params.to_fields(is_chat=True)
        self.assertEqual((chat["logprobs"], chat["top_logprobs"]), (True, 3))


if __name__ == "__main__":
    unittest.main()
