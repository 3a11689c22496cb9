import { assertEquals, assertStringIncludes } from "@std/assert";
import {
  encodeApiKey,
  formatJoinLink,
  type JoinLink,
  parseAgentId,
  parseChannelId,
  parseChannelName,
} from "../../proto/mod.ts";
import { type Outcome, startCli } from "../testing/test_host.ts";

/** Nothing listens there. */
const nowhere = "http://127.0.0.1:1";

function linkWith(parts: Partial<JoinLink>): string {
  const invite = {
    channelId: parseChannelId("A".repeat(22)),
    name: parseChannelName("acme/links/visit"),
    inviter: parseAgentId("B".repeat(22)),
    secret: new Uint8Array(32),
  };
  return formatJoinLink({ invite, apiUrl: nowhere, relayUrls: [], ...parts });
}

function passOf(letter: string): string {
  return encodeApiKey({ environment: "live", lookup: letter.repeat(8), secret: letter.repeat(32) });
}

async function join(folder: string, link: string): Promise<Outcome> {
  const options = { folder, variables: { STATIC_HOST: "off" }, input: `${link}\n` };
  return await startCli(["channel", "join", "--json"], options).done;
}

Deno.test("a guest keeps the pass that works when a link for the same channel leads nowhere", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const agent = `${folder}/data/static/agents/default`;
    await Deno.mkdir(agent, { recursive: true });
    const record = {
      identity: "guest",
      guest: { link: linkWith({ pass: passOf("a") }), joined: true },
    };
    await Deno.writeTextFile(`${agent}/agent.json`, JSON.stringify(record));
    const { code, stderr } = await join(folder, linkWith({ pass: passOf("b") }));
    assertEquals(code, 5, stderr);
    assertEquals(JSON.parse(await Deno.readTextFile(`${agent}/agent.json`)), record);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a link in a place where no command takes one is not repeated by the error", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const link = linkWith({ pass: passOf("a") });
    const secret = link.slice(link.indexOf("#") + 1);
    for (const argv of [[link], ["channel", link], ["channel", "join", "acme/a/b", "x", link]]) {
      const { code, stderr } = await startCli(argv, { folder }).done;
      assertEquals(code, 2);
      assertStringIncludes(stderr, "[secret removed]");
      assertEquals(stderr.includes(secret.slice(0, 40)), false, stderr);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
