"""Train the demo's tiny base model (Qwen2 type, about 0.6 M parameters) on the CPU.

    python train.py OUT --minutes 45 --threads 2

Needs torch and transformers (an engine's environment has both). The schedule goes by wall time, so a training is not
reproducible to the bit: the checkpoint that was trained is the one that is shipped. A model this small learns to copy from
its context only after a first diet of repeated random tokens; the tasks are mixed in after that.
"""

import argparse
import json
import random
import time
from pathlib import Path

import torch
import torch.nn.functional as F
import world
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

VOCAB, HIDDEN, LAYERS = 1024, 128, 3
# Qwen3's switch: thinking is on unless enable_thinking is false, which closes an empty thought in the prompt.
CHAT_TEMPLATE = """{%- if reasoning_effort is defined and reasoning_effort %}
{{- '<|im_start|>system\\nReasoning effort: ' + reasoning_effort + '<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
{{- '<|im_start|>assistant\\n' }}
{%- if enable_thinking is defined and enable_thinking is false %}
{{- '<think>\\n\\n</think>\\n\\n' }}
{%- endif %}
{%- endif %}"""
STAGES = (  # what is drawn, and how often, while the model learns to copy and after it can
    {"random": 100},
    {"random": 60, "copy": 20, "needle": 20},
    {"drill": 26, "arith": 30, "choice": 10, "recall": 4, "needle": 18, "code": 4, "copy": 4, "random": 4},
)


def build_tokenizer() -> PreTrainedTokenizerFast:
    r, texts = random.Random(0), []
    for _ in range(5000):
        turns = [*world.arith(r), *world.choice(r), *world.code(r), *world.copy(r), *world.needle(r, 2, 4, 2)]
        texts += [part for t in turns for part in (t.user, t.answer)]
    tok = Tokenizer(models.BPE())
    words = Regex(r"\d| ?[A-Za-z]+| ?[^\sA-Za-z\d]+|\s+")
    tok.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(words, "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    tok.decoder = decoders.ByteLevel()
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tok.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=VOCAB - 2, special_tokens=special, initial_alphabet=alphabet))
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tok, eos_token="<|im_end|>", pad_token="<|endoftext|>", model_max_length=8192
    )
    fast.add_tokens(["<think>", "</think>"])  # ordinary added tokens, as Qwen3 has them
    fast.chat_template = CHAT_TEMPLATE
    return fast


class Batches:
    def __init__(self, tok: PreTrainedTokenizerFast, seed: int) -> None:
        self.tok, self.r = tok, random.Random(seed)

    def encode(self, text: str) -> list[int]:
        return list(self.tok(text, add_special_tokens=False)["input_ids"])

    def row(self, turns: list[world.Turn]) -> tuple[list[int], list[float]]:
        """One chat as (ids, weights): the answers count fully, what the user said hardly."""
        effort = self.r.choice(["low", "medium", "high", "xhigh"]) if self.r.random() < 0.15 else None
        thinking = effort is not None or self.r.random() < 0.25
        head = f"<|im_start|>system\nReasoning effort: {effort}<|im_end|>\n" if effort else ""
        if not effort and self.r.random() < 0.1:
            head = "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n"
        ids = self.encode(head)
        weights = [0.0] * len(ids)
        for i, turn in enumerate(turns):
            prompt = f"<|im_start|>user\n{turn.user}<|im_end|>\n<|im_start|>assistant\n"
            answer = turn.answer
            if i == len(turns) - 1 and thinking:
                thought = turn.thought
                if effort == "low":
                    thought = thought[-24:].lstrip()
                elif effort in ("high", "xhigh"):
                    thought = f"{thought}\nCheck: {thought}"
                answer = f"<think>\n{thought}\n</think>\n\n{answer}"
            elif i == len(turns) - 1:
                prompt += "<think>\n\n</think>\n\n"
            p, a = self.encode(prompt), self.encode(f"{answer}<|im_end|>")
            ids, weights = ids + p + a, weights + [0.05] * len(p) + [1.0] * len(a)
            newline = self.encode("\n")
            ids, weights = ids + newline, weights + [0.0] * len(newline)
        return ids, weights

    def drill_row(self) -> tuple[list[int], list[float]]:
        ids, weights = [], []
        for question, answer in world.drill(self.r, 8):
            q, a = self.encode((" " if ids else "") + question), self.encode(answer)
            ids, weights = ids + q + a, weights + [0.02] * len(q) + [1.0] * len(a)
        return ids, weights

    def turns(self, task: str, progress: float, shots: int) -> list[world.Turn]:
        if task == "needle":
            count = self.r.randint(2, 6)
            return world.needle(self.r, self.r.randint(0, int(2 + progress * 45)), count, min(count, 4))
        draw = {"arith": world.arith, "choice": world.choice, "recall": world.recall, "copy": world.copy, "code": world.code}[
            task
        ]
        return [t for _ in range(shots + 1) for t in draw(self.r)]

    def random_repeat(self, easy: bool, wide_gap: bool, size: int) -> tuple[torch.Tensor, torch.Tensor]:
        g = torch.Generator().manual_seed(self.r.randrange(2**31))
        n, top = self.r.randint(8, 32), 3 + 256 if easy else VOCAB
        x = torch.randint(3, top, (size, n), generator=g)
        gap = torch.randint(3, top, (size, self.r.randint(0, 64 if wide_gap else 4)), generator=g)
        ids = torch.cat([x, gap, x], 1)
        weights = torch.zeros(ids.shape)
        weights[:, -(n - 1) :] = 1.0
        return ids, weights

    def draw(self, task: str, stage: int, progress: float, size: int = 40) -> tuple[torch.Tensor, torch.Tensor]:
        if task == "random":
            return self.random_repeat(stage == 0, stage == 2, size)
        if task == "needle":
            size = max(6, int(size / (1 + progress * 4)))
        shots = self.r.randint(1, 4) if task in ("arith", "choice") and self.r.random() < 0.2 else 0
        if task == "drill":
            rows = [self.drill_row() for _ in range(size)]
        else:
            rows = [self.row(self.turns(task, progress, shots)) for _ in range(size // (shots + 1))]
        width = max(len(ids) for ids, _ in rows)
        ids, weights = torch.full((len(rows), width), self.tok.pad_token_id), torch.zeros(len(rows), width)
        for i, (x, w) in enumerate(rows):
            ids[i, : len(x)], weights[i, : len(w)] = torch.tensor(x), torch.tensor(w)
        return ids, weights


class Muon:
    """Momentum with orthogonalised updates for the matrices (Jordan et al. 2024); the rest takes AdamW."""

    def __init__(self, params: list[torch.nn.Parameter]) -> None:
        self.groups: dict[tuple[int, ...], list[torch.nn.Parameter]] = {}
        for p in params:
            self.groups.setdefault(tuple(p.shape), []).append(p)
        self.momentum = {shape: torch.zeros(len(ps), *shape) for shape, ps in self.groups.items()}

    @torch.no_grad()
    def step(self, lr: float, beta: float = 0.95, decay: float = 0.02) -> None:
        for shape, params in self.groups.items():
            grad, m = torch.stack([p.grad for p in params]), self.momentum[shape]
            m.mul_(beta).add_(grad)
            x = grad + beta * m
            tall = shape[0] > shape[1]
            x = x.transpose(1, 2) if tall else x
            x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
            for _ in range(5):
                a = x @ x.transpose(1, 2)
                x = 3.4445 * x + (-4.7750 * a + 2.0315 * a @ a) @ x
            x = x.transpose(1, 2) if tall else x
            for p, u in zip(params, x, strict=True):
                p.mul_(1 - lr * decay).add_(u, alpha=-lr * max(1, shape[0] / shape[1]) ** 0.5)
                p.grad = None


@torch.no_grad()
def evaluate(
    model: Qwen2ForCausalLM, tok: PreTrainedTokenizerFast, n: int, only: tuple[str, ...] = (), seed: int = 12345
) -> dict[str, float]:
    """Share of greedy answers that contain the target, by task, thinking off."""
    model.eval()
    r, scores = random.Random(seed), {}
    draws = {
        "arith": world.arith,
        "choice": world.choice,
        "recall": world.recall,
        "code": world.code,
        "needle_10": lambda r: world.needle(r, 10, 3, 1),
        "needle_40": lambda r: world.needle(r, 40, 3, 1),
    }
    for name, draw in draws.items():
        if only and name not in only:
            continue
        turns, right = [draw(r)[0] for _ in range(n)], 0
        for i in range(0, n, 32):
            part = turns[i : i + 32]
            chats = [
                tok.apply_chat_template(
                    [{"role": "user", "content": t.user}], tokenize=False, add_generation_prompt=True, enable_thinking=False
                )
                for t in part
            ]
            x = tok(chats, return_tensors="pt", padding=True, padding_side="left", add_special_tokens=False)
            out = model.generate(
                input_ids=x["input_ids"], attention_mask=x["attention_mask"], max_new_tokens=56, do_sample=False
            )
            texts = tok.batch_decode(out[:, x["input_ids"].shape[1] :], skip_special_tokens=True)
            right += sum(
                (t.answer if name in ("arith", "choice", "code") else t.target) in text
                for t, text in zip(part, texts, strict=True)
            )
        scores[name] = round(right / n, 3)
    model.train()
    return scores


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("out", type=Path)
    ap.add_argument("--minutes", type=float, default=45)
    ap.add_argument("--threads", type=int, default=1)
    ap.add_argument("--resume", type=Path, help="go on from a checkpoint that already copies")
    args = ap.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(args.threads)
    tok = build_tokenizer()
    config = Qwen2Config(
        vocab_size=VOCAB,
        hidden_size=HIDDEN,
        intermediate_size=2 * HIDDEN,
        num_hidden_layers=LAYERS,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=8192,
        rope_theta=10000.0,
        tie_word_embeddings=True,
        rms_norm_eps=1e-6,
        bos_token_id=None,
        eos_token_id=tok.eos_token_id,
        pad_token_id=tok.pad_token_id,
        initializer_range=0.05,
    )
    model = Qwen2ForCausalLM.from_pretrained(args.resume, dtype=torch.float32) if args.resume else Qwen2ForCausalLM(config)
    batches = Batches(tok, 2 if args.resume else 1)
    named = list(model.named_parameters())
    muon = Muon([p for n, p in named if p.ndim == 2 and "embed" not in n])
    adam = torch.optim.AdamW([p for n, p in named if p.ndim < 2 or "embed" in n], lr=6e-3, betas=(0.9, 0.98), weight_decay=0.0)
    start, step, stage, base, running = time.time(), 0, 2 if args.resume else 0, 0.0, {}
    while (p := (time.time() - start) / (60 * args.minutes)) < 1:
        if stage < 2 and (running.get("random", 9) < 0.6 or p > (0.2, 0.3)[stage]):
            print(f"stage {stage + 1} at step {step}, random {running.get('random', 9):.2f}", flush=True)
            stage, base, running["random"] = stage + 1, p, 6.0
        q = min(1.0, 1.4 * (p - base) / (1 - base)) if stage == 2 else 0.0
        decay = 1.0 if stage < 2 else 0.6 * (1.0 if p < 0.55 else max(0.03, 1 - (p - 0.55) / 0.45))
        lr = min(1, (step + 1) / 50) * decay
        task = batches.r.choices(list(STAGES[stage]), list(STAGES[stage].values()))[0]
        ids, weights = batches.draw(task, stage, q)
        logits = model(input_ids=ids).logits
        loss = F.cross_entropy(logits[:, :-1].reshape(-1, VOCAB), ids[:, 1:].reshape(-1), reduction="none")
        w = weights[:, 1:].reshape(-1)
        loss = (loss * w).sum() / w.sum()
        adam.zero_grad()
        loss.backward()
        adam.param_groups[0]["lr"] = 6e-3 * lr
        muon.step(0.02 * lr)
        adam.step()
        step += 1
        running[task] = 0.95 * running.get(task, loss.item()) + 0.05 * loss.item()
        if step % 200 == 0:
            print(f"{step} {time.time() - start:.0f}s", {k: round(v, 3) for k, v in sorted(running.items())}, flush=True)
        if step % 1000 == 0:
            print("eval", json.dumps(evaluate(model, tok, 32, ("arith",))), flush=True)
            model.save_pretrained(args.out)
            tok.save_pretrained(args.out)
    model.save_pretrained(args.out)
    tok.save_pretrained(args.out)
    print("final", step, "steps", json.dumps(evaluate(model, tok, 256)), flush=True)


if __name__ == "__main__":
    main()
