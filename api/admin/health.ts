/** The health of this API and of the relays that it tells clients of, as its operator sees it. */
import { z } from "zod";
import { version } from "../../proto/mod.ts";
import { waits } from "../../server/mod.ts";
import type { Store } from "../domain/store.ts";

export interface PartHealth {
  readonly ok: boolean;
  readonly ms: number;
  /** Why it is not. */
  readonly problem?: string;
}

export interface Health {
  readonly version: string;
  readonly started_at: string;
  readonly database: PartHealth;
  /** Passwords and keys that wait to be hashed. */
  readonly waiting_hashes: number;
  readonly waiting_mail: number;
  readonly relays: readonly (PartHealth & { readonly url: string })[];
}

export interface HealthDeps {
  readonly store: Pick<Store, "ping">;
  readonly startedMs: number;
  readonly waitingHashes: () => number;
  readonly waitingMail: () => number;
  readonly relayUrls: readonly string[];
  /** The authority of a private installation's relay. */
  readonly readCa: () => Promise<string | undefined>;
}

export async function readHealth(deps: HealthDeps): Promise<Health> {
  const ca = await deps.readCa();
  const [database, ...relays] = await Promise.all([
    timed(() => deps.store.ping()),
    ...relayHealthUrls(deps.relayUrls).map(async ({ url, health }) => ({
      url,
      ...await readRelay(health, ca),
    })),
  ]);
  return {
    version,
    started_at: new Date(deps.startedMs).toISOString(),
    database,
    waiting_hashes: deps.waitingHashes(),
    waiting_mail: deps.waitingMail(),
    relays,
  };
}

/**
 * A relay tells of its health over TCP. Where an address for UDP stands alone, the other of its two
 * usual ports is asked, as clients do.
 */
export function relayHealthUrls(
  urls: readonly string[],
): readonly { readonly url: string; readonly health: string | undefined }[] {
  const parsed = urls.map((url) => {
    const [, scheme = "", host = "", port] = /^(\w+):\/\/(.+?)(?::(\d+))?$/.exec(url) ?? [];
    return { url, scheme, host, port: port ?? { quic: "4433", grpc: "5000" }[scheme] ?? "443" };
  });
  const overTcp = new Set(parsed.flatMap(({ scheme, host }) => scheme === "quic" ? [] : [host]));
  return parsed.flatMap(({ url, scheme, host, port }) => {
    if (scheme !== "quic") return [{ url, health: `https://${host}:${port}/health` }];
    if (overTcp.has(host)) return [];
    return [{ url, health: port === "4433" ? `https://${host}:5000/health` : undefined }];
  });
}

async function readRelay(url: string | undefined, ca: string | undefined): Promise<PartHealth> {
  if (url === undefined) return { ok: false, ms: 0, problem: "only its address for UDP is known" };
  return await timed(async () => {
    using client = ca === undefined ? undefined : Deno.createHttpClient({ caCerts: [ca] });
    const response = await fetch(url, {
      redirect: "manual",
      signal: AbortSignal.timeout(waits.relayHealth.ms),
      ...(client !== undefined && { client }),
    });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`its health is ${response.status}`);
    const [problem] = problemsOf(text);
    if (problem !== undefined) throw new Error(problem);
  });
}

/** A relay that is up may lack something that it needs, and says so. */
function problemsOf(text: string): readonly string[] {
  const parsed = health.safeParse(parseJson(text));
  return parsed.success ? parsed.data.problems : [];
}

const health = z.object({ problems: z.array(z.string().max(500)) });

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function timed(work: () => Promise<void>): Promise<PartHealth> {
  const startMs = performance.now();
  const elapsed = (): number => Math.round(performance.now() - startMs);
  try {
    await work();
    return { ok: true, ms: elapsed() };
  } catch (error) {
    return { ok: false, ms: elapsed(), problem: reasonOf(error) };
  }
}

/** The innermost cause: its code, such as ECONNREFUSED, else its words. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  if (error.cause instanceof Error) return reasonOf(error.cause);
  const code: unknown = Reflect.get(error, "code");
  return typeof code === "string" ? code : error.message;
}
