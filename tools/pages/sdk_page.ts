/**
 * Renders `docs/sdk.md`: the public classes of the SDK with every method in TypeScript and its name
 * in Python, and the first sentence of its documentation. TypeScript is read from `deno doc`,
 * Python from the classes of the package.
 */

interface DocumentedItem {
  readonly name: string;
  readonly jsDoc?: { readonly doc?: string; readonly tags?: readonly { readonly kind: string }[] };
}

interface ClassMember extends DocumentedItem {
  readonly isStatic?: boolean;
  readonly accessibility?: string;
  readonly kind?: string;
  readonly functionDef?: {
    readonly params: readonly { readonly name?: string; readonly kind: string }[];
  };
}

interface Declaration {
  readonly kind: string;
  readonly jsDoc?: DocumentedItem["jsDoc"];
  readonly def: {
    readonly methods?: readonly ClassMember[];
    readonly properties?: readonly ClassMember[];
  };
}

interface DocSymbol {
  readonly name: string;
  readonly declarations: readonly Declaration[];
}

/** The classes in the order of the page, with the Python file of each. */
const classes = [
  { name: "StaticClient", files: ["blocking.py"] },
  { name: "Channel", files: ["blocking.py"] },
  { name: "ChannelManager", files: ["blocking.py"] },
  { name: "Envelope", files: ["values.py", "iterators.py"] },
  { name: "IncomingRequest", files: ["serving.py", "values.py"] },
] as const;

/** Python's names where they are not the same words in snake case. */
const renamed: Readonly<Record<string, string>> = {
  "StaticClient.connect": "StaticClient(…)",
  "ChannelManager.connect": "ChannelManager(…)",
  "Envelope.bytes": "payload",
};

const introduction = `# SDK reference

Both languages have the same methods: in Python in snake_case, with durations in seconds, and in \`static_sdk.aio\` as
coroutines. Installation and first lines: [TypeScript](../sdk/README.md), [Python](../sdk/python/README.md).
[Messages](messages.md), [guarantees](guarantees.md) and [errors](troubleshooting.md#error-codes) say how things work.
\`deno task reference\` writes every type and option as HTML to \`dist/reference/\`. This page is generated from the doc
comments of \`sdk/mod.ts\`.
`;

/** Returns the page as Markdown, not yet formatted. */
export async function renderSdk(root: string): Promise<string> {
  const symbols = await readSymbols(root);
  const sections = await Promise.all(classes.map(async ({ name, files }) => {
    const python = (await Promise.all(files.map((file) =>
      Deno.readTextFile(`${root}sdk/python/src/static_sdk/${file}`)
    )))
      .join("\n");
    return renderClass(
      find(symbols, name),
      new Set(
        Array.from(python.matchAll(/ {4}(?:async )?(?:def )?(\w+)(?:\(|: )/g), ([, word = ""]) =>
          word),
      ),
    );
  }));
  return `${introduction}\n${sections.join("\n\n")}\n\n${renderFunctions(symbols)}\n`;
}

function renderClass(symbol: DocSymbol, python: ReadonlySet<string>): string {
  const { def, jsDoc } = symbol.declarations[0] ?? { def: {} };
  const members = [...def.properties ?? [], ...def.methods ?? []].filter(isPublic);
  const seen = new Set<string>();
  const rows = members.filter(({ name }) => !seen.has(name) && seen.add(name)).map((member) => {
    const call = member.functionDef !== undefined && member.kind !== "getter";
    const parameters = (member.functionDef?.params ?? []).map(({ name }) => name ?? "options").join(
      ", ",
    );
    const written = `${member.isStatic ? `${symbol.name}.` : ""}${member.name}${
      call ? `(${parameters})` : ""
    }`;
    return `- \`${written}\`${inPython(symbol.name, member.name, python)}: ${
      firstSentence(member)
    }`;
  });
  return `## ${symbol.name}\n\n${
    firstSentence({ name: symbol.name, ...(jsDoc && { jsDoc }) })
  }\n\n${rows.join("\n")}`;
}

function renderFunctions(symbols: readonly DocSymbol[]): string {
  const rows = symbols.flatMap(({ name, declarations: [first] }) =>
    first?.kind === "function"
      ? [`- \`${name}\`: ${firstSentence({ name, ...(first.jsDoc && { jsDoc: first.jsDoc }) })}`]
      : []
  );
  return `## Functions\n\n${rows.join("\n")}`;
}

function isPublic({ name, accessibility, jsDoc }: ClassMember): boolean {
  if (accessibility === "private" || name.startsWith("[") || name.startsWith("#")) return false;
  return !(jsDoc?.tags ?? []).some(({ kind }) => kind === "internal");
}

/** Returns nothing where Python has the same name in snake case. */
function inPython(owner: string, name: string, python: ReadonlySet<string>): string {
  const other = renamed[`${owner}.${name}`];
  if (other !== undefined) return ` (Python: \`${other}\`)`;
  const snake = name.replace(/Ms$/, "").replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return python.has(snake) ? "" : " (not in Python)";
}

function firstSentence({ jsDoc }: DocumentedItem): string {
  const text = (jsDoc?.doc ?? "").replace(/\s+/g, " ").trim();
  return (/^.*?[.;](?= |$)/.exec(text)?.[0] ?? text).replace(/;$/, ".");
}

function find(symbols: readonly DocSymbol[], name: string): DocSymbol {
  const found = symbols.find((symbol) => symbol.name === name);
  if (found === undefined) throw new Error(`sdk/mod.ts does not export ${name}`);
  return found;
}

async function readSymbols(root: string): Promise<readonly DocSymbol[]> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["doc", "--json", "sdk/mod.ts"],
    cwd: root,
  }).output();
  if (!success) throw new Error(`Cannot read sdk/mod.ts: ${new TextDecoder().decode(stderr)}`);
  const { nodes }: { nodes: Readonly<Record<string, { symbols: readonly DocSymbol[] }>> } = JSON
    .parse(
      new TextDecoder().decode(stdout),
    );
  return Object.values(nodes).flatMap(({ symbols }) => symbols);
}
