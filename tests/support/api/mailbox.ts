/** The mail of a test API, which lies in files. */
import { eventually } from "../mod.ts";
import type { OpenBackend } from "./harness.ts";

/** A code stands on a line of its own. */
export const codeForm = /^ {4}([0-9A-Z]{4}-[0-9A-Z]{4}-[0-9A-Z]{4})$/m;

/** Messages to an address, oldest first, once there are so many. */
export async function mailTo(
  { environment }: OpenBackend,
  email: string,
  count: number,
): Promise<string[]> {
  const folder = `${environment.STATIC_DATA_DIR}/mail`;
  const read = async (): Promise<string[]> => {
    const names: string[] = [];
    try {
      for await (const { name } of Deno.readDir(folder)) names.push(name);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
    const texts = await Promise.all(
      names.sort().map((name) => Deno.readTextFile(`${folder}/${name}`)),
    );
    return texts.filter((text) => text.startsWith(`To: ${email}\n`));
  };
  return await eventually({ what: `${count} messages` }, read, ({ length }) => length >= count);
}

/** The code of the newest message, once there are so many. */
export async function codeTo(backend: OpenBackend, email: string, count: number): Promise<string> {
  const message = (await mailTo(backend, email, count)).at(-1) ?? "";
  const [, code] = codeForm.exec(message) ?? [];
  if (code === undefined) throw new Error(`no code in: ${message}`);
  return code;
}
