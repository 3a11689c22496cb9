/**
 * Passwords under siege: strangers who guess, owners who come back, neighbours of one address,
 * resets that others ask for.
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { assertRefused } from "./contract/contract.ts";
import {
  type Answer,
  anyBackend,
  type OpenBackend,
  type SignedUp,
  signUp,
  startTestApi,
  type TestApi,
} from "../support/api/harness.ts";
import { codeForm, codeTo, mailTo } from "../support/api/mailbox.ts";
import { eventually } from "../support/mod.ts";

/** As in production, where the harness has limits that nobody reaches. */
const production = {
  STATIC_TRUSTED_PROXIES: "127.0.0.1",
  STATIC_RATE_FAILURES: "30/60",
  STATIC_RATE_PASSWORDS: "10/60",
  STATIC_RATE_MAIL: "5/3600",
};
const wrong = "not the password";
const [minuteMs, dayMs] = [60_000, 86_400_000];

interface Visit {
  readonly from: string;
  readonly device?: string;
}

interface Scene {
  readonly api: TestApi;
  readonly backend: OpenBackend;
  logIn(login: { email: string; password: string }, visit: Visit): Promise<Answer>;
}

/** As much at once as in production, and what is used up stays so however slow the machine is. */
const withoutRefill = { STATIC_RATE_FAILURES: "30/86400", STATIC_RATE_PASSWORDS: "10/86400" };

async function onStage(
  play: (scene: Scene) => Promise<void>,
  environment: Readonly<Record<string, string>> = withoutRefill,
): Promise<void> {
  const backend = await anyBackend.open();
  const api = await startTestApi({ ...backend.environment, ...production, ...environment });
  const logIn: Scene["logIn"] = ({ email, password }, { from, device }) =>
    api.call("POST", "/v1/accounts/keys", {
      body: { email, password },
      headers: {
        "x-forwarded-for": from,
        ...(device !== undefined && { "static-device": device }),
      },
    });
  try {
    await play({ api, backend, logIn });
  } finally {
    await api.close();
    await backend.close();
  }
}

/** The place of somebody who has just been let in. */
function deviceOf({ headers }: Answer): string {
  const device = headers.get("static-device") ?? "";
  assertMatch(device, /^[\w-]{80,120}$/);
  return device;
}

/** Guesses from fresh addresses until the strangers' budget of the address is used up. */
async function useUp({ logIn }: Scene, email: string, network: string): Promise<void> {
  for (let host = 1; host <= 20; host++) {
    if ((await logIn({ email, password: wrong }, { from: `${network}.${host}` })).status === 429) {
      return;
    }
  }
  throw new Error("the strangers' budget has no end");
}

Deno.test("keys cost an address nothing of its passwords' budget, and keys of a wrong form cost nothing at all", async () => {
  await onStage(async ({ api, logIn }) => {
    const user = await signUp(api.call);
    const from = "192.0.2.1";
    const use = (authorization: string | undefined): Promise<Answer> =>
      api.call("GET", "/v1/usage", {
        headers: { "x-forwarded-for": from, ...(authorization !== undefined && { authorization }) },
      });
    const isUsable = async (): Promise<boolean> => (await logIn(user, { from })).status === 200;
    const malformed = [
      "Bearer sk_live_short",
      `Bearer ${user.apiKey.slice(0, -1)}`,
      "Basic YTpi",
      undefined,
    ];
    for (let i = 0; i < 40; i++) {
      assertEquals((await use(malformed[i % malformed.length])).status, 401);
    }
    assert(await isUsable(), "malformed keys locked their neighbours");
    const cookie = { cookie: "static_session=nonsense", "x-forwarded-for": from };
    for (let i = 0; i < 40; i++) {
      assertEquals((await api.call("GET", "/v1/session", { headers: cookie })).status, 401);
    }
    assertEquals((await use(`Bearer ${user.apiKey}`)).status, 200);

    // A program whose key was revoked goes on asking. It is limited, its neighbours are not.
    const { json: second } = await api.call("POST", "/v1/keys", { key: user.apiKey });
    await api.call("DELETE", `/v1/keys/${second.id}`, { key: user.apiKey });
    const statuses: number[] = [];
    for (let i = 0; i < 40; i++) statuses.push((await use(`Bearer ${second.key}`)).status);
    assertEquals(new Set(statuses), new Set([401, 429]));
    assert(await isUsable(), "a revoked key locked its neighbours");
  });
});

Deno.test("a stranger who guesses all the time does not keep the owner out, who comes with the right password from elsewhere", async (t) => {
  await onStage(async ({ api, logIn }) => {
    for (const attackers of [1, 12]) {
      await t.step(`0.67 guesses a second from ${attackers} addresses`, async () => {
        const user = await signUp(api.call);
        const judged = { count: 0 };
        const begunMs = Date.now() + api.clock.aheadMs;
        const siege = async (minute: number): Promise<void> => {
          for (let guess = 0; guess < 40; guess++) {
            const from = `198.51.100.${
              100 * (attackers % 2) + (40 * minute + guess) % attackers + 1
            }`;
            const { status } = await logIn({ ...user, password: wrong }, { from });
            assert(status === 401 || status === 429);
            if (status === 401) judged.count++;
            api.clock.aheadMs += 1500;
          }
        };
        // Each of twelve has one guess a day that counts as a newcomer's.
        await siege(0);
        const statuses: number[] = [];
        for (let minute = 1; minute <= 12; minute++) {
          await siege(minute);
          statuses.push(
            (await logIn(user, { from: `203.0.113.${20 * (attackers % 2) + minute}` })).status,
          );
        }
        assertEquals(statuses, Array(12).fill(200));
        const minutes = (Date.now() + api.clock.aheadMs - begunMs) / minuteMs;
        assert(
          judged.count <= 10 + 10 * minutes,
          `${judged.count} guesses were judged in ${minutes} minutes`,
        );
      });
    }
  }, {});
});

Deno.test("a known place has a budget of its own, which strangers cannot use up", async (t) => {
  await onStage(async (scene) => {
    const { api, logIn } = scene;
    const user = await signUp(api.call);
    const device = deviceOf(await logIn(user, { from: "203.0.113.1" }));
    await t.step(
      "it is let in from anywhere while strangers, the owner among them, are not",
      async () => {
        await useUp(scene, user.email, "198.51.100");
        assertRefused(await logIn(user, { from: "203.0.113.2" }), 429, "rate_limited");
        for (let i = 0; i < 20; i++) {
          assertEquals((await logIn(user, { from: "198.51.100.1", device })).status, 200);
        }
      },
    );
    await t.step("an address that is out of attempts is no matter to it", async () => {
      for (let i = 0; i < 31; i++) {
        await logIn({ email: `u${i}@example.com`, password: wrong }, { from: "203.0.113.9" });
      }
      assertRefused(
        await logIn({ ...user, email: "x@example.com" }, { from: "203.0.113.9" }),
        429,
        "rate_limited",
      );
      assertEquals((await logIn(user, { from: "203.0.113.9", device })).status, 200);
    });
    await t.step("it is good for one account, as it was given, and for ninety days", async () => {
      const other = await signUp(api.call);
      await useUp(scene, other.email, "198.51.101");
      assertRefused(await logIn(other, { from: "203.0.113.3", device }), 429, "rate_limited");
      for (const index of [0, 10, 40, device.length - 2]) {
        const changed = device.slice(0, index) + (device[index] === "A" ? "B" : "A") +
          device.slice(index + 1);
        assertRefused(
          await logIn(user, { from: "203.0.113.4", device: changed }),
          429,
          "rate_limited",
        );
      }
      for (const text of ["", "x", device.slice(1), `${device}A`, "A".repeat(device.length)]) {
        assertRefused(
          await logIn(user, { from: "203.0.113.4", device: text }),
          429,
          "rate_limited",
        );
      }
      api.clock.aheadMs += 91 * dayMs;
      await useUp(scene, user.email, "198.51.103");
      assertRefused(await logIn(user, { from: "203.0.113.5", device }), 429, "rate_limited");
    });
  });
});

Deno.test("known places of an account fail a hundred times a day together, then they are strangers", async () => {
  await onStage(async (scene) => {
    const { logIn, api } = scene;
    const user = await signUp(api.call);
    const devices = [
      deviceOf(await logIn(user, { from: "203.0.113.1" })),
      deviceOf(await logIn(user, { from: "203.0.113.1" })),
    ];
    await useUp(scene, user.email, "198.51.100");
    const statuses: number[] = [];
    for (let i = 0; i < 102; i++) {
      const visit = { from: `203.0.113.${i}`, device: devices[i % 2] ?? "" };
      statuses.push((await logIn({ ...user, password: wrong }, visit)).status);
    }
    const failed = statuses.filter((status) => status === 401).length;
    // On a slow machine one comes back meanwhile.
    assert(failed === 100 || failed === 101, `${failed} of 102 were judged`);
    api.clock.aheadMs += dayMs;
    assertEquals(
      (await logIn(user, { from: "203.0.113.1", device: devices[0] ?? "" })).status,
      200,
    );
  });
});

Deno.test("sign-up, login, a changed password and a reset make a place known; a new password ends all that were", async () => {
  await onStage(async (scene) => {
    const { api, backend, logIn } = scene;
    const email = `owner-${crypto.randomUUID()}@example.com`;
    const old = "1234567 apples";
    const created = await api.call("POST", "/v1/accounts", { body: { email, password: old } });
    const fromSignUp = deviceOf(created);
    const session = await api.call("POST", "/v1/session", { body: { email, password: old } });
    const cookies = session.headers.getSetCookie();
    const [cookie = "", ...attributes] = (cookies.find((text) =>
      text.includes("static_device=")
    ) ?? "").split("; ");
    assertEquals(cookie, `static_device=${deviceOf(session)}`);
    assertEquals(attributes.sort(), [
      "HttpOnly",
      `Max-Age=${90 * 86_400}`,
      "Path=/",
      "SameSite=Strict",
    ]);
    const isKnown = async (password: string, device: string): Promise<boolean> =>
      (await logIn({ email, password }, { from: "203.0.113.7", device })).status === 200;
    await useUp(scene, email, "198.51.100");
    assert(await isKnown(old, fromSignUp) && await isKnown(old, deviceOf(session)));
    const byCookie = await api.call("POST", "/v1/session", {
      body: { email, password: old },
      headers: { cookie, "x-forwarded-for": "203.0.113.8" },
    });
    assertEquals(byCookie.status, 200);
    const inBrowser = await api.call("POST", "/v1/session", {
      body: { email, password: old },
      headers: { cookie, "sec-fetch-site": "same-origin" },
    });
    // A script reads headers.
    assertEquals([inBrowser.status, inBrowser.headers.get("static-device")], [200, null]);
    assert(inBrowser.headers.getSetCookie().some((text) => text.startsWith("static_device=")));

    const key = created.json.api_key;
    const code = await codeTo(backend, email, 1);
    await api.call("POST", "/v1/account/verification/confirm", { key, body: { code } });
    const second = "2345678 apples";
    const changed = await api.call("POST", "/v1/account/password", {
      key,
      body: { password: old, new_password: second },
      headers: { "x-forwarded-for": "198.51.100.1" },
    });
    assertEquals(changed.status, 200, changed.text);
    await useUp(scene, email, "198.51.101");
    assert(await isKnown(second, deviceOf(changed)));
    assert(!await isKnown(second, fromSignUp) && !await isKnown(second, deviceOf(session)));

    await api.call("POST", "/v1/accounts/reset", { body: { email } });
    const third = "3456789 apples";
    const body = { email, code: await codeTo(backend, email, 2), new_password: third };
    const reset = await api.call("POST", "/v1/accounts/reset/confirm", { body });
    assertEquals(reset.status, 200, reset.text);
    await useUp(scene, email, "198.51.102");
    assert(await isKnown(third, deviceOf(reset)) && !await isKnown(third, deviceOf(changed)));
    const devices = [fromSignUp, deviceOf(session), deviceOf(changed), deviceOf(reset)];
    for (const device of devices) assert(!api.logs.some((line) => line.includes(device)));
  });
});

Deno.test("beyond the budget an address that has an account and one that has none are answered alike, with a token and without", async () => {
  await onStage(async (scene) => {
    const { api, logIn } = scene;
    const user = await signUp(api.call);
    const device = deviceOf(await logIn(await signUp(api.call), { from: "203.0.113.1" }));
    const nobody = `nobody-${crypto.randomUUID()}@example.com`;
    await useUp(scene, user.email, "198.51.100");
    await useUp(scene, nobody, "198.51.100");
    const shapeOf = ({ status, json, headers }: Answer): unknown => [
      status,
      { ...json, error: "", request_id: "" },
      headers.get("ratelimit-policy"),
      [...headers.keys()].filter((name) => !["date", "x-request-id"].includes(name)),
    ];
    for (const visit of [{ from: "203.0.113.2" }, { from: "203.0.113.2", device }]) {
      const [known, unknown] = [
        await logIn(user, visit),
        await logIn({ ...user, email: nobody }, visit),
      ];
      assertRefused(known, 429, "rate_limited");
      assertEquals(shapeOf(known), shapeOf(unknown));
    }
  });
});

Deno.test("aliases with a plus are one mailbox for guesses and for mails, and accounts of their own", async () => {
  await onStage(async (scene) => {
    const { api, logIn } = scene;
    const name = `a-${crypto.randomUUID()}`;
    const password = "1234567 apples";
    const emails = ["", "+one", "+two"].map((alias) => `${name}${alias}@example.com`);
    const ids = new Set<string>();
    for (const email of emails) {
      const { json } = await api.call("POST", "/v1/accounts", { body: { email, password } });
      ids.add(json.id);
    }
    assertEquals(ids.size, 3);
    await useUp(scene, emails[1] ?? "", "198.51.100");
    for (const email of emails) {
      assertRefused(await logIn({ email, password }, { from: "203.0.113.1" }), 429, "rate_limited");
    }
    const asked: number[] = [];
    for (let i = 0; i < 8; i++) {
      const body = { email: `${name}+claim${i}@example.com` };
      asked.push((await api.call("POST", "/v1/accounts/claim", { body })).status);
    }
    assertEquals(asked.filter((status) => status === 204).length, 5);
    // Strangers who make up aliases do not keep the plain address from its own.
    assertEquals(
      (await api.call("POST", "/v1/accounts/claim", { body: { email: emails[0] } })).status,
      204,
    );
  });
});

async function verified({ api, backend }: Scene): Promise<SignedUp> {
  const user = await signUp(api.call);
  const code = await codeTo(backend, user.email, 1);
  const body = { code };
  assertEquals(
    (await api.call("POST", "/v1/account/verification/confirm", { key: user.apiKey, body })).status,
    200,
  );
  return user;
}

Deno.test("requests for a reset are always 202, and send at most three mails in an hour", async () => {
  await onStage(async (scene) => {
    const { api, backend } = scene;
    const { email } = await verified(scene);
    // The mark: a mail of an account that asks last is sent last.
    const ask = async (address: string, from: string): Promise<number> =>
      (await api.call("POST", "/v1/accounts/reset", {
        body: { email: address },
        headers: { "x-forwarded-for": from },
      }))
        .status;
    const statuses: number[] = [];
    for (let minute = 0; minute <= 60; minute += 5) {
      for (let i = 0; i < 5; i++) {
        statuses.push(
          await ask(email, `198.51.100.${minute + i}`),
          await ask(`no-${email}`, `198.51.100.${minute}`),
        );
      }
      const mark = await verified(scene);
      assertEquals(await ask(mark.email, "203.0.113.50"), 202);
      await mailTo(backend, mark.email, 2);
      if (minute < 60) api.clock.aheadMs += 5 * minuteMs;
    }
    assertEquals(new Set(statuses), new Set([202]));
    const letters = await mailTo(backend, email, 1);
    assertEquals(letters.filter((text) => text.includes("Reset your password")).length, 3);
  });
});

Deno.test("a client learns from no budget of mails whether a reset was for an account", async () => {
  await onStage(async ({ api, backend }) => {
    const headers = { "x-forwarded-for": "198.51.100.1" };
    const users = [await signUp(api.call), await signUp(api.call), await signUp(api.call)];
    for (const { email } of users) {
      await api.call("POST", "/v1/accounts/reset", { body: { email }, headers });
      await mailTo(backend, email, 2);
    }
    const claims: number[] = [];
    for (let i = 0; i < 20; i++) {
      const body = { email: `claim-${crypto.randomUUID()}@example.com` };
      claims.push((await api.call("POST", "/v1/accounts/claim", { body, headers })).status);
    }
    assertEquals(claims, Array(20).fill(204));
  });
});

Deno.test("a stranger's requests for a reset never leave the owner without a good code, and one use ends all codes", async () => {
  await onStage(async (scene) => {
    const { api, backend, logIn } = scene;
    const { email } = await verified(scene);
    const ask = async (): Promise<void> =>
      void await api.call("POST", "/v1/accounts/reset", { body: { email } });
    const codes: string[] = [];
    const confirm = (code: string): Promise<Answer> =>
      api.call("POST", "/v1/accounts/reset/confirm", {
        body: { email, code, new_password: "another password 1" },
      });
    // At every moment the newest code has half an hour left at least, also if a stranger asked for
    // it.
    for (let mail = 2; mail <= 4; mail++) {
      for (let i = 0; i < 6; i++) await ask();
      codes.push(await codeTo(backend, email, mail));
      if (mail === 4) break;
      api.clock.aheadMs += 29 * minuteMs + 30_000;
      await ask();
      api.clock.aheadMs += 31_000;
    }
    assertEquals(new Set(codes).size, 3);
    assertRefused(await confirm(codes[0] ?? ""), 400, "code_invalid");
    const before = await confirm(codes[1] ?? "");
    assertEquals(before.status, 200, before.text);
    assertRefused(await confirm(codes[2] ?? ""), 400, "code_invalid");
    assertEquals(
      (await logIn({ email, password: "another password 1" }, { from: "203.0.113.1" })).status,
      200,
    );
  });
});

Deno.test("an address that was never verified gets a hint at most three times an hour, and a mail server that is full delays no answer", async () => {
  await onStage(async ({ api, backend }) => {
    const user = await signUp(api.call);
    const ask = async (): Promise<number> =>
      (await api.call("POST", "/v1/accounts/reset", { body: { email: user.email } })).status;
    for (let i = 0; i < 10; i++) assertEquals(await ask(), 202);
    const hints = await mailTo(backend, user.email, 2);
    assert(!codeForm.test(hints.at(-1) ?? ""));
    const sql = backend.sql();
    try {
      await sql`
        INSERT INTO mail_queue (id, recipient, subject, body, next_attempt_at, expires_at)
        SELECT gen_random_uuid(), 'x@example.com', '', '', now() + interval '1 day', now() + interval '1 day'
        FROM generate_series(1, 10000)`;
      api.clock.aheadMs += 31 * minuteMs;
      assertEquals(await ask(), 202);
      const said = (): Promise<boolean> =>
        Promise.resolve(api.logs.some((line) => line.includes("reset_not_sent")));
      await eventually({ what: "the log of a reset that was not sent" }, said, (isSaid) => isSaid);
      assert(!api.logs.some((line) => line.includes(user.email)));
    } finally {
      await sql.end();
    }
    assertEquals((await mailTo(backend, user.email, 2)).length, 2);
  });
});
