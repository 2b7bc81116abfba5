"""A draft as the API gives it, for its description.

In: nothing. Out: JSON values of a DraftBody. Never: anything a customer wrote.
"""

from __future__ import annotations

from typing import Any

SIBLING_EXAMPLE: dict[str, Any] = {
    "n": 1, "passage_id": "es/aws-trainium-credits#cost-at-scale.1", "title": "Créditos de AWS Trainium",
    "heading": "Cómo se comportan los costes", "url": "https://help.example.com/es/aws-trainium-credits",
    "language": "es", "direction": "ltr", "quote": "La factura va por hora de instancia.",
    "shown": "La factura va por hora de instancia.", "is_readable": True, "sibling": None,
}  # fmt: skip
SOURCE_EXAMPLE: dict[str, Any] = {
    "n": 1, "passage_id": "ja/aws-trainium-credits#cost-at-scale.1", "title": "AWS Trainiumクレジット",
    "heading": "コストの動き", "url": "https://help.example.com/ja/aws-trainium-credits", "language": "ja",
    "direction": "ltr", "quote": "請求はインスタンス時間単位です。", "shown": "請求はインスタンス時間単位です。",
    "is_readable": False, "sibling": SIBLING_EXAMPLE,
}  # fmt: skip
DRAFT_EXAMPLE: dict[str, Any] = {
    "id": "5c1f0e", "version": 1, "state": "open", "outcome": "", "distance": 0,
    "message": "お世話になっております。請求の単位は何ですか？また、解約料はいくらですか？\n田中",
    "language": "ja", "language_name": "japonés", "direction": "ltr", "agent_language": "es", "agent_direction": "ltr",
    "tone": "formal", "conversation_id": "", "changed_by": "marta", "changed_at": 1796083200.0,
    "questions": [
        {"number": 1, "text": "請求の単位は何ですか？", "start": 12, "end": 23, "outcome": "answered",
         "confidence": 0.91, "evidence": [SOURCE_EXAMPLE]},
        {"number": 2, "text": "また、解約料はいくらですか？", "start": 23, "end": 37, "outcome": "abstained",
         "confidence": 0.12, "evidence": []},
    ],
    "parts": [
        {"id": "greeting", "kind": "greeting", "question": 0, "text": "お問い合わせありがとうございます。",
         "is_open": False, "lines": [{"text": "お問い合わせありがとうございます。", "state": "own", "reason": "",
                                      "source": 0}]},
        {"id": "q1", "kind": "answer", "question": 1, "text": "請求はインスタンス時間単位です。", "is_open": False,
         "lines": [{"text": "請求はインスタンス時間単位です。", "state": "supported", "reason": "", "source": 1}]},
        {"id": "q2", "kind": "gap", "question": 2, "text": "［要記入：解約料はいくらですか？］", "is_open": True,
         "lines": [{"text": "［要記入：解約料はいくらですか？］", "state": "gap", "reason": "", "source": 0}]},
        {"id": "closing", "kind": "closing", "question": 0, "text": "よろしくお願いいたします。", "is_open": False,
         "lines": [{"text": "よろしくお願いいたします。", "state": "own", "reason": "", "source": 0}]},
    ],
    "sources": [SOURCE_EXAMPLE], "open_gaps": 1, "unsupported": 0, "share": 0.0,
}  # fmt: skip
