/**
 * Regenerates the code that is checked in, from `proto/relay.proto`. With `--check` it writes nothing and fails when what
 * is checked in differs. Everything it needs comes from npm; no network is used by the generators themselves.
 */

const buf = "npm:@bufbuild/buf@1.74.0";
const plugin = "npm:@bufbuild/protoc-gen-es@2.16.0";
const target = "proto/gen/relay_pb.ts";

async function generateProto(): Promise<string> {
  const out = await Deno.makeTempDir();
  try {
    const template = {
      version: "v2",
      plugins: [{
        local: [Deno.execPath(), "run", "-A", "--quiet", "--no-lock", plugin],
        out,
        opt: ["target=ts", "import_extension=ts"],
      }],
    };
    const { success, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--quiet", "--no-lock", buf, "generate", "proto", "--template", JSON.stringify(template)],
    }).output();
    if (!success) throw new Error(`Cannot generate from proto/relay.proto: ${new TextDecoder().decode(stderr)}`);
    return await Deno.readTextFile(`${out}/relay_pb.ts`);
  } finally {
    await Deno.remove(out, { recursive: true });
  }
}

const fresh = await generateProto();
if (Deno.args.includes("--check")) {
  const current = await Deno.readTextFile(target).catch(() => "");
  if (current !== fresh) {
    console.error(`${target} is not what proto/relay.proto generates; run: deno task generate`);
    Deno.exit(1);
  }
  console.log("generated code is current");
} else {
  await Deno.mkdir("proto/gen", { recursive: true });
  await Deno.writeTextFile(target, fresh);
  console.log(`wrote ${target}`);
}
