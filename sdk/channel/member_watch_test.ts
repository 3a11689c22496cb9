import { utf8ToBytes } from "@noble/hashes/utils.js";
import { assertEquals } from "@std/assert";
import { type AgentId, agentIdOf, nobodyKnown, type Trust } from "../../proto/mod.ts";
import { verifyEd25519Batch } from "../../wasm/mod.ts";
import { badgeSeconds, Issuer } from "../mls/testing/issuer.ts";
import { Recogniser } from "./group/recognition.ts";
import { HealthLog } from "./health.ts";
import { MemberWatch, type MemberWatchParts } from "./member_watch.ts";

const [acme, next] = [new Issuer("acme.com", 7), new Issuer("acme.com", 8)];
const daySeconds = 24 * 60 * 60;
const [self, other, late] = Array.from(
  { length: 3 },
  (_, i) => agentIdOf(new Uint8Array(32), Uint8Array.of(i)),
) as [AgentId, AgentId, AgentId]; // cast: made above

function trusting(...issuers: readonly Issuer[]): Trust {
  const keys = issuers.map(({ key }, i) => ({ kid: `${i}`, key, closed: false }));
  const issuer = { keys, source: "file", readMs: 0, changed: false } as const;
  return { ...nobodyKnown, domains: new Map([["acme.com", issuer]]) };
}

/** A channel of three, whose badges end on days 1, 2 and 30, and a clock that the test moves. */
function open({ owner = true, required = true } = {}): {
  readonly watch: MemberWatch;
  readonly issues: () => string[];
  readonly pass: (days: number) => void;
  readonly believe: (trust: Trust) => void;
  readonly closed: { value: boolean };
  /** How often programs were told that members are recognised otherwise. */
  readonly renewals: () => number;
  readonly renew: (agentId: AgentId, days: number) => void;
  readonly timers: () => number;
} {
  let nowMs = badgeSeconds * 1000;
  let timer: { readonly atMs: number; readonly run: () => void } | undefined;
  let trust = trusting(acme);
  const closed = { value: false };
  const told: string[] = [];
  const health = new HealthLog(() => nowMs, ({ type }) => void told.push(type));
  const ends = new Map([[self, 1], [other, 2], [late, 30]]);
  const members = Array.from(ends, ([agentId, days]) => ({
    agentId,
    identity: utf8ToBytes(agentId),
    owner: owner === (agentId === self),
    badges: acme.shown(agentId, { notAfter: badgeSeconds + days * daySeconds }),
  }));
  const recogniser = new Recogniser({
    trust: {
      names: nobodyKnown.names,
      mailDomains: nobodyKnown.mailDomains,
      get domains() {
        return trust.domains;
      },
    },
    ownAccount: () => undefined,
    nowMs: () => nowMs,
    signatures: { verifyHandshakes: verifyEd25519Batch },
  });
  const group = {
    get binding() {
      const { domain, key } = acme;
      return { issuers: { required, issuers: [{ domain, key, closed: closed.value }] } };
    },
    members: () => members,
  };
  const watch = new MemberWatch(
    // cast: it needs nothing else
    {
      membership: { group, absentMembers: [] } as unknown as MemberWatchParts["membership"],
      health,
    },
    {
      agentId: self,
      runtime: {
        nowMs: () => nowMs,
        after: (ms, run) => {
          timer = { atMs: nowMs + ms, run };
          return () => timer = undefined;
        },
      },
      recogniser,
    },
  );
  return {
    watch,
    closed,
    renewals: () => told.filter((type) => type === "names_changed").length,
    renew: (agentId, days) => {
      const member = members.find((each) => each.agentId === agentId);
      const notAfter = badgeSeconds + days * daySeconds;
      if (member !== undefined) member.badges = acme.shown(agentId, { notAfter });
    },
    timers: () => timer === undefined ? 0 : 1,
    believe: (list) => trust = list,
    issues: () => health.issues.map(({ kind, text, count }) => `${count} ${kind}: ${text}`),
    pass: (days) => {
      const untilMs = nowMs + days * daySeconds * 1000;
      while (timer !== undefined && timer.atMs <= untilMs) {
        nowMs = timer.atMs;
        timer.run();
      }
      nowMs = untilMs;
    },
  };
}

Deno.test("an owner is told of members whose badge is over, once, when it ends", () => {
  const { watch, issues, pass } = open();
  void watch.look();
  assertEquals(issues(), []);
  pass(1.5);
  const own = "The badge with which this agent is in the channel is over: renew it";
  assertEquals(issues(), [`1 badge_expired: ${own}`]);
  void watch.look();
  void watch.look();
  assertEquals(issues().length, 1);
  pass(1);
  assertEquals(issues(), [
    `2 badge_expired: ${own}. By this agent's clock the badges of members are over: ${other}. They ` +
    "stay members until an owner removes them; ask them to renew their badges",
  ]);
});

Deno.test("a member that owns nothing is told of its own badge alone", () => {
  const { watch, issues, pass } = open({ owner: false });
  void watch.look();
  pass(40);
  assertEquals(issues().length, 1);
  assertEquals(issues().join().includes(other), false);
});

Deno.test("a channel that requires no badges, and one that has ended, report nothing and wait for nothing", () => {
  const { watch, issues, pass } = open({ required: false });
  void watch.look();
  pass(40);
  assertEquals(issues(), []);
  const ended = open();
  void ended.watch.look();
  assertEquals(ended.timers(), 1);
  ended.watch.end();
  void ended.watch.look();
  ended.pass(40);
  assertEquals([ended.issues(), ended.timers()], [[], 0]);
});

Deno.test("an open key that the user's list does not have for its domain is reported, an unknown domain is not", () => {
  const { watch, issues, believe } = open();
  const differing = (): number => issues().filter((each) => each.includes("issuer_differs")).length;
  believe(nobodyKnown);
  void watch.look();
  believe(trusting(acme, next));
  void watch.look();
  assertEquals(issues(), []);
  believe(trusting(next));
  void watch.look();
  void watch.look();
  assertEquals(differing(), 1);
  assertEquals(
    issues()[0]?.startsWith("1 issuer_differs: The channel lets agents in by keys"),
    true,
  );
  assertEquals(issues()[0]?.includes("acme.com"), true);

  const shut = open();
  shut.closed.value = true;
  shut.believe(trusting(next));
  void shut.watch.look();
  assertEquals(shut.issues(), []);
});

Deno.test("programs hear when a badge ends, when it is renewed, and when the list is another", () => {
  const { watch, renewals, pass, renew, believe } = open({ required: false });
  void watch.look();
  pass(0.5);
  assertEquals(renewals(), 0);
  pass(1);
  assertEquals(renewals(), 1, "the first badge is over");
  renew(self, 20);
  void watch.look();
  void watch.look();
  assertEquals(renewals(), 2);
  believe(nobodyKnown);
  void watch.look();
  assertEquals(renewals(), 3);
  pass(40);
  assertEquals(renewals(), 3);
});
