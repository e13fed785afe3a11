// A field that proposes words of the model as one types: the combobox of the ARIA practices.

import { get } from "./api.js";
import { h } from "./dom.js";

let count = 0;

/** Return {element, input}; `chosen` is called with the word when one is picked or Enter is pressed. */
export function wordField(label, value, chosen) {
  const id = `suggest-${++count}`;
  const input = h("input", { id, type: "text", value: value ?? "", autocomplete: "off", autocapitalize: "off", spellcheck: "false", role: "combobox", "aria-expanded": "false", "aria-controls": `${id}-list`, "aria-autocomplete": "list" });
  const list = h("ul", { id: `${id}-list`, role: "listbox", "aria-label": `Words for “${label}”`, hidden: true });
  const element = h("div", { class: "suggest" }, h("label", { for: id }, label), input, list);
  let asked = 0;
  let at = -1;

  function close() {
    asked++;
    list.hidden = true;
    at = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  }

  function mark(next) {
    const items = [...list.children];
    at = (next + items.length) % items.length;
    items.forEach((item, i) => item.setAttribute("aria-selected", i === at ? "true" : "false"));
    input.setAttribute("aria-activedescendant", items[at].id);
    items[at].scrollIntoView({ block: "nearest" });
  }

  function pick(word) {
    input.value = word;
    close();
    chosen(word);
  }

  async function propose() {
    const mine = ++asked;
    const prefix = input.value.trim();
    if (!prefix || prefix.includes(" ")) return close();
    const { words } = await get("v1/words", { prefix, topn: 8 }).catch(() => ({ words: [] }));
    if (mine !== asked || document.activeElement !== input) return;
    if (!words.length) return close();
    list.replaceChildren(...words.map((word, i) => h("li", { id: `${id}-${i}`, role: "option", "aria-selected": "false", onpointerdown: (event) => { event.preventDefault(); pick(word); } }, word)));
    list.hidden = false;
    at = -1;
    input.setAttribute("aria-expanded", "true");
  }

  input.addEventListener("input", propose);
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    const open = !list.hidden;
    if (event.key === "ArrowDown" && open) mark(at + 1);
    else if (event.key === "ArrowUp" && open) mark(at - 1);
    else if (event.key === "Escape" && open) close();
    else if (event.key === "Enter" && open && at >= 0) pick(list.children[at].textContent);
    else if (event.key === "Enter" && input.value.trim()) pick(input.value.trim());
    else return;
    event.preventDefault();
  });
  return { element, input };
}
