/** Which of the test's nodes leads a cluster's log, as the nodes themselves say. */
import { eventually } from "./eventually.ts";
import type { TestNats } from "./nats.ts";

/** An election, on a machine that has much else to do. */
const electedMs = 300_000;

interface StreamDetail {
  readonly name: string;
  readonly cluster?: { readonly leader?: string };
}

/** The node's number, from 0. Waits while there is none. */
export async function leaderOf({ access, ask }: TestNats, prefix: string): Promise<number> {
  const find = async (): Promise<number> => {
    for (const node of access.urls.keys()) {
      const answer = await ask(node, "/jsz?streams=true").catch(() => ({}));
      const accounts: readonly { readonly stream_detail?: readonly StreamDetail[] }[] =
        answer.account_details ?? [];
      const streams = accounts.flatMap(({ stream_detail = [] }) => stream_detail);
      const leader = streams.find(({ name }) => name === `${prefix}_LOG`)?.cluster?.leader;
      if (leader !== undefined && leader !== "") return Number(leader.match(/\d+$/)) - 1;
    }
    return -1;
  };
  return await eventually(
    { withinMs: electedMs, what: "the log has a leader" },
    find,
    (node) => node >= 0,
  );
}
