import { assertEquals } from "@std/assert";
import { type Connection, Connections } from "./connections.ts";

function createScene(
  limits: { connections?: number; connectionsPerAddress?: number } = {},
): {
  open(name: string, peer?: string): Connection | undefined;
  ended: string[];
  pass(ms: number): void;
  size(): number;
} {
  const clock = { nowMs: 0 };
  const ended: string[] = [];
  const connections = new Connections(
    { connections: 3, connectionsPerAddress: 10, headMs: 10, idleMs: 100, requestMs: 50, ...limits },
    () => clock.nowMs,
  );
  return {
    open: (name, peer = "192.0.2.1") => {
      const place = connections.open(peer, () => {
        ended.push(name);
        place?.closed();
      });
      return place;
    },
    ended,
    pass: (ms) => {
      clock.nowMs += ms;
      connections.tick();
    },
    size: () => connections.size,
  };
}

Deno.test("a head, a pause and a request each have their time", () => {
  const { open, ended, pass } = createScene();
  open("silent");
  const idle = open("idle");
  const busy = open("busy");
  busy?.begin();
  idle?.begin();
  idle?.finish();
  pass(11);
  assertEquals(ended, ["silent"]);
  pass(40);
  assertEquals(ended, ["silent", "busy"]);
  pass(50);
  assertEquals(ended, ["silent", "busy", "idle"]);
});

Deno.test("a full house sends away a connection that is idle for longest, never one with a request", () => {
  const { open, ended, size } = createScene();
  const [first, second] = [open("1"), open("2"), open("3")];
  first?.begin();
  second?.begin();
  second?.finish();
  open("4", "192.0.2.2");
  open("5", "192.0.2.3");
  assertEquals([ended, size()], [["3", "2"], 3]);
  const busy = createScene({ connections: 1 });
  busy.open("1")?.begin();
  assertEquals([busy.open("2", "192.0.2.2"), busy.ended], [undefined, []]);
});

Deno.test("in a full house those that have most lose places, and get none by asking again", () => {
  const { open, ended } = createScene({ connections: 4 });
  open("honest", "192.0.2.9");
  for (const name of ["a", "b", "c"]) open(name);
  assertEquals([open("d"), ended], [undefined, []]);
  open("another", "192.0.2.8");
  assertEquals(ended, ["a"]);
});

Deno.test("a connection that is being closed keeps its place until its socket is closed", () => {
  const connections = new Connections(
    { connections: 8, connectionsPerAddress: 99, headMs: 10, idleMs: 10, requestMs: 10 },
    () => 0,
  );
  let host = 0;
  const open = (): Connection | undefined => connections.open(`192.0.2.${host++}`, () => {});
  const places = Array.from({ length: 9 }, open);
  // The eighth made the first one go, which still holds its socket; so there was no room for the ninth.
  assertEquals([places.filter((place) => place !== undefined).length, connections.size], [8, 8]);
  places[0]?.closed();
  assertEquals([connections.size, open() !== undefined], [7, true]);
});

Deno.test("one address cannot have all places, and gets them back when its connections end", () => {
  const { open, ended } = createScene({ connectionsPerAddress: 2 });
  const first = open("1", "2001:db8::1");
  open("2", "2001:db8::2");
  assertEquals(open("3", "2001:db8::3"), undefined);
  open("other", "192.0.2.2");
  first?.closed();
  first?.closed();
  open("4", "2001:db8::4");
  assertEquals([open("5", "2001:db8::5"), ended], [undefined, []]);
});
