import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { closeSection, isLater, release, type ReleasePlan } from "./release.ts";
import { createSbom } from "./sbom.ts";

const repository = new URL("../", import.meta.url);

Deno.test("isLater() orders versions as semantic versioning does", () => {
  const ascending = ["0.1.0", "0.1.1", "0.2.0-rc.2", "0.2.0-rc.10", "0.2.0", "0.10.0", "1.0.0"];
  for (const [index, version] of ascending.entries()) {
    for (const [other, earlier] of ascending.entries()) {
      assertEquals(isLater(version, earlier), index > other);
    }
  }
  assertThrows(() => isLater("v1.0.0", "0.1.0"), Error, "is not a version");
});

Deno.test("closeSection() moves unreleased entries below the version, and refuses an empty section", () => {
  const text = "# Changelog\n\n## Unreleased\n\n- One.\n\n## 0.1.0, 2026-01-01\n\n- Zero.\n";
  assertEquals(
    closeSection(text, "0.2.0", "2026-11-16"),
    "# Changelog\n\n## Unreleased\n\n## 0.2.0, 2026-11-16\n\n- One.\n\n## 0.1.0, 2026-01-01\n\n- Zero.\n",
  );
  const empty = closeSection(text, "0.2.0", "2026-11-16");
  assertThrows(
    () => closeSection(empty, "0.3.0", "2026-11-17"),
    Error,
    "no entry below Unreleased",
  );
});

Deno.test("createSbom() lists every package of the lock file once, with its hash and dependencies that are listed", async () => {
  const lock = JSON.parse(await Deno.readTextFile(new URL("deno.lock", repository)));
  const { components, dependencies } = createSbom(lock, "1.2.3");
  const named = new Set(Object.keys(lock.npm).map((key) => /^@?[^@]+@[^_]+/.exec(key)?.[0]));
  assertEquals(
    components.map(({ name, version }) => `${name}@${version}`).sort(),
    [...named].sort(),
  );
  for (const { hashes } of components) assertEquals(hashes[0]?.content.length, 128);
  const refs = new Set(components.map(({ purl }) => purl));
  assertEquals(
    dependencies.flatMap(({ dependsOn }) => dependsOn).filter((ref) => !refs.has(ref)),
    [],
  );
  assert(dependencies.some(({ dependsOn }) => dependsOn.length > 1));
  assertThrows(
    () => createSbom({ npm: { "a@1.0.0": { integrity: "sha1-x" } } }, "1.0.0"),
    Error,
    "no SHA-512",
  );
});

Deno.test("release() sets the version, closes the changelog, writes checksums, commits and tags", async () => {
  await using project = await createProject();
  const files = await release(project.plan("0.2.0"));
  assertEquals(files, ["static-0.2.0.cdx.json", "static-sdk-0.2.0.tgz", "SHA256SUMS"]);
  assertStringIncludes(await project.read("proto/base/version.ts"), 'version = "0.2.0"');
  assertStringIncludes(await project.read("README.md"), "static-sdk-0.2.0.tgz");
  assertStringIncludes(await project.read("CHANGELOG.md"), "## 0.2.0, 2026-11-16\n\n- One.");
  assertEquals(await project.git("log", "-1", "--format=%s"), "release: 0.2.0\n");
  assertEquals(await project.git("describe", "--tags"), "v0.2.0\n");
  assertEquals(await project.git("status", "--porcelain"), "");
  const { success } = await new Deno.Command("sha256sum", {
    args: ["-c", "SHA256SUMS"],
    cwd: `${project.root}dist/release`,
  })
    .output();
  assert(success, "sha256sum accepts the checksums");
});

Deno.test("release() leaves nothing behind when a step fails, and names every reason to refuse", async () => {
  await using project = await createProject();
  const failing = {
    ...project.plan("0.2.0"),
    build: () => Promise.reject(new Error("tests failed")),
  };
  await assertRejects(() => release(failing), Error, "tests failed");
  assertEquals(await project.git("status", "--porcelain"), "");
  assertEquals(await project.git("tag", "--list"), "");
  await Deno.writeTextFile(`${project.root}README.md`, "changed");
  const error = await assertRejects(() => release(project.plan("0.1.0")), Error);
  assertStringIncludes(error.message, "not later than 0.1.0; files have changes");
  assertEquals(await project.read("README.md"), "changed");
});

interface Project extends AsyncDisposable {
  readonly root: string;
  read(path: string): Promise<string>;
  git(...args: readonly string[]): Promise<string>;
  plan(version: string): ReleasePlan;
}

/** A repository with the files that a release touches. */
async function createProject(): Promise<Project> {
  const root = `${await Deno.makeTempDir({ prefix: "static-release-" })}/`;
  const git = async (...args: readonly string[]): Promise<string> => {
    const identity = ["-c", "user.name=test", "-c", "user.email=test@example.org"];
    const { success, stdout, stderr } = await new Deno.Command("git", {
      args: [...identity, ...args],
      cwd: root,
    })
      .output();
    assert(success, new TextDecoder().decode(stderr));
    return new TextDecoder().decode(stdout);
  };
  const files: Readonly<Record<string, string>> = {
    ".gitignore": "dist/\n",
    "proto/base/version.ts": 'export const version = "0.1.0";\n',
    "sdk/python/src/static_sdk/_version.py": '__version__ = "0.1.0"\n',
    "README.md": "npm install static-sdk-0.1.0.tgz\n",
    "examples/README.md": "",
    "cli/README.md": "",
    "sdk/README.md": "",
    "sdk/python/README.md": "",
    "docs/operations.md": "",
    "CHANGELOG.md": "# Changelog\n\n## Unreleased\n\n- One.\n",
    "deno.lock": '{ "npm": {} }\n',
  };
  for (const [path, text] of Object.entries(files)) {
    await Deno.mkdir(root + path.slice(0, path.lastIndexOf("/") + 1), { recursive: true });
    await Deno.writeTextFile(root + path, text);
  }
  await git("init", "--quiet");
  await git("config", "user.name", "test");
  await git("config", "user.email", "test@example.org");
  await git("add", ".");
  await git("commit", "--quiet", "-m", "first");
  const pack = async (version: string): Promise<readonly string[]> => {
    const path = `dist/static-sdk-${version}.tgz`;
    await Deno.mkdir(`${root}dist`, { recursive: true });
    await Deno.writeTextFile(root + path, "packed");
    return [path];
  };
  return {
    root,
    git,
    read: (path) => Deno.readTextFile(root + path),
    plan: (version) => ({ root, version, day: "2026-11-16", build: () => pack(version) }),
    [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }),
  };
}
