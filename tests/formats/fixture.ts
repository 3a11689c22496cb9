/** A folder as one small file, and back: names and contents in JSON, compressed. */

export const fixtureAccount = "00000000-0000-4000-8000-000000000001";

export interface Fixture {
  /** When it was written: to an agent that opens it later, everything would have expired. */
  readonly madeAtMs: number;
  /** A token of the invite that is open. */
  readonly invite: string;
  /** In base64, by path. */
  readonly files: Readonly<Record<string, string>>;
}

export async function packFixture(folder: string, out: URL, { invite }: Pick<Fixture, "invite">): Promise<void> {
  const files: Record<string, string> = {};
  for await (const path of filesUnder(folder)) {
    files[path.slice(folder.length + 1)] = (await Deno.readFile(path)).toBase64();
  }
  const fixture: Fixture = { madeAtMs: Date.now(), invite, files };
  const packed = new Blob([JSON.stringify(fixture)]).stream().pipeThrough(new CompressionStream("gzip"));
  await Deno.writeFile(out, packed);
}

/** Writes its files into a folder. */
export async function unpackFixture(path: URL, folder: string): Promise<Fixture> {
  const packed = new Blob([await Deno.readFile(path)]).stream().pipeThrough(new DecompressionStream("gzip"));
  const fixture: Fixture = JSON.parse(await new Response(packed).text());
  for (const [name, content] of Object.entries(fixture.files)) {
    const file = `${folder}/${name}`;
    await Deno.mkdir(file.slice(0, file.lastIndexOf("/")), { recursive: true, mode: 0o700 });
    await Deno.writeFile(file, Uint8Array.fromBase64(content), { mode: 0o600 });
  }
  return fixture;
}

async function* filesUnder(folder: string): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) yield* filesUnder(`${folder}/${name}`);
    else yield `${folder}/${name}`;
  }
}

export interface FixtureFormats {
  readonly relayFormat: number;
  readonly storeFormat: number;
}

export interface FixtureFile extends FixtureFormats {
  readonly name: string;
  readonly path: URL;
}

export const fixtureFolder = new URL("fixtures/", import.meta.url);

export function fixtureName({ relayFormat, storeFormat }: FixtureFormats): string {
  return `relay-${relayFormat}_store-${storeFormat}.json.gz`;
}

/** All that there are. */
export async function fixtures(): Promise<FixtureFile[]> {
  const files: FixtureFile[] = [];
  for await (const { name } of Deno.readDir(fixtureFolder)) {
    const [relayFormat = 0, storeFormat = 0] = name.match(/\d+/g)?.map(Number) ?? [];
    files.push({ name, path: new URL(name, fixtureFolder), relayFormat, storeFormat });
  }
  return files.sort((a, b) => a.relayFormat - b.relayFormat || a.storeFormat - b.storeFormat);
}
