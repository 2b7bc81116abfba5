"""The stack that tutorials teach, for `bench` to compare with: LangChain, Chroma, Sentence Transformers on torch.

In: one JSON object on stdin: `model` (a folder), `articles` (paths), `questions`, `rounds`. Out: one on stdout: seconds
of each fresh indexing, milliseconds of each warm search. Never: shares a process with the assistant.
"""

import json
import sys
import tempfile
import time
from pathlib import Path

from chromadb.config import Settings as ChromaSettings
from langchain_chroma import Chroma
from langchain_huggingface import HuggingFaceEmbeddings
from langchain_text_splitters import RecursiveCharacterTextSplitter

CHARACTERS, OVERLAP, FOUND = 500, 50, 4
ENOUGH_S = 30.0  # of indexing; no further round after that


def run(task: dict[str, list[str]], model: str, rounds: int) -> dict[str, list[float]]:
    """Indexes the articles anew each round, then asks each question, after five to warm up."""
    embeddings = HuggingFaceEmbeddings(model_name=model, encode_kwargs={"normalize_embeddings": True})
    embeddings.embed_query("warm")
    splitter = RecursiveCharacterTextSplitter(chunk_size=CHARACTERS, chunk_overlap=OVERLAP)
    indexing, searching = [], []
    with tempfile.TemporaryDirectory(prefix="tutorial-", ignore_cleanup_errors=True) as folder:
        for number in range(rounds):
            started = time.perf_counter()
            texts = [Path(path).read_text(encoding="utf-8") for path in task["articles"]]
            store = Chroma.from_documents(
                splitter.create_documents(texts),
                embeddings,
                persist_directory=f"{folder}/{number}",
                client_settings=ChromaSettings(
                    anonymized_telemetry=False, is_persistent=True, persist_directory=f"{folder}/{number}"
                ),
            )
            indexing.append(time.perf_counter() - started)
            if sum(indexing) > ENOUGH_S:
                break
        for question in task["questions"][:5]:
            store.similarity_search(question, k=FOUND)
        for question in task["questions"]:
            started = time.perf_counter()
            store.similarity_search(question, k=FOUND)
            searching.append((time.perf_counter() - started) * 1000)
    return {"index_s": indexing, "search_ms": searching}


if __name__ == "__main__":
    given = json.load(sys.stdin)
    sys.stdout.write(json.dumps(run(given, given["model"], given["rounds"])))
