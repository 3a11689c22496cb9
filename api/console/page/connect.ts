/**
 * "Connect your first agent": lines that work as they stand, with this installation's addresses and
 * a key made on the spot.
 */
import { useConsole } from "./context.ts";
import { Action, Copy, SecretOnce } from "./elements.ts";
import { firstKeyText } from "./entrance.ts";
import { html, useState, type VNode } from "./ui.ts";

interface RuntimeGuide {
  readonly name: string;
  readonly lines: (apiUrl: string, key: string) => string;
  /**
   * A command apart from the lines, which are a file: neither key nor address belongs into a file
   * of code.
   */
  readonly run?: (apiUrl: string, key: string) => string;
  readonly note: string;
}

/** Stands for the key while none is shown. */
const noKey = "…";

/** Each runtime has an agent and a channel of its own: a name belongs to the agent that made it. */
const script = (runtime: string): string =>
  `import { StaticClient } from "static-sdk";

const agent = await StaticClient.connect({
  dataDir: "agents/${runtime}",
  identity: "${runtime}",
});
const channel = await agent.openChannel("acme/ops/${runtime}");
await channel.send("hello");
await agent.close();`;

/**
 * In a page everybody could read a key: it comes with a link, which is for one guest in one
 * channel.
 */
const pageScript = (apiUrl: string): string =>
  `import { StaticClient } from "static-sdk";

const link = "${apiUrl}/console/join#…"; // from "Make a link for a guest", on Live
const agent = await StaticClient.connect({
  link,
  dataDir: "agents/browser",
  identity: "browser",
});
const channel = await agent.join(link);
await channel.send("hello");
await agent.close();`;

const shell = (apiUrl: string, key: string, ...lines: readonly string[]): string =>
  [`export STATIC_API_URL=${apiUrl}`, `export STATIC_API_KEY=${key}`, ...lines].join("\n");

const runtimes: readonly RuntimeGuide[] = [
  {
    name: "Deno",
    lines: () => script("deno"),
    run: (apiUrl, key) => shell(apiUrl, key, "deno run -A --unstable-net first.ts"),
    note: "In the repository of Static, as first.ts. Deno 2.9 or newer.",
  },
  {
    name: "Node",
    lines: () => script("node"),
    run: (apiUrl, key) => shell(apiUrl, key, "node first.mjs"),
    note: "As first.mjs. Node 20 or newer, with the package that deno task build:npm makes.",
  },
  {
    name: "Browser",
    lines: (apiUrl) => pageScript(apiUrl),
    note:
      "With a bundler, and the package that deno task build:npm makes. A page of another origin " +
      "needs STATIC_CORS_ORIGINS at the service; loopback is allowed.",
  },
  {
    name: "Python",
    lines: (apiUrl, key) =>
      `${shell(apiUrl, key)}\npython3 - <<'END'\nfrom static_sdk import StaticClient\n\n` +
      `with StaticClient(None, "agents/python", b"python") as agent:\n` +
      `    agent.open_channel("acme/ops/python").send(b"hello")\nEND`,
    note: "Python 3.9 or newer, with the package that deno task build:python makes.",
  },
  {
    name: "MCP",
    lines: (apiUrl, key) =>
      JSON.stringify(
        {
          mcpServers: {
            static: {
              command: "static",
              args: ["mcp", "--agent", "first"],
              env: { STATIC_API_URL: apiUrl, STATIC_API_KEY: key },
            },
          },
        },
        null,
        2,
      ),
    note:
      "In the settings of the program that holds the language model. static comes with deno task install in the " +
      "repository of Static.",
  },
  {
    name: "CLI",
    lines: (apiUrl, key) =>
      shell(
        apiUrl,
        key,
        "./static channel create acme/ops/cli",
        "./static channel send acme/ops/cli hello",
      ),
    note:
      "In the repository of Static. After deno task install there, static works in every folder.",
  },
];

export function Connect(): VNode {
  const { service, firstKey, keyKept } = useConsole();
  const [chosen, setChosen] = useState("Deno");
  const [made, setMade] = useState<string | undefined>(undefined);
  const key = firstKey ?? made;
  const runtime = runtimes.find(({ name }) => name === chosen);
  const make = async (): Promise<void> => {
    const made = await service.send<{ key: string }>("POST", "/v1/keys", { name: "first agent" });
    setMade(made.key);
  };
  return html`
    <section class="card" aria-labelledby="connect-title">
      <h2 id="connect-title">Connect your first agent</h2>
      ${firstKey &&
        html`<${SecretOnce} secret=${firstKey} what=${firstKeyText} onDone=${keyKept} />`}
      ${made &&
        html`<${SecretOnce} secret=${made} what="This is the agent's API key" onDone=${() =>
          setMade(undefined)} />`}
      ${key === undefined && html`
        <p>It needs a key: put yours where "${noKey}" stands, or make a new one.</p>
        <p>
          <${Action} work=${make}>Make one now<//></p>
      `}
      <fieldset class="segments"><legend>Where does it run?</legend>
        ${runtimes.map(({ name }) =>
          html`<label key=${name}><input type="radio" name="runtime" value=${name} checked=${
            name === chosen
          }
          onChange=${() => setChosen(name)} /><span>${name}</span></label>`
        )}
      </fieldset>
      <p class="quiet">${runtime?.note}</p>
      <${Lines} label=${`Lines for ${chosen}`} text=${runtime?.lines(
        location.origin,
        key ?? noKey,
      ) ?? ""} />
      ${runtime?.run &&
        html`<${Lines} label=${`Command for ${chosen}`} text=${
          runtime.run(location.origin, key ?? noKey)
        } />`}
    </section>
  `;
}

function Lines({ label, text }: { label: string; text: string }): VNode {
  return html`
    <pre class="scroll" tabindex="0" role="region" aria-label=${label}><code>${text}</code></pre>
    <p>
      <${Copy} text=${text} label=${`Copy: ${label}`} />
    </p>
  `;
}
