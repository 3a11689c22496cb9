/** Renders the operations of `docs/host.md` from the host protocol's table. */
import type { HostField, HostShape } from "../../proto/host/fields.ts";
import { type HostOperation, operations } from "../../proto/host/operations.ts";

const [begins, ends] = ["<!-- operations -->\n", "<!-- end of operations -->"];

/** The page with its table made anew, not yet formatted. */
export function renderHost(page: string): string {
  const rows = Object.entries(operations).map(([op, row]) =>
    `| \`${op}\` | ${row.says} | ${given(row)} | ${result(row)} | ${repeated(row)} |`
  );
  const table = [
    "| operation | | fields (`?` may be left out); bytes | result | twice |",
    "|---|---|---|---|---|",
    ...rows,
  ];
  return `${page.slice(0, page.indexOf(begins) + begins.length)}\n${table.join("\n")}\n\n${
    page.slice(page.indexOf(ends))
  }`;
}

function given({ fields, bytes }: HostOperation): string {
  return [namesOf(fields), ...(bytes === undefined ? [] : [`bytes: ${bytes}`])].filter((part) =>
    part !== ""
  ).join(
    "; ",
  );
}

function result({ answer = {}, brings, items, changes }: HostOperation): string {
  const named = items === undefined ? namesOf(answer) : `\`stream\`; items: ${namesOf(items)}`;
  const parts = [
    named,
    brings === undefined ? "" : `bytes: ${brings}`,
    changes === true ? "`state`" : "",
  ];
  return parts.filter((part) => part !== "").join("; ");
}

function repeated({ again }: HostOperation): string {
  return again === undefined ? "" : again === true ? "yes" : `with \`${again}\``;
}

function namesOf(shape: HostShape): string {
  return Object.entries(shape).map(([name, field]) => {
    const notes = notesOf(field);
    return `\`${name}${field.optional === true ? "?" : ""}\`${notes === "" ? "" : ` (${notes})`}`;
  }).join(", ");
}

function notesOf(field: HostField): string {
  const says = field.says === undefined ? [] : [field.says];
  return [...inside(field), ...says].join("; ");
}

function inside(field: HostField): string[] {
  switch (field.kind) {
    case "choice":
      return [field.words.map((word) => `\`${word}\``).join(", ")];
    case "number":
      return field.limits === undefined || field.limits.min === 0
        ? []
        : [`${field.limits.min} to ${field.limits.max}`];
    case "list":
      return [
        ...(field.limits === undefined
          ? ["a list"]
          : [`${field.limits.min} to ${field.limits.max}`]),
        ...(field.says === undefined ? [namesOf(field.shape)] : []),
      ];
    case "object":
      return [namesOf(field.shape)];
    case "texts":
      return field.says === undefined ? ["a list"] : [];
    default:
      return [];
  }
}
