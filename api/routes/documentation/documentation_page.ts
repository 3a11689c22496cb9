/**
 * The OpenAPI document as a page to read and to try: navigation, fields with their constraints,
 * every error with its meaning, samples in three languages, and a form that sends the call.
 * Everything is rendered here, so that the page can be read without its script, and nothing is
 * loaded from elsewhere.
 */
import { errorAdvice } from "../../../proto/base/error_advice.ts";
import { isErrorCode } from "../../../proto/mod.ts";
import { type CodeSample, samplesOf } from "./docs_samples.ts";
import {
  constraintsOf,
  type FieldRow,
  fieldsOf,
  type Schema,
  type Schemas,
  typeOf,
} from "./docs_schema.ts";

/** The parts of an OpenAPI document that the page shows. */
export interface OpenApiDocument {
  readonly info: { readonly title: string; readonly description?: string };
  readonly paths?: object;
  readonly components?: { readonly schemas?: object };
}

interface DocumentContent {
  readonly schema?: Schema;
  readonly example?: unknown;
}

interface DocumentedOperation {
  readonly tags?: readonly string[];
  readonly summary?: string;
  readonly description?: string;
  readonly security?: readonly Record<string, unknown>[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    schema?: Schema;
  }[];
  readonly requestBody?: { readonly content?: Record<string, DocumentContent> };
  readonly responses?: Record<
    string,
    { readonly description?: string; readonly content?: Record<string, DocumentContent> }
  >;
}

interface OperationEntry {
  readonly path: string;
  readonly method: string;
  readonly anchor: string;
  readonly operation: DocumentedOperation;
}

export function renderDocumentation(document: OpenApiDocument, consolePath?: string): string {
  const entries = entriesOf(document);
  // cast: made by our own generator
  const schemas = (document.components?.schemas ?? {}) as Schemas;
  const tags = [...new Set(entries.flatMap(({ operation }) => operation.tags ?? []))];
  const inTag = (tag: string): OperationEntry[] =>
    entries.filter(({ operation }) => operation.tags?.includes(tag));
  const navigation = tags.map((tag) =>
    `<h2>${escape(tag)}</h2><ul>${inTag(tag).map(renderLink).join("")}</ul>`
  ).join(
    "",
  );
  const sections = tags.map((tag) =>
    `<h2 id="${slug(tag)}">${escape(tag)}</h2>${
      inTag(tag).map((entry) => renderEntry(entry, schemas)).join("")
    }`
  ).join("");
  const toConsole = consolePath === undefined ? "" : `<p><a href="${consolePath}">Console</a></p>`;
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${
    escape(document.info.title)
  }</title><link rel="icon" href="/docs/icon.svg" type="image/svg+xml"><link rel="stylesheet" href="/docs/page.css">
<script src="/docs/page.js" defer></script></head><body>
<a class="skip" href="#content">Skip to the content</a>
<nav aria-label="Operations">${toConsole}<label>Filter <input id="filter" type="search" autocomplete="off"></label>${navigation}</nav>
<main id="content"><h1>${escape(document.info.title)}</h1><p>${
    prose(document.info.description ?? "")
  }</p>
<p>For programs: <a href="/openapi.json">openapi.json</a></p>
<label>Your API key, to try calls. It stays in this field, and is sent only to this service.
<input id="key" type="password" autocomplete="off" spellcheck="false" placeholder="sk_live_…"></label>
${sections}</main></body></html>`;
}

function entriesOf({ paths }: OpenApiDocument): OperationEntry[] {
  return Object.entries(paths ?? {}).flatMap(([path, methods]) =>
    // cast: made by our own generator
    Object.entries(methods as Record<string, DocumentedOperation>)
      .map(([method, operation]) => ({
        path,
        method: method.toUpperCase(),
        operation,
        anchor: slug(`${method} ${path}`),
      }))
  );
}

function renderLink({ anchor, method, path, operation }: OperationEntry): string {
  const words = `${method} ${path} ${operation.summary ?? ""}`.toLowerCase();
  return `<li data-words="${escape(words)}"><a href="#${anchor}">${
    escape(operation.summary ?? path)
  }</a></li>`;
}

function renderEntry(entry: OperationEntry, schemas: Schemas): string {
  const { path, method, anchor, operation } = entry;
  const { summary = "", description = "", parameters = [], requestBody, responses = {} } =
    operation;
  const body = contentOf(requestBody?.content);
  const [status = "", success] = Object.entries(responses).find(([code]) => code < "300") ?? [];
  const answer = contentOf(success?.content);
  const named = parameters.map(({ name, in: place, required = false, schema = {} }) => ({
    name: `${name} (${place})`,
    type: typeOf(schema, schemas),
    required,
    constraints: constraintsOf(schema),
    description: schema.description ?? "",
  }));
  const samples = samplesOf({
    method,
    path,
    credential: credentialOf(operation),
    body: body?.example,
    answers: answer !== undefined,
  });
  return `<section id="${anchor}" aria-labelledby="${anchor}-title"><h3 id="${anchor}-title">${
    escape(summary)
  }</h3>` +
    `<p><code><span class="method">${method}</span> ${escape(path)}</code> ${
      renderCredential(operation)
    }</p>` +
    (description === "" ? "" : `<p>${prose(description)}</p>`) +
    renderFields("Parameters", named, "request") +
    renderFields(
      "Body",
      body?.schema === undefined ? [] : fieldsOf(body.schema, schemas),
      "request",
    ) +
    `<h4>Response ${escape(status)}</h4><p>${prose(success?.description ?? "")}</p>` +
    renderFields(
      "",
      answer?.schema === undefined ? [] : fieldsOf(answer.schema, schemas),
      "response",
    ) +
    (answer?.example === undefined ? "" : `<pre>${json(answer.example)}</pre>`) +
    renderErrors(responses) + renderSamples(anchor, samples) + renderForm(entry, body?.example) +
    "</section>";
}

function credentialOf({ security = [] }: DocumentedOperation): "api_key" | "session" | undefined {
  const names = security.flatMap((scheme) => Object.keys(scheme));
  return names.includes("api_key") ? "api_key" : names.includes("session") ? "session" : undefined;
}

function renderCredential(operation: DocumentedOperation): string {
  switch (credentialOf(operation)) {
    case "api_key":
      return '<span class="soft">needs an API key</span>';
    case "session":
      return '<span class="soft">needs a session of the console</span>';
    case undefined:
      return '<span class="soft">needs no credential</span>';
  }
}

/** A request says which fields it needs, a response which ones may be absent. */
function renderFields(
  title: string,
  fields: readonly FieldRow[],
  side: "request" | "response",
): string {
  if (fields.length === 0) return "";
  const mark = (required: boolean): string => {
    if (side === "request") return required ? ' <span class="required">required</span>' : "";
    return required ? "" : ' <span class="soft">optional</span>';
  };
  const rows = fields.map(({ name, type, required, constraints, description }) =>
    `<tr><td><code>${escape(name)}</code>${mark(required)}</td>` +
    `<td>${escape(type)}</td><td>${constraints.map(escape).join("; ")}</td><td>${
      prose(description)
    }</td></tr>`
  );
  return (title === "" ? "" : `<h4>${title}</h4>`) +
    '<div class="wide"><table><thead><tr><th scope="col">field</th><th scope="col">type</th><th scope="col">constraints</th>' +
    `<th scope="col">meaning</th></tr></thead><tbody>${rows.join("")}</tbody></table></div>`;
}

/** The description of a refusal is its codes in backticks. */
function renderErrors(responses: DocumentedOperation["responses"] = {}): string {
  const rows = Object.entries(responses).filter(([status]) => status >= "400").flatMap((
    [status, { description = "" }],
  ) =>
    Array.from(description.matchAll(/`(\w+)`/g), ([, code = ""]) => {
      const { meaning, action } = isErrorCode(code)
        ? errorAdvice[code]
        : { meaning: "", action: "" };
      return `<tr><td>${escape(status)}</td><td><code>${escape(code)}</code></td><td>${
        prose(meaning)
      }</td><td>${prose(action)}</td></tr>`;
    })
  );
  if (rows.length === 0) return "";
  return '<h4>Errors</h4><div class="wide"><table><thead><tr><th scope="col">status</th><th scope="col">code</th>' +
    `<th scope="col">meaning</th><th scope="col">what to do</th></tr></thead><tbody>${
      rows.join("")
    }</tbody></table></div>`;
}

function renderSamples(anchor: string, samples: readonly CodeSample[]): string {
  const id = (language: string): string => `${anchor}-${language.toLowerCase()}`;
  const tabs = samples.map(({ language }, index) =>
    `<button type="button" role="tab" data-language="${language}" aria-controls="${
      id(language)
    }" ` +
    `aria-selected="${index === 0}" tabindex="${index === 0 ? 0 : -1}">${language}</button>`
  );
  const panels = samples.map(({ language, code }, index) =>
    `<pre id="${id(language)}" role="tabpanel" tabindex="0"${index === 0 ? "" : " hidden"}>${
      escape(code)
    }</pre>`
  );
  return `<h4>Sample</h4><div role="tablist" aria-label="Language">${tabs.join("")}</div>${
    panels.join("")
  }`;
}

/** Calls with a console's session are not sent from here: the page sends no cookies. */
function renderForm({ path, method, operation }: OperationEntry, example: unknown): string {
  const credential = credentialOf(operation);
  if (credential === "session") return "";
  const inputs = (operation.parameters ?? []).map(({ name, in: place, required = false }) =>
    `<label>${escape(name)} <input name="${escape(name)}" data-in="${escape(place)}"${
      required ? " required" : ""
    } autocomplete="off"></label>`
  );
  const body = example === undefined
    ? ""
    : `<label>Body <textarea spellcheck="false">${json(example)}</textarea></label>`;
  return `<details><summary>Try it</summary><form data-method="${method}" data-path="${
    escape(path)
  }" ` +
    `data-credential="${credential ?? "none"}">${inputs.join("")}${body}<button>Send</button>` +
    '<pre><output aria-live="polite"></output></pre></form></details>';
}

function contentOf(
  content: Record<string, DocumentContent> | undefined,
): DocumentContent | undefined {
  return Object.values(content ?? {})[0];
}

function slug(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
}

function json(value: unknown): string {
  return escape(JSON.stringify(value, null, 2));
}

/** Text with `code` in backticks; of a link to a page of the repository, its words. */
function prose(text: string): string {
  return escape(text).replaceAll(/\[([^\]]+)\]\([^)]+\)/g, "$1").replaceAll(
    /`([^`]+)`/g,
    "<code>$1</code>",
  );
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll(
    '"',
    "&quot;",
  );
}
