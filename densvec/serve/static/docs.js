// The routes as /openapi.json describes them, each with a field to try it.

import { get, post } from "./api.js";
import { h } from "./dom.js";

const EXAMPLES = {
  "/v1/similar": { positive: "bank", metric: "kl", topn: 5 },
  "/v1/infer": { sentence: "the river [[bank]] was flooded" },
  "/v1/substitutes": { sentence: "the river [[bank]] was flooded", topn: 5 },
  "/v1/entails": { a: "dog", b: "animal" },
  "/v1/hypernyms": { word: "dog", topn: 5 },
  "/v1/hyponyms": { word: "animal", topn: 5 },
  "/v1/tokens": { text: "The river bank was flooded." },
  "/v1/context": { tokens: ["the", "river", "bank", "was", "flooded"], position: 2 },
  "/v1/compare": { a: "dog", b: "animal" },
  "/v1/map": { words: ["dog", "cat", "horse", "bank", "river", "money"] },
  "/v1/word": "word=bank&topn=3",
  "/v1/words": "prefix=ba&topn=5",
};

const named = (document, schema) => (schema?.$ref ? document.components.schemas[schema.$ref.split("/").at(-1)] : schema);

function kind(schema) {
  if (!schema) return "";
  if (schema.$ref) return schema.$ref.split("/").at(-1);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  const several = schema.anyOf ?? schema.oneOf;
  if (several) return several.map(kind).join(" | ");
  if (schema.type === "array") return `list of ${kind(schema.items)}`;
  return schema.type ?? "";
}

function fields(document, operation) {
  const body = operation.requestBody?.content["application/json"]?.schema;
  const question = named(document, body?.oneOf?.find((each) => each.$ref) ?? body);
  const rows = Object.entries(question?.properties ?? {}).map(([name, schema]) => [name, schema, question.required?.includes(name)]);
  for (const parameter of operation.parameters ?? []) rows.push([parameter.name, { ...parameter.schema, description: parameter.description ?? parameter.schema.description }, parameter.required]);
  return rows.map(([name, schema, required]) => h("tr", null, h("td", null, h("code", null, name)), h("td", null, kind(schema)), h("td", null, required ? "needed" : JSON.stringify(schema.default ?? null)), h("td", null, schema.description ?? "")));
}

function trial(path, method) {
  const example = EXAMPLES[path] ?? "";
  const id = `try-${path.replaceAll("/", "-")}`;
  const box = h("textarea", { id, rows: 2, spellcheck: "false" });
  box.value = typeof example === "string" ? example : JSON.stringify(example);
  const out = h("pre", { hidden: true, tabindex: 0, "aria-label": `Answer of ${path}` });
  const run = async () => {
    out.hidden = false;
    try {
      const answer = method === "get" ? await get(path.slice(1), Object.fromEntries(new URLSearchParams(box.value))) : await post(path.slice(1), JSON.parse(box.value));
      out.textContent = JSON.stringify(answer, null, 1);
    } catch (error) {
      out.textContent = error.message;
    }
  };
  return [h("label", { for: id }, method === "get" ? "Query" : "Body"), box, h("p", null, h("button", { type: "button", onclick: run }, "Try it")), out];
}

const main = document.getElementById("main");
try {
  const description = await get("openapi.json");
  main.append(h("p", null, description.info.description.replaceAll("`", "")));
  for (const [path, methods] of Object.entries(description.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const rows = fields(description, operation);
      main.append(h("section", { class: "card route" },
        h("h2", null, h("code", null, `${method.toUpperCase()} ${path}`)), h("p", null, operation.summary),
        operation.description && h("p", { class: "quiet" }, operation.description.replaceAll("`", "")),
        rows.length > 0 && h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `Arguments of ${path}` }, h("table", null, h("thead", null, h("tr", null, ["name", "type", "default", "meaning"].map((title) => h("th", { scope: "col" }, title)))), h("tbody", null, rows))),
        trial(path, method)));
    }
  }
} catch (error) {
  main.append(h("p", { class: "error", role: "alert" }, error.message));
}
