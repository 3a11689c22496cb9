/**
 * Names of types that send a reader to the wrong place: one that several files declare, and a bare
 * participle, which says that something was done and not what the thing is.
 */
import { lineAt, type SourceFile } from "../source.ts";
import type { MeasuredSize } from "./ceilings.ts";

interface DeclaredType {
  readonly name: string;
  readonly path: string;
  readonly line: number;
}

const declaration =
  /^(?:export )?(?:default )?(?:declare )?(?:abstract )?(?:interface|class|enum|type) ([A-Za-z_]\w*)(?=[\s<{=])/gm;
const participle = /^[A-Z][a-z]*[b-df-hj-np-tv-z](?:ed|ing)$/;
const irregular = new Set(
  [
    ...["Begun", "Born", "Bound", "Broken", "Brought", "Built", "Chosen", "Come", "Cut", "Done"],
    ...["Drawn", "Fallen", "Fed", "Found", "Given", "Gone", "Grown", "Heard", "Held", "Hidden"],
    ...["Kept", "Known", "Left", "Lent", "Lost", "Made", "Meant", "Met", "Owed", "Paid", "Put"],
    ...["Run", "Said", "Seen", "Sent", "Set", "Shown", "Shut", "Spent", "Spoken", "Stolen"],
    ...["Taken", "Thrown", "Told", "Torn", "Understood", "Won", "Woken", "Written"],
  ],
);

/** They end like participles. */
const nouns = new Set(["Greeting", "Setting"]);

/** Benchmarks are programs of their own, whose names nobody meets elsewhere. */
export function measureTypeNames(product: readonly SourceFile[]): MeasuredSize[] {
  const declared = product.filter(({ path }) => /^(?!bench\/).*\.ts$/.test(path)).flatMap(typesOf);
  const sizes: MeasuredSize[] = [];
  for (const [place, all] of Map.groupBy(declared, ({ name }) => name)) {
    const [first] = all.toSorted((one, other) => one.path < other.path ? -1 : 1);
    if (first === undefined) continue;
    const { path, line } = first;
    sizes.push({ rule: "type_declarations", path, line, place, size: all.length });
    if ((participle.test(place) || irregular.has(place)) && !nouns.has(place)) {
      sizes.push({ rule: "bare_participles", path, line, place, size: 1 });
    }
  }
  return sizes;
}

function typesOf({ path, code }: SourceFile): DeclaredType[] {
  return Array.from(code.matchAll(declaration), ({ index, 1: name = "" }) => ({
    name,
    path,
    line: lineAt(code, index),
  }));
}
