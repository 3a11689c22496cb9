/**
 * A tenant with a good key that sends several times what its account may, and takes no notice of
 * refusals.
 */
import { attack } from "../../support/hostile/attack.ts";

export interface NoisyOrder {
  readonly url: string;
  readonly apiKey: string;
  readonly localAddress: string;
  readonly perSecond: number;
}

/** How often each status was the answer. */
export type NoisyReport = Readonly<Record<string, number>>;

await attack<NoisyOrder, NoisyReport>(async ({ url, apiKey, localAddress, perSecond }, stop) => {
  using client = Deno.createHttpClient({ localAddress });
  const statuses: Record<string, number> = {};
  const headers = { authorization: `Bearer ${apiKey}` };
  const call = async (): Promise<void> => {
    const status = await fetch(`${url}/v1/tokens`, {
      method: "POST",
      headers,
      client,
      signal: stop,
    })
      .then((response) => response.text().then(() => String(response.status)))
      .catch(() => "failed");
    statuses[status] = (statuses[status] ?? 0) + 1;
  };
  const calls = new Set<Promise<void>>();
  const timer = setInterval(() => {
    const running = call().finally(() => calls.delete(running));
    calls.add(running);
  }, 1_000 / perSecond);
  await new Promise((resolve) => stop.addEventListener("abort", resolve));
  clearInterval(timer);
  await Promise.all(calls);
  return statuses;
});
