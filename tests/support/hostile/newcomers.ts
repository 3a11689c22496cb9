/**
 * Honest clients that nobody has seen before: each call comes from an address of its own, on a
 * connection of its own.
 */
import { createCall, signUp, type TestApi } from "../api/harness.ts";
import type { HonestCall } from "./honest_tenant.ts";

export interface Newcomers {
  readonly url: string;
  readonly caCerts?: string[];
  /** Of so many calls one is a sign-up and one a login; the others ask for a token. */
  readonly passwordsEvery: number;
}

/** Addresses of loopback, as `127.2.0.1`. Attackers have others. */
export function addressOf(network: number, index: number): string {
  return `127.${network}.${Math.floor(index / 250)}.${index % 250 + 1}`;
}

/** Has an account first. */
export async function createNewcomers(
  { url, caCerts = [], passwordsEvery }: Newcomers,
): Promise<HonestCall> {
  let calls = 0;
  const asNewcomer = async (use: (call: TestApi["call"]) => Promise<void>): Promise<void> => {
    using client = Deno.createHttpClient({
      caCerts,
      localAddress: addressOf(2, calls++),
      poolMaxIdlePerHost: 0,
    });
    await use(createCall(url, { client }));
  };
  using first = Deno.createHttpClient({ caCerts });
  const { email, password, apiKey } = await signUp(createCall(url, { client: first }));
  return () =>
    asNewcomer(async (call) => {
      const turn = calls % passwordsEvery;
      if (turn === 0) return void await signUp(call);
      const { status, text } = turn === Math.floor(passwordsEvery / 2)
        ? await call("POST", "/v1/accounts/keys", { body: { email, password } })
        : await call("POST", "/v1/tokens", { key: apiKey });
      if (status !== 200 && status !== 201) throw new Error(`${status} ${text}`);
    });
}
