/** Manifests as YAML: objects in blocks, and every text in quotes as JSON has them. */
import type { Json, Manifest } from "./manifests.ts";

export function writeYaml(manifests: readonly Manifest[]): string {
  return manifests.map((manifest) => `---\n${block(manifest, 0).join("\n")}\n`).join("");
}

function block(value: Json, depth: number): readonly string[] {
  const indent = "  ".repeat(depth);
  if (isList(value)) {
    return value.flatMap((item) => {
      const [first = "", ...rest] = isScalar(item)
        ? [`${indent}  ${JSON.stringify(item)}`]
        : block(item, depth + 1);
      return [`${indent}- ${first.trimStart()}`, ...rest];
    });
  }
  return Object.entries(value).flatMap(([name, item]) => {
    const key = /^[\w.-]+$/.test(name) ? name : JSON.stringify(name);
    return isScalar(item)
      ? [`${indent}${key}: ${JSON.stringify(item)}`]
      : [`${indent}${key}:`, ...block(item, depth + 1)];
  });
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

/** Returns whether a value stands on the line of its name. */
function isScalar(value: Json): boolean {
  return typeof value !== "object" || Object.keys(value).length === 0;
}
