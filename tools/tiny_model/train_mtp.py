"""Train one multi-token-prediction head on the frozen tiny base and write the MiMo-type checkpoint that is shipped.

    python train_mtp.py BASE OUT --minutes 6

vLLM serves it with `--speculative-config '{"method": "mtp", "num_speculative_tokens": 1}'`. At position i the head sees the
base's normed hidden state of token i and the embedding of token i + 1, and predicts token i + 2.
"""

import argparse
import json
import random
import shutil
import time
from pathlib import Path

import torch
import torch.nn.functional as F
import train
from safetensors.torch import save_file
from torch import nn
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.models.qwen2.modeling_qwen2 import Qwen2DecoderLayer, Qwen2RMSNorm

TASKS = {"arith": 40, "choice": 10, "code": 15, "needle": 20, "recall": 5, "copy": 10}


class Head(nn.Module):
    """MiMo's MTP layer (arXiv 2505.07608): norms, a projection of both inputs, one decoder layer, a last norm."""

    def __init__(self, base: nn.Module) -> None:
        super().__init__()
        config, self.rotary = base.config, base.model.rotary_emb
        h, eps = config.hidden_size, config.rms_norm_eps
        self.token_layernorm, self.hidden_layernorm = Qwen2RMSNorm(h, eps), Qwen2RMSNorm(h, eps)
        self.input_proj = nn.Linear(2 * h, h, bias=False)
        self.block = Qwen2DecoderLayer(config, 0)
        self.final_layernorm = Qwen2RMSNorm(h, eps)
        self.block.load_state_dict(base.model.layers[-1].state_dict())

    def forward(self, hidden: torch.Tensor, embedded: torch.Tensor) -> torch.Tensor:
        embedded = embedded.clone()
        embedded[:, 0] = 0  # vLLM masks position 0
        x = self.input_proj(torch.cat([self.hidden_layernorm(hidden), self.token_layernorm(embedded)], -1))
        positions = torch.arange(x.shape[1])[None]
        y = self.block(x, attention_mask=None, position_ids=positions, position_embeddings=self.rotary(x, positions))
        return self.final_layernorm(y[0] if isinstance(y, tuple) else y)

    def tensors(self) -> dict[str, torch.Tensor]:
        kept = {k: v for k, v in self.state_dict().items() if not k.startswith("rotary.")}
        return {"model.mtp_layers.0." + k.removeprefix("block."): v for k, v in kept.items()}


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("base", type=Path)
    ap.add_argument("out", type=Path)
    ap.add_argument("--minutes", type=float, default=6)
    ap.add_argument("--threads", type=int, default=1)
    args = ap.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(args.threads)
    base = AutoModelForCausalLM.from_pretrained(args.base, dtype=torch.float32).eval().requires_grad_(False)
    batches, head = train.Batches(AutoTokenizer.from_pretrained(args.base), 3), Head(base)
    optimizer = torch.optim.AdamW(head.parameters(), lr=2e-3, betas=(0.9, 0.98))
    r, start, step, running = random.Random(3), time.time(), 0, {}
    while (p := (time.time() - start) / (60 * args.minutes)) < 1:
        optimizer.param_groups[0]["lr"] = 2e-3 * min(1, (step + 1) / 50) * max(0.05, 1 - p)
        task = r.choices(list(TASKS), list(TASKS.values()))[0]
        ids, weights = batches.draw(task, 2, 0.5, 24)
        with torch.no_grad():
            hidden, embedded = base.model(ids).last_hidden_state, base.model.embed_tokens(ids)
        logits = F.linear(head(hidden[:, :-2], embedded[:, 1:-1]), base.lm_head.weight)
        target, w = ids[:, 2:], (weights[:, 2:] >= 1).float().reshape(-1)
        loss = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), target.reshape(-1), reduction="none")
        optimizer.zero_grad()
        ((loss * w).sum() / w.sum().clamp(min=1)).backward()
        optimizer.step()
        step += 1
        top1 = (((logits.argmax(-1) == target).float().reshape(-1) * w).sum() / w.sum().clamp(min=1)).item()
        running[task] = 0.95 * running.get(task, top1) + 0.05 * top1
        if step % 100 == 0:
            print(step, f"{time.time() - start:.0f}s", {k: round(v, 3) for k, v in sorted(running.items())}, flush=True)
    write(base, head, args.base, args.out)
    print("head's top-1 on answers:", {k: round(v, 3) for k, v in sorted(running.items())})


def write(base: nn.Module, head: Head, src: Path, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    for file in src.iterdir():
        if file.suffix != ".safetensors":
            shutil.copy(file, out)
    tensors = {**base.state_dict(), "lm_head.weight": base.lm_head.weight, **head.tensors()}
    save_file(
        {k: v.detach().clone().to(torch.bfloat16).contiguous() for k, v in tensors.items()},
        out / "model.safetensors",
        metadata={"format": "pt"},
    )
    config = json.loads((src / "config.json").read_text())
    config |= {
        "architectures": ["MiMoForCausalLM"],
        "model_type": "qwen2",
        "num_nextn_predict_layers": 1,
        "tie_word_embeddings": False,
        "dtype": "bfloat16",
    }
    (out / "config.json").write_text(json.dumps(config, indent=1) + "\n")


if __name__ == "__main__":
    main()
