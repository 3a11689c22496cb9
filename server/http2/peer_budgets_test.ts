import { assert, assertEquals } from "@std/assert";
import { defaultBudgets } from "./budgets.ts";
import { balancerAddress, PeerBudgets } from "./peer_budgets.ts";

const share = 4;
/** One address of each /64 of a /56. */
const networks = Array.from({ length: 256 }, (_, i) => `2001:db8:7:12${i.toString(16).padStart(2, "0")}::1`);
const neighbour = "2001:db8:7:1300::1";

function createPeers(): { peers: PeerBudgets; time: { nowMs: number } } {
  const time = { nowMs: 0 };
  return { peers: new PeerBudgets(defaultBudgets, () => time.nowMs), time };
}

function count(tries: number, does: (i: number) => boolean): number {
  return Array.from({ length: tries }, (_, i) => does(i)).filter(Boolean).length;
}

Deno.test("a /56 of IPv6 opens as many sockets as four addresses, from however many of its networks", () => {
  const { peers } = createPeers();
  const { burst } = defaultBudgets.socketsPerAddress;
  const every = (i: number): string => networks[i % networks.length] ?? "";
  assertEquals(count(20 * burst, (i) => peers.admitsSocket(every(i))), share * burst);
  assert(peers.admitsSocket(neighbour));
  assert(peers.admitsSocket("192.0.2.1"));
});

Deno.test("an address that rested opens no more sockets at once than its burst", () => {
  const { peers, time } = createPeers();
  peers.admitsSocket("192.0.2.1");
  time.nowMs = 60_000;
  const { burst } = defaultBudgets.socketsPerAddress;
  assertEquals(count(4 * burst, () => peers.admitsSocket("192.0.2.1")), burst);
});

Deno.test("an address whose network has no sockets left keeps its own", () => {
  const { peers, time } = createPeers();
  const { burst, perSecond } = defaultBudgets.socketsPerAddress;
  const [first = "", last = ""] = [networks[0], networks.at(-1)];
  count(share * burst, (i) => peers.admitsSocket(networks[i % 128] ?? ""));
  assertEquals(count(burst, () => peers.admitsSocket(last)), 0);
  time.nowMs = burst * 1_000 / (share * perSecond);
  assertEquals(count(2 * burst, () => peers.admitsSocket(last)), burst);
  assertEquals(peers.admitsSocket(first), false);
});

Deno.test("a /56 that asks from all its networks leaves another address its part of what strangers may ask for", () => {
  const { peers, time } = createPeers();
  const admitsCall = (address: string): boolean => peers.of(address).refusalOf("stranger") === undefined;
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
  while (peer.refusalOf("stranger") === undefined);
  assertEquals(peer.refusalOf("check"), undefined);
  assertEquals(count(4 * checks.burst, () => peer.refusalOf("check") === undefined), checks.burst - 1);
  // Checks have a limit too, and take nothing from strangers.
  assertEquals(peer.refusalOf("check"), 429);
  time.nowMs += 1_000;
  assertEquals(count(500, () => peer.refusalOf("stranger") === undefined), strangerCalls.perSecond);
});

Deno.test("a crowd of addresses that ask for health leaves the next one its part", () => {
  const { peers, time } = createPeers();
  const asks = (address: string): boolean => peers.of(address).refusalOf("check") === undefined;
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
  while (client.refusalOf("check") === undefined);
  assertEquals(
    (["check", "stranger", "member"] as const).map((standing) => balancer.refusalOf(standing)),
    [undefined, 403, 403],
  );
  assert(peers.admitsSocket(balancerAddress));
  // Nor do crowds of other addresses that ask for health.
  count(8 * defaultBudgets.checksInAll, (i) => peers.of(`198.51.100.${i % 250}`).refusalOf("check") === undefined);
  assertEquals([peers.of("192.0.2.1").refusalOf("check"), balancer.refusalOf("check")], [429, undefined]);
});

Deno.test("a /56 resets as many streams as four addresses", () => {
  const { peers, time } = createPeers();
  const reset = (i: number): boolean => peers.of(networks[i % networks.length] ?? "").spendReset(false);
  let taken = 0;
  // Slowly, so that what all addresses may do together is not what stops it.
  for (let i = 0; i < 4_000; i++, time.nowMs += 5) if (reset(i)) taken++;
  const { burst, perSecond } = defaultBudgets.strangerResets;
  assert(taken <= share * (burst + 20 * perSecond), `${taken}`);
  assert(peers.of(neighbour).spendReset(false));
});

Deno.test("calls under way of a /56 are bounded as those of four addresses, and its places come back", () => {
  const { peers } = createPeers();
  const begun = [...networks, ...networks, ...networks].map((address) => peers.of(address)).filter((peer) => {
    const hasRoom = peers.hasRoomFor(peer);
    if (hasRoom) peer.handlerStarted();
    return hasRoom;
  });
  assertEquals(begun.length, share * defaultBudgets.strangerHandlers);
  assert(peers.hasRoomFor(peers.of(neighbour)));
  for (const peer of begun) peer.handlerEnded();
  assert(peers.hasRoomFor(peers.of(networks[0] ?? "")));
});

Deno.test("networks that nobody uses are forgotten with their addresses", () => {
  const { peers, time } = createPeers();
  const { burst } = defaultBudgets.socketsPerAddress;
  count(20 * burst, (i) => peers.admitsSocket(networks[i % networks.length] ?? ""));
  time.nowMs += 10 * 60_000;
  peers.tick(time.nowMs);
  assertEquals(count(20 * burst, (i) => peers.admitsSocket(networks[i % networks.length] ?? "")), share * burst);
});
