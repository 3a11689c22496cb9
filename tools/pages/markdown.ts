/**
 * Reads a page of the documentation: its fenced blocks with the comment before each, its headings
 * and its links.
 */

export interface Block {
  readonly page: string;
  /** The line of the opening fence, from 1. */
  readonly line: number;
  readonly language: string;
  readonly text: string;
  /** Text of the HTML comment that stands directly before the block. */
  readonly comment: string | undefined;
}

export interface PageLink {
  readonly line: number;
  readonly target: string;
}

export interface DocumentPage {
  /** From the repository's root. */
  readonly path: string;
  readonly blocks: readonly Block[];
  readonly links: readonly PageLink[];
  /** Fragments that links may name, as GitHub makes them from headings. */
  readonly anchors: ReadonlySet<string>;
}

const repository = new URL("../../", import.meta.url);
const fence = /^( *)(`{3,})([\w+-]*) *$/;

/** For those who change a part: its page lies beside its code. */
export const besideCode = [
  "bench",
  "relay/engine",
  "sdk/channel",
  "sdk/mls",
  "sdk/store",
  "server/http2",
];

/**
 * The README first, because a stranger reads it first; then every page in `docs/`, and those beside
 * code.
 */
export function readPages(): DocumentPage[] {
  const inDocs = Array.from(
    Deno.readDirSync(new URL("docs/", repository)),
    ({ name }) => `docs/${name}`,
  )
    .filter((path) => path.endsWith(".md")).sort();
  const aboutTheProject = [
    "CONTRIBUTING.md",
    "CODE_OF_CONDUCT.md",
    "SUPPORT.md",
    "SECURITY.md",
    "CHANGELOG.md",
  ];
  const beside = besideCode.map((folder) => `${folder}/README.md`);
  return ["README.md", ...aboutTheProject, "examples/README.md", ...inDocs, ...beside].map(
    readPage,
  );
}

/** `path` is from the repository's root. */
export function readPage(path: string): DocumentPage {
  return parsePage(path, Deno.readTextFileSync(new URL(path, repository)));
}

export function parsePage(path: string, text: string): DocumentPage {
  const lines = text.split("\n");
  const blocks: Block[] = [];
  const prose: string[] = [];
  for (let index = 0; index < lines.length; index++) {
    const [, indent = "", ticks, language = ""] = fence.exec(lines[index] ?? "") ?? [];
    if (ticks === undefined) {
      prose.push(lines[index] ?? "");
      continue;
    }
    const end = lines.findIndex((line, other) => other > index && line.trim() === ticks);
    if (end === -1) throw new Error(`${path}:${index + 1}: a fenced block is not closed`);
    const body = lines.slice(index + 1, end).map((line) =>
      line.startsWith(indent) ? line.slice(indent.length) : line
    );
    const comment = /<!--((?:(?!-->)[^])*)-->\s*$/.exec(prose.join("\n"))?.[1]?.trim().replace(
      /\s+/g,
      " ",
    );
    blocks.push({ page: path, line: index + 1, language, text: `${body.join("\n")}\n`, comment });
    // The fence in place of every line keeps the numbering of what follows.
    prose.push(...Array.from({ length: end - index + 1 }, () => ticks));
    index = end;
  }
  return { path, blocks, links: linksIn(prose), anchors: anchorsOf(prose) };
}

function linksIn(prose: readonly string[]): PageLink[] {
  return prose.flatMap((line, index) =>
    Array.from(
      line.replace(/`[^`]*`/g, "").matchAll(/\]\(([^()\s]+)\)/g),
      ([, target = ""]) => ({ line: index + 1, target }),
    )
  );
}

/** Lower case, without punctuation, hyphens for spaces; a repeated heading gets a number. */
function anchorsOf(prose: readonly string[]): Set<string> {
  const anchors = new Set<string>();
  for (const line of prose) {
    const heading = /^#{1,6} (.+)$/.exec(line)?.[1];
    if (heading === undefined) continue;
    const plain = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
    const slug = plain.replace(/[^\p{L}\p{N} _-]/gu, "").trim().replaceAll(" ", "-");
    let anchor = slug;
    for (let count = 1; anchors.has(anchor); count++) anchor = `${slug}-${count}`;
    anchors.add(anchor);
  }
  return anchors;
}
