"""A request whose fields do not fit is told so, whatever is in it."""

from __future__ import annotations

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from pydantic import BaseModel, Field

from ui.unfit import tell_unfit


class Asked(BaseModel):
    name: str = Field(max_length=10)


@pytest.mark.parametrize("name", ['"\\ud800"', '"secret that is too long"', "1", "[[1e999, NaN]]"])
def test_the_field_is_named_and_its_content_is_not(name: str) -> None:
    app = FastAPI()
    tell_unfit(app)

    @app.post("/")
    def ask(asked: Asked) -> str:
        return asked.name

    answer = TestClient(app).post("/", content=f'{{"name": {name}}}', headers={"content-type": "application/json"})
    assert answer.status_code == 422
    (detail,) = answer.json()["detail"]
    assert detail["loc"] == ["body", "name"]
    assert detail["msg"]
    assert set(detail) == {"type", "loc", "msg"}
    assert "secret" not in answer.text
