"""Peers that rank the same documents in the same run: the tutorial stack, and plain words.

In: Documents and QueryRows. Out: Ranked, the confidence being the peer's own best score. Never: helps a peer, or lets
torch into this process: the tutorial stack has its own (evals/naive.py).
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from assistant.errors import AssistantError
from evals.bank import Document
from evals.retrieval import Ranked
from evals.sets import QueryRow

CHECKOUT = Path(__file__).parent.parent
DEPTH = 100
LIMIT_S = 1800.0
Peer = Callable[[Sequence[Document], Sequence[QueryRow]], list[Ranked]]


def rank_by_words(documents: Sequence[Document], rows: Sequence[QueryRow]) -> list[Ranked]:
    """BM25 as bm25s has it, over lower-case tokens between spaces."""
    import bm25s

    def tokens(texts: Sequence[str]) -> list[list[str]]:
        return [text.lower().split() for text in texts]

    index = bm25s.BM25()
    index.index(tokens([document.whole for document in documents]), show_progress=False)
    found = []
    for row, words in zip(rows, tokens([row.query for row in rows]), strict=True):
        known = [word for word in words if word in index.vocab_dict]
        scores = index.get_scores(known) if known else np.zeros(len(documents))
        best = [place for place in np.argsort(-scores, kind="stable")[:DEPTH] if scores[place] > 0]
        ids = dict.fromkeys(documents[place].row.id for place in best)
        found.append(Ranked(row, tuple(ids), float(scores.max())))
    return found


def rank_naively(documents: Sequence[Document], rows: Sequence[QueryRow]) -> list[Ranked]:
    """LangChain, Chroma and all-MiniLM-L6-v2 as tutorials put them together.

    Raises:
        AssistantError: it fails or takes too long.
    """
    task = {"texts": [document.whole for document in documents], "questions": [row.query for row in rows]}
    command = [sys.executable, "-m", "evals.naive"]
    try:
        done = subprocess.run(
            command, input=json.dumps(task), cwd=CHECKOUT, capture_output=True, text=True, timeout=LIMIT_S, check=True
        )
    except subprocess.TimeoutExpired:
        raise AssistantError(f"the naive peer took longer than {LIMIT_S:.0f} seconds; use a smaller bank") from None
    except subprocess.CalledProcessError as error:
        last = (error.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise AssistantError(f"the naive peer failed: {last}") from None
    results: list[list[list[Any]]] = json.loads(done.stdout)
    found = []
    for row, pairs in zip(rows, results, strict=True):
        ids = dict.fromkeys(documents[place].row.id for place, _ in pairs)
        found.append(Ranked(row, tuple(ids), float(pairs[0][1]) if pairs else 0.0))
    return found


PEERS: dict[str, Peer] = {"naive": rank_naively, "bm25": rank_by_words}
