/**
 * The API and one relay as objects of Kubernetes. The database is elsewhere, and so are the
 * secrets: a Secret `static` that the operator makes, and one with the relay's certificate.
 */
import { tracesVariable } from "../local/commands.ts";
import type { Values } from "./values.ts";

export type Json = string | number | boolean | readonly Json[] | { readonly [name: string]: Json };
export type Manifest = { readonly [name: string]: Json };

/** `deno` in the images. */
const user = 1993;
/** Folders in the images. */
const [dataPath, tlsPath, secretsPath] = ["/data", "/etc/static/tls", "/etc/static/secrets"];
const ports = {
  api: 8080,
  internal: 9466,
  apiAdmin: 9464,
  grpc: 5000,
  quic: 4433,
  relayAdmin: 9465,
};

/** In an order in which they can be made. */
export function manifestsFor(values: Values): readonly Manifest[] {
  return [
    ...accessFor(values),
    apiDisk(values),
    ...servicesFor(values),
    apiDeployment(values),
    relayStatefulSet(values),
  ];
}

function meta({ namespace }: Values, part: "api" | "relay", more = ""): Manifest {
  return { name: `static-${part}${more}`, namespace, labels: labels(part) };
}

function labels(part: "api" | "relay"): Manifest {
  return { "app.kubernetes.io/name": `static-${part}`, "app.kubernetes.io/part-of": "static" };
}

function selector(part: "api" | "relay"): Manifest {
  return { matchLabels: { "app.kubernetes.io/name": `static-${part}` } };
}

/** The port for relays is theirs alone, and metrics are Prometheus's. */
function accessFor(values: Values): readonly Manifest[] {
  const scrapers = {
    namespaceSelector: {
      matchLabels: { "kubernetes.io/metadata.name": values.metricsNamespace },
    },
  };
  const policy = (part: "api" | "relay", ingress: readonly Json[]): Manifest => ({
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: meta(values, part),
    spec: { podSelector: selector(part), policyTypes: ["Ingress"], ingress },
  });
  return [
    policy("api", [
      { ports: [{ protocol: "TCP", port: ports.api }] },
      {
        from: [{ podSelector: selector("relay") }],
        ports: [{ protocol: "TCP", port: ports.internal }],
      },
      { from: [scrapers], ports: [{ protocol: "TCP", port: ports.apiAdmin }] },
    ]),
    policy("relay", [
      {
        ports: [
          { protocol: "TCP", port: ports.grpc },
          { protocol: "UDP", port: ports.quic },
        ],
      },
      { from: [scrapers], ports: [{ protocol: "TCP", port: ports.relayAdmin }] },
    ]),
  ];
}

function servicesFor(values: Values): readonly Manifest[] {
  const service = (metadata: Manifest, spec: Manifest): Manifest => ({
    apiVersion: "v1",
    kind: "Service",
    metadata,
    spec,
  });
  const port = (name: string, number: number, protocol = "TCP"): Manifest => ({
    name,
    port: number,
    targetPort: number,
    protocol,
  });
  const ofApi = { "app.kubernetes.io/name": "static-api" };
  const ofRelay = { "app.kubernetes.io/name": "static-relay" };
  return [
    service(meta(values, "api"), { selector: ofApi, ports: [port("http", ports.api)] }),
    service(meta(values, "api", "-internal"), {
      selector: ofApi,
      ports: [port("relays", ports.internal)],
    }),
    service(meta(values, "relay"), {
      type: "LoadBalancer",
      selector: ofRelay,
      // Else every agent has a node's address, and all share one address's limits.
      externalTrafficPolicy: "Local",
      ports: [port("grpc", ports.grpc), port("quic", ports.quic, "UDP")],
    }),
    // A StatefulSet names the Service of its pods.
    service(meta(values, "relay", "-pods"), {
      clusterIP: "None",
      selector: ofRelay,
      ports: [port("admin", ports.relayAdmin)],
    }),
  ];
}

function claim(storageClass: string | undefined, size: string): Manifest {
  return {
    accessModes: ["ReadWriteOnce"],
    ...(storageClass === undefined ? {} : { storageClassName: storageClass }),
    resources: { requests: { storage: size } },
  };
}

/** Holds the keys that sign tokens and badges. */
function apiDisk(values: Values): Manifest {
  return {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: meta(values, "api"),
    spec: claim(values.storageClass, "1Gi"),
  };
}

interface Part {
  readonly part: "api" | "relay";
  readonly image: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly ports: readonly Manifest[];
  /** Where health is asked for, in plain HTTP. */
  readonly healthPort: number;
  readonly admin: number;
  /** Files of the Secret `static`. */
  readonly secrets: readonly string[];
  readonly memory: string;
  readonly volumes: readonly Manifest[];
  readonly mounts: readonly Manifest[];
}

function podOf(part: Part, { tracesUrl }: Values): Manifest {
  const probe = (path: string, more: Manifest): Manifest => ({
    httpGet: { path, port: part.healthPort },
    timeoutSeconds: 5,
    ...more,
  });
  const traces = tracesUrl === undefined ? {} : { [tracesVariable]: tracesUrl };
  const env = Object.entries({ ...part.environment, ...traces }).map(([name, value]) => ({
    name,
    value,
  }));
  return {
    metadata: {
      labels: labels(part.part),
      annotations: { "prometheus.io/scrape": "true", "prometheus.io/port": String(part.admin) },
    },
    spec: {
      // A Service `static-api` would set STATIC_API_PORT to an address.
      enableServiceLinks: false,
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 20,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: user,
        runAsGroup: user,
        // May read the secrets and owns the disk.
        fsGroup: user,
        seccompProfile: { type: "RuntimeDefault" },
      },
      containers: [{
        name: part.part,
        image: part.image,
        env,
        ports: part.ports,
        // A first start makes the database's tables.
        startupProbe: probe("/health", { periodSeconds: 2, failureThreshold: 90 }),
        livenessProbe: probe("/health", { periodSeconds: 10, failureThreshold: 6 }),
        readinessProbe: probe("/ready", { periodSeconds: 5, failureThreshold: 2 }),
        resources: {
          requests: { cpu: "250m", memory: part.memory },
          limits: { memory: part.memory },
        },
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        },
        volumeMounts: [
          { name: "data", mountPath: dataPath },
          { name: "secrets", mountPath: secretsPath, readOnly: true },
          ...part.mounts,
        ],
      }],
      volumes: [
        {
          name: "secrets",
          secret: {
            secretName: "static",
            defaultMode: 0o440,
            items: part.secrets.map((name) => ({ key: name, path: name })),
          },
        },
        ...part.volumes,
      ],
    },
  };
}

function apiDeployment(values: Values): Manifest {
  const { apiUrl, relayHost, corsOrigins, trustedProxies, trustedHeader, hasDatabaseCa } = values;
  const ca = hasDatabaseCa ? ["database_ca.pem"] : [];
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: meta(values, "api"),
    spec: {
      replicas: 1,
      // The disk with the keys has one owner.
      strategy: { type: "Recreate" },
      selector: selector("api"),
      template: podOf({
        part: "api",
        image: values.apiImage,
        environment: {
          DATABASE_URL: `file:${secretsPath}/database_url`,
          STATIC_RELAY_SECRET: `file:${secretsPath}/relay_secret`,
          STATIC_SMTP_URL: `file:${secretsPath}/smtp_url`,
          STATIC_API_URL: apiUrl,
          STATIC_RELAY_URL: `quic://${relayHost}:${ports.quic},https://${relayHost}:${ports.grpc}`,
          STATIC_CORS_ORIGINS: corsOrigins,
          STATIC_TRUSTED_PROXIES: trustedProxies,
          STATIC_TRUSTED_HEADER: trustedHeader,
          ...(hasDatabaseCa ? { STATIC_DATABASE_CA: `${secretsPath}/database_ca.pem` } : {}),
        },
        ports: [
          { name: "http", containerPort: ports.api },
          { name: "relays", containerPort: ports.internal },
          { name: "admin", containerPort: ports.apiAdmin },
        ],
        healthPort: ports.api,
        admin: ports.apiAdmin,
        secrets: ["database_url", "relay_secret", "smtp_url", ...ca],
        memory: values.apiMemory,
        volumes: [{ name: "data", persistentVolumeClaim: { claimName: "static-api" } }],
        mounts: [],
      }, values),
    },
  };
}

/** One pod, because the relay's file has one owner: the next starts when the last has ended. */
function relayStatefulSet(values: Values): Manifest {
  const { relayHost, corsOrigins, storageClass, relayDisk } = values;
  const origins = [
    `quic://${relayHost}:${ports.quic}`,
    `https://${relayHost}:${ports.quic}`,
    `https://${relayHost}:${ports.grpc}`,
  ];
  return {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: meta(values, "relay"),
    spec: {
      replicas: 1,
      serviceName: "static-relay-pods",
      selector: selector("relay"),
      template: podOf({
        part: "relay",
        image: values.relayImage,
        environment: {
          STATIC_RELAY_SECRET: `file:${secretsPath}/relay_secret`,
          STATIC_API_URL: `http://static-api:${ports.api}`,
          STATIC_API_INTERNAL_URL: `http://static-api-internal:${ports.internal}`,
          // The network between the two is the cluster's.
          STATIC_TLS_TERMINATED: "true",
          STATIC_TLS_CERT: `${tlsPath}/tls.crt`,
          STATIC_TLS_KEY: `${tlsPath}/tls.key`,
          STATIC_RELAY_ORIGINS: origins.join(","),
          STATIC_CORS_ORIGINS: corsOrigins,
        },
        ports: [
          { name: "grpc", containerPort: ports.grpc },
          { name: "quic", containerPort: ports.quic, protocol: "UDP" },
          { name: "admin", containerPort: ports.relayAdmin },
        ],
        healthPort: ports.relayAdmin,
        admin: ports.relayAdmin,
        secrets: ["relay_secret"],
        memory: values.relayMemory,
        volumes: [{ name: "tls", secret: { secretName: "static-relay-tls", defaultMode: 0o440 } }],
        mounts: [{ name: "tls", mountPath: tlsPath, readOnly: true }],
      }, values),
      volumeClaimTemplates: [{ metadata: { name: "data" }, spec: claim(storageClass, relayDisk) }],
    },
  };
}
