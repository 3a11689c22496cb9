/** Renders the operations of `docs/host.md` from the host protocol's table. */
import type { HostShape } from "../../proto/host/fields.ts";
import { type HostOperation, operations } from "../../proto/host/operations.ts";

const [begins, ends] = ["<!-- operations -->\n", "<!-- end of operations -->"];

/** The page with its list made anew, not yet formatted. */
export function renderHost(page: string): string {
  const items = Object.entries(operations).map(([op, row]) =>
    `- \`${op}\`: ${[row.says, ...given(row), ...result(row), ...repeated(row)].join("; ")}`
  );
  return `${page.slice(0, page.indexOf(begins) + begins.length)}\n${items.join("\n")}\n\n${
    page.slice(page.indexOf(ends))
  }`;
}

function given({ fields, bytes }: HostOperation): string[] {
  return [...namesOf("fields", fields), ...(bytes === undefined ? [] : [`bytes: ${bytes}`])];
}

function result({ answer = {}, brings, items, changes }: HostOperation): string[] {
  return [
    ...(items === undefined ? namesOf("result", answer) : namesOf("a stream of", items)),
    ...(brings === undefined ? [] : [`result bytes: ${brings}`]),
    ...(changes === true ? ["result `state`"] : []),
  ];
}

function repeated({ again }: HostOperation): string[] {
  return again === undefined ? [] : [again === true ? "twice" : `twice with \`${again}\``];
}

function namesOf(what: string, shape: HostShape): string[] {
  const names = Object.entries(shape).map(([name, { optional }]) =>
    `${name}${optional === true ? "?" : ""}`
  );
  return names.length === 0 ? [] : [`${what} \`${names.join(" ")}\``];
}
