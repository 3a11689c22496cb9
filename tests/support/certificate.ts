/** A certificate (for this machine unless told otherwise), made anew by the installed openssl; it is its own authority. */
import type { Requirement } from "./requirement.ts";

export interface TestCertificate {
  readonly certificate: string;
  readonly key: string;
}

export const opensslInstalled: Requirement = {
  /** Looked up when asked, so that tests that need no certificate need no permission either. */
  get met() {
    try {
      return new Deno.Command("openssl", { args: ["version"], stdout: "null", stderr: "null" }).outputSync().success;
    } catch {
      return false;
    }
  },
  reason: "openssl is not installed",
};

export async function createCertificate(names = "DNS:localhost,IP:127.0.0.1"): Promise<TestCertificate> {
  const folder = await Deno.makeTempDir();
  try {
    const args = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
    args.push("-keyout", `${folder}/key`, "-out", `${folder}/certificate`, "-subj", "/CN=test");
    args.push("-addext", `subjectAltName=${names}`, "-addext", "basicConstraints=critical,CA:FALSE");
    const { success, stderr } = await new Deno.Command("openssl", { args, stdout: "null", stderr: "piped" }).output();
    if (!success) throw new Error(`openssl failed: ${new TextDecoder().decode(stderr)}`);
    const [certificate, key] = await Promise.all(
      ["certificate", "key"].map((f) => Deno.readTextFile(`${folder}/${f}`)),
    );
    return { certificate: certificate ?? "", key: key ?? "" };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
