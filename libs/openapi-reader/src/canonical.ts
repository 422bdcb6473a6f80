import { createHash } from 'node:crypto';

const write = (value: unknown, out: (text: string) => void): void => {
  if (Array.isArray(value)) {
    out('[');
    for (const item of value) {
      write(item, out);
      out(',');
    }
    out(']');
  } else if (typeof value === 'object' && value !== null) {
    out('{');
    const fields = value as Readonly<Record<string, unknown>>;
    for (const key of Object.keys(fields).sort()) {
      out(`${JSON.stringify(key)}:`);
      write(fields[key], out);
      out(',');
    }
    out('}');
  } else out(JSON.stringify(value));
};

/** SHA-256 in hex of a JSON value, the same for every order of its keys. The value must be of bounded depth. */
export const contentHashOf = (value: unknown): string => {
  const hash = createHash('sha256');
  let pending: string[] = [];
  let size = 0;
  write(value, (text) => {
    pending.push(text);
    size += text.length;
    if (size < 65_536) return;
    hash.update(pending.join(''));
    pending = [];
    size = 0;
  });
  return hash.update(pending.join('')).digest('hex');
};
