// A sentence: click a word and see what it means there, and which words of its context made it so.

import { go, read } from "./address.js";
import { post } from "./api.js";
import { announce, card, facts as factsOf, figure, h, s } from "./dom.js";
import { opening } from "./opening.js";
import { arrow, drawWords, saves, scale, sizeOf } from "./picture.js";
import { scoreColumns, tableCard } from "./table.js";

export function build(root, facts) {
  const box = h("textarea", { id: "text", rows: 2, maxlength: 10000, spellcheck: "false" });
  const line = h("p", { class: "sentence" });
  const hint = h("p", { class: "quiet" });
  const result = h("div");
  let tokens = [];
  let text = null;

  const set = (changes) => go("sentence", { ...read().params, ...changes });
  const form = h("form", { onsubmit: (event) => { event.preventDefault(); go("sentence", { text: box.value.trim() }); } },
    h("label", { for: "text" }, "A sentence, typed or pasted"), box,
    h("p", null, h("button", { class: "main" }, "Read it"), " ", h("span", { class: "quiet" }, "Ctrl+Enter does the same.")));
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  root.append(h("h1", null, "A word in its sentence"), form, line, hint, result);
  const parts = resultParts(set, facts);

  function showLine() {
    const pieces = [];
    let end = 0;
    tokens.forEach((token, i) => {
      pieces.push(text.slice(end, token.start));
      end = token.start + token.text.length;
      pieces.push(token.key === null
        ? h("span", { class: "unknown", title: "not in the model" }, token.text)
        : h("button", { type: "button", "data-at": i, "aria-pressed": "false", onclick: () => set({ at: i, off: null }) }, token.text));
    });
    line.replaceChildren(...pieces, text.slice(end));
    const unknown = tokens.filter((token) => token.key === null).length;
    hint.textContent = `Click a word.${unknown ? ` ${unknown === 1 ? "One word is" : `${unknown} words are`} not in the model and left out.` : ""}`;
  }

  function shade(at, answer) {
    const contributions = new Map((answer?.contributions ?? []).map((each) => [each.position, each]));
    const off = new Set(answer?.off ?? []);
    for (const button of line.querySelectorAll("button")) {
      const i = Number(button.dataset.at);
      button.setAttribute("aria-pressed", String(i === at));
      button.classList.toggle("off", off.has(i));
      button.style.setProperty("--share", shadeOf(contributions.get(i)?.share));
    }
  }

  return async function update(params) {
    const first = params.text === undefined ? await opening() : null;
    const wanted = first?.text ?? params.text;
    if (wanted !== text) {
      const answer = await post("v1/tokens", { text: wanted });
      text = wanted;
      tokens = answer.tokens;
      box.value = text;
      showLine();
    }
    const at = Number(params.at ?? (first ? tokens.findIndex((token) => token.key === first.word) : -1));
    if (!tokens[at]?.key) {
      shade(-1, null);
      result.replaceChildren();
      return "Sentence";
    }
    const off = (params.off ?? "").split(",").filter(Boolean).map(Number);
    const body = { tokens: tokens.map((token) => token.key ?? token.text), position: at, off, topn: 10 };
    const answer = await post("v1/context", body);
    shade(at, answer);
    parts.update(answer, tokens, off, at);
    if (!result.firstChild) result.append(parts.element);
    hint.textContent = facts.encoder ? "The deeper its colour, the more a word did. Click another word to look at it instead." : hint.textContent;
    announce(`${answer.word}: shift ${figure(answer.shift)}, ${answer.substitutes.slice(0, 3).map((each) => each.word).join(", ")}`);
    return `${answer.word} in its sentence`;
  };
}

const shadeOf = (share) => (share === undefined ? 0 : Math.min(0.12 + 0.88 * share, 0.85).toFixed(3));

/** Return the cards below the sentence: the context, the picture, the facts, the tables. */
function resultParts(set, model) {
  const [WIDTH, HEIGHT] = sizeOf(720, 460);
  const chips = h("div", { class: "chips", role: "group", "aria-label": "Words of the context, on or off" });
  const all = h("button", { type: "button", class: "plain", onclick: () => set({ off: null }) }, "all on");
  const none = h("button", { type: "button", class: "plain" }, "all off");
  const layers = { back: s("g"), words: s("g"), front: s("g") };
  const prior = s("circle", { class: "prior" });
  const whole = s("circle", { class: "whole" });
  const posterior = s("circle", { class: "posterior" });
  const svg = s("svg", { class: "picture", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "group", "aria-label": "Prior and posterior among their neighbours" }, prior, whole, posterior, layers.words, layers.front);
  const facts = h("div");
  const says = h("p", { class: "verdict" });
  const did = h("div", { class: "inner" });
  const tables = h("div", { class: "grid three" });
  let word = "word";
  let chipsFor = "";
  const element = h("div", { class: "stack" },
    card("Its context: switch words off and on", h("span", { class: "saves" }, all, none), chips),
    h("div", { class: "grid two" },
      card("Where the context moved it", saves(svg, () => `${word}-in-context`), svg,
        h("div", null, key("prior", "prior"), key("posterior", "posterior"), key("other", "neighbours; circles are one standard deviation"))),
      card("What it says", null, says, facts, did)),
    tables);

  function showChips(answer, tokens, off, at) {
    const names = answer.window.filter((i) => i < at).concat(at, answer.window.filter((i) => i > at));
    const contributions = new Map(answer.contributions.map((each) => [each.position, each]));
    const wanted = `${at}:${names.join()}:${names.map((i) => tokens[i].text).join(" ")}`;
    if (wanted !== chipsFor) { // otherwise they stay, and so does the keyboard's focus
      chipsFor = wanted;
      chips.replaceChildren(...names.map((i) => i === at
        ? h("span", { class: "chip centre" }, tokens[i].text)
        : h("button", { type: "button", class: "chip", "data-at": i }, tokens[i].text, h("small"))));
    }
    for (const chip of chips.querySelectorAll("button")) {
      const i = Number(chip.dataset.at);
      const share = contributions.get(i)?.share;
      const on = !off.includes(i);
      chip.setAttribute("aria-pressed", String(on));
      chip.style.setProperty("--share", shadeOf(share));
      chip.lastChild.textContent = on ? `${figure(100 * (share ?? 0), 0)} %` : "off";
      chip.title = on && share !== undefined ? `Without it the posterior changes by ${figure(contributions.get(i).kl)} nats; its mean moves by ${figure(contributions.get(i).shift)}` : "Switched off";
      chip.onclick = () => set({ at, off: (on ? [...off, i] : off.filter((each) => each !== i)).join(",") });
    }
    none.onclick = () => set({ at, off: answer.window.join(",") });
    all.onclick = () => set({ at, off: null });
    if (!answer.window.length) chips.replaceChildren(h("p", { class: "quiet" }, "No other word of the sentence is in the model, so the posterior is the prior.")), (chipsFor = "");
  }

  function showPicture(answer) {
    const { picture } = answer;
    const to = scale([picture.prior, picture.whole, picture.posterior, ...picture.words], WIDTH, HEIGHT);
    const put = (circle, { x, y, r }) => {
      circle.setAttribute("cx", to.x(x));
      circle.setAttribute("cy", to.y(y));
      circle.setAttribute("r", r * to.factor);
    };
    put(prior, picture.prior);
    put(whole, picture.whole);
    put(posterior, picture.posterior);
    whole.setAttribute("visibility", answer.off.length ? "visible" : "hidden");
    const [x0, y0, x1, y1] = [to.x(picture.prior.x), to.y(picture.prior.y), to.x(picture.posterior.x), to.y(picture.posterior.y)];
    layers.front.replaceChildren(arrow(x0, y0, x1, y1));
    const moved = Math.hypot(x1 - x0, y1 - y0) >= 30;
    drawWords(layers.words, picture.words, to, WIDTH, HEIGHT, [
      { text: answer.word, x: x1, y: y1, class: "name-posterior" },
      ...(moved ? [{ text: "prior", x: x0, y: y0, class: "name-prior" }] : []),
    ]);
  }

  function update(answer, tokens, off, at) {
    word = answer.word;
    showChips(answer, tokens, off, at);
    showPicture(answer);
    const { prior: before, posterior: after } = answer.entropy;
    const width = 100 * (Math.exp((after - before) / model.vector_size) - 1);
    const moved = answer.shift / answer.picture.prior.r;
    const strongest = [...answer.contributions].sort((a, b) => b.kl - a.kl)[0];
    says.replaceChildren(...(answer.contributions.length
      ? [h("span", { class: "word" }, `“${tokens[strongest.position].text}”`), ` did most: ${figure(100 * strongest.share, 0)} % of what the context words do, left out one by one.`]
      : ["Without context, the posterior is the prior."]));
    facts.replaceChildren(factsOf([
      ["Its mean moved by, in standard deviations of the prior", figure(moved)],
      ["It became, in every direction", `${figure(Math.abs(width), 0)} % ${width > 0 ? "wider" : "narrower"}`],
      ["Change in all: KL[posterior‖prior]", `${figure(answer.kl)} nats`],
    ]));
    const context = answer.contributions.map((each) => ({ word: tokens[each.position].key, kl: each.kl, shift: each.shift, share: each.share }));
    tables.replaceChildren(
      tableCard("Substitutes here", scoreColumns("log p − KL"), answer.substitutes, `${word}-substitutes`),
      tableCard("Nearest in context", scoreColumns("−KL"), answer.nearest_to_posterior, `${word}-in-context`),
      tableCard("Nearest out of context", scoreColumns("−KL"), answer.nearest_to_prior, `${word}-out-of-context`));
    did.replaceChildren(tableCard("What leaving out a word changes", [{ name: "word" }, { name: "kl", title: "KL, nats", number: true }, { name: "shift", number: true }, { name: "share", number: true }], context, `${word}-context`));
  }
  return { element, update };
}

export function key(kind, text) {
  return h("span", { class: "key" }, h("i", { class: kind }), text);
}
