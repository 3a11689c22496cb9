/**
 * Renders the second half of `docs/configuration.md`: every variable of every part in one
 * alphabetical list, collected from the tables of the parts' own pages. Tests compare those tables
 * with the code, so this list needs no other source.
 */

/** Part, page and the heading below which its table stands. */
const sources = [
  { part: "API", page: "docs/http_api.md", heading: "Configuration" },
  { part: "relay", page: "docs/relay.md", heading: "Configuration" },
  { part: "proxy", page: "docs/deploy.md", heading: "The stand-alone proxy" },
  { part: "client", page: "docs/configuration.md", heading: "Clients" },
] as const;

interface Variable {
  readonly name: string;
  readonly part: string;
  readonly place: string;
  readonly value: string;
  readonly meaning: string;
}

/** Everything from this heading on is generated. */
export const generatedFrom = "## All variables\n";

/** Returns the whole page as Markdown, not yet formatted. `read` returns the text of a page. */
export function renderConfiguration(read: (page: string) => string): string {
  const variables = sources.flatMap(({ part, page, heading }) =>
    rowsBelow(read(page), heading).flatMap(([names = "", values = "", meaning = ""]) =>
      variablesOf(names, values).map(({ name, value }) => ({
        name,
        part,
        place: place(page, heading),
        value,
        meaning,
      }))
    )
  );
  const rows = variables.toSorted(byName).map(({ name, part, place, value, meaning }) =>
    `| \`${name}\` | [${part}](${place}) | ${value} | ${meaning} |`
  );
  const page = read("docs/configuration.md");
  const table = ["| name | part | default | meaning |", "|---|---|---|---|", ...rows].join("\n");
  return `${
    page.slice(0, page.indexOf(generatedFrom))
  }${generatedFrom}\nGenerated from the tables of the parts.\n\n${table}\n`;
}

function byName(a: Variable, b: Variable): number {
  return a.name === b.name ? a.part.localeCompare(b.part) : a.name.localeCompare(b.name);
}

function place(page: string, heading: string): string {
  const anchor = heading.toLowerCase().replaceAll(" ", "-");
  return page === "docs/configuration.md"
    ? `#${anchor}`
    : `${page.slice("docs/".length)}#${anchor}`;
}

/** The cells of the rows of the first table below a heading. */
function rowsBelow(page: string, heading: string): string[][] {
  const [, section = ""] = page.split(`## ${heading}\n`);
  const lines = (section.split("\n## ")[0] ?? "").split("\n").filter((line) => /^\| `/.test(line));
  if (lines.length === 0) throw new Error(`There is no table of variables below "${heading}"`);
  return lines.map((line) => line.split("|").slice(1, -1).map((cell) => cell.trim()));
}

/**
 * A row may name several variables; their defaults then stand in the same order, with commas or
 * semicolons between.
 */
function variablesOf(
  names: string,
  values: string,
): { readonly name: string; readonly value: string }[] {
  const all = Array.from(names.matchAll(/`([A-Z][A-Z0-9_]+)`/g), ([, name = ""]) => name);
  const parts = values.split(values.includes(";") ? /; */ : /, +/);
  return all.map((name, index) => ({
    name,
    value: parts.length === all.length ? parts[index] ?? "" : values,
  }));
}
