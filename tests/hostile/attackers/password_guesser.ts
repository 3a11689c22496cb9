/**
 * Wrong passwords for accounts that may not exist, from many addresses of this machine's loopback
 * network at once.
 */
import { attack } from "../../support/hostile/attack.ts";

export interface GuesserOrder {
  readonly url: string;
  /** Where it comes from, as `127.0.1.7`. */
  readonly addresses: readonly string[];
  /** Guesses under way at once, from each address. */
  readonly parallel: number;
  /** Between a guess and the next. */
  readonly pauseMs: number;
}

/** How often each status was the answer. */
export type GuesserReport = Readonly<Record<string, number>>;

async function statusOf(call: () => Promise<Response>): Promise<string> {
  try {
    const response = await call();
    await response.text();
    return String(response.status);
  } catch {
    return "failed";
  }
}

await attack<GuesserOrder, GuesserReport>(async ({ url, addresses, parallel, pauseMs }, stop) => {
  const statuses: Record<string, number> = {};
  const guess = async (client: Deno.HttpClient): Promise<void> => {
    while (!stop.aborted) {
      const body = JSON.stringify({
        email: `${crypto.randomUUID()}@example.com`,
        password: "a wrong guess",
      });
      const headers = { "content-type": "application/json" };
      const status = await statusOf(() =>
        fetch(`${url}/v1/accounts/keys`, { method: "POST", body, headers, client, signal: stop })
      );
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs)); // wait: a pace
    }
  };
  await Promise.all(addresses.map(async (localAddress) => {
    using client = Deno.createHttpClient({ localAddress });
    await Promise.all(Array.from({ length: parallel }, () => guess(client)));
  }));
  return statuses;
});
