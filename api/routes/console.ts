/** `/console`: the page and its files. None of it is about anybody, so browsers may keep it and ask whether it is current. */
import {
  answerFile,
  type ConsoleFile,
  type ConsoleFiles,
  consoleHeaders,
  consolePolicy,
  createFile,
  renderShell,
} from "../console/mod.ts";
import type { ApiContext } from "./context.ts";
import { notFound } from "./errors.ts";
import type { Router } from "./operation.ts";

export const consolePath = "/console";
const assetsPath = `${consolePath}/assets`;
const pages = ["", "/keys", "/account", "/live"];

export interface ConsoleDeps {
  /** Undefined: there is no console. */
  readonly consoleFiles: ConsoleFiles | undefined;
  readonly discovery: { readonly relayUrls: readonly string[] };
}

export function addConsoleRoutes(router: Router, { consoleFiles, discovery }: ConsoleDeps): void {
  if (consoleFiles === undefined) return;
  const headers = consoleHeaders(consolePolicy(discovery.relayUrls));
  const answerShell = createShell(discovery);
  router.addPage("/", (c) => c.redirect(consolePath, 302));
  for (const page of pages) router.addPage(`${consolePath}${page}`, (c) => answerShell(c));
  router.addPage(`${assetsPath}/{name}`, async (c) => {
    const file = await consoleFiles.find(c.req.param("name") ?? "");
    return file === undefined ? notFound(c) : answer(c, file, headers);
  });
  // A page that there is not says so itself, to people.
  router.hono.get(`${consolePath}/*`, (c) => {
    c.set("route", `${consolePath}/*`);
    return answerShell(c, { isFound: false });
  });
}

type Shell = (c: ApiContext, options?: { readonly isFound: boolean }) => Promise<Response>;

/** The page that all addresses of the console begin with. */
export function createShell({ relayUrls }: ConsoleDeps["discovery"]): Shell {
  const headers = consoleHeaders(consolePolicy(relayUrls));
  const shell = createFile(
    "text/html; charset=utf-8",
    renderShell({ title: "Static", script: "console.js", base: assetsPath }),
  );
  return async (c, { isFound } = { isFound: true }) => answer(c, await shell, headers, isFound);
}

function answer(
  c: ApiContext,
  file: ConsoleFile,
  policy: Readonly<Record<string, string>>,
  isFound = true,
): Response {
  const asked = { encodings: c.req.header("accept-encoding"), known: c.req.header("if-none-match"), isFound };
  const { status, headers, body } = answerFile(file, asked);
  const all = { ...policy, ...headers };
  return body === null ? c.body(null, status, all) : c.body(body, isFound ? 200 : 404, all);
}
