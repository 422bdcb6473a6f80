import { limits, type OperationDefinition, operations } from '@bindery/contracts';
import type { Resource } from './manifests.ts';
import type { Policy } from './policy.ts';

const declared: readonly OperationDefinition[] = Object.values(operations);
/** The longest that a caller may have to wait for an answer, in s. */
export const longestAnswer = Math.max(...declared.map(({ deadlineMs = 0 }) => deadlineMs)) / 1000;
/** The most that a caller may send at once, in bytes. */
export const largestUpload = Math.max(...Object.values(limits.body), ...Object.values(limits.storage.bytes));

/** Bytes of `32m` or `512Mi`. @returns NaN for other words */
export const bytesOf = (text: string): number => {
  const [, number, unit = ''] = /^(\d+)(|[kmgKMG]i?)$/.exec(text) ?? [];
  return Number(number ?? Number.NaN) * 1024 ** ['', 'k', 'm', 'g'].indexOf(unit.slice(0, 1).toLowerCase());
};
/** Seconds of `1h2m3s`, `500ms` or `60`. @returns NaN for other words */
export const secondsOf = (text: string): number => {
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  if (!/^(\d+(\.\d+)?(h|ms|m|s))+$/.test(text)) return Number.NaN;
  const factors: Readonly<Record<string, number>> = { h: 3600, m: 60, s: 1, ms: 0.001 };
  return [...text.matchAll(/(\d+(?:\.\d+)?)(h|ms|m|s)/g)].reduce(
    (sum, [, number, unit = '']) => sum + Number(number) * (factors[unit] ?? Number.NaN),
    0,
  );
};

interface IngressRule {
  readonly http?: { readonly paths: readonly { readonly path: string; readonly pathType: string }[] };
}
interface RouteRule {
  readonly matches?: readonly { readonly path?: { readonly type?: string; readonly value?: string } }[];
  readonly timeouts?: { readonly request?: string };
  readonly backendRefs?: readonly unknown[];
}

const hidesMetrics = (paths: readonly (readonly [path: string | undefined, kind: string | undefined])[]): boolean =>
  paths.some(([path, kind]) => path === '/metrics' && (kind === 'Prefix' || kind === 'PathPrefix'));

const wrongInIngress = ({ metadata, spec }: Resource): readonly string[] => {
  const annotation = (name: string): string => metadata.annotations?.[`nginx.ingress.kubernetes.io/${name}`] ?? '';
  const rules = (spec?.rules ?? []) as readonly IngressRule[];
  const paths = rules.flatMap(({ http }) => http?.paths ?? []);
  return [
    ...['proxy-read-timeout', 'proxy-send-timeout']
      .filter((name) => !(secondsOf(annotation(name)) > longestAnswer))
      .map((name) => `${name} is not longer than the ${longestAnswer} s that an operation may take`),
    ...(bytesOf(annotation('proxy-body-size')) > largestUpload
      ? []
      : [`proxy-body-size is not larger than an upload of ${largestUpload} bytes`]),
    ...(hidesMetrics(paths.map(({ path, pathType }) => [path, pathType])) ? [] : ['shows metrics to the outside']),
  ];
};

const wrongInRoute = ({ spec }: Resource): readonly string[] => {
  const rules = (spec?.rules ?? []) as readonly RouteRule[];
  const matches = rules.flatMap((rule) => rule.matches ?? []);
  return [
    ...rules
      .filter(({ backendRefs }) => backendRefs !== undefined)
      .filter(({ timeouts }) => !(secondsOf(timeouts?.request ?? '') > longestAnswer))
      .map(() => `a request may not take the ${longestAnswer} s that an operation may take`),
    ...(hidesMetrics(matches.map(({ path }) => [path?.value, path?.type])) ? [] : ['shows metrics to the outside']),
  ];
};

/** What stands in front lets through what the product takes and answers, and keeps inside what is for the inside. */
export const wayIn: Policy = {
  name: 'way-in',
  check: (all) =>
    all.flatMap((resource) => {
      const { kind, metadata } = resource;
      const wrong = kind === 'Ingress' ? wrongInIngress(resource) : kind === 'HTTPRoute' ? wrongInRoute(resource) : [];
      return wrong.map((what) => `${kind} ${metadata.name}: ${what}`);
    }),
};
