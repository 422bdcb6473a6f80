/** Parses JSON and freezes the result all the way down. */
export const freezeCopy = (text: string): unknown =>
  JSON.parse(text, (_key, value: unknown) =>
    typeof value === 'object' && value !== null ? Object.freeze(value) : value,
  );
