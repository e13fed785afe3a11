// A field that proposes words of the model as one types.

import { get } from "./api.js";
import { h } from "./dom.js";

let count = 0;

/** Return {element, input}; `chosen` is called with the word when one is picked or Enter is pressed. */
export function wordField(label, value, chosen) {
  const id = `suggest-${++count}`;
  const list = h("datalist", { id: `${id}-list` });
  const input = h("input", { id, type: "text", value, list: list.id, autocomplete: "off", autocapitalize: "off", spellcheck: "false" });
  let asked = 0;

  input.addEventListener("input", async ({ inputType }) => {
    const mine = ++asked;
    const prefix = input.value.trim();
    if (!inputType || inputType === "insertReplacementText") return chosen(prefix); // picked from the list
    const { words } = prefix ? await get("v1/words", { prefix, topn: 8 }).catch(() => ({ words: [] })) : { words: [] };
    if (mine === asked) list.replaceChildren(...words.map((word) => h("option", { value: word })));
  });
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !input.value.trim()) return;
    event.preventDefault();
    chosen(input.value.trim());
  });
  return { element: h("div", null, h("label", { for: id }, label), input, list), input };
}
