/**
 * `/console`: the page and its files. None of it is about anybody, so browsers may keep it and ask
 * whether it is current.
 */
import {
  answerFile,
  type ConsoleFiles,
  consoleHeaders,
  consolePolicy,
  createShell,
  type FileAnswer,
  type FileQuestion,
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
  const answerPage = createPage(consoleFiles, discovery);
  router.addPage("/", (c) => c.redirect(consolePath, 302));
  for (const page of pages) router.addPage(`${consolePath}${page}`, (c) => answerPage(c));
  router.addPage(`${assetsPath}/{name}`, async (c) => {
    const file = await consoleFiles.find(c.req.param("name") ?? "");
    return file === undefined ? notFound(c) : answer(c, answerFile(file, questionOf(c)), headers);
  });
  // A page that there is not says so itself, to people.
  router.hono.get(`${consolePath}/*`, (c) => {
    c.set("route", `${consolePath}/*`);
    return answerPage(c, { isFound: false });
  });
}

type PageHandler = (c: ApiContext, options?: { readonly isFound: boolean }) => Promise<Response>;

/** The page that all addresses of the console begin with. */
export function createPage(
  files: ConsoleFiles,
  { relayUrls }: ConsoleDeps["discovery"],
): PageHandler {
  const headers = consoleHeaders(consolePolicy(relayUrls));
  const answerShell = createShell(files, {
    title: "Static",
    script: "console.js",
    base: assetsPath,
  });
  return async (c, { isFound } = { isFound: true }) =>
    answer(c, await answerShell({ ...questionOf(c), isFound }), headers);
}

function questionOf(c: ApiContext): FileQuestion {
  return { encodings: c.req.header("accept-encoding"), known: c.req.header("if-none-match") };
}

function answer(
  c: ApiContext,
  { status, headers, body }: FileAnswer,
  policy: Readonly<Record<string, string>>,
): Response {
  return c.newResponse(body, status, { ...policy, ...headers });
}
