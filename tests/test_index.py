"""The index: incremental, atomic, consistent with the files, readable while it changes."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import httpx
import pytest

from assistant.bootstrap import Parts, build, ingest
from assistant.build_index import update_index
from assistant.errors import IndexUnavailable, InputError, SourceError
from assistant.index import FamilyTokens, Index, Snapshot
from assistant.language import Detector
from assistant.records import Question
from assistant.settings import Settings, read_settings
from assistant.topics import load_topics
from assistant.wording import Wordings
from tests.embedders import WordEmbedder

ARTICLES = {
    "en": ("Parking", "Where can I park?", "Guests park behind the house for 12 dollars a day."),
    "zh-Hans": ("停车", "哪里可以停车？", "客人可以把车停在房子后面，每天12美元。"),
    "ja": ("駐車場", "どこに駐車できますか？", "お客様は建物の裏に1日12ドルで駐車できます。"),
    "es": ("Aparcamiento", "¿Dónde puedo aparcar?", "Los clientes aparcan detrás de la casa por 12 dólares al día."),
}


def write_article(folder: Path, language: str, answer: str = "", name: str = "parking") -> Path:
    """One small article in the corpus format."""
    title, question, text = ARTICLES[language]
    path = folder / language / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        f"---\ntitle: {title}\nlanguage: {language}\n---\n"
        f"## {title} {{#about}}\n{text}\n\n## FAQ {{#faq}}\n### {question} {{#faq-where}}\n{answer or text}\n",
        encoding="utf-8",
    )
    return path


def make_parts(home: Path, embedder: WordEmbedder | None = None, **changes: object) -> Parts:
    """Parts with the fake model and a real Chroma."""
    settings: Settings = read_settings(home=home, corpus=home.parent / "corpus", **changes)
    model = embedder or WordEmbedder()
    wordings = Wordings()
    index = Index(home, str(settings.chroma_url or ""))
    return Parts(
        settings,
        index,
        model,
        load_topics(model, home / "models"),
        wordings,
        Detector(wordings.languages, wordings.evidence),
    )


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A folder with one article in four languages."""
    for language in ARTICLES:
        write_article(tmp_path / "corpus", language)
    return tmp_path / "corpus"


@pytest.fixture
def parts(tmp_path: Path) -> Parts:
    """Parts over an empty home."""
    return make_parts(tmp_path / "home")


def texts(index: Index) -> list[str]:
    """The current passages' texts."""
    return [row.passage.text for row in index.snapshot().rows]


def test_siblings_share_a_family_across_four_languages(parts: Parts, corpus: Path) -> None:
    """Passages under one anchor are one family with one passage a language."""
    ingest(parts, [corpus])
    snapshot = parts.index.snapshot()
    assert len(snapshot.families) == 2
    for positions in snapshot.families.values():
        assert {snapshot.rows[position].passage.language for position in positions} == set(ARTICLES)


def test_an_unchanged_text_is_never_embedded_twice(parts: Parts, corpus: Path) -> None:
    """A second ingest embeds nothing; after an edit, only what the edit made new."""
    ingest(parts, [corpus])
    model = parts.embedder
    assert isinstance(model, WordEmbedder)
    model.passages.clear()
    again = ingest(parts, [corpus])
    assert (again.added, again.changed, again.unchanged, model.passages) == (0, 0, 4, [])
    write_article(corpus, "ja", "裏庭に1日15ドルで駐車できます。")
    changed = ingest(parts, [corpus])
    assert changed.changed == 1
    assert len(model.passages) == 1
    assert "15ドル" in model.passages[0]


def test_an_edit_replaces_the_old_text(parts: Parts, corpus: Path) -> None:
    """After re-ingesting an edited file, its former text is nowhere in the index or the vector store."""
    ingest(parts, [corpus])
    before = parts.index.store().ids()
    write_article(corpus, "es", "Ahora se aparca en la plaza por 20 dólares.")
    ingest(parts, [corpus / "es" / "parking.md"])
    assert sum("20 dólares" in text for text in texts(parts.index)) == 1
    assert len(parts.index.store().ids()) == len(before)


@pytest.mark.parametrize("language", list(ARTICLES))
def test_a_deleted_file_is_gone_at_once(parts: Parts, corpus: Path, language: str) -> None:
    """Ingesting a folder after deleting a file in it removes the file's passages and vectors."""
    ingest(parts, [corpus])
    (corpus / language / "parking.md").unlink()
    summary = ingest(parts, [corpus])
    assert summary.removed == 1
    assert all(row.passage.language != language for row in parts.index.snapshot().rows)
    known = {view for row in parts.index.snapshot().rows for view in (row.context, row.question)}
    assert parts.index.store().ids() == known


def test_files_outside_the_named_paths_stay_unless_pruned(parts: Parts, corpus: Path) -> None:
    """Ingesting one file leaves the others in place; with prune they go."""
    ingest(parts, [corpus])
    one = corpus / "en" / "parking.md"
    assert ingest(parts, [one]).removed == 0
    assert len(parts.index.snapshot().rows) == 8
    assert ingest(parts, [one], prune=True).removed == 3
    assert len(parts.index.snapshot().rows) == 2


def test_a_broken_file_leaves_the_index_untouched(parts: Parts, corpus: Path) -> None:
    """One malformed file among changed ones refuses the whole ingest and names file and line."""
    ingest(parts, [corpus])
    generation = parts.index.snapshot().generation
    write_article(corpus, "en", "A new answer.")
    bad = write_article(corpus, "ja")
    bad.write_text(bad.read_text(encoding="utf-8") + "\n## 重複 {#about}\n本文です。\n", encoding="utf-8")
    with pytest.raises(SourceError, match=r"parking\.md:\d+: anchor #about"):
        ingest(parts, [corpus])
    assert parts.index.snapshot().generation == generation
    assert not any("A new answer" in text for text in texts(parts.index))


def test_two_files_may_not_claim_one_place(parts: Parts, corpus: Path, tmp_path: Path) -> None:
    """A second file with the same folder and name is refused in one sentence naming both, instead of replacing."""
    ingest(parts, [corpus])
    other = write_article(tmp_path / "other", "en")
    with pytest.raises(InputError, match="same folder and file name"):
        ingest(parts, [other])


def test_a_moved_corpus_is_recognised(parts: Parts, corpus: Path, tmp_path: Path) -> None:
    """A file that took the place of one that no longer exists replaces it."""
    ingest(parts, [corpus])
    corpus.rename(tmp_path / "moved")
    summary = ingest(parts, [tmp_path / "moved"], prune=True)
    assert summary.passages == 8


def test_another_model_is_refused_with_the_command_that_fixes_it(parts: Parts, corpus: Path, tmp_path: Path) -> None:
    """An index of one model refuses another until it is rebuilt, and serves the old state meanwhile."""
    ingest(parts, [corpus])
    parts.index.database.close()
    other = make_parts(tmp_path / "home", WordEmbedder("other"))
    with pytest.raises(IndexUnavailable, match="assistant ingest --rebuild"):
        ingest(other, [corpus])
    with pytest.raises(IndexUnavailable, match="built with words"):
        build(other.settings, parts=other)
    assert ingest(other, [], rebuild=True).passages == 8
    other.index.check_model("other")
    assert build(other.settings, parts=other).retriever.find(Question("Where can I park?", "en")).hits


def test_a_running_reader_sees_a_finished_ingest(parts: Parts, corpus: Path) -> None:
    """A second Index on the same home answers from the new state as soon as the ingest is done."""
    ingest(parts, [corpus])
    reader = make_parts(parts.settings.home)
    assistant = build(reader.settings, parts=reader)
    question = Question("bicycle shed", "en")
    assert all("bicycle" not in hit.passage.text for hit in assistant.retriever.find(question).hits)
    write_article(corpus, "en", "The bicycle shed is open all night.")
    ingest(parts, [corpus])
    assert "bicycle shed" in assistant.retriever.find(question).hits[0].passage.text


def test_two_ingests_at_once_take_turns(parts: Parts, corpus: Path) -> None:
    """Two ingests started together both finish, and the index holds every article once."""
    second = make_parts(parts.settings.home)
    threads = [threading.Thread(target=ingest, args=(each, [corpus])) for each in (parts, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(parts.index.snapshot().rows) == 8


SLOW_INGEST = """
import sys, time
from pathlib import Path
from tests.test_index import make_parts
from tests.embedders import WordEmbedder
from assistant.bootstrap import ingest
import assistant.build_index as stage

class Slow(WordEmbedder):
    def embed_passages(self, texts):
        time.sleep(0.15)
        return super().embed_passages(texts)

stage.EMBED_BATCH = 4
home, corpus = map(Path, sys.argv[1:])
print("started", flush=True)
ingest(make_parts(home, Slow()), [corpus])
print("finished", flush=True)
"""


@pytest.mark.parametrize("delay", [0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
def test_kill_in_mid_ingest_leaves_the_old_state_serving(parts: Parts, corpus: Path, delay: float) -> None:
    """After kill -9 at any moment the index holds the old or the new state, whole, and the next ingest completes it."""
    ingest(parts, [corpus])
    old = sorted(texts(parts.index))
    for number in range(6):
        write_article(corpus, "zh-Hans", f"新的停车规则第{number}条。", name=f"rule{number}")
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW_INGEST, str(parts.settings.home), str(corpus)],
        stdout=subprocess.PIPE,
        env=environment,
    )
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(delay)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=30)
    fresh = make_parts(parts.settings.home)
    seen = sorted(texts(fresh.index))
    assert seen == old or len(seen) == len(old) + 12
    assistant = build(fresh.settings, parts=fresh)
    assert assistant.retriever.find(Question("哪里可以停车？", "zh-Hans")).hits
    assert ingest(fresh, [corpus]).passages == len(old) + 12


@pytest.fixture
def chroma_server(tmp_path: Path) -> Iterator[str]:
    """The URL of a real Chroma server on loopback."""
    command = Path(sys.executable).with_name("chroma")
    with httpx.Client() as client:
        port = _free_port()
        process = subprocess.Popen(
            [command, "run", "--path", str(tmp_path / "server"), "--host", "127.0.0.1", "--port", str(port)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        url = f"http://127.0.0.1:{port}"
        try:
            for _ in range(200):
                try:
                    if client.get(f"{url}/api/v2/heartbeat").is_success:
                        break
                except httpx.TransportError:
                    time.sleep(0.1)
            yield url
        finally:
            process.terminate()
            process.wait(20)


def _free_port() -> int:
    import socket

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def test_a_chroma_server_serves_instead_of_the_folder(chroma_server: str, corpus: Path, tmp_path: Path) -> None:
    """With ASSISTANT_CHROMA_URL the vectors live on the server: ingest, find, delete; no local folder appears."""
    parts = make_parts(tmp_path / "home", chroma_url=chroma_server)
    ingest(parts, [corpus])
    assistant = build(parts.settings, parts=parts)
    hits = assistant.retriever.find(Question("¿Dónde puedo aparcar?", "es")).hits
    assert hits[0].passage.language == "es"
    (corpus / "es" / "parking.md").unlink()
    ingest(parts, [corpus])
    assert not (tmp_path / "home" / "chroma").exists()
    assert len(parts.index.store().ids()) == len(
        {v for r in parts.index.snapshot().rows for v in (r.context, r.question)}
    )


def test_an_unreachable_chroma_server_is_one_sentence(tmp_path: Path, corpus: Path) -> None:
    """A server that does not answer raises IndexUnavailable naming its address."""
    parts = make_parts(tmp_path / "home", chroma_url=f"http://127.0.0.1:{_free_port()}")
    with pytest.raises(IndexUnavailable, match=r"127\.0\.0\.1"):
        ingest(parts, [corpus])


def test_a_damaged_index_is_one_sentence(tmp_path: Path) -> None:
    """A file that is no database raises IndexUnavailable saying what to do."""
    (tmp_path / "index.sqlite3").write_bytes(b"not a database" * 100)
    with pytest.raises(IndexUnavailable, match="delete it and ingest again"):
        Index(tmp_path)


def test_an_empty_ingest_is_refused(parts: Parts, tmp_path: Path) -> None:
    """A folder without articles is refused by name instead of emptying the index."""
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no article here"):
        ingest(parts, [tmp_path / "empty"])


def test_update_reports_its_stages(parts: Parts, corpus: Path) -> None:
    """Long work tells its stages and shares in order, each ending at 1."""
    seen: list[tuple[str, float]] = []
    ingest(parts, [corpus], lambda stage, share: seen.append((stage, share)))
    assert [stage for stage, share in seen if share == 1.0] == ["read", "embed", "index"]
    assert update_index(parts.index, [], parts.embedder, parts.topics).passages == 8


@pytest.mark.parametrize("how", ["last article", "whole folder"])
def test_deleting_everything_empties_the_index(parts: Parts, corpus: Path, how: str) -> None:
    """A named folder that held indexed articles and holds none now, or is gone, takes its passages with it."""
    ingest(parts, [corpus])
    if how == "whole folder":
        shutil.rmtree(corpus)
    else:
        for path in corpus.rglob("*.md"):
            path.unlink()
    assert ingest(parts, [corpus]).removed == 4
    assert parts.index.snapshot().rows == ()
    assert build(parts.settings, parts=parts).retriever.find(Question("Where can I park?", "en")).hits == ()


def test_a_removed_link_is_a_deleted_file(parts: Parts, corpus: Path, tmp_path: Path) -> None:
    """An article that a link led to is gone when the link is, whatever it led to."""
    real = write_article(tmp_path / "elsewhere", "en", "Bicycles are free.", name="bicycle")
    link = corpus / "en" / "bicycle.md"
    link.symlink_to(real)
    ingest(parts, [corpus])
    assert any("Bicycles" in text for text in texts(parts.index))
    link.unlink()
    assert ingest(parts, [corpus]).removed == 1
    assert not any("Bicycles" in text for text in texts(parts.index))


def test_a_moved_folder_needs_no_prune(parts: Parts, corpus: Path, tmp_path: Path) -> None:
    """Articles whose former files no longer exist are replaced by those that take their place."""
    ingest(parts, [corpus])
    corpus.rename(tmp_path / "moved")
    assert ingest(parts, [tmp_path / "moved"]).passages == 8


def test_a_lost_vector_store_is_filled_again(parts: Parts, corpus: Path) -> None:
    """Vectors that have gone from the store come back with the next ingest, though no file changed."""
    ingest(parts, [corpus])
    parts.index.store().delete(sorted(parts.index.store().ids()))
    assert ingest(parts, [corpus]).unchanged == 4
    assert parts.index.store().ids() == {view for row in parts.index.snapshot().rows for view in row.views}


def test_questions_during_ingests_never_fail(parts: Parts, corpus: Path) -> None:
    """While the articles change again and again, every question gets hits from one whole state."""
    ingest(parts, [corpus])
    assistant = build(parts.settings, parts=parts)
    writer = make_parts(parts.settings.home)
    failures: list[Exception] = []
    stop = threading.Event()

    def ask() -> None:
        while not stop.is_set():
            try:
                assistant.retriever.find(Question("¿Dónde puedo aparcar?", "es"))
            except Exception as error:
                failures.append(error)

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for number in range(6):
        for language in ARTICLES:
            write_article(corpus, language, f"{number} {number} {number}.")
        ingest(writer, [corpus])
    stop.set()
    for thread in threads:
        thread.join(30)
    assert failures == []


@pytest.mark.parametrize(
    "text", ["哪里可以停车？", "どこに駐車できますか", "¿Dónde puedo aparcar?", "Where can I park?"]
)
def test_articles_replaced_while_a_question_is_scored(
    parts: Parts, corpus: Path, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A question whose passages are replaced after their vectors were read is answered from what was read."""
    ingest(parts, [corpus])
    assistant = build(parts.settings, parts=parts)
    writer, read = make_parts(parts.settings.home), parts.index.family_tokens

    def then_replace(snapshot: Snapshot, names: Iterable[str]) -> dict[str, FamilyTokens]:
        found = read(snapshot, names)
        for language in ARTICLES:
            write_article(corpus, language, "Nothing of it is left.")
        ingest(writer, [corpus])
        assert not read(parts.index.snapshot(), ())  # another process's ingest has been seen
        return found

    monkeypatch.setattr(parts.index, "family_tokens", then_replace)
    assert assistant.retriever.find(Question(text, "en")).hits


def test_an_index_of_a_former_format_is_refused_and_then_brought_up_to_date(parts: Parts, corpus: Path) -> None:
    """A former format names the command that helps, and that command helps though no file changed."""
    ingest(parts, [corpus])
    with parts.index.database.transaction() as connection:
        connection.execute("UPDATE meta SET value = '0' WHERE name = 'format'")
    fresh = make_parts(parts.settings.home)
    with pytest.raises(IndexUnavailable, match="assistant ingest corpus"):
        build(fresh.settings, parts=fresh).retriever.index.snapshot()
    assert ingest(fresh, [corpus]).unchanged == 4
    assert len(fresh.index.snapshot().rows) == 8
