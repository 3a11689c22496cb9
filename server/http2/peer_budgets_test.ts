import { assert, assertEquals } from "@std/assert";
import { defaultBudgets } from "./budgets.ts";
import { PeerBudgets } from "./peer_budgets.ts";

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
  const ask = (i: number): boolean => peers.of(networks[i % networks.length] ?? "").admitsCall();
  const honest: number[] = [];
  for (let quarter = 0; quarter < 12; quarter++, time.nowMs += 250) {
    count(500, ask);
    honest.push(count(20, () => peers.of("192.0.2.1").admitsCall()));
    count(500, ask);
  }
  assertEquals(honest.slice(2), new Array<number>(10).fill(20));
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
