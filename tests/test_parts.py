"""Parts: two or three questions in one message are told apart; one question is never cut."""

from __future__ import annotations

import pytest

from assistant.parts import split_questions
from assistant.wording import Wordings

WORDINGS = Wordings()


@pytest.mark.parametrize(
    ("text", "language", "parts"),
    [
        ("额度最多多少，什么时候到期？", "zh-Hans", ("额度最多多少", "什么时候到期？")),
        ("怎么申请以及需要多久", "zh-Hans", ("怎么申请", "需要多久")),
        ("資格是什麼？還有期限多久？", "zh-Hant", ("資格是什麼？", "還有期限多久？")),
        ("いくらもらえますか？それと期限はいつですか？", "ja", ("いくらもらえますか？", "それと期限はいつですか？")),
        ("いくらもらえて、あと期限はいつですか", "ja", ("いくらもらえて", "期限はいつですか")),
        ("¿Cuánto dura y además cómo se solicita?", "es", ("¿Cuánto dura", "cómo se solicita?")),
        ("¿Qué es Trainium? ¿Y cuánto cuesta?", "es", ("¿Qué es Trainium?", "¿Y cuánto cuesta?")),
        ("How much can I get and when does it expire?", "en", ("How much can I get", "when does it expire?")),
        ("Who can? How? When?", "en", ("Who can?", "How?", "When?")),
        ("Was kostet es und wie lange gilt es?", "de", ("Was kostet es", "wie lange gilt es?")),
        ("Combien ça coûte et comment faire ?", "fr", ("Combien ça coûte", "comment faire ?")),
        ("Сколько это стоит и как подать заявку?", "ru", ("Сколько это стоит", "как подать заявку?")),
        ("얼마인가요? 그리고 언제까지인가요?", "ko", ("얼마인가요?", "그리고 언제까지인가요?")),
    ],
)
def test_questions_are_told_apart(text: str, language: str, parts: tuple[str, ...]) -> None:
    """Each question of a message is a part, by its own mark or by a word that joins two."""
    assert split_questions(text, WORDINGS.nearest(language)) == parts


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Trainium和GPU有什么区别？", "zh-Hans"),
        ("额度和期限", "zh-Hans"),
        ("料金と期限は？", "ja"),
        ("スタートアップで、チップは初めてです。申請できますか？", "ja"),
        ("¿Qué diferencia hay entre créditos y becas?", "es"),
        ("What is the difference between credits and grants?", "en"),
        ("I run a startup in Spain. Can I apply?", "en"),
        ("Can I apply? I run a startup.", "en"),
        ("how much", "en"),
        ("申請は月単位ですかそれとも年単位ですか？", "ja"),
        ("申請は月単位ですか、それとも年単位ですか？", "ja"),
        ("請求はリクエストごとですか？それとも時間ごとですか？", "ja"),
        ("是按次收费吗？还是按小时收费？", "zh-Hans"),
        ("怎么收费，是按次，还是按小时？", "zh-Hans"),
        ("¿Se factura por hora? ¿O por petición?", "es"),
        ("Is it billed by the hour? Or by request?", "en"),
        ("시간 단위인가요? 아니면 요청 단위인가요?", "ko"),
        ("a? b? c? d? e?", "en"),
    ],
)
def test_one_question_stays_whole(text: str, language: str) -> None:
    """Things named together, two choices, statements around a question and too many questions are not cut."""
    assert split_questions(text, WORDINGS.nearest(language)) == (text,)
