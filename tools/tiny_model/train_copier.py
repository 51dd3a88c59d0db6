"""Train the needle tests' tiny copier (Qwen3 type, about 0.6 M parameters) on the CPU, on prompts that tasks/needle.py builds.

    PYTHONPATH=../.. python train_copier.py ../../evals/demo/bf16 OUT --minutes 25

The tokenizer and template are the demo model's. Q and K norms make it learn to copy much sooner than the demo's own Qwen2 type.
It finds needles up to about as many tokens as it was trained on, and nothing far beyond.
"""

import argparse
import json
import random
import time
from pathlib import Path

import torch
import torch.nn.functional as F
from train import HIDDEN, LAYERS, VOCAB, Batches, Muon
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

from tasks import needle, prose
from tasks.base import Language, Message
from tasks.needle import Cell, Grid

BARE, LONGEST = 170, 640
"""Tokens of a prompt: about what sentences and question alone take, and the most that is trained on."""
TOKENS_A_BATCH = 4000
WINDOW = 1024
"""More than any row that is trained on. Beyond it the model would find nothing anyway, and 100K tokens take a tenth of the time."""
LANGUAGES: tuple[Language, ...] = ("en", "zh")
GRID = Grid(lengths=(LONGEST,), depths=(50,), languages=LANGUAGES)
HAYSTACKS = {language: prose.haystack(language, 400_000, 1) for language in LANGUAGES}
TEST_SEED = 0
"""Of an experiment that names none: its prompts are not trained on."""


class Needles:
    def __init__(self, tok: PreTrainedTokenizerFast, seed: int) -> None:
        self.tok, self.seed, self.r = tok, seed, random.Random(seed)
        self.drawn = 0

    def turns(self, language: Language, tokens: int, depth: int) -> list[tuple[str, str]]:
        """About so many tokens: what is said and what is to be answered, the needle first and each distractor after it."""
        self.drawn += 1
        cell = Cell(language=language, length=tokens, depth=depth, repeat=self.drawn)

        def roughly(messages: tuple[Message, ...]) -> int:
            """About what the demo's tokenizer makes of it."""
            text = messages[0].content
            ascii = sum(c.isascii() for c in text)
            return round(ascii / 1.8 if language == "en" else ascii + 2.4 * (len(text) - ascii))

        made = needle.sample(cell, GRID, HAYSTACKS[language], self.seed, roughly)
        target = needle.Target.read(made.target)
        others = self.r.sample(target.distractors, len(target.distractors))
        said = [made.messages[0].content, *(needle._question((h,), language) for h in others)]
        return [(s, needle._sentence(h, language)) for s, h in zip(said, (*target.wanted, *others), strict=True)]

    def chat(self, said: str) -> list[int]:
        chat = [{"role": "user", "content": said}]
        return list(
            self.tok.apply_chat_template(chat, add_generation_prompt=True, enable_thinking=False, tokenize=True)["input_ids"]
        )

    def batch(self, longest: int) -> tuple[torch.Tensor, torch.Tensor]:
        tokens = self.r.randint(BARE, longest)
        rows = []
        for _ in range(max(4, TOKENS_A_BATCH // (tokens + 100))):
            ids: list[int] = []
            weights: list[float] = []
            for said, answer in self.turns(self.r.choices(LANGUAGES, (3, 2))[0], tokens, self.r.randint(0, 100)):
                asked, answered = self.chat(said), self.tok(f"{answer}<|im_end|>\n", add_special_tokens=False)["input_ids"]
                ids, weights = ids + asked + answered, weights + [0.02] * len(asked) + [1.0] * len(answered)
            rows.append((ids, weights))
        width = max(len(ids) for ids, _ in rows)
        batch, weight = torch.full((len(rows), width), self.tok.pad_token_id), torch.zeros(len(rows), width)
        for i, (x, w) in enumerate(rows):
            batch[i, : len(x)], weight[i, : len(w)] = torch.tensor(x), torch.tensor(w)
        return batch, weight


@torch.no_grad()
def recall(
    model: Qwen3ForCausalLM, tok: PreTrainedTokenizerFast, n: int, lengths: tuple[int, ...] = (256, 600)
) -> dict[str, float]:
    """Share of greedy answers that hold the identifier, by language and length, on prompts of a seed that is not trained on."""
    model.eval()
    needles, scores = Needles(tok, TEST_SEED), {}
    for language in LANGUAGES:
        for length in lengths:
            right = 0
            for _ in range(n):
                said, answer = needles.turns(language, length, needles.r.randint(5, 95))[0]
                x = torch.tensor([needles.chat(said)])
                out = model.generate(input_ids=x, attention_mask=torch.ones_like(x), max_new_tokens=48, do_sample=False)
                identifier = answer.rstrip(".。").replace("的暗号是", " ").split(" ")[-1]
                right += identifier in tok.decode(out[0, x.shape[1] :], skip_special_tokens=True)
            scores[f"{language} {length}"] = round(right / n, 3)
    model.train()
    return scores


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("tokenizer", type=Path)
    ap.add_argument("out", type=Path)
    ap.add_argument("--minutes", type=float, default=25)
    ap.add_argument("--threads", type=int, default=1)
    ap.add_argument("--resume", type=Path, help="go on from a checkpoint that already repeats")
    args = ap.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(args.threads)
    tok = PreTrainedTokenizerFast.from_pretrained(args.tokenizer)
    config = Qwen3Config(
        vocab_size=VOCAB, hidden_size=HIDDEN, intermediate_size=2 * HIDDEN, num_hidden_layers=LAYERS, num_attention_heads=4,
        num_key_value_heads=2, head_dim=32, max_position_embeddings=131072, rope_theta=10000.0, tie_word_embeddings=True,
        bos_token_id=None, eos_token_id=tok.eos_token_id, pad_token_id=tok.pad_token_id, initializer_range=0.05,
        use_sliding_window=True, sliding_window=WINDOW, max_window_layers=LAYERS, layer_types=["sliding_attention"] * LAYERS,
    )  # fmt: skip
    model = Qwen3ForCausalLM.from_pretrained(args.resume, dtype=torch.float32) if args.resume else Qwen3ForCausalLM(config)
    repeats, needles = Batches(tok, 1), Needles(tok, 1)
    named = list(model.named_parameters())
    muon = Muon([p for n, p in named if p.ndim == 2 and "embed" not in n])
    adam = torch.optim.AdamW([p for n, p in named if p.ndim < 2 or "embed" in n], lr=6e-3, betas=(0.9, 0.98), weight_decay=0.0)
    start, step, stage, running = time.time(), 0, 2 if args.resume else 0, {"random": 6.0}
    while (p := (time.time() - start) / (60 * args.minutes)) < 1:
        if stage < 2 and (running["random"] < 0.6 or p > (0.2, 0.4)[stage]):
            print(f"stage {stage + 1} at step {step}, random {running['random']:.2f}", flush=True)
            stage, running["random"] = stage + 1, 6.0
        lr = min(1, (step + 1) / 50) * (1.0 if p < 0.5 else max(0.03, 1 - (p - 0.5) / 0.5))
        longest = int(BARE + (LONGEST - BARE) * min(1.0, 0.3 + 1.4 * p if args.resume else max(0.0, 1.8 * (p - 0.2))))
        task = "random" if repeats.r.random() < (1.0, 0.4, 0.05)[stage] else "needle"
        ids, weights = repeats.random_repeat(stage == 0, stage == 2, 40) if task == "random" else needles.batch(longest)
        hidden = model.model(input_ids=ids).last_hidden_state[:, :-1]
        w = weights[:, 1:]
        kept = w > 0.1 if task == "needle" and step % 4 else w > 0  # the text itself teaches little and costs much
        loss = F.cross_entropy(model.lm_head(hidden[kept]), ids[:, 1:][kept], reduction="none")
        loss = (loss * w[kept]).sum() / w[kept].sum()
        adam.zero_grad()
        loss.backward()
        adam.param_groups[0]["lr"] = 6e-3 * lr
        muon.step(0.02 * lr)
        adam.step()
        step += 1
        running[task] = 0.95 * running.get(task, loss.item()) + 0.05 * loss.item()
        if step % 50 == 0:
            print(f"{step} {time.time() - start:.0f}s", {k: round(v, 3) for k, v in sorted(running.items())}, flush=True)
        if step % 500 == 0:
            print("recall", json.dumps(recall(model, tok, 8)), flush=True)
            model.save_pretrained(args.out)
    model.to(torch.bfloat16).save_pretrained(args.out)
    tok.save_pretrained(args.out)
    print("final", step, "steps", json.dumps(recall(model, tok, 40)), flush=True)


if __name__ == "__main__":
    main()
