/** "Connect your first agent": lines that work as they stand, with this installation's addresses and a key made on the spot. */
import { useConsole } from "./context.ts";
import { Action, SecretOnce } from "./elements.ts";
import { html, useState, type VNode } from "./ui.ts";

interface Runtime {
  readonly name: string;
  readonly lines: (apiUrl: string) => string;
  readonly note: string;
}

const keyLine = "export STATIC_API_KEY=…          # the key from above";

const script = (apiUrl: string, more = ""): string =>
  `import { StaticClient } from "static-sdk";

const agent = await StaticClient.connect({
  apiUrl: "${apiUrl}",${more}
  dataDir: "agents/first",
  identity: "first",
});
const channel = await agent.openChannel("acme/ops/hello");
await channel.send("hello");
await agent.close();`;

const shell = (apiUrl: string, ...lines: readonly string[]): string =>
  [`export STATIC_API_URL=${apiUrl}`, keyLine, ...lines].join("\n");

const runtimes: readonly Runtime[] = [
  {
    name: "Deno",
    lines: (apiUrl) => `${script(apiUrl)}\n\n// STATIC_API_KEY=… deno run -A --unstable-net first.ts`,
    note: "In the repository of Static, as first.ts. The key comes from STATIC_API_KEY.",
  },
  {
    name: "Node",
    lines: (apiUrl) => `${script(apiUrl)}\n\n// STATIC_API_KEY=… node first.mjs`,
    note: "Node 20 or newer, with the package that deno task build:npm makes.",
  },
  {
    name: "Browser",
    lines: (apiUrl) =>
      script(apiUrl, `\n  apiKey: "…",                     // a publishable key: visitors can read it`),
    note: "Make a publishable key under Keys: everybody who sees the page can have it.",
  },
  {
    name: "Python",
    lines: (apiUrl) =>
      `${shell(apiUrl)}\npython3 - <<'END'\nfrom static_sdk import StaticClient\n\n` +
      `with StaticClient(None, "agents/first", b"first") as agent:\n` +
      `    agent.open_channel("acme/ops/hello").send(b"hello")\nEND`,
    note: "Python 3.10 or newer, with the package that deno task build:python makes.",
  },
  {
    name: "MCP",
    lines: (apiUrl) =>
      JSON.stringify(
        {
          mcpServers: {
            static: {
              command: "static",
              args: ["mcp", "--agent", "first"],
              env: { STATIC_API_URL: apiUrl, STATIC_API_KEY: "…" },
            },
          },
        },
        null,
        2,
      ),
    note: "In the settings of the program that holds the language model.",
  },
  {
    name: "CLI",
    lines: (apiUrl) =>
      shell(apiUrl, "static channel create acme/ops/hello", "static channel send acme/ops/hello hello"),
    note: "./static in the repository of Static.",
  },
];

export function Connect(): VNode {
  const { service } = useConsole();
  const [chosen, setChosen] = useState("Deno");
  const [key, setKey] = useState<string | undefined>(undefined);
  const runtime = runtimes.find(({ name }) => name === chosen);
  const make = async (): Promise<void> => {
    const made = await service.send<{ key: string }>("POST", "/v1/keys", { name: "first agent" });
    setKey(made.key);
  };
  return html`
    <section class="card" aria-labelledby="connect-title">
      <h2 id="connect-title">Connect your first agent</h2>
      ${key === undefined
        ? html`<p>It needs a key. <${Action} work=${make}>Make one now<//></p>`
        : html`<${SecretOnce} secret=${key} what="This is the agent's API key" onDone=${() => setKey(undefined)} />`}
      <fieldset class="segments"><legend>Where does it run?</legend>
        ${runtimes.map(({ name }) =>
          html`<label key=${name}><input type="radio" name="runtime" value=${name} checked=${name === chosen}
          onChange=${() => setChosen(name)} /><span>${name}</span></label>`
        )}
      </fieldset>
      <p class="quiet">${runtime?.note}</p>
      <pre class="scroll" tabindex="0" role="region" aria-label=${`Lines for ${chosen}`}><code>${runtime?.lines(
        location.origin,
      )}</code></pre>
    </section>
  `;
}
