/**
 * The part of the HTTP API that a relay needs, with the key in the test's hands: it can sign what
 * the API never would. Every account has as many messages as it likes, and they are counted.
 */
import { type CryptoKey, exportJWK, generateKeyPair } from "jose";
import type { AccountChanges } from "../../../proto/api/changes.ts";
import type {
  LeaseReportBatch,
  LeaseReportResults,
  LeaseRequest,
  LeaseResponse,
} from "../../../proto/api/lease.ts";
import { encodeBase64url } from "../../../proto/mod.ts";

export interface KeyServer extends AsyncDisposable {
  readonly url: string;
  /**
   * A token of this account. `claims` is JSON text of further members, as it stands: `"exp":1e400`.
   */
  sign(account: string, claims?: string): Promise<string>;
  /** Messages that the relay has reported for this account. */
  used(account: string): number;
}

const kid = "test";
const hourS = 3_600;
const quietMs = 500;

export async function startKeyServer(): Promise<KeyServer> {
  const { publicKey, privateKey } = await generateKeyPair("EdDSA", {
    crv: "Ed25519",
    extractable: true,
  });
  const keys = [{ ...await exportJWK(publicKey), kid, alg: "EdDSA", use: "sig" }];
  const leases = new GenerousLeases();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      const { pathname } = new URL(request.url);
      if (pathname === "/.well-known/jwks.json") return Response.json({ keys });
      if (pathname === "/internal/v1/changes") return Response.json(await changesOf(request));
      if (request.method === "GET") return Response.json({ leases: [] });
      const body = await request.json();
      return Response.json(pathname.endsWith("/reports") ? leases.report(body) : leases.take(body));
    },
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    sign: (account, claims) => sign(privateKey, account, claims),
    used: (account) => leases.used(account),
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** Nothing ever happens to an account: a relay that waits for a change is told so after a while. */
async function changesOf(request: Request): Promise<AccountChanges> {
  if (!new URL(request.url).searchParams.has("after")) {
    return { after: 0, suspended: [], deleted: [], changes: [] };
  }
  // wait: as the API does
  await new Promise((resolve) => setTimeout(resolve, quietMs));
  return { after: 0, changes: [] };
}

class GenerousLeases {
  readonly #accounts = new Map<string, string>();
  readonly #consumed = new Map<string, number>();

  take({ account_id, messages }: LeaseRequest): LeaseResponse {
    const id = crypto.randomUUID();
    this.#accounts.set(id, account_id);
    const [nowMs, fence] = [Date.now(), this.#accounts.size];
    const at = (ms: number): string => new Date(ms).toISOString();
    const lease = {
      id,
      fence,
      account_id,
      granted: messages,
      consumed: 0,
      expires_at: at(nowMs + hourS * 1_000),
    };
    return {
      lease,
      plan: "free",
      period: { start: at(nowMs), end: at(nowMs + 30 * 24 * hourS * 1_000) },
    };
  }

  report({ reports }: LeaseReportBatch): LeaseReportResults {
    for (const { lease_id, consumed } of reports) this.#consumed.set(lease_id, consumed);
    return { results: reports.map(({ lease_id }) => ({ lease_id, outcome: "accepted" as const })) };
  }

  used(account: string): number {
    let used = 0;
    for (const [id, consumed] of this.#consumed) {
      if (this.#accounts.get(id) === account) used += consumed;
    }
    return used;
  }
}

/** By hand, because a library refuses to write some of the numbers that an attacker may. */
async function sign(key: CryptoKey, account: string, claims?: string): Promise<string> {
  const nowS = Math.floor(Date.now() / 1_000);
  const part = (json: string): string => encodeBase64url(new TextEncoder().encode(json));
  const standard = `"sub":"${account}","plan":"free","iss":"static-api","iat":${nowS},"exp":${
    nowS + hourS
  }`;
  // The last of two members of one name counts.
  const body = `{${standard}${claims === undefined ? "" : `,${claims}`}}`;
  const signed = `${part(JSON.stringify({ alg: "EdDSA", typ: "JWT", kid }))}.${part(body)}`;
  const signature = await crypto.subtle.sign("Ed25519", key, new TextEncoder().encode(signed));
  return `${signed}.${encodeBase64url(new Uint8Array(signature))}`;
}
