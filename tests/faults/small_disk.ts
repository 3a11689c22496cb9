/**
 * A file system of a few megabytes that can be filled up, and given room again. Only root may make
 * one.
 */
import { runCommand } from "../support/mod.ts";

const pageBytes = 4096;

export class SmallDisk implements AsyncDisposable {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async mount(megabytes: number): Promise<SmallDisk> {
    const folder = await Deno.makeTempDir({ prefix: "static-full-" });
    try {
      await runCommand("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", folder]);
    } catch (error) {
      await Deno.remove(folder);
      throw error;
    }
    return new SmallDisk(folder);
  }

  async resize(megabytes: number): Promise<void> {
    await runCommand("mount", ["-o", `remount,size=${megabytes}m`, this.folder]);
  }

  /** Nothing more can be written, but for so many pages. */
  async fill({ leavingPages = 0 } = {}): Promise<void> {
    using file = await Deno.open(this.#ballast, { write: true, create: true, append: true });
    for (let bytes = 1 << 20; bytes >= 1;) {
      try {
        if (await file.write(new Uint8Array(bytes)) < bytes) bytes >>= 1;
      } catch {
        bytes >>= 1;
      }
    }
    const { size } = await file.stat();
    await file.truncate(Math.max(0, size - leavingPages * pageBytes));
  }

  async free(): Promise<void> {
    await Deno.remove(this.#ballast);
  }

  async setReadOnly(isReadOnly: boolean): Promise<void> {
    await runCommand("mount", ["-o", `remount,${isReadOnly ? "ro" : "rw"}`, this.folder]);
  }

  get #ballast(): string {
    return `${this.folder}/ballast`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await runCommand("umount", [this.folder], { mayFail: true });
    await Deno.remove(this.folder, { recursive: true });
  }
}

async function canMount(): Promise<boolean> {
  try {
    await using _disk = await SmallDisk.mount(1);
    return true;
  } catch {
    return false;
  }
}

export const smallDisks = { met: await canMount(), reason: "a small tmpfs cannot be mounted here" };
