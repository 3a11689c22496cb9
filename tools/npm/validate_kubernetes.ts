/**
 * Reads manifests as YAML and prints, as JSON, the faults that each has by the schema of its kind,
 * and the manifests themselves.
 */
import * as apps from "kubernetes-models/apps/v1";
import * as networking from "kubernetes-models/networking.k8s.io/v1";
import * as core from "kubernetes-models/v1";
import { parseAllDocuments } from "yaml";

interface Model {
  validate(): void;
}

const kinds: Record<string, new (data: never) => Model> = {
  "apps/v1 Deployment": apps.Deployment,
  "apps/v1 StatefulSet": apps.StatefulSet,
  "networking.k8s.io/v1 NetworkPolicy": networking.NetworkPolicy,
  "v1 PersistentVolumeClaim": core.PersistentVolumeClaim,
  "v1 Service": core.Service,
};

const faults: string[] = [];
const manifests = parseAllDocuments(await new Response(Deno.stdin.readable).text()).map(
  (document) => {
    faults.push(...document.errors.map(String));
    return document.toJS();
  },
);
for (const manifest of manifests) {
  const kind = `${manifest.apiVersion} ${manifest.kind}`;
  const Kind = kinds[kind];
  if (Kind === undefined) {
    faults.push(`${kind} is no kind that is known here`);
    continue;
  }
  try {
    // cast: what it is, is what is to be found out
    new Kind(manifest as never).validate();
  } catch (error) {
    faults.push(`${kind} ${manifest.metadata?.name}: ${String(error)}`);
  }
}
console.log(JSON.stringify({ faults, manifests }));
