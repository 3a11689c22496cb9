import { assert, assertEquals } from "@std/assert";
import { originOf } from "../limits/mod.ts";
import { defaultBudgets } from "./budgets.ts";
import type { RequestStanding } from "./handler.ts";
import { type PeerBudget, PeerBudgets, type StrangerCall } from "./peer_budgets.ts";
import { balancerAddress } from "./proxy_header.ts";

const share = 4;
/** One address of each /64 of a /56. */
const networks = Array.from(
  { length: 256 },
  (_, i) => `2001:db8:7:12${i.toString(16).padStart(2, "0")}::1`,
);
const neighbour = "2001:db8:7:1300::1";

function createPeers(): { peers: PeerBudgets; time: { nowMs: number } } {
  const time = { nowMs: 0 };
  return { peers: new PeerBudgets(defaultBudgets, () => time.nowMs), time };
}

function count(tries: number, does: (i: number) => boolean): number {
  return Array.from({ length: tries }, (_, i) => does(i)).filter(Boolean).length;
}

/** The status of a refusal. A call that begins ends at once. */
function refusalOf(peer: PeerBudget, standing: RequestStanding): number | undefined {
  const { refused, call } = peer.begin(standing, () => {});
  call?.ended();
  return refused;
}

function admits(peer: PeerBudget, standing: RequestStanding): boolean {
  return refusalOf(peer, standing) === undefined;
}

Deno.test("a /56 of IPv6 opens as many sockets as four addresses, from however many of its networks", () => {
  const { peers } = createPeers();
  const { burst } = defaultBudgets.socketsPerAddress;
  const every = (i: number): string => networks[i % networks.length] ?? "";
  assertEquals(count(20 * burst, (i) => peers.of(every(i)).admitsSocket()), share * burst);
  assert(peers.of(neighbour).admitsSocket());
  assert(peers.of("192.0.2.1").admitsSocket());
});

Deno.test("an address that rested opens no more sockets at once than its burst", () => {
  const { peers, time } = createPeers();
  peers.of("192.0.2.1").admitsSocket();
  time.nowMs = 60_000;
  const { burst } = defaultBudgets.socketsPerAddress;
  assertEquals(count(4 * burst, () => peers.of("192.0.2.1").admitsSocket()), burst);
});

Deno.test("an address whose network has no sockets left keeps its own", () => {
  const { peers, time } = createPeers();
  const { burst, perSecond } = defaultBudgets.socketsPerAddress;
  const [first = "", last = ""] = [networks[0], networks.at(-1)];
  count(share * burst, (i) => peers.of(networks[i % 128] ?? "").admitsSocket());
  assertEquals(count(burst, () => peers.of(last).admitsSocket()), 0);
  time.nowMs = burst * 1_000 / (share * perSecond);
  assertEquals(count(2 * burst, () => peers.of(last).admitsSocket()), burst);
  assertEquals(peers.of(first).admitsSocket(), false);
});

Deno.test("a /56 that asks from all its networks leaves another address its part of what strangers may ask for", () => {
  const { peers, time } = createPeers();
  const admitsCall = (address: string): boolean => admits(peers.of(address), "stranger");
  const ask = (i: number): boolean => admitsCall(networks[i % networks.length] ?? "");
  const honest: number[] = [];
  for (let quarter = 0; quarter < 12; quarter++, time.nowMs += 250) {
    count(500, ask);
    honest.push(count(20, () => admitsCall("192.0.2.1")));
    count(500, ask);
  }
  assertEquals(honest.slice(2), new Array<number>(10).fill(20));
});

Deno.test("health checks of an address are answered although its strangers have used up all that they may ask for", () => {
  const { peers, time } = createPeers();
  const peer = peers.of("192.0.2.1");
  const { checks, strangerCalls } = defaultBudgets;
  while (admits(peer, "stranger"));
  assert(admits(peer, "check"));
  assertEquals(count(4 * checks.burst, () => admits(peer, "check")), checks.burst - 1);
  // Checks have a limit too, and take nothing from strangers.
  assertEquals(refusalOf(peer, "check"), 429);
  time.nowMs += 1_000;
  assertEquals(count(500, () => admits(peer, "stranger")), strangerCalls.perSecond);
});

Deno.test("a crowd of addresses that ask for health leaves the next one its part", () => {
  const { peers, time } = createPeers();
  const asks = (address: string): boolean => admits(peers.of(address), "check");
  const honest: boolean[] = [];
  for (let quarter = 0; quarter < 12; quarter++, time.nowMs += 250) {
    count(400, (i) => asks(`198.51.100.${i % 40}`));
    honest.push(asks("192.0.2.1"));
    count(400, (i) => asks(`198.51.100.${i % 40}`));
  }
  assertEquals(honest, honest.map(() => true));
});

Deno.test("a balancer itself may ask for health and nothing else, whatever clients on its machine do", () => {
  const { peers } = createPeers();
  const [balancer, client] = [peers.of(balancerAddress), peers.of("127.0.0.1")];
  client.offend();
  while (admits(client, "check"));
  assertEquals(
    (["check", "stranger", "member"] as const).map((standing) => refusalOf(balancer, standing)),
    [undefined, 403, 403],
  );
  assert(peers.of(balancerAddress).admitsSocket());
  // Nor do crowds of other addresses that ask for health.
  count(8 * defaultBudgets.checksInAll, (i) => admits(peers.of(`198.51.100.${i % 250}`), "check"));
  assertEquals([refusalOf(peers.of("192.0.2.1"), "check"), refusalOf(balancer, "check")], [
    429,
    undefined,
  ]);
});

Deno.test("a /56 resets as many streams as four addresses", () => {
  const { peers, time } = createPeers();
  const reset = (i: number): boolean =>
    peers.of(networks[i % networks.length] ?? "").spendReset(false);
  let taken = 0;
  // Slowly, so that what all addresses may do together is not what stops it.
  for (let i = 0; i < 4_000; i++, time.nowMs += 5) if (reset(i)) taken++;
  const { burst, perSecond } = defaultBudgets.strangerResets;
  assert(taken <= share * (burst + 20 * perSecond), `${taken}`);
  assert(peers.of(neighbour).spendReset(false));
});

/** Begins calls that do not end, each of the next address, and returns those that began. */
function begin(peers: PeerBudgets, addresses: readonly string[], calls: number): StrangerCall[] {
  const begun = Array.from(
    { length: calls },
    (_, i) => peers.beginCall(originOf(addresses[i % addresses.length] ?? ""), () => {}),
  );
  return begun.filter((call) => call !== undefined);
}

Deno.test("calls of a /56, from however many of its networks, make room for somebody new at once", () => {
  const { peers } = createPeers();
  const { strangerHandlers } = defaultBudgets;
  begin(peers, networks, strangerHandlers);
  let ended = 0;
  const end = (): void => void ended++;
  assert(peers.beginCall(originOf("192.0.2.1"), end));
  assert(peers.beginCall(originOf(neighbour), end));
  assertEquals([peers.handlers, ended, peers.stats().refusedCalls], [strangerHandlers + 2, 0, 2]);
});

Deno.test("handlers that lost their places and do not end are bounded, and so are those whose streams are gone", () => {
  const { peers } = createPeers();
  const { strangerHandlers } = defaultBudgets;
  const address = (i: number): string => `198.51.100.${i % 250}`;
  for (let i = 0; i < 250; i++) begin(peers, [address(i)], strangerHandlers);
  assertEquals(peers.handlers, strangerHandlers + strangerHandlers / 4);

  const { peers: others } = createPeers();
  const calls = begin(others, ["192.0.2.1"], strangerHandlers);
  for (const call of calls) call.gone();
  assertEquals(others.beginCall(originOf("192.0.2.2"), () => {}), undefined);
  calls[0]?.ended();
  calls[0]?.ended();
  assert(others.beginCall(originOf("192.0.2.2"), () => {}));
  assertEquals(others.handlers, strangerHandlers);
});
