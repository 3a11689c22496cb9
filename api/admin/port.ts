/**
 * The admin port beside its metrics: commands of `deno task admin` (`POST /admin/v1/run` with
 * `{"args": […]}`), what the operator's page shows (`POST /admin/v1/view`), and that page. Both
 * paths need the operator's own credential as a bearer token: there is no cookie, so a page of
 * another origin has nothing to ride on, and it is refused before the credential is looked at. Only
 * while that port is on loopback: it is plain HTTP.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { z } from "zod";
import { equalBytes } from "../../proto/mod.ts";
import { describeFailure, isLoopback, type Log, type Secret } from "../../server/mod.ts";
import { Fault } from "../domain/fault.ts";
import type { OwnLimiter } from "../domain/rate_limit.ts";
import { AdminRefusal } from "./commands.ts";
import { type ViewQuery, viewQuery } from "./views.ts";

/** A program of this machine, or the page of this port. */
export type AdminWay = "port" | "page";

export interface AdminPortDeps {
  readonly secret: Secret;
  readonly failures: OwnLimiter;
  readonly run: (args: readonly string[], way: AdminWay) => Promise<string>;
  readonly view: (query: ViewQuery) => Promise<object>;
  /** Undefined for what is not its. */
  readonly page: (request: Request) => Promise<Response | undefined>;
  readonly log: Log;
}

interface AdminJob {
  /** The name for the log. */
  readonly name: string | undefined;
  readonly work: () => Promise<object>;
}

const maxBodyBytes = 16 * 1024;
const runBody = z.strictObject({ args: z.array(z.string().max(1024)).max(8) });

/** Undefined for a request that is about something else. */
export function createAdminPort(
  { secret, failures, run, view, page, log }: AdminPortDeps,
): (request: Request) => Promise<Response | undefined> {
  const jobs: Readonly<Record<string, (body: unknown, way: AdminWay) => AdminJob | string>> = {
    "/admin/v1/run": (body, way) => {
      const { data } = runBody.safeParse(body);
      if (data === undefined) return 'Send {"args": ["accounts"]}';
      return { name: data.args[0], work: async () => ({ text: await run(data.args, way) }) };
    },
    "/admin/v1/view": (body) => {
      const { data } = viewQuery.safeParse(body);
      if (data === undefined) return 'Send {"view": "accounts"}';
      return { name: `view ${data.view}`, work: () => view(data) };
    },
  };
  return async (request) => {
    const read = jobs[new URL(request.url).pathname];
    if (read === undefined) return await page(request);
    const refused = refuse(request, { secret, failures });
    if (refused !== undefined) return refused;
    const job = read(await readBody(request), request.headers.has("origin") ? "page" : "port");
    return typeof job === "string" ? answer(400, { error: job }) : await carryOut(job, log);
  };
}

function refuse(
  request: Request,
  { secret, failures }: Pick<AdminPortDeps, "secret" | "failures">,
): Response | undefined {
  if (request.method !== "POST") {
    return answer(405, { error: "This path accepts only POST" }, { Allow: "POST" });
  }
  if (!isOwn(request)) {
    return answer(403, {
      error:
        "This path is for programs of this machine and for this port's own page, not for other pages or other names",
    });
  }
  const given = /^Bearer +(\S+)$/i.exec(request.headers.get("authorization") ?? "")?.[1];
  // Compared first: others' failures must not keep the operator out.
  if (given !== undefined && isSecret(given, secret)) return undefined;
  const { allowed } = failures.take("admin");
  if (!allowed) return answer(429, { error: "Too many wrong credentials; try again later" });
  return answer(401, { error: "Send STATIC_ADMIN_SECRET as the bearer token" }, {
    "WWW-Authenticate": "Bearer",
  });
}

/**
 * A name that an attacker's DNS points to this machine is not loopback, whatever the origin. A
 * browser names the origin of every POST; this port's own page has the same one as the address that
 * it asks.
 */
function isOwn(request: Request): boolean {
  const { origin, hostname } = new URL(request.url);
  const site = request.headers.get("sec-fetch-site") ?? "same-origin";
  return isLoopback(hostname) && site === "same-origin" &&
    (request.headers.get("origin") ?? origin) === origin;
}

async function carryOut({ name, work }: AdminJob, log: Log): Promise<Response> {
  try {
    const json = await work();
    log("info", "admin", { command: name, outcome: "done" });
    return answer(200, json);
  } catch (error) {
    if (error instanceof AdminRefusal) return answer(400, { error: error.message });
    log("error", "admin", { command: name, error: describeFailure(error) });
    const text = error instanceof Fault ? error.message : "It failed";
    return answer(error instanceof Fault ? 503 : 500, { error: text });
  }
}

async function readBody(request: Request): Promise<unknown> {
  if (!/^application\/json\b/.test(request.headers.get("content-type") ?? "")) return undefined;
  if (Number(request.headers.get("content-length") ?? maxBodyBytes + 1) > maxBodyBytes) {
    return undefined;
  }
  try {
    return await request.json();
  } catch {
    return undefined;
  }
}

function answer(status: number, json: object, headers: Record<string, string> = {}): Response {
  const all = { "cache-control": "no-store", "x-content-type-options": "nosniff", ...headers };
  return Response.json(json, { status, headers: all });
}

function isSecret(given: string, secret: Secret): boolean {
  const encoder = new TextEncoder();
  return equalBytes(sha256(encoder.encode(given)), sha256(encoder.encode(secret.reveal())));
}
