/**
 * The tools of another agent that a person has accepted. Names, descriptions and arguments are that
 * agent's text, and a model reads them as if its user had written them: so they are cut and
 * screened, shown to a person once, and kept on disk. The model sees what the person saw.
 */
import type { UserFiles } from "../platform/platform.ts";
import { seenText, seenValue } from "../mcp/screening.ts";
import { isRecord, versionField } from "./wire.ts";

export interface AcceptedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** As its agent calls this version of it; given back with each call. */
  readonly version: string | undefined;
}

export interface ScreenedTools {
  readonly tools: readonly AcceptedTool[];
  /** How many tools are left out, because they are too many, too long or have no usable name. */
  readonly leftOut: number;
}

/** Services of models take 64 characters; the user's word stands in front. */
const nameForm = /^[A-Za-z0-9_-]{1,44}$/;
const versionForm = /^[\x21-\x7e]{1,64}$/;
const [maxTools, maxDescription, maxSchema, maxAll] = [64, 1024, 16 * 1024, 64 * 1024];
/** Where a harness would look for more: it must not fetch what another agent names. */
const isReference = (name: string): boolean => name === "$ref" || name === "$dynamicRef";
const dropped: ReadonlySet<string> = new Set([
  "$id",
  "$schema",
  "$anchor",
  "$dynamicAnchor",
  "$vocabulary",
  // Regular expressions of others can take a checker for ever.
  "pattern",
  "patternProperties",
]);

/** Screens the tools in a result of `tools/list`. */
export function screenTools(result: Readonly<Record<string, unknown>>): ScreenedTools {
  const listed = Array.isArray(result["tools"]) ? result["tools"] : [];
  const tools: AcceptedTool[] = [];
  let size = 0;
  for (const each of listed) {
    const tool = screenTool(each);
    const isNew = tool !== undefined && !tools.some(({ name }) => name === tool.name);
    if (!isNew || tools.length >= maxTools) continue;
    size += JSON.stringify(tool).length;
    if (size > maxAll) break;
    tools.push(tool);
  }
  return { tools, leftOut: listed.length - tools.length };
}

function screenTool(tool: unknown): AcceptedTool | undefined {
  if (!isRecord(tool)) return undefined;
  const { name, description = "", inputSchema, _meta: meta } = tool;
  if (typeof name !== "string" || !nameForm.test(name)) return undefined;
  if (typeof description !== "string" || !isRecord(inputSchema)) return undefined;
  if (inputSchema["type"] !== "object") return undefined;
  const version = isRecord(meta) ? meta[versionField] : undefined;
  const seen = seenValue(withoutReach(inputSchema));
  if (seen === undefined || !isRecord(seen.value)) return undefined;
  if (JSON.stringify(seen.value).length > maxSchema) return undefined;
  return {
    name,
    description: seenText(description.slice(0, maxDescription)).text.slice(0, maxDescription),
    inputSchema: seen.value,
    version: typeof version === "string" && versionForm.test(version) ? version : undefined,
  };
}

/** Properties of a tool's arguments may have any name; these are names of the schema's language. */
function withoutReach(value: unknown, isNames = false): unknown {
  if (Array.isArray(value)) return value.map((each) => withoutReach(each));
  if (!isRecord(value)) return value;
  const kept = Object.entries(value).filter(([name, each]) => {
    if (isNames) return true;
    if (isReference(name)) return typeof each === "string" && each.startsWith("#/");
    return !dropped.has(name);
  });
  return Object.fromEntries(
    kept.map(([name, each]) =>
      [name, withoutReach(each, !isNames && (name === "properties" || name === "$defs"))] as const
    ),
  );
}

/** By channel and agent, as a file for its owner alone. */
export class AcceptedTools {
  readonly #files: UserFiles;
  readonly #folder: string;

  constructor(files: UserFiles, folder: string) {
    this.#files = files;
    this.#folder = files.join(folder, "tools");
  }

  /** Undefined when nobody has accepted any. A file that was changed is screened again. */
  async read(channel: string, agentId: string): Promise<readonly AcceptedTool[] | undefined> {
    const accepted = (await this.#readAll(agentId))[channel];
    if (!Array.isArray(accepted)) return undefined;
    const listed = accepted.map((each) =>
      isRecord(each) ? { ...each, _meta: { [versionField]: each["version"] } } : each
    );
    return screenTools({ tools: listed }).tools;
  }

  async write(channel: string, agentId: string, tools: readonly AcceptedTool[]): Promise<void> {
    const all = { ...await this.#readAll(agentId), [channel]: tools };
    await this.#files.writePrivate(this.#path(agentId), `${JSON.stringify(all, undefined, 2)}\n`);
  }

  async #readAll(agentId: string): Promise<Readonly<Record<string, unknown>>> {
    const text = await this.#files.read(this.#path(agentId));
    try {
      const parsed: unknown = JSON.parse(text ?? "{}");
      return isRecord(parsed) ? parsed : {};
    } catch {
      return {};
    }
  }

  #path(agentId: string): string {
    return this.#files.join(this.#folder, `${agentId}.json`);
  }
}
