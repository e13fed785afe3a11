// The page: which view is shown follows from the address.

import { address, go, read } from "./address.js";
import { chooseModel, get } from "./api.js";
import { h, whole } from "./dom.js";
import * as compare from "./compare.js";
import * as map from "./map.js";
import * as sentence from "./sentence.js";
import * as word from "./word.js";

const views = { sentence, word, compare, map };
const main = document.getElementById("main");
let shown = null; // {name, update}
let facts = null; // what /v1/model says
let turn = 0;

function takeToken() {
  const found = location.hash.match(/^#token=(.+)$/);
  if (!found) return;
  sessionStorage.setItem("densvec-token", decodeURIComponent(found[1]));
  history.replaceState(null, "", "#/sentence");
}

async function knowModel(name) {
  if (facts && (name ?? facts.models[0]) === facts.name) return;
  chooseModel(name);
  facts = await get("v1/model");
  shown = null; // whatever is shown is of another model
  document.getElementById("about").textContent = `${whole(facts.words)} words, ${facts.vector_size} dimensions`;
  const select = document.getElementById("model");
  select.replaceChildren(...facts.models.map((each) => h("option", { value: each, selected: each === facts.name }, each)));
  select.hidden = facts.models.length < 2;
}

async function show() {
  const mine = ++turn;
  const state = read();
  const name = Object.hasOwn(views, state.view) ? state.view : "sentence";
  for (const link of document.querySelectorAll("nav a")) {
    if (link.dataset.view === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
    link.href = address(link.dataset.view);
  }
  main.querySelectorAll(":scope > .error").forEach((element) => element.remove());
  main.classList.add("busy");
  try {
    await knowModel(state.params.model);
    if (mine !== turn) return;
    if (shown?.name !== name) {
      const moved = shown !== null;
      main.replaceChildren();
      shown = { name, update: views[name].build(main, facts) };
      if (moved) main.focus({ preventScroll: true });
    }
    const title = await shown.update(state.params);
    if (mine === turn) document.title = title ? `${title} · densvec` : "densvec";
  } catch (error) {
    if (mine !== turn) return;
    main.prepend(h("p", { class: "error", role: "alert" }, error.message));
  } finally {
    if (mine === turn) {
      main.classList.remove("busy");
      main.dataset.shown = location.hash; // for whoever waits for it
    }
  }
}

document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault(); // the address is that of the view
  main.focus();
});
document.getElementById("model").addEventListener("change", (event) => {
  const { view, params } = read();
  go(view, { ...params, model: event.target.value });
});

takeToken();
window.addEventListener("hashchange", show);
show();
