"""The sample cards of a tab: one press each."""

from __future__ import annotations

import html

import gradio as gr

from ui.samples import of_tab
from ui.texts import Texts

# ``omni-sample`` tells the player that this press may make sound. The event carries the card's id and nothing else.
_ON_LOAD = """
element.addEventListener("click", (event) => {
  const card = event.target.closest("[data-sample]");
  if (!card) return;
  window.omni.begin(%r);
  trigger("click", {sample: card.dataset.sample});
});
"""


def build_cards(tab: str, stage: str, t: Texts) -> gr.HTML:
    """The cards of ``tab``. Listen with ``click``; the event's data has ``sample``, an id of ``assets/samples/samples.yaml``.

    ``stage``: the id of the stage that a press opens.
    """
    on_load = _ON_LOAD % stage
    return gr.HTML(_markup(tab, t), js_on_load=on_load, apply_default_css=False, elem_classes="omni-cards-box")


def _markup(tab: str, t: Texts) -> str:
    cards = "".join(
        f'<button type="button" class="omni-sample" data-sample="{html.escape(sample.id, quote=True)}">'
        f"<b>{html.escape(sample.title['en'])}</b><span>{html.escape(sample.note['en'])}</span></button>"
        for sample in of_tab(tab)
    )
    label = html.escape(t("ask.samples"), quote=True)
    return f'<div class="omni-samples" role="group" aria-label="{label}">{cards}</div>'
