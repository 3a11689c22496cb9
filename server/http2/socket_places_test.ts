import { assert, assertEquals } from "@std/assert";
import { originOf } from "../limits/mod.ts";
import { balancerAddress } from "./proxy_header.ts";
import {
  SessionSockets,
  type SocketLimits,
  type SocketPlace,
  SocketPlaces,
} from "./socket_places.ts";

const office = "192.0.2.1";
const minimumMs = 3_000;

/** Sockets of many addresses on simulated time. */
class Door {
  readonly places: SocketPlaces;
  readonly ended: string[] = [];
  nowMs = 0;

  constructor({ connections = 10_000, connectionsPerAddress = 3 }: Partial<SocketLimits> = {}) {
    this.places = new SocketPlaces({ connections, connectionsPerAddress }, () => this.nowMs);
  }

  came(address: string = office, name = address): SocketPlace | undefined {
    return this.places.enter(originOf(address), () => this.ended.push(name));
  }

  enter(address?: string, name?: string): SocketPlace {
    const place = this.came(address, name);
    assert(place !== undefined, `${address} was refused`);
    return place;
  }

  get counted(): number {
    return this.places.counted;
  }
}

/** A session that carries as many as it may elsewhere uses this socket. */
function memberOf(place: SocketPlace): SessionSockets {
  const elsewhere = new Door();
  const session = new SessionSockets();
  for (let i = 0; i < 4; i++) session.carry(elsewhere.enter(`192.0.2.${100 + i}`));
  session.carry(place);
  return session;
}

Deno.test("an address has a ceiling, below which it gets its places back", () => {
  const door = new Door({ connectionsPerAddress: 2 });
  const first = door.enter();
  door.enter();
  assertEquals(door.came(), undefined);
  door.enter("192.0.2.2");
  first.close();
  first.close();
  door.enter();
  assertEquals([door.came(), door.counted], [undefined, 3]);
});

Deno.test("the networks of one /56 have as much as four addresses, and get it back", () => {
  const door = new Door({ connectionsPerAddress: 2 });
  const come = (number: number): SocketPlace | undefined =>
    door.came(`2001:db8:1:${number.toString(16)}::1`);
  const open = Array.from({ length: 256 }, (_, i) => come(i)).filter((place) =>
    place !== undefined
  );
  assertEquals(open.length, 8);
  door.enter("2001:db8:1:100::1");
  for (const place of open) place.close();
  assertEquals(door.counted, 1);
  assert(come(99) !== undefined && come(99) !== undefined);
  assertEquals(come(99), undefined);
});

Deno.test("a full house has a place for somebody new: the crowd's at once, others' when they have had their time", () => {
  const besieged = new Door({ connections: 12, connectionsPerAddress: 6 });
  for (let i = 0; i < 6; i++) besieged.enter("198.51.100.1", "crowd");
  for (let i = 0; i < 6; i++) besieged.enter(`198.51.100.${10 + i}`, "few");
  for (let i = 0; i < 3; i++) besieged.enter(`203.0.113.${i}`);
  assertEquals([besieged.ended, besieged.counted], [["crowd", "crowd", "crowd"], 12]);

  const busy = new Door({ connections: 6 });
  for (let i = 0; i < 6; i++) busy.enter(`198.51.100.${i}`);
  assertEquals(busy.came("203.0.113.1"), undefined);
  busy.nowMs += minimumMs;
  busy.enter("203.0.113.1");
  assertEquals([busy.ended, busy.counted], [["198.51.100.0"], 6]);
});

Deno.test("of an address, silent sockets and endless calls go first, then those that rest", () => {
  const door = new Door({ connections: 4, connectionsPerAddress: 10 });
  const [resting, served] = [door.enter(office, "resting"), door.enter(office, "served")];
  door.enter(office, "asking").serves();
  door.nowMs += 1;
  door.enter(office, "silent");
  for (const place of [resting, served]) {
    place.serves();
    place.rests();
  }
  door.nowMs += minimumMs;
  for (let i = 0; i < 3; i++) door.enter(`203.0.113.${i}`);
  assertEquals(door.ended, ["asking", "silent", "resting"]);
});

Deno.test("sockets of members that no session carries go after those of strangers, unless they are a crowd", () => {
  const door = new Door({ connections: 30, connectionsPerAddress: 30 });
  for (let i = 0; i < 10; i++) memberOf(door.enter(office, "member"));
  for (let i = 0; i < 20; i++) door.enter(`198.51.100.${i % 10}`, "stranger");
  door.nowMs += minimumMs;
  for (let i = 0; i < 10; i++) door.enter(`203.0.113.${i}`);
  assertEquals(new Set(door.ended), new Set(["stranger"]));

  const crowded = new Door({ connections: 30, connectionsPerAddress: 30 });
  for (let i = 0; i < 30; i++) memberOf(crowded.enter(office, "member"));
  crowded.nowMs += minimumMs;
  crowded.enter("203.0.113.1");
  assertEquals(crowded.ended, ["member"]);
});

Deno.test("a house full of sockets to spare, few of each network, has a place for somebody new", () => {
  const door = new Door({ connections: 20 });
  for (let i = 0; i < 10; i++) {
    for (let j = 0; j < 2; j++) memberOf(door.enter(`198.51.100.${i}`, "to spare"));
  }
  assertEquals(door.came("203.0.113.1"), undefined);
  door.nowMs += minimumMs;
  door.enter("203.0.113.1", "new");
  door.enter("203.0.113.2", "new");
  assertEquals(door.ended, ["to spare", "to spare"]);
});

Deno.test("a socket that a session uses is a stranger's again when the session ends", () => {
  const door = new Door({ connections: 12, connectionsPerAddress: 12 });
  const sessions = Array.from({ length: 4 }, () => memberOf(door.enter(office, "was a member's")));
  for (let i = 0; i < 8; i++) door.enter(`198.51.100.${Math.floor(i / 2)}`, "stranger");
  for (const session of sessions) session.end();
  door.nowMs += minimumMs;
  door.enter("203.0.113.1");
  assertEquals(door.ended, ["was a member's"]);
});

Deno.test("a full house has a place for its balancer's checks, whoever holds the others", () => {
  const door = new Door({ connections: 4 });
  for (let i = 0; i < 4; i++) door.enter(`198.51.100.${i}`, "somebody");
  door.enter(balancerAddress);
  door.nowMs += minimumMs;
  door.enter("203.0.113.1");
  assertEquals(door.ended, ["somebody", "somebody"]);
});

Deno.test("sockets that sessions carry are nobody's victims, and an eighth of all is for others", () => {
  const door = new Door({ connections: 16, connectionsPerAddress: 16 });
  const carry = (place: SocketPlace): SessionSockets => {
    const session = new SessionSockets();
    session.carry(place);
    return session;
  };
  const sessions = Array.from({ length: 14 }, () => carry(door.enter(office, "member")));
  for (let i = 0; i < 20; i++, door.nowMs += minimumMs) door.enter(`198.51.100.${i}`, "stranger");
  assertEquals([door.counted, new Set(door.ended)], [2, new Set(["stranger"])]);
  // A session more is carried only when one of the others ends, whose socket keeps a place.
  carry(door.enter(office, "late"));
  assertEquals(door.counted, 2);
  sessions[0]?.end();
  assertEquals([door.counted, door.ended.includes("member")], [3, false]);
});

Deno.test("members who log in one after the other need no more places than those who log in at once", () => {
  const door = new Door();
  for (let agent = 0; agent < 500; agent++) {
    const [first, second] = [door.came(), door.came()];
    assert(first !== undefined && second !== undefined, `agent ${agent} was refused`);
    const session = new SessionSockets();
    for (const place of [first, second, first]) session.carry(place);
  }
  assertEquals(door.counted, 0);
});

Deno.test("a session carries four sockets; those beyond count for their address", () => {
  const door = new Door();
  const session = new SessionSockets();
  const places = Array.from({ length: 7 }, () => {
    const place = door.came();
    if (place !== undefined) session.carry(place);
    return place;
  });
  assertEquals([door.counted, door.came()], [3, undefined]);
  // One that closes makes room for another of the same session.
  places[0]?.close();
  const counted = places[4];
  assert(counted !== undefined);
  session.carry(counted);
  assertEquals(door.counted, 2);
});

Deno.test("many sessions of one address leave sockets to others", () => {
  const door = new Door({ connections: 40 });
  const places: SocketPlace[] = [];
  for (let session = 0; session < 40; session++) {
    const sockets = new SessionSockets();
    for (let i = 0; i < 4; i++) {
      const place = door.came();
      if (place === undefined) continue;
      places.push(place);
      sockets.carry(place);
    }
  }
  // Of 40: at most seven eighths are carried, and three count for the address.
  assert(
    places.length >= 20 && places.length <= 35 + 3,
    `one address has ${places.length} sockets of 40`,
  );
  door.enter("192.0.2.9");
  for (const place of places) place.close();
  assertEquals(door.counted, 1);
});

Deno.test("when half of all sockets are open, a session carries one only", () => {
  const door = new Door({ connections: 8 });
  const carry = (session: SessionSockets): void => {
    const place = door.came();
    assert(place !== undefined);
    session.carry(place);
  };
  const [first, second] = [new SessionSockets(), new SessionSockets()];
  for (let i = 0; i < 4; i++) carry(first);
  for (let i = 0; i < 2; i++) carry(second);
  assertEquals(door.counted, 1);
});

Deno.test("sockets count again when their session ends, however many there are, and never twice", () => {
  const door = new Door();
  const sessions = Array.from({ length: 3 }, () => new SessionSockets());
  const places = sessions.flatMap((session) =>
    [door.came(), door.came()].map((place) => {
      assert(place !== undefined);
      session.carry(place);
      return place;
    })
  );
  for (const session of sessions) session.end();
  assertEquals([door.counted, door.came()], [6, undefined]);
  for (const place of places) {
    place.close();
    place.close();
  }
  assertEquals(door.counted, 0);
});

Deno.test("a socket of several sessions counts again when the last of them ends", () => {
  const door = new Door();
  const place = door.came();
  assert(place !== undefined);
  const [first, second] = [new SessionSockets(), new SessionSockets()];
  first.carry(place);
  second.carry(place);
  first.end();
  assertEquals(door.counted, 0);
  second.end();
  assertEquals(door.counted, 1);
  // A session that is over, and a socket that is gone, change nothing.
  second.carry(place);
  assertEquals(door.counted, 1);
  place.close();
  new SessionSockets().carry(place);
  assertEquals(door.counted, 0);
});
