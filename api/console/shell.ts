/**
 * The page that every address of the console begins with, and the headers of all its files. The
 * policy lets it load what this API serves and talk to this API and its relays, and nothing else:
 * no inline code or style, no frame, no other origin.
 */
import {
  answerFile,
  type ConsoleFiles,
  createFile,
  type FileAnswer,
  type FileQuestion,
} from "./files.ts";

/** `relayUrls` are what clients are told. */
export function consolePolicy(relayUrls: readonly string[]): string {
  const relays = relayUrls.flatMap(relayOrigins);
  return [
    "default-src 'none'",
    "script-src 'self' 'wasm-unsafe-eval'",
    "style-src 'self'",
    "img-src 'self'",
    "font-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    `connect-src ${["'self'", ...new Set(relays)].join(" ")}`,
  ].join("; ");
}

/**
 * A browser reaches `quic:` and `grpc:` addresses by `https:`. As in the SDK, a relay's two usual
 * ports belong together: where UDP is blocked it goes on at the other one.
 */
function relayOrigins(url: string): string[] {
  const [, scheme = "", host = "", digits] = /^(\w+):\/\/(.+?)(?::(\d+))?$/.exec(url) ?? [];
  const port = digits ?? (scheme === "quic" ? "4433" : scheme === "grpc" ? "5000" : "443");
  return [...new Set([port, ...(port === "4433" ? ["5000"] : port === "5000" ? ["4433"] : [])])]
    .map((each) => `https://${host}:${each}`);
}

/** Workers too: a worker obeys the policy of its own file, not that of the page that starts it. */
export function consoleHeaders(policy: string): Readonly<Record<string, string>> {
  return {
    "content-security-policy": policy,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "x-robots-tag": "noindex",
  };
}

export interface ShellOptions {
  readonly title: string;
  readonly script: string;
  /** Where the files are. */
  readonly base: string;
}

const type = "text/html; charset=utf-8";

/** The page, or its words that it was not built. */
export type ConsoleShell = (asked: FileQuestion) => Promise<FileAnswer>;

export function createShell(files: ConsoleFiles, options: ShellOptions): ConsoleShell {
  const shell = createFile(type, renderShell(options));
  return async (asked) =>
    await files.find(options.script) === undefined ? notBuilt : answerFile(await shell, asked);
}

const notBuilt: FileAnswer = {
  status: 503,
  headers: { "cache-control": "no-store", "content-type": type },
  body: new TextEncoder().encode(`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Static</title></head>
<body><h1>This page is not built</h1>
<p>Run <code>deno task build</code> in the repository of Static, where this API runs, and load this page again.
Everything else of the API works.</p></body>
</html>
`),
};

/** Two files are needed by every script, so they are asked for at once. */
function renderShell({ title, script, base }: ShellOptions): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="${base}/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${base}/console.css">
<link rel="modulepreload" href="${base}/ui.js">
<link rel="modulepreload" href="${base}/shared.js">
<script type="module" src="${base}/${script}"></script>
</head>
<body>
<div id="app"><main class="alone"><h1>${title}</h1>
<noscript><p>This page needs JavaScript. Without it, <code>static --help</code> has the same in a terminal
(<code>static channel join</code> takes a link; <code>deno task install</code> in the repository of Static installs it), and
<a href="/docs">the API's page</a> tells what programs can ask.</p></noscript></main></div>
</body>
</html>
`;
}
