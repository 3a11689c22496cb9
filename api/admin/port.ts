/**
 * The commands of `deno task admin` on the admin port: `POST /admin/v1/run` with `{"args": […]}` and a credential of its own.
 * Only while that port is on loopback: it is plain HTTP.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { z } from "zod";
import { equalBytes } from "../../proto/mod.ts";
import { describeFailure, isLoopback, type Log, type Secret } from "../../server/mod.ts";
import { Fault } from "../domain/fault.ts";
import type { RateLimiter } from "../domain/rate_limit.ts";
import { AdminRefusal } from "./commands.ts";

export interface AdminPortDeps {
  readonly secret: Secret;
  readonly failures: RateLimiter;
  readonly run: (args: readonly string[]) => Promise<string>;
  readonly log: Log;
}

const path = "/admin/v1/run";
const maxBodyBytes = 16 * 1024;
const body = z.strictObject({ args: z.array(z.string().max(1024)).max(8) });

/** Undefined for a request that is about something else. */
export function createAdminPort(
  { secret, failures, run, log }: AdminPortDeps,
): (request: Request) => Promise<Response | undefined> {
  return async (request) => {
    if (new URL(request.url).pathname !== path) return undefined;
    if (request.method !== "POST") return answer(405, { error: "This path answers POST" }, { Allow: "POST" });
    if (request.headers.has("origin") || !isLoopback(new URL(request.url).hostname)) {
      return answer(403, { error: "This path is for programs of this machine, not for pages or other hosts' names" });
    }
    const given = /^Bearer +(\S+)$/i.exec(request.headers.get("authorization") ?? "")?.[1];
    // Compared first: others' failures must not keep the operator out.
    if (given === undefined || !isSecret(given, secret)) {
      const { allowed } = failures.take("admin");
      if (!allowed) return answer(429, { error: "Too many wrong credentials; try again later" });
      return answer(401, { error: "Send STATIC_ADMIN_SECRET as the bearer token" }, { "WWW-Authenticate": "Bearer" });
    }
    const args = await readArgs(request);
    if (args === undefined) return answer(400, { error: 'Send {"args": ["accounts"]}' });
    try {
      const text = await run(args);
      log("info", "admin", { command: args[0], outcome: "done" });
      return answer(200, { text });
    } catch (error) {
      if (error instanceof AdminRefusal) return answer(400, { error: error.message });
      log("error", "admin", { command: args[0], error: describeFailure(error) });
      return answer(error instanceof Fault ? 503 : 500, {
        error: error instanceof Fault ? error.message : "It failed",
      });
    }
  };
}

async function readArgs(request: Request): Promise<readonly string[] | undefined> {
  if (!/^application\/json\b/.test(request.headers.get("content-type") ?? "")) return undefined;
  if (Number(request.headers.get("content-length") ?? maxBodyBytes + 1) > maxBodyBytes) return undefined;
  try {
    const parsed = body.safeParse(await request.json());
    return parsed.success ? parsed.data.args : undefined;
  } catch {
    return undefined;
  }
}

function answer(status: number, json: object, headers: Record<string, string> = {}): Response {
  return Response.json(json, { status, headers: { "cache-control": "no-store", ...headers } });
}

function isSecret(given: string, secret: Secret): boolean {
  const encoder = new TextEncoder();
  return equalBytes(sha256(encoder.encode(given)), sha256(encoder.encode(secret.reveal())));
}
