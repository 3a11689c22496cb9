import { assert, assertEquals } from "@std/assert";
import { installed, testWhen } from "../support/mod.ts";
import { shortLived } from "../support/short_lived.ts";
import { Terminal } from "./terminal.ts";
import { assertNoStackTrace } from "./user.ts";

const password = "correct horse battery staple";
const program = String.raw`npx -y deno@\S+ task static`;

/**
 * A shell that knows the commands that are shown; npx is played by the Deno that runs this, so that
 * nothing is fetched.
 */
async function prepareShell(folder: string): Promise<Readonly<Record<string, string>>> {
  await Deno.mkdir(`${folder}/bin`);
  await Deno.symlink(Deno.execPath(), `${folder}/bin/deno`);
  await Deno.writeTextFile(`${folder}/bin/npx`, '#!/bin/sh\nshift 2\nexec deno "$@"\n', {
    mode: 0o755,
  });
  return {
    ...shortLived,
    PATH: `${folder}/bin:${Deno.env.get("PATH")}`,
    STATIC_DATA_DIR: `${folder}/stack`,
    STATIC_API_PORT: "0",
    STATIC_INTERNAL_PORT: "0",
    STATIC_ADMIN_PORT: "0",
    STATIC_RELAY_GRPC_PORT: "0",
    STATIC_RELAY_QUIC_PORT: "0",
    XDG_CONFIG_HOME: `${folder}/config`,
    XDG_DATA_HOME: `${folder}/data`,
    STATIC_HOST: "off",
    // As with a Deno that npm has brought: the longest commands that are ever shown.
    npm_command: "exec",
  };
}

testWhen(
  installed("script", "bash"),
  "a new user gets from start to an encrypted message with nothing but the commands on the screen",
  async () => {
    const folder = await Deno.makeTempDir({ prefix: "static-new-user-" });
    try {
      await walk(await prepareShell(folder));
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
);

async function walk(variables: Readonly<Record<string, string>>): Promise<void> {
  const shell = (columns: number): string => `stty cols ${columns}; exec bash --norc --noprofile`;
  await using stack = new Terminal("deno task start", variables);
  const [, where = ""] = await stack.see(
    /Next, in another terminal:\s+(export \S+ \S+ \S+)/,
    300_000,
  );
  const [, signup = ""] = await stack.see(new RegExp(`^ +(${program} signup)`, "m"));
  const [, create = ""] = await stack.see(new RegExp(`^ +(${program} channel create \\S+)$`, "m"));

  await using first = new Terminal(shell(80), variables);
  await first.type(`${where}\n${signup}\n`);
  await first.see(/E-mail: /);
  await first.type("new@example.com\n");
  await first.see(/\nPassword: /);
  await first.type(`${password}\r`);
  await first.see(/Password again: /);
  await first.type(`${password}\r`);
  await first.see(/Account new@example\.com created/);
  await first.see(/Next:/);
  await first.type(`${create}\n`);
  const [, invite = ""] = await first.see(
    new RegExp(`Invite an agent:\\s+(${program} channel invite \\S+)`),
  );
  await first.type(`${invite}\n`);
  const [token] = await first.see(/inv_[\w-]{60,}/);
  const [, join = ""] = await first.see(
    new RegExp(`paste the token:\\s+(${program} channel join \\S+ --agent \\S+)`),
  );

  await using second = new Terminal(shell(40), variables);
  await second.type(`${join}\n`);
  // In a narrow terminal a sentence may go on in the next line, wherever two words meet.
  await second.see(/Invite\s+token\s+or\s+link\s+\(not\s+shown\): /);
  await second.type(`${token}\r`);
  await second.see(
    /Joined\s+acme\/ops\/deploy,\s+with\s+[\w-]{22}\s+\(of\s+your\s+account;\s+calls\s+itself\s+"default-\w{4}"\)/,
  );
  const [, send = ""] = await second.see(
    new RegExp(`Read\\s+and\\s+write:[^]*?(echo hello \\| ${program} channel send [^\\n]+)`),
  );

  await first.see(/calls itself "bob-\w{4}"\)? has joined/);
  const [, listen = ""] = await first.see(
    new RegExp(`Read and write:\\s+(${program} channel listen \\S+)`),
  );
  await first.type(`${listen}\n`);
  await first.see(/Listening on acme\/ops\/deploy/);
  await second.type(`${send}\n`);
  await first.see(
    /\d\d:\d\d:\d\d [\w-]{22} {2}of your account; calls itself "bob-\w{4}" {2}hello\n/,
  )
    .catch((error) => {
      // Whether it was sent is on the other screen.
      throw new Error(`${error.message}\nthe sender's screen: ${second.screen.slice(-2_000)}`);
    });
  await first.type("\x03echo code $?\n");
  await first.see(/code 0/);

  for (const { screen } of [first, second]) {
    assertNoStackTrace(screen);
    assert(!screen.includes(password) && !/sk_live_\w{20}/.test(screen), screen);
  }
  assert(!second.screen.includes(token), "the token is not shown where it is pasted");
  await stack.type("\x03");
  assertEquals(await stack.end(), 0);
}
