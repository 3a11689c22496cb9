/** `/console`: the page and its files. None of it is about anybody, so browsers may keep it and ask whether it is current. */
import {
  type Body,
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
const pages = ["", "/keys", "/account", "/channels", "/live"];

export interface ConsoleDeps {
  /** Undefined: there is no console. */
  readonly consoleFiles: ConsoleFiles | undefined;
  readonly discovery: { readonly relayUrls: readonly string[] };
}

export function addConsoleRoutes(router: Router, { consoleFiles, discovery }: ConsoleDeps): void {
  if (consoleFiles === undefined) return;
  const headers = consoleHeaders(consolePolicy(discovery.relayUrls));
  const shell = createFile(
    "text/html; charset=utf-8",
    renderShell({ title: "Static", script: "console.js", base: assetsPath }),
  );
  router.addPage("/", (c) => c.redirect(consolePath, 302));
  for (const page of pages) {
    router.addPage(`${consolePath}${page}`, async (c) => answerFile(c, await shell, headers));
  }
  router.addPage(`${assetsPath}/{name}`, async (c) => {
    const file = await consoleFiles.find(c.req.param("name") ?? "");
    return file === undefined ? notFound(c) : answerFile(c, file, headers);
  });
}

function answerFile(c: ApiContext, file: ConsoleFile, headers: Readonly<Record<string, string>>): Response {
  const { etag, bytes } = acceptsGzip(c) ? file.gzip : file.plain;
  const all = {
    ...headers,
    // The runtime would compress it again in its own way, and make the ETag a weak one.
    "cache-control": "no-cache, no-transform",
    etag,
    vary: "Accept-Encoding, Origin",
  };
  if (isKnown(c, etag)) return c.body(null, 304, all);
  return c.body(bytes, 200, {
    ...all,
    "content-type": file.type,
    ...(bytes === file.gzip.bytes && { "content-encoding": "gzip" }),
  });
}

function isKnown(c: ApiContext, etag: Body["etag"]): boolean {
  const known = c.req.header("if-none-match");
  return known !== undefined && known.split(",").some((each) => ["*", etag].includes(each.trim().replace(/^W\//, "")));
}

function acceptsGzip(c: ApiContext): boolean {
  return (c.req.header("accept-encoding") ?? "").split(",").some((each) => {
    const [name = "", quality = ""] = each.trim().split(/\s*;\s*/);
    return name.toLowerCase() === "gzip" && !/^q=0(\.0*)?$/.test(quality);
  });
}
