import { invalid, Problem } from '@bindery/service-kit';
import findMyWay, { type HTTPMethod } from 'find-my-way';

/** A request's target, split once. */
export interface Target {
  /** As it came, still encoded. */
  readonly path: string;
  /** Without the `?`. */
  readonly query: string;
}

export interface Match<T> {
  readonly route: T;
  /** Decoded once. */
  readonly params: Record<string, string>;
}

export interface RouteTable<T> {
  /**
   * Finds the route of a request; undefined for an unknown path. `HEAD` is served by `GET`.
   * @throws Problem 405 for a known path with another method, 400 for a malformed escape
   */
  find(method: string, path: string): Match<T> | undefined;
}

interface Template<T> {
  readonly route: T;
  /** Index of the path segment of each parameter. */
  readonly params: readonly { readonly name: string; readonly index: number; readonly rest: boolean }[];
}

/** Splits a request target. Absolute forms (`GET http://host/path`) are reduced to their path. */
export function splitTarget(url: string): Target {
  const start = url.startsWith('/') ? 0 : pathStart(url);
  const mark = url.indexOf('?', start);
  const hash = url.indexOf('#', start);
  const end = hash < 0 ? url.length : hash;
  return mark < 0 || mark > end
    ? { path: url.slice(start, end), query: '' }
    : { path: url.slice(start, mark), query: url.slice(mark + 1, end) };
}

const pathStart = (url: string): number => {
  const scheme = url.indexOf('://');
  const slash = scheme < 0 ? -1 : url.indexOf('/', scheme + 3);
  return slash < 0 ? url.length : slash;
};

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
const isMethod = (method: string): method is (typeof methods)[number] => methods.some((known) => known === method);

/** A route with its method and path; `{name}` takes a segment, a trailing `{name*}` the rest, slashes included. */
export interface RouteSpec<T> {
  readonly method: (typeof methods)[number];
  readonly path: string;
  readonly route: T;
}

/** Builds a route table. A trailing slash in a request's path makes no difference. */
export function createRouteTable<T>(routes: readonly RouteSpec<T>[]): RouteTable<T> {
  const router = findMyWay({ ignoreTrailingSlash: true, maxParamLength: 8192, caseSensitive: true });
  for (const { method, path, route } of routes) {
    const template: Template<T> = { route, params: parametersOf(path) };
    const pattern = path.replace(/\{[^}]+\*\}/g, '*').replace(/\{([^}]+)\}/g, ':$1');
    router.on(method, pattern, () => undefined, template);
  }

  const lookup = (method: HTTPMethod, path: string): Template<T> | undefined => {
    const found = router.find(method, path);
    // The store is what was registered above; the library types it loosely.
    return found ? (found.store as Template<T>) : undefined;
  };

  return {
    find(method, path) {
      const asked = method === 'HEAD' ? 'GET' : method;
      const template = isMethod(asked) ? lookup(asked, path) : undefined;
      if (template) return { route: template.route, params: decodeParams(template, path) };
      decodeSegment(path);
      const allowed = methods.filter((known) => lookup(known, path));
      if (allowed.length === 0) return undefined;
      const allow = [...allowed, ...(allowed.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
      throw new Problem(
        'method-not-allowed',
        'method.not_allowed',
        `${method} is not possible here. Allowed: ${allow}.`,
        {
          details: { allow },
        },
      );
    },
  };
}

function parametersOf(path: string): Template<never>['params'] {
  return path.split('/').flatMap((segment, index) => {
    const name = /^\{([^}*]+)(\*?)\}$/.exec(segment);
    return name?.[1] ? [{ name: name[1], index, rest: name[2] === '*' }] : [];
  });
}

/** Parameters are cut out of the raw path, so that an encoded slash stays in its segment and nothing is decoded twice. */
function decodeParams(template: Template<unknown>, path: string): Record<string, string> {
  const params: Record<string, string> = {};
  if (template.params.length === 0) return params;
  let [segment, start] = [0, 0];
  for (const { name, index, rest } of template.params) {
    for (; segment < index && start <= path.length; segment += 1) start = endOf(path, start) + 1;
    params[name] = decodeSegment(path.slice(start, rest ? path.length : endOf(path, start)));
  }
  return params;
}

/** Where the segment ends that starts there. */
const endOf = (path: string, start: number): number => {
  const slash = path.indexOf('/', start);
  return slash < 0 ? path.length : slash;
};

function decodeSegment(raw: string): string {
  if (!raw.includes('%')) return raw;
  try {
    return decodeURIComponent(raw);
  } catch {
    throw invalid('path.malformed', 'path: has a malformed percent escape');
  }
}
