/**
 * A process as a container has it, by the kernel's own means: a root that is read-only and holds
 * what the image holds, the image's user without capabilities, and the groups that it is given. The
 * network is the machine's.
 */
import { installed } from "./command.ts";
import type { Requirement } from "./requirement.ts";

const programs = installed("unshare", "chroot", "setpriv");

export const containersPossible: Requirement = {
  met: Deno.build.os === "linux" && Deno.uid() === 0 && programs.met,
  reason: programs.met ? "only root on Linux can mount what a container has" : programs.reason,
};

/** `deno` in the images. */
const user = 1993;

export interface Container {
  /** Outside, the folder that is `/app`. */
  readonly app: string;
  /** The only place to write to. */
  readonly data: string;
  /** That of `/etc/static`. */
  readonly etc: string;
  /** More groups of the user, by number. */
  readonly groups: readonly number[];
}

/** Mounts what stands in its arguments below the first, up to `--`; then runs the rest there. */
const script = `
set -e
root=$1 ids=$2 groups=$3
shift 3
mount -t tmpfs tmpfs "$root"
mkdir -p "$root/proc" "$root/dev" "$root/etc"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
while [ "$1" != -- ]; do
  if [ -d "$2" ]; then mkdir -p "$root$3"; else mkdir -p "$root$(dirname "$3")"; touch "$root$3"; fi
  mount --bind "$2" "$root$3"
  [ "$1" = rw ] || mount -o remount,bind,ro "$root$3"
  shift 3
done
shift
for link in bin lib lib64 sbin; do ln -s "usr/$link" "$root/$link"; done
mount -o remount,ro "$root"
exec chroot "$root" setpriv --reuid "$ids" --regid "$ids" --groups "$groups" --no-new-privs --bounding-set=-all --inh-caps=-all \\
  sh -c 'cd /app && exec "$@"' sh "$@"
`;

/** A program with its arguments, for `Deno.Command`. Variables are to be given there. */
export async function inContainer(
  { app, data, etc, groups }: Container,
  command: readonly string[],
): Promise<{ readonly program: string; readonly args: readonly string[] }> {
  const cache = await denoDirectory();
  const mounts = [
    ["ro", "/usr", "/usr"],
    ["ro", "/etc/hosts", "/etc/hosts"],
    ["ro", Deno.execPath(), "/opt/deno/deno"],
    ["ro", cache, "/deno-dir"],
    ["ro", app, "/app"],
    ["rw", data, "/data"],
    ["ro", etc, "/etc/static"],
  ].flat();
  const root = `${app}-root`;
  await Deno.mkdir(root, { recursive: true });
  await Deno.chown(data, user, user);
  const all = [user, ...groups].join(",");
  return {
    program: "unshare",
    args: [
      "--mount",
      "sh",
      "-c",
      script,
      "sh",
      root,
      String(user),
      all,
      ...mounts,
      "--",
      ...command,
    ],
  };
}

/** Variables that every image has. */
export const containerVariables: Readonly<Record<string, string>> = {
  PATH: "/opt/deno:/usr/sbin:/usr/bin:/sbin:/bin",
  DENO_DIR: "/deno-dir",
};

async function denoDirectory(): Promise<string> {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json"],
    env: { NO_COLOR: "1" },
  }).output();
  return JSON.parse(new TextDecoder().decode(stdout)).denoDir;
}
