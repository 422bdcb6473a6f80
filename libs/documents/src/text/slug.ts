const maxLength = 100;

/**
 * A path segment or anchor made from a title: lower case letters and digits of any script, joined by single dashes, without
 * the diacritics of Latin, Greek and Cyrillic letters. At most 100 characters, never empty (gaps-filled section 13).
 */
export function slugify(title: string): string {
  const slug = title
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    .toLowerCase()
    .replace(/['\u2019]/g, '')
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, '-')
    .replace(/^-+/, '');
  let cut = '';
  for (const character of slug) {
    if (cut.length + character.length > maxLength) break;
    cut += character;
  }
  return cut.replace(/-+$/, '') || 'page';
}
