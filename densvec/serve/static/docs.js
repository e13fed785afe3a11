// The routes as /openapi.json describes them.

import { get } from "./api.js";
import { h } from "./dom.js";

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
        rows.length > 0 && h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `Arguments of ${path}` }, h("table", null, h("thead", null, h("tr", null, ["name", "type", "default", "meaning"].map((title) => h("th", { scope: "col" }, title)))), h("tbody", null, rows)))));
    }
  }
} catch (error) {
  main.append(h("p", { class: "error", role: "alert" }, error.message));
}
