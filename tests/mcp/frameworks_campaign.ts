// The examples with frameworks: the real packages, and a stub in the model's place. Each message of
// another agent begins a turn.
import { assert } from "@std/assert";
import { tried } from "../support/campaign.ts";
import { eventually } from "../support/mod.ts";
import { openScene } from "./scene.ts";

const examples = new URL("../../examples/models/", import.meta.url).pathname;

for (const file of ["ai_sdk.mjs", "openai_agents.mjs", "langgraph.mjs"]) {
  Deno.test(`examples/models/${file}: an idle model gets a turn for each message`, async () => {
    await using scene = await openScene();
    const { models, env, room, bot } = scene;
    // It ends its children with it.
    const program = new Deno.Command("timeout", {
      args: [
        "300",
        Deno.execPath(),
        "run",
        "-A",
        "--config",
        `${examples}packages.json`,
        examples + file,
      ],
      env: {
        ...env,
        STATIC_AGENT: "bot",
        OPENAI_BASE_URL: `${models.url}/v1`,
        OPENAI_API_KEY: "stub",
        MODEL: "stub",
      },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const [said, errors] = [program.stdout, program.stderr].map((all) => new Response(all).text());
    try {
      for (const number of [1, 2, 3]) {
        const [secret, from] = [`psst-${crypto.randomUUID()}`, models.asked.length];
        await room.send(secret, { to: bot });
        const turn = await eventually(
          { what: `turn ${number}`, withinMs: 120_000 },
          () => Promise.resolve(models.asked.slice(from)),
          (asked) => asked.some(({ body, isLast }) => isLast && body.includes(secret)),
        );
        const wake = turn.find(({ isWake }) => isWake);
        assert(wake !== undefined && !wake.body.includes(secret), "the wake has nothing of it");
      }
      tried(`${file}: 3 wakes`);
    } finally {
      program.kill("SIGTERM");
      await program.status;
      await Promise.all([said, errors]);
    }
  });
}
