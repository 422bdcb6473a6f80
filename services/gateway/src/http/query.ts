import { invalid } from '@bindery/service-kit';

/** More parameters than any operation has; a bound on work. */
const maxParameters = 500;

/**
 * Parses a query string strictly: repeated keys make a list, `+` is a space, malformed escapes are refused, and the
 * result has no prototype.
 * @param text what follows the `?`
 * @throws Problem 400
 */
export function parseQuery(text: string): Record<string, string | string[]> {
  const result: Record<string, string | string[]> = Object.create(null);
  if (text === '') return result;
  const parts = text.split('&', maxParameters + 1);
  if (parts.length > maxParameters) throw invalid('query.too_many', `query: has more than ${maxParameters} parameters`);
  for (const part of parts) {
    if (part === '') continue;
    const equals = part.indexOf('=');
    const name = decode(equals < 0 ? part : part.slice(0, equals));
    const value = equals < 0 ? '' : decode(part.slice(equals + 1));
    const known = result[name];
    if (known === undefined) result[name] = value;
    else if (Array.isArray(known)) known.push(value);
    else result[name] = [known, value];
  }
  return result;
}

function decode(text: string): string {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    throw invalid('query.malformed', 'query: has a malformed percent escape');
  }
}
