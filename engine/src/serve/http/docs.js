// Shows the server's OpenAPI document, and tries what it describes.
"use strict";

const made = (name, text, ...children) => {
  const node = document.createElement(name);
  if (text) node.textContent = text;
  node.append(...children);
  return node;
};

const named = (spec, schema) => {
  let found = schema;
  for (let hops = 0; found?.$ref && hops < 20; hops++) found = spec.components.schemas[found.$ref.split("/").pop()];
  return found ?? {};
};

const kind = (schema) => {
  if (schema.$ref) return schema.$ref.split("/").pop();
  const ways = schema.oneOf ?? schema.anyOf;
  if (ways) return ways.map(kind).join(" or ");
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" or ");
  if (schema.type === "array") return `list of ${kind(schema.items ?? {})}`;
  return [].concat(schema.type ?? "anything").join(" or ");
};

const rows = (spec, schema, depth = 0) => {
  const table = made("table");
  const whole = named(spec, schema);
  for (const [name, field] of Object.entries(whole.properties ?? {})) {
    const needed = whole.required?.includes(name) ? "" : " (optional)";
    const text = made("td", field.description ?? named(spec, field).description ?? "");
    const inner = field.$ref ?? (field.oneOf ?? []).find((way) => way.$ref)?.$ref ?? field.items?.$ref;
    if (inner && depth < 3) text.append(rows(spec, { $ref: inner }, depth + 1));
    table.append(made("tr", "", made("td", "", made("code", name)), made("td", kind(field) + needed), text));
  }
  return table;
};

const example = (spec, schema, depth = 0) => {
  const whole = named(spec, schema);
  if (whole.example !== undefined) return whole.example;
  if (whole.type === "array") return depth < 3 ? [example(spec, whole.items ?? {}, depth + 1)] : [];
  if (whole.properties) {
    const fields = Object.entries(whole.properties);
    const shown = fields.filter(([name, field]) => whole.required?.includes(name) || field.example !== undefined);
    return Object.fromEntries(shown.map(([name, field]) => [name, example(spec, field, depth + 1)]));
  }
  return whole.enum?.[0] ?? (whole.type === "integer" ? whole.minimum ?? 0 : "");
};

const trial = (spec, method, path, operation) => {
  const box = made("div");
  const inputs = new Map();
  for (const parameter of operation.parameters ?? []) {
    const input = made("input");
    inputs.set(parameter, input);
    box.append(made("label", `${parameter.name}${parameter.required ? "" : " (optional)"}: ${parameter.description ?? ""} `, input));
  }
  const content = operation.requestBody?.content?.["application/json"];
  const body = content ? made("textarea", JSON.stringify(example(spec, content.schema), null, 2)) : null;
  if (body) box.append(rows(spec, content.schema), body);
  const button = made("button", "Try");
  const answer = made("pre");
  answer.hidden = true;
  button.onclick = async () => {
    let target = path.slice(1);
    const query = new URLSearchParams();
    for (const [parameter, input] of inputs) {
      if (parameter.in === "path") target = target.replace(`{${parameter.name}}`, encodeURIComponent(input.value));
      else if (input.value) query.set(parameter.name, input.value);
    }
    const headers = {};
    const token = document.getElementById("token").value;
    if (token) headers.authorization = `Bearer ${token}`;
    if (body) headers["content-type"] = "application/json";
    answer.hidden = false;
    answer.textContent = "…";
    try {
      const response = await fetch(target + (query.size ? `?${query}` : ""), { method, headers, body: body?.value });
      const text = await response.text();
      let shown = text;
      try { shown = JSON.stringify(JSON.parse(text), null, 2); } catch { /* not JSON: as it came */ }
      answer.textContent = `${response.status}\n${shown}`;
    } catch (error) {
      answer.textContent = String(error);
    }
  };
  box.append(button, answer);
  return box;
};

const show = (spec) => {
  document.getElementById("title").textContent = `${spec.info.title} ${spec.info.version}`;
  document.getElementById("about").textContent = spec.info.description;
  const groups = new Map();
  for (const [path, methods] of Object.entries(spec.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const details = made("details");
      const name = made("b", method.toUpperCase());
      details.append(made("summary", "", name, made("code", path), made("span", `  ${operation.summary ?? ""}`)));
      details.append(made("p", operation.description ?? ""), trial(spec, method.toUpperCase(), path, operation));
      for (const [status, response] of Object.entries(operation.responses ?? {})) {
        details.append(made("p", `${status}: ${response.description}`));
        const schema = response.content?.["application/json"]?.schema;
        if (schema) details.append(rows(spec, schema));
      }
      const tag = operation.tags?.[0] ?? "other";
      if (!groups.has(tag)) groups.set(tag, []);
      groups.get(tag).push(details);
    }
  }
  const main = document.getElementById("paths");
  for (const [tag, all] of groups) main.append(made("h2", tag), ...all);
};

fetch("openapi.json").then((response) => response.json()).then(show);
