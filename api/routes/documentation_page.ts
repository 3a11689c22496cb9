/** The OpenAPI document as one page of plain HTML: no script, nothing loaded from elsewhere. */

/** The parts of an OpenAPI document that the page shows. */
interface Document {
  readonly info: { readonly title: string; readonly description?: string };
  readonly paths?: object;
}

interface DocumentedOperation {
  readonly tags?: readonly string[];
  readonly summary?: string;
  readonly description?: string;
  readonly security?: readonly Record<string, unknown>[];
  readonly requestBody?: { readonly content?: Record<string, { readonly example?: unknown }> };
  readonly responses?: Record<
    string,
    { readonly description?: string; readonly content?: Record<string, { readonly example?: unknown }> }
  >;
}

const style = `
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a; }
  code, pre { font: 14px/1.45 ui-monospace, monospace; background: #f3f4f6; border-radius: 4px; }
  code { padding: 1px 4px; } pre { padding: 12px; overflow-x: auto; }
  h3 { margin: 2rem 0 .25rem; } td { padding: 2px 12px 2px 0; vertical-align: top; }
  .method { text-transform: uppercase; color: #1d4ed8; }
`;

export function renderDocumentation(document: Document): string {
  const operations = Object.entries(document.paths ?? {}).flatMap(([path, methods]) =>
    Object.entries(methods as Record<string, DocumentedOperation>) // cast: made by our own generator
      .map(([method, operation]) => ({ path, method, operation }))
  );
  const tags = [...new Set(operations.flatMap(({ operation }) => operation.tags ?? []))];
  const sections = tags.map((tag) =>
    `<h2>${escape(tag)}</h2>` +
    operations.filter(({ operation }) => operation.tags?.includes(tag)).map(renderOperation).join("")
  );
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escape(document.info.title)}</title><style>${style}</style></head><body>
<h1>${escape(document.info.title)}</h1><p>${prose(document.info.description ?? "")}</p>
<p>For machines: <a href="/openapi.json">openapi.json</a></p>${sections.join("")}</body></html>`;
}

function renderOperation(
  { path, method, operation }: { path: string; method: string; operation: DocumentedOperation },
): string {
  const credential = operation.security?.flatMap((scheme) => Object.keys(scheme))[0];
  const responses = Object.entries(operation.responses ?? {});
  const example = responses.flatMap(([, { content }]) => exampleOf(content))[0];
  return `<h3><code><span class="method">${escape(method)}</span> ${escape(path)}</code></h3>` +
    `<p>${escape(operation.summary ?? "")}. ${prose(operation.description ?? "")}</p>` +
    (credential === undefined
      ? ""
      : `<p>Credential: <code>Authorization: Bearer &lt;${escape(credential)}&gt;</code></p>`) +
    exampleOf(operation.requestBody?.content).map((body) => `<p>Body</p><pre>${json(body)}</pre>`).join("") +
    `<table>${
      responses.map(([status, { description }]) =>
        `<tr><td><code>${escape(status)}</code></td><td>${prose(description ?? "")}</td></tr>`
      ).join("")
    }</table>` +
    (example === undefined ? "" : `<pre>${json(example)}</pre>`);
}

function exampleOf(content: Record<string, { readonly example?: unknown }> | undefined): unknown[] {
  return Object.values(content ?? {}).flatMap(({ example }) => example === undefined ? [] : [example]);
}

function json(value: unknown): string {
  return escape(JSON.stringify(value, null, 2));
}

/** Text with `code` in backticks. */
function prose(text: string): string {
  return escape(text).replaceAll(/`([^`]+)`/g, "<code>$1</code>");
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
