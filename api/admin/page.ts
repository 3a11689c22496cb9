/**
 * The page of operators on the admin port. It has no secret in it and asks for the operator's; the
 * browser is told by the same policy as for the console what it may do.
 */
import { isLoopback } from "../../server/mod.ts";
import {
  answerFile,
  type ConsoleFiles,
  consoleHeaders,
  consolePolicy,
  createShell,
  type FileAnswer,
  type FileQuestion,
} from "../console/mod.ts";

const base = "/admin";
const assets = `${base}/assets/`;
const calls = `${base}/v1/`;
const pages = [base, ...["limits", "health", "audit"].map((page) => `${base}/${page}`)];

/**
 * Returns undefined for a request that is about something else, and for one under another name than
 * this machine's.
 */
export function createOperatorPage(
  files: ConsoleFiles,
): (request: Request) => Promise<Response | undefined> {
  const policy = consoleHeaders(consolePolicy([]));
  const answerShell = createShell(files, {
    title: "Static operator",
    script: "operator.js",
    base: assets.slice(0, -1),
  });
  const respond = ({ status, headers, body }: FileAnswer): Response =>
    new Response(body, { status, headers: { ...policy, ...headers } });
  return async (request) => {
    const { pathname, hostname } = new URL(request.url);
    if (!["GET", "HEAD"].includes(request.method) || !isLoopback(hostname)) return undefined;
    if (pathname === "/") return new Response(null, { status: 302, headers: { location: base } });
    if (pathname !== base && (!pathname.startsWith(`${base}/`) || pathname.startsWith(calls))) {
      return undefined;
    }
    const isAsset = pathname.startsWith(assets);
    const asked: FileQuestion = {
      encodings: request.headers.get("accept-encoding") ?? undefined,
      known: request.headers.get("if-none-match") ?? undefined,
    };
    if (!isAsset) {
      return respond(await answerShell({ ...asked, isFound: pages.includes(pathname) }));
    }
    const file = await files.find(pathname.slice(assets.length));
    return file === undefined ? undefined : respond(answerFile(file, asked));
  };
}
