/** The form in which emails are compared: an address differs by nothing that people type differently. */
export const normalizeEmail = (email: string): string => email.trim().normalize('NFC').toLowerCase();

/** Text without case and diacritics, for searching and sorting by name. */
export const searchable = (text: string): string =>
  text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase().normalize('NFKC');
