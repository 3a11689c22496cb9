/**
 * The generated files of the Python package: `table.py` from the host protocol's table, and the
 * blocking face from the one for asyncio.
 */
import { operations } from "../proto/host/operations.ts";

/** Returns `table.py`: what the package knows of each operation. */
export function renderPythonTable(): string {
  const all = Object.entries(operations);
  const again = all.flatMap(([op, { again }]) =>
    again === undefined ? [] : [[op, again === true ? "True" : quoted(again)]]
  );
  const results = all.flatMap(([op, { answer = {}, brings, items }]) => {
    const [name, ...more] = Object.keys(answer);
    if (items !== undefined) return [];
    if (brings !== undefined) return name === undefined ? [[op, "None"]] : [];
    return name === undefined || more.length > 0 ? [] : [[op, quoted(name)]];
  });
  return `"""Of each operation. Generated from proto/host/operations.ts by tools/generate_python.ts; do not edit."""

from typing import Dict, Optional, Union

#: It may be said twice: to the next host, when the first one dies; always, or only with this field.
AGAIN: Dict[str, Union[bool, str]] = {
${rows(again)}
}

#: The field of its answer that is its value; None for the answer's bytes.
RESULT: Dict[str, Optional[str]] = {
${rows(results)}
}
`;
}

function rows(entries: readonly (readonly string[])[]): string {
  return entries.map(([op = "", value]) => `    ${quoted(op)}: ${value},`).join("\n");
}

function quoted(text: string): string {
  return JSON.stringify(text);
}

const blocking =
  `"""The names of the package, which block. Generated from aio.py by tools/generate_python.ts.

Do not edit.
"""
`;

/** Returns the blocking face, from the text of the one for asyncio, whose first words say how. */
export function renderBlocking(asyncio: string): string {
  return asyncio.replace(/^"""[^]*?"""\n/, blocking).split("\n")
    .filter((line) => !line.endsWith("  # asyncio"))
    .map((line) => line.replace(/^( *)# blocking: /, "$1"))
    .join("\n")
    .replace(/\basync (?=(?:def|with|for)\b)/g, "")
    .replace(/\bawait /g, "")
    .replace(/\b(StaticClient|ChannelManager)\.connect\(/g, "$1(")
    .replaceAll("__aenter__", "__enter__").replaceAll("__aexit__", "__exit__")
    .replaceAll("run_async", "run");
}
