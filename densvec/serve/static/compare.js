// Two words, or a word in two sentences, side by side.

import { go, wordAddress } from "./address.js";
import { post } from "./api.js";
import { card, facts, figure, h, s, signed } from "./dom.js";
import { opening } from "./opening.js";
import { arrow, drawWords, saves, scale, sizeOf } from "./picture.js";
import { key } from "./sentence.js";
import { tableCard } from "./table.js";

export function build(root) {
  const fields = Object.fromEntries(["a", "b"].map((side) => [side, h("input", { id: `side-${side}`, type: "text", autocomplete: "off", autocapitalize: "off", spellcheck: "false" })]));
  const submit = (event) => {
    event.preventDefault();
    go("compare", { a: fields.a.value.trim(), b: fields.b.value.trim() });
  };
  const swap = () => go("compare", { a: fields.b.value.trim(), b: fields.a.value.trim() });
  const result = h("div");
  root.append(h("h1", null, "Two side by side"),
    h("p", { class: "quiet" }, "A word, or a sentence with one word in double brackets: a ripe [[kiwi]] tastes sweet."),
    h("form", { onsubmit: submit },
      h("div", { class: "row" },
        ["a", "b"].map((side) => h("div", { class: "grow" }, h("label", { for: `side-${side}` }, side === "a" ? "First" : "Second"), fields[side])),
        h("button", { class: "main" }, "Compare"), h("button", { type: "button", onclick: swap }, "Swap"))),
    result);

  return async function update(params) {
    const { a, b } = params.a || params.b ? params : (await opening()).pair;
    fields.a.value = a ?? "";
    fields.b.value = b ?? "";
    result.replaceChildren();
    if (!a || !b) return "Compare";
    const answer = await post("v1/compare", { a, b });
    result.replaceChildren(h("div", { class: "grid half" }, side(answer.a, "first"), side(answer.b, "second")),
      h("div", { class: "grid two" }, picture(answer), h("div", { class: "stack" }, verdict(answer, "in_context"), verdict(answer, "out_of_context"))),
      h("div", { class: "grid" }, similarities(answer)));
    return `${answer.a.word} and ${answer.b.word}`;
  };
}

function side({ word, sentence, generality, entropy }, which) {
  const text = sentence === null ? "out of context" : `“${sentence.replace("[[", "").replace("]]", "")}”`;
  return card(h("a", { class: "word", href: wordAddress(word) }, word), h("span", { class: "quiet" }, which),
    h("p", { class: "word" }, text), facts([["Generality", figure(generality)], ["Entropy", `${figure(entropy)} nats`]]));
}

/** Say which entails which, and how surely. */
function verdict(answer, where) {
  const found = answer[where];
  const same = answer.a.word === answer.b.word;
  if (!found || (same && where === "out_of_context" && answer.in_context)) return null;
  const [a, b] = same ? [`the first “${answer.a.word}”`, `the second “${answer.b.word}”`] : [answer.a.word, answer.b.word];
  const title = where === "in_context" ? "Entailment in context" : "Entailment out of context";
  const [specific, general] = found.direction > 0 ? [a, b] : [b, a];
  const sure = Math.abs(found.lean);
  const how = sure < 0.1 ? "slightly more than" : sure < 0.25 ? "clearly more than" : "much more than";
  const text = sure < 0.02 ? "Neither entails the other: the two divergences are nearly equal." : `${capital(specific)} entails ${general}, ${how} the other way round.`;
  return card(title, null, h("p", { class: "verdict" }, text),
    h("div", { class: "ends" }, h("span", null, `← ${b} entails ${a}`), h("span", null, `${a} entails ${b} →`)),
    h("div", { class: "lean", role: "img", "aria-label": `Lean ${signed(found.lean)} on a scale from −1 to 1` }, h("b", { "--at": `${50 + 50 * found.lean}%` })),
    facts([
      ["KL[first‖second]", `${figure(found.kl)} nats`],
      ["KL[second‖first]", `${figure(found.reverse_kl)} nats`],
      ["Lean: difference over sum", signed(found.lean, 3)],
      ["First a kind of the second, 0 to 1", figure(found.hypernymy, 3)],
      ["Second a kind of the first, 0 to 1", figure(found.reverse_hypernymy, 3)],
    ]));
}

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

function similarities(answer) {
  const rows = answer.similarity.map((each) => ({ metric: each.metric, "out of context": each.out_of_context, "in context": each.in_context }));
  const columns = [{ name: "metric", link: false }, { name: "out of context", number: true, digits: 3 }];
  if (answer.in_context) columns.push({ name: "in context", number: true, digits: 3 });
  return tableCard("Similarity by each metric", columns, rows, `${answer.a.word}-${answer.b.word}`, "Larger is more similar, by every metric; divergences and distances have a minus sign.");
}

function picture(answer) {
  const [WIDTH, HEIGHT] = sizeOf(720, 420);
  const { a, b, a_prior: aPrior, b_prior: bPrior, words } = answer.picture;
  const to = scale([a, b, aPrior, bPrior, ...words].filter(Boolean), WIDTH, HEIGHT);
  const circle = (each, kind) => each && s("circle", { class: kind, cx: to.x(each.x), cy: to.y(each.y), r: each.r * to.factor });
  const group = s("g");
  const priors = [aPrior, answer.a.word === answer.b.word && aPrior ? null : bPrior];
  const svg = s("svg", { class: "picture", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "group", "aria-label": "The two densities among their neighbours" },
    priors.map((each) => circle(each, "prior")), circle(a, "posterior"), circle(b, "posterior"), group,
    [[aPrior, a], [bPrior, b]].map(([from, end]) => from && arrow(to.x(from.x), to.y(from.y), to.x(end.x), to.y(end.y))));
  const same = answer.a.word === answer.b.word;
  drawWords(group, words, to, WIDTH, HEIGHT, [
    { text: same ? `${answer.a.word}, first` : answer.a.word, x: to.x(a.x), y: to.y(a.y), class: "name-posterior" },
    { text: same ? `${answer.b.word}, second` : answer.b.word, x: to.x(b.x), y: to.y(b.y), class: "name-posterior" },
    ...(aPrior && same ? [{ text: "prior", x: to.x(aPrior.x), y: to.y(aPrior.y), class: "name-prior" }] : []),
  ]);
  return card("Where they stand", saves(svg, () => `${answer.a.word}-${answer.b.word}`), svg,
    h("div", null, aPrior || bPrior ? key("prior", "prior") : null, key("posterior", aPrior || bPrior ? "in context" : "prior"), key("other", "neighbours; circles are one standard deviation")));
}
