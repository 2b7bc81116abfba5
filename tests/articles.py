"""Articles for tests: the corpus flattened to the plain text that users extract from web pages, and small builders.

In that form the first line is the title, headings are lines, tables are pipe rows, a bold lead-in is plain text, the
FAQ comes last and two advertising lines close it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import groupby
from pathlib import Path

from assistant.errors import SourceError
from assistant.ingest import read_article
from assistant.language import Detector
from assistant.parse_extracted import parse_extracted
from assistant.parse_markdown import parse_markdown
from assistant.passages import cut_passages
from assistant.records import Article, Entry, Passage
from assistant.wording import Wordings

CORPUS = Path(__file__).parent.parent / "corpus"
FAQ_HEADINGS = {
    "zh-Hans": "常见问题解答",
    "ja": "よくある質問",
    "es": "Preguntas frecuentes",
    "en": "Frequently asked questions",
}
ADVERTS = {
    "zh-Hans": ("训练模型。让别人来支付芯片的费用。", "立即订阅 →"),
    "ja": ("モデルをトレーニングする。費用は他の誰かに。", "今すぐ登録 →"),
    "es": ("Entrena el modelo. Que otro pague el silicio.", "Suscríbete →"),
    "en": ("Train the model. Let someone else pay.", "Subscribe →"),
}
LANGUAGES = tuple(ADVERTS)


@cache
def detector() -> Detector:
    """One detector for all languages that have a wording file."""
    wordings = Wordings()
    return Detector(wordings.languages, wordings.evidence)


def corpus_files(language: str = "") -> list[Path]:
    """The corpus's files, of one language or all."""
    return sorted(CORPUS.glob(f"{language or '*'}/*.md"))


def read(path: Path) -> Article:
    """The article in a file."""
    return read_article(path, detector())


def flatten(path: Path) -> str:
    """The article as it would be extracted from its web page; short sections become paragraphs with a lead-in."""
    article = read(path)
    stop = "。" if article.language in ("zh-Hans", "ja") else "."
    lines = [article.title]
    faq = [entry for entry in article.entries if entry.question]
    sections = [entry for entry in article.entries if not entry.question and entry.anchor != "faq"]
    for entry in sections:
        texts = list(_texts(entry, article.source))
        if entry.parents:
            lines += [f"{entry.heading}{stop} {texts[0]}", *texts[1:]]
        else:
            lines += [entry.heading, *texts]
    lines.append(FAQ_HEADINGS[article.language])
    for entry in faq:
        lines += [entry.question, *(block.plain for block in entry.blocks)]
    return "\n".join([*lines, *ADVERTS[article.language]]) + "\n"


def _texts(entry: Entry, source: str) -> Iterator[str]:
    """The blocks as lines; the rows of a table as they stand in the file."""
    for kind, blocks in groupby(entry.blocks, key=lambda block: block.kind):
        if kind == "row":
            last = list(blocks)[-1]
            yield source[source.rindex("\n\n", 0, last.start + 2) + 2 : last.start + len(last.text)].split("\n\n")[-1]
        else:
            yield from (block.plain for block in blocks)


def parse(source: str, kind: str = "md", language: str = "en") -> Article:
    """An article made of a source text, through the parser for its kind, `md` or `txt`."""
    path = Path(f"{language}/sample.{kind}")
    if kind == "md":
        head, entries = parse_markdown(source, path)
        title = head.title
    else:
        title, entries = parse_extracted(source, path)
    return Article(f"{language}/sample", str(path), "0", language, title, source, entries, "https://example.com/a")


def markdown(body: str, language: str = "en") -> str:
    """A Markdown file with complete front matter."""
    return f"---\ntitle: Sample\nlanguage: {language}\n---\n{body}"


def passages_of(body: str, kind: str = "md", language: str = "en") -> list[Passage]:
    """The passages of a body, below front matter or a title line."""
    source = markdown(body, language) if kind == "md" else f"Sample\n{body}"
    return cut_passages(parse(source, kind, language))


def all_passages() -> list[Passage]:
    """The passages of the corpus and of its extracted form, in every language."""
    found = []
    for path in corpus_files():
        article = read(path)
        found += cut_passages(article)
        found += cut_passages(parse(flatten(path), "txt", article.language))
    return found


def reason(source: str, kind: str = "md") -> str:
    """Why a source is refused, or "" if it is not."""
    try:
        parse(source, kind)
    except SourceError as error:
        return str(error)
    return ""
