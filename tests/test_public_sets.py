"""`python -m evals retrieval` and `language`: formats, filters, measures, peers, errors in one sentence."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

import evals.__main__ as command
import evals.prepare
from assistant.errors import InputError
from assistant.settings import Settings, read_settings
from evals.bank import as_articles, documents_of, open_bank
from evals.peers import rank_by_words
from evals.public_sets import Selection, measure_languages, measure_retrieval, retrieval_tables
from evals.published import ROWS, measure_published, published_table
from evals.ranking import measure
from evals.retrieval import Ranked, ask_all
from evals.sets import BankRow, QueryRow, read_bank, read_queries
from tests.embedders import WordEmbedder

ANSWERS = {
    "en": {"refund": "Refunds arrive within fourteen days.", "parcel": "Parcels travel with the night train."},
    "es": {"refund": "El reembolso llega en catorce días.", "parcel": "Los paquetes viajan en el tren nocturno."},
    "ja": {"refund": "返金は十四日以内に届きます。", "parcel": "荷物は夜行列車で運ばれます。"},
    "zh-Hans": {"refund": "退款将在十四天内到账。", "parcel": "包裹由夜间火车运送。"},
}
QUESTIONS = {
    "en": {"refund": "When do refunds arrive?", "parcel": "How do parcels travel?"},
    "es": {"refund": "¿Cuándo llega el reembolso?", "parcel": "¿Cómo viajan los paquetes?"},
    "ja": {"refund": "返金はいつ届きますか？", "parcel": "荷物はどう運ばれますか？"},
    "zh-Hans": {"refund": "退款什么时候到账？", "parcel": "包裹怎么运送？"},
}
LANGUAGES = list(ANSWERS)


def write(file: Path, rows: Sequence[dict[str, Any]]) -> Path:
    """A JSON Lines file."""
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return file


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    """Two questions with answers in each of four languages; the parcels are held out."""
    return write(
        tmp_path / "tiny.bank.jsonl",
        [
            {"id": f"{name}@{code}", "lang": code, "question": QUESTIONS[code][name], "answer": text,
             "holdout": name == "parcel", "unknown field": 1}
            for code, answers in ANSWERS.items() for name, text in answers.items()
        ],
    )  # fmt: skip


@pytest.fixture
def queries(tmp_path: Path) -> Path:
    """The bank's own questions, relevant in every language, and one a language that nothing answers."""
    rows: list[dict[str, Any]] = [
        {"qid": f"{name}-{code}", "lang": code, "query": text, "relevant": [f"{name}@{other}" for other in ANSWERS]}
        for code, questions in QUESTIONS.items()
        for name, text in questions.items()
    ]
    rows += [
        {"qid": f"none-{code}", "lang": code, "query": "xyzzy plugh 42", "relevant": [], "answerable": False}
        for code in ANSWERS
    ]
    return write(tmp_path / "tiny.queries.jsonl", rows)


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that keeps what is embedded of the generic topics."""
    return tmp_path_factory.mktemp("models")


@pytest.fixture
def settings(tmp_path: Path, models: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A home of its own and an embedder that knows words only, so no model is built."""
    embedder = WordEmbedder()
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "models").symlink_to(models)
    monkeypatch.setattr(evals.prepare, "load_embedder", lambda *_: embedder)
    monkeypatch.setenv("ASSISTANT_HOME", str(tmp_path / "home"))
    return read_settings(home=tmp_path / "home")


@pytest.fixture
def measured(bank: Path, queries: Path, settings: Settings) -> Callable[..., dict[str, Any]]:
    """Measures the tiny set with filters."""

    def run(peers: Sequence[str] = (), **chosen: Any) -> dict[str, Any]:
        with ExitStack() as stack:
            return measure_retrieval(bank, queries, Selection(**chosen), settings, stack, peers)[0]

    return run


@pytest.mark.parametrize("language", LANGUAGES)
def test_set_goes_through_the_product(measured: Callable[..., dict[str, Any]], language: str) -> None:
    """Questions asked of a bank in their own language find their rows; relevant rows of other languages don't count."""
    result = measured(bank_languages=(language,), query_languages=(language,))
    row = result["languages"][language]
    assert (row["questions"], row["ranked"], row["skipped"]) == (3, 2, 0)
    assert row["hit@1"] == row["mrr"] == row["recall@10"] == 1.0
    assert row["auroc"] == 1.0
    assert result["documents"] == 2
    assert retrieval_tables(result)


def test_bank_of_several_languages(measured: Callable[..., dict[str, Any]]) -> None:
    """One bank may hold several languages; measures come by language of the question, over all, and as their mean."""
    result = measured(peers=["bm25"])
    assert set(result["languages"]) == {*LANGUAGES, "all", "mean"}
    assert result["languages"]["all"]["questions"] == 12
    assert result["languages"]["all"]["hit@1"] >= 0.75
    assert result["peers"]["bm25"]["all"]["balanced_accuracy"] is None
    ratio = result["ratios"]["bm25"]["en"]["hit@1"]
    assert ratio == pytest.approx(result["languages"]["en"]["hit@1"] / result["peers"]["bm25"]["en"]["hit@1"])


def test_held_out_rows_can_be_left_out(measured: Callable[..., dict[str, Any]]) -> None:
    """Without the held-out rows, questions whose rows are gone are skipped and counted."""
    result = measured(without_holdout=True, bank_languages=("ja",), query_languages=("ja",))
    assert (result["rows"], result["languages"]["ja"]["skipped"], result["languages"]["ja"]["ranked"]) == (1, 1, 1)


def test_embeddings_are_kept(bank: Path, queries: Path, settings: Settings) -> None:
    """A second run over the same bank embeds no passage again, and gives the same."""
    results = []
    for _ in range(2):
        with ExitStack() as stack:
            result, parts = measure_retrieval(bank, queries, Selection(("es",), ("es",)), settings, stack)
            results.append(result["languages"])
            embedder = parts.embedder
            assert isinstance(embedder, WordEmbedder)
            embedded, embedder.passages = embedder.passages, []
    assert not set(ANSWERS["es"].values()) & set(embedded)
    assert results[0] == results[1]


@pytest.mark.parametrize("language", LANGUAGES)
def test_rows_become_passages(language: str) -> None:
    """Questions with answers, texts, and intents with example questions become what an ingest would make of them."""
    faq = BankRow(id="a", lang=language, question=QUESTIONS[language]["refund"], answer=ANSWERS[language]["refund"])
    text = BankRow(id="b", lang=language, text=ANSWERS[language]["parcel"], entity="The train")
    intent = BankRow(id="c", lang=language, question="name", variants=list(QUESTIONS[language].values()))
    documents = documents_of([faq, text, intent])
    assert [(one.row.id, bool(one.question)) for one in documents] == [
        ("a", True),
        ("b", False),
        ("c", False),
        ("c", True),
        ("c", True),
    ]
    assert [one.question for one in documents_of([faq], answers_only=True)] == [""]
    articles, sections = as_articles(documents, "set")
    assert [article.title for article in articles] == ["set", "The train"]
    assert sorted(sections.values()) == ["a", "b", "c", "c", "c"]
    for article in articles:
        for entry in article.entries:
            block = entry.blocks[0]
            assert article.source[block.start : block.start + len(block.text)] == block.text
            assert article.source.count("\n", 0, block.start) + 1 == entry.line


@pytest.mark.parametrize("history", ["used", "joined", "ignored"])
def test_earlier_messages(bank: Path, settings: Settings, history: Any) -> None:
    """Earlier messages of the user reach retrieval where they are put before the question, and only there or by the
    product's own choice."""
    row = QueryRow.model_validate(
        {"qid": "1", "lang": "en", "query": "xyzzy", "relevant": ["parcel@en"],
         "history": [{"role": "user", "text": QUESTIONS["en"]["parcel"]}, {"role": "assistant", "text": "?"}]}
    )  # fmt: skip
    with ExitStack() as stack:
        opened = open_bank(settings, documents_of(read_bank(bank)), "tiny", stack)
        (found,) = ask_all(opened, [row], history)
    assert found.row is row
    if history == "joined":
        assert found.ids[0] == "parcel@en"


def test_grades_are_read(tmp_path: Path) -> None:
    """Relevance is a list of ids, a list with grades, or an object of grades."""
    rows: list[Any] = [["a"], [{"id": "a", "grade": 2}, "b"], {"a": 3, "b": 0}]
    file = write(
        tmp_path / "q.jsonl",
        [{"qid": str(n), "lang": "zh", "query": "退款?", "relevant": given} for n, given in enumerate(rows)],
    )
    read = read_queries(file)
    assert [row.relevant for row in read] == [{"a": 1}, {"a": 2, "b": 1}, {"a": 3, "b": 0}]
    assert {row.lang for row in read} == {"zh-Hans"}


def ranked(qid: str, ids: Sequence[str], confidence: float, answerable: bool = True, **changes: Any) -> Ranked:
    """A ranked answer to a question whose relevant row is "a"."""
    relevant = {"a": 1} if answerable else {}
    fields = {"qid": qid, "lang": "ja", "query": "?", "relevant": relevant, "answerable": answerable}
    row = QueryRow.model_validate(fields | changes)
    return Ranked(row, tuple(ids), confidence, "answered" if confidence > 0.5 else "abstained")


def test_measures_by_hand() -> None:
    """Ranking, abstention and risk on four questions that can be counted by hand; what found nothing counts as 0."""
    found = [
        ranked("1", ["a", "b"], 0.9),
        ranked("2", ["b", "a"], 0.6),
        ranked("3", [], 0.0),
        ranked("4", ["b"], 0.55, answerable=False),
    ]
    row = measure(found, ["a", "b"])["ja"]
    assert (row["hit@1"], row["hit@10"], row["mrr"]) == (0.3333, 0.6667, 0.5)
    assert row["auroc"] == 0.6667
    assert (row["answered"], row["refused"], row["balanced_accuracy"]) == (0.6667, 0.0, 0.3333)
    assert row["best_balanced_accuracy"] == 0.8333
    assert row["risk_at_coverage"]["0.3"] == 0.0
    assert row["risk_at_coverage"]["1.0"] == 0.75
    assert row["hit@1_interval"][0] < 0.3333 < row["hit@1_interval"][1]


def test_grades_count() -> None:
    """With grades the better row first is worth more."""
    graded: dict[str, Any] = {"relevant": {"a": 3, "b": 1}}
    best, worst = (measure([ranked("1", ids, 0.9, **graded)], ["a", "b"])["ja"]["ndcg@10"] for ids in ("ab", "ba"))
    assert best == 1.0
    assert worst < 1.0


def test_unknown_relevance_is_not_ranked() -> None:
    """Where it is only known that a question can be answered, ranking is not measured but abstention is."""
    unknown: dict[str, Any] = {"relevant": {}, "relevant_known": False}
    found = [ranked("1", ["b"], 0.9, **unknown), ranked("2", ["b"], 0.1, answerable=False)]
    row = measure(found, ["a", "b"])["ja"]
    assert (row["ranked"], row["skipped"], row["hit@1"], row["auroc"]) == (0, 0, None, 1.0)


@pytest.mark.parametrize("language", LANGUAGES)
def test_plain_words_find_words(language: str) -> None:
    """The lexical peer finds a shared word between spaces, and nothing where no word is shared."""
    rows = [BankRow(id="a", lang=language, text="alpha beta"), BankRow(id="b", lang=language, text="gamma delta")]
    asked = [QueryRow(qid=str(n), lang=language, query=text) for n, text in enumerate(["Gamma?", "the gamma", "…"])]
    found = rank_by_words(documents_of(rows), asked)
    assert [one.ids for one in found] == [(), ("b",), ()]
    assert found[0].confidence == 0.0 < found[1].confidence


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "holds no row"),
        ('{"id": "a"}\n', r"bank\.jsonl:1: lang: Field required"),
        ('{"id": "a", "lang": "ja", "text": "x"}\n\n{"id": "a", "lang": "ja", "text": "y"}\n', r":3: a is there twice"),
        ('{"id": "a", "lang": "klingon!", "text": "x"}\n', r":1: lang: .*klingon! is no language code"),
        ('{"id": "a", "lang": "ja"}\n', r":1: .*needs a question, an answer, a text or variants"),
        ("just text\n", r":1: is no JSON object"),
        ("[1]\n", r":1: .*"),
    ],
    ids=["empty", "field", "twice", "language", "nothing", "no JSON", "no object"],
)
def test_bad_bank_is_one_sentence(
    tmp_path: Path, queries: Path, content: str, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A malformed bank ends with exit code 2 and one sentence that names file, line and reason."""
    file = tmp_path / "bank.jsonl"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=reason):
        read_bank(file)
    assert command.main(["retrieval", "--bank", str(file), "--queries", str(queries)]) == 2
    said = capsys.readouterr()
    assert said.err.startswith("error: ")
    assert said.err.count("\n") == 1
    assert not said.out


@pytest.mark.parametrize("missing", ["bank", "queries", "file"])
def test_missing_file_is_one_sentence(
    tmp_path: Path, bank: Path, queries: Path, missing: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file that is not there ends with exit code 2 and one sentence that names it."""
    gone = str(tmp_path / "gone.jsonl")
    words = {
        "bank": ["retrieval", "--bank", gone, "--queries", str(queries)],
        "queries": ["retrieval", "--bank", str(bank), "--queries", gone],
        "file": ["language", "--file", gone],
    }
    assert command.main(words[missing]) == 2
    reason = "can't be read (No such file or directory); check the path and its permissions"
    assert capsys.readouterr().err == f"error: {gone}: {reason}\n"


def test_filters_that_leave_nothing_are_named(
    bank: Path, queries: Path, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    """Filters that leave no row or no question say so instead of measuring nothing."""
    words = ["retrieval", "--bank", str(bank), "--queries", str(queries)]
    assert command.main([*words, "--query-language", "ko"]) == 2
    assert "no question is left" in capsys.readouterr().err
    assert command.main([*words, "--bank-language", "ko"]) == 2
    assert "no row of the bank is left" in capsys.readouterr().err


def test_json_is_complete(bank: Path, queries: Path, settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    """`--json` prints one object with the measures by language and of the peer, and nothing else."""
    words = ["retrieval", "--bank", str(bank), "--queries", str(queries), "--peer", "bm25", "--json"]
    assert command.main(words) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["languages"]["ja"]["hit@1"] == 1.0
    assert set(found["peers"]) == set(found["ratios"]) == {"bm25"}
    assert command.main(words[:-1]) == 0
    assert "peer bm25" in capsys.readouterr().out


def test_language_of_short_texts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Accuracy by language, for very short texts, over the languages the product speaks and over all."""
    texts = [("ja", "返金はいつ？"), ("zh", "退款要多久"), ("es", "¿cuánto tarda el reembolso?"),
             ("en", "how long does a refund take"), ("ko", "환불"), ("th", "คืนเงินเมื่อไหร่")]  # fmt: skip
    file = write(tmp_path / "lid.jsonl", [{"lang": code, "text": text} for code, text in texts])
    found = measure_languages(file)
    assert {code: row["accuracy"] for code, row in found["languages"].items() if code != "all"} == {
        "en": 1.0, "es": 1.0, "ja": 1.0, "ko": 1.0, "th": 0.0, "zh-Hans": 1.0, "spoken": 1.0,
    }  # fmt: skip
    assert found["languages"]["all"]["short_texts"] == 3
    assert "th" not in found["spoken"]
    assert measure_languages(file, ["ja"])["languages"]["all"]["texts"] == 1
    assert command.main(["language", "--file", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == found


def test_table_names_absent_sets(tmp_path: Path, settings: Settings) -> None:
    """Over an empty folder every row is there, none of them reached, each naming the file that is absent."""
    with ExitStack() as stack:
        rows = measure_published(tmp_path, settings, stack)
        with pytest.raises(InputError, match="is no folder"):
            measure_published(tmp_path / "gone", settings, stack)
    assert len(rows) == len(ROWS) + 1
    assert not any(row["reached"] for row in rows)
    assert all("is absent" in row["note"] for row in rows)
    assert published_table(rows).row_count == len(rows)


def test_table_measures_what_is_there(tmp_path: Path, bank: Path, queries: Path, settings: Settings) -> None:
    """Rows whose sets are there are measured, several runs as one mean, peers beside."""
    bank.rename(tmp_path / "faq_parallel.bank.jsonl")
    queries.rename(tmp_path / "faq_parallel.queries.jsonl")
    with ExitStack() as stack:
        rows = measure_published(tmp_path, settings, stack, ["answer text only"], ["bm25"])
    (row,) = rows
    assert len(row["runs"]) == 4
    single = [run["languages"]["all"]["hit@1"] for run in row["runs"]]
    assert row["values"] == [pytest.approx(sum(single) / 4, abs=1e-4)]
    assert row["reached"] is (row["values"][0] >= 0.75)
    assert len(row["peers"]["bm25"]) == 1
