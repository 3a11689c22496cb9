import { assert, assertEquals } from "@std/assert";
import { Admission } from "./admission.ts";
import { SessionSockets, SocketPlace } from "./session_sockets.ts";

const address = "192.0.2.1";

/** Sockets of one address, of which three may count. */
function openDoor(connections = 10_000): { readonly admission: Admission; came(): SocketPlace | undefined } {
  const admission = new Admission({ connections, connectionsPerAddress: 3 });
  const came = (): SocketPlace | undefined => {
    const leave = admission.admit(address);
    return leave && new SocketPlace(leave, admission.countsOf(address));
  };
  return { admission, came };
}

Deno.test("members who log in one after the other need no more places than those who log in at once", () => {
  const { admission, came } = openDoor();
  for (let agent = 0; agent < 500; agent++) {
    const [first, second] = [came(), came()];
    assert(first !== undefined && second !== undefined, `agent ${agent} was refused`);
    const session = new SessionSockets();
    for (const place of [first, second, first]) session.carry(place);
  }
  assertEquals(admission.total, 0);
});

Deno.test("a session carries four sockets; those beyond count for their address", () => {
  const { admission, came } = openDoor();
  const session = new SessionSockets();
  const places = Array.from({ length: 7 }, () => {
    const place = came();
    if (place !== undefined) session.carry(place);
    return place;
  });
  assertEquals([admission.total, came()], [3, undefined]);
  // One that closes makes room for another of the same session.
  places[0]?.close();
  const counted = places[4];
  assert(counted !== undefined);
  session.carry(counted);
  assertEquals(admission.total, 2);
});

Deno.test("many sessions of one address leave sockets to others", () => {
  const { admission, came } = openDoor(40);
  const places: SocketPlace[] = [];
  for (let session = 0; session < 40; session++) {
    const sockets = new SessionSockets();
    for (let i = 0; i < 4; i++) {
      const place = came();
      if (place === undefined) continue;
      places.push(place);
      sockets.carry(place);
    }
  }
  // Of 40: at most seven eighths are carried, and three count for the address.
  assert(places.length >= 20 && places.length <= 35 + 3, `one address has ${places.length} sockets of 40`);
  assert(admission.admit("192.0.2.9") !== undefined);
  for (const place of places) place.close();
  assertEquals(admission.total, 1);
});

Deno.test("when half of all sockets are open, a session carries one only", () => {
  const { admission, came } = openDoor(8);
  const carry = (session: SessionSockets): void => {
    const place = came();
    assert(place !== undefined);
    session.carry(place);
  };
  const [first, second] = [new SessionSockets(), new SessionSockets()];
  for (let i = 0; i < 4; i++) carry(first);
  for (let i = 0; i < 2; i++) carry(second);
  assertEquals(admission.total, 1);
});

Deno.test("sockets count again when their session ends, however many there are, and never twice", () => {
  const { admission, came } = openDoor();
  const sessions = Array.from({ length: 3 }, () => new SessionSockets());
  const places = sessions.flatMap((session) =>
    [came(), came()].map((place) => {
      assert(place !== undefined);
      session.carry(place);
      return place;
    })
  );
  for (const session of sessions) session.end();
  assertEquals([admission.total, came()], [6, undefined]);
  for (const place of places) {
    place.close();
    place.close();
  }
  assertEquals(admission.total, 0);
});

Deno.test("a socket of several sessions counts again when the last of them ends", () => {
  const { admission, came } = openDoor();
  const place = came();
  assert(place !== undefined);
  const [first, second] = [new SessionSockets(), new SessionSockets()];
  first.carry(place);
  second.carry(place);
  first.end();
  assertEquals(admission.total, 0);
  second.end();
  assertEquals(admission.total, 1);
  // A session that is over, and a socket that is gone, change nothing.
  second.carry(place);
  assertEquals(admission.total, 1);
  place.close();
  new SessionSockets().carry(place);
  assertEquals(admission.total, 0);
});
