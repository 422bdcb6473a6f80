/** Markup that needs no more escaping. */
export interface Html {
  readonly html: string;
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text as markup. */
export const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => escapes[character] ?? '');

type Part = string | number | Html | undefined | readonly Html[];

const render = (part: Part): string => {
  if (part === undefined) return '';
  if (typeof part === 'string' || typeof part === 'number') return escapeHtml(String(part));
  return 'html' in part ? part.html : part.map(({ html: markup }) => markup).join('');
};

/** A template whose parts are escaped unless they are markup themselves: nothing gets in unescaped by accident. */
export const html = (texts: TemplateStringsArray, ...parts: readonly Part[]): Html => ({
  html: texts.map((text, index) => text + render(parts[index])).join(''),
});

/** Where the style is. */
export const stylePath = '/sign-in/style.css';

/** A whole page. */
export const page = (title: string, main: Html): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)} · Bindery</title>
<link rel="stylesheet" href="${stylePath}">
</head>
<body>
<main>
<p class="brand"><a href="/">Bindery</a></p>
<h1>${escapeHtml(title)}</h1>
${main.html}
</main>
</body>
</html>
`;

/** No scripts at all, style from here, forms to here, and in nobody's frame. */
export const pageHeaders = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  // Not `no-referrer`: browsers would then call the origin of a form "null". One-time links are in addresses of ours.
  'referrer-policy': 'same-origin',
  'x-frame-options': 'DENY',
} as const;

/** The style of all pages. Colours have a contrast of at least 4.5. */
export const style = `:root { color-scheme: light dark; --fg: #1d2330; --bg: #f5f6f8; --card: #fff; --line: #c9ced8; --soft: #5a6273; --accent: #2452c5; --on-accent: #fff; --bad: #b3261e; --good: #1d6f42; }
@media (prefers-color-scheme: dark) { :root { --fg: #e8eaf0; --bg: #14171f; --card: #1d212c; --line: #434a5c; --soft: #a9b1c2; --accent: #9db8ff; --on-accent: #10131b; --bad: #ffb4ab; --good: #8ad6a9; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--bg); color: var(--fg); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 26rem; margin: 8vh auto 2rem; padding: 2rem; background: var(--card); border: 1px solid var(--line); border-radius: 12px; }
main:has(table) { max-width: 52rem; margin-top: 2rem; }
.brand { margin: 0; font-weight: 600; } .brand a { color: var(--soft); text-decoration: none; }
h1 { margin: 0 0 1.25rem; font-size: 1.5rem; } h2 { margin: 2rem 0 .75rem; font-size: 1.15rem; }
label, legend { display: block; margin: .9rem 0 .25rem; font-weight: 600; }
.hint, .soft { color: var(--soft); font-size: .9rem; } .hint { margin: .25rem 0 0; }
input:not([type=checkbox]), select { width: 100%; padding: .55rem .7rem; font: inherit; color: inherit; background: var(--bg); border: 1px solid var(--line); border-radius: 8px; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
button, a.button { display: inline-block; margin-top: 1.1rem; padding: .55rem 1.1rem; font: inherit; font-weight: 600; color: var(--on-accent); background: var(--accent); border: 1px solid var(--accent); border-radius: 8px; text-decoration: none; cursor: pointer; }
main:not(:has(table)) button, main:not(:has(table)) a.button { width: 100%; text-align: center; }
button.quiet, a.quiet { color: var(--accent); background: transparent; }
td button { white-space: nowrap; margin: 0; padding: .2rem .7rem; }
a { color: var(--accent); }
fieldset { margin: 1rem 0 0; padding: .25rem 1rem 1rem; border: 1px solid var(--line); border-radius: 8px; }
fieldset label { display: inline-block; width: 20rem; max-width: 100%; margin: .2rem 0; font-weight: 400; }
table { width: 100%; border-collapse: collapse; } th, td { padding: .5rem .5rem .5rem 0; text-align: left; border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: anywhere; }
.alert { padding: .7rem .9rem; border: 1px solid var(--bad); border-radius: 8px; color: var(--bad); }
.notice { padding: .7rem .9rem; border: 1px solid var(--good); border-radius: 8px; color: var(--good); overflow-wrap: anywhere; }
.row { display: flex; justify-content: space-between; align-items: center; gap: 1rem; } .row button { margin: 0; }
code { font: .95em ui-monospace, monospace; }
`;
