// A single word: its prior, its neighbours by each metric, its generality among them, its kinds.

import { address, go, read } from "./address.js";
import { get } from "./api.js";
import { card, facts, figure, h, s, whole } from "./dom.js";
import { opening } from "./opening.js";
import { drawWords, saves, scale, sizeOf } from "./picture.js";
import { key } from "./sentence.js";
import { wordField } from "./suggest.js";
import { scoreColumns, tableCard } from "./table.js";

const METRICS = {
  cosine: "cosine of the means",
  kl: "−KL[word‖neighbour]: what covers it",
  reverse_kl: "−KL[neighbour‖word]: what it covers",
  jeffreys: "minus the sum of both KLs",
  expected_likelihood: "log expected likelihood",
  wasserstein: "minus the Wasserstein distance",
};

export function build(root, facts) {
  const field = wordField("A word of the model", "", (word) => go("word", { ...read().params, word }));
  const page = h("div");
  root.append(h("h1", null, "A single word"), h("form", { onsubmit: (event) => event.preventDefault() }, field.element), page);

  return async function update(params) {
    const word = params.word ?? (await opening()).word;
    field.input.value = word;
    const answer = await get("v1/word", { word, topn: 12 });
    const metric = Object.hasOwn(METRICS, params.metric) ? params.metric : facts.metrics.at(Math.min(1, facts.metrics.length - 1));
    page.replaceChildren(...pageOf(answer, metric, facts));
    if (facts.corpus) showSenses(page.appendChild(h("section", { class: "card", "aria-live": "polite" })), word);
    return word;
  };
}

function pageOf(answer, metric, facts) {
  const { word } = answer;
  const parts = [h("div", { class: "grid two" }, h("div", { class: "stack" }, picture(answer)), h("div", { class: "stack" }, about(answer), generality(answer)))];
  const select = h("select", { id: "metric", onchange: (event) => go("word", { word, metric: event.target.value }) },
    facts.metrics.map((name) => h("option", { value: name, selected: name === metric }, `${name}: ${METRICS[name]}`)));
  parts.push(h("div", { class: "grid" }, h("div", { class: "row" }, h("div", null, h("label", { for: "metric" }, "Neighbours by"), select), h("a", { href: address("map", { around: word, top: 120 }) }, "Show them on a map"))));
  const others = facts.metrics.filter((name) => name !== metric);
  parts.push(h("div", { class: "grid three" },
    tableCard(`Neighbours by ${metric}`, scoreColumns("score", 3), answer.neighbours[metric], `${word}-${metric}`, METRICS[metric] + (answer.least_count ? `; words that occur fewer than ${answer.least_count} times are left out` : "")),
    answer.hypernyms && tableCard("Hypernyms: more general", scoreColumns("score", 3), answer.hypernyms, `${word}-hypernyms`, `What ${word} may be a kind of.`),
    answer.hyponyms && tableCard("Hyponyms: more specific", scoreColumns("score", 3), answer.hyponyms, `${word}-hyponyms`, `What may be a kind of ${word}.`)));
  parts.push(h("h2", { class: "visually-hidden" }, "Neighbours by the other metrics"), h("div", { class: "grid three" }, others.map((name) => tableCard(`By ${name}`, scoreColumns("score", 3), answer.neighbours[name].slice(0, 8), `${word}-${name}`, METRICS[name]))));
  return parts;
}

/** Fill a card with the senses of a word, as soon as the corpus has been read for it. */
async function showSenses(card, word) {
  const title = h("h2", null, "Its senses in the corpus");
  card.replaceChildren(title, h("p", { class: "quiet" }, "Reading the corpus…"));
  try {
    let answer = await get("v1/senses", { word });
    while (answer.state === "reading" && card.isConnected) {
      await new Promise((resolve) => setTimeout(resolve, 1000));
      answer = await get("v1/senses", { word });
    }
    if (!card.isConnected) return;
    card.replaceChildren(title,
      h("p", { class: "quiet" }, answer.occurrences ? `From ${whole(answer.occurrences)} occurrences; words that tell a sense from the others, and its most typical lines.` : "It does not occur there.", answer.note && answer.occurrences ? ` There are ${answer.note}.` : null),
      h("ol", { class: "senses" }, answer.senses.map((sense) => h("li", null,
        h("p", null, `${figure(100 * sense.share, 0)} %: `, sense.nearest.flatMap((near, i) => [i ? ", " : null, h("a", { class: "word", href: address("word", { word: near.word }) }, near.word)])),
        h("ul", { class: "quiet" }, sense.examples.map((example) => h("li", null, example.line)))))));
  } catch (error) {
    card.replaceChildren(title, h("p", { class: "quiet" }, error.message));
  }
}

function about(answer) {
  const rows = [];
  const seldom = answer.count < answer.least_count ? " (too few to be certain)" : "";
  if (answer.count !== undefined) rows.push(["Occurrences", whole(answer.count) + seldom], ["Per million words", figure(1e6 * answer.frequency, 1)]);
  rows.push(["Rank by frequency", `${whole(answer.rank)} of ${whole(answer.words)}`]);
  if (answer.prior) {
    rows.push(["Variance of the prior", figure(answer.prior.variance, 3)], ["Entropy of the prior", `${figure(answer.prior.entropy)} nats`], ["Generality (log-determinant)", figure(answer.prior.generality)], ["More general than", `${figure(100 * answer.prior.more_general_than, 0)} % of all words`]);
  }
  return h("section", { class: "card" }, h("h2", { class: "verdict word" }, answer.word), facts(rows));
}

function picture(answer) {
  if (!answer.picture) return h("p", { class: "quiet" }, "There are only means in this model, so there are no circles to draw.");
  const [WIDTH, HEIGHT] = sizeOf(640, 420);
  const [own, ...others] = answer.picture;
  const to = scale(answer.picture, WIDTH, HEIGHT);
  const group = s("g");
  const svg = s("svg", { class: "picture", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "group", "aria-label": `The prior of ${answer.word} among its neighbours` },
    s("circle", { class: "prior", cx: to.x(own.x), cy: to.y(own.y), r: own.r * to.factor }), group);
  drawWords(group, others, to, WIDTH, HEIGHT, [{ text: answer.word, x: to.x(own.x), y: to.y(own.y), class: "name-prior" }]);
  return card("Its prior among its neighbours", saves(svg, () => `${answer.word}-prior`), svg, h("div", null, key("prior", "prior"), key("other", "neighbours; circles are one standard deviation")));
}

const ROWS = [-14, 24, -34, 44, -54, 64, -74, -94]; // where names may stand, above and below the line

/** Draw the generality of a word and of its neighbours along a line. */
function generality(answer) {
  if (!answer.prior) return null;
  const [width, height, middle] = [460, 190, 108];
  const all = [{ word: answer.word, generality: answer.prior.generality, own: true }, ...answer.generality_of_neighbours];
  const values = all.map((each) => each.generality);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const taken = ROWS.map(() => []);
  const marks = all.map((each) => {
    const x = 30 + ((each.generality - low) / (high - low || 1)) * (width - 60);
    const long = each.word.length * 7.6 + 8;
    const left = Math.min(Math.max(x - long / 2, 2), width - long - 2);
    const row = ROWS.findIndex((_, i) => taken[i].every(([from, to]) => left > to || left + long < from));
    if (row >= 0) taken[row].push([left, left + long]);
    const y = middle + ROWS[row];
    return s("g", null,
      row >= 0 && s("line", { class: "axis", x1: x, x2: x, y1: middle, y2: y + (y < middle ? 3 : -12) }),
      s("circle", { class: each.own ? "prior" : "tick", cx: x, cy: middle, r: each.own ? 6 : 3.5 }, s("title", null, `${each.word} ${figure(each.generality)}`)),
      row >= 0 && s("text", { class: each.own ? "name-prior" : null, x: left + long / 2, y, "text-anchor": "middle" }, each.word));
  });
  const svg = s("svg", { class: "picture", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Generality of ${answer.word} among its neighbours` },
    s("line", { class: "axis", x1: 10, x2: width - 10, y1: middle, y2: middle }), marks,
    s("text", { class: "tick", x: 10, y: height - 4 }, `specific (${figure(low, 1)})`),
    s("text", { class: "tick", x: width - 10, y: height - 4, "text-anchor": "end" }, `general (${figure(high, 1)})`));
  return card("Generality among its neighbours", saves(svg, () => `${answer.word}-generality`), svg);
}
