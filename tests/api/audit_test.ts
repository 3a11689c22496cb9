import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { runAdmin } from "../../api/mod.ts";
import {
  type Answer,
  anyBackend,
  type OpenBackend,
  readTestConfig,
  type SignedUp,
  signUp,
  startTestApi,
} from "../support/api/harness.ts";
import { type ApiProcess, startProcess } from "../support/api/process.ts";
import { inCampaign, tried } from "../support/campaign.ts";

const adminSecret = "admin-secret-for-tests-0123456789abcdef";
const [events, kills] = inCampaign ? [10_000, 5] : [80, 1];
const operators = 4;
const tenants = 4;

interface Exported {
  readonly seq: number;
  readonly event: string;
  readonly account: string;
  readonly subject: string | null;
}

interface Counts {
  done: number;
  unsure: number;
}

async function exportAll(backend: OpenBackend): Promise<Exported[]> {
  const lines = (await runAdmin(["audit", "export"], readTestConfig(backend.environment))).split(
    "\n",
  );
  return lines.map((line) => {
    const [seq, , event, , account, subject] = JSON.parse(JSON.parse(line).body);
    return { seq, event, account, subject };
  });
}

/**
 * Suspends and resumes an account in turn; counts what was answered, and what may or may not have
 * happened.
 */
async function operate(
  account: string,
  current: () => ApiProcess,
  counts: Counts,
): Promise<{ suspended: number; resumed: number }> {
  const seen = { suspended: 0, resumed: 0 };
  for (let turn = 0; counts.done < events; turn++) {
    const command = turn % 2 === 0 ? "suspend" : "resume";
    const response = await fetch(`${current().adminUrl}/admin/v1/run`, {
      method: "POST",
      headers: { authorization: `Bearer ${adminSecret}`, "content-type": "application/json" },
      body: JSON.stringify({ args: [command, account] }),
    }).catch(() => undefined);
    const text = await response?.text().catch(() => undefined);
    if (response?.status !== 200 || text === undefined) {
      counts.unsure++;
      turn--; // Again: it says whether it was done already.
      // wait: the process that was killed is being started again
      await new Promise((resolve) => setTimeout(resolve, 50));
      continue;
    }
    counts.done++;
    if (text.includes("already") || text.includes("is not suspended")) continue;
    seen[command === "suspend" ? "suspended" : "resumed"]++;
  }
  return seen;
}

/**
 * Makes and revokes keys, opens and ends sessions, changes the password; returns what was answered,
 * as in the audit.
 */
async function live(
  { id, email, password, apiKey }: SignedUp,
  current: () => ApiProcess,
  counts: Counts,
): Promise<Omit<Exported, "seq">[]> {
  const told: Omit<Exported, "seq">[] = [];
  const tell = (event: string, subject: string | null = null): void =>
    void told.push({ event, account: id, subject });
  const call = async (...request: Parameters<ApiProcess["call"]>): Promise<Answer | undefined> => {
    const answer = await current().call(...request).catch(() => undefined);
    if (answer !== undefined && answer.status < 300) counts.done++;
    else counts.unsure++;
    // wait: the process that was killed is being started again
    if (answer === undefined) await new Promise((resolve) => setTimeout(resolve, 50));
    return answer;
  };
  // Operators may have done most of it: each tenant has its part.
  while (counts.done < events || told.length <= events / 10 / tenants) {
    const made = await call("POST", "/v1/keys", { key: apiKey });
    if (made?.status === 200) tell("key.created", made.json.id);
    const rotated = await call("POST", `/v1/keys/${made?.json?.id}/rotate`, { key: apiKey });
    if (rotated?.status === 200) tell("key.rotated", made?.json.id);
    for (const keyId of [made?.json?.id, rotated?.json?.id]) {
      if ((await call("DELETE", `/v1/keys/${keyId}`, { key: apiKey }))?.status === 204) {
        tell("key.revoked", keyId);
      }
    }
    const session = await call("POST", "/v1/session", { body: { email, password } });
    if (session?.status === 200) tell("session.opened");
    const headers = {
      cookie: session?.headers.get("set-cookie")?.split(";")[0] ?? "",
      "x-static-csrf": session?.json?.csrf ?? "",
    };
    if ((await call("DELETE", "/v1/session", { headers }))?.status === 204) tell("session.ended");
    const body = { password, new_password: password };
    if ((await call("POST", "/v1/account/password", { key: apiKey, body }))?.status === 200) {
      tell("account.password_changed");
    }
  }
  return told;
}

Deno.test(`the audit has every one of ${events} events of operators and tenants, with ${kills} kills of their API`, async () => {
  const backend = await anyBackend.open();
  const environment = {
    ...backend.environment,
    STATIC_ADMIN_SECRET: adminSecret,
    STATIC_DATABASE_CONNECTIONS: "4",
  };
  let api = await startProcess(environment);
  try {
    const accounts = await Promise.all(Array.from({ length: operators }, () => signUp(api.call)));
    const counts = { done: 0, unsure: 0 };
    const startMs = performance.now();
    const users = await Promise.all(Array.from({ length: tenants }, () => signUp(api.call)));
    const working = Promise.all(accounts.map(({ id }) => operate(id, () => api, counts)));
    const living = Promise.all(users.map((user) => live(user, () => api, counts)));
    for (let kill = 1; kill <= kills; kill++) {
      while (counts.done < events * kill / (kills + 1)) {
        await new Promise((resolve) => setTimeout(resolve, 20)); // wait: for their work
      }
      await api.stop(); // by SIGKILL
      api = await startProcess(environment);
    }
    const [seen, told] = [await working, (await living).flat()];
    const seconds = (performance.now() - startMs) / 1000;
    const exported = await exportAll(backend);
    assertEquals(exported.map(({ seq }) => seq), exported.map((_, index) => index + 1));
    accounts.forEach(({ id }, index) => {
      const count = (event: string): number =>
        exported.filter((each) => each.account === id && each.event === event).length;
      const [suspended, resumed] = [count("account.suspended"), count("account.resumed")];
      const told = seen[index] ?? { suspended: 0, resumed: 0 };
      // One whose answer was lost may be there too; nothing that was answered is missing, and they
      // alternate.
      assert(
        suspended >= told.suspended && resumed >= told.resumed,
        `${suspended} ${resumed} ${JSON.stringify(told)}`,
      );
      assert(suspended + resumed - told.suspended - told.resumed <= counts.unsure);
      assert(suspended - resumed === 0 || suspended - resumed === 1);
    });
    // How often each was answered, against how often it is there: nothing that was answered is
    // missing.
    const nameOf = ({ event, account, subject }: Omit<Exported, "seq">): string =>
      `${account} ${event} ${event.startsWith("key.") ? subject : ""}`;
    const there = Map.groupBy(exported, nameOf);
    for (const [name, answered] of Map.groupBy(told, nameOf)) {
      assert(
        (there.get(name)?.length ?? 0) >= answered.length,
        `${name}: ${answered.length} were answered`,
      );
    }
    assert(told.length > events / 10, `${told.length} events of tenants`);
    const verdict = await runAdmin(["audit", "verify"], readTestConfig(backend.environment));
    assertStringIncludes(verdict, `The audit is whole: ${exported.length} events`);
    tried(`${exported.length} audited events with ${kills} kills`);
    console.log(
      `${exported.length} events, ${kills} kills, ${counts.unsure} lost answers, ${
        seconds.toFixed(1)
      } s`,
    );
  } finally {
    await api.stop();
    await backend.close();
  }
});

Deno.test("the audit shows what was changed, swapped, missing and cut off, and takes no change", async () => {
  const backend = await anyBackend.open();
  const api = await startTestApi(backend.environment);
  const admin = (...args: string[]): Promise<string> =>
    runAdmin(args, readTestConfig(backend.environment));
  const sql = backend.sql();
  try {
    const users = await Promise.all(Array.from({ length: 4 }, () => api.signUp()));
    const [, hash = ""] = /Its last hash is ([0-9a-f]{64})$/.exec(await admin("audit", "verify")) ??
      [];
    assertStringIncludes(await admin("audit", "verify", "8", hash), "whole: 8 events");
    for (
      const statement of [
        "UPDATE audit_events SET body = ''",
        "DELETE FROM audit_events",
        "TRUNCATE audit_events",
      ]
    ) {
      await assertRejects(() => sql.unsafe(statement), Error, "append-only");
    }
    // No secret and nothing of a person.
    const text = await admin("audit", "export");
    for (const { email, password, apiKey } of users) {
      for (const secret of [email, password, apiKey, apiKey.slice(16, 40)]) {
        assert(!text.includes(secret));
      }
    }
    const tampering: [string, RegExp][] = [
      [
        "UPDATE audit_events SET body = replace(body, 'account.created', 'account.removed') WHERE seq = 3",
        /event 3: its text/,
      ],
      ["UPDATE audit_events SET event = 'key.revoked' WHERE seq = 4", /event 4: its columns/],
      ["DELETE FROM audit_events WHERE seq = 5", /event 5: it is missing/],
      ["UPDATE audit_head SET hash = decode(repeat('11', 32), 'hex')", /event 8: the head/],
      [
        "DELETE FROM audit_events WHERE seq > 6; UPDATE audit_head h SET seq = 6, hash = e.hash FROM audit_events e WHERE e.seq = 6",
        /event 8: it is missing: the end was cut off/,
      ],
    ];
    for (const [statement, expected] of tampering) {
      await sql.unsafe("BEGIN");
      await sql.unsafe("ALTER TABLE audit_events DISABLE TRIGGER audit_append_only");
      await sql.unsafe(
        "CREATE TABLE kept AS SELECT * FROM audit_events; CREATE TABLE kept_head AS SELECT * FROM audit_head",
      );
      await sql.unsafe(statement);
      await sql.unsafe("COMMIT");
      const error = await assertRejects(() => admin("audit", "verify", "8", hash), Error);
      assertMatch(error.message, expected);
      await sql.unsafe(
        "DELETE FROM audit_events; INSERT INTO audit_events SELECT * FROM kept; DELETE FROM audit_head; " +
          "INSERT INTO audit_head SELECT * FROM kept_head; DROP TABLE kept; DROP TABLE kept_head",
      );
    }
  } finally {
    await sql.end();
    await api.close();
    await backend.close();
  }
});
